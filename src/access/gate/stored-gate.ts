/** The stored gate of a page: the hash of its password or its domains, and the version that sessions are bound to. */

import { domainToASCII } from 'node:url';
import { type PageKey, readPageKey } from '../../model/slugs.ts';
import type { Database, Reader } from '../../store/database.ts';
import type { AccessPage } from '../access.ts';
import { newToken, type RandomBytes } from '../digest.ts';
import { hashPassword, verifyPassword } from './password-hash.ts';

export type StoredGate = NonNullable<Awaited<ReturnType<typeof readGate>>>;

/** `kind`: see `gateKind`. `secret`: argon2id hash, or the sorted domains as JSON. */
export async function readGate(reader: Reader, page: PageKey) {
  const [row] = await reader.all('SELECT kind, secret, version FROM access_gate WHERE page = ?', [page]);
  if (row === undefined) return null;
  return { kind: String(row['kind']), secret: String(row['secret']), version: String(row['version']) };
}

/**
 * Updates the stored gate of a page and returns its version: the known one if password and domains are unchanged;
 * otherwise a new one, and all sessions and badge tokens of the old one end.
 */
export async function recordGate(database: Database, page: AccessPage, random: RandomBytes): Promise<string> {
  for (;;) {
    const stored = await readGate(database, page.key);
    if (stored !== null && (await isUnchanged(stored, page))) return stored.version;
    const [secret, version] = [await makeSecret(page, random), newToken(random)];
    const isRecorded = await database.transaction(async (tx) => {
      // Another process may have written it in the meantime; its version is then used.
      const current = await readGate(tx, page.key);
      if (current?.version !== stored?.version) return false;
      await tx.run('DELETE FROM access_gate WHERE page = ?', [page.key]);
      await tx.run('DELETE FROM access_grant WHERE page = ?', [page.key]);
      // Tokens created before the first gate stay valid.
      if (stored !== null) await tx.run('DELETE FROM access_badge_token WHERE page = ?', [page.key]);
      const values = [page.key, gateKind(page), secret, version];
      await tx.run('INSERT INTO access_gate (page, kind, secret, version) VALUES (?, ?, ?, ?)', values);
      return true;
    });
    if (isRecorded) return version;
  }
}

/**
 * Deletes gates of pages that no longer have one, so that a gate that comes back begins without sessions and tokens. Gates that
 * this process never had are left while their page is private, and after it ended, because another node may still have them.
 * Badge tokens of a removed page are kept: no other page can find them.
 *
 * @param before  the pages that had a gate in this process until now
 * @param waiting  slugs of pages that are not known yet
 * @returns the pages that have one now
 */
export async function forgetOtherGates(
  database: Database,
  pages: readonly AccessPage[],
  { before, waiting }: { readonly before: ReadonlySet<PageKey>; readonly waiting: readonly string[] },
): Promise<ReadonlySet<PageKey>> {
  const gated = new Set(pages.map(({ key }) => key));
  const rows = await database.all(
    `SELECT access_gate.page, slug, ended_at IS NOT NULL OR access NOT IN ('', 'public', 'closed') AS is_theirs
     FROM access_gate LEFT JOIN page ON page.key = access_gate.page`,
  );
  const gone = rows
    .map((row) => ({ page: String(row['page']) as PageKey, slug: row['slug'], isTheirs: Boolean(row['is_theirs']) }))
    .filter(({ page, isTheirs }) => !gated.has(page) && (!isTheirs || before.has(page)))
    .filter(({ page, slug }) => !waiting.includes(String(slug ?? readPageKey(page).slug)))
    .map(({ page }) => [page]);
  if (gone.length === 0) return gated;
  await database.transaction(async (tx) => {
    for (const table of ['access_gate', 'access_grant', 'access_challenge'])
      await tx.runMany(`DELETE FROM ${table} WHERE page = ?`, gone);
    await tx.runMany(
      `DELETE FROM access_badge_token
       WHERE page = ? AND page NOT IN (SELECT key FROM page WHERE ended_at IS NOT NULL)`,
      gone,
    );
  });
  return gated;
}

/** Email domains normalised for comparison: lower case, punycode, sorted; invalid names are left out. */
export function domainsOf(page: AccessPage): readonly string[] {
  return [
    ...new Set(page.emailDomains.map((domain) => domainToASCII(domain)).filter((domain) => domain !== '')),
  ].sort();
}

/** Access type of the page and the people and addresses it lets in; sessions end when this changes. */
export function gateKind({ access, oidc, addresses }: AccessPage): string {
  const lists = access === 'oidc' ? [oidc, addresses] : [addresses];
  return lists.every((list) => list === undefined) ? access : `${access} ${JSON.stringify(lists)}`;
}

/** Whether a stored gate has the password or the domains of `page`; checking a password takes a tenth of a second. */
export async function isUnchanged(stored: StoredGate, page: AccessPage): Promise<boolean> {
  if (stored.kind !== gateKind(page)) return false;
  if (page.access === 'password') return verifyPassword(passwordOf(page), stored.secret);
  return stored.secret === JSON.stringify(domainsOf(page));
}

async function makeSecret(page: AccessPage, random: RandomBytes): Promise<string> {
  return page.access === 'password' ? hashPassword(passwordOf(page), random) : JSON.stringify(domainsOf(page));
}

/** A password page without a password gets a random one, so that nobody can open it. */
function passwordOf(page: AccessPage): string {
  return page.password?.reveal() ?? crypto.randomUUID();
}
