/** Renders the files of a release that have changed. */

import { hash } from 'node:crypto';
import { type FileEntry, fileKeys, PRIORITIES, type Priority } from '../files/file-entry.ts';
import type { Drawn, PageRenderer } from '../files/kinds.ts';
import type { FileRecord, Manifest } from '../releases/manifest.ts';
import type { DrawnFile, ReleaseFile } from '../releases/write.ts';

/** Renders files, and knows the version of the program. */
export type VersionedRenderer = PageRenderer & { readonly version: string };

export interface DrawOptions {
  readonly renderer: VersionedRenderer;
  /** Priorities to render, highest first; files with other priorities stay as they were. */
  readonly priorities: readonly Priority[];
  /** True: what stays for later was drawn for another page or other access rules, and is left out until then. */
  readonly isOther?: boolean;
}

/**
 * Compares keys first, so that a file with the same inputs isn't rendered. A file that is rendered and comes out the
 * same isn't written; only its key is new.
 */
export async function drawFiles(entries: readonly FileEntry[], previous: Manifest | null, options: DrawOptions) {
  const files: ReleaseFile[] = [];
  let hasWaiting = false;
  let filesDrawn = 0;
  const keyOf = fileKeys(options.renderer.version);
  // Left to a later run, except for a deferred file that is missing.
  const later = new Set(PRIORITIES.slice(PRIORITIES.indexOf(options.priorities.at(-1) ?? 'background') + 1));
  for (const entry of entries) {
    const last = previous?.files[entry.path];
    const isThere = last !== undefined;
    if (later.has(entry.priority) && (isThere || entry.priority !== 'deferred')) {
      // Finding out whether long-term figures changed is expensive, so that is left to the run that renders them.
      hasWaiting ||= !isThere || options.isOther === true || entry.priority === 'deferred' || keyOf(entry) !== last.key;
      if (isThere && options.isOther !== true) files.push({ path: entry.path, key: last.key, drawn: null });
      continue;
    }
    const isKept = isThere && !options.priorities.includes(entry.priority);
    const key = isKept ? last.key : keyOf(entry);
    const drawn = key === last?.key ? null : toBytes(await entry.draw(options.renderer));
    const { path } = entry;
    if (drawn === null || isAsBefore(drawn, entry, last)) files.push({ path, key, drawn: null });
    else {
      filesDrawn += 1;
      files.push({ path, drawn: { ...drawn, key, contentType: entry.kind.contentType } });
    }
  }
  return { files, filesDrawn, hasWaiting };
}

type DrawnBytes = Omit<DrawnFile, 'key' | 'contentType'>;

function toBytes({ body, ...drawn }: Drawn): DrawnBytes {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  return { ...drawn, body: bytes, sha256: hash('sha256', bytes, 'hex') };
}

function isAsBefore({ csp, location, sha256 }: DrawnBytes, { kind }: FileEntry, last: FileRecord | undefined): boolean {
  return (
    last !== undefined &&
    last.csp === csp &&
    last.location === location &&
    last.contentType === kind.contentType &&
    last.sha256 === sha256
  );
}
