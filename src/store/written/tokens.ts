/** API tokens, stored as hashes. */

import type { PageKey } from '../../model/slugs.ts';
import type { EpochMs } from '../../model/time.ts';
import type { Database, Row } from '../database.ts';
import { parseInstant } from '../rows.ts';

export const API_SCOPES = ['incidents', 'components', 'subscribers', 'read'] as const;
/**
 * What a token may do on its page: write incidents; create and override components; see and change subscribers. Every
 * token may read.
 */
export type ApiScope = (typeof API_SCOPES)[number];

export interface ApiToken {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly ApiScope[];
  readonly page: PageKey;
  readonly createdAt: EpochMs;
  /** Null: never. */
  readonly expiresAt: EpochMs | null;
  /** Null: still valid. */
  readonly revokedAt: EpochMs | null;
}

export interface ApiTokens {
  readonly create: (token: ApiToken, hash: string) => Promise<void>;
  /** By hash, even if expired or revoked; null: there never was such a token. */
  readonly find: (hash: string) => Promise<ApiToken | null>;
  readonly findById: (id: string) => Promise<ApiToken | null>;
  /** Newest first. */
  readonly list: () => Promise<readonly ApiToken[]>;
  /** False: no valid token has this id. */
  readonly revoke: (id: string, at: EpochMs) => Promise<boolean>;
}

export function createApiTokens(database: Database): ApiTokens {
  return {
    create: async ({ id, name, scopes, page, createdAt, expiresAt }, hash) => {
      await database.transaction((tx) =>
        tx.run(
          'INSERT INTO api_token (id, name, hash, scopes, page, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
          [id, name, hash, JSON.stringify(scopes), page, createdAt, expiresAt],
        ),
      );
    },
    find: async (hash) => {
      const [row] = await database.all('SELECT * FROM api_token WHERE hash = ?', [hash]);
      return row === undefined ? null : toToken(row);
    },
    findById: async (id) => {
      const [row] = await database.all('SELECT * FROM api_token WHERE id = ?', [id]);
      return row === undefined ? null : toToken(row);
    },
    list: async () => (await database.all('SELECT * FROM api_token ORDER BY created_at DESC, id')).map(toToken),
    revoke: async (id, at) =>
      (await database.transaction((tx) =>
        tx.run('UPDATE api_token SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL', [at, id]),
      )) > 0,
  };
}

function toToken(row: Row): ApiToken {
  const scopes: unknown = JSON.parse(String(row['scopes']));
  return {
    id: String(row['id']),
    name: String(row['name']),
    scopes: API_SCOPES.filter((scope) => Array.isArray(scopes) && scopes.includes(scope)),
    page: String(row['page']) as PageKey,
    createdAt: parseInstant(row['created_at']) ?? (0 as EpochMs),
    expiresAt: parseInstant(row['expires_at']),
    revokedAt: parseInstant(row['revoked_at']),
  };
}

export function isInForce({ revokedAt, expiresAt }: ApiToken, now: EpochMs): boolean {
  return revokedAt === null && (expiresAt === null || expiresAt > now);
}
