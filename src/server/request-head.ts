/** The request headers that a response to visitors depends on, and the bodies of requests. */

import type { IncomingMessage } from 'node:http';

/** Headers that may only be sent once, with a bit for each. */
const SINGLE = new Map(
  ['host', 'authorization', 'origin', 'sec-fetch-site', 'content-type'].map((name, index) => [name, 1 << index]),
);
/** Lengths of these names, to skip most other headers quickly. */
const LENGTHS = new Set([...SINGLE.keys()].map(({ length }) => length));

export type RequestHead = ReturnType<typeof readHead>;

export function readHead({ headers, rawHeaders }: Pick<IncomingMessage, 'headers' | 'rawHeaders'>) {
  const { host, range, cookie = null } = headers;
  return {
    host,
    acceptEncoding: headers['accept-encoding'],
    ifNoneMatch: headers['if-none-match'],
    range,
    cookie,
    cacheControl: headers['cache-control'],
    fetchSite: headers['sec-fetch-site'],
    // True: a header that affects access was sent twice. Node uses the first, but a proxy may use the last.
    isAmbiguous: isAmbiguous(rawHeaders),
  };
}

function isAmbiguous(rawHeaders: readonly string[]): boolean {
  let seen = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (!LENGTHS.has(name.length)) continue;
    const bit = SINGLE.get(name) ?? SINGLE.get(name.toLowerCase()) ?? 0;
    if ((seen & bit) !== 0) return true;
    seen |= bit;
  }
  return false;
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

/** Forms and hooks are small; anything larger is refused before it is read. */
const BODY_BYTES_MAX = 64 * 1024;

export class BodyTooLargeError extends Error {
  constructor() {
    super(`the body is larger than ${BODY_BYTES_MAX} bytes`);
    this.name = 'BodyTooLargeError';
  }
}

/** Reads the whole body, at most 64 kB. A larger one throws BodyTooLargeError, and the rest is not read. */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > BODY_BYTES_MAX) throw new BodyTooLargeError();
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) throw new BodyTooLargeError();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
