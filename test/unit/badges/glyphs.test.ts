import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { contoursOf, fontFolder, glyphTable, loadFont, WEIGHTS } from '../../../scripts/glyphs.ts';
import { distanceToPolyline } from '../../../scripts/vectors.ts';
import bold from '../../../src/badges/glyphs/bold.json' with { type: 'json' };
import regular from '../../../src/badges/glyphs/regular.json' with { type: 'json' };
import { bezier, pathContours } from '../../helpers/path-points.ts';

const FOLDER = join(import.meta.dirname, '../../../src/badges/glyphs');
const TABLES = { regular, bold };

/** Tenths of a pixel that a line of the outline may lie beside the font's: rounding and fitting together. */
const STRAY_MAX = 1.1;

function rowsOf(weight: 'regular' | 'bold'): { character: string; advance: number; path: string }[] {
  return TABLES[weight].outlines.map((row) => {
    const [key = '', advance = '', ...path] = row.split(' ');
    return {
      character: String.fromCodePoint(Number.parseInt(key, 36)),
      advance: Number(advance),
      path: path.join(' '),
    };
  });
}

/** Fitting and measuring outlines is slow, so at a smaller scale than 1 only every eighth is. */
const EVERY = Number(process.env['PHAROS_TEST_SCALE'] ?? 1) < 1 ? 8 : 1;

it.each(WEIGHTS)('the table of the %s weight is what the installed font gives', (weight) => {
  const table = readFileSync(join(FOLDER, `${weight}.json`), 'utf8');
  const outlines = TABLES[weight].outlines.filter((line) => Number.parseInt(line, 36) % EVERY === 0);
  const wanted = `${JSON.stringify({ ...TABLES[weight], outlines }, null, 1)}\n`;
  expect(glyphTable(weight, (codePoint) => codePoint % EVERY === 0)).toBe(wanted);
  expect(table).toBe(`${JSON.stringify(TABLES[weight], null, 1)}\n`);
});

it('the licence of the font lies beside its outlines', () => {
  expect(readFileSync(join(FOLDER, 'LICENSE.txt'), 'utf8')).toBe(readFileSync(join(fontFolder(), 'LICENSE'), 'utf8'));
});

describe.each(WEIGHTS)('the %s outlines', (weight) => {
  const rows = rowsOf(weight);
  const covered = new Set(rows.map(({ character }) => character));

  it('cover Latin-1, Latin Extended-A, Greek and Cyrillic', () => {
    const stretches = [
      [0x20, 0x7e],
      [0xa0, 0x17f],
      [0x386, 0x38a],
      [0x391, 0x3a1],
      [0x3a3, 0x3ce],
      [0x400, 0x482],
      [0x48a, 0x4ff],
    ] as const;
    for (const [first, last] of stretches)
      for (let code = first; code <= last; code += 1) expect(covered).toContain(String.fromCodePoint(code));
  });

  it('leave the pen on the baseline where the next letter begins', () => {
    for (const { path, advance, character } of rows)
      expect(pathContours(path).end, character).toEqual({ x: advance, y: 0 });
  });

  it('lie nowhere further than a ninth of a pixel from those of the font', () => {
    const font = loadFont(weight);
    let furthest = { character: '', stray: 0 };
    for (const { character, path } of rows.filter((_, index) => index % EVERY === 0)) {
      const ours = pathContours(path).contours;
      const theirs = contoursOf(font, font.charToGlyph(character)).map(({ from, pieces }) => {
        let at = from;
        return pieces.flatMap(({ control, to }) => {
          const controls = control === null ? [at, to] : [at, control, to];
          at = to;
          return [0.25, 0.5, 0.75, 1].map((share) => bezier(controls, share));
        });
      });
      expect(ours, character).toHaveLength(theirs.length);
      theirs.forEach((contour, index) => {
        const closed = [...contour, contour[0] ?? { x: 0, y: 0 }];
        for (const [points, line] of [
          [contour, ours[index] ?? []],
          [ours[index] ?? [], closed],
        ] as const)
          for (const point of points) {
            const stray = distanceToPolyline(point, line);
            if (stray > furthest.stray) furthest = { character, stray };
          }
      });
    }
    expect(furthest.stray, `at ${furthest.character}`).toBeLessThanOrEqual(STRAY_MAX);
    expect(furthest.stray, 'the measure measures').toBeGreaterThan(0.1);
  });
});
