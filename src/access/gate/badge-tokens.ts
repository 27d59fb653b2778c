/** Tokens that open the badges of a gated page, and nothing else, to a README or a dashboard. */

import { type EpochMs, toEpochMs } from '../../model/time.ts';
import type { Database } from '../../store/database.ts';
import { digest, isToken, newToken, type RandomBytes, systemRandom } from '../digest.ts';

interface BadgeToken {
  /** Names it in lists and to revoke it; opens nothing. */
  readonly id: string;
  readonly slug: string;
  readonly createdAt: EpochMs;
}

interface BadgeTokens {
  /** Makes a token of 256 bits; `token` is shown this once and stored as a hash only. */
  readonly create: (slug: string, now: EpochMs) => Promise<BadgeToken & { readonly token: string }>;
  /** Oldest first; of one page, or of all. */
  readonly list: (slug?: string) => Promise<readonly BadgeToken[]>;
  /** Revokes by id or by the token itself, or every token of the page; returns how many went. */
  readonly revoke: (slug: string, which?: string) => Promise<number>;
  readonly allows: (slug: string, token: string) => Promise<boolean>;
}

export function createBadgeTokens(database: Database, random: RandomBytes = systemRandom): BadgeTokens {
  return {
    create: async (slug, now) => {
      const token = newToken(random);
      const id = Buffer.from(random(6)).toString('hex');
      await database.transaction((tx) =>
        tx.run('INSERT INTO access_badge_token (id, slug, token_hash, created_at) VALUES (?, ?, ?, ?)', [
          id,
          slug,
          digest('badge', token),
          now,
        ]),
      );
      return { id, slug, createdAt: now, token };
    },
    list: async (slug) => {
      const order = 'ORDER BY created_at, id';
      const rows =
        slug === undefined
          ? await database.all(`SELECT id, slug, created_at FROM access_badge_token ${order}`)
          : await database.all(`SELECT id, slug, created_at FROM access_badge_token WHERE slug = ? ${order}`, [slug]);
      return rows.map((row) => ({
        id: String(row['id']),
        slug: String(row['slug']),
        createdAt: toEpochMs(Number(row['created_at'])),
      }));
    },
    revoke: (slug, which) =>
      database.transaction((tx) =>
        which === undefined
          ? tx.run('DELETE FROM access_badge_token WHERE slug = ?', [slug])
          : tx.run('DELETE FROM access_badge_token WHERE slug = ? AND (id = ? OR token_hash = ?)', [
              slug,
              which,
              digest('badge', which),
            ]),
      ),
    allows: async (slug, token) => {
      if (!isToken(token)) return false;
      const rows = await database.all('SELECT 1 AS found FROM access_badge_token WHERE slug = ? AND token_hash = ?', [
        slug,
        digest('badge', token),
      ]);
      return rows.length > 0;
    },
  };
}
