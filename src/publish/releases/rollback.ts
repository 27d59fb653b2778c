/** Serves the files of an earlier release of a page again, as a new release, until the page is published anew: with its next news or heartbeat. */

import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { StatusError } from '../../errors.ts';
import { nextReleaseNumber } from '../../store/identities.ts';
import { type PageLog, readLines } from '../../transparency/page-log.ts';
import { DISK, type Disk } from './disk.ts';
import { filesFolder, type ReleaseFolders, releaseFolder, releaseNumbers, servedRelease } from './folders.ts';
import { withLogFiles } from './log-files.ts';
import { filePlaces, type Manifest, readManifest, releasePage } from './manifest.ts';
import { setModes } from './modes.ts';
import { hold, letGo, type PublishLeaseDeps, switchTo, withPublishLease } from './switch.ts';
import { writeRelease } from './write.ts';

interface RollbackDeps extends PublishLeaseDeps {
  readonly disk?: Disk;
  readonly log: PageLog;
}

/**
 * Switches to a release that is still on disk, after checking every file of it. It must have been made for the page's current
 * access rules.
 *
 * @param release  number of the release to serve; null: the newest suitable one before the served release
 * @param isHeld  true: hold the page on it, whatever news there is. Default: false, which ends a hold
 * @returns the manifest of the new release; `restores` is the number of the earlier one
 * @throws NOT_FOUND when there is no such page or release, or none that can be served; PUBLISH_FAILED when the switch fails.
 * The release that was served stays online
 */
export async function rollbackTo(
  deps: RollbackDeps,
  { slug, release, isHeld = false }: { slug: string; release: number | null; isHeld?: boolean },
): Promise<Manifest> {
  const { folders, disk = DISK } = deps;
  return withPublishLease(deps, async (fence) => {
    const served = servedRelease(folders, slug);
    if (served === null) throw notFound(slug, 'it has not been published');
    const numbers = releaseNumbers(folders, slug);
    const current = readManifest(folders, slug, served.number);
    const isLike = (found: Manifest): boolean =>
      current === null || (releasePage(found) === releasePage(current) && found.access === current.access);
    // A release without its figures and images has the same news, so it isn't an earlier state.
    const completed = current?.completes ?? null;
    const wanted =
      release === null
        ? numbers.filter((number) => number < (current?.restores ?? served.number) && number !== completed).toReversed()
        : numbers.filter((number) => number === release);
    const manifest = wanted
      .map((number) => readManifest(folders, slug, number))
      .filter((found) => found !== null)
      // A private page never shows a release that was made as public, and the other way round.
      .find((one) => (one.access === 'public') === served.isPublic && isLike(one) && isWhole(folders, one));
    if (manifest === undefined)
      throw notFound(
        slug,
        release === null
          ? 'no earlier release can be served'
          : `release ${release} was deleted, is damaged, or was made for different access rules or another page`,
      );
    // If the page became private or public in between, shared files may have the modes of the other side.
    setModes({ disk, folders }, manifest);
    const restored = await serveAgain({ ...deps, disk }, manifest, current);
    const { number } = restored;
    await fence.pass(() => switchTo({ disk, folders }, { slug, number, isPublic: served.isPublic }));
    if (isHeld) await hold({ disk, folders }, slug, number);
    else letGo({ disk, folders }, slug);
    return restored;
  });
}

/**
 * Writes the files of an earlier release as a new one, whose log goes on from the release being served: the log of a page never
 * gets shorter.
 */
async function serveAgain(
  { database, folders, disk, log, now }: RollbackDeps & { readonly disk: Disk },
  manifest: Manifest,
  current: Manifest | null,
): Promise<Manifest> {
  const { slug, number, files, eventKey } = manifest;
  const place = current === null ? null : filePlaces(folders, current);
  const page = releasePage(manifest);
  const kept = Object.keys(files).map((path) => ({ path, drawn: null }));
  const release = { page, origin: slug, revision: 0, at: now(), event: eventKey, isRollback: true };
  const all = await withLogFiles(
    {
      commitRelease: log.commitRelease,
      readLines: (of, range) => readLines(database, of, range),
      readBefore: (path) => readFileSync(place?.(path) ?? '', 'utf8'),
    },
    { files: kept, previous: manifest, release },
  );
  const data = readFileSync(join(releaseFolder(folders, slug, number), 'data.json'), 'utf8');
  const own = { page, customDomain: (current ?? manifest).customDomain };
  const nextNumber = (of: string, above: number): Promise<number> => nextReleaseNumber(database, of, above);
  return writeRelease(
    { disk, folders, nextNumber },
    { ...manifest, ...own, files: all, data: () => data, completes: null, restores: manifest.restores ?? number },
    manifest,
  );
}

function isWhole(folders: ReleaseFolders, { slug, number, files }: Manifest): boolean {
  const root = filesFolder(folders, slug, number);
  return Object.entries(files).every(([path, record]) => {
    try {
      return hash('sha256', readFileSync(join(root, path))) === record.sha256;
    } catch {
      return false;
    }
  });
}

function notFound(slug: string, reason: string): StatusError {
  return new StatusError({
    code: 'NOT_FOUND',
    message: `The page ${slug} can’t be rolled back: ${reason}. It stays on its current release.`,
    context: { slug },
  });
}
