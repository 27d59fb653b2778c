/** What faults do to an answer before it is sent: lies in the body, wrong words, missing lists. */

import { isObject, json, type Reply } from './exchange.ts';
import type { Fault } from './faults.ts';
import type { SandboxKind } from './kind.ts';

/** Where ids and words stand in the answers of an upstream. */
export type AnswerFields = Pick<SandboxKind['connector'], 'idField' | 'words'>;
type Mutation = (reply: Reply, fault: Fault, fields: AnswerFields) => Reply;

const RETRY_AFTER_DEFAULT = '30';

/** The reply with its fault in it; faults of the connection leave it as it is. */
export function spoil(reply: Reply, fault: Fault, fields: AnswerFields): Reply {
  return /^\d{3}$/.test(fault.name)
    ? refusal(Number(fault.name), fault)
    : (MUTATIONS.get(fault.name)?.(reply, fault, fields) ?? reply);
}

/** A status with a body that fits every upstream's way of telling errors. */
function refusal(status: number, { retryAfter = RETRY_AFTER_DEFAULT }: Fault): Reply {
  const message = `Fault ${status}`;
  const isLimit = status === 429 || status === 503;
  const headers = isLimit && retryAfter !== null ? { 'retry-after': retryAfter } : {};
  return json(status, { success: false, status: 'error', error: message, code: `fault_${status}`, message }, headers);
}

const MUTATIONS: ReadonlyMap<string, Mutation> = new Map<string, Mutation>([
  ['garbage', (reply) => ({ ...reply, body: `{"success":tru\u0000\ufffd${reply.body.slice(9, 40)}` })],
  ['html', htmlPage],
  ['empty', (reply) => ({ ...reply, body: '' })],
  ['wrong-content-type', (reply) => ({ ...reply, headers: { ...reply.headers, 'content-type': 'text/plain' } })],
  ['missing-arrays', (reply) => rewritten(reply, withoutArrays)],
  ['empty-lists', (reply) => rewritten(reply, (value) => (Array.isArray(value) ? [] : value))],
  ['duplicate-ids', (reply, fault, fields) => rewritten(reply, (value) => duplicated(value, fault, fields))],
  ['wrong-types', (reply, fault) => rewritten(reply, everyItem(fault, mistyped))],
  ['numbers-as-strings', (reply, fault) => rewritten(reply, everyItem(fault, stringified))],
  ['unknown-words', unknownWords],
]);

function htmlPage(reply: Reply): Reply {
  const headers = { ...reply.headers, 'content-type': 'text/html; charset=utf-8' };
  return { status: 200, headers, body: '<!doctype html><title>Welcome</title><h1>Please sign in to this network</h1>' };
}

/** Applies `rewrite` to every value of the body, the innermost first; a body that is no JSON stays. */
function rewritten(reply: Reply, rewrite: (value: unknown) => unknown): Reply {
  const walk = (value: unknown): unknown => {
    if (Array.isArray(value)) return rewrite(value.map(walk));
    if (!isObject(value)) return value;
    return rewrite(Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, walk(inner)])));
  };
  try {
    return { ...reply, body: JSON.stringify(walk(JSON.parse(reply.body))) };
  } catch {
    return reply;
  }
}

function withoutArrays(value: unknown): unknown {
  return isObject(value)
    ? Object.fromEntries(Object.entries(value).filter(([, inner]) => !Array.isArray(inner)))
    : value;
}

function duplicated(value: unknown, { isConflicting = true }: Fault, { idField }: AnswerFields): unknown {
  const [first] = Array.isArray(value) ? value : [];
  if (!Array.isArray(value) || !isObject(first) || !(idField in first)) return value;
  return [...value, isConflicting ? { ...first, name: 'Somebody else', title: 'Something else' } : first];
}

/** Changes the records of lists, or only every so many-th of them. */
function everyItem(
  { every = 1 }: Fault,
  change: (item: Record<string, unknown>) => unknown,
): (value: unknown) => unknown {
  return (value) =>
    Array.isArray(value)
      ? value.map((item, index) => (isObject(item) && index % every === 0 ? change(item) : item))
      : value;
}

function mistyped(item: Record<string, unknown>): unknown {
  return Object.fromEntries(Object.entries(item).map(([key, value]) => [key, wrongly(value)]));
}

function wrongly(value: unknown): unknown {
  if (typeof value === 'string') return { not: 'text' };
  if (typeof value === 'number') return 'not a number';
  if (typeof value === 'boolean') return 'perhaps';
  return Array.isArray(value) ? { not: 'a list' } : 42;
}

function stringified(item: Record<string, unknown>): unknown {
  return Object.fromEntries(
    Object.entries(item).map(([key, value]) => [key, typeof value === 'number' ? String(value) : value]),
  );
}

/** Any text where words stand; of numbers and booleans those that are words. */
function isWord(words: AnswerFields['words'], key: string, value: unknown): boolean {
  if (!Object.hasOwn(words, key)) return false;
  return typeof value === 'string' || words[key]?.some((word) => word === value) === true;
}

/** Another word in every object, or, of the records of lists, only in every so many-th. */
function unknownWords(reply: Reply, fault: Fault, { words }: AnswerFields): Reply {
  const strange = (item: Record<string, unknown>): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(item).map(([key, value]) => [key, isWord(words, key, value) ? 'frobnicated' : value]),
    );
  const { every = 1 } = fault;
  return rewritten(
    reply,
    every === 1 ? (value) => (isObject(value) ? strange(value) : value) : everyItem(fault, strange),
  );
}
