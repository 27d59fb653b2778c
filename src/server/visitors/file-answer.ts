/** One file of a release as an HTTP answer: encodings, conditions, ranges and the headers that go with its kind. */

import type { OutgoingHttpHeaders } from 'node:http';
import fresh from 'fresh';
import { LRUCache } from 'lru-cache';
import { splitLocale } from '../../model/slugs.ts';
import type { FileRecord } from '../../publish/releases/manifest.ts';
import {
  COMPRESSIONS,
  type Compression,
  frameAncestors,
  INERT_CSP,
  PUBLIC_CACHE,
} from '../../publish/releases/manifest.ts';
import { onePiece } from '../answer.ts';
import type { RequestHead } from '../request-head.ts';
import { negotiate, type OpenRelease } from './release-reader.ts';

export interface FileAnswer {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  /** Null: the answer has no body. */
  readonly body: Buffer | null;
  /** As of an `Answer`. */
  readonly text?: string | undefined;
}

export interface FileRequest {
  readonly path: string;
  readonly isPublic: boolean;
  readonly head: Partial<Pick<RequestHead, 'acceptEncoding' | 'ifNoneMatch' | 'range'>>;
}

/** Answers with a file of an open release; null when it has no such file. */
export function fileAnswer(release: OpenRelease, { path, isPublic, head }: FileRequest): FileAnswer | null {
  const record = Object.hasOwn(release.manifest.files, path) ? release.manifest.files[path] : undefined;
  if (record === undefined) return null;
  const { range, acceptEncoding } = head;
  // Ranges are of the file as it is: a range of a variant would mean something else to a client that decodes.
  const encoding = range === undefined ? negotiate(record, acceptEncoding) : null;
  const made = fileHead(record, { path, isPublic, locales: release.manifest.locales }, encoding);
  if (isNotModified(head.ifNoneMatch, made.etag)) return made.notModified;
  let body: Buffer;
  try {
    body = release.read(path, encoding);
  } catch (error) {
    // A variant that is damaged is not needed.
    if (encoding === null) throw error;
    return fileAnswer(release, { path, isPublic, head: { ...head, acceptEncoding: undefined } });
  }
  if (range !== undefined) return rangeAnswer(range, body, made.headers);
  // A variant may be replaced by a smaller one meanwhile.
  if (made.whole['content-length'] !== body.length) {
    made.whole = { ...made.headers, 'content-length': body.length };
    made.text = onePiece(body);
  }
  return { status: 200, headers: made.whole, body, text: made.text };
}

/**
 * Whether a client has already what would be sent.
 *
 * @param ifNoneMatch  the header as it came
 * @param etag  of what would be sent; null: it is private and never stored anywhere, so nobody has it already
 */
export function isNotModified(ifNoneMatch: string | undefined, etag: string | null): boolean {
  if (ifNoneMatch === undefined || etag === null) return false;
  return ifNoneMatch === etag || ifNoneMatch === '*' || fresh({ 'if-none-match': ifNoneMatch }, { etag });
}

/** What answers with one file in one encoding have in common, made once: the same objects each time. */
interface Head {
  readonly etag: string | null;
  readonly headers: OutgoingHttpHeaders;
  readonly notModified: FileAnswer;
  /** With the length of the file as it was sent the last time. */
  whole: OutgoingHttpHeaders;
  /** Of that file, where it is short. */
  text: string | undefined;
}

/** Of the files asked for lately, by encoding, public and gated; about two kilobytes each. A record is that of one path. */
const heads = new LRUCache<FileRecord, (Head | undefined)[]>({ max: 2_048, memoMethod: () => [] });

function fileHead(record: FileRecord, place: FilePlace, encoding: Compression | null): Head {
  const made = heads.memo(record);
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
    text: undefined,
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
    'content-security-policy': cspOf(record, path),
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
    ...(isData(record.contentType) ? { 'access-control-allow-origin': '*' } : {}),
  };
}

/** Where a file is, of a page in these languages; undefined: in one. */
interface FilePlace extends Pick<FileRequest, 'path' | 'isPublic'> {
  readonly locales: readonly string[] | undefined;
}

/** What is there once for all languages. */
function isWordless({ contentType }: FileRecord): boolean {
  return /^(?:application\/(?:manifest\+)?json|image\/|text\/(?:plain|csv|javascript)|application\/xml)/.test(
    contentType,
  );
}

/** The language of the tree that a path below a page is in. */
function localeAt(path: string, locales: readonly string[]): string | undefined {
  const { locale } = splitLocale(path);
  return locales.find((one) => one === locale) ?? locales[0];
}

function cspOf(record: FileRecord, path: string): string {
  return record.csp === null ? INERT_CSP : `${record.csp}; ${frameAncestors(path)}`;
}

function isData(contentType: string): boolean {
  return !contentType.startsWith('text/html');
}

/** Read by hand: range-parser says 416 to the last 2,000 bytes of a shorter file, which are all of it (RFC 9110, 14.1.2). */
function rangeAnswer(range: string, body: Buffer, headers: OutgoingHttpHeaders): FileAnswer {
  const whole = { status: 200, headers: { ...headers, 'content-length': body.length }, body };
  const match = /^bytes=(\d*)-(\d*)$/.exec(range.trim());
  // Several ranges or another unit: the whole file is a correct answer.
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
