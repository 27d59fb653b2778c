/** Microsoft Teams: a workflow “When a Teams webhook request is received”, with an Adaptive Card. */

import { type ChannelKind, postJson } from './channel.ts';
import { messageOf } from './message.ts';
import { bytesOf, shorten } from './shorten.ts';

/** A message has 28 kB at most, its frame included. */
const TEXT_BYTES_MAX = 12_000;
const LINES_MAX = 60;
const HEADING_MAX = 250;

interface Style {
  readonly size?: 'Large';
  readonly weight?: 'Bolder';
  readonly isSubtle?: true;
}

export const msTeams: ChannelKind<'ms_teams'> = {
  kind: 'ms_teams',
  request: ({ webhook_url: webhook }, notice) => {
    const { headline, text, facts, page, url } = messageOf(notice);
    const lines = text === '' ? [] : linesOf(text);
    const content = {
      $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
      type: 'AdaptiveCard',
      version: '1.2',
      body: [
        line(shorten(headline, HEADING_MAX), { size: 'Large', weight: 'Bolder' }),
        ...lines.map((words) => line(words, {})),
        ...facts.map((fact) => line(shorten(fact, HEADING_MAX * 4), { isSubtle: true })),
        line(shorten(page, HEADING_MAX), { isSubtle: true }),
      ],
      ...(url === null ? {} : { actions: [{ type: 'Action.OpenUrl', title: shorten(page, HEADING_MAX), url }] }),
      msteams: { width: 'Full' },
    };
    return postJson(webhook.reveal(), {
      type: 'message',
      attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content }],
    });
  },
  // 202 of a workflow; 200 where it ends with an answer of its own.
  isTaken: ({ status }) => status === 202 || status === 200,
};

/** Runs of text are shown as they are; a TextBlock would read Markdown in them. */
function line(text: string, style: Style): Readonly<Record<string, unknown>> {
  return { type: 'RichTextBlock', inlines: [{ type: 'TextRun', text, ...style }] };
}

/** A run knows no line break: each line is a block. */
function linesOf(text: string): readonly string[] {
  const all = shorten(
    text,
    TEXT_BYTES_MAX,
    (words) => words,
    (words) => bytesOf(JSON.stringify(words)),
  )
    .split('\n')
    .filter((words) => words.trim() !== '');
  return all.length <= LINES_MAX ? all : [...all.slice(0, LINES_MAX - 1), '…'];
}
