/** Google Chat: a webhook of a space, with one card and a thread for each incident. */

import { escapeMarkup } from '../../model/markup.ts';
import { type ChannelKind, jsonIn, postJson } from './channel.ts';
import { messageOf } from './message.ts';
import { bytesOf, shorten } from './shorten.ts';
import { subjectKey } from './subject-key.ts';

/** 32,000 bytes for the whole message; JSON writes some characters longer. */
const TEXT_BYTES_MAX = 12_000;
const HEADING_MAX = 200;
const KEY_MAX = 256;

export const googleChat: ChannelKind<'google_chat'> = {
  kind: 'google_chat',
  request: ({ webhook_url: webhook }, notice) => {
    const { headline, text, facts, page, url } = messageOf(notice);
    const address = new URL(webhook.reveal());
    address.searchParams.set('messageReplyOption', 'REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD');
    const body = [text, facts.join('\n')].filter((part) => part !== '').join('\n\n');
    const button = { text: shorten(page, HEADING_MAX), onClick: { openLink: { url } } };
    const widgets = [
      ...(body === '' ? [] : [{ textParagraph: { text: shorten(body, TEXT_BYTES_MAX, asHtml, jsonBytes) } }]),
      ...(url === null ? [] : [{ buttonList: { buttons: [button] } }]),
    ];
    return postJson(address.href, {
      thread: { threadKey: subjectKey(notice, KEY_MAX) },
      // A card shows names and headings as they are, and mentions nobody; a message's own text would.
      fallbackText: shorten(headline.replaceAll('<', '‹').replaceAll('>', '›'), HEADING_MAX),
      cardsV2: [
        {
          cardId: 'notice',
          card: {
            header: { title: shorten(headline, HEADING_MAX), subtitle: shorten(page, HEADING_MAX) },
            ...(widgets.length === 0 ? {} : { sections: [{ widgets }] }),
          },
        },
      ],
    });
  },
  isTaken: (answer) => answer.status === 200 && typeof jsonIn(answer)?.['name'] === 'string',
};

/** A paragraph of a card is a small HTML. */
function asHtml(text: string): string {
  return escapeMarkup(text).replaceAll('\n', '<br>');
}

function jsonBytes(text: string): number {
  return bytesOf(JSON.stringify(text));
}
