/** On-call services (an incident opens an alert, and its end closes it), messages to phones, and generic webhooks. */

import { createHmac } from 'node:crypto';
import type { ChannelSettings } from '../config/notifications.ts';
import { SECOND_MS, toIso } from '../model/time.ts';
import type { Secret } from '../schema/secret.ts';
import { byteLength, jsonByteLength, shorten } from '../shorten.ts';
import {
  type ChannelKinds,
  joinParts,
  type Message,
  noticeKey,
  type OutgoingRequest,
  readField,
  safeLink,
  sendJson,
  shortenBytes,
  subjectKey,
  writePlainText,
} from './channel.ts';
import type { Notice } from './news.ts';

const PAGERDUTY_HOSTS = { us: 'events.pagerduty.com', eu: 'events.eu.pagerduty.com' } as const;
const PAGERDUTY_SEVERITIES = { none: 'info', minor: 'warning', major: 'error', critical: 'critical' } as const;
/** Documented limits of the fields; the text is well below the 512 kB of an event. */
const PAGERDUTY = { summary: 1_024, key: 255, text: 10_000 } as const;

const OPSGENIE_HOSTS = { us: 'https://api.opsgenie.com', eu: 'https://api.eu.opsgenie.com' } as const;
const OPSGENIE_PRIORITIES = { none: 'P5', minor: 'P4', major: 'P2', critical: 'P1' } as const;
/** Documented limits of the fields; notes may be longer. */
const OPSGENIE = { message: 130, alias: 512, description: 15_000, note: 10_000, entity: 512, source: 100 } as const;

/** No limits are documented; these are from similar services. */
const ONCALL = { title: 1_024, text: 15_000, key: 255 } as const;

/**
 * Documented: longer messages become attachments, and the whole request is limited, where JSON makes some characters
 * longer.
 */
const NTFY = { messageBytes: 4_096, titleBytes: 250, requestBytes: 8_192 } as const;
/** From 1 to 5; 3 is the default. */
const NTFY_PRIORITIES = { none: 2, minor: 3, major: 4, critical: 5 } as const;

/** Four parts of an SMS in any script have 67 characters each; WhatsApp documents 4,096 characters. */
const GATEWAY_MAX = { sms: 4 * 67, whatsapp: 4_096 } as const;
type GatewayKind = keyof typeof GATEWAY_MAX;

/** Limits the body of a webhook. The full text is on the page. */
const TEXT_BYTES_MAX = 20_000;
const TITLE_BYTES_MAX = 1_000;
const NAME_BYTES_MAX = 300;

export const SERVICES: ChannelKinds<'pagerduty' | 'opsgenie' | 'grafana_oncall' | 'ntfy' | GatewayKind | 'webhook'> = {
  /** Events API v2: an incident triggers an alert, its updates go to the same one, and its end resolves it. */
  pagerduty: {
    isOnCall: true,
    write: ({ integration_key: key, region }, { alert, headline, text, facts, names, page, url, title }, notice) => {
      const address = `https://${PAGERDUTY_HOSTS[region]}/v2/enqueue`;
      const event = {
        routing_key: key.reveal(),
        event_action: alert === 'over' ? 'resolve' : 'trigger',
        dedup_key: subjectKey(notice, PAGERDUTY.key),
      };
      if (alert === 'over') return sendJson(address, event);
      return sendJson(address, {
        ...event,
        client: 'Pharos',
        ...(url === null ? {} : { client_url: url, links: [{ href: url, text: shorten(title, PAGERDUTY.summary) }] }),
        payload: {
          summary: shorten(headline, PAGERDUTY.summary),
          source: shorten(page, PAGERDUTY.summary) || notice.page.slug,
          severity: PAGERDUTY_SEVERITIES[notice.subject.impact ?? 'major'],
          timestamp: toIso(notice.subject.startedAt),
          group: notice.page.slug,
          custom_details: { update: shorten(text, PAGERDUTY.text), facts, components: names },
        },
      });
    },
    isTaken: (answer) => answer.status === 202 && readField(answer, 'status') === 'success',
  },
  /** Alert API: an incident creates an alert by its alias, updates change it and become notes, and its end closes it. */
  opsgenie: {
    isOnCall: true,
    write: ({ api_key: key, region, server_url: server }, message, notice) => {
      const base = server?.replace(/\/+$/, '') ?? OPSGENIE_HOSTS[region];
      const alias = subjectKey(notice, OPSGENIE.alias);
      const own = (action: string): string =>
        `${base}/v2/alerts/${encodeURIComponent(alias)}/${action}?identifierType=alias`;
      const headers = { authorization: `GenieKey ${key.reveal()}` };
      const source = shorten(`Pharos: ${message.page}`, OPSGENIE.source);
      const common = { source, note: shorten(writePlainText(message), OPSGENIE.note) };
      if (message.alert === 'over') return sendJson(own('close'), common, headers);
      const changing = {
        message: shorten(message.headline, OPSGENIE.message),
        description: shorten(writePlainText(message), OPSGENIE.description),
        priority: OPSGENIE_PRIORITIES[notice.subject.impact ?? 'major'],
      };
      const entity = shorten(message.names.length === 1 ? (message.names[0] ?? '') : message.page, OPSGENIE.entity);
      const create = sendJson(`${base}/v2/alerts`, { ...common, ...changing, alias, entity }, headers);
      // On an open alert, a repeated create with its alias only adds the note. Jira Service Management can't change
      // alerts.
      const canChange = notice.event === 'incident_updated' && !base.includes('/jsm/');
      const changes = Object.entries(canChange ? changing : {});
      return [create, ...changes.map(([field, value]) => sendJson(own(field), { [field]: value }, headers, 'PUT'))];
    },
    isTaken: ({ status }) => status === 202,
  },
  /** A Formatted Webhook, whose alerts are grouped by their id and end with the state `ok`. */
  grafana_oncall: {
    isOnCall: true,
    write: ({ webhook_url: webhook }, { alert, headline, body, url }, notice) =>
      sendJson(webhook.reveal(), {
        alert_uid: subjectKey(notice, ONCALL.key),
        title: shorten(headline, ONCALL.title, escapeOncall),
        state: alert === 'over' ? 'ok' : 'alerting',
        message: shorten(body, ONCALL.text, escapeOncall),
        ...(url === null ? {} : { link_to_upstream_details: url }),
      }),
    isTaken: ({ status }) => status === 200,
  },
  /** A message published as JSON at the root of the server. */
  ntfy: {
    write: ({ topic, server_url: server, token }, { headline, body, page, url }, { event, subject: { impact } }) => {
      const rest = {
        topic,
        title: shortenBytes(headline, NTFY.titleBytes),
        priority: event === 'incident_opened' && impact !== null ? NTFY_PRIORITIES[impact] : 3,
        tags: [event],
        ...(url === null ? {} : { click: url }),
      };
      const room = NTFY.requestBytes - byteLength(JSON.stringify({ ...rest, message: '' }));
      const perByte = Math.max(1, NTFY.messageBytes / room);
      const measure = (text: string): number => Math.max(byteLength(text), jsonByteLength(text) * perByte);
      // Plain text, because Markdown has to be requested.
      const message = shortenBytes(body === '' ? page : body, Math.min(NTFY.messageBytes, room), measure);
      const headers = token === undefined ? {} : { authorization: `Bearer ${token.reveal()}` };
      return sendJson(`${server.replace(/\/+$/, '')}/`, { ...rest, message }, headers);
    },
    isTaken: (answer) => answer.status === 200 && typeof readField(answer, 'id') === 'string',
  },
  sms: { write: (settings, message, notice) => toGateway('sms', settings, message, notice), isTaken: () => true },
  whatsapp: {
    write: (settings, message, notice) => toGateway('whatsapp', settings, message, notice),
    isTaken: () => true,
  },
  /** Any address: the notice as JSON, signed according to Standard Webhooks. */
  webhook: {
    write: ({ endpoint, headers, secrets }, message, notice, at) => {
      const request = sendJson(endpoint, toBody(notice, message), revealHeaders(headers));
      const timestamp = String(Math.floor(at / SECOND_MS));
      const id = noticeKey(notice);
      const signed = `${id}.${timestamp}.${request.body}`;
      const signatures = secrets.map((secret) => `v1,${sign(signed, secret)}`).join(' ');
      const proof = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures };
      return { ...request, headers: { ...request.headers, ...proof } };
    },
    isTaken: () => true,
    // Standard Webhooks: a receiver that is being deployed may be missing for a while.
    retried: [404],
  },
};

/**
 * Some of its templates render Markdown, pass HTML on to chats, or show backslashes. So the characters that begin tags
 * or mentions are replaced and masked links are broken up; addresses stay unchanged.
 */
function escapeOncall(text: string): string {
  return text
    .replaceAll('<', '‹')
    .replaceAll('>', '›')
    .replace(/\](?=[([:])/g, '] ');
}

/**
 * Sending text messages needs a contract with a carrier, and each has its own API. Pharos posts one simple JSON format,
 * and the operator's gateway passes it on.
 */
function toGateway(
  kind: GatewayKind,
  { gateway, gateway_headers: headers, phone_number: to }: ChannelSettings<GatewayKind>,
  { headline, text, url }: Message,
  notice: Notice,
): OutgoingRequest {
  const max = GATEWAY_MAX[kind];
  // At least half of the message is text.
  const link = url === null || url.length > max / 2 ? '' : `\n${url}`;
  const words = shorten(joinParts([headline, text], '\n'), max - link.length);
  const id = noticeKey(notice);
  const body = { channel: kind, to, text: `${words}${link}`, id };
  return sendJson(gateway, body, { ...revealHeaders(headers), 'idempotency-key': id });
}

function revealHeaders(headers: Readonly<Record<string, Secret>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value.reveal()]));
}

/** The `type` with dots between words, the time, and the data. */
function toBody(notice: Notice, message: Message): Readonly<Record<string, unknown>> {
  const { page, subject } = notice;
  const cut = (text: string, max: number): string => shortenBytes(text, max, jsonByteLength);
  return {
    type: notice.event.replace('_', '.'),
    timestamp: toIso(notice.at),
    data: {
      page: { ...page, title: cut(message.page, TITLE_BYTES_MAX), url: safeLink(page.url) },
      subject: {
        ...subject,
        title: cut(message.title, TITLE_BYTES_MAX),
        url: safeLink(subject.url),
        startedAt: toIso(subject.startedAt),
        endsAt: subject.endsAt === null ? null : toIso(subject.endsAt),
      },
      components: message.names.map((name) => cut(name, NAME_BYTES_MAX)),
      text: cut(message.text, TEXT_BYTES_MAX),
    },
  };
}

function sign(signed: string, secret: Secret): string {
  const key = Buffer.from(secret.reveal().slice('whsec_'.length), 'base64');
  return createHmac('sha256', key).update(signed).digest('base64');
}
