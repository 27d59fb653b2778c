/** Sessions of operators, found by the hash of their id. */

import type { EpochMs } from '../model/time.ts';
import type { Database } from './database.ts';

interface OperatorSession {
  readonly idHash: string;
  /** Created under a `__Host-` cookie, and valid under no other. */
  readonly isSecure: boolean;
  /** The credential it was exchanged for: `operator`, `named:<name>`, `api:<id>` or `oidc:<identity>`. */
  readonly credential: string;
  /** Fingerprint of the configured token: changing the token ends the session. Empty: it was not a configured token. */
  readonly tokenFingerprint: string;
  readonly seenAt: EpochMs;
  readonly untilAt: EpochMs;
}

export interface OperatorSessions {
  readonly begin: (session: OperatorSession) => Promise<void>;
  readonly find: (idHash: string) => Promise<OperatorSession | null>;
  readonly touch: (idHash: string, seenAt: EpochMs) => Promise<void>;
  readonly end: (idHash: string) => Promise<void>;
  /** Deletes expired sessions, and those not used since `seenBefore`. */
  readonly forget: (now: EpochMs, seenBefore: EpochMs) => Promise<void>;
}

export function createOperatorSessions(database: Database): OperatorSessions {
  return {
    begin: async ({ idHash, isSecure, credential, tokenFingerprint, seenAt, untilAt }) => {
      await database.transaction((tx) =>
        tx.run(
          'INSERT INTO operator_session (id_hash, is_secure, credential, token_fingerprint, seen_at, until_at) VALUES (?, ?, ?, ?, ?, ?)',
          [idHash, Number(isSecure), credential, tokenFingerprint, seenAt, untilAt],
        ),
      );
    },
    find: async (idHash) => {
      const [row] = await database.all('SELECT * FROM operator_session WHERE id_hash = ?', [idHash]);
      if (row === undefined) return null;
      return {
        idHash,
        isSecure: Number(row['is_secure']) === 1,
        credential: String(row['credential']),
        tokenFingerprint: String(row['token_fingerprint']),
        seenAt: Number(row['seen_at']) as EpochMs,
        untilAt: Number(row['until_at']) as EpochMs,
      };
    },
    touch: async (idHash, seenAt) => {
      await database.transaction((tx) =>
        tx.run('UPDATE operator_session SET seen_at = ? WHERE id_hash = ? AND seen_at < ?', [seenAt, idHash, seenAt]),
      );
    },
    end: async (idHash) => {
      await database.transaction((tx) => tx.run('DELETE FROM operator_session WHERE id_hash = ?', [idHash]));
    },
    forget: async (now, seenBefore) => {
      await database.transaction((tx) =>
        tx.run('DELETE FROM operator_session WHERE until_at <= ? OR seen_at <= ?', [now, seenBefore]),
      );
    },
  };
}
