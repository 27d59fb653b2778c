/** What the store knows of the whole site at one instant: the inputs of every page's model. */

import type { Announcement, MonitorId, MonitorObservation } from '../model/observation.ts';
import { upstreamOf } from '../model/observation.ts';
import type { PageModel, SourceFreshness } from '../model/page.ts';
import { DAY_MS, type EpochMs, toEpochMs } from '../model/time.ts';
import type { Store, StoredIncident, StoredMaintenance, UpstreamRecord } from '../store/store.ts';
import { HISTORY_DAYS, pageModel } from '../views/page-model.ts';
import { type DefinitionInputs, type ResolvedPage, type ResolvedSite, resolvePages } from './definitions.ts';

/** Files are drawn anew this often even when nothing happens, so that a reader can tell a live page from a dead one. */
export const HEARTBEAT_MS = 15 * 60_000;

export interface SiteStateInputs {
  readonly site: DefinitionInputs['site'];
  readonly pages: DefinitionInputs['pages'];
  /** How often each upstream is asked. */
  readonly intervalMs: ReadonlyMap<string, number>;
}

export interface SiteState {
  readonly now: EpochMs;
  readonly resolved: ResolvedSite;
  readonly monitors: ReadonlyMap<MonitorId, MonitorObservation>;
  readonly incidents: readonly StoredIncident[];
  readonly maintenances: readonly StoredMaintenance[];
  readonly announcements: readonly Announcement[];
  readonly sources: readonly SourceFreshness[];
}

/** Reads the state of the site. */
export async function loadSiteState(store: Store, inputs: SiteStateInputs, now: EpochMs): Promise<SiteState> {
  const from = toEpochMs(now - HISTORY_DAYS * DAY_MS);
  const [upstreams, monitors, incidents, maintenances] = await Promise.all([
    store.upstreams(),
    store.monitors(),
    store.incidents(from),
    store.maintenances(from),
  ]);
  const configured = [...inputs.intervalMs.keys()];
  const active = configured.map((id) => upstreams.get(id)).filter((record) => record !== undefined);
  const definitions = active.flatMap((record) => record.definitions);
  const known = new Map([...monitors].filter(([id]) => inputs.intervalMs.has(upstreamOf(id))));
  return {
    now,
    resolved: resolvePages({
      site: inputs.site,
      pages: inputs.pages,
      upstreamDefinitions: definitions,
      monitors: known,
    }),
    monitors: known,
    incidents,
    maintenances,
    announcements: active.flatMap((record) => record.announcements),
    sources: configured.map((id) =>
      freshnessOf(id, { record: upstreams.get(id), intervalMs: inputs.intervalMs.get(id) ?? 0, now }),
    ),
  };
}

/** Stale is older than two intervals; an upstream that never answered is stale from the start. */
export function freshnessOf(
  upstreamId: string,
  { record, intervalMs, now }: { record: UpstreamRecord | undefined; intervalMs: number; now: EpochMs },
): SourceFreshness {
  const monitorsAt = record?.monitorsAt ?? null;
  const incidentsAt = record?.incidentsAt ?? null;
  const isStale = (at: EpochMs | null): boolean => at === null || now - at > 2 * intervalMs;
  return {
    upstreamId,
    monitorsAt,
    incidentsAt,
    intervalMs,
    isMonitorsStale: isStale(monitorsAt),
    isIncidentsStale: isStale(incidentsAt),
  };
}

/** Reads the past of one page's monitors and makes its model, figures computed to `asOf`. */
export async function loadPageModel(
  store: Store,
  state: SiteState,
  { page, asOf }: { page: ResolvedPage; asOf: EpochMs },
): Promise<PageModel> {
  const ids = page.definition.components.flatMap((component) =>
    component.monitor === null ? [] : [component.monitor],
  );
  const pasts = await store.pasts([...new Set(ids)], toEpochMs(state.now - HISTORY_DAYS * DAY_MS));
  return pageModel({
    definition: page.definition,
    settings: page.settings,
    monitors: state.monitors,
    pasts,
    incidents: state.incidents,
    maintenances: state.maintenances,
    announcements: state.announcements,
    sources: state.sources,
    asOf,
    heartbeatMs: HEARTBEAT_MS,
  });
}

/** Everything whose change is news: what a visitor must see at once. Figures that only grow older are not in it. */
export function eventFacts(model: PageModel): unknown {
  return {
    definition: model.definition,
    settings: model.settings,
    state: model.state,
    isStale: model.isStale,
    components: model.components.map((component) => [
      component.definition.id,
      component.name,
      component.description,
      component.state,
      component.isStale,
    ]),
    incidents: model.incidents,
    maintenances: model.maintenances,
    announcements: model.announcements,
    sources: model.sources.map((source) => [source.upstreamId, source.isMonitorsStale, source.isIncidentsStale]),
  };
}
