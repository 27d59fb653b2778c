/** The checks that this node makes for its place: which there are, whose turn it is, and where their results go. */

import { type Checker, type CheckerDeps, createChecker, type OwnCheck } from '../../checks/checker.ts';
import { tryCheck } from '../../checks/try.ts';
import { messageOf } from '../../errors.ts';
import { MINUTE_MS, SECOND_MS } from '../../model/time.ts';
import { Secret } from '../../schema/secret.ts';
import { within } from '../../server/own-routes.ts';
import { checksTask, readChecks, writeChecks } from '../../store/nodes/checks.ts';
import { CheckSchema } from '../../sync/connectors/check.ts';
import { ONLY_PLACE } from '../../sync/connectors/check-results.ts';
import type { StoreParts } from '../build-store.ts';
import { now, sleep } from '../clock.ts';
import { NOTHING_REMEMBERED, singleRunner } from '../probe.ts';
import type { Engine } from '../run/engine.ts';
import type { Elections } from './elections.ts';

/** What a pass is waited for before checks begin anew. */
const PATIENCE_MS = 5 * SECOND_MS;

/** Upstreams with checks, by id. */
function checkedUpstreams({ live }: Pick<StoreParts, 'live'>): readonly string[] {
  return live.upstreams().flatMap(({ id, checks }) => (checks === undefined ? [] : [id]));
}

export function checkPlace({ live }: Pick<StoreParts, 'live'>): string {
  return live.config().checks.place ?? ONLY_PLACE;
}

/** The lease for running checks here; null: there are no checks. */
export function ownChecksTask(base: Pick<StoreParts, 'live'>): string | null {
  return checkedUpstreams(base).length === 0 ? null : checksTask(checkPlace(base));
}

/** All configured checks of all places. Upstreams whose list can't be read are left out, and logged. */
export async function listChecks({ http, store, live, log }: StoreParts): Promise<readonly OwnCheck[]> {
  const lists = await Promise.all(
    live.upstreams().map(async (upstream): Promise<readonly OwnCheck[]> => {
      if (upstream.checks === undefined) return [];
      try {
        const context = { upstreamId: upstream.id, now: now(), memory: NOTHING_REMEMBERED };
        const checks = await singleRunner({ http, store, now, sleep }, upstream).run(upstream.checks(context));
        return checks.map((check) => ({ upstream: upstream.id, check }));
      } catch (error) {
        log.warn({ upstream: upstream.id }, messageOf(error));
        return [];
      }
    }),
  );
  return lists.flat();
}

/** The checks of this place. */
export function checksHere(base: Pick<StoreParts, 'live'>, checks: readonly OwnCheck[]): readonly OwnCheck[] {
  const place = checkPlace(base);
  return checks.filter(
    ({ check: { regions = [] } }) => place === ONLY_PLACE || regions.length === 0 || regions.includes(place),
  );
}

/** A checker that connects to real targets. */
export function makeChecker(base: StoreParts, checks: readonly OwnCheck[], needs: Partial<CheckerDeps> = {}): Checker {
  const { database, live, proxy, log } = base;
  const { reference, resolver } = live.config().checks;
  const place = checkPlace(base);
  const caOf = new Map(live.upstreams().map(({ id, ca }) => [id, ca]));
  const tryIt = ({ upstream, check }: OwnCheck, signal: AbortSignal) =>
    tryCheck(check, { ...{ resolver, proxy, signal }, ca: caOf.get(upstream) ?? null });
  const referenceCheck =
    reference === undefined
      ? null
      : CheckSchema.parse({ type: 'tcp', name: 'reference', uri: reference, periodicity: '1m', timeout: PATIENCE_MS });
  return createChecker(checksHere(base, checks), {
    ...{ place, now, sleep, tryOnce: tryIt },
    reference:
      referenceCheck === null
        ? null
        : async () => {
            const { signal } = new AbortController();
            return (await tryIt({ upstream: '', check: referenceCheck }, signal)).fault === null;
          },
    turn: () => 0,
    read: () => readChecks(database, ['place', place]),
    write: async (results) => {
      await database.transaction((tx) => writeChecks(tx, results), { isDurable: false });
    },
    onChange: () => undefined,
    onGap: async () => undefined,
    onError: (error) => log.error(messageOf(error)),
    ...needs,
  });
}

/** Runs this node's checks. Lists from upstreams are read again every minute. */
export function createChecksKeeper(base: StoreParts, engine: Engine, elections: Elections) {
  let current: { readonly key: string; readonly checker: Checker } | null = null;
  let looking: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | null = null;
  let isClosed = false;

  const askNow = async (upstreams: readonly string[]): Promise<void> => {
    await within(PATIENCE_MS, engine.run({ trigger: 'check', upstreams, isUrgent: true }));
  };

  async function look(): Promise<void> {
    const checks = checksHere(base, await listChecks(base));
    // Also compares secrets, which all print the same.
    const key = JSON.stringify(
      [checkPlace(base), base.live.config().checks, checks],
      function (this: object, name, value) {
        const raw = (this as Readonly<Record<string, unknown>>)[name];
        return raw instanceof Secret ? raw.reveal() : (value as unknown);
      },
    );
    if (isClosed || current?.key === key) return;
    await current?.checker.close();
    const checker = makeChecker(base, checks, {
      turn: () => elections.leaseOf(checksTask(checkPlace(base)))?.fence ?? null,
      onChange: (upstreams) => void engine.submit({ trigger: 'check', upstreams, isUrgent: true }),
      onGap: () => askNow(checkedUpstreams(base)),
    });
    current = { key, checker };
    await checker.open();
  }
  const follow = (): void => {
    looking = looking.then(look).catch((error: unknown) => base.log.error(messageOf(error)));
  };
  return {
    /** Runs checks from now on, after the run that records how long none were made. */
    open: (firstRun: Promise<unknown>) => {
      looking = within(PATIENCE_MS, firstRun).then(
        () => undefined,
        () => undefined,
      );
      follow();
      timer = setInterval(follow, MINUTE_MS);
      timer.unref();
    },
    /** Checks immediately whether the list of checks has changed, as after a reload. */
    follow,
    close: async () => {
      isClosed = true;
      if (timer !== null) clearInterval(timer);
      await looking;
      await current?.checker.close();
    },
  };
}
