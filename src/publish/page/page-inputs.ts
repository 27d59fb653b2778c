/** Reads from the store what one page's model is made of, without looking at other pages. */

import { type DayOptions, presentColour } from '../../model/days.ts';
import type { MonitorId, PageDefinition } from '../../model/observation.ts';
import type { ComponentModel, PageModel } from '../../model/page.ts';
import type { MonitorPast } from '../../model/reported.ts';
import type { State } from '../../model/state.ts';
import { DAY_MS, type EpochMs, earlier, toEpochMs } from '../../model/time.ts';
import type { PageFirsts } from '../../store/identities.ts';
import { type Store, type Subject, subjects } from '../../store/store.ts';
import { type PageInputs, pageModel } from '../../views/model/page-model.ts';
import type { ResolvedPage } from '../definitions/definitions.ts';
import { pageSubjects, shownMonitors } from '../definitions/page-index.ts';
import type { SiteState } from '../definitions/site-state.ts';
import { fingerprintOf } from '../fingerprint.ts';

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
  const { definition, settings } = page;
  const from = toEpochMs(state.now - settings.historyDays * DAY_MS);
  const ids = shownMonitors(definition);
  const about = pageSubjects(page);
  const [monitors, pasts, incidents, maintenances, firstSeenAt, knownEntries] = await Promise.all([
    store.monitorsById(ids),
    store.pasts(ids, from),
    store.incidentsAbout(about, from),
    store.maintenancesAbout(about, from),
    store.firstSeenAt(definedSubjects(page).map(({ subject }) => subject)),
    store.entries(definition.id),
  ]);
  const configured = new Set(state.sources.map(({ upstreamId }) => upstreamId));
  const isConfigured = ({ id }: { readonly id: string }): boolean => configured.has(id.slice(0, id.indexOf('/')));
  return {
    definition,
    settings,
    monitors,
    pasts: cutPasts(pasts, state.now),
    incidents: incidents.filter(isConfigured).map((incident) => ({
      ...incident,
      components: incident.components.map((named) => ({ ...named, id: underId(definition, named.id) })),
      pages: incident.pages?.map((page) => underId(definition, page)) ?? null,
    })),
    maintenances: maintenances.filter(isConfigured).map((maintenance) => ({
      ...maintenance,
      components: maintenance.components.map((named) => underId(definition, named)),
      pages: maintenance.pages?.map((page) => underId(definition, page)) ?? null,
    })),
    announcements: state.announcements,
    sources: state.sources,
    firstSeenAt: new Map(
      definedSubjects(page).flatMap(({ id, subject }) => {
        const at = firstSeenAt.get(subject);
        return at === undefined ? [] : [[id, at]];
      }),
    ),
    knownEntries,
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

/** Replaces the slug in a reference to the page, or to one of its components, by the page's id. */
function underId({ id, slug }: PageDefinition, name: string): string {
  const bySlug = `config/${slug}`;
  if (name === bySlug) return id;
  return name.startsWith(`${bySlug}/`) ? id + name.slice(bySlug.length) : name;
}

/** The page under an empty id, and its components. */
function definedSubjects({ definition }: ResolvedPage): readonly { readonly id: string; readonly subject: Subject }[] {
  return [
    { id: '', subject: subjects.page(definition.id) },
    ...definition.components.map(({ id }) => ({ id, subject: subjects.component(`${definition.id}/${id}`) })),
  ];
}

/** What is published for the first time: the page, its components, and entries under their ids. */
export function firstsOf({ definition, firstSeenAt }: UndatedInputs, model: PageModel, now: EpochMs): PageFirsts {
  const { id, components } = definition;
  const isNew = (of: string): boolean => firstSeenAt?.has(of) !== true;
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

/** The model of the page as of an instant. */
export function modelAsOf(inputs: UndatedInputs, asOf: EpochMs): PageModel {
  return pageModel({ ...inputs, asOf });
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

function todayKey(component: ComponentModel, model: PageModel): readonly [State, boolean] {
  const { state, hadBlip } = presentColour(component.timeline, todayOptions(model));
  return [state, hadBlip];
}

function todayOptions({ settings, asOf }: PageModel): DayOptions {
  return { zone: settings.timezone, now: asOf, blipFloorMs: settings.blipFloorMs };
}

/**
 * Digest of everything that counts as news if it changes: what a visitor must see at once. Figures that only grow older are not
 * part of it.
 */
export function eventKeyOf(model: PageModel, { config }: ResolvedPage): string {
  return fingerprintOf({
    badges: [config?.badge, config?.badges],
    redirects: config?.redirects,
    definition: fingerprintOf(model.definition),
    settings: fingerprintOf(model.settings),
    state: model.state,
    isStale: model.isStale,
    components: model.components.map((component) => [
      component.definition.id,
      component.name,
      component.description,
      component.state,
      component.isStale,
      // Its cell of today, whose colour may change while its state doesn't.
      ...todayKey(component, model),
    ]),
    incidents: model.incidents.map((incident) => fingerprintOf(incident)),
    maintenances: model.maintenances.map((maintenance) => fingerprintOf(maintenance)),
    announcements: model.announcements,
    sources: model.sources.map((source) => [source.upstreamId, source.isMonitorsStale, source.isIncidentsStale]),
  });
}
