/** Notifications: records notices, handles subscriptions, and sends what is queued. */

import { setTimeout as wait } from 'node:timers/promises';
import { createAttempts } from '../../access/attempts.ts';
import type { Access } from '../../access/create-access.ts';
import { systemRandom } from '../../access/digest.ts';
import type { Config } from '../../config/load.ts';
import type { SendMail } from '../../mail/mail.ts';
import { createPrintingMailer, createSmtpPool, type MailPool } from '../../mail/mailer.ts';
import type { PageKey } from '../../model/slugs.ts';
import { type EpochMs, HOUR_MS, SECOND_MS, toEpochMs } from '../../model/time.ts';
import { sendToSubscriber } from '../../notify/mails.ts';
import type { NoticeChannel } from '../../notify/queue.ts';
import { createNoticeSender, type NoticeSenderOptions, recordNews } from '../../notify/queue.ts';
import { createAddressSeal, erasePending, newSubscriberId, type SubscribablePage } from '../../notify/subscribers.ts';
import type { RenderSubscribe } from '../../notify/subscriptions.ts';
import { createSubscriptions, decideRequests, type Subscriptions } from '../../notify/subscriptions.ts';
import { once } from '../../once.ts';
import type { ResolvedPage } from '../../publish/definitions/definitions.ts';
import type { PublishControl } from '../../publish/publish-control.ts';
import type { Secret } from '../../schema/secret.ts';
import type { Database } from '../../store/database.ts';
import { createErrorLog, type Log } from '../log.ts';

/** Longer than a healthy upstream takes to answer. */
const CHANNELS_WAIT_MS = 10 * SECOND_MS;

interface NoticesDeps {
  readonly database: Database;
  readonly key: Secret;
  readonly now: () => EpochMs;
  readonly log: Log;
  readonly config: () => Config;
  readonly access: Pick<Access, 'pageOf'>;
  /** The page as currently defined; null: there is none. */
  readonly page: (slug: string) => ResolvedPage | null;
  /** The page that something is kept for; null: it has no slug any more. */
  readonly pageKept: (key: PageKey) => ResolvedPage | null;
  readonly channels: () => readonly NoticeChannel[];
  readonly giveWay: () => Promise<void>;
  /** Resolves once the channels of upstreams are known, or can't be read. */
  readonly knowChannels: () => Promise<void>;
  readonly printsMail: boolean;
  /** False: other nodes send queued messages, which they find in the database. */
  readonly isSending: boolean;
  readonly render: RenderSubscribe;
  readonly onResult: NoticeSenderOptions['onResult'];
}

interface Notices {
  readonly subscriptions: Subscriptions;
  readonly tell: PublishControl['tell'];
  /** Starts sending. */
  readonly open: () => void;
  readonly close: () => Promise<void>;
}

/** How often the outbox is checked. */
const LOOK_MS = 2 * SECOND_MS;
/** Longer than sending a response takes. */
const DECIDE_DELAY_MS = 100;
/** Unconfirmed subscriptions are deleted after this. */
const PENDING_MS = 24 * HOUR_MS;
/** Connections to the mail server. */
const POOL_SIZE = 2;

export function createNotices(deps: NoticesDeps): Notices {
  const { database, key, now, log, config } = deps;
  const random = systemRandom;
  const pageKept = (page: PageKey) => subscribable(deps.pageKept(page));
  const seal = createAddressSeal(key, random);
  const mails = createMails(deps);
  const logError = createErrorLog(log);
  const onError = (error: unknown): void => logError(error, 'notices');
  /** Whether the write-ahead log may still contain deleted data; unknown after a start. */
  let isLogStale = true;
  /**
   * Notices that are queued before the upstreams' channels are known would not reach them. But a hanging upstream must not
   * delay the others.
   */
  const channelsKnown = once(() =>
    Promise.race([deps.knowChannels(), wait(CHANNELS_WAIT_MS, undefined, { ref: false })]).catch(onError),
  );

  function subscribable(found: ResolvedPage | null): SubscribablePage | null {
    if (found === null || !found.settings.subscriptions) return null;
    const { definition, settings, password, identity } = found;
    const { slug, title, titles, access, emailDomains, oidc } = definition;
    const gated = deps.access.pageOf(slug);
    if (access === 'closed' || gated?.key !== identity.key) return null;
    const { locale, url, timezone, languages } = settings;
    const page = { key: identity.key, slug, title, locale, url, access, password, emailDomains, oidc };
    return { identity, page, gated, timezone, titles, locales: languages?.all.slice(1) ?? [] };
  }

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
    channels: deps.channels,
    giveWay: deps.giveWay,
    onResult: deps.onResult,
  });

  const wake = (delayMs?: number): void => {
    if (deps.isSending) sender.wake(delayMs);
  };
  let timer: NodeJS.Timeout | null = null;
  return {
    subscriptions: createSubscriptions({
      database,
      key,
      seal,
      random,
      attempts: createAttempts({ database, random, key }),
      pageOf: (slug) => subscribable(deps.page(slug)),
      locale: () => config().site.locale,
      render: deps.render,
      onRequest: () => wake(DECIDE_DELAY_MS),
      onErased: () => {
        isLogStale = true;
        wake();
      },
    }),
    tell: async (news) => {
      if ((await recordNews(database, news, now())) > 0 && timer !== null) wake();
    },
    open: () => {
      // A message that was sent must be recorded.
      if (database.isReadOnly || !deps.isSending) return;
      timer ??= setInterval(() => wake(), LOOK_MS).unref();
    },
    close: async () => {
      if (timer !== null) clearInterval(timer);
      await sender.close();
      mails.close();
    },
  };
}

/** Connections to the current mail server; null: none is configured. */
function createMails({ config, printsMail }: NoticesDeps): {
  readonly current: () => SendMail | null;
  readonly close: () => void;
} {
  let pool: (MailPool & { readonly of: string }) | null = null;
  return {
    current: () => {
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
