/** What zod found wrong, in words for the person who can fix it. */

import { z } from 'zod';
import { didYouMean } from './nearest.ts';

/** What a value does not meet, and where: `path` is empty for the value itself. */
export interface Fault {
  readonly path: string;
  readonly message: string;
}

/** A checked value, or at least one fault. */
type Checked<T> =
  | { readonly success: true; readonly data: T }
  | { readonly success: false; readonly faults: readonly [Fault, ...Fault[]] };

/** `safeParse` with faults that can be shown to people. Faults quote nothing of `value`. */
export function check<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  quoted?: unknown,
): Checked<z.output<Schema>> {
  const parsed = schema.safeParse(value, { error: issueWords() });
  return parsed.success ? parsed : { success: false, faults: listFaults(parsed.error, quoted) };
}

/** The same for what the reader wrote: faults quote the value found. */
export function checkOwn<Schema extends z.ZodType>(schema: Schema, value: unknown): Checked<z.output<Schema>> {
  return check(schema, value, value);
}

/** The faults of a parse that was given `issueWords()`. @param value  what was parsed, if faults may quote it */
export function listFaults({ issues }: z.ZodError, value?: unknown): readonly [Fault, ...Fault[]] {
  const [first = { path: '', message: 'unreadable' }, ...rest] = issues.flatMap(leafIssues).map((issue) => ({
    path: issue.path.map(String).join('.'),
    message: faultMessage(issue, valueAt(value, issue.path)),
  }));
  return [first, ...rest];
}

/** What an issue says. @param found  the value to quote; undefined: none */
export function faultMessage({ code, message }: z.core.$ZodIssue, found: unknown): string {
  const quotes = found !== undefined && code !== 'unrecognized_keys' && /^(expected|unknown)/.test(message);
  return (quotes ? withReceived(message, receivedText(found)) : message).replace(/\.$/, '');
}

/** `expected one of a, b. Did you mean a?` → `expected one of a, b; got "c". Did you mean a?` */
function withReceived(message: string, received: string): string {
  const unknown = /^unknown (\w+)\./.exec(message);
  if (unknown !== null) return message.replace(unknown[0], `unknown ${unknown[1]} ${received}.`);
  const [expectation, suggestion] = message.split(/\.(?= Did you mean|$)/, 2);
  return `${expectation}; got ${received}.${suggestion ?? ''}`;
}

/** What stands at a path of a value; undefined: nothing. */
export function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inner, part) => (inner as Record<PropertyKey, unknown> | null | undefined)?.[part],
    value,
  );
}

/** `title: expected a string`; without a path only the message. */
export function faultText({ path, message }: Fault): string {
  return path === '' ? message : `${path}: ${message}`;
}

/** What zod says of a union that fits none of its shapes, where the schema has no message of its own. */
const UNION_MESSAGE = 'Invalid input';

/** The issues of the shape that a value comes nearest to, where it fits none of several; otherwise the issue itself. */
export function leafIssues(issue: z.core.$ZodIssue): readonly z.core.$ZodIssue[] {
  if (issue.code === 'unrecognized_keys') return issuesByKey(issue);
  // A message in the schema says it better.
  if (issue.code !== 'invalid_union' || issue.errors.length === 0 || issue.message !== UNION_MESSAGE) return [issue];
  const nearest = issue.errors.toSorted((one, other) => distance(one) - distance(other))[0] ?? [];
  return nearest.flatMap((inner) => leafIssues({ ...inner, path: [...issue.path, ...inner.path] }));
}

/** One for each key: they stand in different places. */
function issuesByKey(issue: z.core.$ZodIssueUnrecognizedKeys): readonly z.core.$ZodIssue[] {
  const messages = issue.message.split(/(?<=[.?]) (?=unknown key )/);
  if (messages.length !== issue.keys.length) return [issue];
  return issue.keys.map((key, index) => ({ ...issue, keys: [key], message: messages[index] ?? '' }));
}

/** A fault inside a value is nearer than one of the whole value; among the latter, one with a message in the schema. */
function distance(issues: readonly z.core.$ZodIssue[]): number {
  const isWhole = issues.some(({ path, code }) => path.length === 0 && code !== 'invalid_format' && code !== 'custom');
  return (isWhole ? 1_000 : 0) + issues.length;
}

/** For schemas that say themselves what they expect. */
export function expected(what: string): z.core.$ZodErrorMap {
  return ({ input }) => (input === undefined ? `missing; expected ${what}` : `expected ${what}`);
}

/** Zod asks it for the message of an issue; undefined: zod's own. */
type IssueWords = (issue: z.core.$ZodRawIssue) => string | undefined;

const RECEIVED_LENGTH_MAX = 60;

/** Handed to `safeParse` as `error`. @param otherKeys  besides those of the schema, for "did you mean" */
export function issueWords(otherKeys: readonly string[] = []): IssueWords {
  return (issue) => {
    switch (issue.code) {
      case 'invalid_type':
        return `${issue.input === undefined ? 'missing; ' : ''}expected ${TYPES[issue.expected] ?? issue.expected}`;
      case 'invalid_value':
        return expectedValue(issue.input, issue.values);
      case 'unrecognized_keys': {
        const known = [...(issue.inst instanceof z.ZodObject ? Object.keys(issue.inst.shape) : []), ...otherKeys];
        const hint = (key: string) => (key === 'language' ? ' It is called locale.' : didYouMean(key, known));
        return issue.keys.map((key) => `unknown key ${printable(key)}.${hint(key)}`).join(' ');
      }
      case 'too_small':
        return `expected ${issue.inclusive === false ? 'more than' : 'at least'} ${bound(issue.minimum, issue.origin)}`;
      case 'too_big':
        return `expected ${issue.inclusive === false ? 'less than' : 'at most'} ${bound(issue.maximum, issue.origin)}`;
      case 'invalid_union': {
        // Of those told apart by a field: `type` of a post.
        const { discriminator, options, input } = issue as {
          discriminator?: string;
          options?: unknown[];
          input?: unknown;
        };
        if (discriminator === undefined || options === undefined) return undefined;
        return expectedValue((input as Readonly<Record<string, unknown>> | null)?.[discriminator], options);
      }
      case 'invalid_format':
        return `expected ${FORMATS[issue.format] ?? (issue.pattern === undefined ? `a valid ${issue.format}` : `text that matches ${issue.pattern}`)}`;
      default:
        return undefined;
    }
  };
}

/** A value as written in a file, short and on one line: `"edge"`, `5`, `a list`. */
function receivedText(value: unknown): string {
  if (value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a mapping';
  const text = printable(JSON.stringify(value) ?? String(value));
  return text.length <= RECEIVED_LENGTH_MAX ? text : `${text.slice(0, RECEIVED_LENGTH_MAX - 1)}…`;
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping (key: value)',
  record: 'a mapping (key: value)',
};

const FORMATS: Readonly<Record<string, string>> = {
  email: 'an email address',
  url: 'a URL',
  datetime: 'a date and time in ISO 8601',
  date: 'a date such as 2026-11-21',
};

function expectedValue(found: unknown, values: readonly unknown[]): string {
  const words = values.map(String);
  const list = words.length === 1 ? words[0] : `one of ${words.join(', ')}`;
  if (found === undefined) return `missing; expected ${list}`;
  // Only of a string: an object of an upstream may throw where it is turned into one.
  return `expected ${list}.${typeof found === 'string' ? didYouMean(found, words) : ''}`;
}

const UNITS: Readonly<Record<string, readonly [one: string, many: string]>> = {
  string: [' character', ' characters'],
  array: [' entry', ' entries'],
};

function bound(limit: number | bigint, origin: string): string {
  const [one, many] = UNITS[origin] ?? ['', ''];
  return `${limit}${Number(limit) === 1 ? one : many}`;
}

function printable(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ');
}
