/** Requests for a mailed link: asked by one browser, answered once, within ten minutes. */

import { randomInt } from 'node:crypto';
import type { PageKey } from '../../model/slugs.ts';
import { type EpochMs, toEpochMs } from '../../model/time.ts';
import { enqueue } from '../../outbox/outbox.ts';
import type { Reader, Row, Writer } from '../../store/database.ts';
import { digest, newToken, type RandomBytes } from '../digest.ts';
import { CODE_DIGITS, CODE_TRIES_MAX, LINK_LIFE_MS } from '../limits.ts';

/** The channel of sign-in mails in the outbox. */
export const SIGN_IN = 'mail:sign-in';

interface ChallengeInit {
  readonly page: PageKey;
  /** Of the gate; empty where there is none. */
  readonly version: string;
  readonly nonce: string;
  readonly to: string;
  /** Null: nobody is written to, and nothing will ever answer this request. */
  readonly address: string | null;
  /** Of the try that was counted for asking. */
  readonly attempt: string;
  readonly now: EpochMs;
}

/** Writes a request down: the same rows whether a mail is owed or not. */
export async function recordChallenge(tx: Writer, init: ChallengeInit, random: RandomBytes): Promise<void> {
  const id = newToken(random);
  await tx.run(
    `INSERT INTO access_challenge (id, page, version, nonce_hash, return_to, attempt, expires_at, address)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      id,
      init.page,
      init.version,
      digest('nonce', init.nonce),
      init.to,
      init.attempt,
      toEpochMs(init.now + LINK_LIFE_MS),
      init.address,
    ],
  );
  await enqueue(tx, [{ channel: SIGN_IN, recipient: id, kind: 'sign-in', item: id }], init.now);
}

interface Redemption {
  readonly page: PageKey;
  /** Of the gate as it is: a request from before a change of the domains is void. */
  readonly version: string;
  /** From the cookie of the browser that asked. */
  readonly nonce: string;
  readonly now: EpochMs;
}

/** What a request that was answered leaves behind. */
export interface Redeemed {
  /** The way back. */
  readonly to: string;
  readonly attempt: string;
}

/** Uses a mailed link up; null when it is not valid (any more) for this page and browser. */
export async function redeemLink(
  tx: Writer,
  { page, version, nonce, now }: Redemption,
  token: string,
): Promise<Redeemed | null> {
  const tokenHash = digest('link', token);
  // One statement, so that of a hundred at once one wins.
  const used = await tx.run(
    `UPDATE access_challenge SET used_at = ?, address = NULL
     WHERE token_hash = ? AND nonce_hash = ? AND page = ? AND version = ? AND used_at IS NULL AND expires_at > ?`,
    [now, tokenHash, digest('nonce', nonce), page, version, now],
  );
  if (used !== 1) return null;
  const [row] = await tx.all('SELECT return_to, attempt FROM access_challenge WHERE token_hash = ?', [tokenHash]);
  return toRedeemed(row);
}

/** The same with the code from the mail. Every try counts against each request of this browser that is still open. */
export async function redeemCode(
  tx: Writer,
  { page, version, nonce, now }: Redemption,
  code: string,
): Promise<Redeemed | null> {
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
}

/** What a mail carries. */
export interface MailSecrets {
  readonly token: string;
  readonly code: string;
}

export function newMailSecrets(random: RandomBytes): MailSecrets {
  return { token: newToken(random), code: String(randomInt(10 ** CODE_DIGITS)).padStart(CODE_DIGITS, '0') };
}

/** A request whose mail is owed. */
interface OwedMail {
  readonly page: PageKey;
  readonly version: string;
  readonly address: string;
  readonly expiresAt: EpochMs;
}

/** What the mail of a request needs; null: none is owed, or its link was used or has expired. */
export async function readOwedMail(reader: Reader, id: string, now: EpochMs): Promise<OwedMail | null> {
  const [row] = await reader.all(
    `SELECT page, version, address, expires_at FROM access_challenge
     WHERE id = ? AND address IS NOT NULL AND used_at IS NULL AND expires_at > ?`,
    [id, now],
  );
  if (row === undefined) return null;
  return {
    page: String(row['page']) as PageKey,
    version: String(row['version']),
    address: String(row['address']),
    expiresAt: toEpochMs(Number(row['expires_at'])),
  };
}

/** How many sign-in mails wait for the mail server; never to whom. */
export async function mailsWaiting(reader: Reader, now: EpochMs): Promise<number> {
  const [row] = await reader.all(
    'SELECT COUNT(*) AS n FROM access_challenge WHERE address IS NOT NULL AND used_at IS NULL AND expires_at > ?',
    [now],
  );
  return Number(row?.['n'] ?? 0);
}

/** Makes the secrets of a mail valid, just before it goes out. */
export async function armChallenge(tx: Writer, id: string, { token, code }: MailSecrets): Promise<void> {
  const [row] = await tx.all('SELECT nonce_hash FROM access_challenge WHERE id = ?', [id]);
  await tx.run('UPDATE access_challenge SET token_hash = ?, code_hash = ? WHERE id = ?', [
    digest('link', token),
    codeHash(String(row?.['nonce_hash']), code),
    id,
  ]);
}

/** Forgets the address of a request, once its mail is out or given up. */
export async function forgetAddress(tx: Writer, id: string): Promise<void> {
  await tx.run('UPDATE access_challenge SET address = NULL WHERE id = ?', [id]);
}

/** Whether anybody has asked for a link lately. */
export async function hasChallenges(reader: Reader): Promise<boolean> {
  return (await reader.all('SELECT 1 AS found FROM access_challenge LIMIT 1')).length > 0;
}

export async function forgetChallenges(tx: Writer, now: EpochMs): Promise<void> {
  await tx.run('DELETE FROM access_challenge WHERE expires_at <= ?', [now]);
  await tx.run('DELETE FROM outbox WHERE channel = ? AND created_at <= ?', [SIGN_IN, now - LINK_LIFE_MS]);
}

/** Few codes exist, but without the nonce (of which only a hash is stored) knowing one is of no use. */
function codeHash(nonceHash: string, code: string): string {
  return digest('code', nonceHash, code);
}

function toRedeemed(row: Row | undefined): Redeemed {
  return { to: String(row?.['return_to'] ?? ''), attempt: String(row?.['attempt'] ?? '') };
}
