/** Who a Cookie header stands for. While the store cannot be asked, who was in stays in, and nobody new gets in. */

import { LRUCache } from 'lru-cache';
import type { EpochMs } from '../../model/time.ts';
import { type Access, NOBODY, type Principal } from '../access.ts';
import { readCookie } from '../cookies.ts';
import { isToken } from '../digest.ts';
import type { Gates } from '../gate/gates.ts';
import type { PresentedSession, Sessions } from './sessions.ts';

/** The longest that a session is believed without the store; by the instants handed in, since a cache reads a clock of its own. */
const BELIEVED_MS_MAX = 15 * 60_000;
const SESSIONS_MAX = 10_000;

interface PrincipalsOptions {
  readonly sessions: Sessions;
  readonly gates: Gates;
  readonly onError: (error: unknown, where: string) => void;
}

interface Principals {
  readonly principalOf: Access['principalOf'];
  readonly end: (presented: PresentedSession) => Promise<void>;
}

export function createPrincipals({ sessions, gates, onError }: PrincipalsOptions): Principals {
  const seen = new LRUCache<string, { readonly principal: Principal; readonly at: EpochMs }>({ max: SESSIONS_MAX });

  function note(id: string, principal: Principal, at: EpochMs): void {
    if (principal.sessions.size === 0) seen.delete(id);
    else seen.set(id, { principal, at });
  }

  /** What was last known of a session, unless that is too long ago. */
  function recall(id: string, now: EpochMs): Principal {
    const known = seen.get(id);
    return known === undefined || now - known.at > BELIEVED_MS_MAX ? NOBODY : known.principal;
  }

  /** A session of the store's gate that this process does not know: begun on another node, or after a restore. */
  function isOfAnotherVersion(slug: string, version: string): boolean {
    const gate = gates.find(slug)?.gated.gate;
    return gate !== undefined && gate.kind !== 'public' && gate.version !== version;
  }

  return {
    principalOf: async (cookie, at) => {
      const secureId = readCookie(cookie, 'session', true);
      const id = secureId ?? readCookie(cookie, 'session', false);
      if (!isToken(id)) return NOBODY;
      try {
        const principal = { sessions: await sessions.grantsOf({ id, isSecure: secureId !== null }, at) };
        for (const [page, version] of principal.sessions) {
          const slug = gates.slugOf(page);
          if (slug !== null && isOfAnotherVersion(slug, version)) await gates.current(slug);
        }
        note(id, principal, at);
        return principal;
      } catch (error) {
        onError(error, 'session');
        return recall(id, at);
      }
    },
    end: async (presented) => {
      seen.delete(presented.id ?? '');
      await sessions.end(presented);
    },
  };
}
