/** A bucket that speaks the API of S3. Other objects beside ours are left alone. */

import { isStatusError, StatusError } from '../../errors.ts';
import type { ObjectHeaders, ObjectStore } from './object-store.ts';
import { busyError, createS3Client, type S3Deps, type S3Options } from './s3-client.ts';

interface BucketOptions extends S3Options {
  /** Empty, or ending with a slash. */
  readonly prefix: string;
}

const PRIVATE_HEADERS = { 'content-type': 'application/octet-stream', 'cache-control': 'private, no-store' };
export const LEDGER_HEADERS = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' };
const NOT_MODIFIED = 304;

export function createBucket(options: BucketOptions, deps: S3Deps): ObjectStore {
  const client = createS3Client(options, deps);
  const { prefix, setting } = options;
  const place = `${client.place}/${prefix}`;
  // Not every server supports conditional writes; one that says so isn't asked again.
  let knowsConditions = true;

  const put = async (key: string, body: Uint8Array, headers: ObjectHeaders): Promise<string> =>
    (await client.request({ method: 'PUT', key: prefix + key, headers, body })).etag;

  async function getIfOther(key: string, version: string | null) {
    const { status, etag, body } = await client.request({
      method: 'GET',
      key: prefix + key,
      headers: version === null || version === '' ? {} : { 'if-none-match': version },
      accept: [NOT_MODIFIED, 404],
    });
    if (status === NOT_MODIFIED) return null;
    if (status !== 404) return etag !== '' && etag === version ? null : { bytes: body, version: etag };
    if (!body.includes('<Code>NoSuchBucket</Code>')) return { bytes: null, version: null };
    throw new StatusError({
      code: 'TARGET_REFUSED',
      message: `${place}: there is no such bucket. Create it, or check ${setting}.bucket and ${setting}.endpoint.`,
      context: { status: 404, s3: 'NoSuchBucket' },
    });
  }

  async function replace(key: string, body: Uint8Array, version: string | null): Promise<string> {
    if (!knowsConditions || version === '') return put(key, body, LEDGER_HEADERS);
    const condition: ObjectHeaders = version === null ? { 'if-none-match': '*' } : { 'if-match': version };
    try {
      return await put(key, body, { ...LEDGER_HEADERS, ...condition });
    } catch (error) {
      if (!isStatusError(error)) throw error;
      if (error.context['status'] === 501) {
        knowsConditions = false;
        return put(key, body, LEDGER_HEADERS);
      }
      if (error.code !== 'TARGET_BUSY') throw error;
      // Our own write may have succeeded although its response was lost.
      const there = await getIfOther(key, null);
      if (there?.bytes?.equals(body) === true) return there.version ?? '';
      throw busyError(place);
    }
  }

  return {
    kind: 's3',
    place,
    get: async (key) => (await getIfOther(key, null))?.bytes ?? null,
    getIfOther,
    put: async (key, bytes, headers = PRIVATE_HEADERS) => void (await put(key, bytes, headers)),
    replace,
    remove: async (key) => void (await client.request({ method: 'DELETE', key: prefix + key, accept: [404] })),
    close: client.close,
  };
}
