import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { copySqlite } from '../../../store/sqlite/sqlite.ts';
import { EXIT_DONE, UsageError } from '../../terminal/exit.ts';
import { createProgress } from '../../terminal/progress.ts';
import { requireConfig } from '../common.ts';

export interface BackupOptions {
  readonly config?: string;
}

/** A consistent copy of the database, also while the server runs. */
export async function backup(file: string, options: BackupOptions): Promise<number> {
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
  const progress = createProgress(false);
  try {
    await copySqlite(source, target, (done, total) =>
      progress.doing(`copied ${Math.floor((100 * done) / Math.max(1, total))}%`),
    );
  } finally {
    progress.end();
  }
  process.stdout.write(`${target}\n`);
  return EXIT_DONE;
}
