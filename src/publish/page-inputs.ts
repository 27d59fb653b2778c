/** Reads from the store what one page's model is made of, without looking at other pages. */

import { DAYS_COUNT, type DayOptions, lastClosedDay, presentColour } from '../model/days.ts';
import { type Incident, type Maintenance, type MonitorId, WRITTEN_ID } from '../model/observation.ts';
import type { PageModel } from '../model/page.ts';
import { readPageKey } from '../model/slugs.ts';
import { addDays, DAY_MS, type EpochMs, earlier, toEpochMs } from '../model/time.ts';
import type { MonitorPast } from '../model/timeline.ts';
import type { Store } from '../store/create-store.ts';
import type { PageFirsts } from '../store/identities.ts';
import { type Subject, subjects } from '../store/revisions.ts';
import { readLogSummary } from '../transparency/page-log.ts';
import type { PageInputs } from '../views/model/page-model.ts';
import type { ResolvedPage } from './definitions/definitions.ts';
import { namesOfPage, pageSubjects, shownMonitors } from './definitions/site-memory.ts';
import type { SiteState } from './definitions/site-state.ts';
import { fingerprintOf } from './fingerprint.ts';

/** Everything that a page's model is made of, except the time up to which it is computed. */
export type UndatedInputs = Omit<PageInputs, 'asOf'>;

/**
 * Reads the current data and the history of what the page shows. Data of upstreams that are no longer configured is left out.
 */
export async function loadPageInputs(
  store: Store,
  state: Pick<SiteState, 'now' | 'announcements' | 'sources'>,
  page: ResolvedPage,
): Promise<UndatedInputs> {
  const { settings } = page;
  const definition = { ...page.definition, id: historyId(page) };
  const from = toEpochMs(state.now - settings.historyDays * DAY_MS);
  const ids = shownMonitors(definition);
  const about = pageSubjects(page);
  const [monitors, pasts, incidents, maintenances, firstSeenAt, knownEntries, log] = await Promise.all([
    store.monitorsById(ids),
    store.pasts(ids, from),
    store.incidentsAbout(about, from),
    store.maintenancesAbout(about, from),
    store.firstSeenAt(definedSubjects(page).map(({ subject }) => subject)),
    store.entries(definition.id),
    readLogSummary(store.database, page.identity.key, addDays(lastClosedDay(state.now), 1 - DAYS_COUNT)),
  ]);
  const configured = new Set(state.sources.map(({ upstreamId }) => upstreamId));
  const isConfigured = ({ id }: { readonly id: string }): boolean => configured.has(id.slice(0, id.indexOf('/')));
  return {
    definition,
    settings,
    monitors,
    pasts: cutPasts(pasts, state.now),
    incidents: ownIncidents(page, incidents.filter(isConfigured)),
    maintenances: ownMaintenances(page, maintenances.filter(isConfigured)),
    announcements: state.announcements.filter((one) => isOwn(page, one)),
    sources: state.sources,
    firstSeenAt: new Map(
      definedSubjects(page).flatMap(({ id, subject }) => {
        const at = firstSeenAt.get(subject);
        return at === undefined ? [] : [[id, at]];
      }),
    ),
    knownEntries,
    log,
  };
}

/** As the next pass cuts them if the clock was set back: the state last seen holds now, and nothing is known of the future. */
function cutPasts(pasts: ReadonlyMap<MonitorId, MonitorPast>, now: EpochMs): ReadonlyMap<MonitorId, MonitorPast> {
  if (![...pasts.values()].some(({ observed }) => (observed.at(-1)?.to ?? now) > now)) return pasts;
  return new Map(
    [...pasts].map(([id, past]) => {
      const last = past.observed.at(-1);
      if (last === undefined || last.to <= now) return [id, past];
      const before = past.observed
        .filter(({ from }) => from < now)
        .map((span) => ({ ...span, to: earlier(span.to, now) }));
      return [id, { ...past, observed: last.from < now ? before : [...before, { ...last, from: now, to: now }] }];
    }),
  );
}

/** The incidents that a page may show, with the names that its history is kept under. */
export function ownIncidents<Story extends Incident>(page: ResolvedPage, incidents: readonly Story[]): Story[] {
  return incidents
    .filter((one) => isOwn(page, one))
    .map((incident) => ({
      ...incident,
      components: incident.components.map((named) => ({ ...named, id: underId(page, named.id, incident) })),
      pages: pagesOf(page, incident),
    }));
}

/** The same of maintenances. */
export function ownMaintenances<Story extends Maintenance>(page: ResolvedPage, stories: readonly Story[]): Story[] {
  return stories
    .filter((one) => isOwn(page, one))
    .map((maintenance) => ({
      ...maintenance,
      components: maintenance.components.map((named) => underId(page, named, maintenance)),
      pages: pagesOf(page, maintenance),
    }));
}

function pagesOf(page: ResolvedPage, { pages, owner }: Pick<Incident, 'pages' | 'owner'>): readonly string[] | null {
  if (owner !== undefined) return [historyId(page)];
  return pages?.map((name) => underId(page, name)) ?? null;
}

/** What a page's own history is kept under: the id of its definition, and its era from the second on. */
function historyId({ definition, identity }: ResolvedPage): string {
  const { era } = readPageKey(identity.key);
  return era === 1 ? definition.id : `${definition.id}~${era}`;
}

/**
 * Whether a page may show a post. Posts of other pages, and of the page that had the slug before, are not its own. A public page
 * shows posts from the time when it was private only if its operator allows it.
 */
function isOwn(page: ResolvedPage, { id, owner }: Owned): boolean {
  const { key } = page.identity;
  // Stored before owners were recorded; the next pass adds them.
  if (owner === undefined) return !id.startsWith(`${WRITTEN_ID}/`) || readPageKey(key).era === 1;
  return owner.page === key && !(owner.isPrivate && hidesPrivate(page));
}

/** Whether a page is public and doesn't show what was written while it was private. */
export function hidesPrivate({ definition, config }: Pick<ResolvedPage, 'definition' | 'config'>): boolean {
  return definition.access === 'public' && config?.publish_private_history !== true;
}

type Owned = Pick<Incident, 'id' | 'owner'>;

/**
 * Replaces the page's id in a reference to it, or to one of its components, with the id that its history is stored under. Posts
 * refer to the page by the id it had at the time.
 */
function underId(page: ResolvedPage, name: string, { owner }: Pick<Incident, 'owner'> = {}): string {
  const id = historyId(page);
  if (owner !== undefined) return id + name.slice(name.lastIndexOf('/'));
  for (const known of namesOfPage(page.definition)) {
    if (name === known) return id;
    if (name.startsWith(`${known}/`)) return id + name.slice(known.length);
  }
  return name;
}

/** The page under an empty id, and its components. */
function definedSubjects(page: ResolvedPage): readonly { readonly id: string; readonly subject: Subject }[] {
  const name = historyId(page);
  return [
    { id: '', subject: subjects.page(name) },
    ...page.definition.components.map(({ id }) => ({ id, subject: subjects.component(`${name}/${id}`) })),
  ];
}

/** What is published for the first time: the page, its components, and entries under their ids. */
export function collectFirsts({ definition, firstSeenAt }: UndatedInputs, model: PageModel, now: EpochMs): PageFirsts {
  const { id, components } = definition;
  const isNew = (of: string): boolean => (firstSeenAt?.get(of) ?? Infinity) > now;
  return {
    page: id,
    at: now,
    subjects: [
      ...(isNew('') ? [subjects.page(id)] : []),
      ...components.filter((one) => isNew(one.id)).map((one) => subjects.component(`${id}/${one.id}`)),
    ],
    entries: model.newEntries,
  };
}

/**
 * Returns the next time after `now` at which the page changes by itself: a maintenance, an announcement or an incident begins
 * or ends, a scheduled update appears, an outage becomes an incident, or the cell of today gets another colour. Infinity if nothing is planned.
 */
export function nextChangeAt(
  { incidents, maintenances, announcements }: UndatedInputs,
  model: PageModel,
  now: EpochMs,
): number {
  const instants = [
    model.nextEntryAt,
    ...model.components.map(({ timeline }) => presentColour(timeline, todayOptions(model)).changesAt),
    ...incidents.flatMap(({ startedAt, endedAt, updates }) => [startedAt, endedAt, ...updates.map(({ at }) => at)]),
    ...maintenances.flatMap(({ startsAt, endsAt, updates }) => [startsAt, endsAt, ...updates.map(({ at }) => at)]),
    ...maintenances.flatMap(({ repeats }) => repeats?.windows.flatMap(({ from, to }) => [from, to]) ?? []),
    ...announcements.flatMap(({ from, to }) => [from, to]),
  ];
  return instants.reduce<number>((first, at) => (at !== null && at > now && at < first ? at : first), Infinity);
}

function todayOptions({ settings, asOf }: PageModel): DayOptions {
  return { zone: settings.timezone, now: asOf, blipFloorMs: settings.blipFloorMs };
}

/**
 * Digest of everything that counts as news if it changes: what a visitor must see at once. Figures that only grow older are not
 * part of it.
 */
export function digestEvents(model: PageModel, { config }: ResolvedPage): string {
  return fingerprintOf({
    badges: [config?.badge, config?.badges],
    redirects: config?.redirects,
    definition: fingerprintOf(model.definition),
    settings: fingerprintOf(model.settings),
    state: model.state,
    isStale: model.isStale,
    components: model.components.map(({ definition: { id }, name, description, state, isStale, timeline }) => {
      // Today's cell, whose colour can change while the state doesn't.
      const today = presentColour(timeline, todayOptions(model));
      return [id, name, description, state, isStale, today.state, today.hadBlip];
    }),
    incidents: model.incidents.map((incident) => fingerprintOf(incident)),
    maintenances: model.maintenances.map((maintenance) => fingerprintOf(maintenance)),
    announcements: model.announcements,
    sources: model.sources.map((source) => [source.upstreamId, source.isMonitorsStale, source.isIncidentsStale]),
  });
}
