/**
 * One upstream's part of a pass: queried, checked and committed as a whole, or not at all. `judge` decides how much of a result is
 * accepted; `pharos check` uses the same decision.
 */

import { createHash } from 'node:crypto';
import pLimit from 'p-limit';
import { isStatusError, StatusError } from '../../errors.ts';
import type { Announcement, Learned, MonitorId, PageDefinition, Problem } from '../../model/observation.ts';
import { STATES, type State } from '../../model/state.ts';
import { type EpochMs, later, SECOND_MS } from '../../model/time.ts';
import { recordPass, type Sighting } from '../../model/timeline.ts';
import type { Store, UpstreamRecord } from '../../store/create-store.ts';
import type { Reader } from '../../store/database.ts';
import type { Lease } from '../../store/nodes/leases.ts';
import type { CommitResult } from '../../store/revisions.ts';
import { parseInstant } from '../../store/rows.ts';
import type { Answer, LearnedPages, Priority, Pull, PullMemory } from '../connector.ts';
import type { Upstream } from '../upstream.ts';
import type { Changed, Outcome } from './requester.ts';
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
  const verdict = judge(answer, known, { ...upstream, at: startedAt });
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

/** If a larger share disappears at once, the upstream has probably lost its data, or a filter is wrong. */
const VANISHED_RATIO_MAX = 0.5;
/** More monitors can't be kept fresh within any documented quota, or rendered by one process. */
export const MONITORS_MAX = 20_000;
/** Passes are late by at most a tenth of the interval. */
const JITTER_RATIO = 0.1;

export interface LastKnown {
  /** By id. */
  readonly monitors: ReadonlyMap<MonitorId, unknown>;
  readonly pages: readonly PageDefinition[];
  /** The `held` value of an earlier pass; null: there is none. */
  readonly held: string | null;
}

type Verdict =
  | { readonly kind: 'taken'; readonly learned: Learned }
  | { readonly kind: 'refused'; readonly learned: Learned; readonly reason: string }
  | { readonly kind: 'held'; readonly learned: Learned; readonly held: string; readonly reason: string };

/**
 * Unreadable items are unknown and reported; the others are accepted. Pages whose access is in doubt are closed (`closeDoubtful`).
 * Refused: too many monitors. Held: more than half of the monitors (not own checks) or pages are gone, and no answer an interval ago agrees.
 */
export function judge(
  answer: Learned,
  known: LastKnown,
  { at, intervalMs, kind }: { readonly at: EpochMs; readonly intervalMs: number; readonly kind?: string },
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
  if (gone.length === 0 || kind === 'checks') return { kind: 'taken', learned };
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

// Closes pages whose access isn't stated clearly, at once and for all connectors, even if the rest of the answer is
// rejected. Pure.

/** Closes doubtful pages in an answer: those with a `gate` problem, and those that share a slug or an id. */
export function closeDoubtful<T extends LearnedPages>(answer: T): T {
  const isDoubtful = doubtsIn(answer.problems);
  const slugs = Map.groupBy(answer.pages, ({ slug }) => slug.toLowerCase());
  const ids = Map.groupBy(answer.pages, ({ id }) => id);
  const isShared = ({ slug, id }: PageDefinition): boolean =>
    (slugs.get(slug.toLowerCase())?.length ?? 0) > 1 || (ids.get(id)?.length ?? 0) > 1;
  const pages = answer.pages.map((page) => (isDoubtful(page, true) || isShared(page) ? closed(page) : page));
  const problems = [...slugs].flatMap(([slug, shared]): Problem | [] => {
    const message = `have the same slug ${JSON.stringify(slug.slice(0, 60))}; both are closed`;
    return shared.length < 2 ? [] : { kind: 'gate', place: shared.map(({ id }) => id).join(', '), message };
  });
  return { ...answer, pages, problems: [...answer.problems, ...problems] };
}

/**
 * The known pages after an answer that isn't accepted as a whole. No page becomes more open: pages that the answer shows as more
 * private become so at once, and doubtful ones are closed. Returns the same list if nothing changes.
 */
export function tightenGates(known: readonly PageDefinition[], answer: LearnedPages): readonly PageDefinition[] {
  const isDoubtful = doubtsIn(answer.problems);
  const pages = known.map((page) => {
    const shown = answer.pages.filter(({ id, slug }) => id === page.id || slug === page.slug);
    if (isDoubtful(page, shown.length > 0)) return closed(page);
    return shown.reduce(moreGuarded, page);
  });
  return pages.every((page, index) => page === known[index]) ? known : pages;
}

/** @returns whether a page is in doubt, given whether the answer shows it */
function doubtsIn(problems: readonly Problem[]): (page: PageDefinition, isShown: boolean) => boolean {
  const gates = problems.filter(({ kind }) => kind === 'gate');
  // A problem without a page is about all pages.
  return ({ id }, isShown) =>
    gates.some(({ page }) => page === undefined || page === id || (page === null && !isShown));
}

function moreGuarded(page: PageDefinition, shown: PageDefinition): PageDefinition {
  const published = page.published && shown.published;
  const { access, emailDomains } = narrower(page, shown);
  const isSame = access === page.access && emailDomains.length === page.emailDomains.length;
  return isSame && published === page.published ? page : { ...page, access, emailDomains, published };
}

/** Access for those who may see both. */
function narrower(one: PageDefinition, two: PageDefinition): Pick<PageDefinition, 'access' | 'emailDomains'> {
  if (two.access === 'public') return one;
  if (one.access === 'public') return two;
  // Different kinds of gates admit different people.
  if (one.access !== two.access) return closed(one);
  return { ...one, emailDomains: one.emailDomains.filter((domain) => two.emailDomains.includes(domain)) };
}

function closed(page: PageDefinition): PageDefinition {
  return page.access === 'closed' ? page : { ...page, access: 'closed', emailDomains: [] };
}

/**
 * Answers optional questions as if the quota didn't allow them.
 *
 * @param wanted optional questions to ask nevertheless
 */
export function* listsOnly<R>(pull: Pull<R>, wanted: readonly Priority[]): Pull<R> {
  let step = pull.next();
  while (step.done !== true) {
    const { questions, tolerant } = step.value;
    if (tolerant && !questions.some(({ priority }) => wanted.includes(priority))) {
      step = pull.next(questions.map(() => ({ kind: 'skipped' })));
      continue;
    }
    let answers: readonly Answer<unknown>[];
    try {
      answers = yield step.value;
    } catch (error) {
      step = pull.throw(error);
      continue;
    }
    step = pull.next(answers);
  }
  return step.value;
}
