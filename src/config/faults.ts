/** Finds the place of an error in a configuration file, and draws an excerpt of it. */

import {
  type Alias,
  type Document,
  isCollection,
  isMap,
  LineCounter,
  parseDocument,
  visit,
  type YAMLParseError,
} from 'yaml';
import type { z } from 'zod';
import { type ConfigIssue, StatusError } from '../errors.ts';
import { faultMessage, valueAt } from '../schema/issue-words.ts';

export const EMPTY = 'the file is empty. Start with `pharos init`, or copy pharos.example.yaml';

/** A parsed YAML file. */
type ParsedFile = ReturnType<typeof parseFile>;

/** @throws CONFIG_INVALID if it isn't valid YAML */
export function parseFile({ text, file }: { readonly text: string; readonly file: string | null }) {
  const lines = new LineCounter();
  const tree = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const faults = tree.errors.map((error) => ({ range: yamlPlace(error, tree), message: yamlWords(error) }));
  const alias = faults.length === 0 ? unknownAlias(tree) : null;
  const noAnchor = 'there is no anchor for this alias. If it is text, put it in quotes';
  if (alias !== null) faults.push({ range: alias.range ?? [0, 1], message: noAnchor });
  if (faults.length === 0) return { text, tree, lines };
  const issues = faults.map(({ range: [start, end], message }) => {
    const place = lines.linePos(start);
    return { path: `line ${place.line}`, message, excerpt: drawExcerpt(hideValues(text), place, end - start) };
  });
  throw new StatusError({
    code: 'CONFIG_INVALID',
    message: `${file ?? 'the configuration'} is not valid YAML:\n${issues.map(({ path, message, excerpt }) => `  ${path}: ${message}\n${excerpt}`).join('\n')}`,
    issues,
  });
}

/** If a file can't be parsed, nobody knows which values are secrets. So only keys and punctuation are shown. */
function hideValues(text: string): string {
  return text.replace(
    /((?<=^[\s-]*)[\w-]+(?=\s*:(?:\s|$)))|[^\s,{}[\]"':#|>-]/gm,
    (character, key?: string) => key ?? '*'.repeat(character.length),
  );
}

/** Turns a zod issue into words: its path as text, what was expected and what was found. */
export function toConfigIssue(issue: z.core.$ZodIssue, raw: unknown, secretPaths: ReadonlySet<string>) {
  const path = pathText(issue.path);
  if (issue.code === 'unrecognized_keys')
    return { path, message: faultMessage(issue, undefined), key: issue.keys[0] ?? '' };
  const found = valueAt(raw, issue.path);
  const message = faultMessage(issue, secretPaths.has(path) ? undefined : found);
  return { path, message: found === undefined && message.startsWith('expected') ? `missing; ${message}` : message };
}

function pathText(path: readonly PropertyKey[]): string {
  return path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .replace(/^\./, '');
}

type Range = readonly [start: number, end: number, ...rest: readonly number[]];

/** Masks secrets with asterisks, so that no excerpt shows one. */
export function withoutSecrets({ text, tree }: ParsedFile, secretPaths: ReadonlySet<string>): string {
  let masked = text;
  for (const path of secretPaths) {
    const range = rangeAt(tree, toKeys(path));
    if (range === null) continue;
    const value = text.slice(range[0], range[1]);
    if (/^["']?\$\{[^}]*\}["']?\s*$/.test(value)) continue;
    masked = masked.slice(0, range[0]) + value.replace(/[^\n]/g, '*') + masked.slice(range[1]);
  }
  return masked;
}

/** Adds the line and an excerpt to an error. If something is missing, this is the line where it belongs. */
export function withPlace(
  { tree, lines }: ParsedFile,
  masked: string,
  { path, message, key }: ConfigIssue & { readonly key?: string },
): ConfigIssue {
  const keys = toKeys(path);
  const range = (key === undefined ? null : keyRangeAt(tree, keys, key)) ?? rangeAt(tree, keys);
  const near = range ?? nearestRange(tree, keys);
  if (near === null) return { path, message };
  const place = lines.linePos(near[0]);
  const placed = { path, message: `${message} (line ${place.line})` };
  if (range === null) return placed;
  const isScalar = key !== undefined || typeof tree.getIn(keys) !== 'object';
  return { ...placed, excerpt: drawExcerpt(masked, place, isScalar ? range[1] - range[0] : 1) };
}

/** The line of a value, or of the nearest parent that exists. Null if there is none. */
export function lineAt({ tree, lines }: ParsedFile, path: string): number | null {
  const keys = toKeys(path);
  const range = rangeAt(tree, keys) ?? nearestRange(tree, keys);
  return range === null ? null : lines.linePos(range[0]).line;
}

function nearestRange(tree: Document.Parsed, keys: readonly (string | number)[]): Range | null {
  const parents = keys.map((_, index) => keys.slice(0, index)).reverse();
  return parents.map((parent) => keyRange(tree, parent)).find((found) => found !== null) ?? null;
}

function rangeAt(tree: Document.Parsed, keys: readonly (string | number)[]): Range | null {
  const node = tree.getIn(keys, true) as { readonly range?: Range | null } | undefined;
  return node?.range ?? null;
}

/** The range of a value's key. In lists, the range of the value itself. */
function keyRange(tree: Document.Parsed, keys: readonly (string | number)[]): Range | null {
  const last = keys.at(-1);
  if (last === undefined) return null;
  return typeof last === 'string' ? keyRangeAt(tree, keys.slice(0, -1), last) : rangeAt(tree, keys);
}

function keyRangeAt(tree: Document.Parsed, parent: readonly (string | number)[], key: string): Range | null {
  const map = parent.length === 0 ? tree.contents : tree.getIn(parent, true);
  const keys = isMap(map) ? map.items.map((pair) => pair.key as { value?: unknown; range?: Range | null }) : [];
  return keys.find(({ value }) => String(value) === key)?.range ?? null;
}

/** `a[0].b` → `['a', 0, 'b']`. */
function toKeys(path: string): (string | number)[] {
  const parts = path.split(/[.[\]]+/).filter((part) => part !== '');
  return parts.map((part) => (/^\d+$/.test(part) ? Number(part) : part));
}

/** Longer lines are cut around the error. */
const WIDTH_MAX = 68;
const BEFORE_FAULT = 40;

/** The line of `text` at a place, as `3 | - { id: edge, kind: nosuch }`, and a line of carets below. Both count from 1. */
function drawExcerpt(text: string, { line, col }: { line: number; col: number }, length: number): string {
  const whole = (text.split('\n')[line - 1] ?? '').replace(/\p{Cc}/gu, ' ');
  const from = whole.length <= WIDTH_MAX ? 0 : wordStart(whole, col - 1 - BEFORE_FAULT, col - 1);
  const shown = whole.slice(from, from + WIDTH_MAX).trimEnd();
  const start = col - 1 - from;
  const carets = '^'.repeat(Math.max(1, Math.min(length, shown.length - start)));
  const number = String(line);
  return `    ${number} | ${shown}\n    ${' '.repeat(number.length)} | ${' '.repeat(start)}${carets}`;
}

/** The start of the first word at or after `place` and before `before`. */
function wordStart(line: string, place: number, before: number): number {
  if (place <= 0) return 0;
  const space = line.indexOf(' ', place - 1);
  return space === -1 || space >= before ? place : space + 1;
}

// YAML syntax errors in words for the person who has to fix them.

/** By error code of the parser. For all other codes, the parser's own message is used. */
const WORDS: Readonly<Partial<Record<YAMLParseError['code'], string>>> = {
  BAD_DQ_ESCAPE: 'unknown escape sequence. Write \\\\ for a backslash, or use single quotes',
  BAD_INDENT: 'wrong indentation. Keys of a mapping start in the same column, and so do the entries of a list',
  BAD_SCALAR_START: 'text can’t start with this character. Put it in quotes',
  BLOCK_AS_IMPLICIT_KEY: 'a mapping can’t start here. If this is text that contains ": ", put it in quotes',
  DUPLICATE_KEY: 'this key is used twice in the same mapping',
  MULTILINE_IMPLICIT_KEY: 'expected a key and ":" on one line',
  MULTIPLE_DOCS: 'there is more than one document. Remove the line ---',
  TAB_AS_INDENT: 'tabs can’t be used for indentation. Use spaces',
};

/** Quotes and brackets that are never closed. The parser reports them at the end of the file, but the mistake is where they open. */
type Open = 'quote' | '{' | '[';

function yamlWords(error: YAMLParseError): string {
  const open = unclosed(error);
  if (open !== null) return `this ${open} is not closed`;
  return WORDS[error.code] ?? error.message.charAt(0).toLowerCase() + error.message.slice(1);
}

/** Offsets of the error. */
function yamlPlace(error: YAMLParseError, tree: Document.Parsed): Range {
  const open = unclosed(error);
  const [at, end] = error.pos;
  if (open === null) return error.pos;
  let start = at;
  visit(tree, {
    Node: (_key, node) => {
      const [from = at, to = from] = node.range ?? [];
      const isQuoted = (node as { readonly type?: string }).type?.startsWith('QUOTE') === true;
      const isIt = open === 'quote' ? isQuoted : isCollection(node) && isMap(node) === (open === '{');
      if (isIt && from < at && to >= at) start = from;
    },
  });
  return open === 'quote' ? [start, end] : [start, start + 1];
}

/** The first alias without an anchor, which the parser accepts. */
function unknownAlias(tree: Document.Parsed): Alias | null {
  let found: Alias | null = null;
  visit(tree, {
    Alias: (_key, node) => {
      if (node.resolve(tree) !== undefined) return undefined;
      found = node;
      return visit.BREAK;
    },
  });
  return found;
}

function unclosed({ message }: YAMLParseError): Open | null {
  if (/^Missing closing ["']quote/.test(message)) return 'quote';
  const [, collection] = /^Flow (map|sequence)\b.* end with a /.exec(message) ?? [];
  return collection === undefined ? null : collection === 'map' ? '{' : '[';
}
