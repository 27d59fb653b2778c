/** The sandbox's own addresses, below `/-/`: look at the world, break an upstream, push a service over. */

import { isStatusError } from '../../src/errors.ts';
import { SERVICE_STATUSES, type ServiceStatus } from '../../src/sandbox/services.ts';
import { isObject, json, objectOf, type Reply, type Request } from './exchange.ts';
import { FAULT_NAMES, type Fault, type FaultName, type Faults } from './faults.ts';
import type { World } from './world.ts';

/** Answers a request below `/-/`; its path begins with `/-/`. */
export function control(request: Request, world: World, faults: Faults): Reply {
  const isWrite = request.path === '/-/faults' || request.path === '/-/force';
  if (!isWrite && request.path !== '/-/world') return json(404, { error: 'Not found' });
  const method = isWrite ? 'POST' : 'GET';
  if (request.method !== method) return json(405, { error: 'Method not allowed' }, { allow: method });
  if (!isWrite) return json(200, worldView(world, request));
  // A page in a browser may post forms and plain text to us without asking, but not JSON.
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? '')) {
    return json(415, { error: 'Send application/json' });
  }
  const body = objectOf(request.body);
  if (body === null) return json(400, { error: 'The body is not a JSON object' });
  return request.path === '/-/faults' ? setFault(body, faults) : force(body, world);
}

function worldView(world: World, { now }: Request): unknown {
  const { services, incidents, reports, maintenances } = world.at(now);
  return {
    now,
    services: services.map(({ service, status, since }) => ({ id: service.id, key: service.key, status, since })),
    incidents: incidents.map(({ service, ...incident }) => ({ ...incident, service: service.key })),
    reports,
    maintenances,
  };
}

function setFault({ upstream, fault }: Readonly<Record<string, unknown>>, faults: Faults): Reply {
  const parsed = parseFault(fault);
  if (parsed === undefined) return json(400, { error: `fault must be null or one of ${FAULT_NAMES.join(', ')}` });
  try {
    faults.set(String(upstream), parsed);
  } catch (error) {
    if (isStatusError(error)) return json(400, { error: error.message });
    throw error;
  }
  return json(200, { upstream, fault: parsed });
}

/** Undefined: not a fault. Its figures are taken as they come: this is a tool for people who break things on purpose. */
function parseFault(value: unknown): Fault | FaultName | null | undefined {
  if (value === null || isFaultName(value)) return value;
  return isObject(value) && isFaultName(value['name']) ? { ...value, name: value['name'] } : undefined;
}

function force({ monitor, status }: Readonly<Record<string, unknown>>, world: World): Reply {
  if (status !== null && !isServiceStatus(status)) {
    return json(400, { error: `status must be null or one of ${SERVICE_STATUSES.join(', ')}` });
  }
  try {
    world.force(String(monitor), status);
    return json(200, { monitor, status });
  } catch (error) {
    if (isStatusError(error)) return json(404, { error: error.message });
    throw error;
  }
}

function isFaultName(value: unknown): value is FaultName {
  return (FAULT_NAMES as readonly unknown[]).includes(value);
}

function isServiceStatus(value: unknown): value is ServiceStatus {
  return (SERVICE_STATUSES as readonly unknown[]).includes(value);
}
