/**
 * Sends one notice to one channel, once. Checks where the address leads, limits time and response size, and reports
 * whether the notice was accepted, may be retried, or was rejected for good. The caller is responsible for retries.
 */

import { hash } from 'node:crypto';
import { type Channel, type ChannelKindName, type ChannelSettings, hostOf } from '../config/notifications.ts';
import { type Mail, mailFailure, type SendMail } from '../mail/mail.ts';
import { type EpochMs, SECOND_MS } from '../model/time.ts';
import { createDispatcher, type Dispatcher } from '../network/dispatcher.ts';
import { type ProxySettings, proxyText } from '../network/proxy.ts';
import type { Handover } from '../outbox/outbox.ts';
import { Secret } from '../schema/secret.ts';
import { shorten } from '../shorten.ts';
import { isPrivateHost, leadsToPrivate, lookupPublic } from '../sync/http/public-only.ts';
import { parseHttpDate, parseRetryAfter, RETRY_AFTER_MAX_MS } from '../sync/http/retry-after.ts';
import { cleanLine } from '../views/text/plain-text.ts';
import {
  type Answer,
  type ChannelKind,
  type ChannelKinds,
  type Delivery,
  describeNotice,
  type OutgoingRequest,
  parseObject,
  writePlainText,
} from './channel.ts';
import { CHATS } from './chats.ts';
import type { Notice } from './news.ts';
import { ON_CALL, PHONES, webhook } from './services.ts';

// Email to the operator's own addresses, through `access.smtp`.

const SUBJECT_MAX = 160;
const TEXT_MAX = 20_000;

/** Ids of the recipients in the outbox, which holds no addresses. */
export function emailRecipients({ email }: ChannelSettings<'email'>): readonly string[] {
  return [...new Set(email.map(recipientId))];
}

function recipientId(address: string): string {
  return hash('sha256', address).slice(0, 32);
}

/** The mail for one recipient, without the other addresses; null: the address is no longer configured. */
export function mailTo(recipient: string, { email }: ChannelSettings<'email'>, notice: Notice): Mail | null {
  const to = email.find((address) => recipientId(address) === recipient);
  if (to === undefined) return null;
  const message = describeNotice(notice);
  const host = URL.parse(notice.page.url ?? '')?.hostname || 'pharos.invalid';
  const messageId = (...parts: readonly string[]): string =>
    `<${hash('sha256', JSON.stringify(parts)).slice(0, 40)}@${host}>`;
  return {
    to,
    // Without components, because subjects appear on lock screens.
    subject: shorten(`[${message.page}] ${message.headline}`, SUBJECT_MAX),
    text: shorten(writePlainText(message), TEXT_MAX),
    // The same for the same notice and recipient.
    messageId: messageId(notice.id, to),
    // The same for all mails of one incident, so that they are shown as a thread.
    references: [messageId(notice.subject.id)],
  };
}

export type HttpKindName = Exclude<ChannelKindName, 'email'>;

export const HTTP_KINDS: ChannelKinds<HttpKindName> = { ...CHATS, ...ON_CALL, ...PHONES, webhook };

interface DeliverLimits {
  readonly connectMs: number;
  /** From the first byte of a request to the last of its response. */
  readonly totalMs: number;
  /** Longer responses are cut. */
  readonly answerBytesMax: number;
}

const LIMITS: DeliverLimits = { connectMs: 5 * SECOND_MS, totalMs: 15 * SECOND_MS, answerBytesMax: 16 * 1024 };

export interface DeliverDeps {
  readonly sendMail: SendMail;
  readonly now: () => EpochMs;
  readonly limits?: Partial<DeliverLimits>;
  /** Certificates (PEM) trusted instead of the system's. */
  readonly ca?: string;
  /** Default: none. */
  readonly proxy?: ProxySettings;
}

interface Deliverer {
  /**
   * Never throws because of the other side. Reasons contain neither addresses nor secrets.
   *
   * @param recipient  one of `listRecipients`
   */
  readonly deliver: (channel: Channel, notice: Notice, recipient?: string) => Promise<Handover>;
  /** Closes connections; requests being sent fail. */
  readonly close: () => Promise<void>;
}

const DELIVERED: Delivery = { outcome: 'delivered' };
/** The same request may succeed later, for instance once a key was replaced. */
const LATER_STATUSES: ReadonlySet<number> = new Set([401, 403, 408, 425, 429]);
const EXCERPT_MAX = 200;
const CONNECTIONS_MAX = 4;

export function createDeliverer(deps: DeliverDeps): Deliverer {
  const limits = { ...LIMITS, ...deps.limits };
  const { ca, proxy } = deps;
  const { connectMs, totalMs } = limits;
  const common = { connectMs, headersMs: totalMs, idleMs: totalMs, connectionsMax: CONNECTIONS_MAX, ca, proxy };
  const agents = {
    publicOnly: createDispatcher({ ...common, lookup: lookupPublic }),
    anywhere: createDispatcher(common),
  };
  const isProxied = proxy !== undefined && proxyText(proxy) !== null;
  return {
    deliver: async (channel, notice, recipient = '') => {
      const translated = inLanguage(notice, channel.locale);
      if (channel.kind === 'email') return sendTo(recipient, channel.settings, translated, deps.sendMail);
      const kind = HTTP_KINDS[channel.kind] as ChannelKind<typeof channel.kind>;
      for (const request of kind.requests(channel.settings as never, translated, deps.now())) {
        const { now } = deps;
        const secrets = [...secretsIn(channel.settings), ...placesIn(request.url)];
        const sending = { request, allowed: channel.allow_private_hosts, agents, isProxied, limits, now, secrets };
        const delivery = await send(sending, kind);
        if (delivery.outcome !== 'delivered') return delivery;
      }
      return DELIVERED;
    },
    close: async () => {
      await Promise.all([agents.publicOnly.destroy(), agents.anywhere.destroy()]);
    },
  };
}

function inLanguage(notice: Notice, language: string | undefined): Notice {
  return language === undefined ? notice : { ...notice, page: { ...notice.page, language } };
}

/** The recipients of a channel; each gets a message of its own. */
export function listRecipients(channel: Channel): readonly string[] {
  return channel.kind === 'email' ? emailRecipients(channel.settings) : [''];
}

async function sendTo(
  recipient: string,
  settings: ChannelSettings<'email'>,
  notice: Notice,
  sendMail: SendMail,
): Promise<Handover> {
  const mail = mailTo(recipient, settings, notice);
  if (mail === null) return { outcome: 'dropped' };
  try {
    await sendMail(mail);
    return DELIVERED;
  } catch (error) {
    return mailFailure(error);
  }
}

interface Sending {
  readonly request: OutgoingRequest;
  readonly allowed: readonly string[];
  readonly agents: { readonly publicOnly: Dispatcher; readonly anywhere: Dispatcher };
  /** True: there may be a proxy, which resolves names by itself. */
  readonly isProxied: boolean;
  readonly limits: DeliverLimits;
  readonly now: () => EpochMs;
  /** Values that must not appear in reasons. */
  readonly secrets: readonly string[];
}

async function send(
  { request, allowed, agents, isProxied, limits, now, secrets }: Sending,
  kind: Pick<ChannelKind<ChannelKindName>, 'kind' | 'isTaken' | 'retried'>,
): Promise<Delivery> {
  const url = URL.parse(request.url);
  if (url === null) return { outcome: 'rejected', reason: 'the address is invalid' };
  const isAllowed = allowed.includes(hostOf(url));
  if (!isAllowed && url.protocol !== 'https:')
    return later('the address is not https; change it, or add its host to allow_private_hosts');
  // IP addresses are not resolved, so `lookupPublic` would not see them.
  if (!isAllowed && isPrivateHost(url)) return later(PRIVATE_WORDS);
  const signal = AbortSignal.timeout(limits.totalMs);
  try {
    if (!isAllowed && isProxied && (await leadsToPrivate(url))) return later(PRIVATE_WORDS);
    const response = await (isAllowed ? agents.anywhere : agents.publicOnly).request({
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method: request.method,
      headers: { accept: '*/*', 'user-agent': 'Pharos', ...request.headers },
      body: request.body,
      signal,
    });
    const { body, isWhole } = await readBody(response.body, limits.answerBytesMax);
    const answer = { status: response.statusCode, body };
    return judge(answer, { kind, isWhole, afterMs: waitMs(response, answer, now()), secrets });
  } catch (error) {
    return later(signal.aborted ? `no response within ${limits.totalMs / SECOND_MS} s` : networkWords(error));
  }
}

interface Judging {
  readonly kind: Pick<ChannelKind<ChannelKindName>, 'kind' | 'isTaken' | 'retried'>;
  readonly isWhole: boolean;
  readonly afterMs: number | null;
  readonly secrets: readonly string[];
}

function judge(answer: Answer, { kind, isWhole, afterMs, secrets }: Judging): Delivery {
  const { status } = answer;
  // Responses may repeat what was sent. Removed before the text is cut, so that no part of a secret is left.
  const body = secrets.reduce((text, secret) => text.replaceAll(secret, '***'), cleanLine(answer.body));
  const excerpt = shorten(body, EXCERPT_MAX);
  const statusText = `status ${status}${excerpt === '' ? '' : `: ${excerpt}`}`;
  if (status >= 200 && status < 300) {
    if (kind.isTaken(answer)) return DELIVERED;
    if (!isWhole) return later(`the response broke off (${statusText})`);
    return { outcome: 'rejected', reason: `the response is not from ${kind.kind}; check the address (${statusText})` };
  }
  if (status >= 500 || LATER_STATUSES.has(status) || kind.retried?.includes(status) === true)
    return { outcome: 'postponed', reason: statusText, afterMs };
  if (status >= 300 && status < 400)
    return { outcome: 'rejected', reason: `status ${status}: redirects are not followed; enter the new address` };
  return { outcome: 'rejected', reason: statusText };
}

/** How long the service asks to wait: from the header, or from the body, where Discord and Telegram have it in seconds. */
function waitMs({ headers }: Dispatcher.ResponseData, answer: Answer, now: EpochMs): number | null {
  const theirNow = parseHttpDate(typeof headers['date'] === 'string' ? headers['date'] : '', now);
  const at = parseRetryAfter(headers['retry-after'], { now, theirNow });
  if (at !== null) return at - now;
  const json = parseObject(answer);
  const parameters = json?.['parameters'] as { readonly retry_after?: unknown } | null | undefined;
  const seconds = json?.['retry_after'] ?? parameters?.retry_after;
  return typeof seconds === 'number' && seconds > 0
    ? Math.min(Math.ceil(seconds * SECOND_MS), RETRY_AFTER_MAX_MS)
    : null;
}

/** Reads a body up to the limit. If the connection breaks, returns what was read, because the status is known. */
async function readBody(
  stream: Dispatcher.ResponseData['body'],
  bytesMax: number,
): Promise<{ readonly body: string; readonly isWhole: boolean }> {
  const chunks: Buffer[] = [];
  let length = 0;
  let isWhole = true;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      // Leaving the loop closes the connection.
      if (length >= bytesMax) break;
    }
  } catch {
    isWhole = false;
  }
  return { body: Buffer.concat(chunks).subarray(0, bytesMax).toString('utf8'), isWhole };
}

function later(reason: string): Delivery {
  return { outcome: 'postponed', reason, afterMs: null };
}

const PRIVATE_WORDS = 'the address is not public; to send there, add its host to allow_private_hosts';
const NETWORK_WORDS: Readonly<Record<string, string>> = {
  EPRIVATE: PRIVATE_WORDS,
  ENOTFOUND: 'the host does not exist; check the address',
  EAI_AGAIN: 'the host name can’t be resolved right now',
  ECONNREFUSED: 'the connection was refused; check host and port',
  ECONNRESET: 'the connection was closed',
  UND_ERR_SOCKET: 'the connection was closed',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
};

/** Never uses an error's message, because it may quote what was sent. */
function networkWords(error: unknown): string {
  const code = String((error as { readonly code?: unknown }).code ?? '');
  const words = NETWORK_WORDS[code];
  if (words !== undefined) return words;
  return /^(CERT_|ERR_TLS_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/.test(code)
    ? `its certificate was rejected (${code})`
    : `it is unreachable (${code || 'no reason given'})`;
}

/** Every secret of the settings, however deep. */
function secretsIn(value: unknown): readonly string[] {
  if (value instanceof Secret) return [value.reveal()];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(secretsIn) : [];
}

/** Path and query of an address, longest first. They are secret in webhooks, and error pages often repeat them. */
function placesIn(address: string): readonly string[] {
  const url = URL.parse(address);
  if (url === null) return [];
  return [`${url.pathname}${url.search}`, url.pathname, url.search].filter((part) => part.length > 1);
}
