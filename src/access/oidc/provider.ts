/**
 * OpenID Connect client: authorization code with PKCE, state and nonce. The libraries validate the provider's answers
 * (issuer, audience, signature, times, nonce, subject).
 */

import { createRemoteJWKSet, jwtVerify, customFetch as keysFetch } from 'jose';
import * as oidc from 'openid-client';
import type { Revealing } from '../digest.ts';

/** The registration of Pharos at a provider. */
export interface OidcClient {
  readonly issuer: string;
  readonly client_id: string;
  readonly client_secret: Revealing;
  readonly scopes: readonly string[];
}

export type Identified = Awaited<ReturnType<typeof identify>>;
/** A person as the provider describes them. */
export type Person = Identified['person'];
/** Values of a pending sign-in that must match when the browser returns. */
export type SignInChecks = Awaited<ReturnType<typeof beginSignIn>>['checks'];

/** `away`: the provider can't be reached. `refused`: it refused, or its answer is invalid. */
export class ProviderFault extends Error {
  readonly kind: 'away' | 'refused';

  constructor(cause: unknown, kind: ProviderFault['kind'] = isAway(cause) ? 'away' : 'refused') {
    super(reasonOf(cause), { cause });
    this.name = 'ProviderFault';
    this.kind = kind;
  }
}

export type ProviderFetch = oidc.CustomFetch;

const TIMEOUT_S = 5;
/** Tolerated clock difference, in seconds. */
const CLOCK_TOLERANCE_S = 30;
const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout';
/** Older logout tokens are refused. */
const LOGOUT_AGE_MAX = '2 minutes';

/** Concurrent visitors share one request, so a flood of visitors does not reach the provider. */
const discovering = new WeakMap<OidcClient, Promise<Provider>>();

/**
 * Reads the provider's metadata. Not cached, so new keys and addresses apply at once.
 *
 * @throws ProviderFault
 */
export function discover(client: OidcClient, fetch: ProviderFetch): Promise<Provider> {
  const asking = discovering.get(client) ?? askFor(client, fetch).finally(() => discovering.delete(client));
  discovering.set(client, asking);
  return asking;
}

function askFor(client: OidcClient, fetch: ProviderFetch): Promise<Provider> {
  // Errors here concern the provider, never a person.
  return callProvider(async () => {
    const { issuer, client_id: id, client_secret: secret } = client;
    const metadata = { client_secret: secret.reveal(), [oidc.clockTolerance]: CLOCK_TOLERANCE_S };
    const chosen: oidc.ClientAuth = (server, ...others) =>
      (server.token_endpoint_auth_methods_supported?.includes('client_secret_basic') === false
        ? oidc.ClientSecretPost(secret.reveal())
        : oidc.ClientSecretBasic(secret.reveal()))(server, ...others);
    return oidc.discovery(new URL(issuer), id, metadata, chosen, {
      [oidc.customFetch]: fetch,
      timeout: TIMEOUT_S,
      // Signatures are checked although tokens come directly from the provider. http is allowed for a provider on this
      // machine.
      execute: [oidc.enableNonRepudiationChecks, ...(issuer.startsWith('http:') ? [oidc.allowInsecureRequests] : [])],
    });
  }, 'away');
}

/** A provider with its metadata. */
export type Provider = oidc.Configuration;

/**
 * Presents a code that the provider never issued.
 *
 * @returns its error code: `invalid_grant` if it accepts our id and secret; null: unreachable
 */
export async function tryCode(provider: Provider, redirectUri: string): Promise<string | null> {
  try {
    const made = { code: oidc.randomState(), code_verifier: oidc.randomPKCECodeVerifier(), redirect_uri: redirectUri };
    await oidc.genericGrantRequest(provider, 'authorization_code', made);
    return '';
  } catch (error) {
    const { error: word, cause } = error as { error?: unknown; cause?: unknown };
    if (isClientRefused({ cause })) return 'invalid_client';
    return typeof word === 'string' ? word : null;
  }
}

/** The address to sign in at, and the values that must match on return. */
export async function beginSignIn(provider: Provider, scopes: readonly string[], redirectUri: string) {
  const checks = {
    state: oidc.randomState(),
    nonce: oidc.randomNonce(),
    verifier: oidc.randomPKCECodeVerifier(),
    redirectUri,
  };
  const url = oidc.buildAuthorizationUrl(provider, {
    redirect_uri: redirectUri,
    scope: scopes.join(' '),
    state: checks.state,
    nonce: checks.nonce,
    code_challenge: await oidc.calculatePKCECodeChallenge(checks.verifier),
    code_challenge_method: 'S256',
  });
  return { url: url.href, checks };
}

/**
 * Finishes a sign-in and returns the person.
 *
 * @param query of the address that the provider sent the browser to
 *
 * @throws ProviderFault
 */
export function finishSignIn(provider: Provider, query: URLSearchParams, checks: SignInChecks): Promise<Identified> {
  return callProvider(async () => {
    const tokens = await oidc.authorizationCodeGrant(provider, new URL(`${checks.redirectUri}?${query}`), {
      expectedState: checks.state,
      expectedNonce: checks.nonce,
      pkceCodeVerifier: checks.verifier,
      idTokenExpected: true,
    });
    return identify(provider, tokens, tokens.claims()?.sub ?? '');
  });
}

/**
 * Asks the provider again about a person who signed in earlier.
 *
 * @throws ProviderFault
 */
export function askAgain(provider: Provider, refreshToken: string, subject: string): Promise<Identified> {
  return callProvider(async () => {
    const tokens = await oidc.refreshTokenGrant(provider, refreshToken);
    const { sub = subject } = tokens.claims() ?? {};
    if (sub !== subject) throw new Error('the provider answered with another account');
    const { refreshToken: next, ...identified } = await identify(provider, tokens, subject);
    return { ...identified, refreshToken: next ?? refreshToken };
  });
}

type Tokens = Awaited<ReturnType<typeof oidc.refreshTokenGrant>>;

async function identify(provider: Provider, tokens: Tokens, subject: string) {
  const claims: Readonly<Record<string, unknown>> = tokens.claims() ?? {};
  const hasMore = provider.serverMetadata().userinfo_endpoint !== undefined;
  if (!hasMore && tokens.id_token === undefined) throw new Error('the provider says nothing of the account');
  const more: Readonly<Record<string, unknown>> = hasMore
    ? await oidc.fetchUserInfo(provider, tokens.access_token, subject)
    : {};
  // An address and its verification must come from the same answer.
  const { email, email_verified: isVerified } = more['email'] === undefined ? claims : more;
  const groups = more['groups'] ?? claims['groups'];
  const name = more['preferred_username'] ?? claims['preferred_username'] ?? email ?? subject;
  const { sid } = claims;
  return {
    person: {
      subject,
      /** Display name of the account. */
      name: String(name).slice(0, 200),
      /** Null: no verified address. */
      email: typeof email === 'string' && isVerified === true ? email : null,
      groups: (Array.isArray(groups) ? groups : [groups]).filter((group): group is string => typeof group === 'string'),
    },
    /** Session id at the provider; null: not given. */
    sid: typeof sid === 'string' ? sid : null,
    /** Null: the person can't be checked again without signing in. */
    refreshToken: tokens.refresh_token ?? null,
    /** Needed to sign out at the provider; null: not given. */
    idToken: tokens.id_token ?? null,
  };
}

/** The address to sign out at the provider; null: it has none. */
export function signOutUrl(provider: Provider, idToken: string | null, returnTo: string): string | null {
  if (provider.serverMetadata().end_session_endpoint === undefined) return null;
  const hint = idToken === null ? {} : { id_token_hint: idToken };
  return oidc.buildEndSessionUrl(provider, { post_logout_redirect_uri: returnTo, ...hint }).href;
}

/**
 * Validates a provider's logout token.
 *
 * @throws ProviderFault
 */
export function readLogoutToken(provider: Provider, token: string, fetch: ProviderFetch) {
  return callProvider(async () => {
    const { issuer, jwks_uri: keys } = provider.serverMetadata();
    const keySet = createRemoteJWKSet(new URL(keys ?? ''), {
      timeoutDuration: TIMEOUT_S * 1_000,
      [keysFetch]: fetch as never,
    });
    const { payload } = await jwtVerify(token, keySet, {
      issuer,
      audience: provider.clientMetadata().client_id,
      requiredClaims: ['iat', 'events'],
      maxTokenAge: LOGOUT_AGE_MAX,
      clockTolerance: CLOCK_TOLERANCE_S,
    });
    const { sub = null, sid = null, events, nonce, iat = 0 } = payload;
    const isLogout = typeof events === 'object' && events !== null && LOGOUT_EVENT in events;
    if (!isLogout || nonce !== undefined || (sub === null && typeof sid !== 'string'))
      throw new Error('not a logout token');
    // `issuedAt`: seconds since 1970.
    return { subject: sub, sid: typeof sid === 'string' ? sid : null, issuedAt: iat };
  });
}

async function callProvider<T>(ask: () => Promise<T>, kind?: ProviderFault['kind']): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw new ProviderFault(error, kind);
  }
}

/** Errors of the provider, or of our registration: they say nothing about the person. */
const AWAY = [
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'ERR_JWKS_TIMEOUT',
  'invalid_client',
  'unauthorized_client',
  'server_error',
  'temporarily_unavailable',
];

function isAway(error: unknown): boolean {
  if (error instanceof TypeError) return true;
  // An error, or a response, which is of undici's own class.
  const { status, code, error: word, cause } = (error ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof status === 'number' && (status >= 500 || status === 429)) return true;
  if (!(error instanceof Error)) return false;
  return AWAY.includes(String(code)) || AWAY.includes(String(word)) || isClientRefused(error) || isAway(cause);
}

/** Whether the provider rejects Pharos' own id and secret. With `Bearer`, it rejects a person's token instead. */
function isClientRefused({ cause }: { readonly cause?: unknown }): boolean {
  return Array.isArray(cause) && cause.some(({ scheme }: { readonly scheme?: unknown }) => scheme !== 'bearer');
}

/** For the log: only error codes, never the provider's text. */
function reasonOf(error: unknown): string {
  const { message, error: word, cause } = error as { message?: string; error?: unknown; cause?: unknown };
  const inner = cause instanceof Error ? `: ${cause.message}` : '';
  return `${message ?? String(error)}${typeof word === 'string' ? ` (${word})` : ''}${inner}`.slice(0, 300);
}
