/**
 * What people see of a message, read from the bytes on the wire: with Microsoft's own parser of Adaptive Cards, one of HTML
 * for Telegram and Google Chat, and by the grammar of Discord (`readDiscord`) and Slack, where three entities stand for
 * characters and `<` begins a link or a mention.
 */

import adaptiveCards from 'adaptivecards/dist/adaptivecards.js';
import { Parser } from 'htmlparser2';
import type { HttpKindName } from '../../src/notify/deliver.ts';
import { readDiscord } from './channel-shapes.ts';

/** What Microsoft's own parser objects to, or drops. */
export function cardFaults(content: Readonly<Record<string, unknown>>): readonly string[] {
  const { AdaptiveCard, SerializationContext } = adaptiveCards;
  const card = new AdaptiveCard();
  const context = new SerializationContext();
  card.parse(content, context);
  const events = Array.from({ length: context.eventCount }, (_, index) => context.getEventAt(index).message);
  const invalid = card.validateProperties().validationEvents.map(({ message }) => message);
  // Of Teams, which the schema of cards leaves to it.
  const { msteams: _, ...ours } = content;
  const kept = sorted(card.toJSON());
  return [...events, ...invalid, ...(kept === sorted(ours) ? [] : [`it reads ${kept}`])];
}

/** The same text for the same object, whatever the order of its keys. */
function sorted(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

/** The text of a small HTML, and the tags in it. */
function readHtml(html: string): { readonly text: string; readonly tags: ReadonlySet<string> } {
  const tags = new Set<string>();
  let text = '';
  const parser = new Parser({
    onopentag: (name) => {
      tags.add(name);
      if (name === 'br') text += '\n';
    },
    ontext: (part) => {
      text += part;
    },
    oncomment: () => {
      tags.add('!--');
    },
  });
  parser.write(html);
  parser.end();
  return { text, tags };
}

function onlyTags(html: string, allowed: readonly string[]): string {
  const { text, tags } = readHtml(html);
  const others = [...tags].filter((tag) => !allowed.includes(tag));
  if (others.length > 0) throw new Error(`tags ${others.join()} in ${html.slice(0, 200)}`);
  return text;
}

/** A text object of Slack; our own link is the only thing in it that `<` may begin. */
function readSlack({ type, text }: { readonly type: string; readonly text: string }): string {
  const shown = type === 'mrkdwn' ? text.replace(/^<https:\/\/status\.example\.com\/[^|>]*\|([^<>]*)>$/, '$1') : text;
  if (/[<>]/.test(shown)) throw new Error(`markup in ${text.slice(0, 200)}`);
  return shown.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

// biome-ignore lint/suspicious/noExplicitAny: whatever is in a body
type Json = any;

function readDiscordBody({ embeds: [{ title, description = '' }] }: Json): string {
  const [shownTitle, shownText] = [title, description].map(readDiscord);
  if (!shownTitle || !shownText) throw new Error(`markup in ${JSON.stringify([title, description]).slice(0, 200)}`);
  return `${shownTitle.text}\n${shownText.text}`;
}

/** What is shown of a body, by kind; of those that machines read, what a person is told of it. */
export const SHOWN: Readonly<Record<HttpKindName, (body: Json) => string>> = {
  slack: ({ text, blocks }) => {
    const objects = blocks.flatMap((block: Json) => block.elements ?? [block.text]);
    return [readSlack({ type: 'plain_text', text }), ...objects.map(readSlack)].join('\n');
  },
  discord: readDiscordBody,
  telegram: ({ text }) => onlyTags(text, ['b', 'a']).replaceAll('\u2060', ''),
  google_chat: ({ cardsV2: [{ card }] }) => {
    const paragraphs = (card.sections ?? [])
      .flatMap(({ widgets }: Json) => widgets)
      .flatMap(({ textParagraph }: Json) => textParagraph?.text ?? []);
    return [card.header.title, ...paragraphs.map((html: string) => onlyTags(html, ['br']))].join('\n');
  },
  ms_teams: ({ attachments: [{ content }] }) =>
    content.body.map(({ inlines }: Json) => inlines.map(({ text }: Json) => text).join('')).join('\n'),
  pagerduty: ({ payload }) => payload?.summary ?? '',
  opsgenie: ({ message, note }) => message ?? note ?? '',
  grafana_oncall: ({ title, message }) => `${title}\n${message}`,
  webhook: ({ data }) => data.subject.title,
  ntfy: ({ title, message }) => `${title}\n${message}`,
  sms: ({ text }) => text,
  whatsapp: ({ text }) => text,
};
