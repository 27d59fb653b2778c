/** Hands one message of the outbox to a subscriber, if it is still for them. */

import type { Revealing } from '../access/digest.ts';
import type { Mail, SendMail } from '../mail/mail.ts';
import { type EpochMs, HOUR_MS, MINUTE_MS } from '../model/time.ts';
import type { Reader } from '../store/database.ts';
import type { AddressSeal } from './address-seal.ts';
import { linkToken } from './links.ts';
import { linkMail, type MailRecipient, noticeMail } from './mails.ts';
import { type Job, noticesOf } from './outbox.ts';
import type { Handover } from './sender.ts';
import { mayReceive, type SubscribablePage, type Subscriber, subscriberById } from './subscribers.ts';

interface EmailDeps {
  readonly reader: Reader;
  readonly key: Revealing;
  readonly seal: AddressSeal;
  readonly now: () => EpochMs;
  readonly send: SendMail;
  /** Null: there is no such page, or it takes no subscriptions. */
  readonly pageOf: (slug: string) => (SubscribablePage & { readonly timezone: string }) | null;
}

/**
 * A page that is not there, or that its subscriber may not see, may be so for a moment only: a restart, a gate that is
 * being changed. After this long it is so, and the message is dropped.
 */
const WAITED_FOR_MS = HOUR_MS;

export async function handToSubscriber(deps: EmailDeps, job: Job): Promise<Handover> {
  const subscriber = await subscriberById(deps.reader, job.recipient);
  if (subscriber === null || subscriber.state !== stateFor(job)) return { outcome: 'dropped' };
  const address = deps.seal.open(subscriber.address, subscriber.id);
  if (address === null)
    return {
      outcome: 'rejected',
      reason: 'the address was encrypted with another key; restore the previous access.key',
    };
  const page = deps.pageOf(subscriber.slug);
  if (page === null || !mayReceive(page, address, subscriber.gate)) {
    if (deps.now() - job.createdAt > WAITED_FOR_MS) return { outcome: 'dropped' };
    return { outcome: 'postponed', reason: 'the subscriber is not allowed to see the page', afterMs: MINUTE_MS };
  }
  const mail = await mailFor(deps, job, { subscriber, address, page });
  if (mail === null) return { outcome: 'dropped' };
  try {
    await deps.send(mail);
    return { outcome: 'delivered' };
  } catch (error) {
    return failureOf(error);
  }
}

/** Who pauses is sent nothing, who has confirmed no link to confirm. */
function stateFor({ kind }: Job): Subscriber['state'] {
  return kind === 'confirm' ? 'pending' : 'active';
}

async function mailFor(
  { reader, key }: EmailDeps,
  job: Job,
  to: {
    readonly subscriber: Subscriber;
    readonly address: string;
    readonly page: SubscribablePage & { readonly timezone: string };
  },
): Promise<Mail | null> {
  const { id } = to.subscriber;
  const { title, locale, url } = to.page.page;
  const page = { title, locale, timezone: to.page.timezone };
  const linkTo = (path: string, token: string): string => `${url}subscribe/${path}/?token=${token}`;
  const manage = linkToken(key, 'manage', id);
  const recipient: MailRecipient = {
    address: to.address,
    id,
    manageUrl: linkTo('manage', manage),
    leaveUrl: linkTo('leave', manage),
  };
  if (job.kind !== 'notice') {
    const link = job.kind === 'confirm' ? linkTo('confirm', linkToken(key, 'confirm', id)) : recipient.manageUrl;
    return linkMail({ kind: job.kind, id: job.batch, page, recipient, link });
  }
  const notices = (await noticesOf(reader, job.notices)).map(({ notice }) => notice);
  return notices.length === 0 ? null : noticeMail({ batch: job.batch, notices, page, recipient });
}

/** What a mail server says of one recipient or one message; anything else is about the server. */
const OF_MESSAGE: ReadonlySet<unknown> = new Set(['RCPT TO', 'DATA']);
/** It is closing down. */
const CLOSING = 421;

/** Without the words of a mail server, which likes to repeat the recipient. */
function failureOf(error: unknown): Handover {
  const { code, responseCode, command } = error as Readonly<Record<string, unknown>>;
  const facts = [code, responseCode].filter((fact) => typeof fact === 'string' || typeof fact === 'number');
  const reason = `the mail server rejected it (${facts.join(', ') || 'no reason given'})`;
  if (typeof responseCode !== 'number' || responseCode === CLOSING || !OF_MESSAGE.has(command))
    return { outcome: 'unreachable', reason: `${reason}; check access.smtp` };
  return responseCode >= 500 ? { outcome: 'rejected', reason } : { outcome: 'postponed', reason, afterMs: null };
}
