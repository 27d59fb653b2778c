/** Revoking a key of the uptime service: the only thing Pharos ever changes there, and only when an operator asks. */

import { z } from 'zod';
import { StatusError } from '../../../errors.ts';
import { ask, type Pull } from '../../connector.ts';
import { type Options, requestHeaders, restUrlOf } from './calls.ts';

/**
 * Revokes the key `id` (`DELETE /v1/api-key/{id}`); returns what to tell the operator.
 *
 * @throws CONFIG_INVALID without `restUrl`; UPSTREAM_REFUSED for 403 (a read-only key may revoke only itself) and 404
 *   (no such key, or a service that does not offer this), each explained; and whatever the network gives
 */
export function* revokeKey(options: Options, id: string): Pull<string> {
  const restUrl = restUrlOf(options);
  if (restUrl === null)
    throw new StatusError({
      code: 'CONFIG_INVALID',
      message: 'The address of the REST API is unknown. Set restUrl on this upstream.',
      issues: [{ path: 'restUrl', message: 'needed to revoke a key' }],
    });
  const { status } = yield* ask({
    name: 'revoke key',
    priority: 'list',
    method: 'DELETE',
    url: `${restUrl}/api-key/${encodeURIComponent(id)}`,
    headers: requestHeaders(options),
    schema: z.unknown(),
    acceptStatuses: [403, 404],
    allowEmpty: true,
    isRepeatable: false,
  });
  if (status === 403) throw refused(status, `Key ${id} was not revoked: ${FORBIDDEN}`);
  if (status === 404) throw refused(status, `Key ${id} was not revoked: ${MISSING}`);
  return `Revoked key ${id}.`;
}

const FORBIDDEN =
  'the configured key is read-only and can revoke only itself (pharos check shows its id). Use a key with write scope, or revoke it in the service’s dashboard.';
const MISSING = 'there is no such key, or the service no longer revokes keys at this address. Check its dashboard.';

function refused(status: number, message: string): StatusError {
  return new StatusError({ code: 'UPSTREAM_REFUSED', message, context: { status } });
}
