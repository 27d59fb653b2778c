/** `build.json`: what a release was made by and from, for whoever looks after it. Nothing in it is not on the page too. */

import { FORMULA_VERSION, type PageModel, toIso } from '../../model/index.ts';

/** @param version of Pharos */
export function buildDocument(model: PageModel, version: string) {
  const instant = (at: PageModel['dataFrom']): string | null => (at === null ? null : toIso(at));
  return {
    versions: { pharos: version, uptime_formula: FORMULA_VERSION },
    as_of: toIso(model.asOf),
    stale_after: toIso(model.staleAfter),
    snapshots: model.sources.map((source) => ({
      monitors_at: instant(source.monitorsAt),
      incidents_at: instant(source.incidentsAt),
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
