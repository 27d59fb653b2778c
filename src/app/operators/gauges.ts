/** Gauges for `/-/metrics`. */

import { setTimeout as wait } from 'node:timers/promises';
import type { Access } from '../../access/create-access.ts';
import { mailsWaiting } from '../../access/sign-in-mail.ts';
import { isStatusError } from '../../errors.ts';
import { countEvents } from '../../exports/deliver.ts';
import type { EpochMs } from '../../model/time.ts';
import { sourceFreshness } from '../../publish/definitions/site-state.ts';
import type { ReleaseFolders, ServedRelease } from '../../publish/releases/folders.ts';
import { loadReleaseData } from '../../publish/releases/release-data.ts';
import type { Gauges } from '../../server/operators/metrics.ts';
import { now } from '../clock.ts';
import type { Pharos } from '../compose.ts';
import { readHealth, windowName } from './ops-facts.ts';

/**
 * Creates the function that reads the gauges. If the store or the disk doesn't answer in time, their last values are used, so that
 * metrics also work when a database or a disk hangs. Ages are always current.
 *
 * @param served the releases that are served
 */
export function createGaugeReader(pharos: Pharos, served: Latest<ReadonlyMap<string, ServedRelease>>) {
  const { live, folders } = pharos.base;
  const { keeper, access } = pharos.serving;
  const components = createComponentStates(folders, access);
  const releases = createLatest(null, async () => {
    await components.read(await served.read());
    return null;
  });
  let known: Awaited<ReturnType<typeof storedFacts>> = { upstreams: [], mailsWaiting: 0, exports: [] };
  const facts = createLatest(known, async () => {
    try {
      await keeper.refresh(now());
      known = await storedFacts(pharos);
    } catch (error) {
      // `followStore` reports it. Here, the last known values are used.
      if (!isStatusError(error)) throw error;
    }
    return known;
  });

  /** The HTTP server adds whether this node is ready and fresh. */
  return async (): Promise<Omit<Gauges, 'isReady' | 'isFresh'>> => {
    const stored = await facts.read();
    await releases.read();
    const at = now();
    const published = await served.read();
    const state = keeper.lastState();
    const slugs = state?.resolved.pages.map(({ definition }) => definition.slug) ?? [];
    const sources =
      state?.sources.map(({ upstreamId, intervalMs, ...times }) =>
        sourceFreshness(upstreamId, times, intervalMs, at),
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

/** Figures from the store. */
async function storedFacts({ base: { store, live } }: Pharos) {
  const at = now();
  const upstreams = live.upstreams().map(async (upstream) => {
    const { circuit, quota } = await readHealth(store.database, upstream, at);
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

/** States of the components of public pages, as visitors see them, by page while one of its releases is served. */
function createComponentStates(folders: ReleaseFolders, access: Pick<Access, 'pageOf'>) {
  const known = new Map<string, NonNullable<Awaited<ReturnType<typeof readStates>>>>();
  const isPublic = (slug: string): boolean => access.pageOf(slug)?.gate.kind === 'public';
  return {
    /** Reads what releases say that weren't read yet. */
    read: async (served: ReadonlyMap<string, ServedRelease>) => {
      for (const slug of known.keys()) if (served.get(slug)?.isPublic !== true) known.delete(slug);
      for (const [slug, release] of served) {
        if (!release.isPublic || !isPublic(slug) || known.get(slug)?.number === release.number) continue;
        const read = await readStates(folders, slug, release.number);
        if (read === null) known.delete(slug);
        else known.set(slug, read);
      }
    },
    /** From memory. Pages that are no longer public are left out. If a copy is out of date, its states are unknown. */
    known: (now: EpochMs): Gauges['components'] =>
      [...known].flatMap(([slug, { staleAfter, states }]) => {
        if (!isPublic(slug)) return [];
        return now > staleAfter ? states.map((one) => ({ ...one, state: 'unknown' })) : states;
      }),
  };
}

/** Null: the release was removed in the meantime, is damaged, or is of an older version. The next scrape tries again. */
async function readStates(folders: ReleaseFolders, slug: string, number: number) {
  const data = (await loadReleaseData(folders, slug, number))?.onDemand ?? null;
  if (data === null) return null;
  const states = data.subjects.components.map(({ id, subject }) => ({
    page: slug,
    component: id,
    state: subject.state,
  }));
  return { number, staleAfter: data.staleAfter, states };
}

// Reads from a database or a disk that may hang: after a short wait, returns the last value.

/** A scrape times out after ten seconds by default. */
const PATIENCE_MS = 1_000;

export type Latest<T> = ReturnType<typeof createLatest<T>>;

/**
 * @param first the value before anything was read
 * @param readNow if it fails, the last value stays; its errors are reported elsewhere
 */
export function createLatest<T>(first: T, readNow: () => Promise<T>, patienceMs: number = PATIENCE_MS) {
  let last = first;
  let reading: Promise<void> | null = null;
  let since = 0;

  async function readOnce(): Promise<void> {
    since = performance.now();
    try {
      last = await readNow();
    } finally {
      reading = null;
    }
  }

  return {
    /** Reads again, one read at a time, and returns the latest value. */
    read: async (): Promise<T> => {
      reading ??= readOnce();
      await Promise.race([reading, wait(patienceMs, undefined, { ref: false })]);
      return last;
    },
    /** How long the current read has taken so far; 0: there is none. */
    waitingMs: () => (reading === null ? 0 : performance.now() - since),
  };
}
