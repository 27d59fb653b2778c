/** Where things are, relative to the root of their status page: the one place that knows the paths of the contract. */

import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { PageSettings } from '../../model/index.ts';

// Ids for the outside, derived from ours by a hash: the same thing keeps its id for ever, and neither upstream names nor
// upstream ids can be read from it.

/** Crockford's alphabet: no i, l, o, u, so that an id is neither misread nor a word. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const SHORT_ID_LENGTH = 12;

type IdKind =
  | 'page'
  | 'component'
  | 'group'
  | 'incident'
  | 'maintenance'
  | 'update'
  | 'source'
  | 'history'
  | 'template';

/** Every file of a page names the same few things, release after release. */
const shortIds = new LRUCache<string, string>({ max: 4_096, memoMethod: makeShortId });
const digests = new LRUCache<string, Buffer>({ max: 4_096, memoMethod: (text) => hash('sha256', text, 'buffer') });

/** Twelve characters like Statuspage's own ids: 60 bits of SHA-256 over kind and parts, in base 32. */
export function shortId(kind: IdKind, ...parts: readonly string[]): string {
  return shortIds.memo(JSON.stringify([kind, ...parts]));
}

function makeShortId(text: string): string {
  const digest = hash('sha256', text, 'buffer');
  let id = '';
  let bits = 0;
  let pending = 0;
  for (const byte of digest) {
    pending = (pending << 8) | byte;
    bits += 8;
    while (bits >= 5 && id.length < SHORT_ID_LENGTH) {
      bits -= 5;
      id += ALPHABET[(pending >>> bits) & 31];
    }
    pending &= (1 << bits) - 1;
  }
  return id;
}

/** A version 8 UUID (RFC 9562) over kind and parts, for feeds and calendars, where ids must be unique in the world. */
export function stableUuid(kind: IdKind, ...parts: readonly string[]): string {
  // Parts are written as JSON, so that no two lists of parts read alike.
  const bytes = Buffer.from(digests.memo(JSON.stringify([kind, ...parts])).subarray(0, 16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

// Paths of a page as absolute addresses, for readers that are not on the page.

/** The absolute address of a path below the page's own. */
export function absoluteUrl({ settings }: { readonly settings: Pick<PageSettings, 'url'> }, path: string): string {
  return new URL(path, settings.url).href;
}

/**
 * An id as one segment of a path that is safe in folders, addresses and object stores. What is plain stays as it is;
 * every other character becomes `~` and its code, so that two ids never share a segment and none climbs out.
 */
export function pathSegment(id: string): string {
  const plain = id.replace(/[^A-Za-z0-9._-]/gu, (character) => `~${(character.codePointAt(0) ?? 0).toString(16)}~`);
  return plain.replace(/^\.+/, (dots) => '~2e~'.repeat(dots.length));
}

export const HOME_PATH = '';
export const HISTORY_PATH = 'history/';
export const UPTIME_PATH = 'uptime/';
export const REPORTS_PATH = 'reports/';
export const BADGES_PATH = 'badges/';
export const VERIFY_PATH = 'verify/';
export const EMBED_PATH = 'embed/';
export const MANIFEST_PATH = 'site.webmanifest';
/** Answered by the server only. */
export const SUBSCRIBE_PATH = 'subscribe/';
/** Answered by the server from memory; a file on static hosts. */
export const NOW_JSON_PATH = 'api/now.json';

/** @param month  `2026-11` */
export function historyPath(month: string): string {
  return `history/${month}/`;
}

/** @param month  `2026-11` */
export function reportPath(month: string): string {
  return `reports/${month}/`;
}

export function incidentPath(slug: string): string {
  return `incidents/${pathSegment(slug)}/`;
}

export function maintenancePath(slug: string): string {
  return `maintenance/${pathSegment(slug)}/`;
}

export function componentPath(id: string): string {
  return `components/${pathSegment(id)}/`;
}

export function groupPath(id: string): string {
  return `groups/${pathSegment(id)}/`;
}
