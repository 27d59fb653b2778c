/**
 * A record of what was published, for the next process: it can skip pages that haven't changed since. The record may be old or
 * missing, because it only saves work. It is valid for one version of the program and one store, and for a page as long as the
 * recorded release is served.
 */

import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { PageKey } from '../model/slugs.ts';
import { STATES } from '../model/state.ts';
import type { EpochMs } from '../model/time.ts';
import type { Store } from '../store/create-store.ts';
import type { ResolvedPage } from './definitions/definitions.ts';
import type { SiteState } from './definitions/site-state.ts';
import { fingerprintOf } from './fingerprint.ts';
import { currentNumber, type Place, type ReleaseFolders } from './releases/folders.ts';
import { heldRelease } from './releases/switch.ts';

const instant = z.number().transform((at) => at as EpochMs);
const NoteSchema = z.object({
  format: z.literal(1),
  /** Version of the code that renders pages. */
  version: z.string(),
  /** Identifies the store. */
  store: z.number().nullable(),
  /** Revision of the store. Everything that changed up to it is in the releases. */
  revision: z.number(),
  pages: z.record(
    z.string(),
    z.object({
      page: z.string().transform((page) => page as PageKey),
      release: z.number(),
      /** Digest of what the page is made from, except the store. */
      key: z.string(),
      dueAt: z.number(),
      summary: z.object({ state: z.enum(STATES), since: instant.nullable(), asOf: instant }),
    }),
  ),
});
type PublishedNote = z.output<typeof NoteSchema>;

/** Reads the record of the last process; null: there is none that can be read. */
function readPublishedNote({ published }: ReleaseFolders): PublishedNote | null {
  try {
    return NoteSchema.parse(JSON.parse(readFileSync(published, 'utf8')));
  } catch {
    return null;
  }
}

/**
 * Returns the revision of the store up to which the record is valid; null: there is no record, it belongs to another store, or
 * the store was restored from an older backup.
 */
export async function notedRevision(store: Store, folders: ReleaseFolders): Promise<number | null> {
  const note = readPublishedNote(folders);
  if (note === null || note.store !== (await store.firstPublishedAt())) return null;
  const { revision } = await store.changesSince(note.revision);
  return revision < note.revision ? null : note.revision;
}

/**
 * Returns the pages that match the record.
 * @param since as `notedRevision` returned it
 */
export function notedPages(folders: ReleaseFolders, state: SiteState, { version, since }: Noting) {
  const note = since === null ? null : readPublishedNote(folders);
  if (note === null || note.version !== version || note.revision !== since) return new Map();
  const keyOf = noteKeys(state);
  return new Map(
    state.resolved.pages.flatMap((page) => {
      const { slug } = page.definition;
      const noted = Object.hasOwn(note.pages, slug) ? note.pages[slug] : undefined;
      const isAsNoted =
        noted !== undefined &&
        noted.page === page.identity.key &&
        noted.key === keyOf(page) &&
        noted.release === currentNumber(folders, slug) &&
        heldRelease(folders, slug) === null;
      return isAsNoted ? [[slug, noted] as const] : [];
    }),
  );
}

/** What a record must match. */
export interface Noting {
  /** Version of the code that renders pages. */
  readonly version: string;
  /** What `notedRevision` returned when the process started. */
  readonly since: number | null;
}

/** Replaces the record. */
export async function writePublishedNote({ disk, folders }: Place, note: PublishedNote): Promise<void> {
  const next = `${folders.published}.next`;
  disk.remove(next);
  const batch = disk.batch();
  batch.write(next, Buffer.from(JSON.stringify(note)));
  await batch.flush();
  disk.rename(next, folders.published);
}

/** Returns a digest of everything that a page is made from, except its monitors, incidents and maintenances. */
export function noteKeys({ site, sources, announcements }: SiteState): (page: ResolvedPage) => string {
  const all = fingerprintOf([
    site,
    announcements,
    sources.map(({ upstreamId, intervalMs, isMonitorsStale, isIncidentsStale }) => [
      ...[upstreamId, intervalMs, isMonitorsStale, isIncidentsStale],
    ]),
  ]);
  return ({ identity, definition, settings, isTold, config, icon, logo }) =>
    fingerprintOf([all, identity, definition, settings, isTold, config, icon, logo]);
}
