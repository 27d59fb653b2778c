/** Manifests that were read or written lately, so that a page that changes often is not read from disk each time. */

import type { ReleaseFolders } from './folders.ts';
import { type Manifest, readManifest } from './manifest.ts';

/** About 400 bytes each. */
const RECORDS_MAX = 25_000;

export interface ManifestCache {
  /** Null: it is missing or damaged. */
  readonly get: (slug: string, number: number) => Manifest | null;
  readonly put: (manifest: Manifest) => void;
}

/** Makes the cache over a data folder; the least recently used are given up first. */
export function createManifestCache(folders: ReleaseFolders, recordsMax: number = RECORDS_MAX): ManifestCache {
  const kept = new Map<string, Manifest>();
  let records = 0;
  const recordCount = (manifest: Manifest): number => Object.keys(manifest.files).length;
  const put = (manifest: Manifest): void => {
    const key = `${manifest.slug}/${manifest.number}`;
    if (!kept.has(key)) records += recordCount(manifest);
    kept.delete(key);
    kept.set(key, manifest);
    for (const [oldest, old] of kept) {
      if (records <= recordsMax || kept.size === 1) break;
      kept.delete(oldest);
      records -= recordCount(old);
    }
  };
  return {
    get: (slug, number) => {
      const manifest = kept.get(`${slug}/${number}`) ?? readManifest(folders, slug, number);
      if (manifest !== null) put(manifest);
      return manifest;
    },
    put,
  };
}
