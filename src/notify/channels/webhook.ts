/** Any address: the notice as JSON, signed as Standard Webhooks has it. */

import { createHmac } from 'node:crypto';
import { SECOND_MS, toIso } from '../../model/time.ts';
import type { Secret } from '../../schema/secret.ts';
import { jsonByteLength, shorten } from '../../shorten.ts';
import type { Notice } from '../notice.ts';
import { type ChannelKind, sendJson } from './channel.ts';
import { describeNotice, noticeKey, safeLink } from './message.ts';

/** Receivers take no endless bodies; whoever wants all of a long text reads it at its address. */
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

/** `type` with dots between its words, the instant, and what there is to say. */
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
