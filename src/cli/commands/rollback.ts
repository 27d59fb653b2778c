import { userInfo } from 'node:os';
import { now, sleep } from '../../app/clock.ts';
import { sitePageLog } from '../../app/transparency/log-keys.ts';
import { StatusError } from '../../errors.ts';
import { letGo } from '../../publish/releases/clean.ts';
import { DISK } from '../../publish/releases/disk.ts';
import { publishedSlugs, SITE_SLUG } from '../../publish/releases/folders.ts';
import { rollbackTo } from '../../publish/releases/rollback.ts';
import { EXIT_DONE } from '../terminal/exit.ts';
import { openQuietly, print, requireConfig, slugsOf, unknownName } from './common.ts';

export interface RollbackOptions {
  readonly config?: string;
  readonly json?: boolean;
  readonly hold?: boolean;
  readonly release?: boolean;
}

/** Serves an earlier release of a page, the one before or the one named, until the page is next published, or lets a held page go. */
export async function rollback(
  { slug, release }: { readonly slug: string; readonly release: number | null },
  options: RollbackOptions,
): Promise<number> {
  const config = requireConfig(options.config);
  await using pharos = await openQuietly(config);
  const slugs = [...slugsOf(await pharos.readSite(now())), ...publishedSlugs(pharos.folders)];
  if (!slugs.includes(slug))
    throw unknownName(
      'page',
      slug,
      [...new Set(slugs)].filter((name) => name !== SITE_SLUG),
    );
  const isHeld = options.hold ?? false;
  const note = (action: string, outcome: string): void =>
    pharos.audit.note({ actor: `command:${userInfo().username}`, action, subject: slug, outcome });
  if (options.release ?? false) {
    const wasHeld = letGo({ disk: DISK, folders: pharos.folders }, slug);
    if (!wasHeld)
      throw new StatusError({ code: 'NOT_FOUND', message: `The page ${slug} is not on hold.`, context: { slug } });
    note('release hold', 'published again as usual');
    print(
      options.json === true,
      { slug, held: false },
      `${slug} will be published with its next change. To publish it now, run pharos rebuild --page ${slug}.`,
    );
    return EXIT_DONE;
  }
  const {
    number,
    restores = number,
    asOf,
  } = await rollbackTo(
    { database: pharos.store.database, folders: pharos.folders, log: sitePageLog(pharos), now, sleep },
    { slug, release, isHeld },
  );
  note('rollback', `release ${restores}${isHeld ? ', held' : ''}`);
  const at = new Date(asOf).toISOString();
  print(
    options.json === true,
    { slug, release: restores, asOf: at, held: isHeld },
    `Release ${restores} of ${slug}, as of ${at}, is served until ${isHeld ? `you end the hold: pharos rollback ${slug} --release` : 'the page changes, or for up to 15 minutes'}.`,
  );
  return EXIT_DONE;
}
