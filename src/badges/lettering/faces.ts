/**
 * The fonts that come along, for pictures that are drawn without a browser: Inter, a sans-serif as on the pages, and for scripts that
 * it does not have Amiri, Noto Serif Hebrew, Thai and Devanagari, Hina Mincho, ZCOOL XiaoWei and Song Myung.
 * What a text needs is read when it is first drawn, and stays.
 */

import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import type { Font } from 'satori';

const { resolve } = createRequire(import.meta.url);

const SUBSETS = ['latin', 'latin-ext', 'cyrillic', 'cyrillic-ext', 'greek', 'vietnamese'] as const;
const INTER_WEIGHTS = [500, 600, 700] as const;

/** Fonts for a text, and the list of families to set it in. */
export type Faces = Readonly<Awaited<ReturnType<typeof facesFor>>>;

export type BoxStyle = Readonly<Record<string, string | number>>;

/** An element as satori takes it, without JSX. */
export interface Box {
  readonly type: 'div';
  readonly props: { readonly style: BoxStyle; readonly children: string | readonly Box[] };
}

const known = new Map<string, Promise<Font>>();

/** Read once: satori keeps what it learned of a font by the identity of its bytes. */
function font(name: string, weight: Required<Font>['weight'], file: () => string): Promise<Font> {
  return known.getOrInsertComputed(`${name} ${weight}`, async () => ({
    name,
    weight,
    style: 'normal',
    data: await readFile(file()),
  }));
}

/** Each subset under a name of its own, since of one name only one font is asked for a letter. */
function inter(): Promise<Font[]> {
  return Promise.all(
    SUBSETS.flatMap((subset) =>
      INTER_WEIGHTS.map((weight) =>
        font(`inter-${subset}`, weight, () => resolve(`@fontsource/inter/files/inter-${subset}-${weight}-normal.woff`)),
      ),
    ),
  );
}

/** Scripts that are in one file, of one weight. */
const SCRIPTS: readonly { readonly letters: RegExp; readonly load: () => Promise<Font> }[] = [
  {
    letters: /[\u0600-\u06ff]/,
    load: () => font('amiri', 700, () => resolve('@fontsource/amiri/files/amiri-arabic-700-normal.woff')),
  },
  {
    letters: /[\u0590-\u05ff]/,
    load: () =>
      font('hebrew', 600, () =>
        resolve('@fontsource/noto-serif-hebrew/files/noto-serif-hebrew-hebrew-600-normal.woff'),
      ),
  },
  {
    letters: /[\u0e00-\u0e7f]/,
    load: () =>
      font('thai', 600, () => resolve('@fontsource/noto-serif-thai/files/noto-serif-thai-thai-600-normal.woff')),
  },
  {
    letters: /[\u0900-\u097f]/,
    load: () =>
      font('devanagari', 600, () =>
        resolve('@fontsource/noto-serif-devanagari/files/noto-serif-devanagari-devanagari-600-normal.woff'),
      ),
  },
];

const EAST_ASIAN = /[\u3000-\u30ff\uff00-\uff5e\p{Script=Han}]/gu;

const HANGUL = /[\u3131-\u318e\uac00-\ud7a3]/gu;

// Fonts in slices of a hundred characters or so, by the file that says which are where. Each is named like its package.
const JAPANESE = () => resolve('@fontsource/hina-mincho/unicode.json');
const CHINESE = () => resolve('@fontsource/zcool-xiaowei/unicode.json');
const KOREAN = () => resolve('@fontsource/song-myung/unicode.json');

const slicesByFile = new Map<string, ReturnType<typeof readSlices>>();

/** The slices of a font and the code points in each, from and to: in all some ten thousand ranges. */
async function readSlices(file: string) {
  const known: Readonly<Record<string, string>> = JSON.parse(await readFile(file, 'utf8'));
  return Object.entries(known).map(([key, range]) => ({
    name: key.replace(/[[\]]/g, ''),
    // As in style sheets: `U+4e00,U+4e8c-4e8e`.
    ranges: range.split(',').map((part) => {
      const [from = '', to = from] = part.replace('U+', '').split('-');
      return [Number.parseInt(from, 16), Number.parseInt(to, 16)] as const;
    }),
  }));
}

async function slicesFor(characters: readonly string[], findRanges: () => string): Promise<Font[]> {
  const file = findRanges();
  const family = basename(dirname(file));
  const points = [...new Set(characters)].map((one) => one.codePointAt(0) ?? 0);
  const slices = await slicesByFile.getOrInsertComputed(file, readSlices);
  const wanted = slices.filter(({ ranges }) =>
    ranges.some(([from, to]) => points.some((point) => point >= from && point <= to)),
  );
  return Promise.all(
    wanted.map(({ name }) =>
      font(`${family}-${name}`, 400, () => join(dirname(file), `files/${family}-${name}-400-normal.woff`)),
    ),
  );
}

/** What `text` needs. @param locale  Chinese characters look as in its language, where both fonts have them */
export async function facesFor(text: string, locale: string) {
  const latin = await inter();
  const others: Font[] = [];
  for (const { letters, load } of SCRIPTS) if (letters.test(text)) others.push(await load());
  const hangul = text.match(HANGUL) ?? [];
  if (hangul.length > 0) others.push(...(await slicesFor(hangul, KOREAN)));
  const characters = text.match(EAST_ASIAN) ?? [];
  const sliced = locale.startsWith('zh') ? [CHINESE, JAPANESE] : [JAPANESE, CHINESE];
  if (characters.length > 0) for (const one of sliced) others.push(...(await slicesFor(characters, one)));
  const fonts = [...latin, ...others];
  return { fonts, families: [...new Set(fonts.map(({ name }) => name))].join(', ') };
}
