/** Revoking an access key: the one thing that Pharos may change at this service, and only when told to. */

import { z } from 'zod';
import { StatusError } from '../../../errors.ts';
import { ask, type Pull } from '../../connector.ts';
import { headersOf, type Options, restUrlOf } from './calls.ts';

/** The document does not show the answer's body; a 2xx is all that counts. */
const RevokedSchema = z.unknown();

/**
 * Revokes the key with this id. A read-only key may revoke itself only; anything else is 403.
 *
 * @throws CONFIG_INVALID when no address of the REST API is known; UPSTREAM_REFUSED with the status in its context
 */
export function* revokeKey(options: Options, keyId: string): Pull<void> {
  const restUrl = restUrlOf(options);
  if (restUrl === null) {
    throw new StatusError({
      code: 'CONFIG_INVALID',
      message: 'The document does not say where the REST API is: set restUrl of this upstream.',
      issues: [{ path: 'restUrl', message: 'is needed to revoke keys' }],
    });
  }
  yield* ask({
    name: 'revoke key',
    priority: 'list',
    method: 'DELETE',
    url: `${restUrl}/api-key/${encodeURIComponent(keyId)}`,
    headers: headersOf(options),
    schema: RevokedSchema,
    isRepeatable: false,
    allowEmpty: true,
    reads: 'text',
  });
}
