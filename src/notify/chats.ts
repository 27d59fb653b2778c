/** Slack, Discord, Telegram, Google Chat and Microsoft Teams. Text is always shown literally, and never mentions anyone. */

import { escapeMarkup } from '../model/scalars.ts';
import { toIso } from '../model/time.ts';
import { jsonByteLength, shorten } from '../shorten.ts';
import { localeDirection } from '../views/words/index.ts';
import { type ChannelKinds, joinParts, readField, sendJson, shortenBytes, subjectKey } from './channel.ts';

/** Documented limits of headers, of texts in sections and elements, and of texts of links. */
const SLACK = { header: 150, text: 3_000, name: 256 } as const;
/** Limit for the text in notifications, which Slack cuts at 4,000. */
const SLACK_FALLBACK_MAX = 1_000;
/** Documented limits of an embed; 6,000 characters for all of them together. */
const DISCORD = { title: 256, description: 4_096, footer: 256 } as const;
/** Documented: 4,096 characters after decoding entities. The encoded text is never shorter. */
const TELEGRAM = { text: 4_096, headline: 512, link: 256 } as const;
/** The whole message is limited to 32,000 bytes; JSON makes some characters longer. */
const GOOGLE = { textBytes: 12_000, heading: 200, key: 256 } as const;
/** A message is limited to 28 kB, including its frame. */
const TEAMS = { textBytes: 12_000, lines: 60, headingBytes: 750, factBytes: 1_500 } as const;

export const CHATS: ChannelKinds<'slack' | 'discord' | 'telegram' | 'google_chat' | 'ms_teams'> = {
  /** An incoming webhook, with blocks. */
  slack: {
    write: ({ webhook_url: webhook }, { headline, text, facts, page, url }) => {
      const name = shorten(page, SLACK.name, escapeSlack);
      const link = url === null ? name : `<${url}|${name}>`;
      return sendJson(webhook.reveal(), {
        text: shorten(joinParts([headline, text], '\n'), SLACK_FALLBACK_MAX, escapeSlack),
        blocks: [
          { type: 'header', text: slackText(headline, SLACK.header) },
          ...(text === '' ? [] : [{ type: 'section', text: slackText(text, SLACK.text) }]),
          ...(facts.length === 0 ? [] : [{ type: 'context', elements: [slackText(facts.join('\n'), SLACK.text)] }]),
          { type: 'context', elements: [{ type: 'mrkdwn', text: link, verbatim: true }] },
        ],
        unfurl_links: false,
        unfurl_media: false,
      });
    },
    isTaken: ({ status, body }) => status === 200 && body.trim() === 'ok',
  },
  /** A channel’s webhook, with one embed. */
  discord: {
    write: ({ webhook_url: webhook }, { headline, text, facts, page, url }, { at }) => {
      const description = shorten(joinParts([text, ...facts], '\n'), DISCORD.description, escapeDiscord);
      const embed = {
        title: shorten(headline, DISCORD.title, escapeDiscord),
        ...(description === '' ? {} : { description }),
        ...(url === null ? {} : { url }),
        footer: { text: shorten(page, DISCORD.footer) },
        timestamp: toIso(at),
      };
      return sendJson(webhook.reveal(), { allowed_mentions: { parse: [] }, embeds: [embed] });
    },
    // 204, or 200 with the message if the address has wait=true.
    isTaken: ({ status }) => status === 204 || status === 200,
  },
  /** sendMessage of the Bot API. */
  telegram: {
    write: ({ chat_id, bot_token: token }, { headline, body, page, url }) => {
      const name = shorten(page, TELEGRAM.link, escapeTelegram);
      const title = `<b>${shorten(headline, TELEGRAM.headline, escapeTelegram)}</b>`;
      const link = url === null ? name : `<a href="${escapeMarkup(url)}">${name}</a>`;
      const room = TELEGRAM.text - title.length - link.length - 4;
      return sendJson(`https://api.telegram.org/bot${token.reveal()}/sendMessage`, {
        chat_id,
        text: joinParts([title, shorten(body, room, escapeTelegram), link]),
        parse_mode: 'HTML',
        link_preview_options: { is_disabled: true },
      });
    },
    isTaken: (answer) => answer.status === 200 && readField(answer, 'ok') === true,
  },
  /** A space’s webhook, with one card, and a thread for each incident. */
  google_chat: {
    write: ({ webhook_url: webhook }, { headline, body, page, url }, notice) => {
      const address = new URL(webhook.reveal());
      address.searchParams.set('messageReplyOption', 'REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD');
      const text = shorten(body, GOOGLE.textBytes, escapeGoogle, jsonByteLength);
      const button = { text: shorten(page, GOOGLE.heading), onClick: { openLink: { url } } };
      const widgets = [
        ...(body === '' ? [] : [{ textParagraph: { text } }]),
        ...(url === null ? [] : [{ buttonList: { buttons: [button] } }]),
      ];
      const card = {
        header: { title: shorten(headline, GOOGLE.heading), subtitle: shorten(page, GOOGLE.heading) },
        ...(widgets.length === 0 ? {} : { sections: [{ widgets }] }),
      };
      return sendJson(address.href, {
        thread: { threadKey: subjectKey(notice, GOOGLE.key) },
        // Cards show names and headings literally and never mention anyone, unlike the text of a message.
        fallbackText: shorten(headline.replaceAll('<', '‹').replaceAll('>', '›'), GOOGLE.heading),
        cardsV2: [{ cardId: 'notice', card }],
      });
    },
    isTaken: (answer) => answer.status === 200 && typeof readField(answer, 'name') === 'string',
  },
  /** A workflow “When a Teams webhook request is received”, with an Adaptive Card. */
  ms_teams: {
    write: ({ webhook_url: webhook }, { headline, text, facts, page, url }, notice) => {
      const heading = (words: string): string => shortenBytes(words, TEAMS.headingBytes);
      const isRightToLeft = localeDirection(notice.page.language) === 'rtl';
      const content = {
        $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
        type: 'AdaptiveCard',
        // Only this version supports text from right to left.
        ...(isRightToLeft ? { version: '1.5', rtl: true } : { version: '1.2' }),
        body: [
          teamsLine(heading(headline), { size: 'Large', weight: 'Bolder' }),
          ...(text === '' ? [] : teamsLines(text)).map((words) => teamsLine(words, {})),
          ...facts.map((fact) => teamsLine(shortenBytes(fact, TEAMS.factBytes, jsonByteLength), { isSubtle: true })),
          teamsLine(heading(page), { isSubtle: true }),
        ],
        ...(url === null ? {} : { actions: [{ type: 'Action.OpenUrl', title: heading(page), url }] }),
        msteams: { width: 'Full' },
      };
      return sendJson(webhook.reveal(), {
        type: 'message',
        // Shown in notifications.
        summary: heading(headline),
        attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content }],
      });
    },
    // A workflow responds with 202, or 200 if it ends with a response of its own.
    isTaken: ({ status }) => status === 202 || status === 200,
  },
};

/** Plain text isn’t parsed as mrkdwn. Every text object needs entities for the three control characters. */
function slackText(text: string, max: number) {
  return { type: 'plain_text', text: shorten(text, max, escapeSlack), emoji: false } as const;
}

/** `<!channel>` and links begin with a control character. */
function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** What Discord links: everything up to a space or `<`, except punctuation at the end. Here a backslash ends it too. */
const DISCORD_ADDRESS = /https?:\/\/[^\s<\\]+[^<.,:; "'\]\s\\]/g;

/**
 * Escapes text so that Discord shows it literally: no masked link, no mention, no heading. Addresses stay links, so
 * they must not be followed by a backslash: `]` needs none if every `[` has one, and a space ends an address before `<`
 * and `\`, even with punctuation in between.
 */
function escapeDiscord(text: string): string {
  // A number with a full stop begins a list, which Discord renumbers.
  const quote = (part: string): string =>
    part.replace(/[\\*_~`|>#+\-[<@]/g, '\\$&').replace(/^([^\S\n]*\d+)\.(?=[^\S\n])/gm, '$1\\.');
  let end = 0;
  let written = '';
  for (const match of text.matchAll(DISCORD_ADDRESS)) {
    written += quote(text.slice(end, match.index)) + match[0];
    end = match.index + match[0].length;
    if (/^[.,:;"'\]]*[<\\]/.test(text.slice(end))) written += ' ';
  }
  return written + quote(text.slice(end));
}

/** An invisible word joiner keeps `@name` from becoming a mention; email addresses aren’t mentions. */
function escapeTelegram(text: string): string {
  return escapeMarkup(text.replace(/(?<![\w.+-])@(?=\w)/g, '@\u2060'));
}

/** Paragraphs of cards support some HTML. */
function escapeGoogle(text: string): string {
  return escapeMarkup(text).replaceAll('\n', '<br>');
}

/** Text runs are shown literally; a TextBlock would parse Markdown. */
function teamsLine(text: string, style: Readonly<Record<string, string | true>>) {
  return { type: 'RichTextBlock', inlines: [{ type: 'TextRun', text, ...style }] } as const;
}

/** Runs have no line breaks, so each line is a block. */
function teamsLines(text: string): readonly string[] {
  const all = shortenBytes(text, TEAMS.textBytes, jsonByteLength)
    .split('\n')
    .filter((words) => words.trim() !== '');
  return all.length <= TEAMS.lines ? all : [...all.slice(0, TEAMS.lines - 1), '…'];
}
