/** Sessions of operators: the token is sent once and exchanged for a cookie that lasts for a working day at most. */

import { readCookie, setCookie } from '../../access/cookies.ts';
import { digest, isToken, newToken, type RandomBytes, type Revealing } from '../../access/digest.ts';
import { type EpochMs, HOUR_MS, MINUTE_MS, toEpochMs } from '../../model/time.ts';
import type { OperatorSessions } from '../../store/operator-sessions.ts';
import { isSame } from './ops-guard.ts';

/** A session ends after this time, and after an hour without requests. */
const LIFE_MS = 8 * HOUR_MS;
const IDLE_MS = HOUR_MS;
/** The last use of a session is stored only this often. */
const TOUCH_MS = MINUTE_MS;

/** A session that is alive. */
export interface OperatorSession {
  /** Goes with every form, and is worth nothing without the cookie. */
  readonly formToken: string;
}

/** The cookie as it came, and the name it must have come under. */
export interface PresentedCookie {
  readonly cookie: string | null;
  readonly isSecure: boolean;
  readonly now: EpochMs;
}

export interface OperatorSessionService {
  /** Begins a session; the Set-Cookie header for it. The caller has checked the operator token. */
  readonly begin: (presented: PresentedCookie) => Promise<string>;
  /** Null: nobody is signed in by this cookie, or with a token that is no longer the configured one. */
  readonly find: (presented: PresentedCookie) => Promise<OperatorSession | null>;
  /** Ends the session, if there is one; the Set-Cookie header that clears the cookie. */
  readonly end: (presented: PresentedCookie) => Promise<string>;
}

interface OperatorSessionOptions {
  readonly sessions: OperatorSessions;
  readonly token: () => Revealing | null;
  readonly random: RandomBytes;
}

/** Makes the service. Another operator token ends every session. */
export function createOperatorSessionService({
  sessions,
  token,
  random,
}: OperatorSessionOptions): OperatorSessionService {
  // The id is in it, which is stored nowhere: from the fingerprint alone no token can be guessed.
  const tokenFingerprintFor = (id: string): string | null => {
    const secret = token();
    return secret === null ? null : digest('operator-token', secret.reveal(), id);
  };
  const presentedId = ({ cookie, isSecure }: PresentedCookie): string | null =>
    readCookie(cookie, 'operator', isSecure);

  return {
    begin: async ({ isSecure, now }) => {
      const id = newToken(random);
      await sessions.forget(now, toEpochMs(now - IDLE_MS));
      await sessions.begin({
        idHash: sessionHash(id),
        isSecure,
        tokenFingerprint: tokenFingerprintFor(id) ?? '',
        seenAt: now,
        untilAt: toEpochMs(now + LIFE_MS),
      });
      return setCookie({ role: 'operator', isSecure, value: id, maxAgeSeconds: LIFE_MS / 1_000 });
    },
    find: async (presented) => {
      const id = presentedId(presented);
      if (!isToken(id)) return null;
      const { now, isSecure } = presented;
      const session = await sessions.find(sessionHash(id));
      if (session === null || session.isSecure !== isSecure) return null;
      if (session.untilAt <= now || session.seenAt <= now - IDLE_MS) return null;
      const fingerprint = tokenFingerprintFor(id);
      if (fingerprint === null || fingerprint !== session.tokenFingerprint) return null;
      if (now - session.seenAt >= TOUCH_MS) await sessions.touch(session.idHash, now);
      return { formToken: digest('operator-form', id) };
    },
    end: async (presented) => {
      const id = presentedId(presented);
      if (isToken(id)) await sessions.end(sessionHash(id));
      return setCookie({ role: 'operator', isSecure: presented.isSecure, value: '', maxAgeSeconds: 0 });
    },
  };
}

/** Whether a form carries the token of the session that it is sent with. */
export function isOwnForm(form: URLSearchParams, session: OperatorSession): boolean {
  const given = form.getAll('form');
  return given.length === 1 && isSame(given[0] ?? '', { reveal: () => session.formToken });
}

function sessionHash(id: string): string {
  return digest('operator-session', id);
}
