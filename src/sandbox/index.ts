/** Local upstreams for the first run and for tests. */

export { UPSTREAM_NAMES, type UpstreamName } from './exchange.ts';
export { FAULT_NAMES, type Fault, type FaultName } from './faults.ts';
export { type Sandbox, type SandboxOptions, startSandbox } from './sandbox.ts';
export type { ServiceStatus } from './world.ts';
