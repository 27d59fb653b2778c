/** Sessions seen lately, for the time that the store cannot be asked: who was in stays in, nobody new gets in. */

import { LRUCache } from 'lru-cache';
import type { EpochMs } from '../../model/time.ts';
import type { Principal } from '../access.ts';

/** The longest that a session is believed without the store; by the instants handed in, since a cache reads a clock of its own. */
const BELIEVED_MS_MAX = 15 * 60_000;
const SESSIONS_MAX = 10_000;

interface SessionMemory {
  readonly note: (id: string, principal: Principal, now: EpochMs) => void;
  /** What was last known of a session; null when that is too long ago. */
  readonly recall: (id: string, now: EpochMs) => Principal | null;
  readonly forget: (id: string) => void;
}

export function createSessionMemory(): SessionMemory {
  const seen = new LRUCache<string, { readonly principal: Principal; readonly at: EpochMs }>({ max: SESSIONS_MAX });
  return {
    note: (id, principal, now) => {
      if (principal.sessions.size === 0) seen.delete(id);
      else seen.set(id, { principal, at: now });
    },
    recall: (id, now) => {
      const known = seen.get(id);
      return known === undefined || now - known.at > BELIEVED_MS_MAX ? null : known.principal;
    },
    forget: (id) => {
      seen.delete(id);
    },
  };
}
