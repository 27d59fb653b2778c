/**
 * Reads only the request headers that a response to visitors depends on, straight from Node's raw list: building Node's
 * headers object costs more than finding the response.
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
  /** True: a header that affects access was sent twice. Node uses the first, but a proxy may use the last. */
  readonly isAmbiguous: boolean;
}

type Field = Exclude<keyof RequestHead, 'isAmbiguous'> | null;

/** By name: the field to read it into, and whether it may only be sent once. */
const HEADERS: Readonly<Record<string, { readonly field: Field; readonly isSingle: boolean }>> = {
  host: { field: 'host', isSingle: true },
  authorization: { field: null, isSingle: true },
  origin: { field: null, isSingle: true },
  'sec-fetch-site': { field: 'fetchSite', isSingle: true },
  'content-type': { field: null, isSingle: true },
  'accept-encoding': { field: 'acceptEncoding', isSingle: false },
  'if-none-match': { field: 'ifNoneMatch', isSingle: false },
  range: { field: 'range', isSingle: false },
  cookie: { field: 'cookie', isSingle: false },
  'cache-control': { field: 'cacheControl', isSingle: false },
};
const NAMES = Object.keys(HEADERS);
/** By name in its two usual spellings, with a bit for each header that may only be sent once. */
const KNOWN = new Map(
  NAMES.flatMap((name, index) => {
    const header = { field: HEADERS[name]?.field ?? null, once: HEADERS[name]?.isSingle === true ? 1 << index : 0 };
    return [name, name.replace(/(?:^|-)[a-z]/g, (letter) => letter.toUpperCase())].map(
      (spelt) => [spelt, header] as const,
    );
  }),
);
/** Lengths of these names, to skip most other headers quickly. */
const HAS_LENGTH = Array.from({ length: 1 + Math.max(...NAMES.map(({ length }) => length)) }, (_, length) =>
  NAMES.some((name) => name.length === length),
);

export function readHead({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): RequestHead {
  const head: { -readonly [Name in keyof RequestHead]: RequestHead[Name] } = {
    host: undefined,
    acceptEncoding: undefined,
    ifNoneMatch: undefined,
    range: undefined,
    cookie: null,
    cacheControl: undefined,
    fetchSite: undefined,
    isAmbiguous: false,
  };
  let seen = 0;
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const sent = rawHeaders[index] ?? '';
    if (HAS_LENGTH[sent.length] !== true) continue;
    const known = KNOWN.get(sent) ?? KNOWN.get(sent.toLowerCase());
    if (known === undefined) continue;
    const { field, once } = known;
    if ((seen & once) !== 0) head.isAmbiguous = true;
    seen |= once;
    if (field === null) continue;
    const value = rawHeaders[index + 1] ?? '';
    // Repeated headers form one list (RFC 9110, 5.3), cookies are joined with `;` (RFC 9113, 8.2.3).
    const before = head[field] ?? null;
    head[field] = before === null ? value : `${before}${field === 'cookie' ? ';' : ','} ${value}`;
  }
  return head;
}

/**
 * Whether the visitor may have been here before, maybe on another node: a reload, a revalidation, a link or script of
 * the same site, or a session. Public pages set no cookie that would tell.
 */
export function isReturning({ ifNoneMatch, cacheControl, fetchSite, cookie }: RequestHead): boolean {
  return (
    ifNoneMatch !== undefined ||
    cookie !== null ||
    fetchSite === 'same-origin' ||
    (cacheControl !== undefined && /\b(?:no-cache|max-age=0)\b/.test(cacheControl))
  );
}
