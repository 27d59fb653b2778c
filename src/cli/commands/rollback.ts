import { userInfo } from 'node:os';
import { now, sleep } from '../../app/compose.ts';
import { rollbackTo } from '../../publish/releases/rollback.ts';
import { EXIT_DONE } from '../terminal/exit.ts';
import { openQuietly, print, requireConfig } from './common.ts';

export interface RollbackOptions {
  readonly config?: string;
  readonly json?: boolean;
}

/** Serves an earlier release of a page, the one before or the one named, until the page is next published. */
export async function rollback(
  { slug, release }: { readonly slug: string; readonly release: number | null },
  options: RollbackOptions,
): Promise<number> {
  const config = requireConfig(options.config);
  await using pharos = await openQuietly(config);
  const { number, asOf } = await rollbackTo(
    { database: pharos.store.database, folders: pharos.folders, now, sleep },
    { slug, release },
  );
  pharos.audit.note({
    actor: `command:${userInfo().username}`,
    action: 'rollback',
    subject: slug,
    outcome: `release ${number}`,
  });
  const at = new Date(asOf).toISOString();
  print(
    options.json === true,
    { slug, release: number, asOf: at },
    `Release ${number} of ${slug}, as of ${at}, is served until the page changes, or for up to 15 minutes.`,
  );
  return EXIT_DONE;
}
