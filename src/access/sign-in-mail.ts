/** Sends sign-in emails, as plain text. */

import { randomInt } from 'node:crypto';
import { handOver, oneLine, type SendMail } from '../mail/mail.ts';
import type { MailFacts } from '../model/access.ts';
import type { PageKey } from '../model/slugs.ts';
import { type EpochMs, MINUTE_MS, SECOND_MS, toEpochMs } from '../model/time.ts';
import type { Handover, Job, Lane } from '../outbox/outbox.ts';
import type { Database, Reader, Writer } from '../store/database.ts';
import { codeHash, SIGN_IN } from './challenges.ts';
import { digest, newToken, type RandomBytes } from './digest.ts';
import type { Gates } from './gate/gates.ts';

/** Writes the email in a language. */
export type WriteMail = (facts: MailFacts) => { readonly subject: string; readonly text: string };

interface SignInMailOptions {
  readonly database: Database;
  readonly gates: Gates;
  readonly random: RandomBytes;
  readonly now: () => EpochMs;
  readonly sendMail: SendMail;
  readonly writeMail: WriteMail;
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

  async function send({ recipient: id }: Job): Promise<Handover> {
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
    const { title, url } = known.page;
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
        await database.transaction((tx) => forgetAddress(tx, job.recipient));
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

/** Deletes the address of a request once its email was sent or given up. */
async function forgetAddress(tx: Writer, id: string): Promise<void> {
  await tx.run('UPDATE access_challenge SET address = NULL WHERE id = ?', [id]);
}
