import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { toHex } from '../../../src/looks/colour.ts';
import { LOOKS, looksStylesheet } from '../../../src/looks/states.ts';
import { STATES } from '../../../src/model/index.ts';

/** What a rule declares, by property. */
function declared(selector: string): ReadonlyMap<string, string> {
  const body = looksStylesheet().split(`${selector}{`)[1]?.split('}')[0] ?? '';
  return new Map(body.split(';').map((one) => one.trim().split(/:(.*)/s) as [string, string]));
}

describe('the style sheet of colours', () => {
  const root = declared(':root');

  it.each(STATES)('gives rows, heads and words of %s their colours', (state) => {
    const { text, header, row, bar, token } = LOOKS[state];
    const colourOf = (name: string) => root.get(/var\((.*)\)/.exec(declared(`.s-${state}`).get(name) ?? '')?.[1] ?? '');
    const written = ({ light, dark }: typeof text) => `light-dark(${toHex(light)},${toHex(dark)})`;
    expect([colourOf('--s'), colourOf('--header'), colourOf('--tint'), root.get(`--${token}-bar`)]).toEqual(
      [text, header, row, bar].map(written),
    );
  });
});

it('every custom property that a style uses is declared somewhere', () => {
  const src = join(import.meta.dirname, '../../../src');
  const styles = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.(?:css|astro)$/.test(path))
    .map((path) => readFileSync(join(src, path), 'utf8'))
    .concat(looksStylesheet())
    .join('');
  const namesIn = (pattern: RegExp) => new Set(Array.from(styles.matchAll(pattern), (match) => match[1]));
  const used = namesIn(/var\(\s*(--(?!pharos-)[\w-]+)/g);
  expect(used.size).toBeGreaterThan(20);
  expect([...used.difference(namesIn(/(--[\w-]+):/g))]).toEqual([]);
});
