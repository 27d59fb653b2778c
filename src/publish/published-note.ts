/**
 * What was published, noted for the next process: it need not look at pages that nothing happened to since. The note may be
 * old or gone; it only ever saves work. It holds for one state of the program and of the store, and of a page as long as
 * the release that it names is being served.
 */

import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { STATES } from '../model/state.ts';
import type { EpochMs } from '../model/time.ts';
import type { Store } from '../store/store.ts';
import type { ResolvedPage } from './definitions/definitions.ts';
import type { SiteState } from './definitions/site-state.ts';
import { fingerprintOf } from './fingerprint.ts';
import type { Disk } from './releases/disk.ts';
import { currentNumber, type ReleaseFolders } from './releases/folders.ts';
import { heldRelease } from './releases/hold.ts';

const instant = z.number().transform((at) => at as EpochMs);
const NoteSchema = z.object({
  format: z.literal(1),
  /** Of the program, as far as it makes pages. */
  version: z.string(),
  /** Tells the store from another one. */
  store: z.number().nullable(),
  /** Of the store: whatever changed up to it is in the releases. */
  revision: z.number(),
  pages: z.record(
    z.string(),
    z.object({
      release: z.number(),
      /** Digest of what the page is made from besides the store. */
      key: z.string(),
      dueAt: z.number(),
      summary: z.object({ state: z.enum(STATES), since: instant.nullable(), asOf: instant }),
    }),
  ),
});
export type PublishedNote = z.output<typeof NoteSchema>;
export type NotedPage = PublishedNote['pages'][string];

/** The note of the process before; null: there is none that can be read. */
function readPublishedNote({ published }: ReleaseFolders): PublishedNote | null {
  try {
    return NoteSchema.parse(JSON.parse(readFileSync(published, 'utf8')));
  } catch {
    return null;
  }
}

/** The revision of the store up to which the note holds; null: there is none, or it is of another store or of one put back. */
export async function notedRevision(store: Store, folders: ReleaseFolders): Promise<number | null> {
  const note = readPublishedNote(folders);
  if (note === null || note.store !== (await store.firstPublishedAt())) return null;
  const { revision } = await store.changesSince(note.revision);
  return revision < note.revision ? null : note.revision;
}

/** Pages that are as the note says. @param since  as `notedRevision` gave it */
export function notedPages(
  folders: ReleaseFolders,
  state: SiteState,
  { version, since }: Noting,
): ReadonlyMap<string, NotedPage> {
  const note = since === null ? null : readPublishedNote(folders);
  if (note === null || note.version !== version || note.revision !== since) return new Map();
  const keyOf = noteKeys(state);
  return new Map(
    state.resolved.pages.flatMap((page) => {
      const { slug } = page.definition;
      const noted = Object.hasOwn(note.pages, slug) ? note.pages[slug] : undefined;
      const isAsNoted =
        noted !== undefined &&
        noted.key === keyOf(page) &&
        noted.release === currentNumber(folders, slug) &&
        heldRelease(folders, slug) === null;
      return isAsNoted ? [[slug, noted] as const] : [];
    }),
  );
}

/** What a note is of. */
export interface Noting {
  /** Of the program, as far as it makes pages. */
  readonly version: string;
  /** What `notedRevision` said when the process began. */
  readonly since: number | null;
}

/** Replaces the note. */
export async function writePublishedNote(
  { disk, folders }: { readonly disk: Disk; readonly folders: ReleaseFolders },
  note: PublishedNote,
): Promise<void> {
  const next = `${folders.published}.next`;
  disk.remove(next);
  const batch = disk.batch();
  batch.write(next, Buffer.from(JSON.stringify(note)));
  await batch.flush();
  disk.rename(next, folders.published);
}

/**
 * What pages are made from besides their monitors, incidents and maintenances, as a digest by page: as long as it stays,
 * only these change it.
 */
export function noteKeys({ site, sources, announcements }: SiteState): (page: ResolvedPage) => string {
  const all = fingerprintOf([
    site,
    announcements,
    sources.map(({ upstreamId, intervalMs, isMonitorsStale, isIncidentsStale }) => [
      ...[upstreamId, intervalMs, isMonitorsStale, isIncidentsStale],
    ]),
  ]);
  return ({ definition, settings, isTold, config, icon, logo }) =>
    fingerprintOf([all, definition, settings, isTold, config, icon, logo]);
}
