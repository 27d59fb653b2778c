/** Sign-in by email: sends the mails, as plain text, and keeps the requests that they are for. */

import { randomInt } from 'node:crypto';
import { handOver, type Mail, oneLine, type SendMail } from '../mail/mail.ts';
import type { MailFacts } from '../model/access.ts';
import type { PageKey } from '../model/slugs.ts';
import { type EpochMs, MINUTE_MS, SECOND_MS, toEpochMs } from '../model/time.ts';
import { enqueue, type Handover, type Job, type Lane } from '../outbox/outbox.ts';
import type { Database, Reader, Row, Writer } from '../store/database.ts';
import { digest, newToken, type RandomBytes } from './digest.ts';
import type { Gates } from './gate/gates.ts';

export interface SignInMailOptions {
  /** Shared with the store; not closed with the gates. */
  readonly database: Database;
  readonly gates: Gates;
  readonly random: RandomBytes;
  /** Clock for work that no request triggers: queued mails, expiry. */
  readonly now: () => EpochMs;
  readonly sendMail: SendMail;
  readonly siteUrl: () => string;
  /** Writes the email in a language. */
  readonly writeMail: (facts: MailFacts) => Pick<Mail, 'subject' | 'text'>;
  /** The language of an address below a page; null: that of the page. */
  readonly localeOf: (to: string) => string | null;
}

const MAILS_AT_ONCE = 8;
/** With five tries. */
const CODE_DIGITS = 8;
const RETRY = { firstMs: 5 * SECOND_MS, maxMs: MINUTE_MS } as const;

/** Sign-in emails have a lane of their own, so nothing is ahead of them. They expire with their code. */
export function createSignInLane(options: SignInMailOptions): Lane {
  const { database, now } = options;
  // Kept for retries: if the mail server fails late, it may have delivered the email, and its link should work.
  const secrets = new Map<string, { readonly secrets: MailSecrets; readonly expiresAt: EpochMs }>();

  async function send({ recipient: id, items }: Job): Promise<Handover> {
    for (const [key, { expiresAt }] of secrets) if (expiresAt <= now()) secrets.delete(key);
    const owed = await readOwedMail(database, id, now());
    if (owed === null) return { outcome: 'dropped' };
    const slug = options.gates.slugOf(owed.page);
    const known = slug === null ? null : await options.gates.current(slug);
    // Rounded, because the page says ten and an email that leaves at once has a few seconds less.
    const minutes = Math.round((owed.expiresAt - now()) / MINUTE_MS);
    if (known?.gated.gate.kind !== 'email-domain' || known.gated.gate.version !== owed.version || minutes < 1)
      return { outcome: 'dropped' };
    const mine = secrets.get(id)?.secrets ?? newMailSecrets(options.random);
    secrets.set(id, { secrets: mine, expiresAt: owed.expiresAt });
    await database.transaction((tx) => armChallenge(tx, id, mine));
    const { title, slug: current } = known.page;
    const url = items.includes(AT_SITE) ? `${options.siteUrl()}/${current}/` : known.page.url;
    const ownLocale = options.localeOf(owed.to);
    const to = ownLocale === null ? '' : `&to=${encodeURIComponent(owed.to)}`;
    const link = `${url}login/link/?token=${mine.token}${to}`;
    const code = mine.code.replace(/(\d{4})(?=\d)/g, '$1 ');
    return handOver(options.sendMail, {
      to: owed.address,
      ...options.writeMail({ locale: ownLocale ?? known.page.locale, title: oneLine(title), link, code, minutes }),
    });
  }

  return {
    id: SIGN_IN,
    atOnce: MAILS_AT_ONCE,
    itemsMax: 1,
    retry: RETRY,
    parkedAfterMs: null,
    send: async (job) => {
      const handover = await send(job);
      if (handover.outcome !== 'postponed' && handover.outcome !== 'unreachable') {
        secrets.delete(job.recipient);
        const forget = 'UPDATE access_challenge SET address = NULL WHERE id = ?';
        await database.transaction((tx) => tx.run(forget, [job.recipient]));
      }
      return handover;
    },
  };
}

/** The secrets in one email. */
type MailSecrets = ReturnType<typeof newMailSecrets>;

function newMailSecrets(random: RandomBytes) {
  return { token: newToken(random), code: String(randomInt(10 ** CODE_DIGITS)).padStart(CODE_DIGITS, '0') };
}

/** Reads what the email of a request needs; null: there is none to send, or its link was used or has expired. */
async function readOwedMail(reader: Reader, id: string, now: EpochMs) {
  const [row] = await reader.all(
    `SELECT page, version, address, expires_at, return_to FROM access_challenge
     WHERE id = ? AND address IS NOT NULL AND used_at IS NULL AND expires_at > ?`,
    [id, now],
  );
  if (row === undefined) return null;
  return {
    page: String(row['page']) as PageKey,
    version: String(row['version']),
    address: String(row['address']),
    expiresAt: toEpochMs(Number(row['expires_at'])),
    // As in the request.
    to: String(row['return_to']),
  };
}

/** Makes the secrets of an email valid, just before it is sent. */
async function armChallenge(tx: Writer, id: string, { token, code }: MailSecrets): Promise<void> {
  const [row] = await tx.all('SELECT nonce_hash FROM access_challenge WHERE id = ?', [id]);
  await tx.run('UPDATE access_challenge SET token_hash = ?, code_hash = ? WHERE id = ?', [
    digest('link', token),
    codeHash(String(row?.['nonce_hash']), code),
    id,
  ]);
}

// Sign-in requests by email: each belongs to one browser, and works once within ten minutes.

/** The channel of sign-in mails in the outbox. */
const SIGN_IN = 'mail:sign-in';
/** The item of a mail whose link leads to the site, because a page's own domain didn't get the cookie. */
const AT_SITE = 'site';

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
  /** False: asked on the page's own domain. */
  readonly isAtSite: boolean;
}

/** Records a request, with the same rows whether an email is sent or not. */
export async function recordChallenge(tx: Writer, init: ChallengeInit, random: RandomBytes): Promise<void> {
  const { page, version, nonce, to, attempt, address, isAtSite, now } = init;
  const id = newToken(random);
  await tx.run(
    `INSERT INTO access_challenge (id, page, version, nonce_hash, return_to, attempt, expires_at, address)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    [id, page, version, digest('nonce', nonce), to, attempt, now + LINK_LIFE_MS, address],
  );
  await enqueue(tx, [{ channel: SIGN_IN, recipient: id, kind: 'sign-in', item: isAtSite ? AT_SITE : id }], now);
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
function codeHash(nonceHash: string, code: string): string {
  return digest('code', nonceHash, code);
}

function toRedeemed(row: Row | undefined) {
  return { to: String(row?.['return_to'] ?? ''), attempt: String(row?.['attempt'] ?? '') };
}
