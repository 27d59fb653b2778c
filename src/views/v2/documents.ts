/** The eight documents under `api/v2/`, each computed from the page's model alone. */

import { type PageMaintenance, type PageModel, toIso } from '../../model/index.ts';
import { isOpen } from '../incident/event-times.ts';
import { lastChangeAt } from '../model/last-change.ts';
import { type V2ComponentSet, v2ComponentSet, v2PageId } from './components.ts';
import { v2Incident } from './incidents.ts';
import { v2Maintenance } from './maintenances.ts';
import type {
  V2Components,
  V2Incidents,
  V2Maintenance,
  V2Maintenances,
  V2Page,
  V2StatusDocument,
  V2Summary,
} from './types.ts';
import { pageStatus } from './words.ts';

/** As many as the original gives. */
const NEWEST_COUNT = 50;

export interface V2Documents {
  summary(): V2Summary;
  status(): V2StatusDocument;
  components(): V2Components;
  /** The 50 newest. */
  incidents(): V2Incidents;
  unresolved(): V2Incidents;
  /** The 50 newest. */
  maintenances(): V2Maintenances;
  /** Soonest first. */
  upcoming(): V2Maintenances;
  active(): V2Maintenances;
}

/** The documents of one page; each is made when asked for, what they share once. */
export function v2Documents(model: PageModel): V2Documents {
  let set: V2ComponentSet | undefined;
  const components = (): V2ComponentSet => {
    set ??= v2ComponentSet(model);
    return set;
  };
  const page = v2Page(model);
  const unresolved = () =>
    model.incidents.filter((incident) => isOpen(incident)).map((incident) => v2Incident(model, components(), incident));
  const maintenances = (wanted: (maintenance: PageMaintenance) => boolean): V2Maintenance[] =>
    model.maintenances.filter(wanted).map((maintenance) => v2Maintenance(model, components(), maintenance));
  const newest = () =>
    model.maintenances.slice(0, NEWEST_COUNT).map((known) => v2Maintenance(model, components(), known));
  const upcoming = () => maintenances(isUpcoming).reverse();
  const active = () => maintenances(isActive).reverse();
  return {
    summary: () => ({
      page,
      components: components().all,
      incidents: unresolved(),
      scheduled_maintenances: [...active(), ...upcoming()],
      status: pageStatus(model),
    }),
    status: () => ({ page, status: pageStatus(model) }),
    components: () => ({ page, components: components().all }),
    incidents: () => ({
      page,
      incidents: model.incidents.slice(0, NEWEST_COUNT).map((incident) => v2Incident(model, components(), incident)),
    }),
    unresolved: () => ({ page, incidents: unresolved() }),
    maintenances: () => ({ page, scheduled_maintenances: newest() }),
    upcoming: () => ({ page, scheduled_maintenances: upcoming() }),
    active: () => ({ page, scheduled_maintenances: active() }),
  };
}

function isUpcoming({ status }: PageMaintenance): boolean {
  return status === 'scheduled';
}

function isActive({ status }: PageMaintenance): boolean {
  return status === 'in_progress' || status === 'verifying';
}

function v2Page(model: PageModel): V2Page {
  return {
    id: v2PageId(model),
    name: model.definition.title,
    url: model.settings.url,
    time_zone: model.settings.timezone,
    updated_at: toIso(lastChangeAt(model)),
  };
}
