/**
 * Makes the checks of one place, each at its own moment of its period, until it is closed. Checks don't wait for each other, but
 * for those of the same host; none runs twice at once.
 */

import pLimit, { type LimitFunction } from 'p-limit';
import type { CheckResult, StoredCheck } from '../model/check-result.ts';
import { type EpochMs, SECOND_MS, toEpochMs } from '../model/time.ts';
import { type Check, checkPeriodMs } from '../sync/connectors/check.ts';
import type { Try } from './measure.ts';
import { resultOf, runCheck, slowMsOf, type Verdict } from './run-check.ts';
import { hostOf } from './try.ts';

/** A check and the upstream that it belongs to. */
export interface OwnCheck {
  readonly upstream: string;
  readonly check: Check;
}

export interface CheckerDeps {
  readonly place: string;
  readonly now: () => EpochMs;
  /** Ends early when the signal is aborted. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Fails at once when the signal is aborted. */
  readonly tryOnce: (own: OwnCheck, signal: AbortSignal) => Promise<Try>;
  /** Whether the configured reference can be reached; null: none is configured. */
  readonly reference: (() => Promise<boolean>) | null;
  /** The fence of this node's lease for the place; null: another node makes its checks. */
  readonly turn: () => number | null;
  readonly read: () => Promise<readonly StoredCheck[]>;
  readonly write: (results: readonly StoredCheck[]) => Promise<void>;
  /** Told of upstreams with a check whose state has changed, once that is stored. */
  readonly onChange: (upstreams: readonly string[]) => void;
  /** Called before checks are made again after nobody made them for long, so that the time between is recorded first. */
  readonly onGap: () => Promise<void>;
  readonly onError: (error: unknown) => void;
}

export type Checker = ReturnType<typeof createChecker>;

export interface Finished extends OwnCheck {
  readonly verdict: Verdict;
}

/** Connections to one host at a time. */
const PER_HOST = 3;
/** Over how long the first runs after a start are spread. */
const BEGIN_MS = 10 * SECOND_MS;
/** Results without news are stored together. */
const WRITE_MS = SECOND_MS;
/** A run that comes later than this is left out: whatever stopped the process, stopped all checks. */
const LATE_MS = 15 * SECOND_MS;

interface Entry extends OwnCheck {
  readonly key: string;
  /** Of its period, from midnight UTC. */
  readonly offsetMs: number;
  readonly inTurn: LimitFunction;
  last: CheckResult | null;
}

const keyOf = (upstream: string, name: string): string => `${upstream}/${name}`;

function createResultWriter({ sleep, write, onChange, onError }: CheckerDeps, signal: AbortSignal) {
  const pending = new Map<string, StoredCheck>();
  /** Upstreams with a change that nobody has been told of. */
  const untold = new Set<string>();
  let writing: Promise<void> = Promise.resolve();
  let isFlushDue = false;

  async function flushNow(): Promise<void> {
    const results = [...pending];
    const changed = [...untold];
    pending.clear();
    untold.clear();
    try {
      if (results.length > 0) await write(results.map(([, result]) => result));
      if (changed.length > 0) onChange(changed);
    } catch (error) {
      for (const [key, result] of results) pending.getOrInsert(key, result);
      for (const upstream of changed) untold.add(upstream);
      onError(error);
    }
  }
  /** Stores what is kept, and tells of upstreams with a changed state. What fails now is done with the next. */
  const flush = (changed: readonly string[] = []): Promise<void> => {
    for (const upstream of changed) untold.add(upstream);
    writing = writing.then(flushNow);
    return writing;
  };
  return {
    keep: ({ upstream, check, key }: Entry, result: CheckResult) =>
      void pending.set(key, { ...result, upstream, name: check.id }),
    flush,
    flushSoon: () => {
      if (isFlushDue) return;
      isFlushDue = true;
      void sleep(WRITE_MS, signal).then(() => {
        isFlushDue = false;
        return flush();
      });
    },
  };
}

const OWN_FAULT = 'it could not be checked, because our own network did not work';

export function createChecker(checks: readonly OwnCheck[], deps: CheckerDeps) {
  const entries = toEntries(checks, deps.place);
  const stopping = new AbortController();
  const { signal } = stopping;
  const writer = createResultWriter(deps, signal);
  const tryOnce = (own: OwnCheck): Promise<Try> => deps.tryOnce(own, signal);
  const watch = createNetworkWatch(entries, { ...deps, tryOnce });
  let fence: number | null = null;
  let loading: Promise<void> = Promise.resolve();
  let running: readonly Promise<void>[] = [];

  async function load(): Promise<void> {
    const known = new Map((await deps.read()).map((result) => [keyOf(result.upstream, result.name), result]));
    for (const entry of entries) {
      entry.last = known.get(entry.key) ?? null;
      if (entry.last?.state === 'major_outage') watch.wasDown(entry);
    }
  }

  async function run(entry: Entry): Promise<Finished> {
    const { upstream, check, last: before } = entry;
    const verdict = await runCheck(check, slowMsOf(check, before), {
      now: deps.now,
      sleep: (ms) => deps.sleep(ms, signal),
      tryOnce: () => entry.inTurn(() => tryOnce(entry)).then((tried) => watch.saw(entry, tried)),
      // While it is tried again, the state of before holds.
      onRetry: () => {
        if (entry.last !== null) writer.keep(entry, { ...entry.last, at: deps.now() });
        writer.flushSoon();
      },
    });
    const isDown = verdict.state === 'major_outage' && !verdict.hasAnswered;
    const isOurs = isDown && (await watch.isOursAtFault(entry, verdict));
    const settled: Verdict = isOurs ? { ...verdict, state: 'unknown', fault: OWN_FAULT } : verdict;
    // What was broken off says nothing.
    if (signal.aborted) return { upstream, check, verdict: settled };
    entry.last = resultOf(check, settled, { place: deps.place, before, now: deps.now() });
    writer.keep(entry, entry.last);
    if (before?.state === settled.state) writer.flushSoon();
    else await writer.flush([upstream]);
    return { upstream, check, verdict: settled };
  }

  /** Whether this node makes the checks of its place. What another one found before counts. */
  async function hasTurn(): Promise<boolean> {
    const mine = deps.turn();
    if (mine === null) return false;
    if (mine !== fence) {
      fence = mine;
      loading = load();
    }
    await loading;
    return true;
  }

  async function keepRunning(entry: Entry): Promise<void> {
    const isFresh = entry.last !== null && deps.now() - entry.last.at < checkPeriodMs(entry.check);
    let due = isFresh ? nextDue(entry, deps.now()) : toEpochMs(deps.now() + (entry.offsetMs % BEGIN_MS));
    while (!signal.aborted) {
      await deps.sleep(Math.max(0, due - deps.now()), signal);
      try {
        if (signal.aborted) return;
        if (deps.now() - due > LATE_MS) await deps.onGap();
        else if (await hasTurn()) await run(entry);
      } catch (error) {
        deps.onError(error);
      }
      due = nextDue(entry, deps.now());
    }
  }

  return {
    /** Begins. Checks whose last result is new wait for their moment. */
    open: async () => {
      await hasTurn().catch(deps.onError);
      running = entries.filter(({ check }) => check.active).map(keepRunning);
    },
    /** Runs checks once, now. Those that are not due are left out, unless all are wanted. */
    runOnce: async (isAll: boolean) => {
      await load();
      const isDue = ({ check, last }: Entry): boolean =>
        last === null || deps.now() - last.at >= checkPeriodMs(check) - LATE_MS;
      const wanted = entries.filter((entry) => entry.check.active && (isAll || isDue(entry)));
      const finished = await Promise.all(wanted.map(run));
      await writer.flush();
      return finished;
    },
    close: async () => {
      stopping.abort();
      await Promise.all(running);
      await writer.flush();
    },
  };
}

/** Checks of one period are spread over it evenly; the places are not at the same one at the same moment. */
function toEntries(checks: readonly OwnCheck[], place: string): Entry[] {
  const byHost = new Map<string, LimitFunction>();
  const shift = [...place].reduce((sum, letter) => (sum * 31 + (letter.codePointAt(0) ?? 0)) % 997, 0) / 997;
  return [...Map.groupBy(checks, ({ check }) => check.periodicity).values()].flatMap((same) =>
    same.map(({ upstream, check }, index): Entry => {
      const inTurn = byHost.getOrInsertComputed(hostOf(check), () => pLimit(PER_HOST));
      const offsetMs = Math.floor(checkPeriodMs(check) * (index / same.length + (same.length > 1 ? shift : 0)));
      return { upstream, check, key: keyOf(upstream, check.id), offsetMs, inTurn, last: null };
    }),
  );
}

/** The first moment of the check after `now`. */
function nextDue({ check, offsetMs }: Entry, now: EpochMs): EpochMs {
  const periodMs = checkPeriodMs(check);
  const passed = (now - offsetMs) % periodMs;
  return toEpochMs(now - passed + periodMs);
}

// Tells an outage of a target from one of our own network, in which nothing can be said about any target.

/** As many other targets are asked whether they still answer. */
const WITNESSES_MAX = 3;
/** What was found out holds for all failures of the moment. */
const HOLDS_MS = 2 * SECOND_MS;
const WITNESS_TIMEOUT_MS = 5 * SECOND_MS;

interface WatchDeps extends Pick<CheckerDeps, 'now' | 'reference'> {
  readonly tryOnce: (target: OwnCheck) => Promise<Try>;
}

export function createNetworkWatch(targets: readonly OwnCheck[], { now, tryOnce, reference }: WatchDeps) {
  /** Hosts that are not known to be down, and when each last answered; 0: not yet. */
  const witnesses = new Map<string, number>(targets.map(({ check }) => [hostOf(check), 0]));
  let asked: { until: number; readonly isOurs: Promise<boolean> } | null = null;

  /** Notes whether a target answered; returns the try. */
  function saw(target: OwnCheck, tried: Try): Try {
    if (tried.fault === null || tried.hasAnswered) witnesses.set(hostOf(target.check), now());
    return tried;
  }

  async function ask(host: string): Promise<boolean> {
    if (reference !== null) return !(await reference());
    const others = [...witnesses]
      .filter(([other]) => other !== host)
      .toSorted(([, a], [, b]) => b - a)
      .slice(0, WITNESSES_MAX)
      .flatMap(([other]) => targets.find(({ check }) => hostOf(check) === other) ?? []);
    const tries = await Promise.all(
      others.map(async (target) => {
        const timeout = Math.min(target.check.timeout, WITNESS_TIMEOUT_MS);
        return saw(target, await tryOnce({ ...target, check: { ...target.check, timeout } }));
      }),
    );
    return tries.length > 0 && tries.every(({ fault, hasAnswered }) => fault !== null && !hasAnswered);
  }

  return {
    saw,
    /** Notes that a target was down before. */
    wasDown: ({ check }: OwnCheck) => void witnesses.delete(hostOf(check)),
    /**
     * Whether a failure without an answer is no fault of its target. With a reference, that decides. Else targets on other hosts do,
     * but those that were down before: if all of them fail as well, our own network is gone. Where there are none, the failure counts.
     */
    isOursAtFault: async ({ check }: OwnCheck, { since }: { readonly since: EpochMs }) => {
      const host = hostOf(check);
      const hasWitness = [...witnesses].some(([other, at]) => other !== host && at >= since);
      if (reference === null && hasWitness) {
        witnesses.delete(host);
        return false;
      }
      if (asked === null || now() > asked.until) {
        const mine = { until: Number.POSITIVE_INFINITY, isOurs: ask(host) };
        void mine.isOurs.finally(() => {
          mine.until = now() + HOLDS_MS;
        });
        asked = mine;
      }
      const isOurs = await asked.isOurs;
      if (!isOurs) witnesses.delete(host);
      return isOurs;
    },
  };
}
