/** Ids as parts of addresses. */

import { shortId } from '../text/stable-id.ts';

/**
 * Small letters, digits and `-`. Where two ids become alike, the one that was asked for first keeps the plain slug, and
 * the other ends in a few characters that follow from its own id, whatever comes later.
 */
export function createSlugger(kind: 'incident' | 'maintenance'): (id: string) => string {
  const known = new Map<string, string>();
  const taken = new Set<string>();
  return (id) => {
    const found = known.get(id);
    if (found !== undefined) return found;
    const plain =
      id
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, '-')
        .replace(/^-+|-+$/g, '') || 'x';
    const slug = taken.has(plain) ? `${plain}-${shortId(kind, id)}` : plain;
    taken.add(slug);
    known.set(id, slug);
    return slug;
  };
}
