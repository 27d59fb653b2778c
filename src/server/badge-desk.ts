/**
 * Badges drawn on demand from the data of a release. A badge that does not exist, one of a page that does not exist and
 * one that is not for whoever asks are the same grey badge, byte for byte.
 */

import { createHash } from 'node:crypto';
import { createBadgeCache } from '../badges/cache.ts';
import {
  BADGE_HEADERS,
  BADGE_SVG_TYPE,
  badgeFile,
  NOT_FOUND_BADGE_HEADERS,
  notFoundBadge,
  SESSION_BADGE_HEADERS,
} from '../badges/files.ts';
import { parseBadgeFileName } from '../badges/names.ts';
import { mergeBadgeOptions, parseBadgeQuery, resolveBadge } from '../badges/options.ts';
import type { EpochMs } from '../model/time.ts';
import type { BadgeData } from '../publish/badge-data.ts';
import type { BadgeSubject } from '../views/badge.ts';
import type { FileAnswer } from './file-answer.ts';
import type { OpenRelease } from './release-reader.ts';

/** Header names in small letters, as the front door writes them: two spellings of one name would be sent twice. */
function small(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

const PUBLIC_HEADERS = small(BADGE_HEADERS);
const SESSION_HEADERS = small(SESSION_BADGE_HEADERS);
const MISSING_HEADERS = small(NOT_FOUND_BADGE_HEADERS);

/** Drawn badges kept: some thousand addresses, each a few kilobytes. */
const DRAWN_MAX = 4_096;
const ADDRESS = /^(?:(components|groups)\/([A-Za-z0-9_-]{1,128})\/)?badges\/([a-z0-9-]{1,80}\.(?:svg|json|png))$/;

export interface BadgeAddress {
  readonly scope: 'page' | 'components' | 'groups';
  /** Of the component or group; null for the page. */
  readonly id: string | null;
  readonly fileName: string;
}

export interface BadgeRequest {
  readonly address: BadgeAddress;
  readonly query: URLSearchParams;
  readonly now: EpochMs;
  /** Whether caches between us and the visitor may keep it. */
  readonly isPublic: boolean;
  readonly ifNoneMatch: string | undefined;
}

export interface BadgeDesk {
  /** Draws a badge of an open release; the missing one when there is none of that name. */
  readonly draw: (release: OpenRelease, request: BadgeRequest) => Promise<FileAnswer>;
  /** The one answer for what does not exist and for what may not be seen. */
  readonly missing: () => FileAnswer;
}

/** The badge that a path below a page asks for; null when it is no badge's address. */
export function badgeAddressOf(path: string): BadgeAddress | null {
  const match = ADDRESS.exec(path);
  if (match === null) return null;
  const [, scope, id, fileName = ''] = match;
  return { scope: scope === 'components' || scope === 'groups' ? scope : 'page', id: id ?? null, fileName };
}

/** Makes the desk. What it draws is kept under the release it was drawn from. */
export function createBadgeDesk(): BadgeDesk {
  const cache = createBadgeCache<Promise<Drawn | null>>(DRAWN_MAX);
  const parsed = new WeakMap<OpenRelease, BadgeData>();
  const dataOf = (release: OpenRelease): BadgeData => {
    const known = parsed.get(release);
    if (known !== undefined) return known;
    const { onDemand } = release.data() as { onDemand: BadgeData };
    parsed.set(release, onDemand);
    return onDemand;
  };
  return {
    draw: async (release, request) => {
      const data = dataOf(release);
      const isStale = request.now > data.staleAfter;
      const { address, query } = request;
      const options = parseBadgeQuery(query);
      const key = JSON.stringify([release.slug, release.manifest.number, isStale, address, options]);
      const drawn = await cache.get(key, () => drawFrom(data, { address, options, isStale }));
      return drawn === null ? missing() : answerOf(drawn, request);
    },
    missing,
  };
}

interface Drawn {
  readonly body: Buffer;
  readonly contentType: string;
  readonly etag: string;
}

async function drawFrom(
  data: BadgeData,
  {
    address,
    options,
    isStale,
  }: { address: BadgeAddress; options: ReturnType<typeof parseBadgeQuery>; isStale: boolean },
): Promise<Drawn | null> {
  const subject = subjectOf(data, address);
  const file = parseBadgeFileName(address.fileName);
  if (subject === null || file === null) return null;
  const badge = resolveBadge(file.name, data.named, data.options);
  if (badge === null) return null;
  const shown = isStale ? { ...subject, isStale: true } : subject;
  const { body, contentType } = await badgeFile(
    shown,
    { kind: badge.kind, format: file.format },
    mergeBadgeOptions(badge.options, options),
  );
  const bytes = Buffer.from(body);
  return { body: bytes, contentType, etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"` };
}

function subjectOf({ subjects }: BadgeData, { scope, id }: BadgeAddress): BadgeSubject | null {
  if (scope === 'page') return subjects.page;
  return subjects[scope].find((named) => named.id === id)?.subject ?? null;
}

function answerOf(drawn: Drawn, { isPublic, ifNoneMatch }: BadgeRequest): FileAnswer {
  const { body, contentType, etag } = drawn;
  if (!isPublic)
    return {
      status: 200,
      headers: { ...SESSION_HEADERS, vary: 'Cookie', 'content-type': contentType, 'content-length': body.length },
      body,
    };
  const headers = { ...PUBLIC_HEADERS, etag };
  if (ifNoneMatch?.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag) === true)
    return { status: 304, headers, body: null };
  return { status: 200, headers: { ...headers, 'content-type': contentType, 'content-length': body.length }, body };
}

function missing(): FileAnswer {
  const body = Buffer.from(notFoundBadge());
  return {
    status: 404,
    headers: { ...MISSING_HEADERS, 'content-type': BADGE_SVG_TYPE, 'content-length': body.length },
    body,
  };
}
