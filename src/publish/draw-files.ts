/** Of all files of a release, draws those that are not what they were. */

import { type Twin, twinsAtOnce, twinsFast } from './compress.ts';
import { type Drawn, digestOf, type FileEntry, type PageRenderer } from './file-entry.ts';
import type { Manifest } from './releases/manifest.ts';
import type { ReleaseFile } from './releases/write.ts';

/** Draws HTML; two of one version draw the same bytes. */
export type VersionedRenderer = PageRenderer & { readonly version: string };

export interface DrawOptions {
  readonly renderer: VersionedRenderer;
  /**
   * `quick`: slow files stay as they were, or wait where they never were. `slow`: nothing but those is drawn.
   * `all`: everything at once.
   */
  readonly which: 'quick' | 'slow' | 'all';
  /** True: all cores have work, so nothing is handed to another thread. */
  readonly isBulk: boolean;
}

export interface DrawnFiles {
  readonly files: readonly ReleaseFile[];
  readonly filesDrawn: number;
  /** Whether slow files were left as they were, or left out. */
  readonly hasWaiting: boolean;
}

/** Keys are compared first, so that a view that did not change is neither drawn nor compressed nor written. */
export async function drawFiles(
  entries: readonly FileEntry[],
  previous: Manifest | null,
  options: DrawOptions,
): Promise<DrawnFiles> {
  const making: Making[] = [];
  let hasWaiting = false;
  for (const entry of entries) {
    const last = previous?.files[entry.path];
    const isFixed = options.which === 'slow' && !entry.isSlow;
    const key = isFixed ? last?.key : digestOf([options.renderer.version, entry.kind, entry.key]);
    const isSame = key === last?.key;
    const isWaiting = !isSame && options.which === 'quick' && entry.isSlow;
    hasWaiting ||= isWaiting;
    if (key === undefined || (isWaiting && last === undefined)) continue;
    if (isSame || isWaiting) making.push({ entry, drawing: null });
    // Twins are made in other threads while the next file is drawn in this one.
    else making.push({ entry, drawing: { key, ...compressed(entry, await entry.draw(options.renderer), options) } });
  }
  const files = await Promise.all(making.map(toFile));
  return { files, filesDrawn: files.filter(({ drawn }) => drawn !== null).length, hasWaiting };
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

function compressed({ contentType }: FileEntry, { body, csp }: Drawn, { isBulk }: DrawOptions) {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const twins = isBulk ? twinsAtOnce(contentType, bytes) : twinsFast(contentType, bytes);
  // Waited for at the end; a failure is reported there.
  if (twins instanceof Promise) twins.catch(() => undefined);
  return { csp, body: bytes, twins };
}

async function toFile({ entry: { path, contentType }, drawing }: Making): Promise<ReleaseFile> {
  if (drawing === null) return { path, drawn: null };
  return { path, drawn: { ...drawing, contentType, twins: await drawing.twins } };
}
