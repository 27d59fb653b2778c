/**
 * Both databases for one suite. Postgres is the server of PHAROS_TEST_POSTGRES: a role that may make schemas,
 * `PHAROS_TEST_POSTGRES=postgres://postgres@127.0.0.1:5432/postgres npx vitest run test/contract`; else one of its own,
 * where this machine has the programs; else PGlite, in this process.
 */

import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import type { Database } from '../../src/store/database.ts';
import { openPostgres } from '../../src/store/postgres/postgres.ts';
import { openEmptySqlite } from './empty-sqlite.ts';
import { EMPTY, type PgliteServer, SECRET, startPglite } from './pglite-server.ts';
import { postgresPrograms, startRealPostgres } from './real-postgres.ts';

export const DATABASES = ['SQLite', 'Postgres'] as const;
export type DatabaseKind = (typeof DATABASES)[number];

/** PGlite takes some seconds to begin. */
export const BEGIN_TIMEOUT_MS = 60_000;

export interface TestDatabases {
  /** An empty database. One at a time: the one before is gone. */
  readonly fresh: () => Promise<TestDatabase>;
  readonly stop: () => Promise<void>;
}

export interface TestDatabase {
  /** Opens it, as often as one likes: each is a process of its own to the others. */
  readonly open: () => Database;
  /** Ends what is open, and the database. */
  readonly drop: () => Promise<void>;
}

/** Begins what a kind of database needs; for `beforeAll`, with `BEGIN_TIMEOUT_MS`. */
export async function startDatabases(kind: DatabaseKind): Promise<TestDatabases> {
  if (kind === 'SQLite') return { fresh: async () => sqliteDatabase(), stop: async () => undefined };
  const server = process.env['PHAROS_TEST_POSTGRES'];
  if (server !== undefined) return { fresh: () => schemaOf(server), stop: async () => undefined };
  const programs = postgresPrograms();
  if (programs !== null) return ownServer(programs);
  const pglite = await startPglite();
  return { fresh: () => emptied(pglite), stop: pglite.stop };
}

/** A Postgres server that can be stopped, with a password in its address: of this machine's programs, else PGlite. */
export async function startPostgres(): Promise<PgliteServer> {
  const programs = postgresPrograms();
  if (programs === null) return startPglite();
  const { url, ...server } = await startRealPostgres(programs);
  return { ...server, url: url.replace('postgres@', `postgres:${SECRET}@`), reset: () => inServer(url, EMPTY) };
}

function sqliteDatabase(): TestDatabase {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-store-'));
  return tracked(
    () => openEmptySqlite(join(folder, 'pharos.db'), 0).database,
    async () => rmSync(folder, { recursive: true }),
  );
}

async function emptied(pglite: PgliteServer): Promise<TestDatabase> {
  await pglite.reset();
  return tracked(
    () => openPostgres(pglite.url),
    async () => undefined,
  );
}

async function ownServer(programs: string): Promise<TestDatabases> {
  const server = await startRealPostgres(programs);
  const fresh = async (): Promise<TestDatabase> => {
    await inServer(server.url, EMPTY);
    return tracked(
      () => openPostgres(server.url),
      async () => undefined,
    );
  };
  return { fresh, stop: server.stop };
}

async function schemaOf(server: string): Promise<TestDatabase> {
  const schema = `pharos_test_${randomUUID().replaceAll('-', '')}`;
  await inServer(server, `CREATE SCHEMA ${schema}`);
  const url = new URL(server);
  url.searchParams.set('options', `-c search_path=${schema}`);
  return tracked(
    () => openPostgres(url.href),
    () => inServer(server, `DROP SCHEMA ${schema} CASCADE`),
  );
}

async function inServer(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(sql);
  await client.end();
}

function tracked(open: () => Database, remove: () => Promise<void>): TestDatabase {
  const opened = new Set<Database>();
  return {
    open: () => {
      const database = open();
      const mine: Database = {
        ...database,
        close: async () => {
          opened.delete(mine);
          await database.close();
        },
      };
      opened.add(mine);
      return mine;
    },
    drop: async () => {
      for (const database of [...opened]) await database.close();
      await remove();
    },
  };
}

/** Starts databases of this kind for the tests of the block that calls it; each test begins with an empty one. */
export function eachWithDatabase(kind: DatabaseKind, begin: (place: TestDatabase) => void): void {
  let databases: TestDatabases;
  let place: TestDatabase;
  beforeAll(async () => {
    databases = await startDatabases(kind);
  }, BEGIN_TIMEOUT_MS);
  afterAll(() => databases.stop());
  beforeEach(async () => {
    place = await databases.fresh();
    begin(place);
  });
  afterEach(() => place.drop());
}
