/** What a thing was made from, as one short text: as long as it stays, so do the bytes that are made of it. */

import { hash } from 'node:crypto';

/** Digests of objects that several keys are made from; they are frozen data, so the same object has the same digest. */
const known = new WeakMap<object, string>();
const knownByParts = new WeakMap<object, string>();

/** SHA-256 of plain data as JSON, in hexadecimal; remembered for objects. */
export function fingerprintOf(data: unknown): string {
  const digestOf = (): string => hash('sha256', JSON.stringify(data) ?? '', 'hex');
  return typeof data === 'object' && data !== null ? known.getOrInsertComputed(data, digestOf) : digestOf();
}

/**
 * The same, in fewer letters, of data whose parts, and the items of parts that are lists, are shared with other data: each of them is read
 * once however many files are made from it.
 */
export function partsFingerprint(parts: object): string {
  const digestOf = (part: unknown): unknown => (typeof part === 'object' && part !== null ? fingerprintOf(part) : part);
  return knownByParts.getOrInsertComputed(parts, () => {
    const digests = Object.entries(parts).map(([name, part]) => [
      name,
      Array.isArray(part) ? part.map(digestOf) : digestOf(part),
    ]);
    return hash('sha256', JSON.stringify(digests), 'base64url');
  });
}
