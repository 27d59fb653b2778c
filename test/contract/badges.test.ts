import { gzipSync } from 'node:zlib';
import { Resvg } from '@resvg/resvg-js';
import { XMLValidator } from 'fast-xml-parser';
import { beforeAll, describe, expect, it } from 'vitest';
import { cardSvg } from '../../src/badges/card.ts';
import {
  BADGE_HEADERS,
  badgeFile,
  NOT_FOUND_BADGE_HEADERS,
  notFoundBadge,
  SESSION_BADGE_HEADERS,
} from '../../src/badges/files.ts';
import { renderBadge } from '../../src/badges/index.ts';
import { BADGE_KINDS, badgeFields, isCard } from '../../src/badges/kinds.ts';
import { BADGE_FORMATS, BADGE_SCHEMES, BADGE_STYLES } from '../../src/badges/names.ts';
import { STATES } from '../../src/model/state.ts';
import { awkwardTexts } from '../helpers/awkward-text.ts';
import { badgeSubject } from '../helpers/badge-subject.ts';
import { pathContours } from '../helpers/path-points.ts';

const SCALE = Number(process.env['PHAROS_TEST_SCALE'] ?? 1);
/** Char of XML 1.0, and no control. */
const LEGAL = /^[\n\x20-\x7e\u00a0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]*$/u;

/** Three readers: one that knows the grammar, one that knows the characters, and one that has to draw it. */
function expectWellFormed(svg: string): void {
  expect(XMLValidator.validate(svg)).toBe(true);
  expect(svg).toMatch(LEGAL);
  expect(() => new Resvg(svg, { font: { loadSystemFonts: false } })).not.toThrow();
}

describe('a badge is well-formed whatever it says', () => {
  it('the three readers find what is wrong', () => {
    expect(() =>
      expectWellFormed('<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"><title>\0</title></svg>'),
    ).toThrow();
    expect(() =>
      expectWellFormed('<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"><title>&</title></svg>'),
    ).toThrow();
    expect(() =>
      expectWellFormed('<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"><title></svg>'),
    ).toThrow();
  });

  it('10,000 awkward labels and messages, in every style and scheme', () => {
    const texts = awkwardTexts(Math.ceil(10_000 * SCALE));
    texts.forEach((label, index) => {
      const style = BADGE_STYLES[index % BADGE_STYLES.length];
      const scheme = BADGE_SCHEMES[index % BADGE_SCHEMES.length];
      const message = texts[(index * 31 + 7) % texts.length] ?? '';
      const svg = renderBadge({ label, message, color: 'info', style, scheme });
      expectWellFormed(svg);
      expect(svg.match(/<(?!\/?(?:svg|title|style|path|g|circle|text)\b)/g)).toBeNull();
      expect(svg.length).toBeLessThan(60_000);
    });
  });

  it('awkward names of subjects, in every kind and every file', async () => {
    for (const [index, name] of awkwardTexts(Math.ceil(64 * SCALE), 2).entries()) {
      const kind = BADGE_KINDS[index % BADGE_KINDS.length] ?? 'status';
      for (const format of ['.svg', '-dark.svg', '.json'] as const) {
        const { body } = await badgeFile(badgeSubject({ name }), { kind, format }, { label: '{name}' });
        if (format === '.json') expect(JSON.parse(String(body))).toMatchObject({ schemaVersion: 1 });
        else expectWellFormed(String(body));
      }
    }
  });

  it('an address that breaks out of a colour, a label or a logo finds no way', () => {
    const attack = '"><script>alert(1)</script><a href="javascript:alert(1)';
    const svg = renderBadge({ label: attack, message: attack, color: attack, labelColor: attack });
    expectWellFormed(svg);
    expect(svg).not.toMatch(/<script|<a /);
  });
});

describe('files', () => {
  it.each(BADGE_KINDS)('%s in every format', async (kind) => {
    const files = await Promise.all(BADGE_FORMATS.map((format) => badgeFile(badgeSubject(), { kind, format })));
    const byFormat = Object.fromEntries(BADGE_FORMATS.map((format, index) => [format, files[index]]));
    for (const format of ['.svg', '-light.svg', '-dark.svg'] as const) {
      expect(byFormat[format]?.contentType).toBe('image/svg+xml; charset=utf-8');
      expectWellFormed(String(byFormat[format]?.body));
    }
    expect(String(byFormat['.svg']?.body)).toContain('prefers-color-scheme');
    expect(String(byFormat['-light.svg']?.body)).not.toContain('<style');
    expect(String(byFormat['-dark.svg']?.body)).not.toContain('<style');
    expect(byFormat['-dark.svg']?.body).not.toBe(byFormat['-light.svg']?.body);
    expect(byFormat['.json']?.contentType).toBe('application/json; charset=utf-8');
    expect(byFormat['.png']?.contentType).toBe('image/png');
  });

  it('a PNG has twice the pixels of the SVG, and letters without any font', async () => {
    const svg = String((await badgeFile(badgeSubject(), { kind: 'uptime-90d', format: '-light.svg' })).body);
    const png = Buffer.from((await badgeFile(badgeSubject(), { kind: 'uptime-90d', format: '.png' })).body);
    const width = Number(/width="(\d+)"/.exec(svg)?.[1]);
    expect([png.subarray(1, 4).toString(), png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual(['PNG', width * 2, 40]);
    const { pixels } = new Resvg(svg, { font: { loadSystemFonts: false } }).render();
    const inks = new Set<number>();
    for (let at = 0; at < pixels.length; at += 4) inks.add(pixels.readUInt32BE(at));
    expect(inks.has(0xffffffff)).toBe(true);
    expect(inks.size).toBeGreaterThan(20);
  });

  it('a PNG is light unless its options say dark', async () => {
    const request = { kind: 'status', format: '.png' } as const;
    const [drawn, asText] = await Promise.all(
      (['flat', 'flat-text'] as const).map((style) => badgeFile(badgeSubject(), request, { style })),
    );
    expect(asText?.body).toEqual(drawn?.body);
    const [usual, light, dark] = await Promise.all(
      [{}, { scheme: 'light' }, { scheme: 'dark' }].map((options) =>
        badgeFile(badgeSubject(), request, options as object),
      ),
    );
    expect(usual?.body).toEqual(light?.body);
    expect(usual?.body).not.toEqual(dark?.body);
  });

  it('the same figures give the same bytes', async () => {
    for (const kind of BADGE_KINDS)
      for (const format of BADGE_FORMATS)
        expect(await badgeFile(badgeSubject(), { kind, format }), `${kind}${format}`).toEqual(
          await badgeFile(badgeSubject(), { kind, format }),
        );
  });
});

describe('the shields endpoint', () => {
  const KEYS = [
    'cacheSeconds',
    'color',
    'isError',
    'label',
    'labelColor',
    'logoSvg',
    'message',
    'schemaVersion',
    'style',
  ];

  async function endpoint(changes: object, options: object = {}) {
    const { body } = await badgeFile(badgeSubject(changes), { kind: 'uptime-90d', format: '.json' }, options);
    return JSON.parse(String(body));
  }

  it('says what the badge says, in keys and colours that shields knows', async () => {
    expect(await endpoint({})).toEqual({
      schemaVersion: 1,
      label: 'uptime 90d',
      message: '99.98%',
      color: '#1f7a49',
      labelColor: '#35393d',
      isError: false,
      cacheSeconds: 300,
      style: 'flat',
    });
  });

  it('has no other key, whatever is chosen', async () => {
    const chosen = await endpoint(
      { isStale: true },
      { style: 'tall', labelColor: 'blue', logo: { path: 'M0 0h2v2z', size: 24 } },
    );
    expect(Object.keys(chosen).toSorted()).toEqual(KEYS);
    expect(chosen).toMatchObject({ style: 'for-the-badge', isError: true, message: '99.98% (stale)' });
  });

  it('is an error when nothing is known', async () => {
    const uptime = { '24h': null, '7d': null, '30d': null, '90d': null, '365d': null };
    expect(await endpoint({ uptime })).toMatchObject({ isError: true, message: 'no data', color: '#676b6f' });
  });

  it('has a style of theirs or none', async () => {
    expect(await endpoint({}, { style: 'pill' })).not.toHaveProperty('style');
    expect(await endpoint({}, { style: 'square' })).toMatchObject({ style: 'flat-square' });
    expect(await endpoint({}, { style: 'tall-text' })).toMatchObject({ style: 'for-the-badge' });
  });
});

describe("what GitHub's image proxy asks of a badge", () => {
  it('every picture has an image type, and is far below five mebibytes', async () => {
    for (const kind of BADGE_KINDS)
      for (const format of ['.svg', '-light.svg', '-dark.svg', '.png'] as const) {
        const { body, contentType } = await badgeFile(badgeSubject({ name: 'x'.repeat(10_000) }), { kind, format });
        expect(contentType).toMatch(/^image\//);
        expect(Buffer.byteLength(body)).toBeLessThan(512 * 1024);
      }
  });

  it('an SVG fits into one packet when compressed, cards excepted', async () => {
    for (const kind of BADGE_KINDS.filter((kind) => !isCard(kind))) {
      const { body } = await badgeFile(badgeSubject({ name: 'Payments gateway' }), { kind, format: '.svg' });
      expect(gzipSync(body).length, kind).toBeLessThanOrEqual(1_460);
    }
  });

  it('caching is stated, since the proxy takes silence for a year; no cache keeps what is missing for one and there for another', () => {
    expect(BADGE_HEADERS['Cache-Control']).toBe('public, max-age=60, s-maxage=60');
    expect(NOT_FOUND_BADGE_HEADERS['Cache-Control']).toBe('private, no-store');
  });

  it('nothing asks for anything else, so the policy may forbid all but its own style', () => {
    for (const headers of [BADGE_HEADERS, NOT_FOUND_BADGE_HEADERS, SESSION_BADGE_HEADERS]) {
      expect(headers['X-Content-Type-Options']).toBe('nosniff');
      expect(headers['Content-Security-Policy']).toBe("default-src 'none'; style-src 'unsafe-inline'; sandbox");
    }
    expect(SESSION_BADGE_HEADERS['Cache-Control']).toBe('private, no-store');
  });
});

it('a badge that does not exist is a grey picture, always the same', () => {
  expectWellFormed(notFoundBadge());
  expect(notFoundBadge()).toContain('aria-label="status: not found"');
  expect(notFoundBadge()).toContain('#676b6f');
  expect(notFoundBadge()).toBe(notFoundBadge());
});

describe('the card', () => {
  let cards: string[] = [];
  beforeAll(async () => {
    cards = await Promise.all(
      STATES.map((state, index) =>
        cardSvg(badgeSubject({ state, name: `Card ${index}` }), { scheme: BADGE_SCHEMES[index % 3] }),
      ),
    );
  });

  it('is a picture with a name, and has neither ids nor text that needs a font', () => {
    for (const card of cards) {
      expectWellFormed(card);
      expect(card).toContain('width="400" height="132" viewBox="0 0 400 132" role="img" aria-label="Card');
      expect(card).not.toMatch(/ id=|url\(|mask|clip|<text|<image|NaN|undefined/);
    }
  });

  it('says the state by word, colour and shape, and draws ninety days', () => {
    expect(cards[STATES.indexOf('major_outage')]).toContain('<title>Card 3: major outage, uptime 90d 99.98%</title>');
    expect(new Set(cards).size).toBe(STATES.length);
    expect(cards[0]).toContain('stroke-dasharray="30 10"');
  });

  it('of a name in another script is text with its direction', async () => {
    expect(await cardSvg(badgeSubject({ name: 'ܐܪܡܝܐ' }))).toMatch(/<text[^>]* direction="rtl"[^>]*>ܐܪܡܝܐ<\/text>/);
  });

  it.each(['العربية', 'עברית', '決済サービス', '支付服务', 'Платежи', '결제 서비스', 'ระบบชำระเงิน', 'भुगतान सेवा'])(
    'of a name such as %s is outlines',
    async (name) => {
      const [plain, card] = await Promise.all([cardSvg(badgeSubject({ name: '' })), cardSvg(badgeSubject({ name }))]);
      expect(card).not.toContain('<text');
      expect(card.match(/<path fill/g)?.length ?? card.match(/<path/g)?.length).toBeGreaterThan(
        plain.match(/<path fill/g)?.length ?? 0,
      );
    },
  );

  it('of Devanagari and Thai has their ligatures and marks where they belong', async () => {
    const paths = async (name: string) =>
      /<g transform="scale\(.1\)"><path fill="#[^>]* d="([^"]+)"/.exec(
        (await cardSvg(badgeSubject({ name }))).split('</g>').at(-2) ?? '',
      )?.[1] ?? '';
    expect(await paths('क्ष')).not.toBe('');
    // With a non-joiner the same letters stand one after another.
    expect(await paths('क्ष')).not.toBe(await paths('क्\u200cष'));
    // A tone stands higher above a vowel than above a consonant.
    const [bare = '', tone = '', vowel = '', both = ''] = await Promise.all(['น', 'น่', 'นี', 'นี่'].map(paths));
    expect(new Set([bare, tone, vowel, both]).size).toBe(4);
    expect(top(both)).toBeLessThan(top(tone));
  });

  it('has words of the operator in any script, on the side where the others are', async () => {
    const card = await cardSvg(badgeSubject(), { words: { operational: 'সচল' } });
    expect(card).toMatch(/<text[^>]* x="62"[^>]* text-anchor="start" direction="ltr"[^>]*>সচল<\/text>/);
    const syriac = await cardSvg(badgeSubject({ name: 'ܐܪܡܝܐ' }));
    expect(syriac).toMatch(/<text[^>]* x="62"[^>]* text-anchor="end" direction="rtl"[^>]*>ܐܪܡܝܐ<\/text>/);
  });

  it('of stale figures is grey and says so once', async () => {
    const card = await cardSvg(badgeSubject({ isStale: true }), { scheme: 'light' });
    expect(card).toContain('<title>Acme: stale, uptime 90d 99.98%</title>');
    expect(card).toContain('<g fill="#676b6f"');
  });

  it('keeps its own label from the figures on it', async () => {
    expect(await cardSvg(badgeSubject(), { label: 'Front' })).toContain(
      '<title>Front: operational, uptime 90d 99.98%</title>',
    );
  });
});

it('what is drawn for any state and style has the word of the state in its name', () => {
  for (const state of STATES)
    for (const style of BADGE_STYLES) {
      const fields = badgeFields(badgeSubject({ state }), 'status', { style });
      expect(renderBadge(fields)).toContain(`<title>Acme: ${fields.message}</title>`);
    }
});

/** The highest point of relative path data. */
function top(path: string): number {
  const points = pathContours(path).contours.flat();
  return Math.min(...points.map(({ y }) => y));
}
