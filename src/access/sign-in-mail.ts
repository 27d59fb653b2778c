/** Sends sign-in emails, as plain text. */

import { handOver, oneLine, type SendMail } from '../mail/mail.ts';
import type { MailFacts } from '../model/access.ts';
import { type EpochMs, MINUTE_MS, SECOND_MS } from '../model/time.ts';
import type { Handover, Job, Lane } from '../outbox/outbox.ts';
import type { Database } from '../store/database.ts';
import { armChallenge, forgetAddress, type MailSecrets, newMailSecrets, readOwedMail, SIGN_IN } from './challenges.ts';
import type { RandomBytes } from './digest.ts';
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
