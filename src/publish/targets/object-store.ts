/**
 * Bytes by key: a folder or a bucket. Sites for static hosts and releases for web nodes are kept in the same kind of store, so
 * the same rules apply to both: who may write, how a ledger is replaced, how much is removed at once.
 */

import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import pLimit from 'p-limit';
import { isStatusError, messageOf, StatusError } from '../../errors.ts';
import { busyError, createS3Client, type S3Deps, type S3Options } from './s3-client.ts';

export interface ObjectStore {
  readonly kind: 'folder' | 's3';
  /** Shown to people: a path, or the address of a bucket. */
  readonly place: string;
  /** Null: there is no such object. */
  readonly get: (key: string) => Promise<Buffer | null>;
  /** Null: unchanged since that version. Version null: nothing was read yet. Bytes null: there is no such object. */
  readonly getIfOther: (
    key: string,
    version: string | null,
  ) => Promise<{ readonly bytes: Buffer | null; readonly version: string | null } | null>;
  /** Readers see the old object or the new one, never a part. Default headers: those of an object that nobody may cache. */
  readonly put: (key: string, bytes: Uint8Array, headers?: ObjectHeaders) => Promise<void>;
  /**
   * Replaces a ledger only if it still has that version (null: only if there is none), where the store supports that.
   *
   * @returns the new version
   * @throws TARGET_BUSY when someone else has written it
   */
  readonly replace: (key: string, bytes: Uint8Array, version: string | null) => Promise<string>;
  /** No error if it doesn't exist. */
  readonly remove: (key: string) => Promise<void>;
  /** Whether an object exists; absent: checking costs too much. */
  readonly has?: (key: string) => boolean;
  /** Aborts running requests. */
  readonly close: () => Promise<void>;
}

/** In a folder, nothing keeps them. */
export type ObjectHeaders = Readonly<Record<string, string>>;

/** @throws TARGET_BUSY before each change, once another node has taken over: it may need what this one would remove */
export function fenceStore(store: ObjectStore, mayWrite: () => Promise<boolean>): ObjectStore {
  const check = async (): Promise<void> => {
    if (await mayWrite()) return;
    const message = `${store.place}: another node has taken over uploading.`;
    throw new StatusError({ code: 'TARGET_BUSY', message, context: { superseded: true } });
  };
  return {
    ...store,
    put: (...args) => check().then(() => store.put(...args)),
    replace: (...args) => check().then(() => store.replace(...args)),
    remove: (key) => check().then(() => store.remove(key)),
  };
}

/** Runs several tasks at a time. After the first failure, no further task is started, and running ones are awaited. */
export async function forEachLimited<Item>(
  items: Iterable<Item>,
  concurrency: number,
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  const failures: unknown[] = [];
  await pLimit(concurrency).map(items, async (item) => {
    if (failures.length === 0) await work(item).catch((error: unknown) => failures.push(error));
  });
  if (failures.length > 0) throw failures[0];
}

export function objectDigest(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex');
}

// A folder that any static file server serves. Other files in it are left alone.

/** All operations are asynchronous, because this thread also serves visitors. */
export function createFolder(folder: string): ObjectStore {
  const inFolder = (key: string): string => join(folder, key);
  const failing = <Result>(task: Promise<Result>): Promise<Result> =>
    task.catch((cause: unknown) => {
      throw new StatusError({
        code: 'TARGET_UNREACHABLE',
        message: `Can’t write to the folder ${folder}: ${messageOf(cause)}. Check its permissions and the free disk space.`,
        cause,
      });
    });
  const get = async (key: string): Promise<Buffer | null> =>
    existsSync(inFolder(key)) ? failing(readFile(inFolder(key))) : null;
  const put = (key: string, bytes: Uint8Array): Promise<void> => failing(writeWhole(inFolder(key), bytes));
  return {
    kind: 'folder',
    place: folder,
    get,
    getIfOther: async (key) => {
      const bytes = await get(key);
      return { bytes, version: bytes === null ? null : '' };
    },
    put,
    replace: async (key, bytes) => {
      await put(key, bytes);
      return '';
    },
    remove: (key) =>
      failing(rm(inFolder(key), { force: true }).then(() => removeEmptyFolders(folder, dirname(inFolder(key))))),
    has: (key) => existsSync(inFolder(key)),
    close: async () => undefined,
  };
}

/** Written to a temporary name first, so that a reader sees either the old file or the new one. */
async function writeWhole(path: string, body: Uint8Array): Promise<void> {
  await makeFolder(dirname(path));
  const next = `${path}.pharos-next`;
  await writeFile(next, body);
  await rename(next, path);
}

/** Node's own way of making the folders above never ends where the kernel refuses one of them with ENOENT, as below `/proc`. */
async function makeFolder(folder: string): Promise<void> {
  const made = await mkdir(folder).catch((error: NodeJS.ErrnoException) => error);
  if (made === undefined || made.code === 'EEXIST') return;
  if (made.code !== 'ENOENT' || dirname(folder) === folder) throw made;
  await makeFolder(dirname(folder));
  await mkdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
}

/** Up to the first that isn't empty. */
async function removeEmptyFolders(root: string, folder: string): Promise<void> {
  if (relative(root, folder).startsWith('..') || relative(root, folder) === '') return;
  await rmdir(folder).then(
    () => removeEmptyFolders(root, dirname(folder)),
    () => undefined,
  );
}

const PRIVATE_HEADERS = { 'content-type': 'application/octet-stream', 'cache-control': 'private, no-store' };
export const LEDGER_HEADERS = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' };
const NOT_MODIFIED = 304;

/**
 * A bucket that speaks the API of S3. Other objects beside ours are left alone.
 *
 * `prefix`: empty, or ending with a slash.
 */
export function createBucket(options: S3Options & { readonly prefix: string }, deps: S3Deps): ObjectStore {
  const client = createS3Client(options, deps);
  const { prefix, setting } = options;
  const place = `${client.place}/${prefix}`;
  // Not every server supports conditional writes. After a server has refused one, they aren't tried again.
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
