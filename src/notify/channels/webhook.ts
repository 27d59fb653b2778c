/** Any address: the notice as JSON, signed as Standard Webhooks has it. */

import { createHmac } from 'node:crypto';
import type { Secret } from '../../config/secret.ts';
import { SECOND_MS, toIso } from '../../model/time.ts';
import type { Notice } from '../notice.ts';
import { type ChannelKind, postJson } from './channel.ts';
import { messageOf } from './message.ts';
import { shorten } from './shorten.ts';
import { noticeKey } from './subject-key.ts';

/** Receivers take no endless bodies; whoever wants all of a long text reads it at its address. */
const TEXT_MAX = 10_000;
const NAME_MAX = 500;

export const webhook: ChannelKind<'webhook'> = {
  kind: 'webhook',
  request: ({ endpoint, headers, secrets }, notice, at) => {
    const own = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value.reveal()]),
    );
    const request = postJson(endpoint, bodyOf(notice), own);
    const timestamp = String(Math.floor(at / SECOND_MS));
    const id = noticeKey(notice);
    const signed = `${id}.${timestamp}.${request.body}`;
    return {
      ...request,
      headers: {
        ...request.headers,
        'webhook-id': id,
        'webhook-timestamp': timestamp,
        'webhook-signature': secrets.map((secret) => `v1,${signatureOf(signed, secret)}`).join(' '),
      },
    };
  },
  isTaken: () => true,
};

/** `type` with dots between its words, the instant, and what there is to say. */
function bodyOf(notice: Notice): Readonly<Record<string, unknown>> {
  const { page, subject } = notice;
  const message = messageOf(notice);
  return {
    type: notice.event.replace('_', '.'),
    timestamp: toIso(notice.at),
    data: {
      page: { ...page, title: shorten(message.page, NAME_MAX) },
      subject: {
        ...subject,
        title: shorten(message.linkText, NAME_MAX),
        startedAt: toIso(subject.startedAt),
        endsAt: subject.endsAt === null ? null : toIso(subject.endsAt),
      },
      components: message.names.map((name) => shorten(name, NAME_MAX)),
      text: shorten(message.text, TEXT_MAX),
    },
  };
}

function signatureOf(signed: string, secret: Secret): string {
  const key = Buffer.from(secret.reveal().slice('whsec_'.length), 'base64');
  return createHmac('sha256', key).update(signed).digest('base64');
}
