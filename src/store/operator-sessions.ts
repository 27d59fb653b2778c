/** Sessions of operators, found by the hash of their id. */

import type { EpochMs } from '../model/time.ts';
import type { Database, SqlValue } from './database.ts';
import { flag, instant, type RowOf, table, text } from './table.ts';

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

export type OperatorSessions = ReturnType<typeof createOperatorSessions>;

export function createOperatorSessions(database: Database) {
  const run = async (sql: string, params: readonly SqlValue[]): Promise<void> => {
    await database.transaction((tx) => tx.run(sql, params));
  };
  return {
    begin: (session: RowOf<typeof SESSIONS>) => database.transaction((tx) => SESSIONS.insert(tx, [session])),
    find: async (idHash: string): Promise<RowOf<typeof SESSIONS> | null> => {
      const [row] = await database.all('SELECT * FROM operator_session WHERE id_hash = ?', [idHash]);
      return row === undefined ? null : SESSIONS.read(row);
    },
    touch: (idHash: string, seenAt: EpochMs) =>
      run('UPDATE operator_session SET seen_at = ? WHERE id_hash = ? AND seen_at < ?', [seenAt, idHash, seenAt]),
    end: (idHash: string) => run('DELETE FROM operator_session WHERE id_hash = ?', [idHash]),
    /** Deletes expired sessions, and those not used since `seenBefore`. */
    forget: (now: EpochMs, seenBefore: EpochMs) =>
      run('DELETE FROM operator_session WHERE until_at <= ? OR seen_at <= ?', [now, seenBefore]),
  };
}
