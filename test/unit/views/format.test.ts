import { describe, expect, it } from 'vitest';
import { DAY_MS, type Day, HOUR_MS, MINUTE_MS, SECOND_MS, toEpochMs } from '../../../src/model/index.ts';
import { formatIn, ruleText } from '../../../src/views/text/format.ts';
import { writeDuration } from '../../../src/views/text/times.ts';

const AT = toEpochMs(Date.parse('2026-03-29T00:30:00Z'));

describe('times', () => {
  it('are those of the page’s zone, also across a clock change', () => {
    const format = formatIn('en-GB', 'Europe/Berlin');
    expect(format.zoned.time(AT)).toEqual({ iso: '2026-03-29T00:30:00.000Z', text: '29 Mar 2026, 01:30 CET' });
    expect(format.zoned.time(toEpochMs(AT + HOUR_MS)).text).toBe('29 Mar 2026, 03:30 CEST');
    expect(format.plain.time(AT).text).toBe('29 Mar 2026, 01:30');
  });

  it('stand once in a span with their zone, on both sides of a clock change at both ends', () => {
    const { range } = formatIn('en-GB', 'Europe/Berlin');
    const texts = (hours: number) =>
      Object.values(range(AT, toEpochMs(AT + hours * HOUR_MS), 'timeInYear')).map((time) => time?.text);
    expect(texts(0.4)).toEqual(['29 Mar, 01:30', '01:54 CET']);
    expect(texts(1)).toEqual(['29 Mar, 01:30 CET', '03:30 CEST']);
    expect(texts(30)).toEqual(['29 Mar, 01:30 CET', '30 Mar, 08:30 CEST']);
    expect(range(AT, null, 'time').from.text).toBe('29 Mar 2026, 01:30 CET');
  });

  it('need no day for what began within twelve hours', () => {
    const { since } = formatIn('en-GB', 'Europe/Berlin');
    expect(since(AT, toEpochMs(AT + 12 * HOUR_MS - 1)).text).toBe('01:30 CET');
    expect(since(AT, toEpochMs(AT + 12 * HOUR_MS)).text).toBe('29 Mar, 01:30 CET');
  });

  it('know whether two instants share a day of the zone', () => {
    expect(formatIn('en', 'UTC').isSameDay(AT, toEpochMs(AT - HOUR_MS))).toBe(false);
    expect(formatIn('en', 'Pacific/Auckland').isSameDay(AT, toEpochMs(AT - HOUR_MS))).toBe(true);
  });

  it('write a day as that day whatever the zone', () => {
    for (const zone of ['Pacific/Kiritimati', 'Pacific/Pago_Pago', 'Australia/Lord_Howe'])
      expect(formatIn('en', zone).day('2026-11-21' as Day)).toBe('Nov 21, 2026');
  });
});

describe('durations', () => {
  it.each([
    [0, '1 s'],
    [59 * SECOND_MS + 999, '59 s'],
    [MINUTE_MS, '1 min'],
    [59 * MINUTE_MS + 59_999, '59 min'],
    [HOUR_MS, '1 h'],
    [HOUR_MS + 20 * MINUTE_MS, '1 h 20 min'],
    [DAY_MS - 1, '23 h 59 min'],
    [DAY_MS, '1 day'],
    [3 * DAY_MS + 5 * HOUR_MS, '3 days 5 h'],
  ])('%i ms is %s', (ms, text) => {
    const { duration } = formatIn('en', 'UTC');
    expect(duration(ms)).toBe(text);
    expect(duration(ms)).toBe(text);
  });
});

it('durations are written as Intl.DurationFormat writes them, in every language and some that we have no words for', () => {
  const units = [
    [DAY_MS, HOUR_MS, 23],
    [HOUR_MS, MINUTE_MS, 59],
  ] as const;
  for (const locale of ['en', 'de', 'fr', 'es', 'it', 'pt-BR', 'ja', 'ko', 'zh-Hans', 'ar', 'he', 'fa', 'pl', 'hu']) {
    const { duration } = formatIn(locale, 'UTC');
    const format = new Intl.DurationFormat(locale, { style: 'short' });
    const lengths = units.flatMap(([large, small, most]) =>
      [1, 2, 3, 6, 11, 23].flatMap((much) => [0, 1, 2, 3, 10, most].map((more) => much * large + more * small + 999)),
    );
    for (const ms of [-1, 0, 30 * SECOND_MS, 400 * DAY_MS, ...lengths])
      expect([locale, ms, duration(ms)]).toEqual([locale, ms, writeDuration(format, ms)]);
  }
});

describe('what repeats', () => {
  it.each([
    ['en', 'every week on Sunday', 'every 2 weeks on Sunday'],
    ['de', 'wöchentlich, Sonntag', 'alle 2 Wochen, Sonntag'],
    ['ja', '毎週（日曜日）', '2週間ごと（日曜日）'],
    ['zh-Hans', '每周（星期日）', '每 2 周（星期日）'],
    ['ar', 'كل أسبوع، الأحد', 'كل أسبوعين، الأحد'],
  ])('is said in %s without the number one', (locale, once, twice) => {
    const rule = { rule: '', every: 'week', weekdays: [7], windows: [] } as const;
    expect(ruleText({ ...rule, interval: 1 }, locale)).toBe(once);
    expect(ruleText({ ...rule, interval: 2 }, locale)).toBe(twice);
  });
});
