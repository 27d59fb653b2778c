/** Scalars and words as upstreams really write them. */

import { z } from 'zod';
import type { Problem } from '../../model/observation.ts';
import { HOST_NAME, safeLink } from '../../model/scalars.ts';
import type { State } from '../../model/state.ts';
import { type EpochMs, toEpochMs } from '../../model/time.ts';
import { expected } from '../../schema/issue-words.ts';
import { HttpUrlSchema } from '../../schema/scalars.ts';

/** Longest name or title kept; the uptime service allows 256. */
const NAME_CHARS_MAX = 500;
/** Longest description or update kept: many screens of text. */
const TEXT_CHARS_MAX = 50_000;
/** An instant after this is a mistake and would break calendars: 2200-01-01. */
const INSTANT_MAX = 7_258_118_400_000;

/** An id, written as a string or a number. */
export const IdSchema = z
  .union([z.string().min(1).max(200), z.int()], { error: expected('an id: up to 200 characters, or a whole number') })
  .transform(String);

/** A number, also when written as a string, as 64-bit numbers are in some encodings. */
export const NumberSchema = z.union(
  [
    z.number(),
    z
      .string()
      .regex(/^-?\d{1,18}(\.\d{1,18})?$/)
      .transform(Number),
  ],
  { error: expected('a number') },
);

/** A count of something. */
export const CountSchema = NumberSchema.pipe(z.int().nonnegative());

/** A boolean, also as 0 and 1 and as words. */
export const FlagSchema = z.union(
  [
    z.boolean(),
    z.union([z.literal(0), z.literal(1)]).transform((value) => value === 1),
    z.enum(['0', '1', 'true', 'false']).transform((value) => value === '1' || value === 'true'),
  ],
  { error: expected('true or false') },
);

export const NameSchema = z
  .string()
  .min(1)
  .transform((text) => text.slice(0, NAME_CHARS_MAX));

/** Free text; absent, null and empty are null. */
export const TextSchema = z
  .string()
  .nullish()
  .transform((text) => (text === undefined || text === null || text === '' ? null : text.slice(0, TEXT_CHARS_MAX)));

/** A list that may be absent or null when it is empty. */
export const ListSchema = z
  .array(z.unknown())
  .nullish()
  .transform((items) => items ?? []);

/** An address of the operator's: http or https, no user info, no query, no fragment, no slash at the end. */
export const BaseUrlSchema = HttpUrlSchema.refine((text) => {
  const url = URL.parse(text);
  return url !== null && url.username === '' && url.password === '' && url.search === '' && url.hash === '';
}, 'expected a URL without user name, password, query or fragment; give secrets in their own options').transform(
  (text) => text.replace(/\/+$/, ''),
);

/** A secret that goes into a header: visible characters only, so that it cannot break out of it. */
export const SecretSchema = z
  .string()
  .min(1)
  .max(8_192)
  .regex(/^[\x21-\x7e]+( [\x21-\x7e]+)*$/, 'expected a header value: visible characters, no line breaks');

/** Names of headers as HTTP has them. */
export const HeaderNameSchema = z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'expected a header name');

/** Headers of the operator's, names in small letters, so that none is sent twice. */
export const HeadersSchema = z
  .record(HeaderNameSchema, SecretSchema)
  .default({})
  .transform((headers) =>
    Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
  );

/** An address that may be linked to: the web or a mailbox; null: anything else. */
export function toLink(value: unknown): string | null {
  return typeof value === 'string' && safeLink(value) !== null ? value : null;
}

/** A host name with a domain; null: anything else. */
export function toHost(value: unknown): string | null {
  return typeof value === 'string' && value.includes('.') && HOST_NAME.test(value) ? value : null;
}

/** An instant as `parseInstant` reads it. */
export function instantSchema(zone: string | null, message: string) {
  return z.string().transform((text, context): EpochMs => {
    const at = parseInstant(text, zone);
    if (at === null) context.addIssue({ code: 'custom', message });
    return at ?? z.NEVER;
  });
}

/** An ISO 8601 instant with its offset. */
export const InstantSchema = instantSchema(
  null,
  'expected a date and time with an offset, such as 2026-11-21T08:10:00Z',
);

/**
 * The instant that `text` names, or null when it names none.
 *
 * An offset inside the text counts; without one the text is a wall clock time in `zone`, an IANA name or an offset such
 * as `+02:00`; with `zone` null such a text is no instant.
 */
export function parseInstant(text: string, zone: string | null): EpochMs | null {
  try {
    const hasOffset = /([zZ]|[+-]\d\d(:?\d\d)?)$/.test(text.slice(10));
    if (!hasOffset && zone === null) return null;
    const instant = hasOffset
      ? Temporal.Instant.from(text)
      : Temporal.PlainDateTime.from(text)
          .toZonedDateTime(zone ?? 'UTC')
          .toInstant();
    const at = instant.epochMilliseconds;
    return at >= 0 && at < INSTANT_MAX ? toEpochMs(at) : null;
  } catch {
    return null;
  }
}

/** Upstream words and the states they mean; lower case. */
export type StateWords = Readonly<Record<string, State>>;

/** Looks up a word; undefined if it isn't in the table. */
export function lookUp<T>(words: Readonly<Record<string, T>>, word: unknown): T | undefined {
  return typeof word === 'string' && Object.hasOwn(words, word) ? words[word] : undefined;
}

/** What a word means; a word that is not in the table is `unknown` and added to the problems. */
export function stateFromWord(words: StateWords, word: unknown, place: string, problems: Problem[] = []): State {
  const known = lookUp(words, typeof word === 'string' ? word.toLowerCase() : word);
  if (known === undefined) problems.push(unknownWord(place, word));
  return known ?? 'unknown';
}

/** The same for numbers and booleans. */
export function stateFromCode(
  states: ReadonlyMap<unknown, State>,
  code: unknown,
  place: string,
  problems: Problem[],
): State {
  const known = states.get(code);
  if (known === undefined) problems.push(unknownWord(place, code));
  return known ?? 'unknown';
}

/** The problem of a word that we do not know; the word is shown cut, since it is the upstream's. */
export function unknownWord(place: string, word: unknown): Problem {
  const shown = typeof word === 'string' ? `"${word.slice(0, 60)}"` : typeof word;
  return { kind: 'word', place, message: `unknown word ${shown}` };
}

/** `base` with path and query; only for values that are no secrets. */
export function endpointAddress(
  base: string,
  path: string,
  query: Readonly<Record<string, string | number>> = {},
): string {
  const search = new URLSearchParams(Object.entries(query).map(([key, value]) => [key, String(value)])).toString();
  return `${base}${path}${search === '' ? '' : `?${search}`}`;
}
