/**
 * Bytes by key: a folder or a bucket. Sites for static hosts and releases for web nodes are kept in the same kind of store, so
 * what is true of one (who may write, how a ledger is replaced, how much is removed at once) is true of the other.
 */

import { hash } from 'node:crypto';
import pLimit from 'p-limit';
import { StatusError } from '../../errors.ts';

export interface ObjectStore {
  readonly kind: 'folder' | 's3';
  /** Shown to people: a path, or the address of a bucket. */
  readonly place: string;
  /** Null: there is no such object. */
  readonly get: (key: string) => Promise<Buffer | null>;
  /** Null: unchanged since that version. Version null: nothing was read yet. */
  readonly getIfOther: (key: string, version: string | null) => Promise<VersionedBytes | null>;
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
  /** Aborts what is under way. */
  readonly close: () => Promise<void>;
}

interface VersionedBytes {
  /** Null: there is no such object. */
  readonly bytes: Buffer | null;
  readonly version: string | null;
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
export async function eachOf<Item>(
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

export function digestOf(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex');
}
