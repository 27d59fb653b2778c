/** Every kind of channel, in every event, with every hostile text: accepted as documented, and shown as it was said. */

import { describe, expect, it } from 'vitest';
import { toEpochMs } from '../../src/model/time.ts';
import { HTTP_KINDS, type HttpKindName, listRecipients, mailTo, requestsFor } from '../../src/notify/deliver.ts';
import { NOTICE_EVENTS, type Notice } from '../../src/notify/news.ts';
import { cardFaults, SHOWN } from '../helpers/channel-parsers.ts';
import { PROGRAMS, readDiscord } from '../helpers/channel-shapes.ts';
import { AT, channelOf, noticeSaying } from '../helpers/channels.ts';
import { hostileTexts } from '../helpers/hostile-text.ts';

const SCALE = Number(process.env['PHAROS_TEST_SCALE'] ?? '1');
const KINDS = Object.keys(HTTP_KINDS) as HttpKindName[];
const MARKUP = [
  '<!channel> <@U1> <#C1> <https://evil.invalid|x>',
  '@everyone @here <@1> <@&2> <#3> <:a:4> <t:5:R> </x:6>',
  '# one\n## two\n-# small\n> quote\n>>> all\n- item\n1. item',
  '**b** *i* __u__ ~~s~~ ||x|| `c` ```\nblock\n```',
  '[x](https://evil.invalid) [x]: https://evil.invalid ![y](https://evil.invalid/p.png)',
  '<b>b</b> <a href="https://evil.invalid">x</a> <br> <users/all> <at>x</at> &lt;b&gt; &amp;amp;',
  '{{DATE(2017-02-14T06:08:39Z, SHORT)}} ${title} {name}',
];
const TEXTS = [...MARKUP, ...hostileTexts(Math.ceil(60 * SCALE))].filter((text) => text.length <= 90);

/** Letters and figures, which no dialect may add to, take away or change the order of. */
const wordsOf = (text: string): string => (text.normalize('NFC').match(/[\p{L}\p{N}]+/gu) ?? []).join(' ');

function* noticesOf(text: string): Generator<Notice> {
  for (const event of NOTICE_EVENTS) {
    const isIncident = event.startsWith('incident_');
    const notice = noticeSaying(text, { event });
    for (const impact of isIncident ? (['none', 'minor', 'major', 'critical'] as const) : [null])
      yield { ...notice, subject: { ...notice.subject, impact, endsAt: isIncident ? null : toEpochMs(AT + 1) } };
  }
}

describe.each(KINDS)('%s', (kind) => {
  const channel = { ...channelOf(kind, 'https://hooks.example.net'), kind };

  it('is accepted as documented and shows what was said, in every event', () => {
    let shown = 0;
    for (const text of TEXTS)
      for (const notice of noticesOf(text))
        for (const request of requestsFor(channel, notice, AT)) {
          const { pathname, search } = new URL(request.url);
          const faults = kind === 'webhook' ? [] : PROGRAMS[kind].faults({ ...request, path: `${pathname}${search}` });
          expect([text, notice.event, faults]).toEqual([text, notice.event, []]);
          const read = SHOWN[kind](JSON.parse(request.body));
          if (read === '') continue;
          shown += 1;
          expect([text, wordsOf(read)]).toEqual([text, expect.stringContaining(wordsOf(text))]);
        }
    expect(shown).toBeGreaterThan(TEXTS.length);
  });
});

it('cards of Teams are what Microsoft’s own parser reads, whole', () => {
  const channel = { ...channelOf('ms_teams', 'https://hooks.example.net'), kind: 'ms_teams' } as const;
  const cardOf = (notice: Notice) => JSON.parse(requestsFor(channel, notice, AT)[0]?.body ?? '').attachments[0].content;
  for (const text of TEXTS)
    for (const language of ['en', 'ar'])
      for (const notice of noticesOf(text))
        expect([text, cardFaults(cardOf({ ...notice, page: { ...notice.page, language } }))]).toEqual([text, []]);
  const card = cardOf(noticeSaying('x'));
  expect(
    cardFaults({ ...card, body: [{ type: 'RichTextBlock', inlines: [{ type: 'TextRun', siez: 1 }] }] }),
  ).not.toEqual([]);
});

it('the grammar of Discord that tests read with sees markup', () => {
  for (const wire of ['**b**', '[x](https://evil.invalid)', '<@1>', '`c`', '@everyone', '# a', 'a\n1. b', '> q', '- i'])
    expect([wire, readDiscord(wire)]).toEqual([wire, null]);
  expect(readDiscord('v1. 2. \\*a\\*')).toEqual({ text: 'v1. 2. *a*', links: [] });
});

it('a mail of a channel stays below 90 kB, whatever is said', () => {
  const channel = channelOf('email', 'https://hooks.example.net');
  const settings = channel.settings as never;
  const [recipient = ''] = listRecipients(channel);
  for (const text of ['x'.repeat(100_000), '文'.repeat(60_000), '😀'.repeat(60_000), '<&>"'.repeat(20_000)]) {
    const mail = mailTo(
      recipient,
      settings,
      noticeSaying(text, { components: Array.from({ length: 500 }, () => text) }),
    );
    expect(Buffer.byteLength(mail?.text ?? '')).toBeLessThan(90_000);
    expect(Buffer.byteLength(mail?.subject ?? '')).toBeLessThan(1_000);
  }
});
