/** Sign-in requests by email: each belongs to one browser, and works once within ten minutes. */

import type { PageKey } from '../model/slugs.ts';
import { type EpochMs, MINUTE_MS } from '../model/time.ts';
import { enqueue } from '../outbox/outbox.ts';
import type { Reader, Row, Writer } from '../store/database.ts';
import { digest, newToken, type RandomBytes } from './digest.ts';

/** The channel of sign-in mails in the outbox. */
export const SIGN_IN = 'mail:sign-in';

/** ASVS 5.0, 6.5.5: an out-of-band code is valid for at most ten minutes. */
export const LINK_LIFE_MS = 10 * MINUTE_MS;
const CODE_TRIES_MAX = 5;

interface Redemption {
  readonly page: PageKey;
  /** Version of the current gate; empty: there is none. Requests from before its domains changed are void. */
  readonly version: string;
  /** From the cookie of the browser that made the request. */
  readonly nonce: string;
  readonly now: EpochMs;
}

interface ChallengeInit extends Redemption {
  readonly to: string;
  /** Null: no email is sent, so this request can never succeed. */
  readonly address: string | null;
  /** Id of the attempt that was counted for this request. */
  readonly attempt: string;
}

/** Records a request, with the same rows whether an email is sent or not. */
export async function recordChallenge(tx: Writer, init: ChallengeInit, random: RandomBytes): Promise<void> {
  const { page, version, nonce, to, attempt, address, now } = init;
  const id = newToken(random);
  await tx.run(
    `INSERT INTO access_challenge (id, page, version, nonce_hash, return_to, attempt, expires_at, address)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    [id, page, version, digest('nonce', nonce), to, attempt, now + LINK_LIFE_MS, address],
  );
  await enqueue(tx, [{ channel: SIGN_IN, recipient: id, kind: 'sign-in', item: id }], now);
}

/** Uses the secret of an email; null: it isn't valid (any more) for this page and browser. */
export type Redeem = (
  tx: Writer,
  redemption: Redemption,
  secret: string,
) => Promise<{ readonly to: string; readonly attempt: string } | null>;

/** Uses the link from an email. */
export const redeemLink: Redeem = async (tx, { page, version, nonce, now }, token) => {
  const tokenHash = digest('link', token);
  // One statement, so that only one of a hundred concurrent requests wins.
  const used = await tx.run(
    `UPDATE access_challenge SET used_at = ?, address = NULL
     WHERE token_hash = ? AND nonce_hash = ? AND page = ? AND version = ? AND used_at IS NULL AND expires_at > ?`,
    [now, tokenHash, digest('nonce', nonce), page, version, now],
  );
  if (used !== 1) return null;
  const [row] = await tx.all('SELECT return_to, attempt FROM access_challenge WHERE token_hash = ?', [tokenHash]);
  return toRedeemed(row);
};

/** The same with the code from the email. Every attempt counts against all open requests of this browser. */
export const redeemCode: Redeem = async (tx, { page, version, nonce, now }, code) => {
  const nonceHash = digest('nonce', nonce);
  const open = `nonce_hash = ? AND page = ? AND version = ? AND used_at IS NULL AND expires_at > ? AND tries <= ${CODE_TRIES_MAX}`;
  const values = [nonceHash, page, version, now];
  await tx.run(`UPDATE access_challenge SET tries = tries + 1 WHERE ${open}`, values);
  const [row] = await tx.all(
    `SELECT id, return_to, attempt FROM access_challenge WHERE code_hash = ? AND ${open} LIMIT 1`,
    [codeHash(nonceHash, code), ...values],
  );
  if (row === undefined) return null;
  const used = await tx.run(
    'UPDATE access_challenge SET used_at = ?, address = NULL WHERE id = ? AND used_at IS NULL',
    [now, String(row['id'])],
  );
  return used === 1 ? toRedeemed(row) : null;
};

/** Counts sign-in emails that wait for the mail server. */
export async function mailsWaiting(reader: Reader, now: EpochMs): Promise<number> {
  const [row] = await reader.all(
    'SELECT COUNT(*) AS n FROM access_challenge WHERE address IS NOT NULL AND used_at IS NULL AND expires_at > ?',
    [now],
  );
  return Number(row?.['n'] ?? 0);
}

/** Whether there are any requests. */
export async function hasChallenges(reader: Reader): Promise<boolean> {
  return (await reader.all('SELECT 1 AS found FROM access_challenge LIMIT 1')).length > 0;
}

export async function forgetChallenges(tx: Writer, now: EpochMs): Promise<void> {
  await tx.run('DELETE FROM access_challenge WHERE expires_at <= ?', [now]);
  await tx.run('DELETE FROM outbox WHERE channel = ? AND created_at <= ?', [SIGN_IN, now - LINK_LIFE_MS]);
}

/** A code could be guessed from its hash, but it is useless without the nonce, of which only a hash is stored. */
export function codeHash(nonceHash: string, code: string): string {
  return digest('code', nonceHash, code);
}

function toRedeemed(row: Row | undefined) {
  return { to: String(row?.['return_to'] ?? ''), attempt: String(row?.['attempt'] ?? '') };
}
