/**
 * Releases: the files of one status page, switched at once.
 *
 *   releases/<slug>/<number>/files/…        what is served, with pre-compressed twins beside it
 *   releases/<slug>/<number>/manifest.json  what is in it, and what each file was made from
 *   site/public/<slug>  -> the release being served, a symbolic link; site/private/<slug> for gated pages
 *
 * A file that did not change is a hard link to the one of the last release. A reader sees all old or all new, since one
 * rename of the link switches. Nothing is switched that does not match its manifest.
 */

import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { z } from 'zod';
import { messageOf, StatusError } from '../errors.ts';
import { type Compression, compressFast, isWorthCompressing } from './compress.ts';

/** A page whose links would be a mixture must stay reachable for whoever loaded the last one, and for `rollback`. */
export const RELEASES_KEPT = 5;

const FileRecordSchema = z.object({
  /** Hash of what it was drawn from: view, kind and renderer. */
  key: z.string(),
  sha256: z.string(),
  bytes: z.number(),
  contentType: z.string(),
  csp: z.string().nullable(),
  twins: z.array(z.enum(['br', 'gzip', 'zstd'])),
});
export type FileRecord = z.output<typeof FileRecordSchema>;

const ManifestSchema = z.object({
  format: z.literal(1),
  slug: z.string(),
  number: z.number(),
  access: z.enum(['public', 'password', 'email-domain']),
  /** Instant the figures are computed to, epoch ms. */
  asOf: z.number(),
  /** Hash of everything whose change is an event: states, incidents, maintenances, definitions, settings. */
  eventKey: z.string(),
  customDomain: z.string().nullable(),
  /** Files by path, as in addresses. */
  files: z.record(z.string(), FileRecordSchema),
  /** JSON for what the server draws on demand (badges); never served as it is. */
  data: z.string(),
});
export type Manifest = z.output<typeof ManifestSchema>;

/** One file to be in the next release: its bytes, or nothing when it is that of the last release. */
export interface ReleaseFile {
  readonly path: string;
  readonly key: string;
  readonly contentType: string;
  readonly csp: string | null;
  readonly body: Uint8Array | null;
}

export interface ReleaseInput {
  readonly slug: string;
  readonly access: Manifest['access'];
  readonly asOf: number;
  readonly eventKey: string;
  readonly customDomain: string | null;
  readonly files: readonly ReleaseFile[];
  readonly data: string;
}

export interface ReleaseFolders {
  readonly releases: string;
  readonly publicSite: string;
  readonly privateSite: string;
}

/** The folders of a data folder. */
export function releaseFolders(data: string): ReleaseFolders {
  return {
    releases: join(data, 'releases'),
    publicSite: join(data, 'site', 'public'),
    privateSite: join(data, 'site', 'private'),
  };
}

/** The manifest of the release that is being served; null when there is none that can be read. */
export function currentManifest(folders: ReleaseFolders, slug: string): Manifest | null {
  const number = currentNumber(folders, slug);
  return number === null ? null : readManifest(folders, slug, number);
}

/** The number of the release that is being served, from the link itself; null when none is. */
export function currentNumber(folders: ReleaseFolders, slug: string): number | null {
  for (const site of [folders.privateSite, folders.publicSite]) {
    try {
      const target = readlinkSync(join(site, slug));
      const number = Number(dirname(target).split('/').at(-1));
      if (Number.isInteger(number)) return number;
    } catch {
      // No link there: the page is not published on this side.
    }
  }
  return null;
}

/** A release's manifest; null when it is missing or damaged. */
export function readManifest(folders: ReleaseFolders, slug: string, number: number): Manifest | null {
  try {
    return ManifestSchema.parse(
      JSON.parse(readFileSync(join(folders.releases, slug, String(number), 'manifest.json'), 'utf8')),
    );
  } catch {
    return null;
  }
}

/** Numbers of the releases of a page that are on disk, oldest first. */
export function releaseNumbers(folders: ReleaseFolders, slug: string): number[] {
  try {
    return readdirSync(join(folders.releases, slug))
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
      .toSorted((a, b) => a - b);
  } catch {
    return [];
  }
}

/** Where the files of a release are. */
export function filesFolder(folders: ReleaseFolders, slug: string, number: number): string {
  return join(folders.releases, slug, String(number), 'files');
}

/**
 * Writes a release beside the last one and switches to it.
 *
 * @throws PUBLISH_FAILED with the last release still served and nothing left behind
 */
export function publishRelease(folders: ReleaseFolders, input: ReleaseInput, previous: Manifest | null): Manifest {
  const numbers = releaseNumbers(folders, input.slug);
  const number = Math.max(0, previous?.number ?? 0, ...numbers) + 1;
  const home = join(folders.releases, input.slug, String(number));
  try {
    const manifest = writeRelease(folders, { input, previous, number, home });
    verify(home, manifest, previous);
    switchTo(folders, manifest);
    prune(folders, input.slug, number);
    return manifest;
  } catch (error) {
    rmSync(home, { recursive: true, force: true });
    throw new StatusError({
      code: 'PUBLISH_FAILED',
      message: `The page ${input.slug} could not be published: ${messageOf(error)}. The last release is still served. Check space and permissions of the data folder.`,
      cause: error,
      context: { slug: input.slug },
    });
  }
}

function writeRelease(
  folders: ReleaseFolders,
  { input, previous, number, home }: { input: ReleaseInput; previous: Manifest | null; number: number; home: string },
): Manifest {
  const target = join(home, 'files');
  const source = previous === null ? null : filesFolder(folders, input.slug, previous.number);
  mkdirSync(target, { recursive: true });
  const made = new Set([target]);
  const files: Record<string, FileRecord> = {};
  for (const file of input.files) {
    const folder = dirname(join(target, file.path));
    if (!made.has(folder)) {
      mkdirSync(folder, { recursive: true });
      for (let path = folder; path !== target; path = dirname(path)) made.add(path);
    }
    const last = previous?.files[file.path];
    if (file.body === null) {
      if (source === null || last === undefined)
        throw new Error(`${file.path} was to be kept, but the last release has no such file`);
      for (const suffix of ['', ...last.twins.map(suffixOf)])
        linkSync(join(source, file.path + suffix), join(target, file.path + suffix));
      files[file.path] = last;
    } else {
      files[file.path] = writeFile(join(target, file.path), file, file.body);
    }
  }
  const manifest: Manifest = {
    format: 1,
    slug: input.slug,
    number,
    access: input.access,
    asOf: input.asOf,
    eventKey: input.eventKey,
    customDomain: input.customDomain,
    files,
    data: input.data,
  };
  writeSynced(join(home, 'manifest.json'), Buffer.from(JSON.stringify(manifest)));
  for (const folder of made) syncFolder(folder);
  syncFolder(home);
  return manifest;
}

function writeFile(path: string, file: ReleaseFile, body: Uint8Array): FileRecord {
  if (body.length === 0) throw new Error(`${file.path} came out empty`);
  writeSynced(path, body);
  const twins: Compression[] = [];
  if (isWorthCompressing(file.contentType, body.length)) {
    for (const { encoding, bytes } of compressFast(body)) {
      if (bytes.length >= body.length) continue;
      writeSynced(path + suffixOf(encoding), bytes);
      twins.push(encoding);
    }
  }
  return {
    key: file.key,
    sha256: createHash('sha256').update(body).digest('hex'),
    bytes: body.length,
    contentType: file.contentType,
    csp: file.csp,
    twins,
  };
}

/** Reads back what was written in this release; linked files were checked when they were written. */
function verify(home: string, manifest: Manifest, previous: Manifest | null): void {
  const paths = Object.keys(manifest.files);
  if (!paths.includes('index.html')) throw new Error('the release has no index.html');
  for (const [path, record] of Object.entries(manifest.files)) {
    const file = join(home, 'files', path);
    if (previous?.files[path] === record) {
      if (statSync(file).size !== record.bytes) throw new Error(`${path} has not the size that its manifest says`);
    } else if (createHash('sha256').update(readFileSync(file)).digest('hex') !== record.sha256) {
      throw new Error(`${path} does not match its manifest`);
    }
  }
}

/** One rename makes the release the one being served; the other side of the gate loses its link first. */
export function switchTo(folders: ReleaseFolders, manifest: Manifest): void {
  const isPublic = manifest.access === 'public';
  const [site, otherSite] = isPublic
    ? [folders.publicSite, folders.privateSite]
    : [folders.privateSite, folders.publicSite];
  mkdirSync(site, { recursive: true });
  const link = join(site, manifest.slug);
  const otherLink = join(otherSite, manifest.slug);
  // Public turned private: gone from the public side before anything else, so that nothing of it stays reachable.
  if (!isPublic && isLink(otherLink)) {
    unlinkSync(otherLink);
    syncFolder(otherSite);
  }
  const next = join(site, `.${manifest.slug}.next`);
  rmSync(next, { force: true });
  symlinkSync(relative(site, filesFolder(folders, manifest.slug, manifest.number)), next);
  renameSync(next, link);
  syncFolder(site);
  if (isPublic && isLink(otherLink)) unlinkSync(otherLink);
}

/** Takes a page out of what is served; its releases go too. */
export function withdraw(folders: ReleaseFolders, slug: string): void {
  for (const site of [folders.publicSite, folders.privateSite]) {
    if (isLink(join(site, slug))) unlinkSync(join(site, slug));
  }
  rmSync(join(folders.releases, slug), { recursive: true, force: true });
}

/** Slugs that have releases on disk. */
export function publishedSlugs(folders: ReleaseFolders): string[] {
  return existsSync(folders.releases) ? readdirSync(folders.releases).toSorted() : [];
}

/** Removes what a crash left half written: releases newer than the one served, and links never renamed. */
export function removeOrphans(folders: ReleaseFolders): void {
  for (const site of [folders.publicSite, folders.privateSite]) {
    if (!existsSync(site)) continue;
    for (const name of readdirSync(site))
      if (name.startsWith('.') && name.endsWith('.next')) rmSync(join(site, name), { force: true });
  }
  for (const slug of publishedSlugs(folders)) {
    for (const number of releaseNumbers(folders, slug)) {
      if (readManifest(folders, slug, number) === null && number !== currentNumber(folders, slug)) {
        rmSync(join(folders.releases, slug, String(number)), { recursive: true, force: true });
      }
    }
  }
}

function prune(folders: ReleaseFolders, slug: string, current: number): void {
  const old = releaseNumbers(folders, slug).filter((number) => number !== current);
  for (const number of old.slice(0, Math.max(0, old.length - (RELEASES_KEPT - 1)))) {
    rmSync(join(folders.releases, slug, String(number)), { recursive: true, force: true });
  }
}

/** The ending of a pre-compressed twin. */
export function suffixOf(encoding: Compression): string {
  return encoding === 'br' ? '.br' : encoding === 'gzip' ? '.gz' : '.zst';
}

function writeSynced(path: string, bytes: Uint8Array): void {
  const file = openSync(path, 'wx', 0o644);
  try {
    let written = 0;
    while (written < bytes.length) written += writeSync(file, bytes, written);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function syncFolder(path: string): void {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}
