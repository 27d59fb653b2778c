/**
 * A real identity provider on loopback, with accounts that tests change and a place before its answers where bytes can be
 * changed: what it never says itself is signed with its own key.
 */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, decodeJwt, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import Provider from 'oidc-provider';

export interface Account {
  readonly email?: string;
  readonly email_verified?: unknown;
  readonly groups?: unknown;
  readonly preferred_username?: string;
}

/** What is done to an answer on its way; null: nothing. */
type Change = (answer: { readonly path: string; readonly status: number; readonly body: string }) => Promise<{
  readonly status?: number;
  readonly body: string;
} | null>;

export interface TestProvider {
  readonly issuer: string;
  readonly accounts: Map<string, Account>;
  readonly requests: string[];
  /** Signs in at the provider as a browser would. @returns where it sends the browser back to */
  readonly signIn: (url: string, account: string) => Promise<URL>;
  /** Changes claims of the next ID tokens, and the key that signs them. */
  readonly forge: (claims: Readonly<Record<string, unknown>> | null, key?: SigningKey) => void;
  readonly change: (change: Change | null) => void;
  /** From now on, other keys are published and used. */
  readonly rotate: () => Promise<void>;
  readonly sign: (claims: Readonly<Record<string, unknown>>, key?: SigningKey) => Promise<string>;
  /** Requests to these paths fail, with 503 or without any answer. */
  readonly break: (path: string | null, how?: 'status' | 'silence') => void;
  readonly close: () => Promise<void>;
}

export interface SigningKey {
  readonly privateKey: CryptoKey;
  readonly jwk: JWK;
}

export async function newSigningKey(kid: string): Promise<SigningKey> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  return { privateKey, jwk: { ...(await exportJWK(privateKey)), kid, use: 'sig', alg: 'RS256' } };
}

export const CLIENT = { client_id: 'pharos', client_secret: 'a secret of pharos at the provider' } as const;
const REFRESH_PATHS = ['refresh_token', 'authorization_code'];

/**
 * @param redirectUris where it may send browsers back to
 * @param keepsOpen  false: a connection that Pharos uses a second time is closed just then, as one that was idle may be
 */
export async function startProvider(redirectUris: readonly string[], { keepsOpen = true } = {}): Promise<TestProvider> {
  const accounts = new Map<string, Account>();
  const requests: string[] = [];
  let signing = await newSigningKey('first');
  let forged: { claims: Readonly<Record<string, unknown>>; key: SigningKey | null } | null = null;
  let change: Change | null = null;
  let broken: { path: string; how: 'status' | 'silence' } | null = null;
  let handle: (request: IncomingMessage, response: ServerResponse) => void = () => undefined;

  const sign = (claims: Readonly<Record<string, unknown>>, key = signing): Promise<string> =>
    new SignJWT(claims as never).setProtectedHeader({ alg: 'RS256', kid: key.jwk.kid ?? '' }).sign(key.privateKey);

  async function changed(path: string, status: number, body: string): Promise<{ status: number; body: string }> {
    let answer = { status, body };
    if (path === '/jwks') {
      const { d, p, q, dp, dq, qi, ...published } = signing.jwk;
      answer = { status, body: JSON.stringify({ keys: [published] }) };
    }
    if (path === '/token' && body.includes('id_token')) {
      const tokens = JSON.parse(body) as { id_token: string };
      const claims = { ...decodeJwt(tokens.id_token), ...forged?.claims };
      answer = { status, body: JSON.stringify({ ...tokens, id_token: await sign(claims, forged?.key ?? signing) }) };
    }
    const more = await change?.({ path, ...answer });
    return { ...answer, ...more };
  }

  const used = new WeakSet<object>();
  const server = createServer((request, response) => {
    const path = (request.url ?? '/').split('?')[0] ?? '';
    requests.push(`${request.method} ${path}`);
    if (!keepsOpen && /^\/(?:jwks|token|me|\.well-known)/.test(path)) {
      if (used.has(request.socket)) {
        request.socket.destroy();
        return;
      }
      used.add(request.socket);
    }
    if (broken !== null && path.startsWith(broken.path)) {
      if (broken.how === 'silence') request.socket.destroy();
      else response.writeHead(503).end();
      return;
    }
    const end = response.end.bind(response) as (body: string | Buffer) => ServerResponse;
    response.end = ((body?: string | Buffer) => {
      const isChangeable = /^\/(?:jwks|token|me|\.well-known)/.test(path);
      if (!isChangeable) return end(body ?? '');
      changed(path, response.statusCode, String(body ?? '')).then(
        (answer) => {
          response.statusCode = answer.status;
          response.setHeader('content-length', Buffer.byteLength(answer.body));
          end(answer.body);
        },
        () => response.destroy(),
      );
      return response;
    }) as typeof response.end;
    handle(request, response);
  });
  // On a busy machine a connection would be closed for idling while the next request is on its way.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        ...CLIENT,
        redirect_uris: [...redirectUris],
        post_logout_redirect_uris: [...redirectUris],
        grant_types: REFRESH_PATHS,
        response_types: ['code'],
      },
    ],
    jwks: { keys: [signing.jwk as never] },
    scopes: ['openid', 'email', 'profile'],
    claims: { email: ['email', 'email_verified'], profile: ['preferred_username', 'groups'], sid: null },
    cookies: { keys: ['of tests'] },
    features: {
      devInteractions: { enabled: false },
      backchannelLogout: { enabled: true },
      rpInitiatedLogout: { enabled: true },
    },
    pkce: { required: () => true },
    issueRefreshToken: async () => true,
    findAccount: async (_context, sub) => {
      const account = accounts.get(sub);
      return account === undefined ? undefined : { accountId: sub, claims: async () => ({ sub, ...account }) };
    },
    loadExistingGrant: async (context) => {
      const grant = new context.oidc.provider.Grant({
        clientId: context.oidc.client?.clientId ?? '',
        accountId: context.oidc.session?.accountId ?? '',
      });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
  });
  const callback = provider.callback();
  let signingIn = '';
  handle = (request, response) => {
    if (request.url?.startsWith('/interaction/') === true)
      void provider.interactionFinished(request, response, { login: { accountId: signingIn } });
    else callback(request, response);
  };

  return {
    issuer,
    accounts,
    requests,
    signIn: async (url, account) => {
      signingIn = account;
      const cookies = new Map<string, string>();
      for (let next = new URL(url), hops = 0; hops < 10; hops += 1) {
        if (next.origin !== issuer) return next;
        const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
        const answer = await fetch(next, { redirect: 'manual', headers: { cookie } });
        for (const line of answer.headers.getSetCookie()) {
          const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
          cookies.set(name, value);
        }
        const location = answer.headers.get('location');
        if (location === null) throw new Error(`${next.pathname}: ${answer.status} ${await answer.text()}`);
        next = new URL(location, next);
      }
      throw new Error('the provider sends browsers round and round');
    },
    forge: (claims, key) => {
      forged = claims === null ? null : { claims, key: key ?? null };
    },
    change: (next) => {
      change = next;
    },
    rotate: async () => {
      signing = await newSigningKey(`key ${requests.length}`);
    },
    sign,
    break: (path, how = 'status') => {
      broken = path === null ? null : { path, how };
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
