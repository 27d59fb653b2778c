/** Local upstreams for the first run and for tests. */

export type { ConfigTextOptions } from './configuration.ts';
export type { Credentials } from './credentials.ts';
export { UPSTREAM_NAMES, type UpstreamName } from './exchange.ts';
export { FAULT_NAMES, type Fault, type FaultName, type Faults } from './faults.ts';
export type { RequestLog, RequestRecord } from './request-log.ts';
export { type Sandbox, type SandboxOptions, startSandbox } from './sandbox.ts';
export { webhookBody } from './upstreams/uptime-records.ts';
export {
  createWorld,
  SERVICE_STATUSES,
  type Service,
  type ServiceStatus,
  type World,
  type WorldIncident,
  type WorldOptions,
  type WorldState,
} from './world.ts';
