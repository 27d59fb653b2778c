/** The eight documents under `api/v2/`, each computed from the page's model alone. */

import { type PageMaintenance, type PageModel, toIso } from '../../model/index.ts';
import { isOpen, lastChangeAt } from '../model/page-state.ts';
import { pageStatus, type V2Component, type V2ComponentSet, v2ComponentSet, v2PageId } from './components.ts';
import { type V2Incident, v2Incident, v2Maintenance } from './incidents.ts';

// `api/v2/components/<id>.json` and `api/v2/incidents/<id>.json`: what the lists say of one thing. They are made from the
// lists as they were published, so they never say anything else.

/** What is in two of them is the same in both. */
const LISTS = ['api/v2/components.json', 'api/v2/incidents.json', 'api/v2/incidents/unresolved.json'];

type V2Single =
  | { readonly page: V2Page; readonly component: V2Component }
  | { readonly page: V2Page; readonly incident: V2Incident };

/** Twelve characters, as ids have: `unresolved` is none. */
const ADDRESS = /^api\/v2\/(?:components|incidents)\/[0-9a-z]{12}\.json$/;

/** Whether a path below a page is that of a single component or incident, there or not. */
export function isSinglePath(path: string): boolean {
  return ADDRESS.test(path);
}

/**
 * Every single document of a page by its path. `page.updated_at` is when the one thing changed last, so that a document
 * stays the same bytes while others change.
 *
 * @param read  a published document by its path below the page; null: there is none
 */
export function singleDocuments(read: (path: string) => unknown): ReadonlyMap<string, V2Single> {
  const found = new Map<string, V2Single>();
  for (const list of LISTS) {
    const document = read(list) as {
      readonly page: V2Page;
      readonly components?: readonly V2Component[];
      readonly incidents?: readonly V2Incident[];
    } | null;
    if (document === null) continue;
    const { page, components = [], incidents = [] } = document;
    for (const component of components)
      found.set(`api/v2/components/${component.id}.json`, { page: changedWith(page, component), component });
    for (const incident of incidents)
      found.set(`api/v2/incidents/${incident.id}.json`, { page: changedWith(page, incident), incident });
  }
  return found;
}

function changedWith(page: V2Page, { updated_at }: V2Component | V2Incident): V2Page {
  return { ...page, updated_at };
}

/** As many as the original gives. */
const NEWEST_COUNT = 50;

/** The documents of one page; each is made when asked for, what they share once. */
export function v2Documents(model: PageModel) {
  let set: V2ComponentSet | undefined;
  const components = (): V2ComponentSet => {
    set ??= v2ComponentSet(model);
    return set;
  };
  const page = v2Page(model);
  const unresolved = () =>
    model.incidents.filter((incident) => isOpen(incident)).map((incident) => v2Incident(model, components(), incident));
  const maintenances = (wanted: readonly PageMaintenance['status'][]) =>
    model.maintenances
      .filter(({ status }) => wanted.includes(status))
      .map((maintenance) => v2Maintenance(model, components(), maintenance))
      .reverse();
  const newest = () =>
    model.maintenances.slice(0, NEWEST_COUNT).map((known) => v2Maintenance(model, components(), known));
  const upcoming = () => maintenances(['scheduled']);
  const active = () => maintenances(['in_progress', 'verifying']);
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
    /** The 50 newest. */
    incidents: () => ({
      page,
      incidents: model.incidents.slice(0, NEWEST_COUNT).map((incident) => v2Incident(model, components(), incident)),
    }),
    unresolved: () => ({ page, incidents: unresolved() }),
    /** The 50 newest. */
    maintenances: () => ({ page, scheduled_maintenances: newest() }),
    /** Soonest first. */
    upcoming: () => ({ page, scheduled_maintenances: upcoming() }),
    active: () => ({ page, scheduled_maintenances: active() }),
  };
}

type V2Page = ReturnType<typeof v2Page>;

export function v2Page(model: PageModel) {
  return {
    id: v2PageId(model),
    name: model.definition.title,
    url: model.settings.url,
    time_zone: model.settings.timezone,
    updated_at: toIso(lastChangeAt(model)),
  };
}
