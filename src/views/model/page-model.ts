/** Everything known about one status page, from what is remembered and what defines it, now or at its last heartbeat. */

import {
  type Announcement,
  type ComponentDefinition,
  type ComponentModel,
  cutTimeline,
  type Entries,
  type EpochMs,
  earlier,
  entriesOf,
  impactChangesAt,
  isOverStatus,
  type LogSummary,
  MINUTE_MS,
  type MonitorId,
  type PageDefinition,
  type PageModel,
  type PageSettings,
  type SourceFreshness,
  textIn,
  toEpochMs,
  upstreamOf,
} from '../../model/index.ts';
import { type LaidComponent, type LineInputs, layComponent } from './component-line.ts';
import { incidentAt, isOnPage, matchComponents, type SeenIncident } from './known-incidents.ts';
import { combinedPresent, countedComponents, incidentChangedAt } from './page-state.ts';
import { listPlans, type SeenMaintenance } from './plans.ts';
import { inPageOrder, withContext } from './sections.ts';
import { buildStories, type KnownEntry } from './stories.ts';

/** Its `sources` are those of every upstream; those the page does not draw on are left out of its model. */
export interface PageInputs extends Pick<LineInputs, 'settings' | 'monitors' | 'pasts' | 'sources' | 'asOf'> {
  readonly definition: PageDefinition;
  readonly incidents: readonly SeenIncident[];
  readonly maintenances: readonly SeenMaintenance[];
  readonly announcements: readonly Announcement[];
  /** When the page (under an empty id) and its components were first defined; absent: at `asOf`. */
  readonly firstSeenAt?: ReadonlyMap<string, EpochMs>;
  /** Entries of this page that were published before. Absent: none. */
  readonly knownEntries?: readonly KnownEntry[];
  /** Default: null. */
  readonly log?: LogSummary | null;
}

/** The model of one page. Pure: the same inputs give the same model. */
export function pageModel(inputs: PageInputs): PageModel {
  const { definition, settings, asOf, firstSeenAt = new Map() } = inputs;
  const incidents = incidentsOnPage(inputs);
  const { groups, components: inOrder } = inPageOrder(definition);
  const placed = { ...definition, components: inOrder };
  const plansIn = (spoken: PageSettings) =>
    listPlans(inputs.maintenances, { definition: placed, settings: spoken, asOf });
  const maintenances = plansIn(settings);
  const sources = relevantSources(inputs, incidents);
  const about = new Map<string, SeenIncident[]>();
  for (const incident of incidents)
    for (const id of matchComponents(definition, incident)) about.getOrInsertComputed(id, () => []).push(incident);
  const line = { ...inputs, pageId: definition.id, sources, about, maintenances, firstSeenAt };
  const laid = inOrder.map((component) => layComponent(component, line));
  const entries = entriesOnPage(inputs, incidents, laid);
  const speak = (spoken: PageSettings) => {
    const named = groups.map((group) => nameIn(group, group, spoken));
    const components = withContext(
      laid.map(({ component }) => {
        const named = nameIn(component, component.definition, spoken);
        return named === component ? component : { ...named, plainName: named.name };
      }),
      named,
    );
    const { knownEntries = [] } = inputs;
    return {
      ...{ ...titleIn(definition, spoken), settings: spoken, groups: named, components },
      ...buildStories({ definition, settings: spoken, components, incidents, entries, knownEntries, asOf }),
    };
  };
  const { components, ...words } = speak(settings);
  const intervalMs = Math.max(0, ...sources.map((source) => source.intervalMs));
  const model: PageModel = {
    ...words,
    ...combinedPresent(countedComponents(components)),
    // It may have begun before a clock was set back.
    knownSince: earlier(firstSeenAt.get('') ?? asOf, asOf),
    components,
    maintenances,
    announcements: inputs.announcements.filter(
      (item) =>
        (item.pages === null || item.pages.includes(definition.slug)) &&
        item.from <= asOf &&
        (item.to === null || item.to > asOf),
    ),
    sources,
    asOf,
    staleAfter: toEpochMs(asOf + HEARTBEAT_MS + 2 * intervalMs),
    dataFrom: sources.reduce<EpochMs | null>(
      (oldest, { monitorsAt }) =>
        oldest === null || monitorsAt === null ? null : toEpochMs(Math.min(oldest, monitorsAt)),
      asOf,
    ),
    isStale: countedSources(sources, components).some((source) => source.isMonitorsStale || source.isIncidentsStale),
    nextEntryAt: nextEntryAt(entries, inOrder.filter(({ monitor }) => monitor !== null).length, asOf),
    log: inputs.log ?? null,
  };
  const { languages } = settings;
  if (languages === undefined) return model;
  const others = languages.all.slice(1).map((locale) => {
    const spoken = inLanguage(settings, locale);
    return { ...model, ...speak(spoken), maintenances: plansIn(spoken) };
  });
  return { ...model, others };
}

/** The same with its name in the language of a page; the same object where that changes nothing. */
function nameIn<Named extends { readonly name: string }>(
  named: Named,
  { names }: Pick<ComponentDefinition, 'names'>,
  settings: PageSettings,
): Named {
  const { text, lang } = textIn(settings, named.name, names);
  if (lang === undefined) return text === named.name ? named : { ...named, name: text };
  return { ...named, lang };
}

function titleIn(definition: PageDefinition, settings: PageSettings): Pick<PageModel, 'definition' | 'titleLang'> {
  const { title, titles, description, descriptions } = definition;
  const { text, lang } = textIn(settings, title, titles);
  const texts = { title: text, description: textIn(settings, description ?? '', descriptions).text || null };
  return {
    definition: titles === undefined && descriptions === undefined ? definition : { ...definition, ...texts },
    titleLang: lang,
  };
}

/** The settings of a page's tree in another of its languages. */
function inLanguage(settings: PageSettings, locale: string): PageSettings {
  const path = `${locale}/`;
  return { ...settings, locale, url: settings.url + path, languages: { all: settings.languages?.all ?? [], path } };
}

function incidentsOnPage({ definition, incidents, asOf }: PageInputs): readonly SeenIncident[] {
  return incidents
    .filter(({ startedAt }) => startedAt <= asOf)
    .filter((incident) => isOnPage(definition, incident.pages, matchComponents(definition, incident)))
    .map((incident) => incidentAt(incident, asOf));
}

/**
 * The upstreams that a page draws on: of its monitors, of its definition, and of whoever says now that something is wrong,
 * since their silence may hide that it is over. Their instants are no newer than `asOf`, so that a pass without news
 * changes no file.
 */
function relevantSources({ definition, sources, asOf }: PageInputs, incidents: readonly SeenIncident[]) {
  const [definedBy = ''] = definition.id.split('/');
  const used = new Set([
    definedBy,
    ...definition.components.flatMap(({ monitor }) => (monitor === null ? [] : [upstreamOf(monitor)])),
    ...incidents.filter(({ status }) => !isOverStatus(status)).map(({ id }) => upstreamOf(id as MonitorId)),
  ]);
  const capped = (at: EpochMs | null): EpochMs | null => (at === null ? null : toEpochMs(Math.min(at, asOf)));
  return sources
    .filter((source) => used.has(source.upstreamId))
    .map((source) => ({ ...source, monitorsAt: capped(source.monitorsAt), incidentsAt: capped(source.incidentsAt) }))
    .toSorted((a, b) => (a.upstreamId < b.upstreamId ? -1 : 1));
}

/** Without those that only components draw on whose state is no part of the page's. */
function countedSources(sources: readonly SourceFreshness[], components: readonly ComponentModel[]) {
  const upstreams = (of: readonly ComponentModel[]): Set<string> =>
    new Set(of.flatMap(({ definition: { monitor } }) => (monitor === null ? [] : [upstreamOf(monitor)])));
  const others = upstreams(components).difference(upstreams(countedComponents(components)));
  return sources.filter(({ upstreamId }) => !others.has(upstreamId));
}

const NO_ENTRIES: Entries = { entries: [], declared: [], nextAt: null };

function entriesOnPage(
  { definition, settings, asOf }: PageInputs,
  incidents: readonly SeenIncident[],
  laid: readonly LaidComponent[],
): Entries {
  if (settings.entriesAfterMs === null) return NO_ENTRIES;
  return entriesOf({
    components: laid.map(({ component, falls }) => ({ componentId: component.definition.id, falls })),
    incidents: incidents
      .filter(({ isOutage, isOverride }) => !isOutage && isOverride !== true)
      .map((incident) => {
        const { id, startedAt, endedAt } = incident;
        return { id, startedAt, endedAt, componentIds: matchComponents(definition, incident) };
      }),
    afterMs: settings.entriesAfterMs,
    asOf,
  });
}

function nextEntryAt({ entries, nextAt }: Entries, watched: number, asOf: EpochMs): EpochMs | null {
  const instants = entries
    .filter(({ adoptedBy }) => adoptedBy === null)
    .flatMap((entry) => impactChangesAt(entry, watched, asOf) ?? []);
  const all = nextAt === null ? instants : [...instants, nextAt];
  return all.length === 0 ? null : toEpochMs(Math.min(...all));
}

/** Files are drawn anew this often even when nothing happens, so that a reader can tell a live page from a dead one. */
export const HEARTBEAT_MS = 15 * MINUTE_MS;

/** The page's last heartbeat that is not after the model's `asOf`. */
export function lastHeartbeat({ asOf, definition }: PageModel): EpochMs {
  return heartbeatBefore(asOf, definition.slug);
}

/** The last heartbeat of a page that is not after `at`. Each page has its own, so that many do not come due at one instant. */
export function heartbeatBefore(at: EpochMs, slug: string): EpochMs {
  return toEpochMs(at - ((at - beatPhase(slug)) % HEARTBEAT_MS));
}

/** Where in the interval the page's heartbeats are: the same in every process, and as good as random over pages (FNV-1a). */
function beatPhase(slug: string): number {
  let mixed = 0x811c9dc5;
  for (const character of slug) mixed = Math.imul(mixed ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return mixed % HEARTBEAT_MS;
}

/** The same model with figures, time lines and freshness up to `heartbeat`. States stay those of the present. */
export function modelAt(model: PageModel, heartbeat: EpochMs): PageModel {
  if (heartbeat === model.asOf) return model;
  const earliest = (at: EpochMs): EpochMs => toEpochMs(Math.min(at, heartbeat));
  return {
    ...model,
    asOf: heartbeat,
    staleAfter: toEpochMs(model.staleAfter - (model.asOf - heartbeat)),
    // What is stale says from when it is on every page alike.
    dataFrom: model.dataFrom === null || model.isStale ? model.dataFrom : earliest(model.dataFrom),
    sources: model.sources.map((source) => ({
      ...source,
      monitorsAt: source.monitorsAt === null ? null : earliest(source.monitorsAt),
      incidentsAt: source.incidentsAt === null ? null : earliest(source.incidentsAt),
    })),
    components: model.components.map((component) => componentAt(component, heartbeat)),
  };
}

type Cut = Pick<ComponentModel, 'timeline' | 'responseTimes'>;

/** What was cut last of each line, which a component has in common with itself in other languages. */
const cuts = new WeakMap<
  Cut['timeline'],
  Pick<Cut, 'responseTimes'> & { readonly heartbeat: EpochMs; readonly cut: Cut }
>();

function componentAt(component: ComponentModel, heartbeat: EpochMs): ComponentModel {
  const { timeline, responseTimes } = component;
  const known = cuts.get(timeline);
  if (known?.heartbeat === heartbeat && known.responseTimes === responseTimes) return { ...component, ...known.cut };
  // As in the page's own model, what goes on at that instant is part of the line: it colours the day, whatever it lasted.
  const to = toEpochMs(heartbeat + 1);
  const cut = {
    timeline: cutTimeline(timeline, { from: timeline[0]?.from ?? heartbeat, to }),
    responseTimes: responseTimes.filter(({ at }) => at < heartbeat),
  };
  cuts.set(timeline, { heartbeat, responseTimes, cut });
  return { ...component, ...cut };
}

/** Ids of the components that have news since `heartbeat`: another state, or word of an incident or a maintenance of theirs. */
export function componentsWithNews(model: PageModel, heartbeat: EpochMs): ReadonlySet<string> {
  const { components, incidents, maintenances, asOf } = model;
  return new Set([
    ...components
      .filter(({ isStale, since }) => isStale || (since !== null && since > heartbeat))
      .map(({ definition }) => definition.id),
    ...incidents.filter((one) => incidentChangedAt(one, asOf) > heartbeat).flatMap(({ componentIds }) => componentIds),
    ...maintenances.filter(({ changedAt }) => changedAt > heartbeat).flatMap(({ componentIds }) => componentIds),
  ]);
}
