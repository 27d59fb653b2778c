/** Decides whether the result of a pass may replace known data. Pure. */

import { createHash } from 'node:crypto';
import type { Learned, MonitorId, PageDefinition, Problem } from '../../model/observation.ts';

/** With a larger share of unreadable items, we no longer understand this upstream. */
const DROPPED_RATIO_MAX = 0.01;
/** If a larger share disappears at once, the upstream has probably lost its data, or a filter is wrong. */
const VANISHED_RATIO_MAX = 0.5;
/** More monitors can't be kept fresh within any documented quota, or rendered by one process. */
export const MONITORS_MAX = 20_000;

export interface LastKnown {
  /** By id. */
  readonly monitors: ReadonlyMap<MonitorId, unknown>;
  readonly pages: readonly PageDefinition[];
  /** Digest of a snapshot that was held before; null: none. */
  readonly heldHash: string | null;
}

type CheckVerdict =
  | { readonly kind: 'taken' }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'held'; readonly hash: string; readonly reason: string };

/**
 * Refused: an unreadable access rule, two pages with the same slug, more than 1 % unreadable items, or too many monitors. Held:
 * more than half of the monitors or pages are gone; if the next pass agrees, it is taken.
 */
export function checkLearned(learned: Learned, known: LastKnown): CheckVerdict {
  const reason = reasonToRefuse(learned);
  if (reason !== null) return { kind: 'refused', reason };
  const monitors = new Set(learned.monitors.map((monitor) => monitor.id));
  const pages = new Set(learned.pages.map((page) => page.id));
  const gone = [
    isStale(learned, 'monitors') ? null : vanished('monitors', [...known.monitors.keys()], monitors),
    isStale(learned, 'pages')
      ? null
      : vanished(
          'pages',
          known.pages.map((page) => page.id),
          pages,
        ),
  ].filter((words) => words !== null);
  if (gone.length === 0) return { kind: 'taken' };
  const hash = idsHash([...monitors, ...pages]);
  if (hash === known.heldHash) return { kind: 'taken' };
  return {
    kind: 'held',
    hash,
    reason: `${gone.join(' and ')} disappeared at once; accepted if the next response agrees`,
  };
}

function reasonToRefuse({ problems, itemsTotal, monitors, pages }: Learned): string | null {
  const gate = problems.find((problem) => problem.kind === 'gate');
  if (gate !== undefined) return `the access rules of ${gate.place} are unreadable (${gate.message})`;
  const slug = repeated(pages.map((page) => page.slug));
  if (slug !== null) return `two pages have the slug ${JSON.stringify(slug.slice(0, 60))}`;
  const dropped = problems.filter((problem) => problem.kind === 'dropped');
  if (dropped.length > itemsTotal * DROPPED_RATIO_MAX) return tooManyDropped(dropped, itemsTotal);
  if (monitors.length > MONITORS_MAX)
    return `it lists ${monitors.length} monitors; the limit for one upstream is ${MONITORS_MAX}`;
  return null;
}

function tooManyDropped(dropped: readonly Problem[], itemsTotal: number): string {
  const [first] = dropped;
  return `${dropped.length} of ${itemsTotal} items are unreadable, such as ${first?.place} (${first?.message})`;
}

function isStale(learned: Learned, part: 'monitors' | 'pages'): boolean {
  return learned.stale.includes(part);
}

function vanished(what: string, before: readonly string[], after: ReadonlySet<string>): string | null {
  const gone = before.filter((id) => !after.has(id)).length;
  return gone > before.length * VANISHED_RATIO_MAX ? `${gone} of ${before.length} ${what}` : null;
}

function repeated(values: readonly string[]): string | null {
  const seen = new Set<string>();
  return values.find((value) => seen.size === seen.add(value).size) ?? null;
}

/** The same for the same ids, whatever their order. */
function idsHash(ids: readonly string[]): string {
  return createHash('sha256').update(ids.toSorted().join('\n')).digest('hex');
}
