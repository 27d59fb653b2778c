/** Gauges for `/-/metrics`. */

import { mailsWaiting } from '../../access/email/challenges.ts';
import { countEvents } from '../../exports/event-queue.ts';
import { unpublishedOf } from '../../publish/releases/folders.ts';
import type { Gauges } from '../../server/operators/metrics.ts';
import { now } from '../clock.ts';
import type { Pharos } from '../compose.ts';
import { createComponentStates } from './component-states.ts';
import { healthOf, windowName } from './upstream-health.ts';

/** The HTTP server adds whether this node is ready and fresh. */
type NodeGauges = Omit<Gauges, 'isReady' | 'isFresh'>;

/** Makes the look at them; it remembers the components of pages that did not change. */
export function createGaugeReader(pharos: Pharos): () => Promise<NodeGauges> {
  const componentStates = createComponentStates({ folders: pharos.base.folders, access: pharos.serving.access });
  return () => gaugesOf(pharos, componentStates);
}

async function gaugesOf(
  pharos: Pharos,
  componentStates: ReturnType<typeof createComponentStates>,
): Promise<NodeGauges> {
  const at = now();
  const { store, folders, live } = pharos.base;
  const { sources, resolved } = await pharos.serving.keeper.refresh(at);
  const slugs = resolved.pages.map(({ definition }) => definition.slug);
  const exported = await Promise.all(
    live
      .config()
      .exports.map(async ({ id }) =>
        Object.entries(await countEvents(store.database, id)).map(([state, count]) => ({ id, state, count })),
      ),
  );
  return {
    upstreams: await Promise.all(
      pharos.base.live.upstreams().map(async (upstream) => {
        const { circuit, quota } = await healthOf(store.database, upstream, at);
        const source = sources.find(({ upstreamId }) => upstreamId === upstream.id);
        const heardAt = source?.monitorsAt ?? null;
        return {
          id: upstream.id,
          ageSeconds: heardAt === null ? null : (at - heardAt) / 1_000,
          isStale: source?.isMonitorsStale ?? true,
          isAsked: circuit.kind !== 'open',
          quota: quota.map((window) => ({ window: windowName(window), left: window.left })),
        };
      }),
    ),
    pagesDefined: resolved.pages.length,
    pagesPublished: slugs.length - unpublishedOf(folders, slugs).length,
    runsWaiting: pharos.publishing.engine.underWay().filter(({ startedAt }) => startedAt === null).length,
    mailsWaiting: await mailsWaiting(store.database, at),
    exports: exported.flat(),
    components: await componentStates(slugs, at),
  };
}
