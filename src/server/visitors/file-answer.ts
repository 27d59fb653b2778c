/** Serves one file of a release over HTTP: encodings, conditional requests, ranges and headers. */

import type { OutgoingHttpHeaders } from 'node:http';
import fresh from 'fresh';
import { LRUCache } from 'lru-cache';
import { splitLocale } from '../../model/slugs.ts';
import {
  COMPRESSIONS,
  type Compression,
  type FileRecord,
  frameAncestors,
  INERT_CSP,
  PUBLIC_CACHE,
} from '../../publish/releases/manifest.ts';
import type { Answer, RequestHead } from '../answer.ts';
import { negotiate, type OpenRelease } from './release-reader.ts';

export interface FileAnswer extends Answer {
  readonly body: Buffer | null;
}

export interface FileRequest {
  readonly path: string;
  readonly isPublic: boolean;
  readonly head: Partial<Pick<RequestHead, 'acceptEncoding' | 'ifNoneMatch' | 'range'>>;
  /** The same object for many requests of this path; absent: none. */
  readonly address?: object;
}

/** The answers of an address to requests with one Accept-Encoding. */
interface Finished {
  /** Digest of its release. */
  readonly digest: string;
  readonly isPublic: boolean;
  readonly acceptEncoding: string | undefined;
  readonly made: Head;
  /** Null: not asked for yet, or too long to be kept here, too. */
  readonly whole: FileAnswer | null;
}

/** As many as there are addresses kept (`address.ts`). */
const finished = new WeakMap<object, Finished>();
const FINISHED_BYTES_MAX = 16_384;

/** Responds with a file of an open release; null if it has no such file. */
export function fileAnswer(release: OpenRelease, request: FileRequest): FileAnswer | null {
  const { address, isPublic, head } = request;
  const known = address === undefined || head.range !== undefined ? undefined : finished.get(address);
  const isSame = known?.acceptEncoding === head.acceptEncoding && known?.isPublic === isPublic;
  if (known !== undefined && isSame && known.digest === release.digest) {
    if (isNotModified(head.ifNoneMatch, known.made.etag)) return known.made.notModified;
    if (known.whole !== null) return known.whole;
  }
  return findFile(release, request);
}

function findFile(release: OpenRelease, { path, isPublic, head, address }: FileRequest): FileAnswer | null {
  const record = Object.hasOwn(release.manifest.files, path) ? release.manifest.files[path] : undefined;
  if (record === undefined) return null;
  const { range, acceptEncoding } = head;
  // Ranges refer to the uncompressed file: a client that decodes would misread a range of a compressed variant.
  const encoding = range === undefined ? negotiate(record, acceptEncoding) : null;
  const made = fileHead(record, { path, isPublic, locales: release.manifest.locales }, encoding);
  const keep = (whole: FileAnswer | null): void => {
    if (address !== undefined) finished.set(address, { digest: release.digest, isPublic, acceptEncoding, made, whole });
  };
  if (isNotModified(head.ifNoneMatch, made.etag)) {
    if (range === undefined) keep(null);
    return made.notModified;
  }
  let body: Buffer;
  try {
    body = release.read(path, encoding);
  } catch (error) {
    // If a compressed variant is damaged, the file itself is sent.
    if (encoding === null) throw error;
    return fileAnswer(release, { path, isPublic, head: { ...head, acceptEncoding: undefined } });
  }
  if (range !== undefined) return rangeAnswer(range, body, made.headers);
  // The variant may have been replaced by a smaller one in the meantime.
  if (made.whole['content-length'] !== body.length) made.whole = { ...made.headers, 'content-length': body.length };
  const whole = { status: 200, headers: made.whole, body };
  keep(body.length > FINISHED_BYTES_MAX ? null : whole);
  return whole;
}

/**
 * Whether the client already has the response.
 *
 * @param ifNoneMatch  the received header
 * @param etag  of the response; null: it is private and never stored, so no client has it
 */
export function isNotModified(ifNoneMatch: string | undefined, etag: string | null): boolean {
  if (ifNoneMatch === undefined || etag === null) return false;
  return ifNoneMatch === etag || ifNoneMatch === '*' || fresh({ 'if-none-match': ifNoneMatch }, { etag });
}

/**
 * The shared parts of responses with one file in one encoding, created once, so that they are the same objects each
 * time.
 */
interface Head {
  readonly etag: string | null;
  readonly headers: OutgoingHttpHeaders;
  readonly notModified: FileAnswer;
  /** With the length of the file when it was last sent. */
  whole: OutgoingHttpHeaders;
}

/**
 * Heads of recently requested files, by encoding and access; about two kilobytes each. Each record belongs to one path.
 */
const heads = new LRUCache<FileRecord, (Head | undefined)[]>({ max: 2_048 });

function fileHead(record: FileRecord, place: FilePlace, encoding: Compression | null): Head {
  const made = heads.get(record) ?? [];
  if (made.length === 0) heads.set(record, made);
  const index = 2 * (encoding === null ? COMPRESSIONS.length : COMPRESSIONS.indexOf(encoding)) + Number(place.isPublic);
  const known = made[index];
  if (known !== undefined) return known;
  const headers = fileHeaders(record, place, encoding);
  const etag = headers['etag'];
  const head: Head = {
    etag: typeof etag === 'string' ? etag : null,
    headers,
    notModified: { status: 304, headers: without(headers, ['content-type', 'content-encoding']), body: null },
    whole: headers,
  };
  made[index] = head;
  return head;
}

function fileHeaders(
  record: FileRecord,
  { isPublic, path, locales }: FilePlace,
  encoding: Compression | null,
): OutgoingHttpHeaders {
  const common = {
    'content-type': record.contentType,
    'content-security-policy': record.csp === null ? INERT_CSP : `${record.csp}; ${frameAncestors(path)}`,
    ...(encoding === null ? {} : { 'content-encoding': encoding }),
    ...(locales === undefined || isWordless(record) ? {} : { 'content-language': localeAt(path, locales) }),
  };
  if (!isPublic)
    return {
      ...common,
      'cache-control': 'private, no-store',
      'cross-origin-resource-policy': 'same-origin',
      vary: 'Cookie, Accept-Encoding',
    };
  return {
    ...common,
    'cache-control': PUBLIC_CACHE,
    vary: 'Accept-Encoding',
    etag: `"${record.sha256.slice(0, 22)}${encoding === null ? '' : `-${encoding}`}"`,
    'accept-ranges': 'bytes',
    ...(record.contentType.startsWith('text/html') ? {} : { 'access-control-allow-origin': '*' }),
  };
}

/** The place of a file; `locales`: languages of the page, undefined if it has one. */
interface FilePlace extends Pick<FileRequest, 'path' | 'isPublic'> {
  readonly locales: readonly string[] | undefined;
}

/** Whether the file is the same in all languages. */
function isWordless({ contentType }: FileRecord): boolean {
  return /^(?:application\/(?:manifest\+)?json|image\/|text\/(?:plain|csv|javascript)|application\/xml)/.test(
    contentType,
  );
}

/** The language of a path below a page. */
function localeAt(path: string, locales: readonly string[]): string | undefined {
  const { locale } = splitLocale(path);
  return locales.find((one) => one === locale) ?? locales[0];
}

/**
 * By hand: range-parser answers 416 to a request for the last 2,000 bytes of a shorter file, which should be all of it
 * (RFC 9110, 14.1.2).
 */
function rangeAnswer(range: string, body: Buffer, headers: OutgoingHttpHeaders): FileAnswer {
  const whole = { status: 200, headers: { ...headers, 'content-length': body.length }, body };
  const match = /^bytes=(\d*)-(\d*)$/.exec(range.trim());
  // For several ranges or another unit, the whole file is a correct response.
  if (match === null || (match[1] === '' && match[2] === '')) return whole;
  const [, first = '', last = ''] = match;
  const from = first === '' ? Math.max(0, body.length - Number(last)) : Number(first);
  const to = first === '' || last === '' ? body.length - 1 : Math.min(Number(last), body.length - 1);
  if (from > to || from >= body.length) {
    return {
      status: 416,
      headers: { 'content-range': `bytes */${body.length}`, 'cache-control': 'no-store' },
      body: null,
    };
  }
  const part = body.subarray(from, to + 1);
  return {
    status: 206,
    headers: { ...headers, 'content-range': `bytes ${from}-${to}/${body.length}`, 'content-length': part.length },
    body: part,
  };
}

function without(headers: OutgoingHttpHeaders, names: readonly string[]): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)));
}
