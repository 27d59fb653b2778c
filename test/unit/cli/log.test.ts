import { describe, expect, it } from 'vitest';
import { createErrorLog, lineText } from '../../../src/app/log.ts';
import { HOUR_MS } from '../../../src/model/time.ts';

it('says once in an hour what goes wrong again and again, and at once what is new', () => {
  const lines: string[] = [];
  let at = 0;
  const onError = createErrorLog({ error: (_: object, text: string) => void lines.push(text) } as never, () => at);
  for (const text of ['full', 'full', 'away', 'full', 'full']) onError(new Error(text), 'notices');
  onError(new Error('full'), 'gates');
  at += HOUR_MS;
  onError(new Error('full'), 'notices');
  expect(lines).toEqual(['full', 'away', 'full', 'full', 'full']);
});

describe('an event on a terminal', () => {
  it('is one line: the message and its fields, without what only machines need', () => {
    expect(
      lineText({
        level: 30,
        time: '2026-11-21T09:00:00.000Z',
        run: '44173ba0-ac7c-4874-9d85-2bdad18f9feb',
        msg: 'published',
        page: 'acme',
        release: 4,
        place: '/srv/my site',
      }),
    ).toBe('published  page=acme  release=4  place="/srv/my site"');
  });

  it('lets no control character of a message or a field start another line', () => {
    expect(lineText({ msg: 'edge\nfailed\u001b[2J', upstream: 'a\nb' })).toBe('edge failed [2J  upstream="a\\nb"');
  });
});
