/** A bucket that speaks the API of S3. */

import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { isStatusError, messageOf, StatusError } from '../../errors.ts';
import { isWorthCompressing } from '../releases/compressions.ts';
import { createS3Client, type S3Deps, type S3Options } from './s3-client.ts';
import { busyError } from './s3-faults.ts';
import type { StaticFile } from './static-file.ts';
import { PROBE, type TargetStore } from './target.ts';

export interface S3StoreOptions extends S3Options {
  /** Empty, or ending with a slash. */
  readonly prefix: string;
  /** Encoding of text files; clients of a bucket can't choose. */
  readonly contentEncoding: ContentEncoding;
}

type ContentEncoding = 'identity' | 'gzip' | 'br';

const CONCURRENCY = 8;
/** Writing the ledger costs a request, like a file, so it is written after this many files. */
const CHECKPOINT_FILES = 50;
const LEDGER_HEADERS = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' };

const ENCODERS: Readonly<Record<ContentEncoding, (body: Uint8Array) => Promise<Uint8Array>>> = {
  identity: async (body) => body,
  gzip: (body) => promisify(gzip)(body, { level: 9 }),
  br: (body) => promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
};

/** A bucket as a target. Other objects below the prefix are left alone. */
export function createS3Store(options: S3StoreOptions, deps: S3Deps): TargetStore {
  const client = createS3Client(options, deps);
  const { prefix, contentEncoding } = options;
  const place = `${client.place}/${prefix}`;
  // Not every server supports conditional writes; one that says so isn't asked again.
  let knowsConditions = true;

  async function writeLedger(path: string, text: string, version?: string | null): Promise<string> {
    const isConditional = version !== undefined && version !== '' && knowsConditions;
    const condition = version === null ? { 'if-none-match': '*' } : { 'if-match': version ?? '' };
    try {
      const { etag } = await client.request({
        method: 'PUT',
        key: prefix + path,
        headers: { ...LEDGER_HEADERS, ...(isConditional ? condition : {}) },
        body: Buffer.from(text),
      });
      return etag;
    } catch (error) {
      if (!isConditional || !isStatusError(error)) throw error;
      if (error.context['status'] === 501) {
        knowsConditions = false;
        return writeLedger(path, text, version);
      }
      if (error.code !== 'TARGET_BUSY') throw error;
      // Our own write may have succeeded although its response was lost.
      const there = await readLedger(path);
      if (there?.text === text) return there.version;
      throw busyError(place);
    }
  }

  async function readLedger(path: string): Promise<{ readonly text: string; readonly version: string } | null> {
    const { status, etag, body } = await client.request({ method: 'GET', key: prefix + path, accept: [404] });
    if (status !== 404) return { text: body.toString('utf8'), version: etag };
    if (body.includes('<Code>NoSuchBucket</Code>')) throw noBucketError(place);
    return null;
  }

  async function remove(path: string): Promise<void> {
    await client.request({ method: 'DELETE', key: prefix + path, accept: [404] });
  }

  return {
    kind: 's3',
    place,
    settings: contentEncoding === 'identity' ? '' : ` ${contentEncoding}`,
    concurrency: CONCURRENCY,
    checkpointFiles: CHECKPOINT_FILES,
    readLedger,
    writeLedger,
    put: async (file) => {
      const { body, headers } = await stored(file, contentEncoding);
      await client.request({ method: 'PUT', key: prefix + file.path, headers, body });
      return body.length;
    },
    remove,
    probe: async () => {
      try {
        await readLedger('.pharos.json');
        await client.request({
          method: 'PUT',
          key: `${prefix}${PROBE.path}`,
          headers: { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' },
          body: PROBE.bytes,
        });
        await remove(PROBE.path);
      } catch (error) {
        throw isStatusError(error) ? error : new StatusError({ code: 'TARGET_REFUSED', message: messageOf(error) });
      }
    },
    close: client.close,
  };
}

async function stored(
  file: StaticFile,
  encoding: ContentEncoding,
): Promise<{ readonly body: Uint8Array; readonly headers: Readonly<Record<string, string>> }> {
  const { contentType, cacheControl } = file;
  const plain = await file.read();
  const isEncoded = encoding !== 'identity' && isWorthCompressing(contentType, plain.length);
  return {
    body: isEncoded ? await ENCODERS[encoding](plain) : plain,
    headers: {
      'content-type': contentType,
      'cache-control': cacheControl,
      ...(isEncoded ? { 'content-encoding': encoding } : {}),
    },
  };
}

function noBucketError(place: string): StatusError {
  return new StatusError({
    code: 'TARGET_REFUSED',
    message: `${place}: there is no such bucket. Create it, or check output.s3.bucket and output.s3.endpoint.`,
    context: { status: 404, s3: 'NoSuchBucket' },
  });
}
