/** A bucket behind HTTP, as nodes that draw nothing have it. */

import { setTimeout as wait } from 'node:timers/promises';
import { toEpochMs } from '../../src/model/time.ts';
import { RELEASE_INDEX, type ReleaseIndex } from '../../src/publish/targets/ledger.ts';
import type { ObjectStore } from '../../src/publish/targets/object-store.ts';
import { createBucket } from '../../src/publish/targets/object-store.ts';
import { S3_KEYS, startS3Server } from './s3-server.ts';

export interface ReleasePlace {
  /** As each node opens it. */
  readonly open: () => ObjectStore;
  /** What nodes put there since this was asked last, in order. */
  readonly puts: () => readonly string[];
  readonly index: () => Promise<ReleaseIndex>;
  readonly keys: () => Promise<readonly string[]>;
  /** Past all nodes. */
  readonly read: (key: string) => Promise<Buffer>;
  /** Null: it is removed. */
  readonly write: (key: string, bytes: Buffer | null) => Promise<void>;
  /** From now on it does not answer, and nodes see this error. */
  readonly cut: () => Promise<{ readonly code: string }>;
  /** How long each object takes from now on. */
  readonly slow: (ms: number) => void;
  readonly close: () => Promise<void>;
}

const PREFIX = 'p/';

/** Begins an empty one. */
export async function startReleasePlace(): Promise<ReleasePlace> {
  const bucket = await startS3Server();
  const revealed = (text: string) => ({ reveal: () => text });
  const options = {
    ...{ endpoint: bucket.endpoint, bucket: bucket.bucket, region: 'us-east-1', prefix: PREFIX },
    setting: 'releases.s3' as const,
    addressing: 'path' as const,
    accessKeyId: revealed(S3_KEYS.accessKeyId),
    secretAccessKey: revealed(S3_KEYS.secretAccessKey),
  };
  const limits = { attempts: 1, connectionsMax: 32 };
  const deps = { now: () => toEpochMs(Date.now()), random: Math.random, limits };
  const puts: string[] = [];
  let count = 0;
  let slowMs = 0;
  const read = async (key: string): Promise<Buffer> => {
    const body = bucket.objects.get(PREFIX + key)?.body;
    if (body === undefined) throw new Error(`there is no ${key}`);
    return body;
  };
  return {
    keys: async () =>
      bucket.keys().map((key) => (key.startsWith(PREFIX) ? key.slice(PREFIX.length) : `not below ${PREFIX}: ${key}`)),
    read,
    write: async (key, body) => {
      count += 1;
      if (body === null) bucket.objects.delete(PREFIX + key);
      else bucket.objects.set(PREFIX + key, { body, headers: {}, etag: `"written-${count}"` });
    },
    cut: async () => {
      bucket.fault = () => ({ kind: 'cut' });
      return { code: 'TARGET_UNREACHABLE' };
    },
    close: bucket.close,
    open: () => {
      const store = createBucket(options, deps);
      return {
        ...store,
        get: async (key) => {
          await wait(slowMs);
          return store.get(key);
        },
        put: (key, ...args) => {
          puts.push(key);
          return store.put(key, ...args);
        },
        replace: (key, ...args) => {
          puts.push(key);
          return store.replace(key, ...args);
        },
      };
    },
    puts: () => puts.splice(0),
    index: async () => {
      const index = RELEASE_INDEX.parse((await read(RELEASE_INDEX.key)).toString('utf8'));
      if (index === null) throw new Error('there is no index');
      return index;
    },
    slow: (ms) => {
      slowMs = ms;
    },
  };
}
