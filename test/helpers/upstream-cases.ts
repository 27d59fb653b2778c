/** Cases of upstream answers, as `test/fixtures/upstream` holds them. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Question } from '../../src/sync/connector.ts';
import { type Respond, refusal } from './drive.ts';
import { parseExchange } from './replay.ts';

const FOLDER = join(import.meta.dirname, '../fixtures/upstream');
const RECORDED = join(import.meta.dirname, '../fixtures/uptime-service');

/** `METHOD /path?query body` or less of it, to the answer. `FILE` is what a file or folder holds, `FILE /path` that one. */
export type Answers = Readonly<Record<string, unknown>>;

export interface UpstreamCase {
  readonly kind: string;
  readonly name: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly answers: Answers;
}

/** The body of a recorded exchange by its number. */
export function recordedBody(number: string): unknown {
  const file = readdirSync(RECORDED).find((name) => name.startsWith(`${number}-`));
  if (file === undefined) throw new Error(`no exchange ${number}`);
  return JSON.parse(parseExchange(file, readFileSync(join(RECORDED, file), 'utf8')).response.body);
}

/** Every case, or those of one kind. */
export function loadCases(kind?: string): UpstreamCase[] {
  const kinds = readdirSync(FOLDER, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return kinds
    .filter((entry) => kind === undefined || entry.name === kind)
    .flatMap((entry) =>
      readdirSync(join(FOLDER, entry.name))
        .filter((file) => /^ok-.*\.json$/.test(file))
        .map((file) => {
          const content = JSON.parse(readFileSync(join(FOLDER, entry.name, file), 'utf8')) as UpstreamCase;
          const answers = Object.entries(content.answers).map(([key, value]) => [key, withRecorded(value)]);
          return { ...content, kind: entry.name, name: file.slice(0, -5), answers: Object.fromEntries(answers) };
        }),
    );
}

function withRecorded(value: unknown): unknown {
  const number = (value as { $recorded?: string } | null)?.$recorded;
  return number === undefined ? value : recordedBody(number);
}

/** The most precise key of the answers that fits a question; null: none does. */
export function keyOf(question: Question<unknown>, answers: Answers): string | null {
  const url = new URL(question.url);
  if (url.protocol === 'file:')
    return [`FILE ${url.pathname}`, 'FILE'].find((key) => Object.hasOwn(answers, key)) ?? null;
  const line = `${question.method} ${url.pathname}`;
  const keys = [`${line}${url.search} ${JSON.stringify(question.body)}`, `${line}${url.search}`, line];
  return keys.find((key) => Object.hasOwn(answers, key)) ?? null;
}

/** Answers from a case; what it does not name is refused with 404. */
export function respondWith(answers: Answers): Respond {
  return (question) => {
    const key = keyOf(question, answers);
    return key === null ? refusal(404) : answers[key];
  };
}

type Path = readonly (string | number)[];

/** Every value inside `value` with the way to it, itself included. */
export function* walk(value: unknown, path: Path = []): Generator<{ readonly path: Path; readonly value: unknown }> {
  yield { path, value };
  if (Array.isArray(value)) for (const [index, item] of value.entries()) yield* walk(item, [...path, index]);
  else if (typeof value === 'object' && value !== null)
    for (const [key, item] of Object.entries(value)) yield* walk(item, [...path, key]);
}

/** A copy of `value` with another value at `path`; `undefined` takes it away. */
export function withValueAt(value: unknown, path: Path, replacement: unknown): unknown {
  const [head, ...rest] = path;
  if (head === undefined) return replacement;
  if (Array.isArray(value))
    return value.map((item, index) => (index === head ? withValueAt(item, rest, replacement) : item));
  const entries = Object.entries(value as Record<string, unknown>).flatMap(([key, item]) => {
    if (key !== String(head)) return [[key, item] as const];
    const changed = withValueAt(item, rest, replacement);
    return changed === undefined ? [] : [[key, changed] as const];
  });
  return Object.fromEntries(entries);
}

/** Freezes a value and everything in it. */
export function deepFreeze<T>(value: T): T {
  for (const { value: inner } of walk(value)) if (typeof inner === 'object' && inner !== null) Object.freeze(inner);
  return value;
}

/** A copy with every list in another order, the same each time. */
export function shuffled(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map(shuffled).toReversed();
    const middle = Math.floor(items.length / 3);
    return [...items.slice(middle), ...items.slice(0, middle)];
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shuffled(item)]));
}
