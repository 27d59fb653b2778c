/** Parses untrusted JSON, with limits for depth and number of values, and without dangerous keys. */

import { messageOf } from '../../errors.ts';

/** Documents of real upstreams have fewer than ten levels. Recursion over 64 is safe everywhere. */
const DEPTH_MAX = 64;
/** A parsed value takes tens of bytes, so this many take less than 200 MB. 10,000 monitors have about 150,000. */
const VALUES_MAX = 1_000_000;
/** Longer strings are cut, so that one item doesn't make the others unreadable. */
const STRING_CHARS_MAX = 65_536;

/** A value, or the reason why there is none: words that follow "it" in a log line and quote nothing. */
type ParsedJson =
  | { readonly isValid: true; readonly value: unknown }
  | { readonly isValid: false; readonly reason: string };

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACKET = 0x5d;
const CLOSE_BRACE = 0x7d;
const COMMA = 0x2c;
const ZERO = 0x30;
const NINE = 0x39;

/**
 * Parses a UTF-8 JSON document. A byte order mark is ignored.
 *
 * Strings are cut at 64 Ki characters, lone surrogates and NUL become U+FFFD, keys named `__proto__` are left out, and integers
 * that a number can't represent exactly become strings, so that two ids never become one.
 *
 * Never throws, not even for deeply nested documents.
 */
export function parseJson(bytes: Uint8Array): ParsedJson {
  const outline = scanOutline(bytes);
  if (outline.depth > DEPTH_MAX) return { isValid: false, reason: `nests deeper than ${DEPTH_MAX} levels` };
  if (outline.values > VALUES_MAX) return { isValid: false, reason: `contains more than ${VALUES_MAX} values` };
  const text = new TextDecoder().decode(bytes);
  try {
    const value: unknown = outline.hasLongDigits ? JSON.parse(text, keepLargeIntegers) : JSON.parse(text);
    return { isValid: true, value: outline.needsCleaning ? clean(value) : value };
  } catch (error) {
    // V8's message quotes the document. Only its first words are safe to log.
    return {
      isValid: false,
      reason: `is not JSON (${messageOf(error)
        .split(/[,"'.]/, 1)[0]
        ?.trim()})`,
    };
  }
}

function scanOutline(bytes: Uint8Array) {
  let depth = 0;
  let depthMax = 0;
  let values = 1;
  let digits = 0;
  let needsCleaning = false;
  let hasLongDigits = false;
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index] ?? 0;
    if (byte >= ZERO && byte <= NINE) {
      digits += 1;
      if (digits >= 16) hasLongDigits = true;
      continue;
    }
    digits = 0;
    if (byte === QUOTE) {
      const string = skipString(bytes, index);
      index = string.end;
      needsCleaning ||= string.isSuspect;
    } else if (byte === OPEN_BRACKET || byte === OPEN_BRACE) {
      depth += 1;
      values += 1;
      if (depth > depthMax) depthMax = depth;
      if (depth > DEPTH_MAX) break;
    } else if (byte === CLOSE_BRACKET || byte === CLOSE_BRACE) depth -= 1;
    else if (byte === COMMA) values += 1;
  }
  return { depth: depthMax, values, needsCleaning, hasLongDigits };
}

/** Finds the end of the string that begins at `start`. Suspect: it contains `\u`, is long, or may be `__proto__`. */
function skipString(bytes: Uint8Array, start: number): { readonly end: number; readonly isSuspect: boolean } {
  let isSuspect = bytes[start + 1] === 0x5f && bytes[start + 2] === 0x5f;
  let index = start + 1;
  for (; index < bytes.length; index += 1) {
    const byte = bytes[index];
    if (byte === QUOTE) break;
    if (byte === BACKSLASH) {
      index += 1;
      if (bytes[index] === 0x75) isSuspect = true;
    }
  }
  return { end: index, isSuspect: isSuspect || index - start > STRING_CHARS_MAX };
}

/** A reviver, which also gets the source text of primitives. */
function keepLargeIntegers(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const source = context?.source;
  return source !== undefined && /^-?\d+$/.test(source) ? source : value;
}

/** Cleans a value that was just parsed, in place. Its depth has been checked. */
function clean(value: unknown): unknown {
  if (typeof value === 'string') return cleanString(value);
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) value[index] = clean(item);
    return value;
  }
  if (typeof value !== 'object' || value === null) return value;
  const cleaned: [string, unknown][] = [];
  for (const [key, item] of Object.entries(value)) {
    if (key !== '__proto__') cleaned.push([cleanString(key), clean(item)]);
  }
  return Object.fromEntries(cleaned);
}

function cleanString(value: string): string {
  return plainText(value.length > STRING_CHARS_MAX ? value.slice(0, STRING_CHARS_MAX) : value);
}

/** Makes text safe for databases and pages: lone surrogates and NUL become U+FFFD. */
export function plainText(value: string): string {
  return value.toWellFormed().replaceAll('\0', '\uFFFD');
}
