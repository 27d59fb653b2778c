/** Sessions seen lately, for the time that the store cannot be asked: who was in stays in, nobody new gets in. */

import type { EpochMs } from '../../model/time.ts';
import type { Principal } from '../access.ts';

/** The longest that a session is believed without the store. */
const BELIEVED_MS_MAX = 15 * 60_000;
const SESSIONS_MAX = 10_000;

export interface SessionMemory {
  readonly note: (id: string, principal: Principal, now: EpochMs) => void;
  /** What was last known of a session; null when that is too long ago. */
  readonly recall: (id: string, now: EpochMs) => Principal | null;
  readonly forget: (id: string) => void;
}

export function createSessionMemory(): SessionMemory {
  const seen = new Map<string, { readonly principal: Principal; readonly at: EpochMs }>();
  return {
    note: (id, principal, now) => {
      seen.delete(id);
      if (principal.sessions.size === 0) return;
      seen.set(id, { principal, at: now });
      const [oldest] = seen.keys();
      if (seen.size > SESSIONS_MAX && oldest !== undefined) seen.delete(oldest);
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
