/** Uploads what is published here to the store of releases, as long as this node is elected for it. */

import { messageOf } from '../../errors.ts';
import type { EpochMs } from '../../model/time.ts';
import type { SiteState } from '../../publish/definitions/site-state.ts';
import { type ReleaseFolders, SITE_SLUG } from '../../publish/releases/folders.ts';
import { type Manifest, releasePage } from '../../publish/releases/manifest.ts';
import { digestOf, type ObjectStore } from '../../publish/stored/object-store.ts';
import { type SiteKey, sealEntries } from '../../publish/stored/sealed-entries.ts';
import { createUploader } from '../../publish/stored/upload.ts';
import type { Database } from '../../store/database.ts';
import { readSiteCopy, readTimes } from '../../store/nodes/site-copy.ts';
import { raiseReleaseNumbers } from '../../store/release-numbers.ts';
import type { Log } from '../log.ts';

export interface ReleaseUploads {
  /** Something was published. */
  readonly follow: () => void;
  /** This node uploads from now on. Another one did before. */
  readonly takeOver: () => void;
  readonly close: () => Promise<void>;
}

interface ReleaseUploadsDeps {
  readonly store: ObjectStore;
  readonly folders: ReleaseFolders;
  readonly database: Database;
  /** Key for the encrypted definitions, the same on all nodes; null: web nodes without the database aren't supported. */
  readonly key: SiteKey | null;
  readonly state: () => SiteState | null;
  readonly isElected: () => boolean;
  readonly mayUpload: () => Promise<boolean>;
  readonly now: () => EpochMs;
  readonly log: Log;
}

/** Long-term figures and images follow in releases that no run reports. */
const LOOK_EVERY_MS = 1_000;
/** Every write to a bucket costs. */
const TIMES_EVERY_MS = 15_000;

export function createReleaseUploads(deps: ReleaseUploadsDeps): ReleaseUploads {
  const { store, database, log } = deps;
  let copied: { readonly of: readonly unknown[]; readonly digest: string; readonly text: string } | null = null;
  const uploader = createUploader({
    ...deps,
    isShown: (release) => isShown(deps.state(), release),
    times: () => readTimes(database),
    onNumbers: (numbers) => raiseReleaseNumbers(database, numbers),
    site: async () => {
      const { key } = deps;
      const state = deps.state();
      if (key === null || state === null) return null;
      const of = [state.resolved, state.announcements];
      if (copied === null || copied.of.some((one, index) => one !== of[index])) {
        const text = JSON.stringify(await readSiteCopy(database));
        copied = { of, text, digest: digestOf(Buffer.from(text)) };
      }
      const { digest, text } = copied;
      return { digest, sealed: () => Buffer.from(sealEntries(text, key)) };
    },
  });
  let told: string | null = null;
  let working: Promise<void> | null = null;
  let isAsked = false;
  let isClosed = false;
  let timesAt = Number.NEGATIVE_INFINITY;

  async function upload(): Promise<void> {
    const withTimes = performance.now() - timesAt >= TIMES_EVERY_MS;
    try {
      const { releases, objects, bytes, isIndexWritten } = await uploader.update(withTimes);
      if (withTimes) timesAt = performance.now();
      if (isIndexWritten) await database.transaction((tx) => tx.announce());
      if (releases > 0) log.info({ place: store.place, releases, objects, bytes }, 'releases uploaded');
      told = null;
    } catch (error) {
      // Logged once, not every second.
      if (messageOf(error) !== told && !isClosed) log.error(messageOf(error));
      told = messageOf(error);
    }
  }

  async function work(): Promise<void> {
    while (isAsked && !isClosed && deps.isElected()) {
      isAsked = false;
      await upload();
    }
  }

  function follow(): void {
    isAsked = true;
    // If another node was elected, this is over at once.
    working ??= work().finally(() => {
      working = null;
    });
  }

  const timer = setInterval(follow, LOOK_EVERY_MS);
  timer.unref();
  return {
    follow,
    takeOver: () => {
      uploader.forget();
      follow();
    },
    close: async () => {
      isClosed = true;
      clearInterval(timer);
      await store.close();
      await working;
    },
  };
}

/** Null: the access rule isn't known yet. */
function isShown(state: SiteState | null, release: Pick<Manifest, 'slug' | 'access' | 'page'>): boolean | null {
  if (state === null) return null;
  const { pages, withheld, isDecided } = state.resolved;
  const { slug, access } = release;
  if (slug === SITE_SLUG) return true;
  const page = pages.find(({ definition }) => definition.slug === slug);
  if (page !== undefined) return page.definition.access === access && page.identity.key === releasePage(release);
  return isDecided || withheld.includes(slug) ? false : null;
}
