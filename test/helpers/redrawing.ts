/** Publishes the files of a page without a disk, and judges what is drawn anew against what should have been. */

import { hash } from 'node:crypto';
import { drawingWith } from '../../src/app/workers/drawing.ts';
import { type DrawOptions, drawFiles, loadRenderer } from '../../src/publish/draw/renderer.ts';
import { type FileEntry, fileKeys, PRIORITIES } from '../../src/publish/files/file-entry.ts';
import type { Drawn } from '../../src/publish/files/kinds.ts';
import type { FileRecord, Manifest } from '../../src/publish/releases/manifest.ts';
import type { ReleaseFile } from '../../src/publish/releases/write.ts';

/** What is published of a page. */
export interface Published {
  /** What was drawn of each path: the truth. */
  readonly bytes: ReadonlyMap<string, string>;
  /** What the release says of it. */
  readonly manifest: Manifest;
}

export interface Verdict {
  readonly after: Published;
  readonly written: readonly string[];
  /** Paths with other bytes than before that were left as they were: what must never be. */
  readonly stale: readonly string[];
  /** Paths with the same bytes as before that were written all the same. */
  readonly needless: readonly string[];
  /** Paths that were drawn for nothing: they came out as they were, and nothing was written. */
  readonly drawnInVain: readonly string[];
}

/** Lists the entries of a page anew: what one list has computed is no part of the next. */
export type ListEntries = () => readonly FileEntry[];

export interface Redrawing {
  readonly options: DrawOptions;
  readonly publish: (list: ListEntries) => Promise<Published>;
  /** Draws what has another key than `before`, and compares with everything drawn whatever its key. */
  readonly redraw: (before: Published | null, list: ListEntries) => Promise<Verdict>;
}

const FEEDS: ReadonlySet<string> = new Set(['atom', 'rss']);

/** Over the real pages; the same view, and the same picture, is drawn once for all. */
export async function createRedrawing(): Promise<Redrawing> {
  const { renderer } = drawingWith(await loadRenderer());
  const known = new Map<string, Promise<Drawn>>();
  const once = (key: string, draw: () => Promise<Drawn>): Promise<Drawn> => known.getOrInsertComputed(key, draw);
  const options: DrawOptions = {
    renderer: {
      ...renderer,
      render: (kind, view) =>
        once(hash('sha256', `${kind} ${JSON.stringify(view)}`, 'hex'), () => renderer.render(kind, view)),
    },
    priorities: PRIORITIES,
  };
  const drawAll = async (entries: readonly FileEntry[]): Promise<ReadonlyMap<string, Drawn>> => {
    const drawn = new Map<string, Drawn>();
    for (const entry of entries) {
      const draw = () => entry.draw(options.renderer);
      const { name } = entry.kind;
      if (name === 'social-image') drawn.set(entry.path, await once(entry.fingerprint, draw));
      // Their library is slow. The inputs themselves tell, not the digest of them that is being judged.
      else if (FEEDS.has(name)) drawn.set(entry.path, await once(`${name} ${JSON.stringify(entry.inputs)}`, draw));
      else drawn.set(entry.path, await draw());
    }
    return drawn;
  };
  const redraw = async (before: Published | null, list: ListEntries): Promise<Verdict> => {
    const truth = await drawAll(list());
    const drawnPaths: string[] = [];
    const entries = list().map((entry): FileEntry => {
      const draw = async (): Promise<Drawn> => {
        drawnPaths.push(entry.path);
        return truth.get(entry.path) ?? entry.draw(options.renderer);
      };
      return Object.create(entry, { draw: { value: draw } }) as FileEntry;
    });
    const { files, filesDrawn } = await drawFiles(entries, before?.manifest ?? null, options);
    const written = files.filter(({ drawn }) => drawn !== null).map(({ path }) => path);
    if (filesDrawn !== written.length) throw new Error(`${filesDrawn} files are said to be drawn of ${written.length}`);
    const bytes = new Map(entries.map((entry) => [entry.path, bytesOf(entry, truth.get(entry.path))]));
    const differing = [...bytes].flatMap(([path, digest]) => (before?.bytes.get(path) === digest ? [] : [path]));
    return {
      after: { bytes, manifest: manifestOf(files, before?.manifest ?? null) },
      written,
      stale: differing.filter((path) => !written.includes(path)),
      needless: written.filter((path) => !differing.includes(path)),
      drawnInVain: drawnPaths.filter((path) => !differing.includes(path)),
    };
  };
  return { options, redraw, publish: async (list) => (await redraw(null, list)).after };
}

/** Of bodies, by what was drawn: most of it is drawn once for all. */
const digests = new WeakMap<Drawn, string>();

function bytesOf({ kind }: FileEntry, drawn: Drawn | undefined): string {
  if (drawn === undefined) throw new Error('every entry was drawn');
  const digest = digests.getOrInsertComputed(drawn, ({ body }) => hash('sha256', body, 'hex'));
  return `${kind.contentType} ${drawn.csp} ${digest}`;
}

/** A release of these files, as far as drawing looks at it. */
export function manifestOf(files: readonly ReleaseFile[], previous: Manifest | null): Manifest {
  const records = files.map((file): [string, FileRecord] => {
    const { path, drawn } = file;
    const last = previous?.files[path];
    if (drawn !== null)
      return [path, { ...drawn, sha256: hash('sha256', drawn.body, 'hex'), bytes: drawn.body.length, variants: [] }];
    if (last === undefined) throw new Error(`${path} is kept, and was not there`);
    return [path, { ...last, key: file.key ?? last.key }];
  });
  return { files: Object.fromEntries(records) } as unknown as Manifest;
}

/** The same release with the keys that these entries have. */
export function rekeyed(
  { bytes, manifest }: Published,
  entries: readonly FileEntry[],
  { renderer }: DrawOptions,
): Published {
  const keyOf = fileKeys(renderer.version);
  const files = entries.map((entry): [string, FileRecord] => {
    const record = manifest.files[entry.path];
    if (record === undefined) throw new Error(`${entry.path} is not in the release`);
    return [entry.path, { ...record, key: keyOf(entry) }];
  });
  return { bytes, manifest: { ...manifest, files: Object.fromEntries(files) } };
}
