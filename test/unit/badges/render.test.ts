import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeBadge } from 'badge-maker';
import { describe, expect, it } from 'vitest';
import { type BadgeFields, renderBadge } from '../../../src/badges/index.ts';
import { TEXT_LENGTH_MAX } from '../../../src/badges/lettering/text.ts';
import { BADGE_SCHEMES, BADGE_STYLES } from '../../../src/badges/names.ts';
import { LOOKS } from '../../../src/looks/states.ts';
import { STATES } from '../../../src/model/state.ts';

const PLAIN: BadgeFields = { label: 'uptime 90d', message: '99.98%', color: 'operational' };
const DRAWN: BadgeFields = {
  ...PLAIN,
  days: STATES,
  series: [1, null, 3, 4],
  logo: { path: 'M0 0h24v24z', size: 24 },
  shape: 'operational',
};

function badge(changes: Partial<BadgeFields> = {}): string {
  return renderBadge({ ...PLAIN, ...changes });
}

function sizeOf(svg: string): { width: number; height: number } {
  const [, width = '', height = ''] = /width="([^"]+)" height="([^"]+)"/.exec(svg) ?? [];
  return { width: Number(width), height: Number(height) };
}

describe.each(BADGE_STYLES)('every badge of style %s', (style) => {
  const all = BADGE_SCHEMES.flatMap((scheme) => [badge({ style, scheme }), renderBadge({ ...DRAWN, style, scheme })]);

  it('is a picture with a name for who does not see it', () => {
    for (const svg of all) {
      expect(svg).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" /);
      expect(svg).toContain('role="img" aria-label="uptime 90d: 99.98%"><title>uptime 90d: 99.98%</title>');
    }
  });

  it('has a size in whole pixels and a viewBox of ten times that', () => {
    for (const svg of all) {
      const { width, height } = sizeOf(svg);
      expect(Number.isInteger(width) && width > 0).toBe(true);
      expect(svg).toContain(`viewBox="0 0 ${width * 10} ${height * 10}"`);
    }
  });

  it('has no id, filter, clip path, reference, script or text element', () => {
    for (const svg of style.endsWith('-text') ? [] : all)
      expect(svg).not.toMatch(/ id=|filter|clip|mask|href|url\(|<script|<text|font|NaN|undefined|Infinity/);
  });

  it('is drawn again to the same bytes', () => {
    expect(badge({ style })).toBe(badge({ style }));
  });
});

describe('styles that are set in text', () => {
  const texts = Array.from({ length: 200 }, (_, index) => ({
    label: `${['uptime 90d', 'API', 'payments gateway', 'mail queue'][index % 4]} ${index}`,
    message:
      ['operational', 'partial outage', '99.98%', '{n} ms', 'none open'][index % 5]?.replace('{n}', `${index}`) ?? '',
    color: ['green', 'red', 'yellow', '#0969da', '#bf3989', 'grey'][index % 6] ?? '',
  }));
  const mean = (draw: (text: (typeof texts)[number]) => string): number =>
    texts.reduce((sum, text) => sum + Buffer.byteLength(draw(text)), 0) / texts.length;

  it('take no more bytes than those of badge-maker, in the mean of 200', () => {
    for (const [ours, theirs] of [
      ['flat-text', 'flat'],
      ['square-text', 'flat-square'],
      ['pill-text', 'flat'],
      ['tall-text', 'for-the-badge'],
    ] as const) {
      const most = mean((text) => makeBadge({ ...text, style: theirs }));
      expect([ours, mean((text) => renderBadge({ ...text, style: ours })) <= most]).toEqual([ours, true]);
    }
  });

  it('are as wide as those in outlines, and follow the ground only where that is asked for', () => {
    for (const style of ['flat', 'square', 'pill', 'tall'] as const) {
      for (const { label, message } of texts)
        expect(sizeOf(badge({ label, message, style: `${style}-text` }))).toEqual(
          sizeOf(badge({ label, message, style })),
        );
      expect(badge({ style: `${style}-text` })).toBe(badge({ style: `${style}-text`, scheme: 'light' }));
      expect(badge({ style: `${style}-text`, scheme: 'auto' })).toContain('@media(prefers-color-scheme:dark)');
    }
  });

  it('hold the text itself, fitted to its place, but not of scripts that come apart', () => {
    const svg = badge({ label: 'R&D <b>', message: 'ok', style: 'flat-text' });
    expect(svg).toMatch(
      /<text [^>]*textLength="\d+">R&amp;D &lt;b&gt;<\/text><text [^>]*textLength="\d+">ok<\/text><\/g>/,
    );
    const mixed = badge({ label: 'العربية', message: 'ok', style: 'flat-text' });
    expect(mixed).toMatch(/<text (?:(?!textLength)[^>])*direction="rtl"[^>]*>العربية<\/text>/);
    expect(badge({ label: '', message: '', style: 'flat-text' })).not.toContain('<text');
  });
});

describe('schemes', () => {
  it('auto follows the ground, light and dark are what they say', () => {
    const [auto, light, dark] = BADGE_SCHEMES.map((scheme) => badge({ scheme }));
    expect(auto).toContain('@media(prefers-color-scheme:dark)');
    expect(light).not.toContain('<style');
    expect(dark).not.toContain('<style');
    expect(light).toContain('#1f7a49');
    expect(dark).toContain('#4fbd84');
    expect(badge()).toBe(auto);
  });

  it('a class means the same colour in every badge, so that many can stand in one document', () => {
    const meanings = new Map<string, string>();
    for (const color of [...STATES, 'info', 'yellowgreen', '#123456'])
      for (const style of BADGE_STYLES)
        for (const [, name = '', rule = ''] of renderBadge({ ...DRAWN, color, style }).matchAll(
          /\.([a-z0-9]+)\{([^}]*)\}/g,
        )) {
          expect(meanings.get(name) ?? rule).toBe(rule);
          meanings.set(name, rule);
        }
    expect(meanings.size).toBeGreaterThan(8);
  });

  it('every class that is used has its rule, and every rule its class', () => {
    for (const style of BADGE_STYLES) {
      const svg = renderBadge({ ...DRAWN, style });
      const used = new Set(Array.from(svg.matchAll(/class="([^"]+)"/g), (match) => match[1]));
      const defined = new Set(Array.from(svg.matchAll(/\.([a-z0-9]+)\{/g), (match) => match[1]));
      expect(defined).toEqual(used);
    }
  });

  it('a colour of the operator is the same on both grounds and needs no style sheet for it', () => {
    expect(badge({ color: '#123456', labelColor: '#222' })).not.toContain('<style');
  });
});

describe('colours', () => {
  it('are written from their parsed value, never as they came', () => {
    for (const color of ['"/><script>alert(1)</script>', 'url(#x)', '#12', 'x"onload="y', ''])
      expect(badge({ color, labelColor: color })).toBe(badge({ color: 'unknown' }));
    expect(badge({ color: ' RGB(18, 52, 86) ' })).toBe(badge({ color: '#123456' }));
  });

  it('however many strangers ask for theirs, ours stay the same', () => {
    const before = badge({ color: '#2da44e' });
    for (let index = 0; index < 2_000; index += 1) badge({ color: `#${index.toString(16).padStart(6, '0')}` });
    expect(badge({ color: '#2da44e' })).toBe(before);
  });

  it('the ink is white on dark plates and black on light ones', () => {
    expect(badge({ color: '#003300', scheme: 'light' })).not.toContain('fill="#000"');
    expect(badge({ color: '#ffee00', scheme: 'light' })).toContain('fill="#000"');
  });
});

describe('text', () => {
  it('grows the badge', () => {
    const widths = Array.from({ length: 40 }, (_, length) => sizeOf(badge({ label: 'n'.repeat(length) })).width);
    expect(widths.toSorted((a, b) => a - b)).toEqual(widths);
    expect(new Set(widths).size).toBeGreaterThan(35);
  });

  it('is drawn closer where letters want it', () => {
    expect(sizeOf(badge({ label: 'Tokyo Tokyo' })).width).toBeLessThan(sizeOf(badge({ label: 'okyoT okyoT' })).width);
  });

  it('of other scripts is text with its direction, neither stretched nor squeezed', () => {
    expect(badge({ label: 'العربية' })).toMatch(/<text[^>]* direction="rtl"[^>]*>العربية<\/text>/);
    expect(badge({ message: '東京' })).toMatch(/<text[^>]* direction="ltr"[^>]*>東京<\/text>/);
    expect(badge({ label: 'العربية' })).not.toMatch(/textLength|lengthAdjust/);
  });

  it('of Greek, Cyrillic, Vietnamese and Romanian is outlines', () => {
    for (const label of ['Ελληνικά', 'Кириллица', 'Tiếng Việt', 'Brașov', 'Łódź – „Größe“ 100 € ✓'])
      expect(badge({ label })).not.toContain('<text');
  });

  it('that is too long is cut, in the picture and in its name', () => {
    const svg = badge({ label: 'x'.repeat(10_000) });
    expect(svg).toContain(`aria-label="${'x'.repeat(TEXT_LENGTH_MAX - 1)}…: 99.98%"`);
    expect(svg.length).toBeLessThan(12_000);
  });

  it('may be missing on either side, or on both', () => {
    expect(badge({ label: '' })).toContain('aria-label="99.98%"');
    expect(renderBadge({ message: '99.98%', color: 'operational' })).toBe(badge({ label: '' }));
    expect(badge({ message: '' })).toContain('aria-label="uptime 90d"');
    expect(sizeOf(badge({ label: '', message: '' }))).toEqual({ width: 20, height: 20 });
  });

  it('of a tall badge is capitals, but its name and its units stay', () => {
    const tall = badge({ style: 'tall', label: 'time', message: '142 ms' });
    expect(tall).toContain('aria-label="time: 142 ms"');
    expect(tall).toBe(badge({ style: 'tall', label: 'TIME', message: '142 ms' }).replaceAll('TIME:', 'time:'));
    expect(sizeOf(badge({ style: 'tall', message: '142 ms' }))).not.toEqual(
      sizeOf(badge({ style: 'tall', message: '142 MS' })),
    );
  });
});

describe('drawings', () => {
  it('there is a bar for each day, and one path for each state', () => {
    const days = [
      ...Array.from({ length: 40 }, () => 'operational' as const),
      'major_outage' as const,
      'operational' as const,
    ];
    const svg = badge({ style: 'bars', days });
    expect(svg.match(/stroke-width=/g)).toHaveLength(2);
    expect(sizeOf(svg).width - sizeOf(badge()).width).toBe(42 * 3 - 1 + 10);
  });

  it('a worse day is a taller bar', () => {
    const heights = STATES.map((state) =>
      Number(/stroke-width="([\d.]+)"/.exec(badge({ style: 'bars', days: [state] }))?.[1]),
    );
    expect(Object.fromEntries(STATES.map((state, index) => [state, heights[index]]))).toEqual({
      operational: 80,
      degraded: 100,
      partial_outage: 120,
      major_outage: 140,
      maintenance: 60,
      paused: 20,
      unknown: 20,
    });
  });

  it('bars have the colours the operator chose, unknown ones excepted', () => {
    const svg = badge({
      style: 'bars',
      scheme: 'light',
      days: ['operational', 'unknown'],
      stateColors: { operational: '#123456' },
    });
    expect(svg).toContain('stroke="#123456"');
    expect(svg).toContain('stroke="#767a7e"');
  });

  it('a gap in a series stays open, and what is not a number is a gap', () => {
    const moves = (series: (number | null)[]) =>
      /stroke-width="13"[^>]* d="([^"]*)"/.exec(badge({ style: 'spark', series }))?.[1]?.match(/M/g)?.length;
    expect(moves([1, 2, 3])).toBe(1);
    expect(moves([1, 2, null, 3, 4])).toBe(2);
    expect(moves([1, Number.NaN, 2, Number.POSITIVE_INFINITY, 3])).toBe(3);
  });

  it('a series of zeros is a line on the floor, one of nothing is no line', () => {
    expect(badge({ style: 'spark', series: [0, 0] })).not.toMatch(/NaN/);
    expect(badge({ style: 'spark', series: [null, null] })).toBe(badge({ style: 'spark' }));
  });

  it('a long series is thinned to points that can be told apart', () => {
    const series = Array.from({ length: 10_000 }, (_, index) => index % 7);
    expect(badge({ style: 'spark', series }).length).toBeLessThan(5_000);
  });

  it('a dot has the shape of its state, as it is everywhere, and is a disc when it has none', () => {
    for (const state of STATES) {
      const svg = badge({ style: 'dot', shape: state });
      expect(svg).toContain(`d="${LOOKS[state].shape.outline}"`);
      expect(svg).toContain(`d="${LOOKS[state].shape.sign}"`);
    }
    expect(badge({ style: 'dot' })).toMatch(/<circle[^>]*\/><\/svg>$/);
  });
});

it('a style or scheme that does not exist is the usual one', () => {
  expect(badge({ style: 'plastic' as 'flat', scheme: 'neon' as 'auto' })).toBe(badge());
});

it('drawing a badge loads neither satori nor zod nor anything of Node', () => {
  const folder = join(import.meta.dirname, '../../../src/badges');
  const seen = new Set<string>();
  const visit = (path: string): void => {
    if (seen.has(path) || path.endsWith('.json')) return;
    seen.add(path);
    const source = readFileSync(path, 'utf8').replace(/import type [^;]*;/g, '');
    for (const [, specifier = ''] of source.matchAll(/(?:from|import)\s*\(?'([^']+)'/g)) {
      expect(specifier, path).toMatch(/^\./);
      visit(join(dirname(path), specifier));
    }
  };
  visit(join(folder, 'index.ts'));
  expect(seen).toContain(join(folder, 'lettering/outline.ts'));
  expect(seen).not.toContain(join(folder, 'card.ts'));
});
