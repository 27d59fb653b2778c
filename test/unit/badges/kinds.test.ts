import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { badgeFile } from '../../../src/badges/files.ts';
import { BADGE_KINDS, type BadgeKind, badgeFields, galleryChoices } from '../../../src/badges/kinds.ts';
import type { BadgeOptions } from '../../../src/badges/options.ts';
import { LOOKS } from '../../../src/looks/states.ts';
import { STATES, type State } from '../../../src/model/state.ts';
import { DAY_MS, toEpochMs } from '../../../src/model/time.ts';
import { isDrawable } from '../../../src/views/badges/drawable.ts';
import en from '../../../src/views/words/en.json' with { type: 'json' };
import { CATALOGUES, findWords, stateWord, type Words } from '../../../src/views/words/index.ts';
import { badgeSubject, NOW } from '../../helpers/badge-subject.ts';

const UPTIMES = {
  'uptime-24h': '24h',
  'uptime-7d': '7d',
  'uptime-30d': '30d',
  'uptime-90d': '90d',
  'uptime-1y': '365d',
} as const;
const NOTHING = { '24h': null, '7d': null, '30d': null, '90d': null, '365d': null };

function said(
  kind: BadgeKind,
  ...[changes, options]: [Parameters<typeof badgeSubject>[0]?, Parameters<typeof badgeFields>[2]?]
): string {
  const { label, message, color } = badgeFields(badgeSubject(changes), kind, options);
  return `${label} | ${message} | ${color}`;
}

it('each kind says one figure of the subject', () => {
  expect(BADGE_KINDS.map((kind) => said(kind))).toEqual([
    'Acme | operational | operational',
    'uptime 24h | 100% | operational',
    'uptime 7d | 99.99% | operational',
    'uptime 30d | 99.87% | degraded',
    'uptime 90d | 99.98% | operational',
    'uptime 1y | no data | unknown',
    'response time | 142 ms | operational',
    'response time p95 | 388 ms | degraded',
    'incidents | none open | operational',
    'incidents 30d | 2 | degraded',
    'since last incident | 12 days | operational',
    'maintenance | Nov 24, 09:13 UTC | maintenance',
    '90 days | 99.98% | operational',
    'response time | 142 ms | operational',
    'Acme | operational | operational',
    'Acme | operational | operational',
  ]);
});

describe('never wrong-green', () => {
  const TROUBLES: readonly State[] = ['degraded', 'partial_outage', 'major_outage'];

  it.each(BADGE_KINDS)('a stale subject says so, in grey or in the colour of trouble that is known: %s', (kind) => {
    for (const state of STATES) {
      const { message, color, isUnknown } = badgeFields(badgeSubject({ state, isStale: true, openIncidents: 0 }), kind);
      const isSaid = TROUBLES.includes(state) && ['status', 'dot', 'card'].includes(kind);
      expect({ color, isUnknown }).toEqual({ color: isSaid ? state : 'unknown', isUnknown: !isSaid });
      expect(message).toMatch(/stale/);
    }
  });

  it.each(BADGE_KINDS)('one that is no longer kept up to date is grey whatever its state: %s', (kind) => {
    for (const state of STATES) {
      const fields = badgeFields(badgeSubject({ state, isExpired: true, openIncidents: 3 }), kind);
      expect(fields).toMatchObject({ color: 'unknown', isUnknown: true, message: expect.stringMatching(/stale/) });
    }
  });

  it('an outage that is known shows beside what is not heard from', () => {
    expect(said('status', { state: 'partial_outage', isStale: true })).toBe(
      'Acme | partial outage (stale) | partial_outage',
    );
    expect(said('incidents', { openIncidents: 2, isStale: true })).toBe('incidents | 2 open (stale) | degraded');
  });

  it.each(['status', 'dot', 'card', 'incidents', 'days-since-incident'] as const)(
    'an unknown state is grey and says so: %s',
    (kind) => {
      expect(badgeFields(badgeSubject({ state: 'unknown' }), kind)).toMatchObject({
        color: 'unknown',
        message: 'no data',
        isUnknown: true,
      });
    },
  );

  it.each(Object.keys(UPTIMES) as (keyof typeof UPTIMES)[])('uptime that was not observed is unknown: %s', (kind) => {
    expect(badgeFields(badgeSubject({ uptime: NOTHING }), kind)).toMatchObject({
      color: 'unknown',
      message: 'no data',
    });
  });

  it('of the past a stale figure stays, of the present only the word', () => {
    expect(said('uptime-90d', { isStale: true })).toBe('uptime 90d | 99.98% (stale) | unknown');
    expect(said('incidents', { isStale: true })).toBe('incidents | stale | unknown');
    expect(said('uptime-90d', { isStale: true, uptime: NOTHING })).toBe('uptime 90d | stale | unknown');
  });

  it('no incidents in thirty days of which nothing is known are not good news', () => {
    expect(said('incidents-30d', { state: 'unknown', incidents30d: 0 })).toBe('incidents 30d | no data | unknown');
  });

  it('a day is in the state of its letter', () => {
    const days = STATES.map((state) => LOOKS[state].letter).join('');
    expect(badgeFields(badgeSubject({ days }), 'history-90d').days).toEqual(STATES);
  });

  it('an operator cannot give unknown or stale a colour', () => {
    const options = { colors: { operational: '#123456', unknown: '#00ff00' } } as object;
    expect(said('status', { state: 'unknown' }, options)).toBe('Acme | no data | unknown');
    expect(said('status', { isStale: true }, options)).toBe('Acme | stale | unknown');
    expect(said('status', {}, options)).toBe('Acme | operational | #123456');
  });
});

describe('uptime', () => {
  it('is never rounded up: the figure is at most the ratio and within one step of it', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), fc.integer({ min: 0, max: 4 }), (ratio, decimals) => {
        const uptime = { ...NOTHING, '90d': ratio };
        const { message } = badgeFields(badgeSubject({ uptime }), 'uptime-90d', { decimals });
        const shown = Number(message.replace('%', '')) / 100;
        expect(shown).toBeLessThanOrEqual(ratio + Number.EPSILON);
        expect(shown).toBeGreaterThan(ratio - 10 ** -(decimals + 2) - Number.EPSILON);
      }),
      { numRuns: 2_000 },
    );
  });

  it('is 100% only when it is exactly that', () => {
    const at = (ratio: number) => said('uptime-24h', { uptime: { ...NOTHING, '24h': ratio } });
    expect(at(1)).toBe('uptime 24h | 100% | operational');
    expect(at(1 - Number.EPSILON)).toBe('uptime 24h | 99.99% | operational');
    expect(at(0)).toBe('uptime 24h | 0.00% | major_outage');
  });

  it.each([Number.NaN, -0.1, 1.1, Number.POSITIVE_INFINITY])('a ratio of %s is unknown', (ratio) => {
    expect(said('uptime-24h', { uptime: { ...NOTHING, '24h': ratio } })).toBe('uptime 24h | no data | unknown');
  });

  it('is coloured by thresholds that the operator may set', () => {
    const tones = [0.9995, 0.999, 0.9989, 0.989, 0.949].map(
      (ratio) => badgeFields(badgeSubject({ uptime: { ...NOTHING, '7d': ratio } }), 'uptime-7d').color,
    );
    expect(tones).toEqual(['operational', 'operational', 'degraded', 'partial_outage', 'major_outage']);
    const options = { thresholds: { uptime: { good: 0.9, fair: 0.8, poor: 0.7 } } };
    expect(said('uptime-30d', {}, options)).toBe('uptime 30d | 99.87% | operational');
  });
});

describe('response time', () => {
  it('is rounded up, and given in seconds from ten on', () => {
    const at = (averageMs: number) =>
      badgeFields(badgeSubject({ responseTime: { averageMs, p95Ms: 1 } }), 'response-time').message;
    expect([at(0.2), at(300), at(9_999), at(10_001), at(61_000)]).toEqual([
      '1 ms',
      '300 ms',
      '9,999 ms',
      '10.1 s',
      '61 s',
    ]);
  });

  it('without samples is unknown', () => {
    expect(said('response-time', { responseTime: null })).toBe('response time | no data | unknown');
    expect(said('response-time-p95', { responseTime: { averageMs: 1, p95Ms: Number.NaN } })).toBe(
      'response time p95 | no data | unknown',
    );
  });
});

describe('incidents', () => {
  it('open ones have the colour of the outage, or amber when nothing is down', () => {
    expect(said('incidents', { openIncidents: 2, state: 'major_outage' })).toBe('incidents | 2 open | major_outage');
    expect(said('incidents', { openIncidents: 1 })).toBe('incidents | 1 open | degraded');
  });

  it('days since the last are whole days gone by, none while one goes on', () => {
    const since = (days: number) =>
      said('days-since-incident', { lastIncidentEndedAt: toEpochMs(NOW - days * DAY_MS) });
    expect([since(0.99), since(1), since(1.99), since(1_234.5)].map((text) => text.split(' | ')[1])).toEqual([
      '0 days',
      '1 day',
      '1 day',
      '1,234 days',
    ]);
    expect(said('days-since-incident', { openIncidents: 1 })).toBe('since last incident | ongoing | partial_outage');
    expect(said('days-since-incident', { lastIncidentEndedAt: null })).toBe(
      'since last incident | none recorded | info',
    );
  });

  it('an end in the future, by a clock that is off, is today', () => {
    expect(said('days-since-incident', { lastIncidentEndedAt: toEpochMs(NOW + DAY_MS) })).toMatch('0 days');
  });
});

it('maintenance is that of now, else the next, else none', () => {
  expect(said('maintenance', { state: 'maintenance' })).toBe('maintenance | in progress | maintenance');
  expect(said('maintenance', { nextMaintenanceAt: null })).toBe('maintenance | none planned | info');
  expect(said('maintenance', { timezone: 'Asia/Tokyo' }, { locale: 'de' })).toMatch(
    /^Wartung \| 24\. Nov\., 18:13 \S+ \| maintenance$/,
  );
});

describe('an operator chooses', () => {
  it('the label, with the name in it, and nothing else in braces', () => {
    expect(said('uptime-7d', { name: '$& {name}' }, { label: '{name}: week {x}' })).toMatch(
      /^\$& \{name\}: week \{x\} \| /,
    );
  });

  it('words, decimals and the locale of numbers', () => {
    expect(said('status', {}, { words: { operational: 'läuft' } })).toBe('Acme | läuft | operational');
    expect(said('incidents', { openIncidents: 3 }, { words: { open: '{n} offen' } })).toMatch('3 offen');
    expect(said('uptime-7d', {}, { decimals: 3, locale: 'de' })).toBe(
      'Verfügbarkeit 7 Tage | 99,994\u00a0% | operational',
    );
  });

  it('the style; without one, bars, line and dot have theirs', () => {
    const style = (kind: BadgeKind, options = {}) => badgeFields(badgeSubject(), kind, options).style;
    expect([style('status'), style('history-90d'), style('response-spark'), style('dot')]).toEqual([
      undefined,
      'bars',
      'spark',
      'dot',
    ]);
    expect(style('history-90d', { style: 'pill' })).toBe('pill');
  });
});

it('the state is told by a shape as well as by a colour', () => {
  for (const state of STATES) expect(badgeFields(badgeSubject({ state }), 'dot').shape).toBe(state);
});

it('states are called what the pages call them', () => {
  for (const state of STATES)
    expect(badgeFields(badgeSubject({ state }), 'status').message).toBe(stateWord(state, en).toLowerCase());
});

it('the same figures give the same badge whatever the time zone of the machine', () => {
  expect(process.env['TZ']).toBe('America/St_Johns');
  expect(said('maintenance')).toMatch('09:13 UTC');
});

describe('words of a state', () => {
  const messageIn = (locale: string, words?: { operational: string }) =>
    badgeFields(badgeSubject({ state: 'operational' }), 'status', { locale, ...(words === undefined ? {} : { words }) })
      .message;

  it('are those of the pages in the language of the badge, unless an operator chose others', () => {
    expect(['en', 'xx', 'de', 'de-AT', 'ja', 'ar'].map((locale) => messageIn(locale))).toEqual([
      'operational',
      'operational',
      stateWord('operational', findWords('de')),
      stateWord('operational', findWords('de')),
      stateWord('operational', findWords('ja')),
      stateWord('operational', findWords('ar')),
    ]);
    expect(messageIn('de', { operational: 'läuft' })).toBe('läuft');
  });
});

describe('the language of a badge', () => {
  const WORD = /[\p{L}]{3,}/gu;
  const SUBJECTS = [
    {},
    { isStale: true },
    { state: 'unknown', uptime: NOTHING, responseTime: null },
    { state: 'maintenance', openIncidents: 1 },
    { openIncidents: 3, responseTime: { averageMs: 12_345, p95Ms: 1 } },
    { lastIncidentEndedAt: null, nextMaintenanceAt: null },
    ...STATES.map((state) => ({ state })),
  ] as const satisfies readonly Parameters<typeof badgeSubject>[0][];

  /** Words of three letters and more that badges of a language are made of, in small letters. */
  function vocabulary(words: Words): ReadonlySet<string> {
    const texts = Object.entries(words).flatMap(([key, text]) =>
      /^(badge|state)/.test(key) ? Object.values(typeof text === 'string' ? [text] : text) : [],
    );
    return new Set(texts.flatMap((text) => text.toLowerCase().match(WORD) ?? []));
  }

  it('is all that is said in it: no kind has an English word, in the picture, its name or for shields.io', async () => {
    for (const [locale, words] of Object.entries(CATALOGUES)) {
      if (locale === 'en') continue;
      const english = vocabulary(en).difference(vocabulary(words));
      expect(english.size, locale).toBeGreaterThan(20);
      for (const kind of BADGE_KINDS)
        for (const changes of SUBJECTS)
          for (const format of ['.svg', '.json'] as const) {
            if (kind === 'card' && format === '.svg' && changes !== SUBJECTS[1]) continue;
            const { body } = await badgeFile(badgeSubject(changes), { kind, format }, { locale });
            const said = format === '.json' ? JSON.parse(String(body)) : null;
            const text = said
              ? `${said.label} ${said.message}`
              : Array.from(String(body).matchAll(/(?:aria-label="([^"]*)"|<title>(.*?)<\/title>|<text[^>]*>(.*?)<)/g))
                  .map(([, ...found]) => found.join(''))
                  .join(' ');
            expect(text).not.toBe('');
            const found = (text.toLowerCase().match(WORD) ?? []).filter((word) => english.has(word));
            expect(found, `${locale} ${kind}: ${text}`).toEqual([]);
          }
    }
  });

  it('has its own forms of numbers, and an operator changes single words of it', () => {
    const since = (days: number, options: BadgeOptions) =>
      badgeFields(badgeSubject({ lastIncidentEndedAt: toEpochMs(NOW - days * DAY_MS) }), 'days-since-incident', options)
        .message;
    expect([1, 2, 3, 11].map((days) => since(days, { locale: 'ar' }))).toEqual([
      'يوم واحد',
      'يومان',
      '3 أيام',
      '11 يومًا',
    ]);
    expect([0, 1, 2].map((days) => since(days, { locale: 'fr' }))).toEqual(['0 jour', '1 jour', '2 jours']);
    const own = { locale: 'fr', words: { days: '{n} j sans incident', oneDay: 'depuis hier' } };
    expect([0, 1, 2].map((days) => since(days, own))).toEqual([
      '0 j sans incident',
      'depuis hier',
      '2 j sans incident',
    ]);
    expect(said('maintenance', { state: 'maintenance' }, { locale: 'de' })).toBe('Wartung | läuft | maintenance');
    expect(said('uptime-90d', { isStale: true }, { locale: 'de', words: { stale: 'alt' } })).toBe(
      'Verfügbarkeit 90 Tage | 99,98\u00a0% (alt) | unknown',
    );
  });

  it('has letters for cards in the fonts that come along', () => {
    for (const [locale, words] of Object.entries(CATALOGUES))
      for (const word of vocabulary(words)) expect({ locale, word, is: isDrawable(word) }).toMatchObject({ is: true });
  });

  it('is that of what the gallery calls kinds and styles', () => {
    const { kinds, styles } = galleryChoices([...BADGE_KINDS, 'front'], 'de');
    const texts = kinds.map(({ text }) => text);
    expect(texts).toContain('Verfügbarkeit 90 Tage');
    expect(texts.slice(-5)).toEqual([
      '90 Tage (Balken)',
      'Antwortzeit (Linie)',
      'Status (Punkt)',
      'Status (Karte)',
      'front',
    ]);
    expect(new Set(texts).size).toBe(texts.length);
    const words = ['flach', 'eckig', 'rund', 'hoch', 'Punkt', 'Balken', 'Linie'];
    const inText = words.slice(0, 4).map((word) => `${word} (Text)`);
    expect(styles.map(({ text }) => text)).toEqual([...words, ...inText]);
  });
});
