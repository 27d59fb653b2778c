/**
 * Signed requests to a bucket, limited in time and size, with a few retries where they may help. The retries are our own:
 * undici's only look at the status, while S3 says in its XML what is worth retrying.
 */

import { hash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { AwsV4Signer } from 'aws4fetch';
import { type ErrorCode, isStatusError, StatusError } from '../../errors.ts';
import { type EpochMs, SECOND_MS } from '../../model/time.ts';
import { createDispatcher, type Dispatcher } from '../../network/dispatcher.ts';
import { networkFault } from '../../network/faults.ts';
import type { ProxySettings } from '../../network/proxy.ts';

export interface S3Options {
  readonly setting: S3Setting;
  /** Address of the API, with its path. */
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  readonly addressing: 'path' | 'virtual-host';
  readonly accessKeyId: Revealed;
  readonly secretAccessKey: Revealed;
  /** Session token, for temporary credentials. */
  readonly sessionToken?: Revealed | undefined;
  /** Certificates (PEM) trusted instead of the system's. */
  readonly ca?: string | undefined;
}

interface Revealed {
  readonly reveal: () => string;
}

export interface S3Deps {
  readonly now: () => EpochMs;
  /** 0 to 1. */
  readonly random: () => number;
  readonly limits?: Partial<S3Limits>;
  /** Default: none. */
  readonly proxy?: ProxySettings;
}

interface S3Limits {
  readonly connectMs: number;
  /** Time limit for one request, including its response. */
  readonly totalMs: number;
  readonly attempts: number;
  /** Wait before the second attempt; then doubled. */
  readonly backoffMs: number;
  /** A longer wait ends the update. */
  readonly retryAfterMaxMs: number;
  /** Size limit for the body of a response. */
  readonly bytesMax: number;
  readonly connectionsMax: number;
}

const S3_LIMITS: S3Limits = Object.freeze({
  connectMs: 5 * SECOND_MS,
  totalMs: 60 * SECOND_MS,
  attempts: 4,
  backoffMs: 250,
  retryAfterMaxMs: 20 * SECOND_MS,
  bytesMax: 32 * 1024 * 1024,
  connectionsMax: 8,
});

/** Size limit for an error in XML. */
const ERROR_BYTES_MAX = 64 * 1024;

interface S3Request {
  readonly method: 'GET' | 'PUT' | 'DELETE';
  readonly key: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Statuses besides 2xx that aren't errors. */
  readonly accept?: readonly number[];
}

interface S3Answer {
  readonly status: number;
  readonly etag: string;
  readonly body: Buffer;
}

interface S3Client {
  /** `s3://bucket`, for messages. */
  readonly place: string;
  /** @throws TARGET_UNREACHABLE, TARGET_REFUSED, TARGET_BUSY (412, 409) */
  readonly request: (request: S3Request) => Promise<S3Answer>;
  /** Aborts requests; nothing is retried. */
  readonly close: () => Promise<void>;
}

export function createS3Client(options: S3Options, deps: S3Deps): S3Client {
  const limits: S3Limits = { ...S3_LIMITS, ...deps.limits };
  const place = `s3://${options.bucket}`;
  const stopping = new AbortController();
  const agent = createDispatcher({
    ...limits,
    headersMs: limits.totalMs,
    idleMs: limits.totalMs,
    ca: options.ca,
    proxy: deps.proxy,
  });
  const context: S3Context = { options, deps, limits, place, agent, stopping: stopping.signal };
  // Caches derived keys by day, the only expensive step of signing.
  const keys = new Map<string, ArrayBuffer>();
  return {
    place,
    request: (request) => requestWithRetries(context, request, keys),
    close: async () => {
      stopping.abort();
      await agent.destroy();
    },
  };
}

interface S3Context {
  readonly options: S3Options;
  readonly deps: S3Deps;
  readonly limits: S3Limits;
  readonly place: string;
  readonly agent: Dispatcher;
  readonly stopping: AbortSignal;
}

async function requestWithRetries(
  context: S3Context,
  request: S3Request,
  keys: Map<string, ArrayBuffer>,
): Promise<S3Answer> {
  const { limits, deps, place, stopping } = context;
  for (let attempt = 1; ; attempt += 1) {
    const result = await tryOnce(context, request, keys);
    if (result.kind === 'answer') return result.answer;
    const waitMs = result.retryAfterMs ?? limits.backoffMs * 2 ** (attempt - 1) * (0.5 + deps.random() / 2);
    const isOver = !result.isRetryable || attempt >= limits.attempts || waitMs > limits.retryAfterMaxMs;
    if (stopping.aborted) throw stoppedError(place);
    if (isOver) throw result.error;
    await wait(waitMs, undefined, { signal: stopping }).catch(() => {
      throw stoppedError(place);
    });
  }
}

type Attempt =
  | { readonly kind: 'answer'; readonly answer: S3Answer }
  | {
      readonly kind: 'failure';
      readonly error: StatusError;
      readonly isRetryable: boolean;
      readonly retryAfterMs: number | null;
    };

async function tryOnce(context: S3Context, request: S3Request, keys: Map<string, ArrayBuffer>): Promise<Attempt> {
  const { agent, limits, place, stopping } = context;
  const { setting } = context.options;
  const { method, accept = [] } = request;
  try {
    const signal = AbortSignal.any([stopping, AbortSignal.timeout(limits.totalMs)]);
    const response = await agent.request({ ...(await signed(context, request, keys)), signal });
    const { statusCode: status } = response;
    const isSuccess = (status >= 200 && status < 300) || accept.includes(status);
    const body = await readAnswer(response, {
      place,
      setting,
      method,
      bytesMax: isSuccess ? limits.bytesMax : ERROR_BYTES_MAX,
    });
    if (isSuccess) return { kind: 'answer', answer: { status, etag: single(response.headers['etag']), body } };
    const code = /<Code>([A-Za-z0-9]{1,64})<\/Code>/.exec(body.toString('utf8'))?.[1] ?? null;
    return {
      kind: 'failure',
      error: refusalError({ place, setting, method, status, code }),
      isRetryable: isWorthRetrying({ status, code }),
      retryAfterMs: retryAfterMs(single(response.headers['retry-after'])),
    };
  } catch (error) {
    if (isStatusError(error)) return { kind: 'failure', error, isRetryable: false, retryAfterMs: null };
    return {
      kind: 'failure',
      error: networkError({ place, setting, method }, error),
      isRetryable: true,
      retryAfterMs: null,
    };
  }
}

async function signed(
  { options, deps }: S3Context,
  { method, key, headers = {}, body }: S3Request,
  keys: Map<string, ArrayBuffer>,
): Promise<{ origin: string } & Dispatcher.RequestOptions> {
  const url = objectAddress(options, key);
  const signer = new AwsV4Signer({
    method,
    url: url.href,
    headers: { ...headers, 'x-amz-content-sha256': hash('sha256', body ?? '', 'hex') },
    accessKeyId: options.accessKeyId.reveal(),
    secretAccessKey: options.secretAccessKey.reveal(),
    ...(options.sessionToken === undefined ? {} : { sessionToken: options.sessionToken.reveal() }),
    service: 's3',
    region: options.region,
    datetime: new Date(deps.now()).toISOString().replace(/[:-]|\.\d{3}/g, ''),
    allHeaders: true,
    cache: keys,
  });
  const { headers: signedHeaders } = await signer.sign();
  return {
    origin: url.origin,
    path: url.pathname,
    method,
    headers: { ...Object.fromEntries(signedHeaders), 'user-agent': 'Pharos' },
    body: body ?? null,
  };
}

/** Returns the address of an object, with its key encoded in the same way as S3 does before signing. */
export function objectAddress(
  { endpoint, bucket, addressing }: Pick<S3Options, 'endpoint' | 'bucket' | 'addressing'>,
  key: string,
): URL {
  const url = new URL(endpoint);
  const base = url.pathname.replace(/\/+$/, '');
  const encoded = key
    .split('/')
    .map((part) =>
      encodeURIComponent(part).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`),
    )
    .join('/');
  if (addressing === 'virtual-host') {
    url.hostname = `${bucket}.${url.hostname}`;
    url.pathname = `${base}/${encoded}`;
  } else url.pathname = `${base}/${bucket}/${encoded}`;
  return url;
}

async function readAnswer(
  { body }: Dispatcher.ResponseData,
  {
    place,
    setting,
    method,
    bytesMax,
  }: Pick<S3Options, 'setting'> & { readonly place: string; readonly method: string; readonly bytesMax: number },
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bytesMax) {
      body.destroy();
      throw new StatusError({
        code: 'TARGET_REFUSED',
        message: `${place}: ${method}: the response is larger than ${bytesMax} bytes. Check that ${setting}.endpoint is that of the API.`,
      });
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Seconds only: S3 and similar services don't send dates. */
function retryAfterMs(value: string): number | null {
  return /^\d{1,9}$/.test(value.trim()) ? Number(value) * SECOND_MS : null;
}

function single(value: string | string[] | undefined): string {
  return (Array.isArray(value) ? value[0] : value) ?? '';
}

function stoppedError(place: string): StatusError {
  return new StatusError({
    code: 'TARGET_UNREACHABLE',
    message: `${place}: stopped part-way; the next start continues from there.`,
  });
}

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

/** Codes about a single object; the rest of the bucket is fine. */
const OF_FILE: ReadonlySet<string> = new Set(['EntityTooLarge', 'KeyTooLongError', 'InvalidObjectState', 'BadDigest']);

/** The section of the configuration that has the bucket, for messages. */
type S3Setting = 'output.s3' | 'releases.s3';

interface Refusal {
  readonly place: string;
  readonly setting: S3Setting;
  readonly method: string;
  readonly status: number;
  /** As the body gave it; null: it gave none. */
  readonly code: string | null;
}

function isWorthRetrying({ status, code }: Pick<Refusal, 'status' | 'code'>): boolean {
  return status === 429 || status === 408 || status >= 500 || code === 'RequestTimeout' || code === 'SlowDown';
}

/** The error for an unsuccessful status. */
function refusalError(refusal: Refusal): StatusError {
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

/** Someone else has written the ledger since we read it. */
export function busyError(place: string): StatusError {
  return new StatusError({
    code: 'TARGET_BUSY',
    message: `${place}: another publisher writes there. Give each publisher its own prefix. Pharos tries again in the next run.`,
  });
}

/** No complete answer came. */
function networkError(
  { place, setting, method }: Pick<Refusal, 'place' | 'setting' | 'method'>,
  error: unknown,
): StatusError {
  const { code, words } = networkFault(error);
  const isAborted = error instanceof Error && (error.name === 'AbortError' || error.name === 'TimeoutError');
  const reason = isAborted ? 'no complete response in time' : words;
  return new StatusError({
    code: 'TARGET_UNREACHABLE',
    message: `${place}: ${method}: ${reason}. Check ${setting}.endpoint and the network; Pharos tries again in the next run.`,
    cause: error,
    context: { fault: code || 'timeout' },
  });
}
