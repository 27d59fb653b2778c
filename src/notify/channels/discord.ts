/** Discord: a webhook of a channel, executed with one embed. */

import { toIso } from '../../model/time.ts';
import { type ChannelKind, postJson } from './channel.ts';
import { messageOf } from './message.ts';
import { shorten } from './shorten.ts';

/** Documented limits of an embed; 6,000 characters for all of them together. */
const TITLE_MAX = 256;
const DESCRIPTION_MAX = 4_096;
const FOOTER_MAX = 256;
/** An address is shown as it is written: nothing inside it is Markdown. */
const ADDRESS = /https?:\/\/[\w\-.~:/?#@!$&'+,;=%]+/g;

export const discord: ChannelKind<'discord'> = {
  kind: 'discord',
  request: ({ webhook_url: url }, notice) => {
    const message = messageOf(notice);
    const description = [message.text, ...message.facts].filter((part) => part !== '').join('\n');
    return postJson(url.reveal(), {
      // Whatever the text says, nobody is pinged.
      allowed_mentions: { parse: [] },
      embeds: [
        {
          title: shorten(message.headline, TITLE_MAX, escapeMarkdown),
          ...(description === '' ? {} : { description: shorten(description, DESCRIPTION_MAX, escapeMarkdown) }),
          ...(message.url === null ? {} : { url: message.url }),
          footer: { text: shorten(message.page, FOOTER_MAX) },
          timestamp: toIso(notice.at),
        },
      ],
    });
  },
  // 204, or 200 with the message where the address says wait=true.
  isTaken: ({ status }) => status === 204 || status === 200,
};

/** Text that Discord shows as it is written: no masked link, no mention, no heading. Plain addresses stay addresses. */
export function escapeMarkdown(text: string): string {
  let end = 0;
  let written = '';
  for (const match of text.matchAll(ADDRESS)) {
    written += escaped(text.slice(end, match.index)) + match[0];
    end = match.index + match[0].length;
  }
  return written + escaped(text.slice(end));
}

function escaped(text: string): string {
  return text.replace(/[\\*_~`|>#+\-[\]()<@]/g, '\\$&');
}
