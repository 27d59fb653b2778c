/** Sessions in the store: one random id in one cookie covers every page a browser has signed in to. */

import { LRUCache } from 'lru-cache';
import type { PageKey } from '../model/slugs.ts';
import { DAY_MS, type EpochMs, MINUTE_MS } from '../model/time.ts';
import type { Database, Writer } from '../store/database.ts';
import { type GatedPage, type GateRequest, NOBODY, type Principal } from './access.ts';
import { readCookie } from './cookies.ts';
import { digest, isToken, newToken, type RandomBytes } from './digest.ts';
import type { Gates } from './gate/gates.ts';
import type { StoredGate } from './gate/stored-gate.ts';
import { isAllowed, type Oidc } from './oidc/oidc.ts';

/** A session ends after this time even if it is in use; `sessionHours` limits how long it may be idle. */
export const SESSION_MAX_MS = 7 * DAY_MS;
/** Precision of the idle limit, so that a busy session is not written with every request. */
const SESSION_TOUCH_MS = MINUTE_MS;

/** The cookie's value, and whether it had the `__Host-` name. */
export interface PresentedSession {
  readonly id: string | null;
  readonly isSecure: boolean;
}

interface Grant {
  readonly version: string;
  /** Identity from an identity provider; null: signed in otherwise. */
  readonly identity: string | null;
}

/** For errors in background work. */
type OnError = (error: unknown, where: string) => void;

export type Sessions = ReturnType<typeof createSessions>;

/** @param idleMs a session unused for this long ends */
export function createSessions(database: Database, random: RandomBytes, idleMs: number, onError: OnError) {
  function touch(idHash: string, now: EpochMs): void {
    if (database.isReadOnly) return;
    database
      .transaction((tx) =>
        tx.run('UPDATE access_session SET seen_at = ? WHERE id_hash = ? AND seen_at < ?', [now, idHash, now]),
      )
      .catch((error: unknown) => onError(error, 'session'));
  }

  return {
    /** The pages that a session is signed in to, where gate and store still agree. */
    findGrants: async ({ id, isSecure }: PresentedSession, now: EpochMs): Promise<ReadonlyMap<PageKey, Grant>> => {
      if (!isToken(id)) return new Map();
      const idHash = digest('session', id);
      const rows = await database.all(
        `SELECT access_grant.page, access_grant.version, access_grant.identity, seen_at FROM access_session
         JOIN access_grant ON access_grant.session = id_hash
         JOIN access_gate ON access_gate.page = access_grant.page AND access_gate.version = access_grant.version
         WHERE id_hash = ? AND is_secure = ? AND seen_at > ? AND until_at > ?`,
        [idHash, Number(isSecure), now - idleMs, now],
      );
      if (rows.some((row) => now - Number(row['seen_at']) >= Math.min(SESSION_TOUCH_MS, idleMs / 4)))
        touch(idHash, now);
      return new Map(
        rows.map((row) => [
          String(row['page']) as PageKey,
          { version: String(row['version']), identity: row['identity'] === null ? null : String(row['identity']) },
        ]),
      );
    },
    /** Begins a session with a new id that takes over the old one's pages, and ends the old one. */
    begin: async (tx: Writer, presented: PresentedSession, grant: Grant & { readonly page: PageKey }, now: EpochMs) => {
      const id = newToken(random);
      const idHash = digest('session', id);
      const { page, version, identity } = grant;
      const isSecure = Number(presented.isSecure);
      const session = [idHash, isSecure, now];
      await tx.run('INSERT INTO access_session (id_hash, is_secure, seen_at) VALUES (?, ?, ?)', session);
      if (isToken(presented.id)) {
        const old = digest('session', presented.id);
        // Grants keep their end: signing in to one page does not extend another.
        await tx.run(
          `UPDATE access_grant SET session = ? WHERE session IN
             (SELECT id_hash FROM access_session WHERE id_hash = ? AND is_secure = ? AND seen_at > ?)`,
          [idHash, old, isSecure, now - idleMs],
        );
        await erase(tx, old);
      }
      await tx.run('DELETE FROM access_grant WHERE session = ? AND page = ?', [idHash, page]);
      const values = [idHash, page, version, identity, now + SESSION_MAX_MS];
      await tx.run(
        'INSERT INTO access_grant (session, page, version, identity, until_at) VALUES (?, ?, ?, ?, ?)',
        values,
      );
      return id;
    },
    end: async ({ id }: PresentedSession) => {
      if (!isToken(id)) return;
      const idHash = digest('session', id);
      await database.transaction((tx) => erase(tx, idHash));
    },
    /** Deletes idle sessions, expired grants, and gates of removed pages. */
    forgetExpired: async (tx: Writer, now: EpochMs) => {
      // In that time, nodes that still define a page take it back.
      const ended = 'SELECT key FROM page WHERE ended_at < ?';
      for (const table of ['access_gate', 'access_grant'])
        await tx.run(`DELETE FROM ${table} WHERE page IN (${ended})`, [now - MINUTE_MS]);
      await tx.run('DELETE FROM access_session WHERE seen_at <= ?', [now - idleMs]);
      await tx.run('DELETE FROM access_grant WHERE until_at <= ?', [now]);
      await tx.run('DELETE FROM access_grant WHERE session NOT IN (SELECT id_hash FROM access_session)');
      await tx.run('DELETE FROM access_session WHERE id_hash NOT IN (SELECT session FROM access_grant)');
    },
  };
}

async function erase(tx: Writer, idHash: string): Promise<void> {
  await tx.run('DELETE FROM access_grant WHERE session = ?', [idHash]);
  await tx.run('DELETE FROM access_session WHERE id_hash = ?', [idHash]);
}

// Finds the principal of a request. While the store is unavailable, known sessions stay valid, and nobody new is let
// in.

/**
 * How long a session stays valid without the store, by the instants passed in, because the cache has a clock of its
 * own.
 */
const BELIEVED_MS_MAX = 15 * 60_000;
const SESSIONS_MAX = 10_000;
/**
 * For so long, requests of a session share an answer of the store. So a sign-out in another process applies here as soon
 * as a page that is closed there; one in this process applies at once.
 */
const SHARED_MS = 250;
/** Many times longer than a change takes to reach all processes. */
const CLOSED_ELSEWHERE_MS = 5_000;

export function createPrincipals(sessions: Sessions, gates: Gates, oidc: Oidc, onError: OnError) {
  const seen = new LRUCache<string, { granted: Principal['sessions']; at: EpochMs; sharedMs: number }>({
    max: SESSIONS_MAX,
  });
  /** What was asked for before the latest of these is not remembered. */
  let signOuts = 0;

  /**
   * When a page's gate was first found missing in the store: another process removed it, which this one will learn
   * soon, or the store lost it.
   */
  const missing = new WeakMap<GatedPage, EpochMs>();

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

  async function grantsOf(session: PresentedSession, at: EpochMs): Promise<Principal['sessions']> {
    const before = signOuts;
    const granted = new Map<PageKey, string>();
    const found = await sessions.findGrants(session, at);
    for (const [page, { version, identity }] of found)
      if (identity === null || (await isStillAllowed(page, identity, at))) granted.set(page, version);
    for (const [page, version] of granted) {
      const slug = gates.slugOf(page);
      if (slug !== null && isOfAnotherVersion(slug, version)) await gates.current(slug);
    }
    const hasIdentity = found.values().some(({ identity }) => identity !== null);
    if (granted.size === 0) seen.delete(keyOf(session));
    else if (signOuts === before)
      // With an identity, its provider can end it at any moment.
      seen.set(keyOf(session), { granted, at, sharedMs: hasIdentity ? 0 : SHARED_MS });
    return granted;
  }

  async function look(slug: string, session: PresentedSession, address: string, at: EpochMs): Promise<Principal> {
    const near = await openedByAddress(slug, address, at);
    if (!isToken(session.id)) return { address, sessions: near };
    const granted = await grantsOf(session, at).catch((error: unknown) => {
      onError(error, 'session');
      const known = seen.get(keyOf(session));
      return known === undefined || at - known.at > BELIEVED_MS_MAX ? NOBODY.sessions : known.granted;
    });
    return { address, sessions: new Map([...granted, ...near]) };
  }

  return {
    /**
     * Finds out who sent a request, from its address and the session in its Cookie header. If the store fails, nobody
     * new is let in. Without a promise if the same session was looked up a moment ago.
     */
    principalOf: (request: Pick<GateRequest, 'slug' | 'cookie' | 'clientAddress' | 'now'>) => {
      const { slug, cookie, clientAddress: address, now } = request;
      const secureId = readCookie(cookie, 'session', true);
      const session = { id: secureId ?? readCookie(cookie, 'session', false), isSecure: secureId !== null };
      const page = gates.find(slug)?.gated;
      const known = seen.get(keyOf(session));
      const isRecent = known !== undefined && now >= known.at && now - known.at < known.sharedMs;
      const isOpenAnyway = page !== undefined && isEnough(page, address);
      return isRecent && !isOpenAnyway ? { address, sessions: known.granted } : look(slug, session, address, now);
    },
    end: async (session: PresentedSession) => {
      signOuts += 1;
      seen.delete(keyOf(session));
      await sessions.end(session);
      // Requests may have asked in the meantime.
      signOuts += 1;
      seen.delete(keyOf(session));
    },
  };
}

/** A session that was begun under one name of the cookie isn't found under the other. */
function keyOf({ id, isSecure }: PresentedSession): string {
  return `${isSecure ? 's' : 'p'}${id}`;
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
