/** ntfy: a message published as JSON at the root of the server. */

import { type ChannelKind, jsonIn, postJson } from './channel.ts';
import { messageOf } from './message.ts';
import { bytesOf, shorten } from './shorten.ts';

/** Documented: a longer message becomes an attachment. */
const MESSAGE_BYTES_MAX = 4_096;
const TITLE_BYTES_MAX = 250;
const asIs = (text: string): string => text;
/** 1 to 5, where 3 is usual. */
const PRIORITIES = { none: 2, minor: 3, major: 4, critical: 5 } as const;

export const ntfy: ChannelKind<'ntfy'> = {
  kind: 'ntfy',
  request: ({ topic, server_url: server, token }, notice) => {
    const { headline, text, facts, page, url } = messageOf(notice);
    const body = [text, facts.join('\n')].filter((part) => part !== '').join('\n\n');
    const { impact } = notice.subject;
    const isNew = notice.event === 'incident_opened';
    return postJson(
      `${server.replace(/\/+$/, '')}/`,
      {
        topic,
        title: shorten(headline, TITLE_BYTES_MAX, asIs, bytesOf),
        // Without Markdown, which has to be asked for.
        message: shorten(body === '' ? page : body, MESSAGE_BYTES_MAX, asIs, bytesOf),
        priority: isNew && impact !== null ? PRIORITIES[impact] : 3,
        tags: [notice.event],
        ...(url === null ? {} : { click: url }),
      },
      token === undefined ? {} : { authorization: `Bearer ${token.reveal()}` },
    );
  },
  isTaken: (answer) => answer.status === 200 && typeof jsonIn(answer)?.['id'] === 'string',
};
