/** Keeps releases in an S3-compatible bucket. The bucket must be private: it contains private pages unencrypted. */

import { isStatusError, StatusError } from '../../errors.ts';
import { createS3Client, type S3Deps, type S3Options } from '../targets/s3-client.ts';
import type { ReleaseStore } from './release-store.ts';

const CONNECTIONS_MAX = 32;
const HEADERS = { 'content-type': 'application/octet-stream', 'cache-control': 'private, no-store' };
const NOT_MODIFIED = 304;

/** @param options `prefix`: empty, or ending with a slash */
export function createBucketStore(options: S3Options & { readonly prefix: string }, deps: S3Deps): ReleaseStore {
  const client = createS3Client(options, { ...deps, limits: { connectionsMax: CONNECTIONS_MAX, ...deps.limits } });
  const { prefix } = options;
  const place = `${client.place}/${prefix}`;
  // Not every server supports conditional writes; one that says so isn't asked again.
  let knowsConditions = true;

  const put = async (key: string, body: Uint8Array, condition: Readonly<Record<string, string>>): Promise<string> =>
    (await client.request({ method: 'PUT', key: prefix + key, headers: { ...HEADERS, ...condition }, body })).etag;

  async function replace(key: string, body: Uint8Array, version: string | null): Promise<string> {
    if (!knowsConditions || version === '') return put(key, body, {});
    try {
      return await put(key, body, version === null ? { 'if-none-match': '*' } : { 'if-match': version });
    } catch (error) {
      if (!isStatusError(error) || error.context['status'] !== 501) throw error;
      knowsConditions = false;
      return put(key, body, {});
    }
  }

  async function getIfOther(key: string, version: string | null) {
    const { status, etag, body } = await client.request({
      method: 'GET',
      key: prefix + key,
      headers: version === null || version === '' ? {} : { 'if-none-match': version },
      accept: [NOT_MODIFIED, 404],
    });
    if (status === NOT_MODIFIED) return null;
    if (status !== 404) return etag !== '' && etag === version ? null : { bytes: body, version: etag };
    if (body.includes('<Code>NoSuchBucket</Code>'))
      throw new StatusError({
        code: 'TARGET_REFUSED',
        message: `${place}: there is no such bucket. Create it, or check releases.s3.bucket and releases.s3.endpoint.`,
      });
    return { bytes: null, version: null };
  }

  return {
    place,
    get: async (key) => (await getIfOther(key, null))?.bytes ?? null,
    getIfOther,
    put: async (key, bytes) => void (await put(key, bytes, {})),
    replace,
    remove: async (key) => void (await client.request({ method: 'DELETE', key: prefix + key, accept: [404] })),
    close: client.close,
  };
}
