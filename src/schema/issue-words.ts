/** What zod found wrong, as a sentence for whoever wrote the file. Handed to `safeParse` as `error`. */

import { z } from 'zod';
import { didYouMean } from './nearest.ts';

/** Zod asks it for the words of an issue; undefined: its own. */
export type IssueWords = (issue: z.core.$ZodRawIssue) => string | undefined;

const RECEIVED_LENGTH_MAX = 60;

/** @param otherKeys  beside those of the schema, for "did you mean" */
export function issueWords(otherKeys: readonly string[] = []): IssueWords {
  return (issue) => {
    switch (issue.code) {
      case 'invalid_type':
        return issue.input === undefined ? `missing; ${expectedType(issue)}` : expectedType(issue);
      case 'invalid_value':
        return issue.input === undefined
          ? `missing; expected ${oneOf(issue.values)}`
          : `expected ${oneOf(issue.values)}.${didYouMean(String(issue.input), issue.values.map(String))}`;
      case 'unrecognized_keys':
        return issue.keys
          .map((key) => `unknown key ${printable(key)}.${didYouMean(key, [...keysOf(issue), ...otherKeys])}`)
          .join(' ');
      case 'too_small':
        return `expected ${issue.inclusive === false ? 'more than' : 'at least'} ${bound(issue.minimum, issue.origin)}`;
      case 'too_big':
        return `expected ${issue.inclusive === false ? 'less than' : 'at most'} ${bound(issue.maximum, issue.origin)}`;
      default:
        return undefined;
    }
  };
}

/** A value as it stands in a file, short and on one line: `"edge"`, `5`, `a list`. */
export function receivedText(value: unknown): string {
  if (value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a mapping';
  const text = printable(JSON.stringify(value) ?? String(value));
  return text.length <= RECEIVED_LENGTH_MAX ? text : `${text.slice(0, RECEIVED_LENGTH_MAX - 1)}…`;
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping (key: value)',
  record: 'a mapping (key: value)',
};

function expectedType({ expected }: { readonly expected: string }): string {
  return `expected ${TYPES[expected] ?? expected}`;
}

function oneOf(values: readonly unknown[]): string {
  return values.length === 1 ? String(values[0]) : `one of ${values.map(String).join(', ')}`;
}

const UNITS: Readonly<Record<string, readonly [one: string, many: string]>> = {
  string: [' character', ' characters'],
  array: [' entry', ' entries'],
};

function bound(limit: number | bigint, origin: string): string {
  const [one, many] = UNITS[origin] ?? ['', ''];
  return `${limit}${Number(limit) === 1 ? one : many}`;
}

function keysOf({ inst }: z.core.$ZodRawIssue): readonly string[] {
  return inst instanceof z.ZodObject ? Object.keys(inst.shape) : [];
}

function printable(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ');
}
