/** Writes a release next to the last one: changed files are written, unchanged ones are shared. It isn't served yet. */

import { hash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { type PageKey, toPageKey } from '../../model/slugs.ts';
import type { Batch } from './disk.ts';
import { filesFolder, namesIn, type Place, poolFolder, releaseFolder, releaseNumbers } from './folders.ts';
import { type FileRecord, filePlaces, isWorthCompressing, type Manifest, VARIANT_SUFFIXES } from './manifest.ts';
import { chooseModes, type Modes, makePageFolders, setModes } from './modes.ts';

/** One file to be in the release. */
export type ReleaseFile = { readonly path: string; readonly drawn: DrawnFile } | KeptFile;

/** Keep the file of the last release. */
interface KeptFile {
  readonly path: string;
  readonly drawn: null;
  /** Its new key, if the inputs changed but the bytes didn't; default: the old key. */
  readonly key?: string;
}

export interface DrawnFile {
  readonly key: string;
  readonly contentType: string;
  readonly csp: string | null;
  readonly location?: string;
  readonly body: Uint8Array;
  /** Of the body, in hex. */
  readonly sha256: string;
}

export interface ReleaseInput
  extends Readonly<Pick<Manifest, 'slug' | 'access' | 'asOf' | 'eventKey' | 'customDomain'>> {
  /** The page that it is of. Default: the first that had the slug. */
  readonly page?: PageKey;
  /** As in the manifest. */
  readonly locales?: readonly string[] | undefined;
  /** Default: null. */
  readonly completes?: number | null;
  /** The earlier release whose files it has, if an operator brought that back. Default: null. */
  readonly restores?: number | null;
  /** True: folders that it shares as a whole are left for the release after it to look at. Default: false. */
  readonly isUrgent?: boolean;
  readonly files: readonly ReleaseFile[];
  /** Makes the JSON for what the server draws on demand. */
  readonly data: () => string;
}

/** The last release doesn't match its manifest, so no file can be taken from it. */
export class DamagedReleaseError extends Error {
  constructor(path: string, cause: unknown) {
    super(`${path} of the last release is missing or damaged`, { cause });
    this.name = 'DamagedReleaseError';
  }
}

/** Where a release is written, and where its number comes from. */
interface ReleasePlace extends Place {
  /** A number above `above` that nobody else gets, on whatever node. */
  readonly nextNumber: (slug: string, above: number) => Promise<number>;
}

interface Writing extends Place {
  readonly batch: Batch;
  readonly input: ReleaseInput;
  readonly previous: Manifest | null;
  /** Resolves a path of the last release. Only called for paths that it has. */
  readonly placeBefore: (path: string) => string;
  readonly number: number;
  readonly modes: Modes;
}

/**
 * Writes the release and checks it against its manifest. When this resolves, it is on disk. If it fails, what was written is
 * removed.
 *
 * @throws DamagedReleaseError when files of `previous` are missing; other errors come from the disk
 */
export async function writeRelease(
  { disk, folders, nextNumber }: ReleasePlace,
  input: ReleaseInput,
  previous: Manifest | null,
): Promise<Manifest> {
  const pool = poolFolder(folders, input.slug);
  const modes = chooseModes(input.access === 'public');
  makePageFolders({ disk, folders }, input.slug, modes);
  const claim = { slug: input.slug, after: previous?.number ?? 0, mode: modes.folder };
  const number = await claimNumber({ disk, folders, nextNumber }, claim);
  const batch = disk.batch();
  const placeBefore = previous === null ? (path: string): string => path : filePlaces(folders, previous);
  const writing: Writing = { disk, batch, folders, input, previous, placeBefore, number, modes };
  const made: string[] = [];
  try {
    const manifest = writeFiles(writing, made);
    if (previous !== null && (previous.access === 'public') !== (input.access === 'public'))
      setModes({ disk, folders }, manifest);
    batch.touch(releaseFolder(folders, input.slug, number));
    batch.touch(dirname(pool));
    batch.touch(pool);
    const flushed = batch.flush();
    // What is read back comes from memory, before it is on disk and after, so the one doesn't wait for the other.
    const checked = Promise.try(() => verify(writing, manifest));
    for (const step of await Promise.allSettled([flushed, checked])) if (step.status === 'rejected') throw step.reason;
    return manifest;
  } catch (error) {
    batch.close();
    discard(writing, made);
    throw error;
  }
}

/** Removes what was written. What can't be removed is cleaned up at the next start. */
function discard({ disk, folders, input, number }: Writing, made: readonly string[]): void {
  try {
    for (const folder of made) disk.remove(folder);
    disk.remove(releaseFolder(folders, input.slug, number));
  } catch {
    // The original error matters more than leftovers.
  }
}

/** Returns the next number, above all on this disk, including folders that a crash left behind. */
async function claimNumber(
  { disk, folders, nextNumber }: ReleasePlace,
  { slug, after, mode }: { slug: string; after: number; mode: number },
): Promise<number> {
  // Whoever removes a release removes its folders with it, unless a later one has them.
  const pool = after === 0 ? namesIn(poolFolder(folders, slug)) : [];
  const inPool = pool.map((id) => Number.parseInt(id, 10));
  const above = [after, ...releaseNumbers(folders, slug), ...inPool].reduce((a, b) => Math.max(a, b));
  const number = await nextNumber(slug, above);
  disk.claimFolder(releaseFolder(folders, slug, number), mode);
  return number;
}

function writeFiles(writing: Writing, made: string[]): Manifest {
  const { batch, folders, input, previous, number } = writing;
  const home = releaseFolder(folders, input.slug, number);
  const tree = buildTree(input.files);
  const pathsBefore = previous === null ? [] : [...Object.keys(previous.files), ...Object.keys(previous.folders)];
  const childrenBefore = Map.groupBy(pathsBefore, parentFolder);
  const records = new Map<string, FileRecord>();
  const ids: Record<string, string> = {};
  // Deepest first, so that a folder's link targets exist before it.
  for (const [path, node] of [...tree].toReversed()) {
    const lastId = previous?.folders[path];
    const isShared =
      lastId !== undefined &&
      node.files.every((file) => file.drawn === null) &&
      node.children.every((child) => ids[child] !== undefined && ids[child] === previous?.folders[child]) &&
      childrenBefore.get(path)?.length === node.files.length + node.children.length;
    if (isShared) {
      ids[path] = lastId;
      for (const file of node.files) if (file.drawn === null) records.set(file.path, keptRecord(previous, file));
      continue;
    }
    const id = `${number}-${made.length}`;
    const target = path === '' ? filesFolder(folders, input.slug, number) : join(poolFolder(folders, input.slug), id);
    if (path !== '') {
      ids[path] = id;
      made.push(target);
    }
    writing.disk.claimFolder(target, writing.modes.folder);
    batch.touch(target);
    for (const file of node.files) {
      const place = `${target}/${lastName(file.path)}`;
      const { drawn } = file;
      const record = drawn === null ? linkFile(writing, file, place) : writeFile(writing, file.path, drawn, place);
      records.set(file.path, record);
    }
    for (const child of node.children) linkFolder(writing, { child, id: ids[child] ?? '' }, target);
  }
  const data = Buffer.from(input.data());
  const { slug, page, access, asOf, eventKey, customDomain, locales } = input;
  const { completes = null, restores = null } = input;
  const manifest: Manifest = {
    ...{ format: 3, slug, number, access, asOf, eventKey, customDomain, completes },
    ...(locales === undefined ? {} : { locales: [...locales] }),
    ...(page === undefined || page === toPageKey(slug, 1) ? {} : { page }),
    ...(restores === null ? {} : { restores }),
    files: Object.fromEntries(input.files.map(({ path }) => [path, records.get(path) as FileRecord])),
    folders: ids,
    dataSha256: hash('sha256', data, 'hex'),
  };
  batch.write(join(home, 'data.json'), data);
  batch.write(join(home, 'manifest.json'), Buffer.from(JSON.stringify(manifest)));
  return manifest;
}

interface Folder {
  readonly files: ReleaseFile[];
  /** Paths of the folders in it. */
  readonly children: string[];
}

/** Every folder by its path (`''` is the root), parents first. */
function buildTree(files: readonly ReleaseFile[]): ReadonlyMap<string, Folder> {
  const tree = new Map<string, Folder>([['', { files: [], children: [] }]]);
  const folderAt = (path: string): Folder => tree.getOrInsertComputed(path, begin);
  function begin(path: string): Folder {
    folderAt(parentFolder(path)).children.push(path);
    return { files: [], children: [] };
  }
  for (const file of files) folderAt(parentFolder(file.path)).files.push(file);
  return tree;
}

function parentFolder(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

function lastName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function writeFile({ batch, modes }: Writing, path: string, drawn: DrawnFile, target: string): FileRecord {
  const { key, contentType, csp, location, body, sha256 } = drawn;
  const fault = faultOfBody(contentType, body);
  if (fault !== null) throw new Error(`${path} ${fault}`);
  batch.write(target, body, modes.file);
  return {
    key,
    sha256,
    bytes: body.length,
    contentType,
    csp,
    ...(location === undefined ? {} : { location }),
    // Variants are made once the release is served, because news doesn't wait for them.
    variants: isWorthCompressing(contentType, body.length) ? null : [],
  };
}

/**
 * Creates the link from a folder to a subfolder. An unchanged link is reused as a hard link to the same inode: a page of two
 * hundred components has two hundred links, and creating and removing that many with each change is what ext4 is slowest at.
 * File systems without hard links to symbolic links get a new one.
 */
function linkFolder(
  { disk, folders, input, previous, placeBefore }: Writing,
  { child, id }: { readonly child: string; readonly id: string },
  target: string,
): void {
  const place = `${target}/${lastName(child)}`;
  if (previous?.folders[child] === id) {
    try {
      disk.link(placeBefore(child), place);
      return;
    } catch {
      // Created below; if that fails too, its error is reported.
    }
  }
  disk.symlink(relative(target, join(poolFolder(folders, input.slug), id)), place);
}

function linkFile({ disk, previous, placeBefore }: Writing, file: KeptFile, target: string): FileRecord {
  const { path } = file;
  const record = keptRecord(previous, file);
  try {
    for (const suffix of ['', ...(record.variants ?? []).map((encoding) => VARIANT_SUFFIXES[encoding])])
      disk.link(placeBefore(path) + suffix, target + suffix);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw new DamagedReleaseError(path, error);
    throw error;
  }
  return record;
}

function keptRecord(previous: Manifest | null, { path, key }: KeptFile): FileRecord {
  const record = previous?.files[path];
  if (record === undefined) throw new Error(`${path} is missing in the last release`);
  return key === undefined || key === record.key ? record : { ...record, key };
}

/**
 * Reads back the files that this release wrote. For shared files, which an earlier release has read back, the size is enough.
 */
function verify({ folders, input, previous, number }: Writing, manifest: Manifest): void {
  if (!Object.hasOwn(manifest.files, 'index.html')) throw new Error('the release has no index.html');
  const placeOf = filePlaces(folders, manifest);
  const isShared = (path: string): boolean => {
    const folder = parentFolder(path);
    return folder !== '' && manifest.folders[folder] === previous?.folders[folder];
  };
  for (const { path, drawn } of input.files) {
    if (drawn === null && input.isUrgent === true && isShared(path)) continue;
    const record = manifest.files[path];
    const file = placeOf(path);
    if (drawn === null) {
      if (statSync(file, { throwIfNoEntry: false })?.size !== record?.bytes) throw new DamagedReleaseError(path, null);
    } else if (hash('sha256', readFileSync(file), 'hex') !== record?.sha256) {
      throw new Error(`${path} does not match its manifest`);
    }
  }
  const data = readFileSync(join(releaseFolder(folders, input.slug, number), 'data.json'));
  if (hash('sha256', data, 'hex') !== manifest.dataSha256) throw new Error('data.json does not match its manifest');
}

// Checks that a rendered file looks like its content type. A broken file is never published.

/** How every file of a content type begins and ends. */
const FRAMES: Readonly<Record<string, readonly [begin: RegExp, end: RegExp]>> = {
  'text/html': [/^<!doctype html>\s*<html[\s>]/i, /<\/html>\s*$/i],
  'image/svg+xml': [/^(<\?xml[^>]*>\s*)?<svg[\s>]/, /<\/svg>\s*$/],
  'application/atom+xml': [/^(<\?xml[^>]*>\s*)?<feed[\s>]/, /<\/feed>\s*$/],
  'application/rss+xml': [/^(<\?xml[^>]*>\s*)?<rss[\s>]/, /<\/rss>\s*$/],
  'application/xml': [/^<\?xml[^>]*>\s*</, />\s*$/],
  'text/calendar': [/^BEGIN:VCALENDAR\r\n/, /END:VCALENDAR\r\n$/],
};
/** How much of each end is checked. */
const END_BYTES = 256;
const PNG_BEGIN = Buffer.from('89504e470d0a1a0a', 'hex');
const PNG_END = Buffer.from('49454e44ae426082', 'hex');

/** Describes what is wrong with a body, to follow its path in a message; null: nothing. */
export function faultOfBody(contentType: string, body: Uint8Array): string | null {
  if (body.length === 0) return 'came out empty';
  const type = contentType.split(';', 1)[0]?.trim() ?? '';
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  if (type === 'image/png')
    return bytes.subarray(0, 8).equals(PNG_BEGIN) && bytes.subarray(-8).equals(PNG_END) ? null : 'is an incomplete PNG';
  if (type.endsWith('json')) return isJson(bytes) ? null : 'is not JSON';
  const frame = FRAMES[type];
  if (frame === undefined) return null;
  const [begin, end] = frame;
  if (!begin.test(bytes.subarray(0, END_BYTES).toString('utf8'))) return `does not start like ${type}`;
  if (!end.test(bytes.subarray(-END_BYTES).toString('utf8'))) return `does not end like ${type}`;
  return null;
}

function isJson(bytes: Buffer): boolean {
  try {
    JSON.parse(bytes.toString('utf8'));
    return true;
  } catch {
    return false;
  }
}
