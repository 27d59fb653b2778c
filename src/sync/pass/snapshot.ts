/** One upstream's part of a pass: queried, checked and committed as a whole, or not at all. */

import pLimit from 'p-limit';
import { isStatusError, StatusError } from '../../errors.ts';
import type { Announcement, Learned, MonitorId, PageDefinition } from '../../model/observation.ts';
import { recordPass, type Sighting } from '../../model/reported.ts';
import { STATES, type State } from '../../model/state.ts';
import { type EpochMs, later, SECOND_MS } from '../../model/time.ts';
import type { Store, UpstreamRecord } from '../../store/create-store.ts';
import type { Reader } from '../../store/database.ts';
import type { Lease } from '../../store/nodes/leases.ts';
import { parseInstant } from '../../store/rows.ts';
import type { CommitResult } from '../../store/store.ts';
import type { LearnedPages, PullMemory } from '../connector.ts';
import type { Upstream } from '../upstream.ts';
import { closeDoubtful, judge, tightenGates } from './check.ts';
import type { Changed, Outcome } from './report.ts';
import { type Runner, unforeseen } from './runner.ts';

export interface SnapshotTask {
  readonly upstream: Upstream;
  readonly runner: Runner;
  readonly store: Store;
  readonly startedAt: EpochMs;
  /** What is stored from the last good answer; null: there was none. */
  readonly record: UpstreamRecord | null;
  /** Lease of the pass. Nothing is committed if another process has taken it. */
  readonly lease: Lease;
}

/** With a larger difference between clocks, times on the page look wrong, so it is reported. */
const CLOCK_SKEW_TOLD_MS = 30 * SECOND_MS;

/** Queries, checks and commits. Any failure is returned as an outcome, and then nothing was committed. */
export async function takeSnapshot(task: SnapshotTask): Promise<Outcome> {
  const { upstream, runner, startedAt } = task;
  let learned: Learned | null = null;
  try {
    const memory = await readMemory(task);
    learned = await runner.run(upstream.pull({ upstreamId: upstream.id, now: startedAt, memory }), closesPages(task));
    const monitors = learned.isPartial === true ? await withUnread(task, learned.monitors) : learned.monitors;
    const problems = [...learned.problems, ...missedProblems(runner, learned), ...skewProblems(runner)];
    learned = { ...learned, monitors, problems };
    return await checkAndCommit(task, learned);
  } catch (error) {
    if (isStatusError(error) && error.context['superseded'] === true)
      return { kind: 'skipped', cause: 'overlap', reason: error.message };
    return { ...toFailure(upstream.id, error), learned };
  }
}

/** The monitors that were read; known ones that weren't are added as unknown. */
async function withUnread({ store, upstream }: SnapshotTask, read: Learned['monitors']): Promise<Learned['monitors']> {
  const ids = new Set(read.map(({ id }) => id));
  const known = [...(await store.monitors(upstream.id)).values()].filter(({ id }) => !ids.has(id));
  return [...read, ...known.map((monitor) => ({ ...monitor, state: 'unknown' as const }))];
}

/** Turns any error into an outcome. An unexpected error is a bug in Pharos, and the message says so. */
export function toFailure(upstreamId: string, error: unknown): Outcome & { readonly kind: 'failed' } {
  const fault = isStatusError(error) ? error : unforeseen(`The pass over ${upstreamId}`, error);
  return { kind: 'failed', error: fault, learned: null };
}

/**
 * Maximum time between two answers over which states are taken to continue: two intervals and a slow pass, so that one failed
 * pass leaves no gap.
 */
export function silenceAllowedMs(intervalMs: number): number {
  return 2 * intervalMs + Math.min(intervalMs / 2, 30 * SECOND_MS);
}

/** More than one pass reads; the next pass continues. */
const READ_AGAIN_MAX = 50;

async function readMemory({ store, upstream: { id }, record }: SnapshotTask): Promise<PullMemory> {
  const openStories = await store.openStories(id);
  return {
    detailFetchedAt: await store.detailFetchedAt(id),
    openIncidents: new Set(openStories.keys()),
    openStories,
    incidentsReadAt: await store.incidentsReadAt(id, READ_AGAIN_MAX),
    channelsAt: record?.channelsAt ?? null,
    isBackfilled: record?.isBackfilled ?? false,
    backfilledMonitors: await store.backfilledMonitors(id),
  };
}

/** Failures of optional questions that the connector says nothing about. */
function missedProblems(runner: Runner, { problems }: Learned): Learned['problems'] {
  return runner.missed().filter(({ message }) => !problems.some((known) => message.startsWith(known.message)));
}

function skewProblems(runner: Runner): Learned['problems'] {
  const skewMs = runner.tally().clockSkewMs ?? 0;
  if (Math.abs(skewMs) <= CLOCK_SKEW_TOLD_MS) return [];
  const words = `${Math.round(Math.abs(skewMs) / SECOND_MS)} s ${skewMs > 0 ? 'ahead of' : 'behind'} ours`;
  return [{ kind: 'note', place: 'Date', message: `its clock is ${words}. One of the two clocks is wrong` }];
}

/** Closes known pages as soon as an answer shows one more private, or leaves it in doubt: the rest of it may take long. */
function closesPages(task: SnapshotTask): (told: LearnedPages) => Promise<void> {
  const inTurn = pLimit(1);
  let known = task.record?.definitions ?? [];
  return (told) =>
    inTurn(async () => {
      const pages = tightenGates(known, closeDoubtful(told));
      if (pages !== known) await closePages(task, pages);
      known = pages;
    });
}

/** Closes known pages that an answer leaves in doubt, without the rest of the answer. */
async function closePages(task: SnapshotTask, pages: readonly PageDefinition[]): Promise<void> {
  const { upstream, store, record, lease } = task;
  if (record !== null && pages !== record.definitions) await store.keepPages(upstream.id, pages, lease);
}

const OUTDATED_REASON = 'a newer answer was recorded meanwhile, so nothing of this one was written';

async function checkAndCommit(task: SnapshotTask, answer: Learned): Promise<Outcome> {
  const { upstream, store, startedAt, record, lease } = task;
  const lastStates = await readMonitorStates(store.database, upstream.id);
  const pages = record?.definitions ?? [];
  const known = { monitors: lastStates, pages, held: record?.heldHash ?? null };
  const verdict = judge(answer, known, { at: startedAt, intervalMs: upstream.intervalMs });
  const { learned } = verdict;
  // Doubts also count in answers that are rejected or incomplete.
  const kept = tightenGates(pages, learned);
  if (verdict.kind !== 'taken') await closePages(task, kept);
  if (verdict.kind === 'refused') {
    const message = `The responses of ${upstream.id} were rejected: ${verdict.reason}. The last good data is kept.`;
    return { kind: 'failed', error: new StatusError({ code: 'UPSTREAM_SHAPE', message }), learned };
  }
  if (verdict.kind === 'held') {
    await store.holdVanished(upstream.id, verdict.held, lease);
    return { kind: 'skipped', cause: 'held', reason: verdict.reason, learned };
  }
  const lastAt = record?.monitorsAt ?? null;
  const { at, ...spans } = recordPass({
    at: startedAt,
    lastAt,
    lastStates,
    seen: await listSightings(store, learned, { lastAt, lastStates }),
    silenceMs: silenceAllowedMs(upstream.intervalMs),
  });
  const result = await store.commitPass({
    upstreamId: upstream.id,
    observedAt: at,
    learned,
    lease,
    ...(kept === pages ? {} : { kept }),
    ...spans,
  });
  if (result.isOutdated === true) return { kind: 'skipped', cause: 'outdated', reason: OUTDATED_REASON };
  return { kind: 'ok', learned, changed: listChanges(result, learned, record) };
}

/**
 * A change can't have happened before the last answer, which still had the old state. But a failure that was only confirmed after
 * it, by further tries, began with the first of them.
 */
function listSightings(
  { database }: Store,
  { monitors, changedAt = {}, foundAt = {} }: Learned,
  { lastAt, lastStates }: { lastAt: EpochMs | null; lastStates: ReadonlyMap<MonitorId, State> },
): Promise<readonly Sighting[]> {
  return Promise.all(
    monitors.map(async ({ id, state }): Promise<Sighting> => {
      const at = changedAt[id] ?? null;
      if (at === null || lastAt === null || at >= lastAt) return { id, state, changedAt: at };
      const isLate = (foundAt[id] ?? 0) > lastAt && lastStates.get(id) !== state;
      const earliest = isLate ? ((await readOpenSince(database, id)) ?? lastAt) : lastAt;
      return { id, state, changedAt: later(at, earliest), earliest };
    }),
  );
}

function listChanges(result: CommitResult, learned: Learned, record: UpstreamRecord | null): Changed {
  const hasPages = !learned.stale.includes('pages') && result.hasNewDefinitions;
  const { monitors, incidents, maintenances } = result;
  return {
    ...{ monitors, incidents, maintenances },
    pages: hasPages ? differing<PageDefinition>(record?.definitions ?? [], learned.pages) : [],
    announcements: hasPages ? differing<Announcement>(record?.announcements ?? [], learned.announcements) : [],
  };
}

/** Returns the ids of items that are new, gone or different. */
function differing<T extends { readonly id: string }>(before: readonly T[], after: readonly T[]): string[] {
  const texts = new Map(before.map((item) => [item.id, JSON.stringify(item)]));
  const changed = after.filter((item) => texts.get(item.id) !== JSON.stringify(item)).map((item) => item.id);
  const kept = new Set(after.map((item) => item.id));
  return [...changed, ...[...texts.keys()].filter((id) => !kept.has(id))];
}

/** States of the listed monitors, in any order. An unknown state name becomes `unknown`. */
export async function readMonitorStates(reader: Reader, upstreamId: string): Promise<ReadonlyMap<MonitorId, State>> {
  const rows = await reader.all('SELECT id, state FROM monitor WHERE upstream = ? AND gone_at IS NULL', [upstreamId]);
  return new Map(
    rows.map((row) => [row['id'] as MonitorId, STATES.find((state) => state === row['state']) ?? 'unknown']),
  );
}

/** When the monitor's current state began; null: it has none. */
async function readOpenSince(reader: Reader, id: MonitorId): Promise<EpochMs | null> {
  const [row] = await reader.lists('SELECT from_at FROM span WHERE monitor = ? AND to_at IS NULL', [id]);
  return parseInstant(row?.[0]);
}
