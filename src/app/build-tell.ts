/**
 * Third of the four builders: notifications to subscribers and channels. It records notices, handles subscriptions, and sends what
 * is queued. Nothing is sent yet.
 */

import { setTimeout as wait } from 'node:timers/promises';
import { createAttempts } from '../access/attempts.ts';
import { systemRandom } from '../access/digest.ts';
import type { SendMail } from '../mail/mail.ts';
import { createPrintingMailer, createSmtpPool, type MailPool } from '../mail/mailer.ts';
import type { PageKey } from '../model/slugs.ts';
import { HOUR_MS, SECOND_MS, toEpochMs } from '../model/time.ts';
import { createDeliverer, isOnCall, listRecipients } from '../notify/deliver.ts';
import { sendToSubscriber } from '../notify/mails.ts';
import { createNoticeSender, recordNews } from '../notify/queue.ts';
import { createAddressSeal, erasePending, newSubscriberId, type SubscribablePage } from '../notify/subscribers.ts';
import { createSubscriptions, decideRequests } from '../notify/subscriptions.ts';
import { once } from '../once.ts';
import type { ResolvedPage } from '../publish/definitions/definitions.ts';
import type { PublishControl } from '../publish/publish-control.ts';
import type { ServeParts } from './build-serve.ts';
import type { StoreParts } from './build-store.ts';
import { now, sleep } from './clock.ts';
import { createErrorLog } from './log.ts';
import { createChannels } from './notify/channels.ts';

/** Longer than a healthy upstream takes to answer. */
const CHANNELS_WAIT_MS = 10 * SECOND_MS;

/** How often the outbox is checked. */
const LOOK_MS = 2 * SECOND_MS;
/** Longer than sending a response takes. */
const DECIDE_DELAY_MS = 100;
/** Unconfirmed subscriptions are deleted after this. */
const PENDING_MS = 24 * HOUR_MS;
/** Connections to the mail server. */
const POOL_SIZE = 2;

export type TellParts = ReturnType<typeof buildTell>;

/**
 * @param printsMail prints mails instead of sending them
 * @param isSending false: other nodes send queued messages, which they find in the database, or nobody does
 */
export function buildTell(base: StoreParts, serving: ServeParts, printsMail: boolean, isSending: boolean) {
  const { database, key, log, live, publishing, closing, http, store } = base;
  const { access, draw, keeper, metrics } = serving;
  const { config, upstreams } = live;
  const random = systemRandom;
  const deliverer = createDeliverer({ sendMail: live.sendMail, now, proxy: base.proxy });
  closing.defer(deliverer.close);
  const channels = createChannels({ config, upstreams, http, store, now, sleep });
  const pageKept = (page: PageKey) => subscribable(keeper.pageKept(page), access);
  const seal = createAddressSeal(key, random);
  const mails = createMails(config, printsMail);
  const logError = createErrorLog(log);
  const onError = (error: unknown): void => logError(error, 'notices');
  /** Whether the write-ahead log may still contain deleted data; unknown after a start. */
  let isLogStale = true;
  /**
   * Notices that are queued before the upstreams' channels are known would not reach them. But a hanging upstream must not
   * delay the others.
   */
  const channelsKnown = once(() =>
    Promise.race([channels.known(), wait(CHANNELS_WAIT_MS, undefined, { ref: false })]).catch(onError),
  );

  async function prepare(): Promise<void> {
    await channelsKnown();
    const at = now();
    await decideRequests({ database, seal, newId: () => newSubscriberId(random), now: at });
    const [old] = await database.all(`SELECT id FROM subscriber WHERE state = 'pending' AND asked_at <= ? LIMIT 1`, [
      at - PENDING_MS,
    ]);
    if (old !== undefined) {
      await database.transaction((tx) => erasePending(tx, toEpochMs(at - PENDING_MS)));
      isLogStale = true;
    }
    if (isLogStale) isLogStale = !(await database.truncateLog());
  }

  const sender = createNoticeSender({
    ...{ database, now, prepare, onError, random: Math.random },
    email: () => {
      const send = mails.current();
      return send === null
        ? null
        : (job) => sendToSubscriber({ reader: database, key, seal, now, send, pageOf: pageKept }, job);
    },
    channels: () =>
      channels.latest().map((channel) => ({
        ...channel,
        recipients: listRecipients(channel),
        deliver: (notice, recipient) => deliverer.deliver(channel, notice, recipient),
      })),
    giveWay: publishing.shown.giveWay,
    onResult: metrics.noticesSettled,
    onRejected: (facts) => log.warn(facts, 'A channel rejected a message for good.'),
  });

  const wake = (delayMs?: number): void => {
    if (isSending) sender.wake(delayMs);
  };
  let timer: NodeJS.Timeout | null = null;
  closing.defer(async () => {
    if (timer !== null) clearInterval(timer);
    await sender.close();
    mails.close();
  });
  return {
    printsMail,
    subscriptions: createSubscriptions({
      database,
      key,
      seal,
      random,
      attempts: createAttempts(database, random, key),
      pageOf: (slug) => subscribable(keeper.page(slug), access),
      locale: () => config().site.locale,
      render: (view) => draw('subscribe', view),
      onRequest: () => wake(DECIDE_DELAY_MS),
      onErased: () => {
        isLogStale = true;
        wake();
      },
    }),
    tell: (async (news) => {
      const onCall = channels.latest().flatMap((channel) => (isOnCall(channel) ? channel.id : []));
      if ((await recordNews(database, news, now(), onCall)) > 0 && timer !== null) wake();
    }) satisfies PublishControl['tell'],
    /** Starts sending. */
    open: () => {
      // A message that was sent must be recorded.
      if (database.isReadOnly || !isSending) return;
      timer ??= setInterval(() => wake(), LOOK_MS).unref();
    },
  };
}

/** Null: the page takes no subscriptions. */
function subscribable(found: ResolvedPage | null, { pageOf }: ServeParts['access']): SubscribablePage | null {
  if (found === null || !found.settings.subscriptions) return null;
  const { definition, settings, password, identity } = found;
  const { slug, title, titles, access, emailDomains, oidc } = definition;
  const gated = pageOf(slug);
  if (access === 'closed' || gated?.key !== identity.key) return null;
  const { locale, url, timezone, languages } = settings;
  const page = { key: identity.key, slug, title, locale, url, access, password, emailDomains, oidc };
  return { identity, page, gated, timezone, titles, locales: languages?.all.slice(1) ?? [] };
}

/** Connections to the current mail server; null: none is configured. */
function createMails(config: StoreParts['live']['config'], printsMail: boolean) {
  let pool: (MailPool & { readonly of: string }) | null = null;
  return {
    current: (): SendMail | null => {
      if (printsMail) return createPrintingMailer((text) => process.stdout.write(`\n${text}\n\n`));
      const { smtp, from } = config().access;
      if (smtp === undefined || from === undefined) return null;
      const of = JSON.stringify([smtp.reveal(), from]);
      if (pool?.of !== of) {
        pool?.close();
        pool = { ...createSmtpPool({ url: smtp.reveal(), from, size: POOL_SIZE }), of };
      }
      return pool.send;
    },
    close: () => pool?.close(),
  };
}
