/** Gauges for `/-/metrics`. */

import { mailsWaiting } from '../../access/email/challenges.ts';
import { isStatusError } from '../../errors.ts';
import { countEvents } from '../../exports/event-queue.ts';
import { sourceFreshness } from '../../publish/definitions/site-state.ts';
import type { ServedRelease } from '../../publish/releases/folders.ts';
import type { Gauges } from '../../server/operators/metrics.ts';
import { now } from '../clock.ts';
import type { Pharos } from '../compose.ts';
import { createLatest, type Latest } from '../latest.ts';
import { createComponentStates } from './component-states.ts';
import { healthOf, windowName } from './upstream-health.ts';

/** The HTTP server adds whether this node is ready and fresh. */
type NodeGauges = Omit<Gauges, 'isReady' | 'isFresh'>;

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
 * Makes the look at them. What the store and the disk say is what they said last if they don't answer in time, so that metrics tell
 * of a database or a disk that hangs. Ages are always those of now.
 *
 * @param served the releases that are served
 */
export function createGaugeReader(
  pharos: Pharos,
  served: Latest<ReadonlyMap<string, ServedRelease>>,
): () => Promise<NodeGauges> {
  const { live, folders } = pharos.base;
  const { keeper, access } = pharos.serving;
  const components = createComponentStates(folders, access);
  const releases = createLatest(null, async () => {
    await components.read(await served.read());
    return null;
  });
  let known: StoredFacts = { upstreams: [], mailsWaiting: 0, exports: [] };
  const facts = createLatest(known, async () => {
    try {
      await keeper.refresh(now());
      known = await storedFacts(pharos);
    } catch (error) {
      // Said by whoever follows the store; here, what was known last is told.
      if (!isStatusError(error)) throw error;
    }
    return known;
  });

  return async () => {
    const stored = await facts.read();
    await releases.read();
    const at = now();
    const published = await served.read();
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
      pagesPublished: slugs.filter((slug) => published.has(slug)).length,
      runsWaiting: pharos.publishing.engine.underWay().filter(({ startedAt }) => startedAt === null).length,
      mailsWaiting: stored.mailsWaiting,
      exports: stored.exports,
      components: components.known(at),
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
