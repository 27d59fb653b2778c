/** Gauges for `/-/metrics`. */

import { setTimeout as wait } from 'node:timers/promises';
import { mailsWaiting } from '../../access/email/challenges.ts';
import { isStatusError } from '../../errors.ts';
import { countEvents } from '../../exports/event-queue.ts';
import { sourceFreshness } from '../../publish/definitions/site-state.ts';
import { unpublishedOf } from '../../publish/releases/folders.ts';
import type { Gauges } from '../../server/operators/metrics.ts';
import { now } from '../clock.ts';
import type { Pharos } from '../compose.ts';
import { createComponentStates } from './component-states.ts';
import { healthOf, windowName } from './upstream-health.ts';

/** The HTTP server adds whether this node is ready and fresh. */
type NodeGauges = Omit<Gauges, 'isReady' | 'isFresh'>;

/** A scrape times out after ten seconds by default, and one that answers tells more than one that does not. */
const PATIENCE_MS = 1_000;

/** What the store says. */
interface StoredFacts {
  readonly upstreams: readonly {
    readonly id: string;
    readonly isAsked: boolean;
    readonly quota: Gauges['upstreams'][number]['quota'];
  }[];
  readonly mailsWaiting: number;
  readonly exports: Gauges['exports'];
}

/**
 * Makes the look at them. What the store says is what it said last if it doesn't answer in time, so that metrics tell of a database
 * that hangs. Ages and states are always those of now.
 */
export function createGaugeReader(pharos: Pharos, patienceMs: number = PATIENCE_MS): () => Promise<NodeGauges> {
  const { live, folders } = pharos.base;
  const { keeper, access } = pharos.serving;
  const componentStates = createComponentStates({ folders, access });
  let stored: StoredFacts = { upstreams: [], mailsWaiting: 0, exports: [] };
  let reading: Promise<void> | null = null;

  async function read(): Promise<void> {
    try {
      await keeper.refresh(now());
      stored = await storedFacts(pharos);
    } catch (error) {
      // Said by whoever follows the store; here, what was known last is told.
      if (!isStatusError(error)) throw error;
    } finally {
      reading = null;
    }
  }

  return async () => {
    reading ??= read();
    await Promise.race([reading, wait(patienceMs, undefined, { ref: false })]);
    const at = now();
    const state = keeper.lastState();
    const slugs = state?.resolved.pages.map(({ definition }) => definition.slug) ?? [];
    const sources =
      state?.sources.map(({ upstreamId, intervalMs, ...times }) =>
        sourceFreshness(upstreamId, { times, intervalMs, now: at }),
      ) ?? [];
    return {
      upstreams: live.upstreams().map(({ id }) => {
        const source = sources.find(({ upstreamId }) => upstreamId === id);
        const heardAt = source?.monitorsAt ?? null;
        const { isAsked = true, quota = [] } = stored.upstreams.find((one) => one.id === id) ?? {};
        return {
          id,
          ageSeconds: heardAt === null ? null : (at - heardAt) / 1_000,
          isStale: source?.isMonitorsStale ?? true,
          isAsked,
          quota,
        };
      }),
      pagesDefined: slugs.length,
      pagesPublished: slugs.length - unpublishedOf(folders, slugs).length,
      runsWaiting: pharos.publishing.engine.underWay().filter(({ startedAt }) => startedAt === null).length,
      mailsWaiting: stored.mailsWaiting,
      exports: stored.exports,
      components: await componentStates(slugs, at),
    };
  };
}

async function storedFacts({ base: { store, live } }: Pharos): Promise<StoredFacts> {
  const at = now();
  const upstreams = live.upstreams().map(async (upstream) => {
    const { circuit, quota } = await healthOf(store.database, upstream, at);
    const windows = quota.map((window) => ({ window: windowName(window), left: window.left }));
    return { id: upstream.id, isAsked: circuit.kind !== 'open', quota: windows };
  });
  const exported = live.config().exports.map(async ({ id }) => {
    const counts = Object.entries(await countEvents(store.database, id));
    return counts.map(([state, count]) => ({ id, state, count }));
  });
  return {
    upstreams: await Promise.all(upstreams),
    mailsWaiting: await mailsWaiting(store.database, at),
    exports: (await Promise.all(exported)).flat(),
  };
}
