/** A world by the real path: answers into a real store, pages from it by the real makers of files and the real renderer. */

import type { PageConfig } from '../../src/config/schema.ts';
import {
  type Learned,
  type MonitorObservation,
  NOTHING_LEARNED,
  type PageDefinition,
  toMonitorId,
} from '../../src/model/observation.ts';
import { toEpochMs } from '../../src/model/time.ts';
import { recordPass } from '../../src/model/timeline.ts';
import { createSiteMemory } from '../../src/publish/definitions/site-memory.ts';
import type { SiteStateInputs } from '../../src/publish/definitions/site-state.ts';
import type { FileEntry } from '../../src/publish/files/file-entry.ts';
import { badgeFiles, pageFiles } from '../../src/publish/files/files.ts';
import type { PageRenderer } from '../../src/publish/files/kinds.ts';
import { collectFirsts, loadPageInputs } from '../../src/publish/page-inputs.ts';
import { commitDays, logPlace, modelFor, type PageTask } from '../../src/publish/page-release.ts';
import type { Store } from '../../src/store/create-store.ts';
import { rememberFirsts } from '../../src/store/identities.ts';
import { readMonitorStates, silenceAllowedMs } from '../../src/sync/pass/snapshot.ts';
import { type LogEntry, parseEntry } from '../../src/transparency/entries.ts';
import { readLines } from '../../src/transparency/page-log.ts';
import { badgeSubjects } from '../../src/views/badges/badge-subjects.ts';
import { testPageLog } from '../helpers/page-log.ts';
import { type Answer, internalName, type World } from './world.ts';

/** What a visitor gets after a publish. */
export interface Published {
  /** When it was published. */
  readonly now: number;
  /** Index of that step. */
  readonly upTo: number;
  /** Whether the clock was set back since the publish before. */
  readonly isSetBack: boolean;
  /** By path below the page. */
  readonly files: ReadonlyMap<string, string>;
  /** The page's log. */
  readonly log: readonly LogEntry[];
}

interface Served {
  readonly key: string;
  readonly text: string;
}

/** No release is written, so there is none to go on from. */
const NO_FOLDERS = { publicSite: '', privateSite: '', releases: '' } as Parameters<typeof commitDays>[0]['folders'];

/** Files that tell nothing of their own: pictures of the same words, and badges whose makers are those of the ones that are read. */
const LEFT_OUT = /\.png$|-(?:light|dark)\.svg$|^404|^robots|^sitemap|^favicon|^uptime\/|\.csv$/;
const READ_BADGE = /badges\/(?:status|uptime-90d|incidents)\.(?:svg|json)$/;

/** Plays a world and hands over each publish as it is served. Files whose key stays are kept as they were, as releases do. */
export async function publishWorld(
  world: World,
  { store, renderer }: { readonly store: Store; readonly renderer: PageRenderer },
  look: (published: Published) => void,
): Promise<void> {
  const inputs = siteInputs(world);
  const memory = createSiteMemory(store);
  const log = testPageLog(store.database);
  let previous: { asOf: number; eventKey: string; slug: string } | null = null;
  let served = new Map<string, Served>();
  let lastAt = 0;
  let isSetBack = false;
  for (const [upTo, step] of world.steps.entries()) {
    isSetBack ||= step.at < lastAt;
    lastAt = step.at;
    if (step.kind === 'answer') {
      await takeAnswer(store, world, step);
      continue;
    }
    const state = await memory.refresh(inputs, toEpochMs(step.at));
    const page = state.resolved.pages.find(({ definition }) => definition.slug === world.slug);
    // What an upstream defines is not there before that has answered.
    if (page === undefined) continue;
    const undated = await loadPageInputs(store, state, page);
    const task = { page, priority: 'immediate', previous: previous as PageTask['previous'], state } as const;
    const { model, eventKey } = modelFor(undated, task);
    await rememberFirsts(store.database, collectFirsts(undated, model, state.now));
    await commitDays({ ...log, store, folders: NO_FOLDERS }, model, {
      ...logPlace(model, { page, state }),
      previous: null,
    });
    previous = { asOf: model.asOf, eventKey, slug: world.slug };
    const entries = [
      ...pageFiles(model),
      ...badgeFiles(badgeSubjects(model), { options: { locale: 'en' }, named: [] }),
    ].filter(({ path }) => !LEFT_OUT.test(path) && (!path.includes('badges/') || READ_BADGE.test(path)));
    served = await drawn(entries, served, renderer);
    const files = new Map([...served].map(([path, { text }]) => [path, text]));
    const lines = await readLines(store.database, page.identity.key, { from: 0, to: Number.MAX_SAFE_INTEGER });
    look({ now: step.at, upTo, isSetBack, files, log: lines.flatMap((line) => parseEntry(line) ?? []) });
    isSetBack = false;
  }
}

async function drawn(
  entries: readonly FileEntry[],
  before: ReadonlyMap<string, Served>,
  renderer: PageRenderer,
): Promise<Map<string, Served>> {
  const files = new Map<string, Served>();
  for (const entry of entries) {
    const key = `${entry.kind.name} ${entry.fingerprint}`;
    const known = before.get(entry.path);
    const text = known?.key === key ? known.text : String((await entry.draw(renderer)).body);
    files.set(entry.path, { key, text });
  }
  return files;
}

async function takeAnswer(store: Store, world: World, answer: Answer): Promise<void> {
  const upstream = world.upstreams.find(({ id }) => id === answer.upstream);
  if (upstream === undefined) throw new Error(`no upstream ${answer.upstream}`);
  const learned = learnedOf(world, answer);
  await store.cutFuture(upstream.id, toEpochMs(answer.at));
  const last = (await store.upstreamTimes()).get(upstream.id)?.monitorsAt ?? null;
  const recorded =
    answer.states === null
      ? { at: toEpochMs(answer.at), continuity: 'continuous' as const, spanChanges: [] }
      : recordPass({
          at: toEpochMs(answer.at),
          lastAt: last,
          lastStates: await readMonitorStates(store.database, upstream.id),
          seen: learned.monitors,
          silenceMs: silenceAllowedMs(upstream.intervalMs),
        });
  const { at, ...spans } = recorded;
  await store.commitPass({ upstreamId: upstream.id, observedAt: at, learned, ...spans });
}

function learnedOf(world: World, answer: Answer): Learned {
  const { upstream, states, incidents, maintenances, whole, unreadable } = answer;
  const listed = (part: 'incidents' | 'maintenances', items: readonly { readonly id: string }[] | null) =>
    whole === null || items === null
      ? []
      : [
          {
            part,
            prefix: `${upstream}/`,
            since: whole.since === null ? null : toEpochMs(whole.since),
            ids: [...items.map(({ id }) => id), ...unreadable],
          },
        ];
  return {
    ...NOTHING_LEARNED,
    monitors: Object.entries(states ?? {}).map(
      ([id, state]): MonitorObservation => ({
        id: toMonitorId(upstream, id.slice(upstream.length + 1)),
        name: internalName(id),
        description: `runs on ${internalName(id)}`,
        kind: 'http',
        target: `http://${internalName(id)}/`,
        state,
        isPublic: null,
        createdAt: null,
      }),
    ),
    incidents: incidents ?? [],
    maintenances: maintenances ?? [],
    pages: world.definitionId.startsWith(`${upstream}/`) ? [definitionOf(world)] : [],
    complete: [...listed('incidents', incidents), ...listed('maintenances', maintenances)],
    stale: [
      ...(states === null ? (['monitors'] as const) : []),
      ...(incidents === null ? (['incidents'] as const) : []),
      ...(maintenances === null ? (['maintenances'] as const) : []),
    ],
  };
}

function definitionOf({ definitionId, slug, groups, components }: World): PageDefinition {
  return {
    id: definitionId,
    slug,
    title: 'Acme',
    description: null,
    homepageUrl: null,
    contactUrl: null,
    icon: null,
    customDomain: null,
    access: 'public',
    emailDomains: [],
    published: true,
    theme: 'system',
    groups,
    components: components.map(({ monitor, showsDetails, ...rest }) => ({
      ...rest,
      type: monitor === null ? 'static' : 'monitor',
      monitor: monitor === null ? null : toMonitorId(monitor.split('/')[0] ?? '', monitor.split('/')[1] ?? ''),
      description: null,
      ...(showsDetails ? { showsDetails } : {}),
    })),
  };
}

function siteInputs(world: World): SiteStateInputs {
  const isConfigured = world.definitionId.startsWith('config/');
  const definedBy = world.definitionId.split('/')[0] ?? '';
  const config = {
    slug: world.slug,
    title: 'Acme',
    ...(isConfigured ? configuredParts(world) : { from: definedBy }),
    show_targets: false,
    blip_floor_seconds: 60,
    uptime_decimals: 2,
    css_variables: {},
    badges: [],
    incidents: { after: world.afterMs ?? ('off' as const) },
  } satisfies PageConfig;
  return {
    site: {
      url: 'https://status.example',
      name: 'Example',
      home: null,
      timezone: world.zone,
      locale: 'en',
      historyDays: 400,
    },
    pages: [config],
    intervalMs: new Map(world.upstreams.map(({ id, intervalMs }) => [id, intervalMs])),
    definesPages: new Set(isConfigured ? [] : [definedBy]),
  };
}

function configuredParts({ groups, components }: World): Pick<PageConfig, 'groups' | 'components'> {
  return {
    groups: [...groups],
    components: components.map(({ id, name, monitor, groupId, order, groupOrder, showsDetails }) => ({
      id,
      name,
      type: monitor === null ? 'static' : 'monitor',
      ...(monitor === null ? {} : { monitor }),
      ...(groupId === null ? {} : { group_id: groupId }),
      order,
      group_order: groupOrder,
      show_details: showsDetails,
    })),
  };
}
