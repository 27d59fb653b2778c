/** On-call services (an incident opens an alert, and its end closes it), messages to phones, and generic webhooks. */

import { createHmac } from 'node:crypto';
import type { ChannelKindName, ChannelSettings } from '../config/notifications.ts';
import { SECOND_MS, toIso } from '../model/time.ts';
import type { Secret } from '../schema/secret.ts';
import { byteLength, jsonByteLength, shorten } from '../shorten.ts';
import {
  alertState,
  type ChannelKind,
  type ChannelKinds,
  describeNotice,
  noticeKey,
  type OutgoingRequest,
  readField,
  safeLink,
  sendJson,
  subjectKey,
  writePlainText,
} from './channel.ts';
import type { Notice } from './news.ts';

const PAGERDUTY_HOSTS = { us: 'events.pagerduty.com', eu: 'events.eu.pagerduty.com' } as const;
const PAGERDUTY_SEVERITIES = { none: 'info', minor: 'warning', major: 'error', critical: 'critical' } as const;
/** Documented limits of the fields; the text is well below the 512 kB of an event. */
const PAGERDUTY = { summary: 1_024, key: 255, text: 10_000 } as const;

/** Events API v2: an incident triggers an alert, its updates go to the same one, and its end resolves it. */
const pagerduty: ChannelKind<'pagerduty'> = {
  kind: 'pagerduty',
  requests: ({ integration_key: key, region }, notice) => {
    const alert = alertState(notice);
    if (alert === null) return [];
    const { headline, text, facts, names, page, url, title } = describeNotice(notice);
    const address = `https://${PAGERDUTY_HOSTS[region]}/v2/enqueue`;
    const event = {
      routing_key: key.reveal(),
      event_action: alert === 'over' ? 'resolve' : 'trigger',
      dedup_key: subjectKey(notice, PAGERDUTY.key),
    };
    if (alert === 'over') return [sendJson(address, event)];
    return [
      sendJson(address, {
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
      }),
    ];
  },
  isTaken: (answer) => answer.status === 202 && readField(answer, 'status') === 'success',
};

const OPSGENIE_HOSTS = { us: 'https://api.opsgenie.com', eu: 'https://api.eu.opsgenie.com' } as const;
const OPSGENIE_PRIORITIES = { none: 'P5', minor: 'P4', major: 'P2', critical: 'P1' } as const;
/** Documented limits of the fields; notes may be longer. */
const OPSGENIE = { message: 130, alias: 512, description: 15_000, note: 10_000, entity: 512, source: 100 } as const;

/** Alert API: an incident creates an alert by its alias, updates change it and become notes, and its end closes it. */
const opsgenie: ChannelKind<'opsgenie'> = {
  kind: 'opsgenie',
  requests: ({ api_key: key, region, server_url: server }, notice) => {
    const alert = alertState(notice);
    if (alert === null) return [];
    const message = describeNotice(notice);
    const base = server?.replace(/\/+$/, '') ?? OPSGENIE_HOSTS[region];
    const alias = subjectKey(notice, OPSGENIE.alias);
    const own = (action: string): string =>
      `${base}/v2/alerts/${encodeURIComponent(alias)}/${action}?identifierType=alias`;
    const headers = { authorization: `GenieKey ${key.reveal()}` };
    const source = shorten(`Pharos: ${message.page}`, OPSGENIE.source);
    const common = { source, note: shorten(writePlainText(message), OPSGENIE.note) };
    if (alert === 'over') return [sendJson(own('close'), common, headers)];
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
    return [
      create,
      ...Object.entries(canChange ? changing : {}).map(([field, value]) =>
        sendJson(own(field), { [field]: value }, headers, 'PUT'),
      ),
    ];
  },
  isTaken: ({ status }) => status === 202,
};

/** No limits are documented; these are from similar services. */
const ONCALL = { title: 1_024, text: 15_000, key: 255 } as const;

/** A Formatted Webhook, whose alerts are grouped by their id and end with the state `ok`. */
const grafanaOncall: ChannelKind<'grafana_oncall'> = {
  kind: 'grafana_oncall',
  requests: ({ webhook_url: webhook }, notice) => {
    const alert = alertState(notice);
    if (alert === null) return [];
    const { headline, body, url } = describeNotice(notice);
    return [
      sendJson(webhook.reveal(), {
        alert_uid: subjectKey(notice, ONCALL.key),
        title: shorten(headline, ONCALL.title, escapeOncall),
        state: alert === 'over' ? 'ok' : 'alerting',
        message: shorten(body, ONCALL.text, escapeOncall),
        ...(url === null ? {} : { link_to_upstream_details: url }),
      }),
    ];
  },
  isTaken: ({ status }) => status === 200,
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

export const ON_CALL: ChannelKinds<'pagerduty' | 'opsgenie' | 'grafana_oncall'> = {
  pagerduty,
  opsgenie,
  grafana_oncall: grafanaOncall,
};

// Messages to phones: ntfy, and SMS and WhatsApp through the operator's gateway.

/**
 * Documented: longer messages become attachments, and the whole request is limited, where JSON makes some characters
 * longer.
 */
const NTFY = { messageBytes: 4_096, titleBytes: 250, requestBytes: 8_192 } as const;
/** From 1 to 5; 3 is the default. */
const NTFY_PRIORITIES = { none: 2, minor: 3, major: 4, critical: 5 } as const;
const asIs = (text: string): string => text;

/** A message published as JSON at the root of the server. */
const ntfy: ChannelKind<'ntfy'> = {
  kind: 'ntfy',
  requests: ({ topic, server_url: server, token }, notice) => {
    const { headline, body, page, url } = describeNotice(notice);
    const { impact } = notice.subject;
    const isNew = notice.event === 'incident_opened';
    const rest = {
      topic,
      title: shorten(headline, NTFY.titleBytes, asIs, byteLength),
      priority: isNew && impact !== null ? NTFY_PRIORITIES[impact] : 3,
      tags: [notice.event],
      ...(url === null ? {} : { click: url }),
    };
    const room = NTFY.requestBytes - byteLength(JSON.stringify({ ...rest, message: '' }));
    const perByte = Math.max(1, NTFY.messageBytes / room);
    const measure = (text: string): number => Math.max(byteLength(text), jsonByteLength(text) * perByte);
    // Plain text, because Markdown has to be requested.
    const message = shorten(body === '' ? page : body, Math.min(NTFY.messageBytes, room), asIs, measure);
    const headers = token === undefined ? {} : { authorization: `Bearer ${token.reveal()}` };
    return [sendJson(`${server.replace(/\/+$/, '')}/`, { ...rest, message }, headers)];
  },
  isTaken: (answer) => answer.status === 200 && typeof readField(answer, 'id') === 'string',
};

/** Four parts of an SMS in any script have 67 characters each; WhatsApp documents 4,096 characters. */
const GATEWAY_MAX = { sms: 4 * 67, whatsapp: 4_096 } as const;
type GatewayKind = Extract<ChannelKindName, keyof typeof GATEWAY_MAX>;

/**
 * Sending text messages needs a contract with a carrier, and each has its own API. Pharos posts one simple JSON format,
 * and the operator's gateway passes it on.
 */
function throughGateway<K extends GatewayKind>(kind: K): ChannelKind<K> {
  const max = GATEWAY_MAX[kind];
  return {
    kind,
    requests: (settings: ChannelSettings<GatewayKind>, notice: Notice): OutgoingRequest[] => {
      const { headline, text, url } = describeNotice(notice);
      // At least half of the message is text.
      const link = url === null || url.length > max / 2 ? '' : `\n${url}`;
      const words = shorten(text === '' ? headline : `${headline}\n${text}`, max - link.length);
      const headers = Object.entries(settings.gateway_headers).map(([name, value]) => [
        name.toLowerCase(),
        value.reveal(),
      ]);
      const id = noticeKey(notice);
      return [
        sendJson(
          settings.gateway,
          { channel: kind, to: settings.phone_number, text: `${words}${link}`, id },
          { ...Object.fromEntries(headers), 'idempotency-key': id },
        ),
      ];
    },
    isTaken: () => true,
  };
}

export const PHONES: ChannelKinds<'ntfy' | GatewayKind> = {
  ntfy,
  sms: throughGateway('sms'),
  whatsapp: throughGateway('whatsapp'),
};

// Any address: the notice as JSON, signed according to Standard Webhooks.

/** Limits the body. The full text is on the page. */
const TEXT_BYTES_MAX = 20_000;
const TITLE_BYTES_MAX = 1_000;
const NAME_BYTES_MAX = 300;

export const webhook: ChannelKind<'webhook'> = {
  kind: 'webhook',
  requests: ({ endpoint, headers, secrets }, notice, at) => {
    const own = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value.reveal()]),
    );
    const request = sendJson(endpoint, toBody(notice), own);
    const timestamp = String(Math.floor(at / SECOND_MS));
    const id = noticeKey(notice);
    const signed = `${id}.${timestamp}.${request.body}`;
    const signatures = secrets.map((secret) => `v1,${sign(signed, secret)}`).join(' ');
    return [
      {
        ...request,
        headers: {
          ...request.headers,
          'webhook-id': id,
          'webhook-timestamp': timestamp,
          'webhook-signature': signatures,
        },
      },
    ];
  },
  isTaken: () => true,
  // Standard Webhooks: a receiver that is being deployed may be missing for a while.
  retried: [404],
};

/** The `type` with dots between words, the time, and the data. */
function toBody(notice: Notice): Readonly<Record<string, unknown>> {
  const { page, subject } = notice;
  const message = describeNotice(notice);
  const cut = (text: string, max: number): string => shorten(text, max, (plain) => plain, jsonByteLength);
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
