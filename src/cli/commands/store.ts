import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { now } from '../../app/clock.ts';
import { createLog } from '../../app/log.ts';
import { openStore, readStore, type StorePlace, schemaAt, storePlace } from '../../app/open-store.ts';
import { isStatusError } from '../../errors.ts';
import { DAY_MS, toEpochMs, toIso } from '../../model/time.ts';
import { createAudit } from '../../store/audit.ts';
import { copyTables } from '../../store/copy.ts';
import { latestVersion, outdated } from '../../store/migrations.ts';
import { copySqlite } from '../../store/sqlite/sqlite.ts';
import { type Options, openToRead, print, requireConfig } from '../common.ts';
import { EXIT_DONE, UsageError } from '../terminal/exit.ts';
import { createProgress } from '../terminal/progress.ts';
import { table } from '../terminal/table.ts';

/** Upgrades the database after making a copy, like `pharos start`. */
export async function storeMigrate(options: Options): Promise<number> {
  const config = requireConfig(options.config);
  const place = storePlace(config);
  const before = await versionBefore(place);
  let copy: string | null = null;
  using progress = createProgress(options.json ?? false);
  progress.doing('upgrading the database');
  const database = await openStore(place, {
    log: createLog({ isQuiet: true, secrets: config.secrets }),
    now: now(),
    isLasting: false,
    onOlder: 'migrate',
    folder: config.data,
    onCopy: (path) => {
      copy = path;
    },
  });
  await database.close();
  progress.end();
  const after = latestVersion();
  const done =
    before === 0
      ? `Created a new database with version ${after}.`
      : `Upgraded the database from version ${before} to ${after}.`;
  const kept = copy === null ? '' : `\nCopy from before the upgrade: ${copy}`;
  const text = before === after ? `The database already has version ${after}.` : done + kept;
  return print(options, { before, after, copy }, text);
}

/** Replaces a damaged database like `pharos start`, because unattended builds run this first. */
async function versionBefore(place: StorePlace): Promise<number> {
  try {
    return await schemaAt(place);
  } catch (error) {
    if (isStatusError(error) && error.code === 'STORE_CORRUPT') return 0;
    throw error;
  }
}

/** Copies all data into the database of another configuration, `to`, and compares the counts. */
export async function storeCopy(options: Options & { readonly to: string }): Promise<number> {
  const from = requireConfig(options.config);
  const to = requireConfig(options.to);
  const [source, target] = [storePlace(from), storePlace(to)];
  if (describePlace(source) === describePlace(target))
    throw new UsageError(`Both configurations name the same database, ${placeName(source)}. Nothing was copied.`);
  const schema = await schemaAt(source);
  if (schema === 0) throw new UsageError(`There is no database at ${placeName(source)} yet.`);
  if (schema < latestVersion()) throw outdated(schema);
  const database = await openStore(target, {
    log: createLog({ isQuiet: true, secrets: new Set([...from.secrets, ...to.secrets]) }),
    now: now(),
    isLasting: false,
    onOlder: 'refuse',
    folder: to.data,
  });
  using progress = createProgress(options.json ?? false);
  try {
    const copied = await readStore(source, (tables, version) =>
      copyTables(tables, database, version, (done, count) => progress.doing(`copied ${done} of ${count} tables`)),
    );
    progress.end();
    const total = copied.reduce((sum, { rows }) => sum + rows, 0);
    const lines = table(
      ['table', 'rows'],
      copied.filter(({ rows }) => rows > 0).map((row) => [row.table, String(row.rows)]),
    );
    const sentence = `${total} rows copied from ${placeName(source)} to ${placeName(target)}; the counts match. Next: start Pharos with ${options.to}.`;
    return print(options, { rows: total, tables: copied }, `${lines}\n\n${sentence}`);
  } finally {
    await database.close();
  }
}

function describePlace(place: StorePlace): string {
  return 'file' in place ? resolve(place.file) : place.url;
}

/** The place in words, without passwords. */
function placeName(place: StorePlace): string {
  if ('file' in place) return place.file;
  const { host, pathname } = new URL(place.url);
  return `Postgres at ${host}${pathname}`;
}

/** Writes a consistent copy of the database, also while the server runs. */
export async function backup(file: string, options: Options): Promise<number> {
  const config = requireConfig(options.config);
  if (config.store !== undefined) {
    throw new UsageError(
      'The database is on a Postgres server: copy it with pg_dump --format=custom --file=FILE "$DATABASE_URL" (docs/postgres.md).',
    );
  }
  const target = resolve(file);
  if (existsSync(target))
    throw new UsageError(`${target} already exists. Choose another file; backups never overwrite one.`);
  const source = join(config.data, 'pharos.db');
  if (!existsSync(source))
    throw new UsageError(
      `There is no database at ${source} yet. It is created by the first \`pharos start\`, sync or build.`,
    );
  using progress = createProgress(false);
  await copySqlite(source, target, (done, total) =>
    progress.doing(`copied ${Math.floor((100 * done) / Math.max(1, total))}%`),
  );
  progress.end();
  process.stdout.write(`${target}\n`);
  return EXIT_DONE;
}

/** Prints who triggered what, when, from where and with which result; sign-ins as totals. */
export async function audit(options: Options & { limit: number; days: number }): Promise<number> {
  const config = requireConfig(options.config);
  await using pharos = await openToRead(config);
  const kept = createAudit(pharos.store.database);
  const entries = await kept.entries(options.limit);
  const signIns = await kept.signIns(toEpochMs(now() - (options.days - 1) * DAY_MS));
  const rows = entries.map(({ at, actor, action, subject, client, outcome }) => [
    toIso(at),
    actor,
    subject === null ? action : `${action} ${subject}`,
    client ?? 'this machine',
    outcome ?? 'in progress',
  ]);
  const counts = signIns.map(({ day, page, result, count }) => [day, page || '(no such page)', result, String(count)]);
  const text = [
    rows.length === 0 ? 'No entries yet.' : table(['when', 'who', 'what', 'from', 'result'], rows),
    ...(counts.length === 0 ? [] : ['', table(['day', 'page', 'sign-ins', 'count'], counts)]),
  ].join('\n');
  return print(options, { entries: entries.map((entry) => ({ ...entry, at: toIso(entry.at) })), signIns }, text);
}
