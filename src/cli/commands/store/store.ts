import { resolve } from 'node:path';
import { now } from '../../../app/clock.ts';
import { createLog } from '../../../app/log.ts';
import { openStore, readStore, type StorePlace, schemaAt, storePlace } from '../../../app/open-store.ts';
import type { Config } from '../../../config/load.ts';
import { isStatusError } from '../../../errors.ts';
import { copyTables } from '../../../store/copy.ts';
import { latestVersion, outdated } from '../../../store/migrations.ts';
import { EXIT_DONE, UsageError } from '../../terminal/exit.ts';
import { createProgress } from '../../terminal/progress.ts';
import { table } from '../../terminal/table.ts';
import { loadConfig, print, requireConfig } from '../common.ts';

export interface StoreOptions {
  readonly config?: string;
  readonly json?: boolean;
}

/** Brings the database to the version of this Pharos, after a copy, as `pharos start` does it. */
export async function storeMigrate(options: StoreOptions): Promise<number> {
  const config = requireConfig(options.config);
  const place = storePlace(config);
  const before = await versionBefore(place);
  let copy: string | null = null;
  const progress = createProgress(options.json ?? false);
  progress.doing('upgrading the database');
  try {
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
  } finally {
    progress.end();
  }
  const after = latestVersion();
  const text =
    before === after
      ? `The database already has version ${after}.`
      : [
          before === 0
            ? `Created a new database with version ${after}.`
            : `Upgraded the database from version ${before} to ${after}.`,
          ...(copy === null ? [] : [`Copy from before the upgrade: ${copy}`]),
        ].join('\n');
  print(options.json === true, { before, after, copy }, text);
  return EXIT_DONE;
}

/** A damaged database is replaced, as by `pharos start`: whoever builds without being watched runs this first. */
async function versionBefore(place: StorePlace): Promise<number> {
  try {
    return await schemaAt(place);
  } catch (error) {
    if (isStatusError(error) && error.code === 'STORE_CORRUPT') return 0;
    throw error;
  }
}

export interface StoreCopyOptions extends StoreOptions {
  /** The configuration with the database to copy into. */
  readonly to: string;
}

/** Copies everything that is remembered into the database that another configuration names, and counts it. */
export async function storeCopy(options: StoreCopyOptions): Promise<number> {
  const from = requireConfig(options.config);
  const to = targetConfig(options.to);
  const [source, target] = [storePlace(from), storePlace(to)];
  if (nameOf(source) === nameOf(target))
    throw new UsageError(`Both configurations name the same database, ${spoken(source)}. Nothing was copied.`);
  const schema = await schemaAt(source);
  if (schema === 0) throw new UsageError(`There is no database at ${spoken(source)} yet.`);
  if (schema < latestVersion()) throw outdated(schema);
  const database = await openStore(target, {
    log: createLog({ isQuiet: true, secrets: new Set([...from.secrets, ...to.secrets]) }),
    now: now(),
    isLasting: false,
    onOlder: 'refuse',
    folder: to.data,
  });
  const progress = createProgress(options.json ?? false);
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
    const sentence = `${total} rows copied from ${spoken(source)} to ${spoken(target)}; the counts match. Next: start Pharos with ${options.to}.`;
    print(options.json === true, { rows: total, tables: copied }, `${lines}\n\n${sentence}`);
    return EXIT_DONE;
  } finally {
    progress.end();
    await database.close();
  }
}

function targetConfig(file: string): Config {
  const config = loadConfig(file);
  if (config === null) throw new UsageError(`Found no configuration at ${resolve(file)}.`);
  return config;
}

function nameOf(place: StorePlace): string {
  return 'file' in place ? resolve(place.file) : place.url;
}

/** Without the password of a server. */
function spoken(place: StorePlace): string {
  if ('file' in place) return place.file;
  const { host, pathname } = new URL(place.url);
  return `Postgres at ${host}${pathname}`;
}
