/** A site of small pages in a real store, published for real but drawn plainly, with a clock that the test moves. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PageConfig } from '../../src/config/schema.ts';
import {
  type Announcement,
  type Incident,
  type Learned,
  type Maintenance,
  type MonitorObservation,
  NOTHING_LEARNED,
  type PageDefinition,
  toMonitorId,
} from '../../src/model/observation.ts';
import type { State } from '../../src/model/state.ts';
import { type EpochMs, MINUTE_MS, toEpochMs } from '../../src/model/time.ts';
import { createSiteMemory } from '../../src/publish/definitions/site-memory.ts';
import type { SiteStateInputs } from '../../src/publish/definitions/site-state.ts';
import { badgeData, pageBadges, pageFiles } from '../../src/publish/files/files.ts';
import { listSiteFiles } from '../../src/publish/files/site-files.ts';
import { createPublishControl } from '../../src/publish/publish-control.ts';
import {
  createPublisher,
  type Publisher,
  type PublisherOptions,
  type PublishReport,
} from '../../src/publish/publisher.ts';
import { type ReleaseFolders, releaseFolders } from '../../src/publish/releases/folders.ts';
import { createStore, type Store } from '../../src/store/create-store.ts';
import { createLeases } from '../../src/store/nodes/leases.ts';
import { openEmptySqlite } from './empty-sqlite.ts';
import { testPageLog } from './page-log.ts';
import { pictureOf } from './pictures.ts';

/** 2026-11-21, Saturday morning. */
export const SITE_START: EpochMs = toEpochMs(Date.parse('2026-11-21T09:13:00Z'));

/** Draws any view as a page that holds it as JSON: quick, and as deterministic as the view. */
export function plainRenderer(version = 'plain-1'): PublisherOptions['renderer'] & { readonly drawn: string[] } {
  const drawn: string[] = [];
  return {
    version,
    drawn,
    scriptOf: (name) => `// ${name}`,
    socialImage: async (view) => pictureOf(view),
    render: async (kind, view) => {
      drawn.push(kind);
      const text = JSON.stringify(view).replaceAll('<', '\\u003c');
      return {
        body: `<!DOCTYPE html><html lang="en"><title>${kind}</title><p>${text}</p></html>`,
        csp: "default-src 'none'",
      };
    },
  };
}

export interface SmallSiteInit {
  /** Slugs; each page shows two monitors of the upstream of its own name. */
  readonly pages?: readonly string[];
  /** As configured, over what upstreams define. */
  readonly configured?: readonly PageConfig[];
  readonly home?: string | null;
  /** Shared with another site: two processes over one data folder. */
  readonly folder?: string;
  /** How long the lease of a publisher that was killed keeps the next one waiting. */
  readonly leaseMs?: number;
}

export interface SmallSite {
  readonly folder: string;
  readonly folders: ReleaseFolders;
  readonly store: Store;
  readonly clock: { now: EpochMs };
  readonly inputs: SiteStateInputs;
  /** What the upstream of a page says from now on; kept until said otherwise. */
  readonly upstream: (slug: string) => UpstreamWorld;
  /** One pass over the upstream of a page, or over all. */
  readonly pass: (slug?: string) => Promise<void>;
  /** A publisher of its own, as after a restart. */
  readonly publisher: (over?: Partial<PublisherOptions>) => RunningPublisher;
  readonly served: (slug: string, path: string) => string;
  readonly close: () => Promise<void>;
}

export interface RunningPublisher {
  readonly run: (slug?: string) => Promise<PublishReport>;
  readonly publisher: Publisher;
}

/** May be changed freely. */
export interface UpstreamWorld {
  states: [State, State];
  /** Of its monitors, what is not said otherwise. */
  monitors: Partial<Pick<MonitorObservation, 'kind' | 'target'>>;
  incidents: Incident[];
  maintenances: Maintenance[];
  announcements: Announcement[];
  page: Partial<PageDefinition> | null;
}

const running: SmallSite[] = [];

/** Closes what tests left open. */
export async function closeSmallSites(): Promise<void> {
  for (const site of running.splice(0)) await site.close();
}

export function createSmallSite(init: SmallSiteInit = {}): SmallSite {
  const slugs = init.pages ?? ['acme', 'beta', 'gamma'];
  const folder = init.folder ?? mkdtempSync(join(tmpdir(), 'pharos-site-'));
  const store = createStore(openEmptySqlite(join(folder, 'pharos.db'), SITE_START).database);
  const folders = releaseFolders(folder);
  const clock = { now: SITE_START };
  const worlds = new Map<string, UpstreamWorld>(slugs.map((slug) => [slug, calmWorld()]));
  const lastPass = new Map<string, EpochMs>();
  const publishers: Publisher[] = [];
  const inputs: SiteStateInputs = {
    site: {
      url: 'https://status.example',
      name: 'Example',
      home: init.home ?? null,
      timezone: 'UTC',
      locale: 'en',
      historyDays: 400,
    },
    pages: init.configured ?? [],
    intervalMs: new Map(slugs.map((slug) => [slug, MINUTE_MS])),
    definesPages: new Set(slugs),
  };
  const site: SmallSite = {
    folder,
    folders,
    store,
    clock,
    inputs,
    upstream: (slug) => worlds.get(slug) ?? calmWorld(),
    pass: async (only) => {
      for (const slug of only === undefined ? slugs : [only]) {
        const world = worlds.get(slug) ?? calmWorld();
        const before = await store.monitors(slug);
        const learned = learnedOf(slug, world);
        await store.commitPass({
          upstreamId: slug,
          observedAt: clock.now,
          learned,
          continuity: lastPass.has(slug) ? 'continuous' : 'broken',
          spanChanges: learned.monitors
            .filter(({ id, state }) => before.has(id) && before.get(id)?.state !== state)
            .map(({ id, state }) => ({ monitor: id, at: clock.now, state })),
        });
        lastPass.set(slug, clock.now);
      }
    },
    publisher: (over = {}) => {
      const memory = createSiteMemory(store, { since: over.noting?.since ?? null });
      const publisher = createPublisher({
        store,
        folders,
        renderer: plainRenderer(),
        filesOf: (model, page) =>
          pageFiles(model, { badge: pageBadges(page), redirects: page.config?.redirects ?? {} }),
        dataOf: badgeData,
        listSiteFiles,
        takeTouched: memory.takeTouched,
        control: createPublishControl({
          database: store.database,
          folders,
          now: () => clock.now,
          sleep: (ms) => sleep(ms),
          mayServe: async () => true,
          log: testPageLog(store.database),
          leases: createLeases(store.database, init.leaseMs),
        }),
        onError: (error) => {
          throw error;
        },
        ...over,
      });
      publishers.push(publisher);
      const run = async (slug?: string): Promise<PublishReport> =>
        publisher.publish(await memory.refresh(site.inputs, clock.now), slug === undefined ? {} : { slug });
      return { run, publisher };
    },
    served: (slug, path) => {
      try {
        return readFileSync(join(folders.publicSite, slug, path), 'utf8');
      } catch {
        return readFileSync(join(folders.privateSite, slug, path), 'utf8');
      }
    },
    close: async () => {
      const at = running.indexOf(site);
      if (at !== -1) running.splice(at, 1);
      for (const publisher of publishers) await publisher.close();
      await store.close();
      if (init.folder === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
  running.push(site);
  return site;
}

function calmWorld(): UpstreamWorld {
  return {
    states: ['operational', 'operational'],
    monitors: {},
    incidents: [],
    maintenances: [],
    announcements: [],
    page: {},
  };
}

function learnedOf(slug: string, world: UpstreamWorld): Learned {
  const monitors = world.states.map(
    (state, index): MonitorObservation => ({
      id: toMonitorId(slug, index),
      name: `${slug} ${index}`,
      description: null,
      kind: 'http',
      target: null,
      state,
      isPublic: null,
      createdAt: null,
      ...world.monitors,
    }),
  );
  const definition: PageDefinition = {
    id: `${slug}/page`,
    slug,
    title: slug.toUpperCase(),
    description: null,
    homepageUrl: null,
    contactUrl: null,
    icon: null,
    customDomain: null,
    access: 'public',
    emailDomains: [],
    published: true,
    theme: 'system',
    groups: [],
    components: monitors.map(({ id }, order) => ({
      id: `c${order}`,
      type: 'monitor',
      monitor: id,
      name: null,
      description: null,
      groupId: null,
      order,
      groupOrder: order,
    })),
    ...world.page,
  };
  return {
    ...NOTHING_LEARNED,
    monitors,
    incidents: world.incidents,
    maintenances: world.maintenances,
    announcements: world.announcements,
    pages: world.page === null ? [] : [definition],
  };
}

export function incidentOf(slug: string, over: Partial<Incident> = {}): Incident {
  return {
    id: `${slug}/i1`,
    title: `Trouble at ${slug}`,
    status: 'investigating',
    impact: 'major',
    startedAt: SITE_START,
    endedAt: null,
    monitors: [toMonitorId(slug, 0)],
    components: [],
    pages: null,
    affectedState: null,
    isOutage: false,
    updates: [{ id: 'u1', at: SITE_START, status: 'investigating', body: 'We are looking into it.' }],
    ...over,
  };
}

export function maintenanceOf(slug: string, startsAt: EpochMs, endsAt: EpochMs): Maintenance {
  return {
    id: `${slug}/m1`,
    title: 'Upgrade',
    startsAt,
    endsAt,
    monitors: [toMonitorId(slug, 0)],
    components: [],
    pages: null,
    updates: [],
  };
}

/** Slugs of what a run published, `_site` left out. */
export function publishedBy(report: PublishReport): string[] {
  return report.pages.filter(({ slug, kind }) => slug !== '_site' && kind === 'published').map(({ slug }) => slug);
}
