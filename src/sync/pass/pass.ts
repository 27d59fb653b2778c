/** One pass: queries upstreams in parallel. Each commits one checked snapshot or changes nothing. */

import { isDeepStrictEqual } from 'node:util';
import pLimit from 'p-limit';
import type { StatusError } from '../../errors.ts';
import type { Problem } from '../../model/observation.ts';
import { type EpochMs, HOUR_MS, MINUTE_MS, SECOND_MS, toEpochMs } from '../../model/time.ts';
import type { Store } from '../../store/create-store.ts';
import { createLeases, isHeld, type Lease, type Leases, superseded } from '../../store/nodes/leases.ts';
import {
  askedEveryMs,
  CONTROL_AT_FIRST,
  readControl,
  readFailedQuestions,
  type UpstreamControl,
  withLedger,
  writeFailedQuestions,
} from '../../store/upstream-control.ts';
import type { Upstream } from '../upstream.ts';
import { createQuota, intervalMinMs } from './quota.ts';
import { type Outcome, toReport, type UpstreamReport } from './requester.ts';
import { createRunner, type Runner, type RunnerDeps } from './runner.ts';
import { type SnapshotTask, takeSnapshot, toFailure } from './snapshot.ts';

export type { UpstreamReport } from './requester.ts';

/** What a pass needs from outside. Everything except the store is for the runner. */
export interface PassDeps extends Omit<RunnerDeps, 'quota' | 'beforeRequest' | 'stored'> {
  readonly store: Store;
  /** Leases of this process; default: new ones for each pass. */
  readonly leases?: Leases;
}

export interface PassOptions {
  /** True: an operator asks, so an upstream in back-off is queried too. A "wait" from the upstream is still obeyed. */
  readonly isManual?: boolean;
  /**
   * True: the upstream sent a webhook, which shows that it is up, so it is queried even if it failed or rejected the key
   * before.
   */
  readonly isHinted?: boolean;
  /**
   * For scheduled passes: the lease that this process must hold for an upstream; null: another process holds it. Absent: not
   * scheduled, so any process may query it.
   */
  readonly turnOf?: ((upstreamId: string) => Lease | null) | undefined;
  /** Called for each upstream as soon as it is done, so that its changes don't wait for slower ones. */
  readonly onReport?: (report: UpstreamReport) => void;
}

/** After a webhook, waits for a running pass over the same upstream, which may have read it too early. */
const HINT_PATIENCE_MS = 20 * SECOND_MS;
const PATIENCE_STEP_MS = 100;

/** Clocks of several nodes differ by less. */
const SET_BACK_TOLD_MS = 2 * SECOND_MS;

const OPEN_REASONS: Readonly<Record<'failing' | 'refused' | 'waiting', string>> = {
  failing: 'back-off: it failed several times in a row and will be retried shortly',
  refused: 'back-off: it rejected the key; it will be retried shortly, or when its options change',
  waiting: 'it asked us to wait',
};

const OVERLAP: Outcome = { kind: 'skipped', cause: 'overlap', reason: 'another pass is already running' };
const ELSEWHERE: Outcome = { kind: 'skipped', cause: 'elsewhere', reason: 'another node queries it' };

const TOO_SOON_REASON =
  'its schedule runs more often than its rate limit allows. Set a longer schedule, or higher limits if the upstream has them';

export type PassReport = Awaited<ReturnType<typeof runPass>>;

/**
 * Queries all upstreams in parallel, and vendors' pages in turn. A failure of one is data in the report and doesn't affect the
 * others. An upstream with a running pass, here or in another process, is skipped; on schedule, only once a killed process would have
 * lost its lease. Reports come in the order of the upstreams.
 */
export async function runPass(upstreams: readonly Upstream[], deps: PassDeps, options: PassOptions = {}) {
  const startedAt = deps.now();
  const own = { ...deps, leases: deps.leases ?? createLeases(deps.store.database) };
  const inTurn = createVendorTurns(upstreams, own, options.isManual !== true);
  const reports = await Promise.all(
    upstreams.map(async (upstream) => {
      const report = await inTurn(upstream, () => passOver(upstream, own, options));
      options.onReport?.(report);
      return report;
    }),
  );
  return { startedAt, endedAt: deps.now(), upstreams: reports };
}

type Deps = PassDeps & { readonly leases: Leases };

async function passOver(
  upstream: Upstream,
  deps: Deps,
  { isManual, isHinted, turnOf }: PassOptions,
): Promise<UpstreamReport> {
  const { database } = deps.store;
  const startedAt = deps.now();
  const idle = (outcome: Outcome): UpstreamReport => toReport(outcome, upstream.id, deps.now() - startedAt);
  try {
    const turn = turnOf?.(upstream.id);
    if (turn === null) return idle(ELSEWHERE);
    const control = await readControl(database, upstream.id);
    const circuit = readCircuit(control, startedAt, upstream.fingerprint);
    const isWanted = isManual === true || isHinted === true;
    if (circuit.kind === 'open' && (circuit.why === 'waiting' || !isWanted))
      return idle({ kind: 'skipped', cause: circuit.why, reason: OPEN_REASONS[circuit.why] });
    const record = (await deps.store.upstreams()).get(upstream.id) ?? null;
    if (isManual !== true && isTooSoon(upstream, { control, record, startedAt }))
      return idle({ kind: 'skipped', cause: 'waiting', reason: TOO_SOON_REASON });
    // A process that was killed in a pass holds its lease until it expires. Without waiting, this turn would be lost.
    const turnPatienceMs = turn === undefined ? 0 : deps.leases.ttlMs;
    const patienceMs = isHinted === true ? HINT_PATIENCE_MS : turnPatienceMs;
    const lease = await takeTurn(upstream.id, deps, { turn, patienceMs });
    if (lease === null) {
      const isLost = turn !== undefined && !(await isHeld(database, turn));
      return idle(isLost ? ELSEWHERE : OVERLAP);
    }
    try {
      const intervalMs = askedEveryMs(upstream.intervalMs, intervalMinMs(upstream.limits, control.listCalls));
      const asked = { ...upstream, intervalMs };
      return await passUnderLease({ upstream: asked, deps, startedAt, control, circuit, record, lease });
    } finally {
      // If it can't be returned now, it expires.
      await deps.leases.release(lease).catch(() => undefined);
    }
  } catch (error) {
    return idle(toFailure(upstream.id, error));
  }
}

/** Takes the lease of a pass; null: another pass is running. */
async function takeTurn(
  upstreamId: string,
  { leases, sleep, signal }: Deps,
  { turn, patienceMs }: { readonly turn: Lease | undefined; readonly patienceMs: number },
): Promise<Lease | null> {
  const name = `pass/${upstreamId}`;
  let lease = await leases.take(name, turn);
  for (let leftMs = patienceMs; lease === null && leftMs > 0 && signal?.aborted !== true; leftMs -= PATIENCE_STEP_MS) {
    await sleep(PATIENCE_STEP_MS);
    lease = await leases.take(name, turn);
  }
  return lease;
}

interface Pass extends Omit<SnapshotTask, 'runner' | 'store'> {
  readonly deps: Deps;
  readonly control: UpstreamControl;
  readonly circuit: Circuit;
}

/** Whether it is scheduled so often that list requests alone would use up the quota. */
function isTooSoon(
  { limits, intervalMs }: Upstream,
  { control, record, startedAt }: Pick<Pass, 'control' | 'record' | 'startedAt'>,
): boolean {
  const lastAt = record?.monitorsAt ?? null;
  const leastMs = intervalMinMs(limits, control.listCalls);
  return lastAt !== null && intervalMs < leastMs && startedAt >= lastAt && startedAt - lastAt < leastMs;
}

async function passUnderLease(pass: Pass): Promise<UpstreamReport> {
  const { upstream, deps, startedAt, lease } = pass;
  const { record, notes } = await cutFuture(pass);
  const runner = await createPassRunner(pass);
  const outcome = await takeSnapshot({ upstream, runner, store: deps.store, startedAt, record, lease });
  await rememberOutcome(pass, runner, outcome);
  return toReport(outcome, upstream.id, deps.now() - startedAt, runner.tally(), notes);
}

/** Cuts what was recorded for the future, before the clock was set back. */
async function cutFuture(pass: Pass): Promise<Pick<Pass, 'record'> & { readonly notes: readonly Problem[] }> {
  const { upstream, startedAt, record, lease } = pass;
  const { store } = pass.deps;
  const aheadMs = record === null ? 0 : await store.cutFuture(upstream.id, startedAt, lease);
  if (aheadMs === 0) return { record, notes: [] };
  const cut = (await store.upstreams()).get(upstream.id) ?? null;
  if (aheadMs < SET_BACK_TOLD_MS) return { record: cut, notes: [] };
  const seconds = Math.round(aheadMs / SECOND_MS);
  const message = `the clock of this machine was set back by ${seconds} s. What was recorded for later times was removed`;
  return { record: cut, notes: [{ kind: 'note', place: 'clock', message }] };
}

async function createPassRunner({ upstream, deps, control, circuit, lease }: Pass): Promise<Runner> {
  // A process that was paused and wakes up late makes no more requests.
  const beforeRequest = async (): Promise<void> => {
    if (!(await deps.leases.confirm(lease))) throw superseded(lease);
  };
  const { database } = deps.store;
  const failed = await readFailedQuestions(database, upstream.id);
  return createRunner(
    {
      ...upstream,
      upstreamId: upstream.id,
      failed,
      listCalls: control.listCalls,
      isHalfOpen: circuit.kind !== 'closed',
    },
    { ...deps, quota: createQuota(database, deps.random), stored: database, beforeRequest },
  );
}

/** Stores what the result says about the upstream's health; writes nothing if that is unchanged. */
async function rememberOutcome({ upstream, deps, lease }: Pass, runner: Runner, outcome: Outcome): Promise<void> {
  if (!deps.leases.seemsHeld(lease)) return;
  const { listCalls, failures } = runner.tally();
  const about = { failures, now: deps.now(), random: deps.random(), fingerprint: upstream.fingerprint };
  const next = (control: UpstreamControl): UpstreamControl =>
    outcome.kind === 'failed'
      ? afterFailure(control, { ...about, error: outcome.error })
      : afterSuccess(control, listCalls);
  const { database } = deps.store;
  await writeFailedQuestions(database, upstream.id, runner.failures());
  // The quota may have stored a wait in the meantime, so the state is read again.
  const before = await readControl(database, upstream.id);
  if (isDeepStrictEqual(before, next(before))) return;
  await withLedger(database, upstream.id, async (ledger) => ledger.setControl(next(await ledger.control())));
}

// Decides when each of many vendors' pages is queried: a few at once, spread over part of the interval.

/** Parallel passes over vendors' pages. */
const AT_ONCE_MAX = 4;
/** Maximum time between the starts of two of them; shorter if there are many. */
const GAP_MAX_MS = SECOND_MS;
/** The part of the interval over which they are spread, so that one run is over well before the next. */
const SPREAD_RATIO = 0.5;

/**
 * Returns what runs a task: at once for our own systems, and in turn for a vendor's page.
 *
 * @param isSpread  false: somebody waits, so that they only do not all go at once
 */
function createVendorTurns(upstreams: readonly Upstream[], { sleep, signal }: Deps, isSpread: boolean) {
  const vendors = upstreams.filter(({ vendorPage }) => vendorPage !== null);
  const intervalMs = Math.min(...vendors.map((upstream) => upstream.intervalMs));
  const gapMs = isSpread ? Math.min(GAP_MAX_MS, (intervalMs * SPREAD_RATIO) / vendors.length) : 0;
  const starting = pLimit(1);
  const running = pLimit(AT_ONCE_MAX);
  let isFirst = true;
  const waitForTurn = async (): Promise<void> => {
    if (!isFirst && gapMs > 0 && signal?.aborted !== true) await sleep(gapMs);
    isFirst = false;
  };
  return <T>(upstream: Upstream, task: () => Promise<T>): Promise<T> => {
    if (upstream.vendorPage === null) return task();
    return running(async () => {
      await starting(waitForTurn);
      return task();
    });
  };
}

// Decides when not to query an upstream, because it is down or rejected our key. Pure; its state is in the store.

/** Failed requests in a row that open the circuit. */
const FAILURES_MAX = 5;
/** How long the circuit is open the first time; then doubled. Short, because trying again costs one request. */
const OPEN_FIRST_MS = 30 * SECOND_MS;
const OPEN_MAX_MS = 5 * MINUTE_MS;
/** Time before a rejected key is tried again, with one request. Short, so that a corrected key works with the next pass. */
const REFUSED_MS = 30 * SECOND_MS;

type Circuit =
  | { readonly kind: 'closed' }
  /** A single request decides; nothing is retried. */
  | { readonly kind: 'half-open' }
  | { readonly kind: 'open'; readonly why: 'failing' | 'refused' | 'waiting'; readonly until: EpochMs };

/** @param fingerprint  of the options as they are now; a refusal of other options does not count */
export function readCircuit(control: UpstreamControl, now: EpochMs, fingerprint: () => string): Circuit {
  // A time further ahead than we ever set was written by a clock that was ahead.
  const isAhead = (until: EpochMs | null, most: number): until is EpochMs =>
    until !== null && until > now && until <= now + most;
  const isRefused = control.refusedUntil !== null && control.refusedFingerprint === fingerprint();
  if (isRefused && isAhead(control.refusedUntil, REFUSED_MS))
    return { kind: 'open', why: 'refused', until: control.refusedUntil };
  if (isAhead(control.holdUntil, HOUR_MS)) return { kind: 'open', why: 'waiting', until: control.holdUntil };
  if (isAhead(control.openUntil, OPEN_MAX_MS)) return { kind: 'open', why: 'failing', until: control.openUntil };
  return control.openUntil === null && !isRefused ? { kind: 'closed' } : { kind: 'half-open' };
}

/** After a successful pass: forgets all failures. */
export function afterSuccess(control: UpstreamControl, listCalls: number): UpstreamControl {
  return { ...CONTROL_AT_FIRST, holdUntil: control.holdUntil, limitedCount: control.limitedCount, listCalls };
}

interface Failure {
  readonly error: StatusError;
  /** Requests that failed in a row at the end of the pass. */
  readonly failures: number;
  readonly now: EpochMs;
  /** 0 to 1, 1 excluded. */
  readonly random: number;
  readonly fingerprint: () => string;
}

/**
 * After a failed pass. Only missing answers and 5xx open the circuit. After 401 and 403, one request at a time tests the key.
 */
export function afterFailure(control: UpstreamControl, failure: Failure): UpstreamControl {
  const { error, now } = failure;
  const status = error.context['status'];
  if (error.code === 'UPSTREAM_REFUSED' && (status === 401 || status === 403))
    return { ...control, refusedUntil: toEpochMs(now + REFUSED_MS), refusedFingerprint: failure.fingerprint() };
  if (error.code !== 'UPSTREAM_UNREACHABLE' && error.code !== 'UPSTREAM_FAILED')
    return { ...control, failures: 0, openUntil: null, openings: 0 };
  const failures = control.failures + failure.failures;
  if (failures < FAILURES_MAX) return { ...control, failures };
  const longest = Math.min(OPEN_MAX_MS, OPEN_FIRST_MS * 2 ** Math.min(control.openings, 10));
  // Half of it is random, so that nodes don't retry at the same moment.
  const openMs = longest / 2 + (longest / 2) * failure.random;
  return { ...control, failures, openUntil: toEpochMs(now + openMs), openings: control.openings + 1 };
}
