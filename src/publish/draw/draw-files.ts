/** Of all files of a release, draws those that are not what they were. */

import { hash } from 'node:crypto';
import { type FileEntry, keyOf, PRIORITIES, type Priority, type VersionOf } from '../files/file-entry.ts';
import type { Drawn, PageRenderer } from '../files/file-kind.ts';
import type { FileRecord, Manifest } from '../releases/manifest.ts';
import type { ReleaseFile } from '../releases/write.ts';
import { compressFast, compressNow, type Variant } from './compress.ts';

/** Draws, and tells what draws a kind of file. */
export type VersionedRenderer = PageRenderer & { readonly versionOf: VersionOf };

export interface DrawOptions {
  readonly renderer: VersionedRenderer;
  /** Which files are drawn, highest first; the others stay as they were. */
  readonly priorities: readonly Priority[];
  /** True: all cores have work, so nothing is handed to another thread. */
  readonly isBulk: boolean;
}

export interface DrawnFiles {
  readonly files: readonly ReleaseFile[];
  /** Those with other bytes than before. */
  readonly filesDrawn: number;
  /** Whether files were left as they were, or left out. */
  readonly hasWaiting: boolean;
}

/** More than a change draws: a page is published as a whole, and its files are compressed more quickly. */
const CHANGED_FILES_MAX = 32;
/** What visitors see first stays within the first packets, however much there is to do. */
const FIRST_VIEW = 'status-page';

/**
 * Keys are compared first, so that what is made from the same things is not drawn. What is drawn and comes out as it was is
 * neither compressed nor written: of it only the key is new.
 */
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
    const keyOfEntry = () => keyOf(entry, options.renderer.versionOf);
    const isThere = last !== undefined;
    if (isForLater(entry, isThere, options)) {
      // Whether figures over long periods changed is dear to tell; whoever draws them finds out.
      hasWaiting ||= !isThere || entry.priority === 'deferred' || keyOfEntry() !== last.key;
      if (isThere) making.push({ entry, key: last.key, drawing: null });
      continue;
    }
    const isKept = isThere && !options.priorities.includes(entry.priority);
    const key = isKept ? last.key : keyOfEntry();
    const drawn = key === last?.key ? null : toBytes(await entry.draw(options.renderer));
    if (drawn === null || isAsBefore(drawn, entry, last)) making.push({ entry, key, drawing: null });
    // Variants are made in other threads while the next file is drawn in this one.
    else {
      filesDrawn += 1;
      const how = {
        isBulk: options.isBulk,
        isOfMany: filesDrawn > CHANGED_FILES_MAX && entry.kind.name !== FIRST_VIEW,
      };
      making.push({ entry, key, drawing: { ...drawn, variants: compressed(entry, drawn.body, how) } });
    }
  }
  return { files: await Promise.all(making.map(toFile)), filesDrawn, hasWaiting };
}

/** Whether a file is left to a run that draws what this one does not. What is only deferred is drawn where it is missing. */
function isForLater({ priority }: FileEntry, isThere: boolean, { priorities }: DrawOptions): boolean {
  if (priority === 'deferred' && !isThere) return false;
  return PRIORITIES.indexOf(priority) > PRIORITIES.indexOf(priorities.at(-1) ?? 'background');
}

interface DrawnBytes {
  readonly body: Uint8Array;
  readonly csp: string | null;
  readonly location?: string;
}

function toBytes({ body, ...drawn }: Drawn): DrawnBytes {
  return { ...drawn, body: typeof body === 'string' ? Buffer.from(body) : body };
}

function isAsBefore({ body, csp, location }: DrawnBytes, { kind }: FileEntry, last: FileRecord | undefined): boolean {
  return (
    last !== undefined &&
    last.bytes === body.length &&
    last.csp === csp &&
    last.location === location &&
    last.contentType === kind.contentType &&
    last.sha256 === hash('sha256', body, 'hex')
  );
}

interface DrawnEntry {
  readonly entry: FileEntry;
  readonly key: string;
  readonly drawing: (DrawnBytes & { readonly variants: Promise<readonly Variant[]> | readonly Variant[] }) | null;
}

function compressed(
  { kind: { contentType } }: FileEntry,
  body: Uint8Array,
  { isBulk, isOfMany }: { readonly isBulk: boolean; readonly isOfMany: boolean },
): Promise<readonly Variant[]> | readonly Variant[] {
  const variants = isBulk || isOfMany ? compressNow(contentType, body, { isOfMany }) : compressFast(contentType, body);
  // Waited for at the end; a failure is reported there.
  if (variants instanceof Promise) variants.catch(() => undefined);
  return variants;
}

async function toFile({ entry: { path, kind }, key, drawing }: DrawnEntry): Promise<ReleaseFile> {
  if (drawing === null) return { path, key, drawn: null };
  return { path, drawn: { ...drawing, key, contentType: kind.contentType, variants: await drawing.variants } };
}
