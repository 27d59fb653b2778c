/** What a body says: JSON, text or bytes that are whole, of the type it should have, and safe to hand on. */

import type { Readable } from 'node:stream';
import { dropBody, readBody } from './body.ts';
import { shapeError } from './http-faults.ts';
import type { HttpQuestion } from './http-question.ts';
import { parseJson, plainText } from './json.ts';

interface WireAnswer {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readable;
}

interface PayloadRules extends Pick<HttpQuestion, 'reads' | 'allowEmpty' | 'acceptAnyType'> {
  /** What was asked, for messages. */
  readonly place: string;
  readonly bytesMax: number;
}

/**
 * The parsed body; null when it is empty, or not JSON, and may be.
 *
 * @throws UPSTREAM_SHAPE, and whatever the stream fails with
 */
export async function readPayload({ headers, body }: WireAnswer, rules: PayloadRules): Promise<unknown> {
  const { place, bytesMax, allowEmpty } = rules;
  const type = String(headers['content-type'] ?? '');
  const isText = rules.reads === 'text' || rules.reads === 'bytes';
  // Whether the type fits is asked of the header before a byte of the body is kept.
  const isTypeRefused = !isText && rules.acceptAnyType !== true && !isJsonType(type);
  if (isTypeRefused && allowEmpty !== true) {
    dropBody(body);
    throw shapeError(place, `the response is ${typeWords(type)}, not JSON`);
  }
  const encoding = headers['content-encoding'];
  const bytes = await readBody(body, {
    encoding: Array.isArray(encoding) ? encoding.join(',') : encoding,
    bytesMax,
    place,
  });
  if (allowEmpty === true && (bytes.length === 0 || isTypeRefused)) return null;
  const isEndKnown = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
  if (rules.reads === 'bytes') return wholeBytes(bytes, isEndKnown, place);
  return isText ? readText(bytes, isEndKnown, place) : readJson(bytes, isEndKnown, place);
}

/** @param isEndKnown  false: the body ends where the connection does, so that a cut looks like an end */
function wholeBytes(bytes: Buffer, isEndKnown: boolean, place: string): Buffer {
  if (!isEndKnown) throw shapeError(place, 'it is not clear whether the response is complete');
  return bytes;
}

function readText(bytes: Buffer, isEndKnown: boolean, place: string): string {
  return plainText(new TextDecoder().decode(wholeBytes(bytes, isEndKnown, place)));
}

function readJson(bytes: Buffer, isEndKnown: boolean, place: string): unknown {
  const parsed = parseJson(bytes);
  if (!parsed.isValid) throw shapeError(place, `the response ${parsed.reason}`);
  // A number that was cut off is still a number; a list or an object is not.
  const closesItself = typeof parsed.value === 'object' && parsed.value !== null;
  if (!closesItself && !isEndKnown) throw shapeError(place, 'it is not clear whether the response is complete');
  return parsed.value;
}

/** By hand: one look at a header that is the upstream's, of which nothing else is used. */
function isJsonType(type: string): boolean {
  return /^(application|text)\/([a-z0-9.!#$&^_-]+\+)?json\s*(;|$)/i.test(type.trim());
}

/** Only letters that a type may have: the header is the upstream's. */
function typeWords(type: string): string {
  return /^[a-z]+\/[a-z0-9.+-]{1,60}/i.exec(type)?.[0] ?? 'of an unknown type';
}
