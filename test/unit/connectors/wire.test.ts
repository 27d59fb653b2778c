import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Question } from '../../../src/sync/connector.ts';
import { readPages, readStablePages } from '../../../src/sync/connectors/paging.ts';
import {
  BaseUrlSchema,
  CountSchema,
  FlagSchema,
  HeadersSchema,
  IdSchema,
  InstantSchema,
  NameSchema,
  NumberSchema,
  parseInstant,
  toHost,
  toLink,
} from '../../../src/sync/connectors/wire.ts';
import { drive } from '../../helpers/drive.ts';

describe('names', () => {
  it('are cut where no heading could hold them', () => {
    expect(NameSchema.parse('x'.repeat(5_000)).length).toBe(500);
    expect(NameSchema.safeParse('').success).toBe(false);
  });
});

describe('instants', () => {
  it.each([
    ['2026-11-21T08:07:17.000Z', null, Date.UTC(2026, 10, 21, 8, 7, 17)],
    ['2026-11-21T08:07:17+02:00', 'Asia/Tokyo', Date.UTC(2026, 10, 21, 6, 7, 17)],
    ['2026-11-21 08:07:17', 'UTC', Date.UTC(2026, 10, 21, 8, 7, 17)],
    ['2026-11-21 08:07:17', '-03:30', Date.UTC(2026, 10, 21, 11, 37, 17)],
    ['2026-11-21', 'UTC', Date.UTC(2026, 10, 21)],
    ['2026-11-21T08:07:17', null, null],
    ['2026-02-30T00:00:00Z', null, null],
    ['1969-12-31T00:00:00Z', null, null],
    ['9999-12-31T00:00:00Z', null, null],
    ['+275760-09-13T00:00:00Z', null, null],
    ['soon', 'UTC', null],
    ['', 'UTC', null],
  ])('%j in %s', (text, zone, expected) => {
    expect(parseInstant(text, zone)).toBe(expected);
  });

  it('that cannot be are no instants for a schema either', () => {
    expect(InstantSchema.safeParse('2026-11-21T08:07:17').success).toBe(false);
    expect(InstantSchema.safeParse(1_795_000_000).success).toBe(false);
  });
});

describe('scalars as upstreams write them', () => {
  it.each([
    [IdSchema, 7, '7'],
    [IdSchema, 'abc', 'abc'],
    [IdSchema, '', undefined],
    [IdSchema, 1.5, undefined],
    [IdSchema, 'x'.repeat(201), undefined],
    [NumberSchema, '45000', 45_000],
    [NumberSchema, '-1.5', -1.5],
    [NumberSchema, '1e9', undefined],
    [NumberSchema, 'NaN', undefined],
    [CountSchema, '3.5', undefined],
    [CountSchema, -1, undefined],
    [FlagSchema, 1, true],
    [FlagSchema, '0', false],
    [FlagSchema, 'false', false],
    [FlagSchema, 2, undefined],
    [FlagSchema, 'yes', undefined],
    [BaseUrlSchema, 'https://x.test/api/', 'https://x.test/api'],
    [BaseUrlSchema, 'https://x.test?key=1', undefined],
    [BaseUrlSchema, 'https://u:p@x.test', undefined],
    [BaseUrlSchema, 'file:///etc/passwd', undefined],
    [BaseUrlSchema, 'https://a.test,https://b.test', undefined],
    [HeadersSchema, { 'X-Key': 'a b' }, { 'x-key': 'a b' }],
    [HeadersSchema, { 'X-Key': 'a\r\nX-Evil: 1' }, undefined],
    [HeadersSchema, { 'X Key': 'a' }, undefined],
  ] as [z.ZodType, unknown, unknown][])('%# %j', (schema, input, expected) => {
    expect(schema.safeParse(input).data).toEqual(expected);
  });

  it.each([
    ['status.acme.example', 'status.acme.example'],
    ['localhost', null],
    ['a b.test', null],
    ['x.test/path', null],
    [`${'a'.repeat(260)}.test`, null],
    [null, null],
  ])('the host %j', (value, expected) => {
    expect(toHost(value)).toBe(expected);
  });

  it.each([
    ['HTTPS://x.test', 'HTTPS://x.test'],
    ['javascript:alert(1)', null],
    ['//x.test', null],
    [{}, null],
  ])('the link %j', (value, expected) => {
    expect(toLink(value)).toBe(expected);
  });
});

interface Page {
  readonly ids: readonly string[];
  readonly total: number | null;
}
const PageSchema = z.object({ ids: z.array(z.string()), total: z.number().nullable() });
const question = (offset: number): Question<Page> => ({
  name: 'list',
  priority: 'list',
  method: 'GET',
  url: `https://x.test/?offset=${offset}`,
  headers: {},
  schema: PageSchema,
});
const listing = {
  first: question(0),
  next: (page: Page, index: number) => ((index + 1) * 2 >= (page.total ?? 0) ? null : question((index + 1) * 2)),
  pagesMax: 10,
  isNeeded: true,
};
const facts = { factsOf: (page: Page) => page, countsAll: true };
const offsetOf = (url: string): number => Number(new URL(url).searchParams.get('offset'));

describe('lists in pages', () => {
  it('end at their ceiling, whatever they say of themselves', async () => {
    const { result, questions } = await drive(readPages(listing), () => ({ ids: ['1'], total: 1_000_000 }));
    expect([result.kind, questions.length]).toEqual(['cut', 10]);
  });

  /** Four items; `change` replaces them once page 1 has been read for the first time. */
  const changing = (change: readonly string[], times = 1) => {
    let ids: readonly string[] = ['1', '2', '3', '4'];
    let changes = 0;
    return ({ url }: { url: string }) => {
      const page = { ids: ids.slice(offsetOf(url), offsetOf(url) + 2), total: ids.length };
      if (offsetOf(url) === 0 && changes < times) {
        changes += 1;
        ids = change.map((id) => (times === 1 ? id : `${id}-${changes}`));
      }
      return page;
    };
  };
  const idsOf = async (change: readonly string[], times = 1) => {
    const { result } = await drive(readStablePages({ ...listing, ...facts }), changing(change, times));
    return [result.kind, result.pages.flatMap((page) => page.ids)];
  };

  it.each([
    ['grows at the front', ['0', '1', '2', '3', '4']],
    ['shrinks', ['2', '3', '4']],
    ['loses one and gains another at the front', ['0', '1', '2', '3']],
    ['has one replaced on a page that was read already, which only a second look can tell', ['0', '2', '3', '4']],
    ['is put into another order', ['4', '3', '2', '1']],
  ])('are read again when a list %s', async (_, change) => {
    expect(await idsOf(change)).toEqual(['ok', change]);
  });

  it('say so when they never hold still', async () => {
    expect((await idsOf(['1', '2', '3', '4'], 100))[0]).toBe('shifting');
  });
});
