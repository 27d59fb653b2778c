/** The numbered SQL files that bring a database of either kind to the latest version. Forward only. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { StatusError } from '../errors.ts';

const FOLDER = join(import.meta.dirname, 'migrations');

/**
 * What to do with a database of an older version. `migrate`: copy and upgrade it. `refuse`: leave it alone and fail
 * with the remedy.
 */
export type OnOlder = 'migrate' | 'refuse';

/** The schema version that this Pharos works with. */
export function latestVersion(): number {
  return migrationNames().length;
}

/** The error for an older database that must not be changed; its context has `schema`. */
export function outdated(current: number): StatusError {
  return new StatusError({
    code: 'STORE_UNAVAILABLE',
    message: `The database has schema version ${current}; this Pharos needs version ${latestVersion()}. Nothing was changed. Run "pharos store migrate", or start the server: both make a copy first.`,
    context: { schema: current },
  });
}

/**
 * The migrations that a database of version `current` still needs, in order.
 *
 * @throws STORE_UNAVAILABLE if a newer Pharos made it; its context has `schema`
 */
export function migrationsAfter(current: number) {
  const names = migrationNames();
  if (current > names.length) {
    throw new StatusError({
      code: 'STORE_UNAVAILABLE',
      message: `The database has schema version ${current}, created by a newer Pharos; this one supports ${names.length}. Run the newer one, or restore a backup from before the upgrade.`,
      context: { schema: current },
    });
  }
  return names
    .map((name) => ({
      version: Number.parseInt(name, 10),
      /** Loaded when it is applied. */
      sql: () => readFileSync(join(FOLDER, name), 'utf8'),
    }))
    .filter(({ version }) => version > current);
}

function migrationNames(): readonly string[] {
  return readdirSync(FOLDER)
    .filter((entry) => entry.endsWith('.sql'))
    .sort();
}
