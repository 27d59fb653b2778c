/**
 * Draws badges on demand from the data of a release. A badge that doesn't exist, one of a page that doesn't exist, and
 * one that the visitor may not see are the same grey badge, byte for byte.
 */

import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import {
  BADGE_HEADERS,
  BADGE_SVG_TYPE,
  badgeFile,
  NOT_FOUND_BADGE_HEADERS,
  notFoundBadge,
  SESSION_BADGE_HEADERS,
} from '../../badges/files.ts';
import { resolveBadge } from '../../badges/named.ts';
import { parseBadgeFileName } from '../../badges/names.ts';
import { mergeBadgeOptions, parseBadgeQuery } from '../../badges/options.ts';
import type { EpochMs } from '../../model/time.ts';
import { once } from '../../once.ts';
import type { BadgeData } from '../../publish/releases/release-data.ts';
import type { BadgeSubject } from '../../views/badges/badge-subjects.ts';
import type { BadgeAddress } from '../address.ts';
import { type FileAnswer, isNotModified } from './file-answer.ts';
import type { OpenRelease } from './release-reader.ts';

/** Header names in lower case, as the front door writes them: two spellings of a name would both be sent. */
function small(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

const PUBLIC_HEADERS = small(BADGE_HEADERS);
const SESSION_HEADERS = small(SESSION_BADGE_HEADERS);
const MISSING_HEADERS = small(NOT_FOUND_BADGE_HEADERS);

/** Drawn badges kept in memory: some thousand addresses, each a few kilobytes. */
const DRAWN_MAX = 4_096;
interface BadgeRequest {
  readonly address: BadgeAddress;
  readonly query: URLSearchParams;
  readonly now: EpochMs;
  /** Whether shared caches may store it. */
  readonly isPublic: boolean;
  readonly ifNoneMatch: string | undefined;
}

export type BadgeService = ReturnType<typeof createBadgeService>;

/** Creates the service. Drawn badges are cached per release. */
export function createBadgeService() {
  /** A promise is a badge being drawn, so that concurrent requests share it. */
  const kept = new LRUCache<string, Drawn | Promise<Drawn>>({ max: DRAWN_MAX });
  const parsed = new WeakMap<OpenRelease, Opened>();
  /** The last response for an address. Works because frequently requested addresses are cached objects. */
  const latest = new WeakMap<BadgeAddress, Latest>();
  let openedCount = 0;
  const readOpened = (release: OpenRelease): Opened => {
    openedCount += 1;
    return { id: openedCount, data: release.data().onDemand };
  };

  async function drawNew(key: string, drawing: Promise<Drawn>): Promise<Drawn> {
    kept.set(key, drawing);
    try {
      const drawn = await drawing;
      if (kept.peek(key) === drawing) kept.set(key, drawn);
      return drawn;
    } catch (error) {
      if (kept.peek(key) === drawing) kept.delete(key);
      throw error;
    }
  }

  return {
    /** Draws a badge of an open release, or the grey badge if there is none of that name. */
    draw: (release: OpenRelease, request: BadgeRequest): FileAnswer | Promise<FileAnswer> => {
      const { address, query } = request;
      const known = latest.get(address);
      if (known?.release === release && query.size === 0 && request.now > known.staleAfter === known.isStale)
        return answerOf(known.drawn, request);
      const { id, data } = parsed.getOrInsertComputed(release, readOpened);
      if (data === null || !hasLanguage(release, address)) return missing();
      const isStale = request.now > data.staleAfter;
      const options = query.size === 0 ? PLAIN : parseBadgeQuery(query);
      const optionsKey = options === PLAIN ? '' : JSON.stringify(options);
      // Only the last part can contain spaces.
      const key = `${id} ${isStale} ${address.locale ?? ''} ${address.scope} ${address.id ?? ''} ${address.fileName} ${optionsKey}`;
      const drawn = kept.get(key) ?? drawNew(key, drawFrom(data, address, options, isStale));
      if (drawn instanceof Promise) return drawn.then((one) => answerOf(one, request));
      if (optionsKey === '') latest.set(address, { release, drawn, isStale, staleAfter: data.staleAfter });
      return answerOf(drawn, request);
    },
    /** The response for a badge that doesn't exist or may not be seen. */
    missing,
  };
}

/** Whether the page has a tree in the language of the address. */
function hasLanguage({ manifest }: OpenRelease, { locale }: BadgeAddress): boolean {
  return locale === null || (manifest.locales ?? []).indexOf(locale) > 0;
}

/** No options, as in most requests. */
const PLAIN = parseBadgeQuery(new URLSearchParams());

/**
 * Data of a release, with an id for cache keys. Release numbers won't do: they start again when a withdrawn page comes
 * back.
 */
interface Opened {
  readonly id: number;
  /** Null: the release was written by an older version. */
  readonly data: BadgeData | null;
}

interface Latest {
  readonly release: OpenRelease;
  readonly drawn: Drawn;
  readonly isStale: boolean;
  readonly staleAfter: EpochMs;
}

/** A badge with all of its possible responses, created once. */
interface Drawn {
  /** Null: there is no such badge. */
  readonly etag: string | null;
  readonly whole: FileAnswer;
  readonly notModified: FileAnswer;
  /** For one visitor only. */
  readonly private: FileAnswer;
}

async function drawFrom(
  data: BadgeData,
  address: BadgeAddress,
  options: ReturnType<typeof parseBadgeQuery>,
  isStale: boolean,
): Promise<Drawn> {
  const subject = addressedSubject(data, address);
  const file = parseBadgeFileName(address.fileName);
  if (subject === null || file === null) return none();
  const { locale } = address;
  const badge = resolveBadge(file.name, data.named, locale === null ? data.options : { ...data.options, locale });
  if (badge === null) return none();
  const shown = isStale ? { ...subject, isExpired: true } : subject;
  const { body, contentType } = await badgeFile(
    shown,
    { kind: badge.kind, format: file.format },
    mergeBadgeOptions(badge.options, options),
  );
  return answersWith(Buffer.from(body), contentType);
}

function answersWith(body: Buffer, contentType: string): Drawn {
  const etag = `"${hash('sha256', body, 'base64url').slice(0, 22)}"`;
  const headers = { ...PUBLIC_HEADERS, etag };
  const ofSession = { ...SESSION_HEADERS, vary: 'Cookie' };
  const content = { 'content-type': contentType, 'content-length': body.length };
  return {
    etag,
    whole: { status: 200, headers: { ...headers, ...content }, body },
    notModified: { status: 304, headers, body: null },
    private: { status: 200, headers: { ...ofSession, ...content }, body },
  };
}

function addressedSubject({ subjects }: BadgeData, { scope, id }: BadgeAddress): BadgeSubject | null {
  if (scope === 'page') return subjects.page;
  return subjects[scope].find((named) => named.id === id)?.subject ?? null;
}

function answerOf(drawn: Drawn, { isPublic, ifNoneMatch }: BadgeRequest): FileAnswer {
  if (!isPublic) return drawn.private;
  return isNotModified(ifNoneMatch, drawn.etag) ? drawn.notModified : drawn.whole;
}

/** Drawn on first use, because most processes never need it. */
const missing = once((): FileAnswer => {
  const body = Buffer.from(notFoundBadge());
  return {
    status: 404,
    headers: { ...MISSING_HEADERS, 'content-type': BADGE_SVG_TYPE, 'content-length': body.length },
    body,
  };
});
const none = (): Drawn => ({ etag: null, whole: missing(), notModified: missing(), private: missing() });
