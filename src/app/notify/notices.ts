/** Notifications: records notices, handles subscriptions, and sends what is queued. */

import { setTimeout as wait } from 'node:timers/promises';
import { createAttempts } from '../../access/attempts.ts';
import { systemRandom } from '../../access/digest.ts';
import type { SendMail } from '../../mail/mail.ts';
import { createPrintingMailer, createSmtpPool, type MailPool } from '../../mail/mailer.ts';
import type { PageKey } from '../../model/slugs.ts';
import { HOUR_MS, SECOND_MS, toEpochMs } from '../../model/time.ts';
import { sendToSubscriber } from '../../notify/mails.ts';
import { createNoticeSender, type NoticeChannel, recordNews } from '../../notify/queue.ts';
import { createAddressSeal, erasePending, newSubscriberId, type SubscribablePage } from '../../notify/subscribers.ts';
import { createSubscriptions, decideRequests } from '../../notify/subscriptions.ts';
import { once } from '../../once.ts';
import type { ResolvedPage } from '../../publish/definitions/definitions.ts';
import type { PublishControl } from '../../publish/publish-control.ts';
import type { ServeParts } from '../build-serve.ts';
import type { StoreParts } from '../build-store.ts';
import { now } from '../clock.ts';
import { createErrorLog } from '../log.ts';

/** Longer than a healthy upstream takes to answer. */
const CHANNELS_WAIT_MS = 10 * SECOND_MS;

interface NoticesOptions {
  readonly channels: () => readonly NoticeChannel[];
  /** Resolves once the channels of upstreams are known, or can't be read. */
  readonly knowChannels: () => Promise<void>;
  /** Prints mails instead of sending them. */
  readonly printsMail: boolean;
  /** False: other nodes send queued messages, which they find in the database. */
  readonly isSending: boolean;
}

/** How often the outbox is checked. */
const LOOK_MS = 2 * SECOND_MS;
/** Longer than sending a response takes. */
const DECIDE_DELAY_MS = 100;
/** Unconfirmed subscriptions are deleted after this. */
const PENDING_MS = 24 * HOUR_MS;
/** Connections to the mail server. */
const POOL_SIZE = 2;

export function createNotices(
  { database, key, log, live, publishing }: StoreParts,
  { access, draw, keeper, metrics }: ServeParts,
  { channels, knowChannels, printsMail, isSending }: NoticesOptions,
) {
  const { config } = live;
  const random = systemRandom;
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
    Promise.race([knowChannels(), wait(CHANNELS_WAIT_MS, undefined, { ref: false })]).catch(onError),
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
    channels,
    giveWay: publishing.shown.giveWay,
    onResult: metrics.noticesSettled,
  });

  const wake = (delayMs?: number): void => {
    if (isSending) sender.wake(delayMs);
  };
  let timer: NodeJS.Timeout | null = null;
  return {
    subscriptions: createSubscriptions({
      database,
      key,
      seal,
      random,
      attempts: createAttempts({ database, random, key }),
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
      if ((await recordNews(database, news, now())) > 0 && timer !== null) wake();
    }) satisfies PublishControl['tell'],
    /** Starts sending. */
    open: () => {
      // A message that was sent must be recorded.
      if (database.isReadOnly || !isSending) return;
      timer ??= setInterval(() => wake(), LOOK_MS).unref();
    },
    close: async () => {
      if (timer !== null) clearInterval(timer);
      await sender.close();
      mails.close();
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
