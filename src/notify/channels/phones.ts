/** Messages to phones: ntfy, and SMS and WhatsApp through a gateway of the operator's. */

import type { ChannelKindName, ChannelSettings } from '../../config/notifications.ts';
import { byteLength, jsonByteLength, shorten } from '../../shorten.ts';
import type { Notice } from '../notice.ts';
import { type ChannelKind, type ChannelKinds, type OutgoingRequest, readField, sendJson } from './channel.ts';
import { describeNotice, noticeKey } from './message.ts';

/** Documented: a longer message becomes an attachment; and of the whole request, where JSON writes some characters longer. */
const NTFY = { messageBytes: 4_096, titleBytes: 250, requestBytes: 8_192 } as const;
/** 1 to 5, where 3 is usual. */
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
    // Without Markdown, which has to be asked for.
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
 * Only a carrier, or somebody with a contract with one, can send text messages, and each has an API of its own: Pharos posts
 * one plain shape, and the gateway passes it on.
 */
function throughGateway<K extends GatewayKind>(kind: K): ChannelKind<K> {
  const max = GATEWAY_MAX[kind];
  return {
    kind,
    requests: (settings: ChannelSettings<GatewayKind>, notice: Notice): OutgoingRequest[] => {
      const { headline, text, url } = describeNotice(notice);
      // At least half of it is for words.
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
