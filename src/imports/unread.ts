/** Keys of a source that an import doesn't read, so that nothing is lost without a word. */

import type { z } from 'zod';
import { toLine } from './names.ts';
import { dropped, type ImportNote } from './site.ts';

/** Why a key is not taken, by its path (`params.brand`, `sites[].icon`); null: nothing on a page follows from it, so it isn't reported. */
export type Reasons = Readonly<Record<string, string | null>>;

const UNKNOWN_KEY = 'the import doesn’t know this key';

/** A note for each reason, with the paths of the keys that `schema` doesn't name. A key of `reasons` covers what is below it. */
export function unreadKeys(place: string, document: unknown, schema: z.ZodType, reasons: Reasons): ImportNote[] {
  const paths = new Set<string>();
  collectUnread(document, schema, '', paths);
  const told = [...paths].flatMap((path) => {
    const reason = Object.hasOwn(reasons, path) ? reasons[path] : UNKNOWN_KEY;
    return reason == null ? [] : [{ path: toLine(path, 100) ?? '?', reason }];
  });
  return [...Map.groupBy(told, ({ reason }) => reason)].map(([reason, keys]) =>
    dropped(`${place}: ${keys.map(({ path }) => path).join(', ')}`, reason),
  );
}

function collectUnread(value: unknown, schema: z.ZodType, path: string, unread: Set<string>): void {
  const inner = unwrap(schema).def as { type: string; element?: z.ZodType; shape?: Record<string, z.ZodType> };
  if (Array.isArray(value) && inner.element !== undefined) {
    for (const item of value) collectUnread(item, inner.element, path === '' ? '' : `${path}[]`, unread);
    return;
  }
  if (inner.shape === undefined || typeof value !== 'object' || value === null || Array.isArray(value)) return;
  for (const [key, item] of Object.entries(value)) {
    const at = path === '' ? key : `${path}.${key}`;
    const known = Object.hasOwn(inner.shape, key) ? inner.shape[key] : undefined;
    if (known === undefined) unread.add(at);
    else collectUnread(item, known, at, unread);
  }
}

/** The schema of the value itself: without defaults, transforms and permission to be absent. */
function unwrap(schema: z.ZodType): z.ZodType {
  const { innerType, in: input } = schema.def as unknown as { innerType?: z.ZodType; in?: z.ZodType };
  const next = innerType ?? input;
  return next === undefined ? schema : unwrap(next);
}
