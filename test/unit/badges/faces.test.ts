import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import opentype from 'opentype.js';
import { describe, expect, it } from 'vitest';
import { facesFor } from '../../../src/badges/lettering/faces.ts';
import { isDrawable } from '../../../src/views/badges/drawable.ts';

const { resolve } = createRequire(import.meta.url);

/** Characters that the files of a font with this end have. */
function charactersOf(family: string, end: string): ReadonlySet<string> {
  const folder = `${dirname(resolve(`@fontsource/${family}/package.json`))}/files`;
  const fonts = readdirSync(folder)
    .filter((name) => name.endsWith(end))
    .map((name) => {
      const { buffer, byteOffset, byteLength } = readFileSync(`${folder}/${name}`);
      return opentype.parse(buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer);
    });
  const characters = new Set<string>();
  for (const font of fonts)
    for (let index = 0; index < font.glyphs.length; index += 1)
      for (const code of font.glyphs.get(index).unicodes) characters.add(String.fromCodePoint(code));
  return characters;
}

const between = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => String.fromCodePoint(from + index));

describe('the fonts that come along', () => {
  it('have every character of Hebrew, Arabic, Thai, Devanagari, kana, Hangul and Chinese that is called drawable', () => {
    const east = new Set([
      ...charactersOf('hina-mincho', '-400-normal.woff'),
      ...charactersOf('zcool-xiaowei', '-400-normal.woff'),
    ]);
    const drawable = (from: number, to: number) =>
      between(from, to).filter((one) => /\p{L}/u.test(one) && isDrawable(one));
    const han = drawable(0x4e00, 0x9fff);
    expect(han.length).toBeGreaterThan(8_000);
    expect(han.filter((one) => !east.has(one))).toEqual([]);
    expect(drawable(0x3041, 0x30fd).filter((one) => !east.has(one))).toEqual([]);
    const arabic = charactersOf('amiri', 'arabic-700-normal.woff');
    expect(drawable(0x0620, 0x06ff).filter((one) => !arabic.has(one))).toEqual([]);
    const hebrew = charactersOf('noto-serif-hebrew', 'hebrew-600-normal.woff');
    expect(drawable(0x05d0, 0x05ea).filter((one) => !hebrew.has(one))).toEqual([]);
    const korean = charactersOf('song-myung', '-400-normal.woff');
    const hangul = [...drawable(0xac00, 0xd7a3), ...drawable(0x3131, 0x318e)];
    expect(hangul.length).toBeGreaterThan(2_350);
    expect(hangul.filter((one) => !korean.has(one))).toEqual([]);
    for (const [family, from, to] of [
      ['thai', 0x0e00, 0x0e7f],
      ['devanagari', 0x0900, 0x097f],
    ] as const) {
      const known = charactersOf(`noto-serif-${family}`, `${family}-600-normal.woff`);
      const drawn = between(from, to).filter((one) => /\p{L}|\p{M}|\p{N}|\p{P}/u.test(one) && isDrawable(one));
      expect(drawn.length, family).toBeGreaterThan(80);
      expect(drawn.filter((one) => !known.has(one))).toEqual([]);
    }
  });

  it('are read as far as a text needs them, Chinese in the forms of its language', async () => {
    const families = async (text: string, locale: string) =>
      (await facesFor(text, locale)).families.split(', ').filter((name) => !name.startsWith('inter-'));
    expect(await families('Acme', 'en')).toEqual([]);
    expect(await families('أكمي', 'ar')).toEqual(['amiri']);
    expect(await families('שלום', 'he')).toEqual(['hebrew']);
    expect(await families('ระบบ हिन्दी', 'en')).toEqual(['thai', 'devanagari']);
    expect((await families('결제', 'en')).every((name) => name.startsWith('song-myung-'))).toBe(true);
    expect((await families('状態', 'ja'))[0]).toMatch(/^hina-mincho-/);
    expect((await families('状态', 'zh-Hans'))[0]).toMatch(/^zcool-xiaowei-/);
  });
});
