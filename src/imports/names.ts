/** Names of others as ids and titles of ours. */

import { toSlug } from '../model/slugs.ts';

const TITLE_CHARS_MAX = 256;

/**
 * Gives out ids made from names, each once. Where a name gives none, or two give the same, the key that the other page knows
 * the thing by is part of it, so that the order of the list does not matter to the first of them.
 */
export function createIds(kind: string): (name: string, key: string) => string {
  const taken = new Set<string>();
  return (name, key) => {
    const plain = toSlug(name);
    const tail = toSlug(key).slice(0, 12);
    const candidates = [plain, [plain === '' ? kind : plain, tail].filter(Boolean).join('-')];
    let id = candidates.find((one) => one !== '' && !taken.has(one));
    for (let number = 2; id === undefined; number += 1) {
      const next = `${candidates[1]}-${number}`;
      if (!taken.has(next)) id = next;
    }
    taken.add(id);
    return id;
  };
}

/** A heading; null: nothing is left of it. */
export function toTitle(text: string): string | null {
  return toLine(text, TITLE_CHARS_MAX);
}

/** One line of text, no longer than it may be; null: nothing is left. */
export function toLine(text: string, max: number): string | null {
  const line = oneLine(text).slice(0, max).trim();
  return line === '' ? null : line;
}

/** How long a text is as one line. */
export function lineLength(text: string): number {
  return oneLine(text).length;
}

function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
}

/** A value of others in a message: short, without control characters. */
export function quoted(value: unknown): string {
  const line = (typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined')).replaceAll(
    /[\p{Cc}\p{Cf}]+/gu,
    ' ',
  );
  return JSON.stringify(line.length > 80 ? `${line.slice(0, 80)}…` : line);
}
