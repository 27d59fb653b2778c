/** What every projection of a document is handed. */

import type { Document, Resource } from './document.ts';
import { type Identities, identify } from './identity.ts';

export interface Origin {
  readonly upstreamId: string;
  /** `svc_` or `openstatus_`. */
  readonly brand: string;
  /** Upstream whose monitors the components show; null: the monitors of this file are monitors themselves. */
  readonly monitorUpstream: string | null;
}

export interface ProjectFacts {
  /** Of the brand, types without it, sorted by address. */
  readonly resources: readonly Resource[];
  readonly identities: Identities;
  readonly origin: Origin;
}

/** What of a document is ours. */
export function factsOf(document: Document, origin: Origin): ProjectFacts {
  const resources = document.resources
    .filter(({ type }) => type.startsWith(origin.brand))
    .map((resource) => ({ ...resource, type: resource.type.slice(origin.brand.length) }))
    .toSorted((a, b) => (a.address < b.address ? -1 : a.address > b.address ? 1 : 0));
  return { resources, identities: identify(resources), origin };
}
