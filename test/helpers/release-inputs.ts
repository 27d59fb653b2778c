/** Releases with little in them, for tests of how they are written, switched and kept. */

import { hash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import type { Disk } from '../../src/publish/releases/disk.ts';
import { type ReleaseFolders, releaseFolders } from '../../src/publish/releases/folders.ts';
import {
  compress,
  filePlaces,
  type Manifest,
  type Variant,
  withoutVariants,
} from '../../src/publish/releases/manifest.ts';
import { writeVariants } from '../../src/publish/releases/variants.ts';
import type { DrawnFile, ReleaseFile, ReleaseInput } from '../../src/publish/releases/write.ts';

export interface TestFolders extends ReleaseFolders {
  readonly root: string;
  readonly remove: () => void;
}

/** Numbers as a store gives them, for one page or many. */
export function releaseNumbersFrom(last: Map<string, number> = new Map()) {
  return async (slug: string, above: number): Promise<number> => {
    const number = Math.max(last.get(slug) ?? 0, above) + 1;
    last.set(slug, number);
    return number;
  };
}

/** A data folder that is removed again. */
export function testFolders(): TestFolders {
  const root = mkdtempSync(join(tmpdir(), 'pharos-release-'));
  return { ...releaseFolders(root), root, remove: () => rmSync(root, { recursive: true, force: true }) };
}

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  json: 'application/json; charset=utf-8',
  svg: 'image/svg+xml',
  txt: 'text/plain; charset=utf-8',
};

function contentTypeOf(path: string): string {
  return TYPES[path.split('.').at(-1) ?? ''] ?? 'application/octet-stream';
}

/** A page of `bytes` or a little more that names its release and its file. */
export function htmlOf(name: string, bytes = 0): string {
  return `<!DOCTYPE html><html lang="en"><title>${name}</title><p>${'x'.repeat(bytes)}</p></html>`;
}

export function drawn(path: string, body: string | Uint8Array, key = 'k'): ReleaseFile {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const sha256 = hash('sha256', bytes, 'hex');
  return { path, drawn: { key, contentType: contentTypeOf(path), csp: null, body: bytes, sha256 } satisfies DrawnFile };
}

/** Makes the variants of a release, as the background of a publisher does once it is served. */
export async function addVariants(
  place: { readonly disk: Disk; readonly folders: ReleaseFolders },
  manifest: Manifest,
): Promise<Manifest> {
  const placeOf = filePlaces(place.folders, manifest);
  const made = new Map<string, readonly Variant[]>();
  for (const path of withoutVariants(manifest)) {
    const { contentType = '' } = manifest.files[path] ?? {};
    made.set(path, await compress(contentType, readFileSync(placeOf(path))));
  }
  const named = await writeVariants(place, manifest, made);
  if (named === null) throw new Error(`release ${manifest.number} of ${manifest.slug} has gone meanwhile`);
  return named;
}

export function kept(path: string): ReleaseFile {
  return { path, drawn: null };
}

/** A page with a component and an incident; every file names `name`. */
export function wholeFiles(name: string): ReleaseFile[] {
  return [
    drawn('index.html', htmlOf(name, 2_000)),
    drawn('api/v2/summary.json', JSON.stringify({ name, padding: 'y'.repeat(2_000) })),
    drawn('api/state.json', JSON.stringify({ name })),
    drawn('components/a/index.html', htmlOf(`${name} a`, 2_000)),
    drawn('components/b/index.html', htmlOf(`${name} b`, 2_000)),
    drawn('favicon.svg', `<svg xmlns="http://www.w3.org/2000/svg"><title>${name}</title></svg>`),
  ];
}

export function inputOf(files: readonly ReleaseFile[], over: Partial<ReleaseInput> = {}): ReleaseInput {
  return {
    slug: 'acme',
    access: 'public',
    asOf: 1_000,
    eventKey: 'e',
    customDomain: null,
    data: () => '{"onDemand":null}',
    files,
    ...over,
  };
}

/** Every file and link below a folder with its contents or target, to be compared as a whole. */
export function treeOf(folder: string): Record<string, string> {
  const tree: Record<string, string> = {};
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) tree[relative(folder, path)] = readFileSync(path).toString('base64');
    else if (entry.isSymbolicLink())
      tree[relative(folder, path)] = `-> ${statSync(path).isDirectory() ? 'folder' : 'file'}`;
  }
  return tree;
}

/** What visitors of a plain static server get: every file by following the links. */
export function servedTree(site: string, slug: string): Record<string, string> {
  const tree: Record<string, string> = {};
  const walk = (folder: string, prefix: string): void => {
    for (const name of readdirSync(folder)) {
      const path = join(folder, name);
      if (statSync(path).isDirectory()) walk(path, `${prefix}${name}/`);
      else tree[prefix + name] = readFileSync(path).toString('base64');
    }
  };
  walk(join(site, slug), '');
  return tree;
}

/** The same without compressed variants, which follow, and get smaller; what they unpack to is there. */
export function servedBodies(site: string, slug: string): Record<string, string> {
  return Object.fromEntries(Object.entries(servedTree(site, slug)).filter(([path]) => !/\.(br|gz|zst)$/.test(path)));
}

/** A disk whose `failAt`-th change (from 1) fails with `code`, and all later ones too, until `heal` is called. */
export interface FailingDisk extends Disk {
  readonly changes: () => number;
  readonly heal: () => void;
}

export function failingDisk(disk: Disk, failAt: number, code = 'ENOSPC'): FailingDisk {
  let changes = 0;
  let isBroken = true;
  const step = (): void => {
    changes += 1;
    if (isBroken && changes >= failAt) throw Object.assign(new Error(`${code}: the disk refuses`), { code });
  };
  const stepping = <Args extends unknown[], Result>(call: (...args: Args) => Result) => {
    return (...args: Args): Result => {
      step();
      return call(...args);
    };
  };
  return {
    makeFolder: stepping(disk.makeFolder),
    claimFolder: stepping(disk.claimFolder),
    setMode: stepping(disk.setMode),
    link: stepping(disk.link),
    symlink: stepping(disk.symlink),
    rename: stepping(disk.rename),
    unlink: stepping(disk.unlink),
    // A full disk can still be cleared.
    remove: disk.remove,
    syncFolder: async (path) => {
      step();
      await disk.syncFolder(path);
    },
    batch: () => {
      const batch = disk.batch();
      return {
        write: stepping(batch.write),
        touch: batch.touch,
        flush: async () => {
          step();
          await batch.flush();
        },
        close: batch.close,
      };
    },
    changes: () => changes,
    heal: () => {
      isBroken = false;
    },
  };
}
