/** The sandbox with every kind in it. */

import type { SandboxKind } from '../sandbox/kind.ts';
import { type Sandbox, type SandboxOptions, startUpstreams } from '../sandbox/sandbox.ts';
import { SERVICES_OF_ALL_PAGES } from '../sandbox/world/pages.ts';
import { SANDBOXES } from '../sync/connectors/sandboxes.ts';

export type { Sandbox };

export interface StartOptions extends SandboxOptions {
  /** Instead of what stands in the registry for the same kinds. */
  readonly kinds?: readonly SandboxKind[];
}

/** With the page of forty components, of which about one in two failed once in ninety days. */
export const LARGE_WORLD = { services: SERVICES_OF_ALL_PAGES, extraOutages: 20 };

/** Starts every local upstream on one port; resolves once it listens. */
export function startSandbox({ kinds = [], ...options }: StartOptions): Promise<Sandbox> {
  const chosen = SANDBOXES.map(
    (known) => kinds.find(({ connector }) => connector.kind === known.connector.kind) ?? known,
  );
  return startUpstreams(options, chosen);
}
