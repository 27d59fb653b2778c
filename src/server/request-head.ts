/**
 * The headers of a request that decide what a visitor is answered, read as they came: the object that Node makes of all headers
 * costs more than finding the answer.
 */

import type { IncomingMessage } from 'node:http';

export interface RequestHead {
  readonly host: string | undefined;
  readonly acceptEncoding: string | undefined;
  readonly ifNoneMatch: string | undefined;
  readonly range: string | undefined;
  readonly cookie: string | null;
  readonly cacheControl: string | undefined;
  readonly fetchSite: string | undefined;
  /** True: a header that decides about access was sent twice. Node takes the first, and a proxy may take the last. */
  readonly isAmbiguous: boolean;
}

const FIELDS = {
  host: 'host',
  'accept-encoding': 'acceptEncoding',
  'if-none-match': 'ifNoneMatch',
  range: 'range',
  cookie: 'cookie',
  'cache-control': 'cacheControl',
  'sec-fetch-site': 'fetchSite',
} as const;
/** Those that may come only once. */
const ONCE = new Set(['authorization', 'host', 'origin', 'sec-fetch-site', 'content-type']);
const LENGTHS = new Set([...Object.keys(FIELDS), ...ONCE].map(({ length }) => length));

export function readHead({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): RequestHead {
  const head = {
    host: undefined,
    acceptEncoding: undefined,
    ifNoneMatch: undefined,
    range: undefined,
    cookie: null,
    cacheControl: undefined,
    fetchSite: undefined,
    isAmbiguous: false,
  } as { -readonly [Name in keyof RequestHead]: RequestHead[Name] };
  const seen: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const sent = rawHeaders[index] ?? '';
    // Most headers are none of these, which their length tells.
    if (!LENGTHS.has(sent.length)) continue;
    const name = sent.toLowerCase();
    const value = rawHeaders[index + 1] ?? '';
    if (ONCE.has(name)) {
      if (seen.includes(name)) head.isAmbiguous = true;
      else seen.push(name);
    }
    const field = Object.hasOwn(FIELDS, name) ? FIELDS[name as keyof typeof FIELDS] : undefined;
    if (field === undefined) continue;
    // Lines of one header are one list (RFC 9110, 5.3), those of a cookie are joined as it is written (RFC 9113, 8.2.3).
    const before = head[field] ?? null;
    head[field] = before === null ? value : `${before}${field === 'cookie' ? ';' : ','} ${value}`;
  }
  return head;
}

/**
 * Whether whoever asks may have been answered before, maybe by another node: a reload or a check of a known copy, a link or a
 * script of the same site, a session. Public pages set no cookie that could say it.
 */
export function isReturning({ ifNoneMatch, cacheControl, fetchSite, cookie }: RequestHead): boolean {
  return (
    ifNoneMatch !== undefined ||
    cookie !== null ||
    fetchSite === 'same-origin' ||
    (cacheControl !== undefined && /\b(?:no-cache|max-age=0)\b/.test(cacheControl))
  );
}
