/**
 * The uptime service as the document describes it, without its brand. The document leaves the wire open; this one is
 * Connect-style: `POST /rpc/MonitorService/listMonitors` with a JSON body, REST below `/v1`, arrays always there.
 */

import type { Service } from '../../../../src/sandbox/services.ts';
import { empty, headerOf, json, objectOf, type Reply, type Request, type Upstream } from '../../exchange.ts';
import { uptimeMonitor } from '../../monitor-record.ts';
import type { World } from '../../world.ts';
import { type KeyCheck, type KeyRing, keyRefusal, type UptimeKey, whoami } from './keys.ts';

const KEY_HEADER = 'x-svc-key';
const LIST_MONITORS = '/rpc/MonitorService/listMonitors';
/** Named only so that a read key can be refused; a write key learns that they are not here. */
const MUTATIONS = new Set(
  ['createHttpMonitor', 'createTcpMonitor', 'createDnsMonitor', 'updateMonitor', 'deleteMonitor'].map(
    (operation) => `/rpc/MonitorService/${operation}`,
  ),
);

interface UptimeOptions {
  readonly world: World;
  readonly keys: KeyRing;
}

export function createUptime({ world, keys }: UptimeOptions): Upstream {
  return (request) => {
    const check = keys.check(headerOf(request.headers, KEY_HEADER));
    return request.path.startsWith('/v1/') ? rest(request, check, keys) : rpc(request, check, world);
  };
}

function rpc(request: Request, check: KeyCheck, world: World): Reply {
  if (request.path !== LIST_MONITORS && !MUTATIONS.has(request.path)) return json(404, { error: 'Not found' });
  if (request.method !== 'POST') return json(405, { error: 'Method not allowed' }, { allow: 'POST' });
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? '')) return empty(415);
  if (check.kind !== 'valid') {
    return json(401, { code: 'unauthenticated', message: keyRefusal(check.kind, KEY_HEADER) });
  }
  if (MUTATIONS.has(request.path)) {
    return check.key.scope === 'read'
      ? json(403, { code: 'permission_denied', message: 'API key lacks required scope: write' })
      : json(501, { code: 'unimplemented', message: 'Monitors of this world are fixed' });
  }
  if (objectOf(request.body) === null) {
    return json(400, { code: 'invalid_argument', message: 'The request is not a JSON object' });
  }
  return json(200, listMonitors(world, request));
}

function listMonitors(world: World, { now }: Request): Record<string, unknown> {
  const ofKind = (kind: Service['kind']): readonly Service[] => world.services.filter((one) => one.kind === kind);
  return {
    httpMonitors: ofKind('http').map((service) => ({
      ...uptimeMonitor(world.stateOf(service, now)),
      url: service.target,
      method: 'GET',
      body: '',
      followRedirects: true,
      headers: [],
      statusCodeAssertions: [{ target: 200, comparator: 'eq' }],
      bodyAssertions: [],
      headerAssertions: [],
    })),
    tcpMonitors: ofKind('tcp').map((service) => ({
      ...uptimeMonitor(world.stateOf(service, now)),
      uri: service.target,
    })),
    dnsMonitors: ofKind('dns').map((service) => ({
      ...uptimeMonitor(world.stateOf(service, now)),
      uri: service.target,
      recordAssertions: [{ record: 'A', target: '203.0.113.10', comparator: 'eq' }],
    })),
  };
}

function rest(request: Request, check: KeyCheck, keys: KeyRing): Reply {
  if (check.kind !== 'valid') return json(401, { code: 'UNAUTHORIZED', message: keyRefusal(check.kind, KEY_HEADER) });
  if (request.path === '/v1/whoami') {
    return request.method === 'GET' ? json(200, whoami(check.key)) : methodNotAllowed('GET');
  }
  const id = /^\/v1\/api-key\/([^/]+)$/.exec(request.path)?.[1];
  if (id === undefined) return json(404, { code: 'NOT_FOUND', message: 'Not found' });
  if (request.method !== 'DELETE') return methodNotAllowed('DELETE');
  return revoke(id, check.key, keys);
}

/** A read key may end its own life and no other; what the answer holds is not documented, so it holds nothing. */
function revoke(id: string, caller: UptimeKey, keys: KeyRing): Reply {
  if (caller.scope === 'read' && caller.id !== id) {
    return json(403, { code: 'FORBIDDEN', message: 'A read-only key may only revoke itself' });
  }
  return keys.revoke(id) ? empty(204) : json(404, { code: 'NOT_FOUND', message: 'API key not found' });
}

function methodNotAllowed(allow: string): Reply {
  return json(405, { code: 'METHOD_NOT_ALLOWED', message: 'Method not allowed' }, { allow });
}
