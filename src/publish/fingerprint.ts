/** What a thing was made from, as one short text: as long as it stays, so do the bytes that are made of it. */

import { hash } from 'node:crypto';

/** Digests of objects that several keys are made from; they are frozen data, so the same object has the same digest. */
const known = new WeakMap<object, string>();

/** SHA-256 of plain data as JSON, in hexadecimal; remembered for objects. */
export function fingerprintOf(data: unknown): string {
  const digestOf = (): string => hash('sha256', JSON.stringify(data) ?? '', 'hex');
  return typeof data === 'object' && data !== null ? known.getOrInsertComputed(data, digestOf) : digestOf();
}
