/** Sends requests to the running server as the operator. */

import { request } from 'undici';
import { originOf } from '../app/serving/listening.ts';
import type { Config } from '../config/load.ts';
import { messageOf, StatusError } from '../errors.ts';

/** A server with an operator token. */
export type OperatedServer = NonNullable<ReturnType<typeof findServer>>;

/**
 * The configured server, or the one at an address with the token in PHAROS_TOKEN, which needs no configuration. Null:
 * there is no token.
 */
export function findServer(config: Config | null, url: string | undefined) {
  const token = config?.operators.token?.reveal() ?? process.env['PHAROS_TOKEN'];
  const base = url ?? (config === null ? null : originOf(config.server));
  return token === undefined || token === '' || base === null ? null : { base, token };
}

interface ServerRequest {
  readonly method: 'POST' | 'PATCH';
  /** Below `/-/`. */
  readonly path: string;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly waitMs: number;
}

/**
 * Sends a request and returns the response; the body is null if it isn't JSON.
 *
 * @throws UPSTREAM_UNREACHABLE if no server answers
 */
export async function askServer(
  { base, token }: OperatedServer,
  { method, path, body, headers, waitMs }: ServerRequest,
): Promise<{ readonly status: number; readonly body: unknown }> {
  const answer = await request(new URL(`/-/${path}`, base), {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    headersTimeout: waitMs,
    bodyTimeout: waitMs,
  }).catch((cause: unknown) => {
    throw new StatusError({
      code: 'UPSTREAM_UNREACHABLE',
      message: `No server responds at ${base}: ${messageOf(cause)}. Start it with \`pharos start\`, or set its address with --url.`,
      cause,
      context: { isRefused: (cause as { code?: unknown }).code === 'ECONNREFUSED' },
    });
  });
  return { status: answer.statusCode, body: await answer.body.json().catch(() => null) };
}
