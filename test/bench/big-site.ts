/** A synthetic site of any size in a real store, for benchmarks. Everything follows from the arguments. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { drawingWith } from '../../src/app/workers/drawing.ts';
import { createWorkerPool } from '../../src/app/workers/worker-pool.ts';
import {
  type Incident,
  type MonitorId,
  type MonitorObservation,
  NOTHING_LEARNED,
  type PageDefinition,
  toMonitorId,
} from '../../src/model/observation.ts';
import type { Span } from '../../src/model/overlap.ts';
import type { PageKey } from '../../src/model/slugs.ts';
import type { State } from '../../src/model/state.ts';
import { DAY_MS, type EpochMs, HOUR_MS, MINUTE_MS, toEpochMs } from '../../src/model/time.ts';
import { createSiteMemory } from '../../src/publish/definitions/site-memory.ts';
import type { SiteState, SiteStateInputs } from '../../src/publish/definitions/site-state.ts';
import { loadRenderer } from '../../src/publish/draw/renderer.ts';
import { preparePage } from '../../src/publish/page-release.ts';
import { createPublishControl } from '../../src/publish/publish-control.ts';
import { notedRevision } from '../../src/publish/published-note.ts';
import {
  createPublisher,
  type Publisher,
  type PublisherOptions,
  type WorkerPool,
} from '../../src/publish/publisher.ts';
import { DISK } from '../../src/publish/releases/disk.ts';
import { type ReleaseFolders, releaseFolders } from '../../src/publish/releases/folders.ts';
import { createStore, type Store } from '../../src/store/create-store.ts';
import type { PassCommit } from '../../src/store/revisions.ts';
import { openSqlite } from '../../src/store/sqlite/sqlite.ts';
import { testPageLog } from '../helpers/page-log.ts';

/** 2026-11-21, 10:13 in Berlin. */
export const START: EpochMs = toEpochMs(Date.parse('2026-11-21T09:13:00Z'));
/** As many monitors as one upstream of ours allows itself to be asked for in a pass without paging for long. */
const PAGES_PER_UPSTREAM = 20;
const HISTORY_DAYS = 90;

export interface BigSiteInit {
  readonly pages: number;
  readonly components: number;
  /** Of the first page only. */
  readonly incidents?: number;
  /** Pages with all of their past in their signed logs, which takes a third of a first publish. Default: all. */
  readonly fullPages?: number;
  /** Languages of all pages, the default first. Default: English alone. */
  readonly locales?: readonly string[];
  /**
   * Threads for many pages at once, as `pharos start` has them; `here`: one, which is this thread, with the files of `overrides`.
   * Default: none.
   */
  readonly team?: 'threads' | 'here';
  /** Where to make it; whoever names a folder removes it. Default: a temporary one. */
  readonly folder?: string;
  readonly overrides?: Partial<PublisherOptions>;
}

export interface BigSite {
  readonly folder: string;
  readonly folders: ReleaseFolders;
  readonly store: Store;
  readonly publisher: Publisher;
  readonly look: () => Promise<SiteState>;
  readonly clock: { now: EpochMs };
  /** Goes on with a publisher that remembers nothing, as the next process on the same data. The first one is to be closed before. */
  readonly reopen: (overrides?: Partial<PublisherOptions>) => Promise<void>;
  /** What an upstream would answer when the first monitor of a page is in another state: `commit` is what takes it in. */
  readonly answer: (page: number, state: State) => { readonly commit: () => Promise<unknown> };
  readonly close: () => Promise<void>;
}

type Opened = Pick<BigSite, 'publisher' | 'look'>;

/** Fills a store with ninety days of past and makes a publisher over it; nothing is published yet. */
export async function createBigSite(init: BigSiteInit): Promise<BigSite> {
  const folder = mkdtempSync(join(init.folder ?? tmpdir(), 'pharos-bench-'));
  const databaseFile = join(folder, 'pharos.db');
  const store = createStore(openSqlite(databaseFile, START).database);
  const folders = releaseFolders(folder);
  const clock = { now: START };
  const upstreams = Math.ceil(init.pages / PAGES_PER_UPSTREAM);
  const states = new Map<string, State>();
  for (let upstream = 0; upstream < upstreams; upstream += 1) await fill(store, upstream, init);
  const inputs: SiteStateInputs = {
    site: {
      url: 'https://status.example',
      name: 'Example',
      home: null,
      timezone: 'Europe/Berlin',
      locale: 'en',
      ...(init.locales === undefined ? {} : { locales: init.locales }),
      historyDays: 400,
    },
    pages: [],
    definesPages: new Set<string>(),
    intervalMs: new Map(Array.from({ length: upstreams }, (_, index) => [`u${index}`, MINUTE_MS])),
  };
  const renderer = await loadRenderer();
  const drawing = drawingWith(renderer);
  const log = testPageLog(store.database);
  const isFull = (page: PageKey): boolean => Number(/customer-(\d+)/.exec(page)?.[1]) < (init.fullPages ?? init.pages);
  const control = createPublishControl({
    database: store.database,
    folders,
    now: () => clock.now,
    sleep: (ms) => sleep(ms),
    mayServe: async () => true,
    log: { ...log, commitDays: (commit) => log.commitDays(isFull(commit.page) ? commit : { ...commit, shown: [] }) },
  });
  const teams = {
    threads: () => createWorkerPool({ store: { file: databaseFile }, folders, components: null }, control),
    here: (overrides?: Partial<PublisherOptions>): WorkerPool => {
      const deps = { store, folders, disk: DISK, ...drawing, ...control, ...overrides };
      return { size: 1, prepare: (task) => preparePage(deps, task), terminate: () => Promise.resolve() };
    },
  };
  const open = async (overrides?: Partial<PublisherOptions>): Promise<Opened> => {
    const since = await notedRevision(store, folders);
    const memory = createSiteMemory(store, { since });
    const publisher = createPublisher({
      noting: { version: renderer.version, since },
      store,
      folders,
      ...drawing,
      takeTouched: memory.takeTouched,
      control,
      onError: (error) => {
        throw error;
      },
      ...(init.team === undefined ? {} : { workers: teams[init.team](overrides) }),
      ...overrides,
    });
    return { publisher, look: () => memory.refresh(inputs, clock.now) };
  };
  let opened = await open(init.overrides);
  return {
    folder,
    folders,
    store,
    get publisher() {
      return opened.publisher;
    },
    look: () => opened.look(),
    clock,
    // What the process before remembered is gone with it.
    reopen: async (overrides) => {
      opened = await open(overrides);
    },
    answer: (page, state) => {
      const upstream = Math.floor(page / PAGES_PER_UPSTREAM);
      states.set(monitorOf(init, page, 0), state);
      const monitors = monitorsOf(init, upstream).map((monitor) => ({
        ...monitor,
        state: states.get(monitor.id) ?? monitor.state,
      }));
      const pass: PassCommit = {
        upstreamId: `u${upstream}`,
        observedAt: clock.now,
        learned: {
          ...NOTHING_LEARNED,
          monitors,
          stale: ['pages', 'incidents', 'maintenances'],
        },
        continuity: 'continuous',
        spanChanges: [{ monitor: monitorOf(init, page, 0), at: clock.now, state }],
      };
      return { commit: () => store.commitPass(pass) };
    },
    close: async () => {
      await opened.publisher.close();
      await store.close();
      if (init.folder === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function fill(store: Store, upstream: number, init: BigSiteInit): Promise<void> {
  const monitors = monitorsOf(init, upstream);
  const at = (ms: number): EpochMs => toEpochMs(START - ms);
  const learned = {
    ...NOTHING_LEARNED,
    monitors,
    pages: pagesOf(init, upstream),
    incidents: upstream === 0 ? incidentsOf(init) : [],
    details: monitors.map(({ id }, index) => ({
      id,
      fetchedAt: START,
      uptime: null,
      responseTimes: [],
      reportedSpans: pastOf(index, at),
      reportedDays: [],
    })),
  };
  const commit = { upstreamId: `u${upstream}`, spanChanges: [] };
  await store.commitPass({ ...commit, observedAt: at(2 * MINUTE_MS), learned, continuity: 'broken' });
  await store.commitPass({
    ...commit,
    observedAt: START,
    learned: { ...learned, details: [] },
    continuity: 'continuous',
  });
}

/** Thirty spans over ninety days: an outage of some minutes every ten days, each monitor at another hour. */
function pastOf(index: number, at: (ms: number) => EpochMs): Span[] {
  const spans: Span[] = [];
  for (let day = HISTORY_DAYS; day > 0; day -= 10) {
    const from = day * DAY_MS - (index % 200) * HOUR_MS;
    const minutes = 4 + (index % 50);
    spans.push(
      { state: 'operational', from: at(day * DAY_MS), to: at(from) },
      { state: 'major_outage', from: at(from), to: at(from - minutes * MINUTE_MS) },
      { state: 'operational', from: at(from - minutes * MINUTE_MS), to: at((day - 10) * DAY_MS) },
    );
  }
  return spans.filter(({ from, to }) => from < to);
}

function monitorOf({ components }: BigSiteInit, page: number, component: number): MonitorId {
  return toMonitorId(`u${Math.floor(page / PAGES_PER_UPSTREAM)}`, page * components + component);
}

function pagesIn({ pages }: BigSiteInit, upstream: number): number[] {
  const first = upstream * PAGES_PER_UPSTREAM;
  return Array.from({ length: Math.min(PAGES_PER_UPSTREAM, pages - first) }, (_, index) => first + index);
}

function monitorsOf(init: BigSiteInit, upstream: number): MonitorObservation[] {
  return pagesIn(init, upstream).flatMap((page) =>
    Array.from({ length: init.components }, (_, component) => ({
      id: monitorOf(init, page, component),
      name: `Service ${component + 1} of customer ${page + 1}`,
      description: null,
      kind: 'http',
      target: null,
      state: 'operational',
      isPublic: true,
      createdAt: null,
    })),
  );
}

function pagesOf(init: BigSiteInit, upstream: number): PageDefinition[] {
  return pagesIn(init, upstream).map((page) => ({
    id: `u${upstream}/p${page}`,
    slug: `customer-${page}`,
    title: `Customer ${page + 1}`,
    description: null,
    homepageUrl: null,
    contactUrl: null,
    icon: null,
    customDomain: null,
    access: 'public',
    emailDomains: [],
    published: true,
    theme: 'system',
    groups: ['Core', 'Edge', 'Partners'].map((name, order) => ({ id: name.toLowerCase(), name, order })),
    components: Array.from({ length: init.components }, (_, component) => ({
      id: `c${component}`,
      type: 'monitor',
      monitor: monitorOf(init, page, component),
      name: null,
      description: null,
      groupId: ['core', 'edge', 'partners', null][component % 4] ?? null,
      order: component,
      groupOrder: component,
    })),
  }));
}

function incidentsOf(init: BigSiteInit): Incident[] {
  const total = init.incidents ?? 0;
  return Array.from({ length: total }, (_, index) => {
    const startedAt = toEpochMs(START - ((index + 1) * HISTORY_DAYS * DAY_MS) / (total + 1));
    return {
      id: `u0/i${index}`,
      title: `Requests to service ${(index % init.components) + 1} are failing`,
      status: 'resolved',
      impact: index % 3 === 0 ? 'critical' : 'minor',
      startedAt,
      endedAt: toEpochMs(startedAt + 30 * MINUTE_MS),
      monitors: [monitorOf(init, 0, index % init.components)],
      components: [],
      pages: null,
      affectedState: null,
      isOutage: false,
      updates: ['We are looking into it.', 'We found the cause and are **rolling back**.', 'All is well again.'].map(
        (body, step) => ({
          id: `u${step}`,
          at: toEpochMs(startedAt + step * 15 * MINUTE_MS),
          status: ['investigating', 'identified', 'resolved'][step] ?? null,
          body,
        }),
      ),
    };
  });
}

/** An incident as anybody would list it, for generators that are not ours. */
export type ListedIncident = Pick<Incident, 'id' | 'title' | 'impact' | 'updates'> & {
  readonly startedAt: string;
  readonly endedAt: string;
};

export function listedIncidentsOf(init: BigSiteInit): ListedIncident[] {
  const iso = (at: EpochMs | null): string => (at === null ? '' : new Date(at).toISOString());
  return incidentsOf(init).map(({ id, title, impact, updates, startedAt, endedAt }) => ({
    id,
    title,
    impact,
    updates,
    startedAt: iso(startedAt),
    endedAt: iso(endedAt),
  }));
}
