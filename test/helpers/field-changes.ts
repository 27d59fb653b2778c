/** Plain data with one field changed: every field there is, found by walking, with values that the field may have. */

import { randomOf } from './page-model.ts';
import { walk, withValueAt } from './upstream-cases.ts';

type Path = readonly (string | number)[];

export interface FieldChange<Data> {
  /** `incidents.*.title` */
  readonly field: string;
  /** In words: which one, and what became of it. */
  readonly name: string;
  readonly data: Data;
}

export interface FieldChangesInit {
  /** Of fields that take no other values than these, by the name of the field or by its last part. */
  readonly words: Readonly<Record<string, readonly unknown[]>>;
  /** Last parts of the names of fields that never have the value of another. */
  readonly unique: readonly string[];
  /** Places of each field that are changed, since a list has the same field many times; and other values for each of them. */
  readonly places: number;
  readonly values: number;
  readonly seed: number;
}

/**
 * Each field of `data` in turn: with other values, without one of its items when it is a list. `others`: data of the same
 * kind, whose fields show what values there are.
 */
export function* fieldChanges<Data>(
  data: Data,
  others: readonly Data[],
  { words, unique, places, values, seed }: FieldChangesInit,
): Generator<FieldChange<Data>> {
  const next = randomOf(seed);
  const own = valuesByField([data]);
  const foreign = othersKnown.getOrInsertComputed(others, () => valuesByField(others));
  const byField = Map.groupBy([...walk(data)].slice(1), ({ path }) => fieldOf(path));
  for (const [field, all] of byField)
    for (const { path, value } of sample(all, places, next)) {
      const known = [...new Set([...(own.get(field) ?? []), ...(foreign.get(field) ?? [])])];
      const others = otherValues({ field, value, words, known, unique });
      for (const [what, changed] of sample(others, values, next))
        yield {
          field,
          name: `${path.join('.')} ${what}`,
          // Made when it is asked for: of many changes, tests take a few.
          get data() {
            return withValueAt(data, path, changed) as Data;
          },
        };
    }
}

const othersKnown = new WeakMap<readonly unknown[], ReadonlyMap<string, ReadonlySet<unknown>>>();

function valuesByField(all: readonly unknown[]): ReadonlyMap<string, ReadonlySet<unknown>> {
  const values = new Map<string, Set<unknown>>();
  for (const one of all)
    for (const { path, value } of walk(one))
      if (typeof value !== 'object' || value === null)
        values.getOrInsertComputed(fieldOf(path), () => new Set()).add(value);
  return values;
}

function fieldOf(path: Path): string {
  return path.map((part) => (typeof part === 'number' ? '*' : part)).join('.');
}

function sample<Item>(items: readonly Item[], count: number, next: () => number): readonly Item[] {
  const left = [...items];
  const taken: Item[] = [];
  while (left.length > 0 && taken.length < count) taken.push(...left.splice(Math.floor(next() * left.length), 1));
  return taken;
}

interface Field {
  readonly field: string;
  readonly value: unknown;
  readonly words: FieldChangesInit['words'];
  readonly known: readonly unknown[];
  readonly unique: FieldChangesInit['unique'];
}

/** Less than a heartbeat of a page, and as much as one. */
const STEPS_MS = [90_000, 15 * 60_000, -15 * 60_000];
const KNOWN_MAX = 3;

function otherValues({ field, value, words, known, unique }: Field): (readonly [what: string, value: unknown])[] {
  if (Array.isArray(value))
    return value.length === 0
      ? []
      : [
          ['without its first', value.slice(1)],
          ['without its last', value.slice(0, -1)],
        ];
  if (typeof value === 'object' && value !== null) return [];
  const name = field.split('.').at(-1) ?? '';
  const seen = unique.includes(name) ? [] : known.slice(0, KNOWN_MAX);
  const others = [...(words[field] ?? words[name] ?? made(value)), ...seen];
  return [...new Set(others)].filter((other) => other !== value).map((other) => [`is ${JSON.stringify(other)}`, other]);
}

function made(value: unknown): readonly unknown[] {
  if (typeof value === 'string') return [`${value} x`];
  if (typeof value === 'boolean') return [!value];
  return typeof value === 'number' ? STEPS_MS.map((step) => value + step).filter((other) => other >= 0) : [];
}
