/** The uptime service on its real wire, as recorded: Connect calls below `/rpc`, REST below `/v1`, three shapes of error. */

import { empty, headerOf, json, type Reply, type Request, type Upstream } from '../../../exchange.ts';
import { noiseUuid } from '../../../noise-uuid.ts';
import type { World } from '../../../world.ts';
import { type KeyRing, keyRefusal, whoami } from '../keys.ts';
import { READ_CALLS, WRITE_CALLS } from './calls.ts';
import { callError, restError, routerError } from './connect-errors.ts';
import { readRest } from './rest.ts';

const KEY_HEADER = 'x-openstatus-key';
const HEALTH_CALL = 'openstatus.health.v1.HealthService/Check';

interface OpenstatusOptions {
  readonly world: World;
  readonly keys: KeyRing;
  readonly pagePassword: string;
}

export function createOpenstatus(options: OpenstatusOptions): Upstream {
  let requests = 0;
  return (request) => {
    requests += 1;
    const requestId = noiseUuid(options.world.seed, 'request', requests);
    if (request.path.startsWith('/rpc/')) return rpc(request, options, requestId);
    if (request.path.startsWith('/v1/')) return rest(request, options, requestId);
    return routerError(404, 'Not found', requestId);
  };
}

function rpc(request: Request, { world, keys, pagePassword }: OpenstatusOptions, requestId: string): Reply {
  const name = request.path.slice('/rpc/'.length);
  const read = READ_CALLS.get(name);
  if (read === undefined && !WRITE_CALLS.has(name) && name !== HEALTH_CALL) {
    return routerError(404, 'Not found', requestId);
  }
  // Reads may also come as Connect GET, with the message in the address.
  const isGet = request.method === 'GET' && read !== undefined && request.query.get('connect') === 'v1';
  if (!isGet && request.method !== 'POST') return routerError(405, 'Method not allowed', requestId);
  if (!isGet && !/^application\/json\b/i.test(request.headers['content-type'] ?? '')) return empty(415);
  if (name === HEALTH_CALL) return json(200, { status: 'SERVING_STATUS_SERVING' });
  const check = keys.check(headerOf(request.headers, KEY_HEADER));
  if (check.kind !== 'valid') return callError(401, 'unauthenticated', keyRefusal(check.kind, KEY_HEADER));
  if (read === undefined) {
    return check.key.scope === 'read'
      ? callError(403, 'permission_denied', 'API key lacks required scope: write')
      : callError(501, 'unimplemented', 'Monitors of this world are fixed');
  }
  const text = isGet ? (request.query.get('message') ?? '{}') : request.body;
  const message = decode(text, name);
  if (typeof message === 'string') return callError(400, 'invalid_argument', message);
  return read(message, { world, now: request.now, pagePassword, pagingShift: request.pagingShift });
}

/** The message, or why it is none. */
function decode(text: string, name: string): Readonly<Record<string, unknown>> | string {
  const type = `${name.slice(0, name.lastIndexOf('.'))}.${name.slice(name.indexOf('/') + 1)}Request`;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
    return `cannot decode message ${type} from JSON: object expected`;
  } catch (error) {
    return `cannot decode message ${type} from JSON: ${error instanceof Error ? error.message : 'unreadable'}`;
  }
}

function rest(request: Request, options: OpenstatusOptions, requestId: string): Reply {
  const check = options.keys.check(headerOf(request.headers, KEY_HEADER));
  if (check.kind !== 'valid') {
    return restError(401, 'UNAUTHORIZED', keyRefusal(check.kind, KEY_HEADER), requestId);
  }
  if (request.path === '/v1/whoami' && request.method === 'GET') {
    return json(200, whoami(check.key), { 'x-request-id': requestId });
  }
  // Revoking a key is not mounted there any more: the scope is checked, then nothing is found.
  if (request.method !== 'GET' && check.key.scope === 'read') {
    return restError(403, 'FORBIDDEN', 'API key lacks write scope', requestId);
  }
  const read = request.method === 'GET' ? readRest(request, options, requestId) : null;
  if (read !== null) return read;
  const headers = { 'content-type': 'text/plain; charset=UTF-8', 'x-request-id': requestId };
  return { status: 404, headers, body: '404 Not Found' };
}
