/**
 * Sends one notice to one channel, once. Checks where the address leads, limits time and response size, and reports
 * whether the notice was accepted, may be retried, or was rejected for good. The caller is responsible for retries.
 */

import { hash } from 'node:crypto';
import { type Channel, type ChannelKindName, type ChannelSettings, hostOf } from '../config/notifications.ts';
import { handOver, type Mail, type SendMail } from '../mail/mail.ts';
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
  type ChannelKinds,
  describeNotice,
  type OutgoingRequest,
  parseObject,
  writePlainText,
} from './channel.ts';
import { CHATS } from './chats.ts';
import type { Notice } from './news.ts';
import { SERVICES } from './services.ts';

// Email to the operator's own addresses, through `access.smtp`.

const SUBJECT_MAX = 160;
const TEXT_MAX = 20_000;

/** The recipients of a channel; each gets a message of its own. The outbox holds ids of addresses, not addresses. */
export function listRecipients({ kind, settings }: Channel): readonly string[] {
  return kind === 'email' ? [...new Set(settings.email.map(recipientId))] : [''];
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

export const HTTP_KINDS: ChannelKinds<HttpKindName> = { ...CHATS, ...SERVICES };

/** Whether it opens an alert, which must be closed again. */
export const isOnCall = ({ kind }: Channel): boolean => kind !== 'email' && HTTP_KINDS[kind].isOnCall === true;

/** The requests for a notice, in order; none if the channel doesn't use such notices. */
export function requestsFor(
  { kind, settings }: { readonly kind: HttpKindName; readonly settings: unknown },
  notice: Notice,
  at: EpochMs,
): readonly OutgoingRequest[] {
  const { write, isOnCall } = HTTP_KINDS[kind];
  const message = describeNotice(notice);
  return isOnCall === true && message.alert === null ? [] : [write(settings as never, message, notice, at)].flat();
}

const LIMITS = {
  connectMs: 5 * SECOND_MS,
  /** From the first byte of a request to the last of its response. */
  totalMs: 15 * SECOND_MS,
  /** Longer responses are cut. */
  answerBytesMax: 16 * 1024,
};

export interface DeliverDeps {
  readonly sendMail: SendMail;
  readonly now: () => EpochMs;
  readonly limits?: Partial<typeof LIMITS>;
  /** Certificates (PEM) trusted instead of the system's. */
  readonly ca?: string;
  /** Default: none. */
  readonly proxy?: ProxySettings;
}

/** How one attempt to send a notice by HTTP ended. */
type Delivery = Extract<Handover, { outcome: 'delivered' | 'postponed' | 'rejected' }>;

const DELIVERED: Delivery = { outcome: 'delivered' };
/** The same request may succeed later, for instance once a key was replaced. */
const LATER_STATUSES: ReadonlySet<number> = new Set([401, 403, 408, 425, 429]);
const EXCERPT_MAX = 200;
const CONNECTIONS_MAX = 4;

export function createDeliverer(deps: DeliverDeps) {
  const { connectMs, totalMs, answerBytesMax } = { ...LIMITS, ...deps.limits };
  const { ca, proxy, now } = deps;
  const common = { connectMs, headersMs: totalMs, idleMs: totalMs, connectionsMax: CONNECTIONS_MAX, ca, proxy };
  const publicOnly = createDispatcher({ ...common, lookup: lookupPublic });
  const anywhere = createDispatcher(common);
  /** True: there may be a proxy, which resolves names by itself. */
  const isProxied = proxy !== undefined && proxyText(proxy) !== null;

  async function send(channel: HttpChannel, { method, headers, body, ...request }: OutgoingRequest): Promise<Delivery> {
    const url = URL.parse(request.url);
    if (url === null) return { outcome: 'rejected', reason: 'the address is invalid' };
    const { origin, pathname, search } = url;
    const isAllowed = channel.allow_private_hosts.includes(hostOf(url));
    if (!isAllowed && url.protocol !== 'https:')
      return later('the address is not https; change it, or add its host to allow_private_hosts');
    // IP addresses are not resolved, so `lookupPublic` would not see them.
    if (!isAllowed && isPrivateHost(url)) return later(PRIVATE_WORDS);
    const signal = AbortSignal.timeout(totalMs);
    try {
      if (!isAllowed && isProxied && (await leadsToPrivate(url))) return later(PRIVATE_WORDS);
      const response = await (isAllowed ? anywhere : publicOnly).request({
        ...{ origin, path: `${pathname}${search}`, method, body, signal },
        headers: { accept: '*/*', 'user-agent': 'Pharos', ...headers },
      });
      const answer = { status: response.statusCode, ...(await readBody(response.body, answerBytesMax)) };
      const secrets = [...secretsIn(channel.settings), ...placesIn(url)];
      return judge(answer, channel.kind, waitMs(response, answer, now()), secrets);
    } catch (error) {
      return later(signal.aborted ? `no response within ${totalMs / SECOND_MS} s` : networkWords(error));
    }
  }

  return {
    /**
     * Never throws because of the other side. Reasons contain neither addresses nor secrets.
     *
     * @param recipient  one of `listRecipients`
     */
    deliver: async (channel: Channel, { page, ...rest }: Notice, recipient = ''): Promise<Handover> => {
      const notice = { ...rest, page: { ...page, language: channel.locale ?? page.language } };
      if (channel.kind === 'email') {
        const mail = mailTo(recipient, channel.settings, notice);
        return mail === null ? { outcome: 'dropped' } : handOver(deps.sendMail, mail);
      }
      for (const request of requestsFor(channel, notice, now())) {
        const delivery = await send(channel, request);
        if (delivery.outcome !== 'delivered') return delivery;
      }
      return DELIVERED;
    },
    /** Closes connections; requests being sent fail. */
    close: async () => {
      await Promise.all([publicOnly.destroy(), anywhere.destroy()]);
    },
  };
}

type HttpChannel = Channel & { readonly kind: HttpKindName };

type ReadAnswer = Answer & Awaited<ReturnType<typeof readBody>>;

/** @param secrets values that must not appear in reasons */
function judge(answer: ReadAnswer, kind: HttpKindName, afterMs: number | null, secrets: readonly string[]): Delivery {
  const { isTaken, retried } = HTTP_KINDS[kind];
  const { status } = answer;
  // Responses may repeat what was sent. Removed before the text is cut, so that no part of a secret is left.
  const body = secrets.reduce((text, secret) => text.replaceAll(secret, '***'), cleanLine(answer.body));
  const excerpt = shorten(body, EXCERPT_MAX);
  const statusText = `status ${status}${excerpt === '' ? '' : `: ${excerpt}`}`;
  if (status >= 200 && status < 300) {
    if (isTaken(answer)) return DELIVERED;
    if (!answer.isWhole) return later(`the response broke off (${statusText})`);
    return { outcome: 'rejected', reason: `the response is not from ${kind}; check the address (${statusText})` };
  }
  if (status >= 500 || LATER_STATUSES.has(status) || retried?.includes(status) === true)
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
async function readBody(stream: Dispatcher.ResponseData['body'], bytesMax: number) {
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
function placesIn(url: URL): readonly string[] {
  return [`${url.pathname}${url.search}`, url.pathname, url.search].filter((part) => part.length > 1);
}
