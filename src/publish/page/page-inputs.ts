/** What the store knows of one page: the inputs of its model, read without a look at any other. */

import type { PageModel } from '../../model/page.ts';
import { DAY_MS, type EpochMs, toEpochMs } from '../../model/time.ts';
import type { Store } from '../../store/store.ts';
import { HISTORY_DAYS, type PageInputs, pageModel } from '../../views/model/page-model.ts';
import type { ResolvedPage } from '../definitions/definitions.ts';
import { pageSubjects, shownMonitors } from '../definitions/page-index.ts';
import type { SiteState } from '../definitions/site-state.ts';
import { fingerprintOf } from '../fingerprint.ts';

/** All that a page's model is made of, except the instant that it is computed to. */
export type UndatedInputs = Omit<PageInputs, 'asOf'>;

/** Reads the present and the past of what the page shows. */
export async function loadPageInputs(
  store: Store,
  state: Pick<SiteState, 'now' | 'announcements' | 'sources'>,
  page: ResolvedPage,
): Promise<UndatedInputs> {
  const from = toEpochMs(state.now - HISTORY_DAYS * DAY_MS);
  const ids = shownMonitors(page.definition);
  const about = pageSubjects(page);
  const [monitors, pasts, incidents, maintenances] = await Promise.all([
    store.monitorsById(ids),
    store.pasts(ids, from),
    store.incidentsAbout(about, from),
    store.maintenancesAbout(about, from),
  ]);
  return {
    definition: page.definition,
    settings: page.settings,
    monitors,
    pasts,
    incidents,
    maintenances,
    announcements: state.announcements,
    sources: state.sources,
  };
}

/** The model of the page as of an instant. */
export function modelAsOf(inputs: UndatedInputs, asOf: EpochMs): PageModel {
  return pageModel({ ...inputs, asOf });
}

/**
 * The first instant after `now` at which the page changes by itself: a maintenance, an announcement or an incident
 * begins or ends. Infinity when nothing is planned.
 */
export function nextChangeAt({ incidents, maintenances, announcements }: UndatedInputs, now: EpochMs): number {
  const instants = [
    ...incidents.flatMap(({ startedAt, endedAt }) => [startedAt, endedAt]),
    ...maintenances.flatMap(({ startsAt, endsAt }) => [startsAt, endsAt]),
    ...announcements.flatMap(({ from, to }) => [from, to]),
  ];
  return instants.reduce<number>((first, at) => (at !== null && at > now && at < first ? at : first), Infinity);
}

/** Digest of everything whose change is news: what a visitor must see at once. Figures that only grow older are not in it. */
export function eventKeyOf(model: PageModel, { config }: ResolvedPage): string {
  return fingerprintOf({
    badges: [config?.badge, config?.badges],
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
    ]),
    incidents: model.incidents.map((incident) => fingerprintOf(incident)),
    maintenances: model.maintenances.map((maintenance) => fingerprintOf(maintenance)),
    announcements: model.announcements,
    sources: model.sources.map((source) => [source.upstreamId, source.isMonitorsStale, source.isIncidentsStale]),
  });
}
