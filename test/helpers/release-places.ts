/** What keeps releases for nodes that draw nothing, one suite for all: a bucket behind HTTP, and Postgres. */

import { setTimeout as wait } from 'node:timers/promises';
import { toEpochMs } from '../../src/model/time.ts';
import { createBucketStore } from '../../src/publish/stored/bucket.ts';
import { createDatabaseStore } from '../../src/publish/stored/database-store.ts';
import { INDEX_KEY, parseIndex, type ReleaseIndex, type ReleaseStore } from '../../src/publish/stored/release-store.ts';
import { startDatabases, type TestDatabases } from './databases.ts';
import { S3_KEYS, startS3Server } from './s3-server.ts';

export const PLACES = ['a bucket', 'Postgres'] as const;
export type PlaceKind = (typeof PLACES)[number];

export interface ReleasePlace {
  /** As each node opens it. */
  readonly open: () => ReleaseStore;
  /** What nodes put there since this was asked last, in order. */
  readonly puts: () => readonly string[];
  readonly index: () => Promise<ReleaseIndex>;
  readonly keys: () => Promise<readonly string[]>;
  /** Past all nodes. */
  readonly read: (key: string) => Promise<Buffer>;
  /** Null: it is removed. */
  readonly write: (key: string, bytes: Buffer | null) => Promise<void>;
  /** An object of so many bytes, as the server makes it. */
  readonly writeLarge: (key: string, size: number) => Promise<void>;
  /** From now on it does not answer, and nodes see this error. */
  readonly cut: () => Promise<{ readonly code: string }>;
  /** How long each object takes from now on. */
  readonly slow: (ms: number) => void;
  /** While a pass is being committed; absent: that has nothing to do with it. */
  readonly whileCommitting?: (task: () => Promise<void>) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Begins what a kind needs; for `beforeAll`. `fresh` gives an empty one, and the one before is gone. */
export async function startPlaces(kind: PlaceKind): Promise<{
  readonly fresh: () => Promise<ReleasePlace>;
  readonly stop: () => Promise<void>;
}> {
  if (kind === 'a bucket') return { fresh: bucketPlace, stop: async () => undefined };
  const databases = await startDatabases('Postgres');
  return { fresh: () => databasePlace(databases), stop: databases.stop };
}

const PREFIX = 'p/';

async function bucketPlace(): Promise<ReleasePlace> {
  const bucket = await startS3Server();
  const revealed = (text: string) => ({ reveal: () => text });
  const options = {
    ...{ endpoint: bucket.endpoint, bucket: bucket.bucket, region: 'us-east-1', prefix: PREFIX },
    addressing: 'path' as const,
    accessKeyId: revealed(S3_KEYS.accessKeyId),
    secretAccessKey: revealed(S3_KEYS.secretAccessKey),
  };
  const deps = { now: () => toEpochMs(Date.now()), random: Math.random, limits: { attempts: 1 } };
  let count = 0;
  return placeOf({
    make: () => createBucketStore(options, deps),
    keys: async () =>
      bucket.keys().map((key) => (key.startsWith(PREFIX) ? key.slice(PREFIX.length) : `not below ${PREFIX}: ${key}`)),
    read: async (key) => bucket.objects.get(PREFIX + key)?.body,
    write: async (key, body) => {
      count += 1;
      if (body === null) bucket.objects.delete(PREFIX + key);
      else bucket.objects.set(PREFIX + key, { body, headers: {}, etag: `"written-${count}"` });
    },
    writeLarge: async (key, size) => {
      bucket.objects.set(PREFIX + key, { body: Buffer.alloc(size), headers: {}, etag: '"large"' });
    },
    cut: async () => {
      bucket.fault = () => ({ kind: 'cut' });
      return { code: 'TARGET_UNREACHABLE' };
    },
    close: bucket.close,
  });
}

async function databasePlace(databases: TestDatabases): Promise<ReleasePlace> {
  const database = await databases.fresh();
  const own = database.open();
  let count = 0;
  // The table is gone for a while: the server says so to whoever asks.
  let isCut = false;
  const rename = (from: string, to: string) => own.transaction((tx) => tx.run(`ALTER TABLE ${from} RENAME TO ${to}`));
  return placeOf({
    make: () => createDatabaseStore(database.open()),
    keys: async () => (await own.all('SELECT key FROM release_object ORDER BY key')).map(({ key }) => String(key)),
    read: async (key) => {
      const [row] = await own.all('SELECT bytes FROM release_object WHERE key = ?', [key]);
      return row?.['bytes'] as Buffer | undefined;
    },
    write: async (key, bytes) => {
      count += 1;
      await own.transaction(async (tx) => {
        await tx.run('DELETE FROM release_object WHERE key = ?', [key]);
        if (bytes !== null)
          await tx.run('INSERT INTO release_object (key, version, bytes) VALUES (?, ?, ?)', [key, `${count}`, bytes]);
      });
    },
    writeLarge: async (key, size) => {
      const sql =
        "INSERT INTO release_object (key, version, bytes) VALUES (?, 'large', convert_to(repeat('x', ?), 'UTF8'))";
      await own.transaction((tx) => tx.run(sql, [key, size]));
    },
    cut: async () => {
      isCut = true;
      await rename('release_object', 'release_object_away');
      return { code: 'STORE_UNAVAILABLE' };
    },
    whileCommitting: (task) => own.transaction(task),
    close: async () => {
      if (isCut) await rename('release_object_away', 'release_object');
      await database.drop();
    },
  });
}

interface PlaceInit extends Pick<ReleasePlace, 'keys' | 'write' | 'writeLarge' | 'cut' | 'whileCommitting' | 'close'> {
  readonly make: () => ReleaseStore;
  readonly read: (key: string) => Promise<Buffer | undefined>;
}

function placeOf({ make, read, ...rest }: PlaceInit): ReleasePlace {
  const puts: string[] = [];
  let slowMs = 0;
  const readWhole = async (key: string): Promise<Buffer> => {
    const bytes = await read(key);
    if (bytes === undefined) throw new Error(`there is no ${key}`);
    return bytes;
  };
  return {
    ...rest,
    read: readWhole,
    open: () => {
      const store = make();
      return {
        ...store,
        get: async (key) => {
          await wait(slowMs);
          return store.get(key);
        },
        put: (key, bytes) => {
          puts.push(key);
          return store.put(key, bytes);
        },
        replace: (key, ...args) => {
          puts.push(key);
          return store.replace(key, ...args);
        },
      };
    },
    puts: () => puts.splice(0),
    index: async () => {
      const index = parseIndex(await readWhole(INDEX_KEY));
      if (index === null) throw new Error('there is no index');
      return index;
    },
    slow: (ms) => {
      slowMs = ms;
    },
  };
}
