/**
 * A bucket behind real HTTP on loopback. Signatures are checked by the published algorithm (AWS Signature Version 4),
 * written here with node:crypto alone, so that it agrees with nobody's mistakes.
 */

import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export const S3_KEYS = { accessKeyId: 'AKIDEXAMPLE0000', secretAccessKey: 'secret/EXAMPLE+key-0000' } as const;

export interface StoredObject {
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
  readonly etag: string;
}

export interface S3Event {
  readonly method: string;
  readonly key: string;
  readonly status: number;
}

export type S3Fault =
  | { readonly kind: 'answer'; readonly status: number; readonly code: string; readonly retryAfter?: number }
  /** The connection ends before anything is done. */
  | { readonly kind: 'cut' }
  /** It is done, and the connection ends before the answer. */
  | { readonly kind: 'cut-after' }
  /** The answer breaks off in the middle. */
  | { readonly kind: 'truncated' }
  /** Nothing comes for so long. */
  | { readonly kind: 'slow'; readonly ms: number }
  | { readonly kind: 'huge-error' };

export interface S3Server {
  readonly endpoint: string;
  readonly bucket: string;
  readonly objects: Map<string, StoredObject>;
  /** What was answered, in order; what was cut has status 0. */
  readonly events: S3Event[];
  /** Every body that ever arrived, accepted or not. */
  readonly bodies: Buffer[];
  /** Every header block that ever arrived, as text. */
  readonly requests: string[];
  /** Asked before each request; `number` counts from 1. */
  fault: (request: { readonly method: string; readonly key: string; readonly number: number }) => S3Fault | null;
  /** Looked at after each change of the bucket. */
  onChange: (event: { readonly method: string; readonly key: string }) => void;
  /** How If-Match and If-None-Match of PUT are taken. */
  conditions: 'known' | 'refused' | 'ignored';
  readonly text: (key: string) => string | null;
  readonly keys: () => string[];
  readonly forgetEvents: () => void;
  readonly close: () => Promise<void>;
}

export interface S3ServerOptions {
  readonly region?: string;
  readonly addressing?: 'path' | 'virtual-host';
  readonly now?: () => number;
}

export async function startS3Server(options: S3ServerOptions = {}): Promise<S3Server> {
  const bucket = 'status-bucket';
  const context = { region: 'us-east-1', addressing: 'path' as const, now: Date.now, ...options };
  let count = 0;
  const server = createServer((request, response) => {
    answer(request, response).catch(() => request.socket.destroy());
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const s3: S3Server = {
    endpoint: `http://${context.addressing === 'path' ? '127.0.0.1' : 'localhost'}:${port}`,
    bucket,
    objects: new Map(),
    events: [],
    bodies: [],
    requests: [],
    fault: () => null,
    onChange: () => undefined,
    conditions: 'known',
    text: (key) => s3.objects.get(key)?.body.toString('utf8') ?? null,
    keys: () => [...s3.objects.keys()].toSorted(),
    forgetEvents: () => void s3.events.splice(0),
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const method = request.method ?? '';
    const key = keyOf(request);
    count += 1;
    s3.requests.push(`${method} ${request.url} ${request.rawHeaders.join(' ')}`);
    if (body.length > 0) s3.bodies.push(body);
    const fault = s3.fault({ method, key: key ?? '', number: count });
    if (fault?.kind === 'cut') {
      s3.events.push({ method, key: key ?? '', status: 0 });
      request.socket.destroy();
      return;
    }
    if (fault?.kind === 'slow') await new Promise((wait) => setTimeout(wait, fault.ms));
    const result =
      fault?.kind === 'answer'
        ? fail(
            fault.status,
            fault.code,
            fault.retryAfter === undefined ? {} : { 'retry-after': String(fault.retryAfter) },
          )
        : fault?.kind === 'huge-error'
          ? { status: 500, headers: {}, body: Buffer.alloc(300_000, 'x') }
          : perform({ request, method, key, body });
    const isCut = fault?.kind === 'cut-after' || fault?.kind === 'truncated';
    s3.events.push({ method, key: key ?? '', status: isCut ? 0 : result.status });
    if (fault?.kind === 'cut-after') {
      request.socket.destroy();
      return;
    }
    response.writeHead(result.status, {
      ...result.headers,
      ...(method === 'DELETE' && result.status === 204
        ? {}
        : { 'content-length': result.body.length + (isCut ? 10 : 0) }),
    });
    if (isCut) {
      response.write(result.body);
      setTimeout(() => request.socket.destroy(), 5);
    } else response.end(result.body);
  }

  interface Asked {
    readonly request: IncomingMessage;
    readonly method: string;
    readonly key: string | null;
    readonly body: Buffer;
  }

  function perform({ request, method, key, body }: Asked): Answered {
    const refusal = signatureFault(request, body, context);
    if (refusal !== null) return fail(403, refusal);
    if (key === null) return fail(404, 'NoSuchBucket');
    const there = s3.objects.get(key);
    if (method === 'GET') {
      if (there === undefined) return fail(404, 'NoSuchKey');
      if (request.headers['if-none-match'] === there.etag)
        return { status: 304, headers: { etag: there.etag }, body: Buffer.alloc(0) };
      return { status: 200, headers: { ...there.headers, etag: there.etag }, body: there.body };
    }
    if (method === 'DELETE') {
      s3.objects.delete(key);
      s3.onChange({ method, key });
      return { status: 204, headers: {}, body: Buffer.alloc(0) };
    }
    if (method !== 'PUT') return fail(405, 'MethodNotAllowed');
    const condition = conditionFault(request, there);
    if (condition !== null) return condition;
    const etag = `"${createHash('md5').update(body).digest('hex')}"`;
    s3.objects.set(key, { body, etag, headers: kept(request) });
    s3.onChange({ method, key });
    return { status: 200, headers: { etag }, body: Buffer.alloc(0) };
  }

  function conditionFault(request: IncomingMessage, there: StoredObject | undefined): Answered | null {
    const { 'if-match': match, 'if-none-match': noneMatch } = request.headers;
    if ((match === undefined && noneMatch === undefined) || s3.conditions === 'ignored') return null;
    if (s3.conditions === 'refused') return fail(501, 'NotImplemented');
    const isMet = match === undefined ? there === undefined : there?.etag === match;
    return isMet ? null : fail(412, 'PreconditionFailed');
  }

  function keyOf(request: IncomingMessage): string | null {
    const path = decodeURIComponent((request.url ?? '/').split('?')[0] ?? '/');
    if (context.addressing === 'virtual-host')
      return (request.headers.host ?? '').startsWith(`${bucket}.`) ? path.slice(1) : null;
    return path.startsWith(`/${bucket}/`) ? path.slice(bucket.length + 2) : null;
  }

  return s3;
}

interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

function fail(status: number, code: string, headers: Readonly<Record<string, string>> = {}): Answered {
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>No.</Message></Error>`;
  return { status, headers: { 'content-type': 'application/xml', ...headers }, body: Buffer.from(body) };
}

function kept({ headers }: IncomingMessage): Readonly<Record<string, string>> {
  return Object.fromEntries(
    ['content-type', 'cache-control', 'content-encoding'].flatMap((name) => {
      const value = headers[name];
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  );
}

const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex');
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/**
 * The code that S3 answers with when a signature is not right; null: it is.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
 */
function signatureFault(
  request: Pick<IncomingMessage, 'method' | 'url' | 'headers'>,
  body: Buffer,
  { region, now }: { readonly region: string; readonly now: () => number },
): string | null {
  const { headers } = request;
  const match =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? '',
    );
  if (match === null) return 'AccessDenied';
  const [, keyId, day = '', signedRegion, names = '', signature] = match;
  if (keyId !== S3_KEYS.accessKeyId) return 'InvalidAccessKeyId';
  if (signedRegion !== region) return 'AuthorizationHeaderMalformed';
  const date = String(headers['x-amz-date'] ?? '');
  const at = Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
  if (!(Math.abs(at - now()) <= 15 * 60_000) || !date.startsWith(day)) return 'RequestTimeTooSkewed';
  const hash = String(headers['x-amz-content-sha256'] ?? '');
  if (hash !== sha256(body)) return 'XAmzContentSHA256Mismatch';
  const signed = names.split(';');
  const mustBeSigned = Object.keys(headers).filter((name) => name.startsWith('x-amz-') || name === 'host');
  if (!mustBeSigned.every((name) => signed.includes(name)) || signed.join(';') !== signed.toSorted().join(';'))
    return 'AccessDenied';
  const [path = '/', query = ''] = (request.url ?? '/').split('?');
  if (query !== '') return 'NotImplemented';
  const canonical = [
    request.method,
    path,
    '',
    ...signed.map(
      (name) =>
        `${name}:${String(headers[name] ?? '')
          .trim()
          .replace(/ +/g, ' ')}`,
    ),
    '',
    names,
    hash,
  ].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const toSign = ['AWS4-HMAC-SHA256', date, scope, sha256(canonical)].join('\n');
  const key = ['s3', 'aws4_request'].reduce(
    (derived, part) => hmac(derived, part),
    hmac(hmac(`AWS4${S3_KEYS.secretAccessKey}`, day), region),
  );
  return hmac(key, toSign).toString('hex') === signature ? null : 'SignatureDoesNotMatch';
}
