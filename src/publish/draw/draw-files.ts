/** Of all files of a release, draws those that are not what they were. */

import type { Drawn, FileEntry, PageRenderer } from '../files/file-entry.ts';
import { digestOf } from '../fingerprint.ts';
import type { Manifest } from '../releases/manifest.ts';
import type { ReleaseFile } from '../releases/write.ts';
import { type Twin, twinsAtOnce, twinsFast } from './compress.ts';

/** Draws HTML; two of one version draw the same bytes. */
export type VersionedRenderer = PageRenderer & { readonly version: string };

export interface DrawOptions {
  readonly renderer: VersionedRenderer;
  /**
   * `news`: nothing but what goes at once; the rest stays as it was. `quick`: everything but slow files. `rest`: nothing
   * but what those two leave. `all`: everything.
   */
  readonly which: 'news' | 'quick' | 'rest' | 'all';
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
  const making: Making[] = [];
  let hasWaiting = false;
  let filesDrawn = 0;
  for (const entry of entries) {
    const last = previous?.files[entry.path];
    const isKept = last !== undefined && isLeft(entry, options.which);
    const key = isKept ? last.key : digestOf([options.renderer.version, entry.kind, entry.key]);
    const isSame = key === last?.key;
    const isWaiting = !isSame && entry.pace === 'slow' && (options.which === 'news' || options.which === 'quick');
    // What the news leaves is not even looked at: whether it changed, the rest will tell.
    hasWaiting ||= isWaiting || (isKept && options.which === 'news');
    if (isWaiting && last === undefined) continue;
    if (isSame || isWaiting) making.push({ entry, drawing: null });
    // Twins are made in other threads while the next file is drawn in this one.
    else {
      filesDrawn += 1;
      const how = { isBulk: options.isBulk, isOfMany: filesDrawn > CHANGED_FILES_MAX && entry.kind !== FIRST_VIEW };
      making.push({ entry, drawing: { key, ...compressed(entry, await entry.draw(options.renderer), how) } });
    }
  }
  return { files: await Promise.all(making.map(toFile)), filesDrawn, hasWaiting };
}

/** Whether a file that is there stays as it is, whatever it shows. */
function isLeft({ pace }: FileEntry, which: DrawOptions['which']): boolean {
  if (which === 'news') return pace !== 'at-once';
  return which === 'rest' && pace === 'at-once';
}

interface Making {
  readonly entry: FileEntry;
  readonly drawing: {
    readonly key: string;
    readonly csp: string | null;
    readonly body: Uint8Array;
    readonly twins: Promise<readonly Twin[]> | readonly Twin[];
  } | null;
}

function compressed(
  { contentType }: FileEntry,
  { body, csp }: Drawn,
  { isBulk, isOfMany }: { readonly isBulk: boolean; readonly isOfMany: boolean },
) {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const twins = isBulk || isOfMany ? twinsAtOnce(contentType, bytes, { isOfMany }) : twinsFast(contentType, bytes);
  // Waited for at the end; a failure is reported there.
  if (twins instanceof Promise) twins.catch(() => undefined);
  return { csp, body: bytes, twins };
}

async function toFile({ entry: { path, contentType }, drawing }: Making): Promise<ReleaseFile> {
  if (drawing === null) return { path, drawn: null };
  return { path, drawn: { ...drawing, contentType, twins: await drawing.twins } };
}
