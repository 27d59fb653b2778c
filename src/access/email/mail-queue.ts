/** Sends owed mails, tries again what fails within the life of the link, and forgets addresses as soon as it can. */

import pLimit from 'p-limit';
import { oneLine, type SendMail } from '../../mail/mail.ts';
import { type EpochMs, MINUTE_MS, toEpochMs } from '../../model/time.ts';
import type { Database } from '../../store/database.ts';
import type { RandomBytes } from '../digest.ts';
import type { Gates } from '../gate/gates.ts';
import { MAIL_CLAIM_MS, MAIL_RETRY_MS } from '../limits.ts';
import {
  armChallenge,
  claimOwedMails,
  type MailSecrets,
  newMailSecrets,
  type OwedMail,
  postponeMail,
  settleMail,
} from './challenges.ts';
import { spaced, type WriteMail } from './sign-in-mail.ts';

/** Mails under way at once. */
const BATCH_SIZE = 8;
/** Longer than an answer takes to leave. */
const DELIVER_DELAY_MS = 100;

interface MailQueueOptions {
  readonly database: Database;
  readonly gates: Gates;
  readonly random: RandomBytes;
  readonly now: () => EpochMs;
  readonly sendMail: SendMail;
  readonly writeMail: WriteMail;
  readonly onError: (error: unknown, where: string) => void;
}

export interface MailQueue {
  /** Has the mails delivered soon, but not before whoever asked has the answer: its time must not tell. */
  readonly deliverSoon: () => void;
  /** Sends what is due; resolves when each was sent or postponed. One run at a time: a call meanwhile runs after. */
  readonly deliver: () => Promise<void>;
  /** Waits for mails under way; those that are owed stay in the store. */
  readonly close: () => Promise<void>;
}

export function createMailQueue(options: MailQueueOptions): MailQueue {
  const { database, now } = options;
  // Kept while retrying: a mail server that fails late may have delivered, and then that link should work.
  const secrets = new Map<string, { readonly secrets: MailSecrets; readonly expiresAt: EpochMs }>();
  const inTurn = pLimit(1);
  let soon: NodeJS.Timeout | null = null;

  async function run(): Promise<void> {
    for (const [id, { expiresAt }] of secrets) if (expiresAt <= now()) secrets.delete(id);
    for (;;) {
      const claimed = await database.transaction((tx) =>
        claimOwedMails(tx, { now: now(), claimUntil: toEpochMs(now() + MAIL_CLAIM_MS), limit: BATCH_SIZE }),
      );
      await Promise.all(claimed.map(send));
      if (claimed.length < BATCH_SIZE) return;
    }
  }

  async function send(owed: OwedMail): Promise<void> {
    const known = await options.gates.current(owed.slug);
    // The page says ten as well; a mail that leaves at once has a few seconds less.
    const minutes = Math.round((owed.expiresAt - now()) / MINUTE_MS);
    if (known?.gated.gate.kind !== 'email-domain' || known.gated.gate.version !== owed.version || minutes < 1)
      return settle(owed);
    const mine = secrets.get(owed.id)?.secrets ?? newMailSecrets(options.random);
    secrets.set(owed.id, { secrets: mine, expiresAt: owed.expiresAt });
    await database.transaction((tx) => armChallenge(tx, owed.id, mine));
    const { title, locale, url } = known.page;
    const link = `${url}login/link/?token=${mine.token}`;
    const facts = { locale, title: oneLine(title), link, code: spaced(mine.code), minutes };
    try {
      await options.sendMail({ to: owed.address, ...options.writeMail(facts) });
    } catch (error) {
      options.onError(new Error(deliveryFailure(error)), 'sign-in mail');
      const waitMs = Math.min(MAIL_RETRY_MS * 2 ** owed.mailTries, MINUTE_MS);
      await database.transaction((tx) => postponeMail(tx, owed.id, toEpochMs(now() + waitMs)));
      return;
    }
    await settle(owed);
  }

  async function settle(owed: OwedMail): Promise<void> {
    secrets.delete(owed.id);
    await database.transaction((tx) => settleMail(tx, owed.id));
  }

  const deliver = (): Promise<void> => inTurn(run);

  return {
    deliver,
    deliverSoon: () => {
      if (soon !== null) return;
      soon = setTimeout(() => {
        soon = null;
        deliver().catch((error: unknown) => options.onError(error, 'sign-in mail'));
      }, DELIVER_DELAY_MS);
      soon.unref();
    },
    close: async () => {
      if (soon !== null) clearTimeout(soon);
      await inTurn(() => undefined);
    },
  };
}

/** What went wrong, without what a mail server quotes: it likes to repeat the recipient. */
function deliveryFailure(error: unknown): string {
  const { code, responseCode } = error as { readonly code?: unknown; readonly responseCode?: unknown };
  const facts = [code, responseCode].filter((fact) => typeof fact === 'string' || typeof fact === 'number');
  return `The mail server rejected a sign-in email (${facts.join(', ') || 'no reason given'}). Pharos retries until its link expires. Check access.smtp.`;
}
