/** Databases of another version: who may change them, what is kept of before, and the way from one kind to the other. */

import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { copyTables } from '../../src/store/copy.ts';
import type { SqlValue } from '../../src/store/database.ts';
import { latestVersion, migrationsAfter } from '../../src/store/migrations.ts';
import { inPostgresTypes } from '../../src/store/postgres/migrate.ts';
import { openPostgres, readPostgres } from '../../src/store/postgres/postgres.ts';
import { tableShapes } from '../../src/store/sqlite/file.ts';
import { makeSqlite, openSqlite } from '../../src/store/sqlite/sqlite.ts';
import { BEGIN_TIMEOUT_MS, startPostgres } from '../helpers/databases.ts';
import { runHere } from '../helpers/in-process.ts';
import type { PgliteServer } from '../helpers/pglite-server.ts';
import { temporaryFolder } from '../helpers/pharos.ts';
import { runWarm, startWarm } from '../helpers/warm.ts';

const LATEST = latestVersion();
const OLDER = LATEST - 1;
const COPIED = tableShapes(LATEST);
const ENV: Record<string, string> = {
  ACME_PASSWORD: 'a long password',
  PHAROS_TOKEN: '0123456789abcdef'.repeat(3),
  ACCESS_KEY: 'k'.repeat(43),
};
const CONFIG = `site: { url: "https://status.example.com", name: Example }
upstreams: [{ id: posts, kind: markdown, path: ./posts }]
pages: [{ slug: acme, title: Acme, access_type: password, password: "\${ACME_PASSWORD}", components: [{ type: static, name: Desk }] }]
access: { key: "\${ACCESS_KEY}" }
operators: { token: "\${PHAROS_TOKEN}" }
`;

let folder = temporaryFolder();
let file = '';

beforeEach(() => {
  folder = temporaryFolder();
  for (const name of ['data', 'posts']) mkdirSync(join(folder.path, name));
  writeFileSync(join(folder.path, 'pharos.yaml'), CONFIG);
  file = join(folder.path, 'data', 'pharos.db');
});
afterEach(() => folder.remove());

/** Databases that were made, by version: the same bytes serve again. */
const made = new Map<number, Buffer>();

/** A database of a version, with a row by which it is known again. */
async function makeOf(version: number): Promise<void> {
  const known = made.get(version);
  if (known !== undefined) {
    writeFileSync(file, known, { mode: 0o600 });
    return;
  }
  const database = makeSqlite(file, Math.min(version, LATEST));
  await database.transaction((tx) => tx.run("INSERT INTO first_seen (subject, at) VALUES ('page:acme', 7)"));
  await database.close();
  if (version > LATEST) inFile(file, (connection) => connection.exec(`PRAGMA user_version = ${version}`));
  made.set(version, readFileSync(file));
}

function inFile<T>(path: string, task: (connection: DatabaseSync) => T): T {
  const connection = new DatabaseSync(path);
  try {
    return task(connection);
  } finally {
    connection.close();
  }
}

const versionIn = (path: string): unknown =>
  inFile(path, (connection) => connection.prepare('PRAGMA user_version').get()?.['user_version']);
const rowsIn = (path: string): unknown =>
  inFile(path, (connection) =>
    connection
      .prepare('SELECT subject, at FROM first_seen')
      .all()
      .map((row) => ({ ...row })),
  );
const ROWS = [{ subject: 'page:acme', at: 7 }];

/** Everything in the data folder, so that nothing can be changed without being seen. */
function fingerprint(): unknown {
  const names = readdirSync(join(folder.path, 'data')).filter((name) => !/-(wal|shm)$/.test(name));
  return names.toSorted().map((name) => {
    const path = join(folder.path, 'data', name);
    return [name, statSync(path).isFile() ? createHash('sha256').update(readFileSync(path)).digest('hex') : 'folder'];
  });
}

const run = (line: string): ReturnType<typeof runHere> => runHere(line.split(' '), { cwd: folder.path, env: ENV });

describe('a database of an older version', () => {
  beforeEach(() => makeOf(OLDER));

  it.each([
    'check --json',
    'diff --json',
    'audit --json',
    'exports --json',
    'tokens list --json',
    'subscribers list --json',
    'subscribers export',
    'badges token acme --list',
    'posts export --out exported',
    'doctor --no-network',
  ])('is read by pharos %s, and stays as it is', async (line) => {
    const before = fingerprint();
    const { status, stderr } = await run(line);
    expect([line, status, stderr]).toEqual([line, 0, expect.anything()]);
    expect(fingerprint()).toEqual(before);
    expect(versionIn(file)).toBe(OLDER);
  });

  it('is copied as it is by pharos backup', async () => {
    const before = fingerprint();
    expect((await run('backup copy.db')).status).toBe(0);
    expect(fingerprint()).toEqual(before);
    expect([versionIn(join(folder.path, 'copy.db')), rowsIn(join(folder.path, 'copy.db'))]).toEqual([OLDER, ROWS]);
    expect(statSync(join(folder.path, 'copy.db')).mode & 0o777).toBe(0o600);
  });

  it.each([
    'sync',
    'build',
    'serve --port 0',
    'rollback acme',
    'badges token acme',
    'exports --retry',
    'tokens revoke x',
  ])('is refused by pharos %s, which says what to do', async (line) => {
    const before = fingerprint();
    const { status, stderr } = await run(line);
    expect(status).toBe(1);
    expect(stderr).toContain(`has schema version ${OLDER}; this Pharos needs version ${LATEST}. Nothing was changed.`);
    expect(stderr).toContain('pharos store migrate');
    expect(fingerprint()).toEqual(before);
  });

  it('is upgraded by pharos store migrate, after a copy that is the way back', async () => {
    const { status, stdout } = await run('store migrate');
    const copy = `${file}.version-${OLDER}`;
    expect(status).toBe(0);
    expect(stdout).toBe(
      `Upgraded the database from version ${OLDER} to ${LATEST}.\nCopy from before the upgrade: ${copy}\n`,
    );
    expect([versionIn(file), rowsIn(file)]).toEqual([LATEST, ROWS]);
    expect([versionIn(copy), rowsIn(copy)]).toEqual([OLDER, ROWS]);
    expect(statSync(copy).mode & 0o777).toBe(0o600);
    expect((await run('store migrate')).stdout).toBe(`The database already has version ${LATEST}.\n`);
    // Back, and up once more: the first copy is not written over.
    renameSync(copy, file);
    writeFileSync(copy, 'of before');
    const again = JSON.parse((await run('store migrate --json')).stdout) as { readonly copy: string };
    expect(again.copy).toMatch(new RegExp(`\\.version-${OLDER}-\\d+$`));
    expect([versionIn(again.copy), readFileSync(copy, 'utf8')]).toEqual([OLDER, 'of before']);
  });

  it('is upgraded by pharos start, after the same copy', async () => {
    const pharos = await startWarm(['start', '--port', '0'], { cwd: folder.path, env: ENV });
    await pharos.stop();
    expect([versionIn(file), versionIn(`${file}.version-${OLDER}`)]).toEqual([LATEST, OLDER]);
    expect(pharos.stderr()).toContain(`${file}.version-${OLDER}`);
  });

  it('is previewed as a copy', async () => {
    const before = fingerprint();
    const pharos = await startWarm(['preview'], { cwd: folder.path, env: ENV });
    expect(pharos.stdout()).toContain('as a preview');
    await pharos.stop();
    expect(fingerprint()).toEqual(before);
  });

  it('is as before where it cannot be upgraded, and no half of a copy is left', async () => {
    // What the last migration makes is there already, or what it removes is gone, so that it fails.
    const older = new Set(tableShapes(OLDER).map(({ name }) => name));
    const made = COPIED.find(({ name }) => !older.has(name));
    const migration = migrationsAfter(OLDER)[0]?.sql() ?? '';
    const [change] = /ALTER TABLE \w+ ADD COLUMN \w+|DROP (?:TABLE|INDEX) \w+/.exec(migration) ?? [];
    inFile(file, (connection) =>
      connection.exec(made === undefined ? `${change}` : `CREATE TABLE ${made.name} (x TEXT)`),
    );
    const { status } = await run('store migrate');
    expect(status).toBe(1);
    expect([versionIn(file), rowsIn(file)]).toEqual([OLDER, ROWS]);
    expect(readdirSync(join(folder.path, 'data')).filter((name) => name.includes('partial'))).toEqual([]);
  });
});

describe('a database of a newer version', () => {
  it.each(['check', 'diff', 'audit', 'doctor', 'sync', 'build', 'store migrate', 'tokens list'])(
    'is left alone by pharos %s, which says so',
    async (line) => {
      await makeOf(LATEST + 3);
      const before = fingerprint();
      const { status, stderr } = await run(line);
      expect([status, stderr]).toEqual([1, expect.stringContaining('newer Pharos')]);
      expect(fingerprint()).toEqual(before);
    },
  );

  it('is copied as it is by pharos backup', async () => {
    await makeOf(LATEST + 3);
    expect((await run('backup copy.db')).status).toBe(0);
    expect(versionIn(join(folder.path, 'copy.db'))).toBe(LATEST + 3);
  });
});

describe('a damaged database', () => {
  /** No SQLite at all, and one whose second page is lost. */
  const DAMAGES: Readonly<Record<string, () => void>> = {
    'all of it': () => writeFileSync(file, 'this is no database'.repeat(500)),
    'a page of it': () => {
      const bytes = readFileSync(file);
      writeFileSync(file, bytes.fill(0xff, 4_096, 8_192));
    },
  };
  const cases = Object.keys(DAMAGES).flatMap((damage) =>
    [
      'check',
      'diff',
      'audit',
      'tokens list',
      'subscribers list',
      'posts export --out exported',
      'tokens revoke x',
      'rollback acme',
      'store copy --to other.yaml',
    ].map((line) => [line, damage] as const),
  );

  it.each(cases)('stays where it is under pharos %s, which says so in a line: %s', async (line, damage) => {
    await makeOf(LATEST);
    DAMAGES[damage]?.();
    writeFileSync(join(folder.path, 'other.yaml'), `${CONFIG}data: ./other\n`);
    const before = fingerprint();
    const { status, stderr } = await run(line);
    expect([status, stderr]).toEqual([1, expect.stringMatching(/^The database .*pharos\.db is damaged: .+\n$/)]);
    expect(stderr).toContain('Nothing was changed.');
    expect(fingerprint()).toEqual(before);
  });

  it.each(Object.keys(DAMAGES))(
    'is replaced by pharos store migrate, which says so, where it is %s',
    async (damage) => {
      await makeOf(LATEST);
      DAMAGES[damage]?.();
      const { status, stdout, stderr } = await runWarm(['store', 'migrate', '--json'], {
        cwd: folder.path,
        env: ENV,
      });
      expect([status, JSON.parse(stdout)]).toMatchObject([0, { after: LATEST, copy: null }]);
      expect(stderr).toContain('It was moved aside');
      const [aside = ''] = readdirSync(join(folder.path, 'data')).filter((name) => name.includes('.damaged-'));
      expect(aside).toMatch(/^pharos\.db\.damaged-\d+$/);
      expect([versionIn(file), rowsIn(file)]).toEqual([LATEST, []]);
    },
  );

  it('is not copied by pharos backup, and neither is any into a place where nothing can be written', async () => {
    await makeOf(LATEST);
    const nowhere = await run('backup nowhere/copy.db');
    expect([nowhere.status, nowhere.stderr]).toEqual([1, expect.stringMatching(/^Can’t write the copy: .+\n$/)]);
    DAMAGES['all of it']?.();
    const { status, stderr } = await run('backup copy.db');
    expect([status, stderr]).toEqual([1, expect.stringMatching(/^The database .* is damaged: .+\n$/)]);
    expect(readdirSync(folder.path)).not.toContain('copy.db');
  });
});

describe('with Postgres', () => {
  let server: PgliteServer;
  beforeAll(async () => {
    server = await startPostgres();
    ENV['DATABASE_URL'] = server.url;
  }, BEGIN_TIMEOUT_MS);
  afterAll(() => server.stop());

  /** Tables of a version and nothing in them; 0: none. */
  async function tablesOf(version: number): Promise<void> {
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    await client.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    for (const one of migrationsAfter(0).filter((migration) => migration.version <= version))
      await client.query(inPostgresTypes(one.sql()));
    if (version > 0) {
      await client.query('CREATE TABLE schema_version (version BIGINT NOT NULL)');
      await client.query('INSERT INTO schema_version (version) VALUES ($1)', [version]);
      await client.query("INSERT INTO first_seen (subject, at) VALUES ('page:acme', 7)");
    }
    await client.end();
  }

  it('an older version is refused, read as a copy, and upgraded after a copy', async () => {
    await tablesOf(OLDER);
    writeFileSync(join(folder.path, 'pharos.yaml'), `${CONFIG}store: { url: "\${DATABASE_URL}" }\n`);
    const schema = (): Promise<number> => readPostgres(server.url, async (_, version) => version);
    const refused = await run('sync');
    expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining('pharos store migrate')]);
    const read = await run('audit --json');
    expect([read.status, read.stderr]).toEqual([0, expect.stringContaining('Reading an upgraded copy')]);
    expect(await schema()).toBe(OLDER);
    expect((await run('store migrate')).status).toBe(0);
    expect(await schema()).toBe(LATEST);
    const copy = join(folder.path, 'data', `postgres.version-${OLDER}.db`);
    expect([versionIn(copy), rowsIn(copy), statSync(copy).mode & 0o777]).toEqual([OLDER, ROWS, 0o600]);
  });

  it('everything goes there and back, row by row', async () => {
    await tablesOf(0);
    const source = makeSqlite(file, LATEST);
    await source.close();
    inFile(file, (connection) => {
      connection.exec('BEGIN');
      fill(connection);
      connection.exec('COMMIT');
    });
    writeFileSync(join(folder.path, 'postgres.yaml'), `${CONFIG}store: { url: "\${DATABASE_URL}" }\n`);
    writeFileSync(join(folder.path, 'back.yaml'), `${CONFIG}data: ./back\n`);
    const there = await run('store copy --to postgres.yaml --json');
    expect([there.status, there.stderr]).toEqual([0, '']);
    const { tables } = JSON.parse(there.stdout) as { tables: readonly { table: string; rows: number }[] };
    expect(tables.map(({ table }) => table)).toEqual(COPIED.map(({ name }) => name));
    expect(tables.filter(({ rows }) => rows === 0)).toEqual([]);
    expect(tables.find(({ table }) => table === 'span')?.rows).toBe(5_003);
    const back = await run('store copy --config postgres.yaml --to back.yaml');
    expect(back.status).toBe(0);
    expect(back.stdout + back.stderr + there.stdout).not.toContain('secret-canary');
    expect(inFile(join(folder.path, 'back', 'pharos.db'), dump)).toEqual(inFile(file, dump));
    // A target with something in it is not touched.
    const before = fingerprint();
    const again = await run('store copy --config postgres.yaml --to pharos.yaml');
    expect([again.status, again.stderr]).toEqual([1, expect.stringContaining('copy into a new database')]);
    expect(fingerprint()).toEqual(before);
    expect((await run('store copy --to pharos.yaml')).stderr).toContain('same database');
  });

  it('a copy that breaks off leaves nothing behind', async () => {
    await tablesOf(0);
    await makeOf(LATEST);
    const { database } = openSqlite(file, 0);
    const target = openPostgres(server.url);
    const broken = {
      ...database,
      all: async (sql: string, params?: readonly SqlValue[]) => {
        if (sql.includes('FROM written ')) throw new Error('the disk is gone');
        return database.all(sql, params);
      },
    };
    await expect(copyTables(broken, target, LATEST)).rejects.toThrow('the disk is gone');
    expect(await target.all('SELECT COUNT(*) AS count FROM first_seen')).toEqual([{ count: 0 }]);
    // A source that lost rows on the way is found out by the counts.
    const lossy = {
      ...database,
      all: async (sql: string, params?: readonly SqlValue[]) =>
        sql.startsWith('SELECT subject, at') ? [] : database.all(sql, params),
    };
    await expect(copyTables(lossy, target, LATEST)).rejects.toThrow('first_seen has 1 rows, but 0 were copied');
    await Promise.all([database.close(), target.close()]);
  });
});

/** Rows in every table: texts that are awkward, instants, fractions, and nothing where nothing may stand. */
function fill(connection: DatabaseSync): void {
  for (const { name, columns, rowsAtFirst } of COPIED) {
    if (rowsAtFirst > 0) {
      connection.exec(`UPDATE ${name} SET ${columns[0]} = 41`);
      continue;
    }
    const types = connection.prepare('SELECT name, type, "notnull" AS needed, pk FROM pragma_table_info(?)').all(name);
    const statement = connection.prepare(
      `INSERT INTO ${name} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
    );
    const count = name === 'span' ? 5_003 : 3;
    for (let row = 0; row < count; row += 1)
      statement.run(
        ...types.map(({ type, needed, pk }, column) => {
          if (row % 3 === 1 && needed === 0 && pk === 0) return null;
          if (type === 'BLOB') return Buffer.from([0, 255, row]);
          if (type === 'TEXT') return `${['ä', 'a', '😀', "it's ?"][(row + column) % 4]} ${row} ${column}`;
          return type === 'REAL' ? row + 0.123_456_789 : 1_800_000_000_000 + ((row * 7) % 5_009);
        }),
      );
  }
}

function dump(connection: DatabaseSync): unknown {
  return COPIED.map(({ name, columns }) => {
    const list = columns.join(', ');
    return [name, connection.prepare(`SELECT ${list} FROM ${name} ORDER BY ${list}`).all()];
  });
}
