/** One file of a release as an HTTP answer: encodings, conditions, ranges and the headers that go with its kind. */

import type { OutgoingHttpHeaders } from 'node:http';
import { frameAncestors, INERT_CSP, PUBLIC_CACHE } from '../publish/answer-headers.ts';
import type { Compression } from '../publish/compress.ts';
import type { FileRecord } from '../publish/releases/manifest.ts';
import { negotiate, type OpenRelease } from './release-reader.ts';

export interface FileAnswer {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  /** Null: the answer has no body. */
  readonly body: Buffer | null;
}

export interface FileRequest {
  readonly path: string;
  readonly isPublic: boolean;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** Answers with a file of an open release; null when it has no such file. */
export function fileAnswer(release: OpenRelease, request: FileRequest): FileAnswer | null {
  const record = Object.hasOwn(release.manifest.files, request.path) ? release.manifest.files[request.path] : undefined;
  if (record === undefined) return null;
  const range = single(request.headers['range']);
  // Ranges are of the file as it is: a range of a twin would mean something else to a client that decodes.
  const encoding = range === undefined ? negotiate(record, single(request.headers['accept-encoding'])) : null;
  const headers = headersOf(record, request, encoding);
  const etag = headers['etag'];
  if (typeof etag === 'string' && matches(single(request.headers['if-none-match']), etag)) {
    return { status: 304, headers: without(headers, ['content-type', 'content-encoding']), body: null };
  }
  const body = release.read(request.path, encoding);
  if (range !== undefined) return rangeAnswer(range, body, headers);
  return { status: 200, headers: { ...headers, 'content-length': body.length }, body };
}

function headersOf(
  record: FileRecord,
  { isPublic, path }: FileRequest,
  encoding: Compression | null,
): OutgoingHttpHeaders {
  const common = {
    'content-type': record.contentType,
    'content-security-policy': cspOf(record, path),
    ...(encoding === null ? {} : { 'content-encoding': encoding }),
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

function cspOf(record: FileRecord, path: string): string {
  return record.csp === null ? INERT_CSP : `${record.csp}; ${frameAncestors(path)}`;
}

function isData(contentType: string): boolean {
  return !contentType.startsWith('text/html');
}

function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const opaque = (tag: string): string => tag.trim().replace(/^W\//, '');
  return ifNoneMatch.trim() === '*' || ifNoneMatch.split(',').some((tag) => opaque(tag) === etag);
}

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

function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
