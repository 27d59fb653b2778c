/**
 * Text messages through a gateway of the operator's. Only a carrier, or somebody with a contract with one, can send them,
 * and each has an API of its own: Pharos posts one plain shape, and the gateway passes it on.
 */

import type { ChannelKindName, ChannelSettings } from '../../config/notifications.ts';
import type { Notice } from '../notice.ts';
import { type ChannelKind, type OutgoingRequest, postJson } from './channel.ts';
import { messageOf } from './message.ts';
import { shorten } from './shorten.ts';
import { noticeKey } from './subject-key.ts';

type GatewayKind = Extract<ChannelKindName, 'sms' | 'whatsapp'>;

/** A kind that posts `{ channel, to, text, id }`; `max` is of the text, in characters. */
export function throughGateway<K extends GatewayKind>(kind: K, max: number): ChannelKind<K> {
  return {
    kind,
    request: (settings: ChannelSettings<GatewayKind>, notice: Notice): OutgoingRequest => {
      const { headline, text, url } = messageOf(notice);
      // Half of it is for words at least.
      const link = url === null || url.length > max / 2 ? '' : `\n${url}`;
      const words = shorten(text === '' ? headline : `${headline}\n${text}`, max - link.length);
      const headers = Object.entries(settings.gateway_headers).map(([name, value]) => [
        name.toLowerCase(),
        value.reveal(),
      ]);
      return postJson(
        settings.gateway,
        { channel: kind, to: settings.phone_number, text: `${words}${link}`, id: noticeKey(notice) },
        { ...Object.fromEntries(headers), 'idempotency-key': noticeKey(notice) },
      );
    },
    isTaken: () => true,
  };
}
