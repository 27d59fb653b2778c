/** Ids of what is written, without the few characters of chance that end them. */

import { type EpochMs, toIso } from '../model/time.ts';

/** `2026-11-21-api-errors`: part of addresses, so that they can be read. */
export function idWords(name: string, at: EpochMs): string {
  const words = name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 40)
    .replace(/-+$/, '');
  return [toIso(at).slice(0, 'YYYY-MM-DD'.length), words].filter((part) => part !== '').join('-');
}
