/** Slack: an incoming webhook, with blocks. */

import { type ChannelKind, postJson } from './channel.ts';
import { messageOf } from './message.ts';
import { shorten } from './shorten.ts';

/** Documented limits: of a header, of the text of a section or an element. */
const HEADER_MAX = 150;
const TEXT_MAX = 3_000;
/** Of the text of a link. */
const NAME_MAX = 256;
/** Of the text in notifications, which Slack cuts at 4,000. */
const FALLBACK_MAX = 1_000;

export const slack: ChannelKind<'slack'> = {
  kind: 'slack',
  request: ({ webhook_url: webhook }, notice) => {
    const message = messageOf(notice);
    const { headline, text, facts, page, url } = message;
    const name = shorten(page, NAME_MAX, escapeControl);
    const link = url === null ? name : `<${url}|${name}>`;
    return postJson(webhook.reveal(), {
      text: shorten(`${headline}${text === '' ? '' : `\n${text}`}`, FALLBACK_MAX, escapeControl),
      blocks: [
        { type: 'header', text: plain(headline, HEADER_MAX) },
        ...(text === '' ? [] : [{ type: 'section', text: plain(text, TEXT_MAX) }]),
        ...(facts.length === 0 ? [] : [{ type: 'context', elements: [plain(facts.join('\n'), TEXT_MAX)] }]),
        { type: 'context', elements: [{ type: 'mrkdwn', text: link, verbatim: true }] },
      ],
      unfurl_links: false,
      unfurl_media: false,
    });
  },
  isTaken: ({ status, body }) => status === 200 && body.trim() === 'ok',
};

/** Plain text is not read as mrkdwn; the three control characters are written as entities in every text object. */
function plain(text: string, max: number): Readonly<Record<string, unknown>> {
  return { type: 'plain_text', text: shorten(text, max, escapeControl), emoji: false };
}

/** `<!channel>` and links begin with a control character. */
function escapeControl(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
