/**
 * Finds the principal of a request. While the store is unavailable, known sessions stay valid, and nobody new is let
 * in.
 */

import { LRUCache } from 'lru-cache';
import type { PageKey } from '../../model/slugs.ts';
import type { EpochMs } from '../../model/time.ts';
import { type Access, type GatedPage, NOBODY, type Principal } from '../access.ts';
import { readCookie } from '../cookies.ts';
import { isToken } from '../digest.ts';
import type { Gates } from '../gate/gates.ts';
import type { StoredGate } from '../gate/stored-gate.ts';
import type { Oidc } from '../oidc/oidc.ts';
import { isAllowed } from '../oidc/sign-in-oidc.ts';
import type { PresentedSession, Sessions } from './sessions.ts';

/**
 * How long a session stays valid without the store, by the instants passed in, because the cache has a clock of its
 * own.
 */
const BELIEVED_MS_MAX = 15 * 60_000;
const SESSIONS_MAX = 10_000;
/** Many times longer than a change takes to reach all processes. */
const CLOSED_ELSEWHERE_MS = 5_000;

interface PrincipalsOptions {
  readonly sessions: Sessions;
  readonly gates: Gates;
  readonly oidc: Oidc;
  readonly onError: (error: unknown, where: string) => void;
}

interface Principals {
  readonly principalOf: Access['principalOf'];
  readonly end: (presented: PresentedSession) => Promise<void>;
}

export function createPrincipals({ sessions, gates, oidc, onError }: PrincipalsOptions): Principals {
  const seen = new LRUCache<string, { readonly granted: Principal['sessions']; readonly at: EpochMs }>({
    max: SESSIONS_MAX,
  });

  /**
   * When a page's gate was first found missing in the store: another process removed it, which this one will learn
   * soon, or the store lost it.
   */
  const missing = new WeakMap<GatedPage, EpochMs>();

  function note(id: string, granted: Principal['sessions'], at: EpochMs): void {
    if (granted.size === 0) seen.delete(id);
    else seen.set(id, { granted, at });
  }

  /** The last known grants of a session, unless they are too old. */
  function recall(id: string, now: EpochMs): Principal['sessions'] {
    const known = seen.get(id);
    return known === undefined || now - known.at > BELIEVED_MS_MAX ? NOBODY.sessions : known.granted;
  }

  /** Whether a session's gate version is unknown to this process: from another node, or after a restore. */
  function isOfAnotherVersion(slug: string, version: string): boolean {
    const gate = gates.find(slug)?.gated.gate;
    return gate !== undefined && gate.kind !== 'public' && gate.version !== version;
  }

  async function isStillAllowed(page: PageKey, identity: string, at: EpochMs): Promise<boolean> {
    const person = await oidc.identities.current(oidc.client('visitors'), identity, at);
    const slug = gates.slugOf(page);
    const known = slug === null ? null : gates.find(slug);
    return person !== null && known !== null && isAllowed(known.page, person);
  }

  /** The page, if this address is enough for its gate and for the stored gate. */
  async function openedByAddress(slug: string, address: string, at: EpochMs): Promise<Principal['sessions']> {
    const known = gates.find(slug)?.gated;
    if (known === undefined || !isEnough(known, address)) return NOBODY.sessions;
    try {
      if (await gates.isStored(slug)) missing.delete(known);
      else if (at - missing.getOrInsert(known, at) < CLOSED_ELSEWHERE_MS) return NOBODY.sessions;
      const current = await gates.current(slug);
      const isSame = current !== null && isEnough(current.gated, address) && isOfVersion(current.gated, current.stored);
      return isSame ? versionOf(current.gated) : NOBODY.sessions;
    } catch (error) {
      onError(error, 'session');
      return versionOf(known);
    }
  }

  return {
    principalOf: async ({ slug: asked, cookie, clientAddress: address, now: at }) => {
      const near = await openedByAddress(asked, address, at);
      const secureId = readCookie(cookie, 'session', true);
      const id = secureId ?? readCookie(cookie, 'session', false);
      if (!isToken(id)) return { address, sessions: near };
      try {
        const granted = new Map<PageKey, string>();
        for (const [page, { version, identity }] of await sessions.findGrants({ id, isSecure: secureId !== null }, at))
          if (identity === null || (await isStillAllowed(page, identity, at))) granted.set(page, version);
        for (const [page, version] of granted) {
          const slug = gates.slugOf(page);
          if (slug !== null && isOfAnotherVersion(slug, version)) await gates.current(slug);
        }
        note(id, granted, at);
        return { address, sessions: new Map([...granted, ...near]) };
      } catch (error) {
        onError(error, 'session');
        return { address, sessions: new Map([...recall(id, at), ...near]) };
      }
    },
    end: async (presented) => {
      seen.delete(presented.id ?? '');
      await sessions.end(presented);
    },
  };
}

function isEnough({ gate }: GatedPage, address: string): boolean {
  return gate.kind !== 'public' && gate.addresses?.isEnough === true && gate.addresses.includes(address);
}

function isOfVersion({ gate }: GatedPage, stored: StoredGate | null): boolean {
  return gate.kind !== 'public' && gate.version === stored?.version;
}

function versionOf({ key, gate }: GatedPage): Principal['sessions'] {
  return gate.kind === 'public' ? NOBODY.sessions : new Map([[key, gate.version]]);
}
