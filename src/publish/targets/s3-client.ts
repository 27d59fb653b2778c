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
  /** The section of the configuration that has the bucket, for messages. */
  readonly setting: 'output.s3' | 'releases.s3';
  /** Address of the API, with its path. */
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  readonly addressing: 'path' | 'virtual-host';
  readonly accessKeyId: { readonly reveal: () => string };
  readonly secretAccessKey: { readonly reveal: () => string };
  /** Session token, for temporary credentials. */
  readonly sessionToken?: { readonly reveal: () => string } | undefined;
  /** Certificates (PEM) trusted instead of the system's. */
  readonly ca?: string | undefined;
}

export interface S3Deps {
  readonly now: () => EpochMs;
  /** 0 to 1. */
  readonly random: () => number;
  readonly limits?: Partial<typeof S3_LIMITS>;
  /** Default: none. */
  readonly proxy?: ProxySettings;
}

const S3_LIMITS = {
  connectMs: 5 * SECOND_MS,
  /** Time limit for one request, including its response. */
  totalMs: 60 * SECOND_MS,
  attempts: 4,
  /** Wait before the second attempt; then doubled. */
  backoffMs: 250,
  /** A longer wait ends the update. */
  retryAfterMaxMs: 20 * SECOND_MS,
  /** Size limit for the body of a response. */
  bytesMax: 32 * 1024 * 1024,
  connectionsMax: 8,
};

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

export function createS3Client(options: S3Options, deps: S3Deps) {
  const stopping = new AbortController();
  const context = openContext(options, deps, stopping.signal);
  return {
    place: context.place,
    /** @throws TARGET_UNREACHABLE, TARGET_REFUSED, TARGET_BUSY (412, 409) */
    request: (request: S3Request) => requestWithRetries(context, request),
    /** Aborts requests; nothing is retried. */
    close: async () => {
      stopping.abort();
      await context.agent.destroy();
    },
  };
}

type S3Context = ReturnType<typeof openContext>;

function openContext(options: S3Options, deps: S3Deps, stopping: AbortSignal) {
  const limits = { ...S3_LIMITS, ...deps.limits };
  const { totalMs } = limits;
  return {
    ...{ options, deps, limits, stopping },
    // For messages.
    place: `s3://${options.bucket}`,
    agent: createDispatcher({ ...limits, headersMs: totalMs, idleMs: totalMs, ca: options.ca, proxy: deps.proxy }),
    // Derived keys by day, the only expensive step of signing.
    keys: new Map<string, ArrayBuffer>(),
  };
}

async function requestWithRetries(context: S3Context, request: S3Request) {
  const { limits, deps, place, stopping } = context;
  for (let attempt = 1; ; attempt += 1) {
    const result = await tryOnce(context, request);
    if (!('error' in result)) return result;
    const waitMs = result.retryAfterMs ?? limits.backoffMs * 2 ** (attempt - 1) * (0.5 + deps.random() / 2);
    const isOver = !result.isRetryable || attempt >= limits.attempts || waitMs > limits.retryAfterMaxMs;
    if (stopping.aborted) throw stoppedError(place);
    if (isOver) throw result.error;
    await wait(waitMs, undefined, { signal: stopping }).catch(() => {
      throw stoppedError(place);
    });
  }
}

/** @returns the answer, or why there is none and whether another try may help */
async function tryOnce(context: S3Context, request: S3Request) {
  const { agent, limits, place, stopping } = context;
  const { setting } = context.options;
  const { method, accept = [] } = request;
  const about = { place, setting, method };
  try {
    const signal = AbortSignal.any([stopping, AbortSignal.timeout(limits.totalMs)]);
    const response = await agent.request({ ...(await signed(context, request)), signal });
    const { statusCode: status } = response;
    const isSuccess = (status >= 200 && status < 300) || accept.includes(status);
    const body = await readAnswer(response, about, isSuccess ? limits.bytesMax : ERROR_BYTES_MAX);
    if (isSuccess) return { status, etag: single(response.headers['etag']), body };
    const code = /<Code>([A-Za-z0-9]{1,64})<\/Code>/.exec(body.toString('utf8'))?.[1] ?? null;
    return {
      error: refusalError({ ...about, status, code }),
      isRetryable: isWorthRetrying({ status, code }),
      retryAfterMs: retryAfterMs(single(response.headers['retry-after'])),
    };
  } catch (error) {
    const isRetryable = !isStatusError(error);
    return { error: isRetryable ? networkError(about, error) : error, isRetryable, retryAfterMs: null };
  }
}

async function signed({ options, deps, keys }: S3Context, { method, key, headers = {}, body }: S3Request) {
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

async function readAnswer({ body }: Dispatcher.ResponseData, { place, setting, method }: Asked, bytesMax: number) {
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
const CODES: Readonly<Record<string | number, string>> = {
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
  // Answers without a code that is known, by their status.
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

interface Asked extends Pick<S3Options, 'setting'>, Pick<S3Context, 'place'>, Pick<S3Request, 'method'> {}

interface Refusal extends Asked {
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
    CODES[status] ??
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
function networkError({ place, setting, method }: Asked, error: unknown): StatusError {
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
