/** Of all files of a release, draws those that are not what they were. */

import { type Drawn, type FileEntry, type PageRenderer, PRIORITIES, type Priority } from '../files/file-entry.ts';
import { fingerprintOf } from '../fingerprint.ts';
import type { Manifest } from '../releases/manifest.ts';
import type { ReleaseFile } from '../releases/write.ts';
import { compressFast, compressNow, type Variant } from './compress.ts';

/** Draws HTML; two of one version draw the same bytes. */
export type VersionedRenderer = PageRenderer & { readonly version: string };

export interface DrawOptions {
  readonly renderer: VersionedRenderer;
  /** Which files are drawn, highest first; the others stay as they were. */
  readonly priorities: readonly Priority[];
  /** True: all cores have work, so nothing is handed to another thread. */
  readonly isBulk: boolean;
}

export interface DrawnFiles {
  readonly files: readonly ReleaseFile[];
  readonly filesDrawn: number;
  /** Whether files were left as they were, or left out. */
  readonly hasWaiting: boolean;
}

/** More than a change draws: a page is published as a whole, and its files are compressed more quickly. */
const CHANGED_FILES_MAX = 32;
/** What visitors see first stays within the first packets, however much there is to do. */
const FIRST_VIEW = 'status-page';

/** Keys are compared first, so that a view that did not change is neither drawn nor compressed nor written. */
export async function drawFiles(
  entries: readonly FileEntry[],
  previous: Manifest | null,
  options: DrawOptions,
): Promise<DrawnFiles> {
  const making: DrawnEntry[] = [];
  let hasWaiting = false;
  let filesDrawn = 0;
  for (const entry of entries) {
    const last = previous?.files[entry.path];
    const keyOfEntry = () => fingerprintOf([options.renderer.version, entry.kind, entry.key]);
    const isThere = last !== undefined;
    if (isForLater(entry, isThere, options)) {
      // Whether figures over long periods changed is dear to tell; whoever draws them finds out.
      hasWaiting ||= !isThere || entry.priority === 'deferred' || keyOfEntry() !== last.key;
      if (isThere) making.push({ entry, drawing: null });
      continue;
    }
    const isKept = isThere && !options.priorities.includes(entry.priority);
    const key = isKept ? last.key : keyOfEntry();
    if (key === last?.key) making.push({ entry, drawing: null });
    // Variants are made in other threads while the next file is drawn in this one.
    else {
      filesDrawn += 1;
      const how = { isBulk: options.isBulk, isOfMany: filesDrawn > CHANGED_FILES_MAX && entry.kind !== FIRST_VIEW };
      making.push({ entry, drawing: { key, ...compressed(entry, await entry.draw(options.renderer), how) } });
    }
  }
  return { files: await Promise.all(making.map(toFile)), filesDrawn, hasWaiting };
}

/** Whether a file is left to a run that draws what this one does not. What is only deferred is drawn where it is missing. */
function isForLater({ priority }: FileEntry, isThere: boolean, { priorities }: DrawOptions): boolean {
  if (priority === 'deferred' && !isThere) return false;
  return PRIORITIES.indexOf(priority) > PRIORITIES.indexOf(priorities.at(-1) ?? 'background');
}

interface DrawnEntry {
  readonly entry: FileEntry;
  readonly drawing: {
    readonly key: string;
    readonly csp: string | null;
    readonly body: Uint8Array;
    readonly variants: Promise<readonly Variant[]> | readonly Variant[];
  } | null;
}

function compressed(
  { contentType }: FileEntry,
  { body, csp }: Drawn,
  { isBulk, isOfMany }: { readonly isBulk: boolean; readonly isOfMany: boolean },
) {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const variants =
    isBulk || isOfMany ? compressNow(contentType, bytes, { isOfMany }) : compressFast(contentType, bytes);
  // Waited for at the end; a failure is reported there.
  if (variants instanceof Promise) variants.catch(() => undefined);
  return { csp, body: bytes, variants };
}

async function toFile({ entry: { path, contentType }, drawing }: DrawnEntry): Promise<ReleaseFile> {
  if (drawing === null) return { path, drawn: null };
  return { path, drawn: { ...drawing, contentType, variants: await drawing.variants } };
}
