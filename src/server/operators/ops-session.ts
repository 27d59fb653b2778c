/** Sessions of operators. A token or an identity is exchanged for a cookie that lasts one working day at most. */

import { readCookie, setCookie } from '../../access/cookies.ts';
import { digest, isToken, newToken, type RandomBytes } from '../../access/digest.ts';
import { type EpochMs, HOUR_MS, MINUTE_MS, toEpochMs } from '../../model/time.ts';
import type { Database, SqlValue } from '../../store/database.ts';
import { flag, instant, table, text } from '../../store/table.ts';
import { isSame, type Operator, type OperatorToken } from './operator.ts';

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

interface OperatorSessionOptions {
  readonly database: Database;
  /** Operators with a token in the configuration. */
  readonly tokens: () => readonly OperatorToken[];
  /** The operator behind an API token or an identity; null: no longer valid. */
  readonly resolve: (credential: string, now: EpochMs) => Promise<Operator | null>;
  readonly random: RandomBytes;
}

export type OperatorSessionService = ReturnType<typeof createOperatorSessionService>;

/** Creates the service. Each request looks up the operator and their role, so removing a role takes effect at once. */
export function createOperatorSessionService({ database, tokens, resolve, random }: OperatorSessionOptions) {
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
      return setCookie({ role: 'operator', isSecure, value: id, maxAgeSeconds: LIFE_MS / 1_000 });
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
      return setCookie({ role: 'operator', isSecure: presented.isSecure, value: '', maxAgeSeconds: 0 });
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
