/** How bad an outage is that no person has judged: by how much of the page it took down, and for how long. */

import type { IncidentImpact } from '../observation.ts';
import { type EpochMs, HOUR_MS, MINUTE_MS, toEpochMs } from '../time.ts';
import type { Entry } from './entry.ts';

interface ImpactRule {
  /** Of the page's components with a monitor: at least this share was part of it. */
  readonly share: number;
  readonly atFirst: IncidentImpact;
  /** From this long on. */
  readonly afterMs: number;
  readonly later: IncidentImpact;
}

const SMALL: ImpactRule = { share: 0, atFirst: 'minor', afterMs: 2 * HOUR_MS, later: 'major' };
const RULES: readonly ImpactRule[] = [
  { share: 1 / 2, atFirst: 'major', afterMs: 10 * MINUTE_MS, later: 'critical' },
  { share: 1 / 10, atFirst: 'minor', afterMs: 10 * MINUTE_MS, later: 'major' },
  SMALL,
];

/** @param watchedCount components of the page that have a monitor */
export function impactOfEntry(entry: Entry, watchedCount: number, asOf: EpochMs): IncidentImpact {
  const { atFirst, afterMs, later } = ruleFor(entry, watchedCount);
  return (entry.endedAt ?? asOf) - entry.startedAt >= afterMs ? later : atFirst;
}

/** When the impact of an open entry changes by itself; null: not any more. */
export function impactChangesAt(entry: Entry, watchedCount: number, asOf: EpochMs): EpochMs | null {
  const at = toEpochMs(entry.startedAt + ruleFor(entry, watchedCount).afterMs);
  return entry.endedAt === null && at > asOf ? at : null;
}

function ruleFor({ falls }: Entry, watchedCount: number): ImpactRule {
  const share = new Set(falls.map(({ componentId }) => componentId)).size / watchedCount;
  return RULES.find((rule) => share >= rule.share) ?? SMALL;
}
