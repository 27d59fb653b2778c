/**
 * Answers to requests that were answered before, ready to be written again. What an answer follows from is compared at every
 * request, by the same questions that the long way asks: the addresses, the gate, the release that the link on disk leads to.
 * So nothing here is older than what the long way would answer, and nothing has to be told when a page changes or closes.
 */

import type { IncomingMessage } from 'node:http';
import { canView, NOBODY } from '../../access/access.ts';
import type { EpochMs } from '../../model/time.ts';
import type { SiteAddresses } from '../address.ts';
import type { PageAnswer, PageDeps } from './page-answer.ts';

/** All of a request that decides what everybody is answered. */
interface PlainRequest {
  /** As it stands in the first line. */
  readonly target: string;
  readonly host: string;
  readonly acceptEncoding: string | undefined;
  readonly ifNoneMatch: string | undefined;
}

interface ReadyAnswer {
  readonly status: number;
  /** Names and values in turns. */
  readonly lines: string[];
  readonly body: Uint8Array | null;
}

interface ReadyAnswers {
  /** Null: it has to be worked out. */
  readonly find: (request: PlainRequest) => ReadyAnswer | null;
  /** Keeps an answer that says what it follows from; any other is left alone. */
  readonly keep: (request: PlainRequest, answer: PageAnswer, lines: string[]) => void;
}

interface ReadyDeps extends Pick<PageDeps, 'access' | 'reader' | 'now'> {
  readonly addresses: () => SiteAddresses;
  readonly isHttpsSite: boolean;
}

/** What is kept at most: answers, their bytes, and answers to one target. Beyond that everything goes, and comes again. */
const ANSWERS_MAX = 2_048;
const BYTES_MAX = 32 * 1024 * 1024;
const VARIANTS_MAX = 8;
/** Who sends longer ones is no crowd. */
const TEXT_MAX = 512;

interface Kept extends ReadyAnswer {
  readonly request: PlainRequest;
  readonly basis: NonNullable<PageAnswer['basis']>;
  readonly addresses: SiteAddresses;
  readonly isHttpsSite: boolean;
}

/** Makes it, empty. */
export function createReadyAnswers(deps: ReadyDeps): ReadyAnswers {
  const byTarget = new Map<string, Kept[]>();
  let answers = 0;
  let bytes = 0;

  function isTrue({ basis, addresses, isHttpsSite }: Kept): boolean {
    if (addresses !== deps.addresses() || isHttpsSite !== deps.isHttpsSite) return false;
    const { release, isOfSite, window } = basis;
    if (!isOfSite && !canView(NOBODY, deps.access.pageOf(release.slug))) return false;
    if (deps.reader.open(release.slug) !== release) return false;
    return window === null || isWithin(window, deps.now());
  }

  function forgetAll(): void {
    byTarget.clear();
    answers = 0;
    bytes = 0;
  }

  return {
    find: (request) => {
      const variants = byTarget.get(request.target);
      if (variants === undefined) return null;
      for (const kept of variants) if (isSame(kept.request, request)) return isTrue(kept) ? kept : null;
      return null;
    },
    keep: (request, { basis, status, body }, lines) => {
      const { target, host, acceptEncoding = '', ifNoneMatch = '' } = request;
      if (basis === undefined || target.length + host.length + acceptEncoding.length + ifNoneMatch.length > TEXT_MAX)
        return;
      if (typeof body === 'string') return;
      const size = body?.length ?? 0;
      if (answers >= ANSWERS_MAX || bytes + size > BYTES_MAX) forgetAll();
      if (size > BYTES_MAX / 8) return;
      const others = (byTarget.get(target) ?? []).filter((kept) => !isSame(kept.request, request));
      const kept = { request, basis, addresses: deps.addresses(), isHttpsSite: deps.isHttpsSite, status, lines, body };
      byTarget.set(target, [kept, ...others.slice(0, VARIANTS_MAX - 1)]);
      // What takes the place of another is counted with it: the bounds are reached sooner, and never passed.
      answers += 1;
      bytes += size;
    },
  };
}

function isSame(one: PlainRequest, other: PlainRequest): boolean {
  return (
    one.host === other.host && one.acceptEncoding === other.acceptEncoding && one.ifNoneMatch === other.ifNoneMatch
  );
}

function isWithin({ after, until }: { readonly after: EpochMs; readonly until: EpochMs }, now: EpochMs): boolean {
  return now > after && now <= until;
}

/**
 * A request in these words; null where something else of it may decide what it is answered, or whether it is at all. Reads
 * the headers as they came: the object that Node makes of them costs more than an answer that is ready.
 */
export function plainRequestOf({ method, url, rawHeaders }: IncomingMessage): PlainRequest | null {
  if (method !== 'GET' || url === undefined) return null;
  let host: string | undefined;
  let acceptEncoding: string | undefined;
  let ifNoneMatch: string | undefined;
  let seen = 0;
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    const role = roleOf(name);
    if (role === 0) continue;
    // Twice, or of those that the long way has to look at.
    if ((seen & role) !== 0 || (role & DECIDES) !== 0) return null;
    seen |= role;
    if (role === HOST) host = rawHeaders[index + 1];
    else if (role === ACCEPT_ENCODING) acceptEncoding = rawHeaders[index + 1];
    else if (role === IF_NONE_MATCH) ifNoneMatch = rawHeaders[index + 1];
  }
  return host === undefined ? null : { target: url, host, acceptEncoding, ifNoneMatch };
}

const HOST = 1;
const ACCEPT_ENCODING = 2;
const IF_NONE_MATCH = 4;
/** Says nothing of what everybody is answered, but must not come twice. */
const ORIGIN = 8;
const FETCH_SITE = 16;
/** The long way looks at these. */
const DECIDES = 32;

/** What a header is to us, by the length of its name first: most are of no length that counts. */
function roleOf(name: string): number {
  switch (name.length) {
    case 4:
      return isNamed(name, 'Host', 'host') ? HOST : 0;
    case 5:
      return isNamed(name, 'Range', 'range') ? DECIDES : 0;
    case 6:
      return isNamed(name, 'Origin', 'origin') ? ORIGIN : 0;
    case 12:
      return isNamed(name, 'Content-Type', 'content-type') ? DECIDES : 0;
    case 13:
      if (isNamed(name, 'If-None-Match', 'if-none-match')) return IF_NONE_MATCH;
      return isNamed(name, 'Authorization', 'authorization') ? DECIDES : 0;
    case 14:
      return isNamed(name, 'Sec-Fetch-Site', 'sec-fetch-site') ? FETCH_SITE : 0;
    case 15:
      return isNamed(name, 'Accept-Encoding', 'accept-encoding') ? ACCEPT_ENCODING : 0;
    default:
      return 0;
  }
}

/** As nearly everybody writes it, or in any other letters. */
function isNamed(name: string, usual: string, small: string): boolean {
  if (name === usual || name === small) return true;
  // Letters that differ in more than their size begin another name.
  return (name.charCodeAt(0) | 0x20) === small.charCodeAt(0) && name.toLowerCase() === small;
}
