/** Telegram: sendMessage of the Bot API. */

import { escapeMarkup } from '../../model/markup.ts';
import { type ChannelKind, jsonIn, postJson } from './channel.ts';
import { messageOf } from './message.ts';
import { shorten } from './shorten.ts';

/** 4,096 characters after entities are read; as they are written is longer, never shorter. */
const TEXT_MAX = 4_096;
const HEADLINE_MAX = 512;
const LINK_MAX = 256;

export const telegram: ChannelKind<'telegram'> = {
  kind: 'telegram',
  request: ({ chat_id, bot_token: token }, notice) => {
    const { headline, text, facts, page, url } = messageOf(notice);
    const name = shorten(page, LINK_MAX, escapeMarkup);
    const title = `<b>${shorten(headline, HEADLINE_MAX, escapeMarkup)}</b>`;
    const link = url === null ? name : `<a href="${escapeMarkup(url)}">${name}</a>`;
    const room = TEXT_MAX - title.length - link.length - 4;
    const body = shorten([text, facts.join('\n')].filter((part) => part !== '').join('\n\n'), room, escapeMarkup);
    return postJson(`https://api.telegram.org/bot${token.reveal()}/sendMessage`, {
      chat_id,
      text: [title, body, link].filter((part) => part !== '').join('\n\n'),
      parse_mode: 'HTML',
      link_preview_options: { is_disabled: true },
    });
  },
  isTaken: (answer) => answer.status === 200 && jsonIn(answer)?.['ok'] === true,
};
