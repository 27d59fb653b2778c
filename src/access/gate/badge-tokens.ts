/** Tokens that open the badges of a gated page, and nothing else, for a README or a dashboard. */

import type { PageKey } from '../../model/slugs.ts';
import { type EpochMs, toEpochMs } from '../../model/time.ts';
import type { Database } from '../../store/database.ts';
import { digest, isToken, newToken, type RandomBytes, systemRandom } from '../digest.ts';

const REVOKE_ONE = 'DELETE FROM access_badge_token WHERE page = ? AND (id = ? OR token_hash = ?)';

export function createBadgeTokens(database: Database, random: RandomBytes = systemRandom) {
  return {
    /** Creates a token of 256 bits. `token` is returned only here; the store keeps its hash. */
    create: async (page: PageKey, now: EpochMs) => {
      const token = newToken(random);
      /** For lists and for revoking; opens nothing. */
      const id = Buffer.from(random(6)).toString('hex');
      const sql = 'INSERT INTO access_badge_token (id, page, token_hash, created_at) VALUES (?, ?, ?, ?)';
      await database.transaction((tx) => tx.run(sql, [id, page, digest('badge', token), now]));
      return { id, page, createdAt: now, token };
    },
    /** Oldest first; of one page, or of all. */
    list: async (page?: PageKey) => {
      const [where, values] = page === undefined ? ['', []] : ['WHERE page = ?', [page]];
      const sql = `SELECT id, page, created_at FROM access_badge_token ${where} ORDER BY created_at, id`;
      const rows = await database.all(sql, values);
      return rows.map((row) => ({
        id: String(row['id']),
        page: String(row['page']) as PageKey,
        createdAt: toEpochMs(Number(row['created_at'])),
      }));
    },
    /** Revokes a token by its id or its value, or all tokens of the page; returns how many were revoked. */
    revoke: (page: PageKey, which?: string): Promise<number> =>
      database.transaction((tx) =>
        which === undefined
          ? tx.run('DELETE FROM access_badge_token WHERE page = ?', [page])
          : tx.run(REVOKE_ONE, [page, which, digest('badge', which)]),
      ),
    allows: async (page: PageKey, token: string): Promise<boolean> => {
      if (!isToken(token)) return false;
      const sql = 'SELECT 1 AS found FROM access_badge_token WHERE page = ? AND token_hash = ?';
      return (await database.all(sql, [page, digest('badge', token)])).length > 0;
    },
  };
}
