/** What a bucket says when it refuses, in our words: what happened, why, what to do. Keys and bodies are never in them. */

import { type ErrorCode, StatusError } from '../../errors.ts';

/** Error codes of the S3 API. `{s3}` stands for the section of the configuration. */
const CODES: Readonly<Record<string, string>> = {
  AccessDenied:
    'the key is not allowed to do this. Grant it s3:PutObject, s3:GetObject and s3:DeleteObject on the prefix, and s3:ListBucket on the bucket',
  AllAccessDisabled: 'access to the bucket is disabled. Check the account',
  AccountProblem: 'there is a problem with the account. Check it',
  AuthorizationHeaderMalformed: 'the bucket is in another region. Set {s3}.region',
  AuthorizationQueryParametersError: 'the bucket is in another region. Set {s3}.region',
  BadDigest: 'the data was changed on the way. Check any proxies in between',
  ExpiredToken: 'the session token has expired. Get a new one',
  InvalidAccessKeyId: 'there is no such access key. Check {s3}.accessKeyId',
  InvalidBucketName: 'the bucket name is invalid. Check {s3}.bucket',
  InvalidToken: 'the session token is not valid. Check {s3}.sessionToken',
  NoSuchBucket: 'there is no such bucket. Create it, or check {s3}.bucket and {s3}.endpoint',
  NotImplemented: 'the server doesn’t support this request. Check {s3}.endpoint',
  PermanentRedirect: 'the bucket is in another region. Set {s3}.endpoint and {s3}.region to match',
  QuotaExceeded: 'the bucket is full. Free some space',
  RequestTimeTooSkewed: 'its clock differs too much from ours. Let NTP set this machine’s clock',
  SignatureDoesNotMatch: 'the signature is wrong. Check {s3}.secretAccessKey and {s3}.region',
  SlowDown: 'it is limiting requests. Pharos retries automatically',
  TemporaryRedirect: 'the bucket is in another region. Set {s3}.endpoint to match',
  XMinioStorageFull: 'the server’s disk is full. Free some space',
};

const STATUSES: Readonly<Record<number, string>> = {
  301: 'the bucket is in another region. Set {s3}.endpoint and {s3}.region to match',
  307: 'the bucket is in another region. Set {s3}.endpoint to match',
  400: 'it did not understand the request. Check {s3}.endpoint, region and addressing',
  401: 'the key was rejected. Check {s3}.accessKeyId and {s3}.secretAccessKey',
  403: 'the key was rejected or lacks permission. Check the key and its permissions',
  404: 'nothing was found. Check {s3}.endpoint, bucket and addressing',
  405: 'this address does not accept such requests. Check that {s3}.endpoint is the address of the API, not of a website',
  411: 'it requires a Content-Length. Check any proxies in between',
  413: 'the object is too large',
  429: 'it is limiting requests. Pharos retries automatically',
  507: 'it has no space left. Free some space',
};

/** Codes that are about one object; the others of the bucket are well. */
const OF_FILE: ReadonlySet<string> = new Set(['EntityTooLarge', 'KeyTooLongError', 'InvalidObjectState', 'BadDigest']);

/** The section of the configuration that has the bucket, for messages. */
export type S3Setting = 'output.s3' | 'releases.s3';

interface Refusal {
  readonly place: string;
  readonly setting: S3Setting;
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
  const { place, setting, method, status, code } = refusal;
  const words =
    CODES[code ?? ''] ??
    STATUSES[status] ??
    (status >= 500 ? 'it failed. Pharos tries again in the next run' : 'unexpected response');
  const errorCode: ErrorCode =
    status === 412 || status === 409
      ? 'TARGET_BUSY'
      : isWorthRetrying(refusal)
        ? 'TARGET_UNREACHABLE'
        : 'TARGET_REFUSED';
  return new StatusError({
    code: errorCode,
    message: `${place}: ${method} was answered with ${status}${code === null ? '' : ` ${code}`}: ${words.replaceAll('{s3}', setting)}.`,
    context: { status, s3: code, isOfFile: code !== null && OF_FILE.has(code) },
  });
}

/** Somebody else wrote the ledger since we read it. */
export function busyError(place: string): StatusError {
  return new StatusError({
    code: 'TARGET_BUSY',
    message: `${place}: another publisher writes there. Give each publisher its own prefix. Pharos tries again in the next run.`,
  });
}

const NETWORK: Readonly<Record<string, string>> = {
  ENOTFOUND: 'host name not found in DNS',
  EAI_AGAIN: 'DNS did not respond',
  ECONNREFUSED: 'the connection was refused',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'network unreachable',
  ETIMEDOUT: 'no response in time',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
  UND_ERR_HEADERS_TIMEOUT: 'no response in time',
  UND_ERR_BODY_TIMEOUT: 'the response stalled',
  ECONNRESET: 'the connection was closed',
  EPIPE: 'the connection was closed',
  UND_ERR_SOCKET: 'the connection was closed',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the connection was closed in the middle of the response',
};

/** No complete answer came. */
export function networkError(
  { place, setting, method }: Pick<Refusal, 'place' | 'setting' | 'method'>,
  error: unknown,
): StatusError {
  const code = errnoOf(error);
  const isAborted = error instanceof Error && (error.name === 'AbortError' || error.name === 'TimeoutError');
  const words =
    NETWORK[code] ?? (isAborted ? 'no complete response in time' : `the connection failed (${code || 'no code'})`);
  return new StatusError({
    code: 'TARGET_UNREACHABLE',
    message: `${place}: ${method}: ${words}. Check ${setting}.endpoint and the network; Pharos tries again in the next run.`,
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
