/** The verdict on the result of a pass: what of it is taken. `pharos check` asks for the same verdict. Pure. */

import { createHash } from 'node:crypto';
import type { Learned, MonitorId, PageDefinition } from '../../model/observation.ts';
import type { EpochMs } from '../../model/time.ts';
import { closeDoubtful } from './gates.ts';

/** If a larger share disappears at once, the upstream has probably lost its data, or a filter is wrong. */
const VANISHED_RATIO_MAX = 0.5;
/** More monitors can't be kept fresh within any documented quota, or rendered by one process. */
export const MONITORS_MAX = 20_000;
/** Passes come later than their schedule by a tenth of the interval at most. */
const JITTER_RATIO = 0.1;

export interface LastKnown {
  /** By id. */
  readonly monitors: ReadonlyMap<MonitorId, unknown>;
  readonly pages: readonly PageDefinition[];
  /** What a pass before returned as `held`; null: it did not. */
  readonly held: string | null;
}

export type Verdict =
  | { readonly kind: 'taken'; readonly learned: Learned }
  | { readonly kind: 'refused'; readonly learned: Learned; readonly reason: string }
  | { readonly kind: 'held'; readonly learned: Learned; readonly held: string; readonly reason: string };

/**
 * Items that can't be read are unknown by themselves and named; the others are taken. A page whose access is in doubt is closed
 * (`closeDoubtful`). Refused: too many monitors. Held: more than half of the monitors or pages are gone, and no answer of at least one
 * interval ago agrees.
 */
export function judge(
  answer: Learned,
  known: LastKnown,
  { at, intervalMs }: { readonly at: EpochMs; readonly intervalMs: number },
): Verdict {
  const learned = closeDoubtful(answer);
  const { monitors, pages, stale } = learned;
  if (monitors.length > MONITORS_MAX) {
    const reason = `it lists ${monitors.length} monitors; the limit for one upstream is ${MONITORS_MAX}`;
    return { kind: 'refused', learned, reason };
  }
  const ids = (items: readonly { readonly id: string }[]): string[] => items.map(({ id }) => id);
  const gone = [
    stale.includes('monitors') ? null : vanished('monitors', [...known.monitors.keys()], ids(monitors)),
    stale.includes('pages') ? null : vanished('pages', ids(known.pages), ids(pages)),
  ].filter((words) => words !== null);
  if (gone.length === 0) return { kind: 'taken', learned };
  const hash = createHash('sha256')
    .update([...ids(monitors), ...ids(pages)].toSorted().join('\n'))
    .digest('hex');
  const [heldAt, heldHash] = known.held?.split(' ') ?? [];
  const isSame = heldHash === hash && Number(heldAt) <= at;
  if (isSame && at - Number(heldAt) >= intervalMs * (1 - JITTER_RATIO)) return { kind: 'taken', learned };
  return {
    kind: 'held',
    learned,
    held: isSame ? (known.held ?? '') : `${at} ${hash}`,
    reason: `${gone.join(' and ')} disappeared at once; accepted if a response after the next interval agrees`,
  };
}

function vanished(what: string, before: readonly string[], after: readonly string[]): string | null {
  const left = new Set(after);
  const gone = before.filter((id) => !left.has(id)).length;
  return gone > before.length * VANISHED_RATIO_MAX ? `${gone} of ${before.length} ${what}` : null;
}
