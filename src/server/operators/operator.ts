/** Operators, their permissions and their sessions, for the operators' page, forms, the API and metrics. Everything is denied unless a role allows it. */

import { createHash, timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { clientNetwork } from '../../access/client-address.ts';
import { readCookie, setCookie } from '../../access/cookies.ts';
import { digest, isToken, newToken, type RandomBytes, type Revealing } from '../../access/digest.ts';
import { isListed } from '../../access/oidc/oidc.ts';
import type { Person } from '../../access/oidc/provider.ts';
import type { ConfigFile } from '../../config/file-schema.ts';
import type { PageKey } from '../../model/slugs.ts';
import { type EpochMs, HOUR_MS, MINUTE_MS, toEpochMs } from '../../model/time.ts';
import { type Secret, TOKEN_LENGTH_MIN } from '../../schema/secret.ts';
import { type Database, flag, instant, type SqlValue, table, text } from '../../store/database.ts';
import { type ApiScope, type ApiToken, type ApiTokens, isInForce } from '../../store/written.ts';

export interface Operator {
  /** Name in the audit log and in the history of incidents. Visitors never see it. */
  readonly actor: string;
  readonly isAdmin: boolean;
  /** Whether they see `/-/ops` and the metrics. */
  readonly seesAll: boolean;
  /**
   * Roles name a page's slug, API tokens its key. `elsewhere`: no permission on this page, so the response is the same as if it
   * didn't exist.
   */
  readonly may: (
    page: { readonly slug: string; readonly key: PageKey },
    scope: ApiScope,
  ) => 'granted' | 'elsewhere' | 'scope';
}

type Operators = ConfigFile['operators'];

/** An operator with a token in the configuration. */
export interface OperatorToken extends Operator {
  readonly credential: string;
  readonly token: Secret;
}

const ADMIN: Omit<Operator, 'actor'> = { isAdmin: true, seesAll: true, may: () => 'granted' };
const READER: Omit<Operator, 'actor'> = {
  isAdmin: false,
  seesAll: true,
  may: (_page, scope) => (scope === 'read' ? 'granted' : 'scope'),
};

function writerOn(pages: readonly string[]): Omit<Operator, 'actor'> {
  const may: Operator['may'] = ({ slug }, scope) => {
    if (!pages.includes(slug)) return 'elsewhere';
    return scope === 'incidents' || scope === 'read' ? 'granted' : 'scope';
  };
  return { isAdmin: false, seesAll: false, may };
}

/** The operators with a token in the configuration. */
export function tokenOperators({ token, tokens }: Operators): readonly OperatorToken[] {
  const named = tokens.map(({ name, token: secret, role, pages = [] }) => ({
    ...{ admin: ADMIN, reader: READER, writer: writerOn(pages) }[role],
    actor: `token:${name}`,
    credential: `named:${name}`,
    token: secret,
  }));
  return token === undefined ? named : [{ ...ADMIN, actor: 'operator', credential: 'operator', token }, ...named];
}

/** The operator behind an API token, who may do on its page what its scopes allow. */
export function apiOperator({ id, name, page, scopes }: ApiToken): Operator {
  return {
    actor: `token:${name}/${id}`,
    isAdmin: false,
    seesAll: false,
    may: ({ key }, scope) => {
      if (key !== page) return 'elsewhere';
      return scope === 'read' || scopes.includes(scope) ? 'granted' : 'scope';
    },
  };
}

/** The operator who signed in with the identity provider; null: they have no role. */
export function personOperator({ roles }: Operators, person: Person): Operator | null {
  const actor = `oidc:${person.email ?? person.name}`;
  if (roles.admin !== undefined && isListed(roles.admin, person)) return { ...ADMIN, actor };
  const pages = (roles.writer ?? []).filter((writer) => isListed(writer, person)).flatMap((writer) => writer.pages);
  const isReader = roles.reader !== undefined && isListed(roles.reader, person);
  if (pages.length === 0) return isReader ? { ...READER, actor } : null;
  const writer = writerOn(pages);
  if (!isReader) return { ...writer, actor };
  const may: Operator['may'] = (page, scope) =>
    writer.may(page, scope) === 'granted' ? 'granted' : READER.may(page, scope);
  return { ...READER, actor, may };
}

/**
 * Compares the secrets of operators and of programs that write, and counts wrong ones. Everything is in memory, so that
 * health checks and metrics work while the database hangs, and a correct secret never waits for the counting of wrong
 * ones.
 */
export type Verdict<Right = unknown> =
  | ({ readonly kind: 'right' } & Right)
  | { readonly kind: 'wrong' }
  /** Too many wrong secrets from this client. Until then, even the right one is rejected. */
  | { readonly kind: 'limited'; readonly retryAfterMs: number };

/** The kinds of secrets. Each is counted separately, so that a script with an old API token locks nobody else out. */
type SecretKind = 'operator' | 'operator over API' | 'API token' | 'intake' | 'hook';

interface Client {
  /** Empty: unknown, because a proxy sent the request that isn't configured. */
  readonly address: string;
  readonly now: EpochMs;
}

/** Limit of wrong secrets for one client. */
const OF_CLIENT = { max: 10, windowMs: 15 * MINUTE_MS };
/** Limit for all unknown clients together. They can't be told apart, so this slows guessing down and locks nobody out for long. */
const OF_UNKNOWN = { max: 100, windowMs: MINUTE_MS };
/** Maximum number of clients counted; above it, the least recently seen are forgotten. */
const CLIENTS_MAX = 10_000;

export type OperatorGuard = ReturnType<typeof createOperatorGuard>;

export function createOperatorGuard(tokens: () => readonly OperatorToken[]) {
  /** Times of wrong secrets, oldest first, at most as many as allowed. */
  const wrong = new LRUCache<string, EpochMs[]>({ max: CLIENTS_MAX, memoMethod: () => [] });

  function judge(kind: SecretKind, { address, now }: Client, isRight: () => boolean): Verdict {
    const { max, windowMs } = address === '' ? OF_UNKNOWN : OF_CLIENT;
    const times = wrong.memo(`${kind} ${clientNetwork(address)}`);
    const [oldest] = times;
    if (times.length === max && oldest !== undefined && oldest <= now && oldest + windowMs > now)
      return { kind: 'limited', retryAfterMs: oldest + windowMs - now };
    if (isRight()) return { kind: 'right' };
    times.push(now);
    if (times.length > max) times.shift();
    return { kind: 'wrong' };
  }

  return {
    /** Compares any other secret, unless the client has sent too many wrong ones. */
    judge,
    /** Finds the operator with this token in the configuration. */
    check: (
      given: string,
      client: Client,
      kind: SecretKind = 'operator',
    ): Verdict<{ readonly operator: OperatorToken }> => {
      // Compares every token, so that the time taken reveals nothing.
      const right = tokens().filter(({ token }) => isSame(given, token));
      const [operator] = right;
      // Visitors behind the same proxy can't lock out a token that nobody guesses at any rate.
      if (operator !== undefined && client.address === '' && given.length >= TOKEN_LENGTH_MIN)
        return { kind: 'right', operator };
      const verdict = judge(kind, client, () => right.length > 0);
      if (verdict.kind !== 'right') return verdict;
      return operator === undefined ? { kind: 'wrong' } : { kind: 'right', operator };
    },
  };
}

/** Compares a text with the secret in constant time. Without a secret, nothing matches. */
export function isSame(given: string, secret: Revealing | null): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  const isEqual = timingSafeEqual(digest(given), digest(secret?.reveal() ?? ''));
  return isEqual && secret !== null && given !== '';
}

/** The token of an Authorization header; empty: none. A repeated header counts as none. */
export function bearerFrom(header: string | undefined): string {
  return typeof header === 'string' ? (/^Bearer ([^\s,]+)$/i.exec(header)?.[1] ?? '') : '';
}

// Who may use the API: holders of an API token, with the scopes of its page, or of a configured token, with its role.

/** Requests per minute for one token; a client that needs more has a bug. */
const REQUESTS_PER_MINUTE = 120;
/** Prefix of tokens, so that people and secret scanners recognise them. */
export const TOKEN_PREFIX = 'pharos_';
const COUNTED_MAX = 10_000;

/** The form in which a token is stored. */
export function tokenHash(token: string): string {
  return digest('api token', token);
}

export type ApiAccess = ReturnType<typeof createApiAccess>;

/**
 * Tokens are looked up by their hash, so only values that aren't tokens of ours count as attempts: at an API token if they look like
 * one, else at the operator token. Neither counts where operators sign in.
 */
export function createApiAccess(tokens: Pick<ApiTokens, 'find'>, guard: OperatorGuard) {
  const counts = new LRUCache<string, { since: EpochMs; count: number }>({ max: COUNTED_MAX });

  /** Time to wait; null: none. */
  function waitOf(id: string, now: EpochMs): number | null {
    const known = counts.get(id);
    const current = known === undefined || now - known.since >= MINUTE_MS || now < known.since ? null : known;
    if (current === null) counts.set(id, { since: now, count: 1 });
    else current.count += 1;
    return current !== null && current.count > REQUESTS_PER_MINUTE ? current.since + MINUTE_MS - now : null;
  }

  return {
    check: async (
      authorization: string | undefined,
      { address, now }: { readonly address: string; readonly now: EpochMs },
    ): Promise<Verdict<{ readonly operator: Operator }>> => {
      const given = credentialsIn(authorization);
      if (given === '') return { kind: 'wrong' };
      const isApiToken = given.startsWith(TOKEN_PREFIX) && isToken(given.slice(TOKEN_PREFIX.length));
      const token = isApiToken ? await tokens.find(tokenHash(given)) : null;
      if (token === null) {
        const kind = given.startsWith(TOKEN_PREFIX) ? 'API token' : 'operator over API';
        return guard.check(given, { address, now }, kind);
      }
      if (!isInForce(token, now)) return { kind: 'wrong' };
      const retryAfterMs = waitOf(token.id, now);
      if (retryAfterMs !== null) return { kind: 'limited', retryAfterMs };
      return { kind: 'right', operator: apiOperator(token) };
    },
  };
}

/** The token of an Authorization header, after `Bearer`, after `OAuth` as with Statuspage, or alone; empty: none. */
function credentialsIn(header: string | undefined): string {
  return /^(?:(?:Bearer|OAuth) )?([^\s,]{1,200})$/i.exec(header ?? '')?.[1] ?? '';
}

// Sessions of operators. A token or an identity is exchanged for a cookie that lasts one working day at most.

/** A session ends after this time, and after an hour without requests. */
const LIFE_MS = 8 * HOUR_MS;
const IDLE_MS = HOUR_MS;
/** The last use of a session is stored only this often. */
const TOUCH_MS = MINUTE_MS;

const SESSIONS = table('operator_session', {
  idHash: text(),
  /** Created under a `__Host-` cookie, and valid under no other. */
  isSecure: flag(),
  /** The credential it was exchanged for: `operator`, `named:<name>`, `api:<id>` or `oidc:<identity>`. */
  credential: text(),
  /** Fingerprint of the configured token: changing the token ends the session. Empty: it was not a configured token. */
  tokenFingerprint: text(),
  seenAt: instant(),
  untilAt: instant(),
});

/** A valid session. */
export type OperatorSession = NonNullable<Awaited<ReturnType<OperatorSessionService['find']>>>;

/** The received cookie header, and whether the connection is secure, on which the cookie’s name depends. */
export interface PresentedCookie {
  readonly cookie: string | null;
  readonly isSecure: boolean;
  readonly now: EpochMs;
}

export type OperatorSessionService = ReturnType<typeof createOperatorSessionService>;

/**
 * Creates the service. Each request looks up the operator and their role, so removing a role takes effect at once.
 *
 * @param tokens   operators with a token in the configuration
 * @param resolve  the operator behind an API token or an identity; null: no longer valid
 */
export function createOperatorSessionService(
  database: Database,
  random: RandomBytes,
  tokens: () => readonly OperatorToken[],
  resolve: (credential: string, now: EpochMs) => Promise<Operator | null>,
) {
  const tokenOf = (credential: string): OperatorToken | undefined =>
    tokens().find((token) => token.credential === credential);
  // It includes the session’s id, which isn’t stored, so nobody can guess tokens from the fingerprint.
  const fingerprint = (token: OperatorToken | undefined, id: string): string =>
    token === undefined ? '' : digest('operator-token', token.token.reveal(), id);
  const presentedId = ({ cookie, isSecure }: PresentedCookie): string | null =>
    readCookie(cookie, 'operator', isSecure);
  const run = (sql: string, params: readonly SqlValue[]) => database.transaction((tx) => tx.run(sql, params));

  return {
    /** Begins a session and returns its Set-Cookie header. The caller has checked the credential. */
    begin: async ({ isSecure, now }: PresentedCookie, credential: string): Promise<string> => {
      const id = newToken(random);
      await run('DELETE FROM operator_session WHERE until_at <= ? OR seen_at <= ?', [now, now - IDLE_MS]);
      const tokenFingerprint = fingerprint(tokenOf(credential), id);
      const times = { seenAt: now, untilAt: toEpochMs(now + LIFE_MS) };
      const session = { idHash: sessionHash(id), isSecure, credential, tokenFingerprint, ...times };
      await database.transaction((tx) => SESSIONS.insert(tx, [session]));
      return setCookie('operator', isSecure, id, LIFE_MS / 1_000);
    },
    /** Null: not signed in, or the credential is no longer valid. */
    find: async (presented: PresentedCookie) => {
      const id = presentedId(presented);
      if (!isToken(id)) return null;
      const { now, isSecure } = presented;
      const idHash = sessionHash(id);
      const [row] = await database.all('SELECT * FROM operator_session WHERE id_hash = ?', [idHash]);
      const session = row === undefined ? null : SESSIONS.read(row);
      if (session === null || session.isSecure !== isSecure) return null;
      if (session.untilAt <= now || session.seenAt <= now - IDLE_MS) return null;
      const { credential, tokenFingerprint } = session;
      const token = tokenOf(credential);
      if (tokenFingerprint !== fingerprint(token, id)) return null;
      const operator: Operator | null = token ?? (await resolve(credential, now));
      if (operator === null) return null;
      if (now - session.seenAt >= TOUCH_MS)
        await run('UPDATE operator_session SET seen_at = ? WHERE id_hash = ? AND seen_at < ?', [now, idHash, now]);
      // The form token is sent with every form; it is useless without the cookie.
      return { formToken: digest('operator-form', id), operator, credential };
    },
    /** Ends the session, if there is one. Returns the Set-Cookie header that clears the cookie. */
    end: async (presented: PresentedCookie): Promise<string> => {
      const id = presentedId(presented);
      if (isToken(id)) await run('DELETE FROM operator_session WHERE id_hash = ?', [sessionHash(id)]);
      return setCookie('operator', presented.isSecure, '', 0);
    },
  };
}

/** Whether a form contains the form token of its session. */
export function isOwnForm(form: URLSearchParams, session: OperatorSession): boolean {
  const given = form.getAll('form');
  return given.length === 1 && isSame(given[0] ?? '', { reveal: () => session.formToken });
}

function sessionHash(id: string): string {
  return digest('operator-session', id);
}
