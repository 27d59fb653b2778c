/** Sends one message of the outbox to a subscriber, if it is still for them. */

import type { Revealing } from '../access/digest.ts';
import type { Mail, SendMail } from '../mail/mail.ts';
import { mailFailure } from '../mail/mail.ts';
import type { PageKey } from '../model/slugs.ts';
import { type EpochMs, HOUR_MS, MINUTE_MS } from '../model/time.ts';
import type { Handover, Job } from '../outbox/outbox.ts';
import type { Reader } from '../store/database.ts';
import type { AddressSeal } from './address-seal.ts';
import { linkToken } from './links.ts';
import { linkMail, type MailRecipient, noticeMail } from './mails.ts';
import { noticeIn } from './news.ts';
import { readNotices } from './queue.ts';
import { mayReceive, type SubscribablePage, type Subscriber, subscriberById } from './subscribers.ts';

interface SubscriberMailDeps {
  readonly reader: Reader;
  readonly key: Revealing;
  readonly seal: AddressSeal;
  readonly now: () => EpochMs;
  readonly send: SendMail;
  /** Null: there is no such page, or it has no subscriptions. */
  readonly pageOf: (page: PageKey) => (SubscribablePage & { readonly timezone: string }) | null;
}

/**
 * A page may be missing or closed to the subscriber only for a moment, during a restart or while its gate is being changed. After
 * this time the message is dropped.
 */
const PAGE_WAIT_MS = HOUR_MS;

export async function sendToSubscriber(deps: SubscriberMailDeps, job: Job): Promise<Handover> {
  const subscriber = await subscriberById(deps.reader, job.recipient);
  if (subscriber === null || subscriber.state !== wantedState(job)) return { outcome: 'dropped' };
  const address = deps.seal.open(subscriber.address, subscriber.id);
  if (address === null)
    return {
      outcome: 'postponed',
      reason: 'the address was encrypted with another key; restore the previous secret.key or access.key',
      afterMs: MINUTE_MS,
    };
  const page = deps.pageOf(subscriber.page);
  if (page === null || !mayReceive(page, address, subscriber.gate)) {
    if (deps.now() - job.createdAt > PAGE_WAIT_MS) return { outcome: 'dropped' };
    return { outcome: 'postponed', reason: 'the subscriber is not allowed to see the page', afterMs: MINUTE_MS };
  }
  const mail = await mailFor(deps, job, { subscriber, address, page });
  if (mail === null) return { outcome: 'dropped' };
  try {
    await deps.send(mail);
    return { outcome: 'delivered' };
  } catch (error) {
    return mailFailure(error);
  }
}

/** Links to confirm are for pending subscribers only, everything else for active ones. */
function wantedState({ kind }: Job): Subscriber['state'] {
  return kind === 'confirm' ? 'pending' : 'active';
}

async function mailFor(
  { reader, key }: SubscriberMailDeps,
  job: Job,
  to: {
    readonly subscriber: Subscriber;
    readonly address: string;
    readonly page: SubscribablePage & { readonly timezone: string };
  },
): Promise<Mail | null> {
  const { id } = to.subscriber;
  const { title, url } = to.page.page;
  const other = to.page.locales?.find((locale) => locale === to.subscriber.locale);
  const locale = other ?? to.page.page.locale;
  const page = { title, locale, timezone: to.page.timezone };
  const tree = other === undefined ? '' : `${other}/`;
  const linkTo = (path: string, token: string): string => `${url}${tree}subscribe/${path}/?token=${token}`;
  const manage = linkToken(key, 'manage', id);
  const recipient: MailRecipient = {
    address: to.address,
    id,
    manageUrl: linkTo('manage', manage),
    leaveUrl: linkTo('leave', manage),
  };
  if (job.kind === 'confirm' || job.kind === 'known') {
    const link = job.kind === 'confirm' ? linkTo('confirm', linkToken(key, 'confirm', id)) : recipient.manageUrl;
    return linkMail({ kind: job.kind, id: job.batch, page, recipient, link });
  }
  const notices = (await readNotices(reader, job.items)).map((told) => noticeIn(told, locale));
  return notices.length === 0 ? null : noticeMail({ batch: job.batch, notices, page, recipient });
}
