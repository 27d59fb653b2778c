/** Tells an outage of a target from one of our own network, in which nothing can be said about any target. */

import { type EpochMs, SECOND_MS } from '../model/time.ts';
import type { Check } from '../sync/connectors/check.ts';
import type { Try } from './measure.ts';
import { hostOf } from './try.ts';

/** As many other targets are asked whether they still answer. */
const WITNESSES_MAX = 3;
/** What was found out holds for all failures of the moment. */
const HOLDS_MS = 2 * SECOND_MS;
const WITNESS_TIMEOUT_MS = 5 * SECOND_MS;

interface Watched {
  readonly upstream: string;
  readonly check: Check;
}

interface WatchDeps<Target extends Watched> {
  readonly now: () => EpochMs;
  readonly tryOnce: (target: Target) => Promise<Try>;
  readonly reference: (() => Promise<boolean>) | null;
}

interface NetworkWatch<Target extends Watched> {
  /** Notes whether a target answered; returns the try. */
  readonly saw: (target: Target, tried: Try) => Try;
  /** Notes that a target was down before. */
  readonly wasDown: (target: Target) => void;
  /**
   * Whether a failure without an answer is no fault of its target. With a reference, that decides. Else targets on other hosts do,
   * but those that were down before: if all of them fail as well, our own network is gone. Where there are none, the failure counts.
   */
  readonly isOursAtFault: (target: Target, failed: { readonly since: EpochMs }) => Promise<boolean>;
}

export function createNetworkWatch<Target extends Watched>(
  targets: readonly Target[],
  { now, tryOnce, reference }: WatchDeps<Target>,
): NetworkWatch<Target> {
  /** Hosts that are not known to be down, and when each last answered; 0: not yet. */
  const witnesses = new Map<string, number>(targets.map(({ check }) => [hostOf(check), 0]));
  let asked: { until: number; readonly isOurs: Promise<boolean> } | null = null;

  function saw(target: Target, tried: Try): Try {
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
    wasDown: ({ check }) => void witnesses.delete(hostOf(check)),
    isOursAtFault: async ({ check }, { since }) => {
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
