/** `/-/oidc/…`: where identity providers send browsers back, and where they report ended sessions. */

import type { Access } from '../access/create-access.ts';
import { CALLBACK_PATH, LOGOUT_PATH, type Oidc } from '../access/oidc/oidc.ts';
import type { EpochMs } from '../model/time.ts';
import type { SignInResult } from '../store/audit.ts';
import { type Answer, json, jsonNotAllowed, NEVER_CACHED, type OwnRequest } from './answer.ts';
import { gateReply, returnRequest, signInResultOf } from './visitors/gate-answer.ts';

interface OidcRoutesOptions {
  readonly oidc: Oidc;
  readonly access: Pick<Access, 'returned'>;
  /** Handles the browser of an operator. */
  readonly returned: (request: OwnRequest) => Promise<Answer>;
  /** Called for every sign-in attempt, even if the page doesn't exist. */
  readonly onSignIn: (slug: string, result: SignInResult) => void;
  /** Path of the site, with a trailing slash. */
  readonly sitePath: () => string;
  readonly now: () => EpochMs;
}

/** Null: not found. */
export function createOidcRoutes(options: OidcRoutesOptions) {
  return async (request: OwnRequest): Promise<Answer | null> => {
    const { oidc } = options;
    const clients = [...new Set([oidc.client('visitors'), oidc.client('operators')])].filter((one) => one !== null);
    if (clients.length === 0) return null;
    if (request.path === LOGOUT_PATH) {
      if (request.method !== 'POST') return jsonNotAllowed('POST');
      const token = new URLSearchParams((await request.body()).toString('utf8')).get('logout_token') ?? '';
      const ended = await Promise.all(clients.map((client) => oidc.identities.endByToken(client, token)));
      return ended.includes(true) ? json(200, {}) : json(400, { error: 'invalid_request' });
    }
    if (request.path !== CALLBACK_PATH) return null;
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return json(405, { message: 'Method not allowed. Use GET.' }, { allow: 'GET, HEAD' });
    // Providers send browsers here after signing out too.
    if (!['code', 'error'].some((name) => request.query.has(name)))
      return {
        status: 303,
        headers: { location: request.isSiteHost ? options.sitePath() : '/', 'cache-control': NEVER_CACHED },
        body: null,
      };
    const asked = returnRequest(request, options.now());
    const place = oidc.pending(asked)?.place;
    if (place?.purpose === 'operators') return options.returned(request);
    const answer = await options.access.returned(asked);
    const result = signInResultOf(asked.path, answer);
    if (result !== null) options.onSignIn(place?.slug ?? '', result);
    return gateReply(answer);
  };
}
