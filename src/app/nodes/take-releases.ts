/** Keeps a web node current with the releases that other nodes upload. */

import { isStatusError, messageOf, StatusError } from '../../errors.ts';
import type { NextRelease } from '../../publish/publish-control.ts';
import type { ReleaseFolders } from '../../publish/releases/folders.ts';
import type { ObjectStore } from '../../publish/stored/object-store.ts';
import type { ReleaseIndex } from '../../publish/stored/release-index.ts';
import { openEntries, type SiteKey } from '../../publish/stored/sealed-entries.ts';
import { createTaker, type Taker } from '../../publish/stored/take.ts';
import type { Database } from '../../store/database.ts';
import { parseSiteCopy, writeSiteCopy, writeTimes } from '../../store/nodes/site-copy.ts';
import type { Log } from '../log.ts';

interface TakingDeps {
  readonly store: ObjectStore;
  readonly folders: ReleaseFolders;
  readonly database: Database;
  /** Key of the encrypted definitions in the bucket; null: the node reads them from the database. */
  readonly copyKey: SiteKey | null;
  /** Reads access rules. */
  readonly refreshPages: () => Promise<unknown>;
  /** By the access rules that were read last. */
  readonly mayServe: (release: NextRelease) => boolean;
  readonly log: Log;
}

interface Taking {
  readonly ensure: Taker['ensure'];
  /** Takes what there is by now. */
  readonly refresh: Taker['refresh'];
  /** Whether there are releases to serve, from the store or from before. */
  readonly hasReleases: Taker['hasReleases'];
  /** Takes releases, now and from now on. Resolves after the first try, whether or not the store can be reached. */
  readonly open: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Without announcements: one small request a second. */
const LOOK_EVERY_MS = 1_000;

export function createTaking(deps: TakingDeps): Taking {
  const { database, log, copyKey } = deps;
  const told = new Set<string>();
  let isClosed = false;
  const tell = (error: unknown): void => {
    const message = messageOf(error);
    if (isClosed || told.has(message)) return;
    told.add(message);
    log.error(isStatusError(error) ? message : `Can’t fetch a release: ${message}. Pharos tries again.`);
  };
  const taker = createTaker({
    ...deps,
    mayServe: async (release) => deps.mayServe(release),
    onIndex: async (index, sealed) => {
      if (copyKey === null) return;
      await adoptCopy(database, { index, sealed, key: copyKey });
      await deps.refreshPages();
    },
    onError: tell,
  });
  let timer: NodeJS.Timeout | null = null;
  let isLooking = false;
  let isAnnounced = false;
  let unlisten: () => Promise<void> = async () => undefined;

  async function look(): Promise<void> {
    isLooking = true;
    isAnnounced = false;
    if (timer !== null) clearTimeout(timer);
    try {
      await deps.refreshPages();
      const releases = await taker.refresh();
      if (releases > 0) log.info({ place: deps.store.place, releases }, 'releases fetched');
      told.clear();
    } catch (error) {
      tell(error);
    }
    isLooking = false;
    if (isClosed) return;
    timer = setTimeout(() => void look(), isAnnounced ? 0 : LOOK_EVERY_MS);
    timer.unref();
  }

  return {
    ensure: taker.ensure,
    refresh: taker.refresh,
    hasReleases: taker.hasReleases,
    open: async () => {
      await look();
      unlisten = database.listen(() => {
        isAnnounced = true;
        if (!isLooking && !isClosed) void look();
      });
    },
    close: async () => {
      isClosed = true;
      if (timer !== null) clearTimeout(timer);
      await unlisten();
      await taker.close();
    },
  };
}

/** Writes the definitions from the bucket into the node's own database. */
async function adoptCopy(
  database: Database,
  { index, sealed, key }: { readonly index: ReleaseIndex; readonly sealed: Buffer | null; readonly key: SiteKey },
): Promise<void> {
  if (index.site === null)
    throw new StatusError({
      code: 'TARGET_REFUSED',
      message:
        'The uploaded releases don’t say which pages there are and who may see them. On the nodes that upload, set access.key to the same value as here.',
    });
  if (sealed !== null) {
    const text = openEntries(sealed.toString('utf8'), key);
    const copy = text === null ? null : parseSiteCopy(text);
    if (copy === null)
      throw new StatusError({
        code: 'TARGET_REFUSED',
        message:
          'The list of pages and access rules in the uploaded releases is encrypted with another key, so new releases are ignored. Set access.key to the same value on all nodes.',
      });
    await writeSiteCopy(database, copy);
  }
  await writeTimes(database, index.times);
}
