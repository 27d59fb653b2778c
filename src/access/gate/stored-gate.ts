/** What the store knows of a gate: the hash of its password or its domains, and the version that sessions are bound to. */

import { domainToASCII } from 'node:url';
import type { Database, Reader } from '../../store/database.ts';
import type { AccessPage } from '../access.ts';
import { newToken, type RandomBytes } from '../digest.ts';
import { hashPassword, verifyPassword } from './password-hash.ts';

export interface StoredGate {
  readonly kind: string;
  /** argon2id string, or the sorted domains as JSON. */
  readonly secret: string;
  readonly version: string;
}

export async function readGate(reader: Reader, slug: string): Promise<StoredGate | null> {
  const [row] = await reader.all('SELECT kind, secret, version FROM access_gate WHERE slug = ?', [slug]);
  if (row === undefined) return null;
  return { kind: String(row['kind']), secret: String(row['secret']), version: String(row['version']) };
}

/**
 * Updates the stored gate of a page and gives its version: the known one when the password or the domains are
 * those of last time, else a new one, and every session and badge token of the old one ends.
 */
export async function recordGate(database: Database, page: AccessPage, random: RandomBytes): Promise<string> {
  for (;;) {
    const stored = await readGate(database, page.slug);
    if (stored !== null && (await isUnchanged(stored, page))) return stored.version;
    const gate: StoredGate = { kind: page.access, secret: await secretOf(page, random), version: newToken(random) };
    const isRecorded = await database.transaction(async (tx) => {
      // Another process may have recorded it meanwhile; then its version is the one.
      const current = await readGate(tx, page.slug);
      if (current?.version !== stored?.version) return false;
      await tx.run('DELETE FROM access_gate WHERE slug = ?', [page.slug]);
      await tx.run('DELETE FROM access_grant WHERE slug = ?', [page.slug]);
      // Tokens made before the first gate wait for it.
      if (stored !== null) await tx.run('DELETE FROM access_badge_token WHERE slug = ?', [page.slug]);
      await tx.run('INSERT INTO access_gate (slug, kind, secret, version) VALUES (?, ?, ?, ?)', [
        page.slug,
        gate.kind,
        gate.secret,
        gate.version,
      ]);
      return true;
    });
    if (isRecorded) return gate.version;
  }
}

/** Forgets gates of pages that have none any more, so that a gate that comes back begins without sessions and tokens. */
export async function forgetOtherGates(database: Database, slugs: ReadonlySet<string>): Promise<void> {
  const rows = await database.all('SELECT slug FROM access_gate');
  const gone = rows.map((row) => String(row['slug'])).filter((slug) => !slugs.has(slug));
  if (gone.length === 0) return;
  await database.transaction(async (tx) => {
    for (const table of ['access_gate', 'access_grant', 'access_challenge', 'access_badge_token'])
      await tx.runMany(
        `DELETE FROM ${table} WHERE slug = ?`,
        gone.map((slug) => [slug]),
      );
  });
}

/** E-mail domains as compared: small letters, punycode, sorted; what is no domain name is left out. */
export function domainsOf(page: AccessPage): readonly string[] {
  return [
    ...new Set(page.emailDomains.map((domain) => domainToASCII(domain)).filter((domain) => domain !== '')),
  ].sort();
}

/** Whether a stored gate has the password or the domains of `page`; a password takes a tenth of a second. */
export async function isUnchanged(stored: StoredGate, page: AccessPage): Promise<boolean> {
  if (stored.kind !== page.access) return false;
  if (page.access === 'password') return verifyPassword(passwordOf(page), stored.secret);
  return stored.secret === JSON.stringify(domainsOf(page));
}

async function secretOf(page: AccessPage, random: RandomBytes): Promise<string> {
  return page.access === 'password' ? hashPassword(passwordOf(page), random) : JSON.stringify(domainsOf(page));
}

/** A password page without a password opens to a random one, which is to nobody. */
function passwordOf(page: AccessPage): string {
  return page.password?.reveal() ?? crypto.randomUUID();
}
