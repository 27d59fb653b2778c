/** `build.json`: what a release was made by and from, for whoever looks after it. Nothing in it is not on the page too. */

import { FORMULA_VERSION, type PageModel, toIso, toIsoOrNull } from '../../model/index.ts';

/** @param version of Pharos */
export function buildDocument(model: PageModel, version: string) {
  return {
    versions: { pharos: version, uptime_formula: FORMULA_VERSION },
    as_of: toIso(model.asOf),
    stale_after: toIso(model.staleAfter),
    snapshots: model.sources.map((source) => ({
      monitors_at: toIsoOrNull(source.monitorsAt),
      incidents_at: toIsoOrNull(source.incidentsAt),
      interval_seconds: source.intervalMs / 1_000,
      stale: source.isMonitorsStale || source.isIncidentsStale,
    })),
    counts: {
      groups: model.groups.length,
      components: model.components.length,
      incidents: model.incidents.length,
      maintenances: model.maintenances.length,
      announcements: model.announcements.length,
    },
  };
}
