/** What every projection of a document is handed. */

import type { Resource } from './document.ts';
import type { Identities } from './identity.ts';

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
