/** What a bucket says when it refuses, in our words: what happened, why, what to do. Keys and bodies are never in them. */

import { type ErrorCode, StatusError } from '../../errors.ts';

/** Error codes of the S3 API. */
const CODES: Readonly<Record<string, string>> = {
  AccessDenied:
    'the key may not do this. Give it s3:PutObject, s3:GetObject and s3:DeleteObject on the prefix, and s3:ListBucket on the bucket',
  AllAccessDisabled: 'access to the bucket is switched off. Look at the account',
  AccountProblem: 'there is a problem with the account. Look there',
  AuthorizationHeaderMalformed: 'the region is not that of the bucket. Set output.s3.region to it',
  AuthorizationQueryParametersError: 'the region is not that of the bucket. Set output.s3.region to it',
  BadDigest: 'what arrived is not what was sent. Look at what is between',
  ExpiredToken: 'the session token is out of date. Fetch another one',
  InvalidAccessKeyId: 'there is no such access key. Check output.s3.accessKeyId',
  InvalidBucketName: 'this is no name of a bucket. Check output.s3.bucket',
  InvalidToken: 'the session token is not valid. Check output.s3.sessionToken',
  NoSuchBucket: 'there is no such bucket. Create it, or check output.s3.bucket and output.s3.endpoint',
  NotImplemented: 'this server does not know such requests. Check output.s3.endpoint',
  PermanentRedirect: 'the bucket is elsewhere. Set output.s3.endpoint and output.s3.region to those of the bucket',
  QuotaExceeded: 'the bucket is full. Make room',
  RequestTimeTooSkewed: 'its clock and ours are too far apart. Let NTP set this machine’s clock',
  SignatureDoesNotMatch: 'the signature is wrong. Check output.s3.secretAccessKey and output.s3.region',
  SlowDown: 'it takes fewer requests than it got. Pharos goes on by itself',
  TemporaryRedirect: 'the bucket is elsewhere. Set output.s3.endpoint to that of its region',
  XMinioStorageFull: 'the disk of the server is full. Make room',
};

const STATUSES: Readonly<Record<number, string>> = {
  301: 'the bucket is elsewhere. Set output.s3.endpoint and output.s3.region to those of the bucket',
  307: 'the bucket is elsewhere. Set output.s3.endpoint to that of its region',
  400: 'it did not understand the request. Check output.s3.endpoint, region and addressing',
  401: 'the key is not accepted. Check accessKeyId and secretAccessKey',
  403: 'the key is not accepted or may not do this. Check it and its rights',
  404: 'there is nothing there. Check output.s3.endpoint, bucket and addressing',
  405: 'this address takes no such requests. Check output.s3.endpoint, which is that of the API and not of a web site',
  411: 'it wants to know sizes before. Look at what is between',
  413: 'the object is larger than it takes',
  429: 'it takes fewer requests than it got. Pharos goes on by itself',
  507: 'it has no room left. Make some',
};

/** Codes that are about one object; the others of the bucket are well. */
const OF_FILE: ReadonlySet<string> = new Set(['EntityTooLarge', 'KeyTooLongError', 'InvalidObjectState', 'BadDigest']);

export interface Refusal {
  readonly place: string;
  readonly method: string;
  readonly status: number;
  /** As the body gave it; null: it gave none. */
  readonly code: string | null;
}

export function isWorthRetrying({ status, code }: Pick<Refusal, 'status' | 'code'>): boolean {
  return status === 429 || status === 408 || status >= 500 || code === 'RequestTimeout' || code === 'SlowDown';
}

/** The error of a status that is no success. */
export function refusalError(refusal: Refusal): StatusError {
  const { place, method, status, code } = refusal;
  const words =
    CODES[code ?? ''] ??
    STATUSES[status] ??
    (status >= 500 ? 'it failed. Pharos tries again with the next run' : 'it answered in a way that is not expected');
  const errorCode: ErrorCode =
    status === 412 || status === 409
      ? 'TARGET_BUSY'
      : isWorthRetrying(refusal)
        ? 'TARGET_UNREACHABLE'
        : 'TARGET_REFUSED';
  return new StatusError({
    code: errorCode,
    message: `${place}: ${method} was answered with ${status}${code === null ? '' : ` ${code}`}: ${words}.`,
    context: { status, s3: code, isOfFile: code !== null && OF_FILE.has(code) },
  });
}

/** Somebody else wrote the ledger since we read it. */
export function busyError(place: string): StatusError {
  return new StatusError({
    code: 'TARGET_BUSY',
    message: `${place}: another publisher writes there. Give each publisher its own prefix. Pharos tries again with the next run.`,
  });
}

const NETWORK: Readonly<Record<string, string>> = {
  ENOTFOUND: 'host name not found in DNS',
  EAI_AGAIN: 'DNS did not answer',
  ECONNREFUSED: 'the connection was refused',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'network unreachable',
  ETIMEDOUT: 'no answer in time',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
  UND_ERR_HEADERS_TIMEOUT: 'no answer in time',
  UND_ERR_BODY_TIMEOUT: 'the answer stalled',
  ECONNRESET: 'the connection was cut',
  EPIPE: 'the connection was cut',
  UND_ERR_SOCKET: 'the connection was cut',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the connection was cut in the middle of the answer',
};

/** No complete answer came. */
export function networkError(place: string, method: string, error: unknown): StatusError {
  const code = errnoOf(error);
  const isAborted = error instanceof Error && (error.name === 'AbortError' || error.name === 'TimeoutError');
  const words =
    NETWORK[code] ?? (isAborted ? 'no complete answer in time' : `the connection failed (${code || 'no code'})`);
  return new StatusError({
    code: 'TARGET_UNREACHABLE',
    message: `${place}: ${method}: ${words}. Check output.s3.endpoint and the network between; Pharos tries again with the next run.`,
    cause: error,
    context: { fault: code || 'timeout' },
  });
}

function errnoOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const { code } = error as { code?: unknown };
  if (typeof code === 'string' && code !== 'UND_ERR_SOCKET') return code;
  const inner = error.cause === undefined ? '' : errnoOf(error.cause);
  return inner === '' && typeof code === 'string' ? code : inner;
}
