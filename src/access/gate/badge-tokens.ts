/** Tokens that open the badges of a gated page, and nothing else, for a README or a dashboard. */

import type { PageKey } from '../../model/slugs.ts';
import { type EpochMs, toEpochMs } from '../../model/time.ts';
import type { Database } from '../../store/database.ts';
import { digest, isToken, newToken, type RandomBytes, systemRandom } from '../digest.ts';

interface BadgeToken {
  /** For lists and for revoking; opens nothing. */
  readonly id: string;
  readonly page: PageKey;
  readonly createdAt: EpochMs;
}

export function createBadgeTokens(database: Database, random: RandomBytes = systemRandom) {
  return {
    /** Creates a token of 256 bits. `token` is returned only here; the store keeps its hash. */
    create: async (page: PageKey, now: EpochMs): Promise<BadgeToken & { readonly token: string }> => {
      const token = newToken(random);
      const id = Buffer.from(random(6)).toString('hex');
      await database.transaction((tx) =>
        tx.run('INSERT INTO access_badge_token (id, page, token_hash, created_at) VALUES (?, ?, ?, ?)', [
          id,
          page,
          digest('badge', token),
          now,
        ]),
      );
      return { id, page, createdAt: now, token };
    },
    /** Oldest first; of one page, or of all. */
    list: async (page?: PageKey): Promise<readonly BadgeToken[]> => {
      const order = 'ORDER BY created_at, id';
      const rows =
        page === undefined
          ? await database.all(`SELECT id, page, created_at FROM access_badge_token ${order}`)
          : await database.all(`SELECT id, page, created_at FROM access_badge_token WHERE page = ? ${order}`, [page]);
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
          : tx.run('DELETE FROM access_badge_token WHERE page = ? AND (id = ? OR token_hash = ?)', [
              page,
              which,
              digest('badge', which),
            ]),
      ),
    allows: async (page: PageKey, token: string): Promise<boolean> => {
      if (!isToken(token)) return false;
      const rows = await database.all('SELECT 1 AS found FROM access_badge_token WHERE page = ? AND token_hash = ?', [
        page,
        digest('badge', token),
      ]);
      return rows.length > 0;
    },
  };
}
