/** Spoils answers of upstreams: first their values, then their bytes. Seeded, so that every run is the same. */

import { withValueAt } from './upstream-cases.ts';

export type Random = () => number;

export function createRandom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** One of `items`, of which there is at least one. */
export function pick<T>(random: Random, items: readonly T[]): T {
  return items[Math.floor(random() * items.length)] as T;
}

function nested(levels: number): unknown {
  if (levels === 0) return 1;
  return levels % 2 === 0 ? [nested(levels - 1)] : { a: nested(levels - 1) };
}

/** Values that no field expects, and some that it may. */
const ODD_VALUES: readonly unknown[] = [
  undefined,
  null,
  true,
  false,
  0,
  -1,
  1e308,
  -0.5,
  2 ** 53,
  '',
  ' ',
  'up',
  'public',
  '__proto__',
  'constructor',
  '0',
  '-0001-01-01T00:00:00Z',
  '2026-02-30 25:61:61',
  '9999-12-31T23:59:59Z',
  '99999999999999999999',
  'x'.repeat(70_000),
  '\ud800',
  '\u202e\u0000\u001b[31m',
  '<script>alert(1)</script>',
  '../../etc/passwd',
  'javascript:alert(1)',
  [],
  {},
  [[]],
  [null],
  { __proto__: null, toString: 1, valueOf: null, length: -1 },
  { toJSON: 'no', then_: 1 },
  Array.from({ length: 300 }, () => ({ id: 1 })),
  nested(60),
];

/** Some value inside `value` with the way to it: from the top down, stopping by chance. */
function placeIn(value: unknown, random: Random): { readonly path: (string | number)[]; readonly value: unknown } {
  const path: (string | number)[] = [];
  let here = value;
  while (typeof here === 'object' && here !== null && random() < 0.9) {
    const keys = Object.keys(here);
    if (keys.length === 0) break;
    const key = pick(random, keys);
    path.push(Array.isArray(here) ? Number(key) : key);
    here = (here as Record<string, unknown>)[key];
  }
  return { path, value: here };
}

/** A copy of an answer with one to three of its values replaced, taken away, doubled or exchanged. */
export function spoilValue(value: unknown, random: Random): unknown {
  let spoiled = value;
  const times = 1 + Math.floor(random() * 3);
  for (let time = 0; time < times; time += 1) {
    const { path, value: here } = placeIn(spoiled, random);
    const whole = spoiled;
    const odd = [
      () => pick(random, ODD_VALUES),
      () => placeIn(whole, random).value,
      () => (Array.isArray(here) ? [...here, ...here] : here),
      () => (Array.isArray(here) ? here.slice(Math.floor(random() * here.length)) : pick(random, ODD_VALUES)),
      () =>
        typeof here === 'string' ? here + (JSON.stringify(pick(random, ODD_VALUES)) ?? '') : pick(random, ODD_VALUES),
      () => (typeof here === 'number' ? here * pick(random, [-1, 1e12, 0.5]) : pick(random, ODD_VALUES)),
    ];
    spoiled = withValueAt(spoiled, path, pick(random, odd)()) ?? null;
  }
  return spoiled;
}

/** The bytes of a text with some of them changed, cut, doubled or put in. */
export function spoilBytes(text: string, random: Random): Buffer {
  let bytes = Buffer.from(text);
  const times = 1 + Math.floor(random() * 4);
  for (let time = 0; time < times && bytes.length > 0; time += 1) {
    const at = Math.floor(random() * bytes.length);
    const kind = Math.floor(random() * 5);
    if (kind === 0) bytes[at] = Math.floor(random() * 256);
    else if (kind === 1) bytes = bytes.subarray(0, at);
    else if (kind === 2) bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + (at % 7))]);
    else if (kind === 3) {
      const piece = pick(random, ['"', '{', '[', ']', '}', ',', '\\u0000', '\ud83d', '1e999', 'null', '\n---\n']);
      bytes = Buffer.concat([bytes.subarray(0, at), Buffer.from(piece), bytes.subarray(at)]);
    } else bytes = Buffer.concat([bytes, bytes.subarray(at)]);
  }
  return bytes;
}
