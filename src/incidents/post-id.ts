/** Ids of what is written, without the few characters of chance that end them. */

import { type EpochMs, toIso } from '../model/time.ts';

/** `2026-11-21-api-errors`: part of addresses, so that they can be read. */
export function idWords(name: string, at: EpochMs): string {
  return [toIso(at).slice(0, 'YYYY-MM-DD'.length), wordsOf(name)].filter((part) => part !== '').join('-');
}

/** `api-errors`; empty where nothing of a name can be part of an address. */
export function wordsOf(name: string): string {
  return name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 40)
    .replace(/-+$/, '');
}
