/**
 * `api/v2/components/<id>.json` and `api/v2/incidents/<id>.json`: what the lists say of one thing. They are made from the
 * lists as they were published, so they never say anything else.
 */

import type { V2Component, V2Components, V2Incident, V2Incidents, V2Page } from './types.ts';

/** What is in two of them is the same in both. */
const LISTS = ['api/v2/components.json', 'api/v2/incidents.json', 'api/v2/incidents/unresolved.json'];

export type V2Single =
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
    const document = read(list) as (Partial<V2Components & V2Incidents> & { readonly page: V2Page }) | null;
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
