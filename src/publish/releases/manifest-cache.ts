/** Manifests that were read or written lately, so that a page that changes often is not read from disk each time. */

import { LRUCache } from 'lru-cache';
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
  const kept = new LRUCache<string, Manifest>({
    maxSize: recordsMax,
    // One that is larger than all that may be kept is kept alone.
    sizeCalculation: ({ files }) => Math.min(recordsMax, Math.max(1, Object.keys(files).length)),
  });
  const put = (manifest: Manifest): void => void kept.set(`${manifest.slug}/${manifest.number}`, manifest);
  return {
    get: (slug, number) => {
      const known = kept.get(`${slug}/${number}`);
      if (known !== undefined) return known;
      const manifest = readManifest(folders, slug, number);
      if (manifest !== null) put(manifest);
      return manifest;
    },
    put,
  };
}
