/** Describes the result of a run. */

import { SITE_SLUG } from '../../publish/releases/folders.ts';
import { counted } from '../../schema/counted.ts';
import type { RunReport } from './engine.ts';

/** The result of a run in one line: `3 monitors changed; published acme 12; edge failed (UPSTREAM_FAILED)`. */
export function outcomeText({ pass, publish }: Pick<RunReport, 'pass' | 'publish'>): string {
  const upstreams = pass?.upstreams ?? [];
  const changes = new Map<string, number>();
  for (const item of upstreams)
    if (item.kind === 'ok')
      for (const [what, ids] of Object.entries(item.changed)) changes.set(what, (changes.get(what) ?? 0) + ids.length);
  const changed = [...changes].filter(([, count]) => count > 0).map(([what, count]) => counted(count, what));
  const failed = upstreams.flatMap((item) =>
    item.kind === 'failed' ? [`${item.upstreamId} failed (${item.code})`] : [],
  );
  const skipped = upstreams.flatMap((item) =>
    item.kind === 'skipped' && item.cause !== 'elsewhere' ? [`${item.upstreamId} skipped: ${item.reason}`] : [],
  );
  const pages = publish?.pages ?? [];
  const named = (kind: string): string[] =>
    pages
      .filter((page) => page.kind === kind)
      .map(({ slug, release }) => (release === null ? pageName(slug) : `${pageName(slug)} ${release}`));
  const broken = pages
    .filter((page) => page.kind === 'failed')
    .map(({ slug, message }) => `page ${pageName(slug)} failed: ${message ?? ''}`);
  const done = ['published', 'held', 'withdrawn'].filter((kind) => named(kind).length > 0);
  const parts = [
    ...(changed.length === 0 ? [] : [`changed: ${changed.join(', ')}`]),
    ...done.map((kind) => `${kind} ${shortened(named(kind))}`),
    ...[...failed, ...skipped, ...broken],
  ];
  return parts.length === 0 ? 'no change' : parts.join('; ');
}

/** The index of pages and the files at the root are a release like a page's. */
export function pageName(slug: string): string {
  return slug === SITE_SLUG ? '(site)' : slug;
}

const NAMES_SHOWN = 10;

/** `a, b`, and where there are many how many more. */
export function shortened(names: readonly string[]): string {
  const more = names.length - NAMES_SHOWN;
  return more <= 0 ? names.join(', ') : `${names.slice(0, NAMES_SHOWN).join(', ')} and ${more} more`;
}
