/** The runs on the operators' page: those that say the same one after the other are one row. */

import type { EpochMs, State } from '../../model/index.ts';
import type { Format, TimeView } from '../text/format.ts';
import type { RunFacts } from './ops-facts.ts';

export interface RunRow {
  /** Of the last one, as it stands in the log. */
  readonly id: string;
  readonly trigger: string;
  readonly started: TimeView | null;
  readonly duration: string;
  readonly state: State;
  readonly outcome: string;
  /** `5 times since 13:40:00`; null: once. */
  readonly times: string | null;
}

const RUNS_SHOWN = 20;

interface RowWords {
  readonly now: EpochMs;
  readonly format: Format;
  readonly moment: (at: EpochMs) => TimeView;
}

/** Newest first. */
export function runRows(runs: readonly RunFacts[], words: RowWords): readonly RunRow[] {
  const groups: RunFacts[][] = [];
  for (const run of runs) {
    const group = groups.at(-1);
    if (group?.[0] !== undefined && saysTheSame(group[0], run)) group.push(run);
    else groups.push([run]);
  }
  return groups.slice(0, RUNS_SHOWN).flatMap((group) => {
    const [last] = group;
    return last === undefined ? [] : [runRow(last, group, words)];
  });
}

/** Whether two that ended differ in nothing but when they were. */
function saysTheSame(a: RunFacts, b: RunFacts): boolean {
  const isOver = a.endedAt !== null && b.endedAt !== null;
  return isOver && a.trigger === b.trigger && a.hasFailed === b.hasFailed && a.outcome === b.outcome;
}

function runRow(
  { id, trigger, startedAt, endedAt, hasFailed, outcome }: RunFacts,
  group: readonly RunFacts[],
  { now, format, moment }: RowWords,
): RunRow {
  const isOver = startedAt !== null && endedAt !== null;
  const firstAt = group.at(-1)?.startedAt ?? null;
  return {
    id,
    trigger,
    started: startedAt === null ? null : moment(startedAt),
    duration:
      startedAt === null
        ? '–'
        : isOver
          ? lengthWords(endedAt - startedAt, format)
          : `${format.duration(Math.max(0, now - startedAt))} so far`,
    state: isOver ? (hasFailed ? 'degraded' : 'operational') : 'maintenance',
    outcome: startedAt === null ? 'queued' : isOver ? outcome : 'in progress',
    times: group.length === 1 || firstAt === null ? null : `${group.length} times since ${moment(firstAt).text}`,
  };
}

function lengthWords(ms: number, format: Format): string {
  return ms < 10_000 ? `${format.number(ms)} ms` : format.duration(ms);
}
