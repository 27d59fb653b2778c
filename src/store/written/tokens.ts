/** API tokens, stored as hashes. */

import type { PageKey } from '../../model/slugs.ts';
import type { EpochMs } from '../../model/time.ts';
import type { Database } from '../database.ts';
import { instant, json, orNull, type RowOf, table, text } from '../table.ts';

export const API_SCOPES = ['incidents', 'components', 'subscribers', 'read'] as const;
/**
 * What a token may do on its page: write incidents; create and override components; see and change subscribers. Every
 * token may read.
 */
export type ApiScope = (typeof API_SCOPES)[number];

const TOKENS = table('api_token', {
  id: text(),
  name: text(),
  scopes: json<readonly ApiScope[]>((stored) => {
    const scopes: unknown = JSON.parse(stored);
    return API_SCOPES.filter((scope) => Array.isArray(scopes) && scopes.includes(scope));
  }),
  page: text<PageKey>(),
  createdAt: instant(),
  /** Null: never. */
  expiresAt: orNull(instant()),
  /** Null: still valid. */
  revokedAt: orNull(instant()),
});
export type ApiToken = RowOf<typeof TOKENS>;

export type ApiTokens = ReturnType<typeof createApiTokens>;

export function createApiTokens(database: Database) {
  const findBy = async (column: 'hash' | 'id', value: string): Promise<ApiToken | null> => {
    const [row] = await database.all(`SELECT * FROM api_token WHERE ${column} = ?`, [value]);
    return row === undefined ? null : TOKENS.read(row);
  };
  return {
    create: (token: ApiToken, hash: string) => database.transaction((tx) => TOKENS.insert(tx, [token], { hash })),
    /** By hash, even if expired or revoked; null: there never was such a token. */
    find: (hash: string) => findBy('hash', hash),
    findById: (id: string) => findBy('id', id),
    /** Newest first. */
    list: async () => (await database.all('SELECT * FROM api_token ORDER BY created_at DESC, id')).map(TOKENS.read),
    /** False: no valid token has this id. */
    revoke: async (id: string, at: EpochMs) =>
      (await database.transaction((tx) =>
        tx.run('UPDATE api_token SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL', [at, id]),
      )) > 0,
  };
}

export function isInForce({ revokedAt, expiresAt }: ApiToken, now: EpochMs): boolean {
  return revokedAt === null && (expiresAt === null || expiresAt > now);
}
