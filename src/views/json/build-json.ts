/** `build.json`: what a release was made by and from, for whoever looks after it. Nothing in it is not on the page too. */

import { FORMULA_VERSION, type PageModel, toIso } from '../../model/index.ts';

interface BuildDocument {
  readonly versions: { readonly pharos: string; readonly uptime_formula: number };
  /** The instant that the release is true for, and until when a copy may be believed. */
  readonly as_of: string;
  readonly stale_after: string;
  /** One for each upstream that the page draws on, without its name; instants no newer than `as_of`. */
  readonly snapshots: readonly {
    readonly monitors_at: string | null;
    readonly incidents_at: string | null;
    readonly interval_seconds: number;
    readonly stale: boolean;
  }[];
  readonly counts: Readonly<Record<'groups' | 'components' | 'incidents' | 'maintenances' | 'announcements', number>>;
}

/** @param version of Pharos */
export function buildDocument(model: PageModel, version: string): BuildDocument {
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
