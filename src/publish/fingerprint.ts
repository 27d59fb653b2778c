/** Digests of the data that files are made from. The same digest means the same bytes. */

import { hash } from 'node:crypto';

/** Digests of objects that several keys are made from; they are frozen data, so the same object has the same digest. */
const known = new WeakMap<object, string>();
const knownByParts = new WeakMap<object, string>();

/** SHA-256 of plain data as JSON, in hexadecimal; remembered for objects. */
export function fingerprintOf(data: unknown): string {
  return typeof data === 'object' && data !== null ? known.getOrInsertComputed(data, digestOf) : digestOf(data);
}

function digestOf(data: unknown): string {
  return hash('sha256', JSON.stringify(data) ?? '', 'hex');
}

/**
 * The same, but shorter. Parts of the data, and items of parts that are lists, are digested only once, even if many files share
 * them.
 */
export function partsFingerprint(parts: object): string {
  return knownByParts.getOrInsertComputed(parts, digestParts);
}

function digestParts(parts: object): string {
  let text = '';
  for (const name of Object.keys(parts)) {
    const part: unknown = parts[name as keyof typeof parts];
    const digest = Array.isArray(part) ? `[${part.map(digestPart).join()}]` : digestPart(part);
    text += `${JSON.stringify(name)}:${digest},`;
  }
  return hash('sha256', text, 'base64url');
}

/** A part that is shorter is written out: a digest costs as much as this many characters of a longer text. */
const WRITTEN_MAX = 1_024;
const written = new WeakMap<object, string>();

/** As JSON, or its digest. */
function digestPart(part: unknown): string {
  if (typeof part !== 'object' || part === null) return JSON.stringify(part) ?? '';
  return written.getOrInsertComputed(part, writePart);
}

function writePart(part: object): string {
  // The time line of a component is the same in every language, and most of the data.
  const text = JSON.stringify('timeline' in part ? { ...part, timeline: fingerprintOf(part.timeline) } : part);
  return text.length > WRITTEN_MAX ? hash('sha256', text, 'hex') : text;
}
