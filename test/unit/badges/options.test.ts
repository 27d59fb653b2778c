import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { BADGE_KINDS } from '../../../src/badges/kinds.ts';
import { NamedBadgeSchema, NamedBadgesSchema, resolveBadge } from '../../../src/badges/named.ts';
import { BADGE_FORMATS, badgeFileName, isBadgeName, parseBadgeFileName } from '../../../src/badges/names.ts';
import { BadgeOptionsSchema, mergeBadgeOptions, parseBadgeQuery } from '../../../src/badges/options.ts';

describe('the configuration', () => {
  it('takes everything that may be chosen', () => {
    const options = {
      label: '{name} API',
      style: 'pill',
      scheme: 'dark',
      labelColor: '#222',
      decimals: 3,
      locale: 'de-CH',
      logo: { path: 'M 0 0 L 10,10 Z' },
      words: { operational: 'läuft', open: '{n} offen' },
      colors: { major_outage: 'purple' },
      thresholds: { uptime: { good: 0.99, fair: 0.9, poor: 0.5 } },
    };
    expect(BadgeOptionsSchema.parse(options)).toEqual({ ...options, logo: { path: 'M0 0L10 10Z', size: 24 } });
  });

  it.each([
    [{ style: 'plastic' }, 'style'],
    [{ labelColor: 'red"/>' }, 'labelColor'],
    [{ colors: { operational: 'nope' } }, 'colors.operational'],
    [{ colors: { unknown: 'green' } }, 'colors'],
    [{ logo: { path: '<script>' } }, 'logo.path'],
    [{ logo: { path: 'M0 0z', size: 0 } }, 'logo.size'],
    [{ label: 'x'.repeat(65) }, 'label'],
    [{ words: { operational: '' } }, 'words.operational'],
    [{ decimals: 5 }, 'decimals'],
    [{ locale: 'not a locale' }, 'locale'],
    [{ thresholds: { uptime: { good: 1 } } }, 'thresholds.uptime.fair'],
    [{ colour: 'red' }, ''],
  ])('refuses %j by its path', (options, path) => {
    const { error } = BadgeOptionsSchema.safeParse(options);
    expect(error?.issues[0]?.path.join('.')).toBe(path);
  });

  it('named badges have a name that is good in an address, a kind, and no namesake', () => {
    expect(NamedBadgeSchema.parse({ name: 'front-page', kind: 'uptime-30d', label: 'up' })).toEqual({
      name: 'front-page',
      kind: 'uptime-30d',
      label: 'up',
    });
    for (const name of ['', 'A', 'a/b', '../x', 'a.svg', 'a-light', 'a-dark', '-a', 'a-', 'x'.repeat(65)])
      expect(NamedBadgeSchema.safeParse({ name, kind: 'status' }).success, name).toBe(false);
    const two = [
      { name: 'a', kind: 'status' },
      { name: 'a', kind: 'dot' },
    ];
    expect(NamedBadgesSchema.safeParse(two).error?.issues[0]?.message).toMatch('same name');
  });

  it('can be described to an editor', () => {
    const schema = z.toJSONSchema(NamedBadgesSchema, { io: 'input' });
    expect(JSON.stringify(schema)).toContain('{name} is the name of the page');
  });
});

describe('parseBadgeQuery', () => {
  const parse = (query: string) => parseBadgeQuery(new URLSearchParams(query));

  it('reads what a visitor may choose', () => {
    expect(parse('style=tall&label=API&scheme=dark&labelColor=%23222&decimals=1&locale=de')).toEqual({
      style: 'tall',
      label: 'API',
      scheme: 'dark',
      labelColor: '#222',
      decimals: 1,
      locale: 'de',
    });
  });

  it('leaves out what is unknown, unreadable or too long, and keeps the rest', () => {
    expect(parse('style=neon&label=API&decimals=&locale=%00&labelColor=url(x)&scheme=&cachebuster=1')).toEqual({
      label: 'API',
    });
    expect(parse(`label=${'x'.repeat(65)}&decimals=99`)).toEqual({});
    expect(parse('__proto__=1&constructor=2')).toEqual({});
  });

  it('nobody can make our address say what is not so', () => {
    expect(parse('message=operational&color=green&words=x&colors=y&logo=M0&kind=status&thresholds=0')).toEqual({});
  });

  it('different cache breakers give equal options', () => {
    expect(parse('style=pill&a=1')).toEqual(parse('b=2&style=pill'));
  });
});

describe('names', () => {
  it('every kind in every format has a file name that is read back', () => {
    for (const kind of BADGE_KINDS)
      for (const format of BADGE_FORMATS)
        expect(parseBadgeFileName(badgeFileName(kind, format))).toEqual({ name: kind, format });
  });

  it.each(['status', 'status.gif', '.svg', '../status.svg', 'Status.svg', 'a%2fb.svg', 'x-light-dark.svg'])(
    '%s is no badge',
    (name) => {
      expect(parseBadgeFileName(name)).toBeNull();
    },
  );

  it('every kind may be the name of a badge', () => {
    expect(BADGE_KINDS.filter(isBadgeName)).toEqual([...BADGE_KINDS]);
  });
});

it('a name stands for the badge of the operator before the standard one of that name', () => {
  const named = NamedBadgesSchema.parse([
    { name: 'status', kind: 'uptime-90d', label: 'mine', words: { stale: 'alt' } },
  ]);
  const page = BadgeOptionsSchema.parse({ style: 'pill', words: { stale: 'old', open: '{n}' } });
  expect(resolveBadge('status', named, page)).toEqual({
    kind: 'uptime-90d',
    options: { style: 'pill', label: 'mine', words: { stale: 'alt', open: '{n}' }, colors: {}, thresholds: {} },
  });
  expect(resolveBadge('dot', named, page)).toEqual({ kind: 'dot', options: page });
  expect(resolveBadge('nope', named, page)).toBeNull();
});

it('options laid over others count, what they do not say stays', () => {
  expect(mergeBadgeOptions({ style: 'pill', decimals: 1 }, { decimals: 3 })).toMatchObject({
    style: 'pill',
    decimals: 3,
  });
});
