import { describe, expect, it } from 'vitest';
import { lineText } from '../../../src/app/log.ts';

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
