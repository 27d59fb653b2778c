/** What one try of a check measures, and why it failed, in our own words: nothing that the target sent stands in them. */

import type { EpochMs } from '../model/time.ts';
import type { ProxySettings } from '../network/proxy.ts';
import type { Comparator } from '../sync/connectors/check.ts';

/** Milliseconds of each part of a try; over several redirects their sum. Absent: there was no such part, or it wasn't seen. */
type Phases = Readonly<Partial<Record<Exclude<Stage, 'body'>, number>>> & { readonly total: number };

export interface Try {
  /** Null: as it has to be. */
  readonly fault: string | null;
  /** False: nothing came back, so that the fault may be our own network. */
  readonly hasAnswered: boolean;
  readonly phases: Phases;
  readonly certificateEndsAt: EpochMs | null;
}

/** What a try needs from outside. */
export interface TryDeps {
  /** Name servers, `address` or `address:port`; empty: those of the system. */
  readonly resolver: readonly string[];
  /** Certificates (PEM) trusted instead of the usual ones; null: the usual ones. */
  readonly ca: string | null;
  readonly proxy: ProxySettings;
  readonly signal: AbortSignal;
}

const STAGE_WORDS = {
  name: 'its name was not looked up',
  connect: 'no connection',
  tls: 'no TLS handshake',
  firstByte: 'no response',
  body: 'the response was not complete',
};
type Stage = keyof typeof STAGE_WORDS;

export type Meter = ReturnType<typeof createMeter>;

/** Times the parts of one try. */
export function createMeter() {
  const startedAt = performance.now();
  const spent: { [stage in Stage]?: number } = {};
  let current: Stage = 'connect';
  return {
    hasAnswered: false,
    certificateEndsAt: null as EpochMs | null,
    time: async <T>(stage: Stage, task: () => Promise<T>): Promise<T> => {
      current = stage;
      const at = performance.now();
      const result = await task();
      spent[stage] = (spent[stage] ?? 0) + performance.now() - at;
      return result;
    },
    phases: (): Phases => {
      const { body: _, ...phases } = spent;
      return { ...phases, total: performance.now() - startedAt };
    },
    /** What didn't happen within the time that a try may take. */
    timeoutWords: (timeoutMs: number) => `${STAGE_WORDS[current]} within ${timeoutMs / 1_000} s`,
  };
}

/** It answered, and not as it has to. */
export class CheckFault extends Error {}

const FAULTS: Readonly<Record<string, string>> = {
  ENOTFOUND: 'its name does not exist in DNS',
  ENODATA: 'its name has no such record in DNS',
  ESERVFAIL: 'the name server failed (SERVFAIL)',
  EREFUSED: 'the name server refused the query',
  EFORMERR: 'the name server did not understand the query',
  EBADRESP: 'the answer of the name server is unreadable',
  EAI_AGAIN: 'no name server answered',
  ETIMEOUT: 'no name server answered',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was reset',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  EADDRNOTAVAIL: 'the network cannot be reached',
  ETIMEDOUT: 'no connection in time',
  UND_ERR_SOCKET: 'the connection was closed before the response was complete',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the response has another length than it says',
  UND_ERR_HEADERS_OVERFLOW: 'the headers of the response are too long',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate comes from an unknown authority',
  UNABLE_TO_GET_ISSUER_CERT: 'its certificate comes from an unknown authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate comes from an unknown authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate comes from an unknown authority',
};
/** Whoever says this is there. A connection that is refused may be our own fire wall. */
const ANSWERS = /^(CERT_|ERR_TLS_|ERR_SSL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HPE_|UND_ERR_(RES|HEADERS)_)/;

/** Why a try failed. */
export function wordsOfFault(error: unknown): { readonly fault: string; readonly hasAnswered: boolean } {
  if (error instanceof CheckFault) return { fault: error.message, hasAnswered: true };
  const code = codeOf(error);
  const isHttp = error instanceof Error && error.name === 'HTTPParserError';
  const proxied = /^Proxy response \((\d{3})\)/.exec(error instanceof Error ? error.message : '')?.[1];
  const fault =
    FAULTS[code] ??
    (isHttp || code.startsWith('HPE_')
      ? 'the response is not valid HTTP'
      : proxied !== undefined
        ? `the proxy refused to connect (status ${proxied})`
        : ANSWERS.test(code)
          ? `TLS handshake failed (${code})`
          : `the connection failed (${code === '' ? 'no code' : code})`);
  return { fault, hasAnswered: isHttp || ANSWERS.test(code) };
}

/** Several attempts to connect fail with several errors. */
function codeOf(error: unknown): string {
  if (error instanceof AggregateError) return codeOf(error.errors[0]);
  const { code, cause } = (error ?? {}) as { readonly code?: unknown; readonly cause?: unknown };
  if (typeof code === 'string') return /^[A-Z][A-Z0-9_]{1,60}$/.test(code) ? code : '';
  return cause === undefined ? '' : codeOf(cause);
}

// What assertions mean.

type Comparison = readonly [words: string, holds: (text: string, wanted: string) => boolean];
const COMPARISONS: Readonly<Record<Comparator, Comparison>> = {
  contains: ['to contain', (text, wanted) => text.includes(wanted)],
  not_contains: ['not to contain', (text, wanted) => !text.includes(wanted)],
  eq: ['to be', (text, wanted) => text === wanted],
  neq: ['not to be', (text, wanted) => text !== wanted],
  empty: ['to be empty', (text) => text === ''],
  not_empty: ['not to be empty', (text) => text !== ''],
  gt: ['to be above', (text, wanted) => order(text, wanted) > 0],
  gte: ['to be at least', (text, wanted) => order(text, wanted) >= 0],
  lt: ['to be below', (text, wanted) => order(text, wanted) < 0],
  lte: ['to be at most', (text, wanted) => order(text, wanted) <= 0],
};

/** Numbers are compared as numbers where both sides are some; other texts by their characters. */
export function holds(found: string | number, comparator: Comparator, target: string | number): boolean {
  return COMPARISONS[comparator][1](String(found), String(target));
}

/** Below, equal or above 0. */
function order(a: string, b: string): number {
  const [x, y] = [a, b].map((text) => (text.trim() === '' ? Number.NaN : Number(text)));
  if (Number.isFinite(x) && Number.isFinite(y)) return Number(x) - Number(y);
  return a === b ? 0 : a < b ? -1 : 1;
}

/** `expected the status to be 200`. @param target  absent: it may be a secret */
export function expectation(what: string, comparator: Comparator, target?: string | number): string {
  const isAlone = comparator === 'empty' || comparator === 'not_empty';
  const rest = isAlone ? '' : target === undefined ? ' what is configured' : ` ${target}`;
  return `expected ${what} ${COMPARISONS[comparator][0]}${rest}`;
}
