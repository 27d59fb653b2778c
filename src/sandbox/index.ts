/** Local upstreams for the first run and for tests. */

export { FAULT_NAMES, type Fault, type FaultName } from './faults.ts';
export type { SandboxKind } from './kind.ts';
export { type Sandbox, type SandboxOptions, startUpstreams } from './sandbox.ts';
export type { ServiceStatus } from './world/world.ts';
