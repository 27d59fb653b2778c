/** The sandbox with every kind in it. */

import type { SandboxKind } from './kind.ts';
import { SANDBOXES } from './kinds/index.ts';
import { type Sandbox, type SandboxOptions, startUpstreams } from './server.ts';

export type { Sandbox };

export interface StartOptions extends SandboxOptions {
  /** Instead of what stands in the registry for the same kinds. */
  readonly kinds?: readonly SandboxKind[];
}

/** Starts every local upstream on one port; resolves once it listens. */
export function startSandbox({ kinds = [], ...options }: StartOptions): Promise<Sandbox> {
  const chosen = SANDBOXES.map(
    (known) => kinds.find(({ connector }) => connector.kind === known.connector.kind) ?? known,
  );
  return startUpstreams(options, chosen);
}
