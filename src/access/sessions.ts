/** Sessions in the store: one random id in one cookie covers every page a browser has signed in to. */

import type { PageKey } from '../model/slugs.ts';
import type { EpochMs } from '../model/time.ts';
import type { Database, Writer } from '../store/database.ts';
import { digest, isToken, newToken, type RandomBytes } from './digest.ts';
import { SESSION_MAX_MS, SESSION_TOUCH_MS } from './limits.ts';

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

interface SessionOptions {
  readonly database: Database;
  readonly random: RandomBytes;
  /** A session unused for this long ends. */
  readonly idleMs: number;
  /** For errors in background work. */
  readonly onError: (error: unknown, where: string) => void;
}

export type Sessions = ReturnType<typeof createSessions>;

export function createSessions({ database, random, idleMs, onError }: SessionOptions) {
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
    /** Deletes idle sessions and expired grants. */
    forgetExpired: async (tx: Writer, now: EpochMs) => {
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
