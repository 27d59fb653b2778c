/** Knows which objects of a store are needed, so that the others can be removed. */

import pLimit from 'p-limit';
import type { Manifest } from '../releases/manifest.ts';
import { fileKey, INDEX_KEY, objectKey, type ReleaseStore } from './release-store.ts';

const CONCURRENCY = 16;

type Keys = ReadonlySet<string>;

export interface NeededObjects {
  /** Objects of a page's release in the index and of the one before, which a node may still be copying. */
  readonly of: (slug: string) => Keys;
  /** Records the new releases of pages, and removes objects that only older releases needed. Null: the page is gone. */
  readonly replace: (changes: readonly (readonly [slug: string, next: Keys | null])[]) => Promise<void>;
  /**
   * Records the object with the definitions, and removes unneeded objects. The first call also removes what an earlier uploader
   * left, if the store can list its keys.
   */
  readonly sweep: (site: string | null) => Promise<void>;
}

/**
 * @param releases  the objects of each page's release in the index; null: its manifest cannot be read
 * @param site      digest of the object that the index names beside them
 */
export async function needObjects(
  store: ReleaseStore,
  releases: ReadonlyMap<string, Keys | null>,
  site: string | null,
): Promise<NeededObjects> {
  /** The newest release first. */
  const needed = new Map([...releases].map(([slug, keys]): [string, readonly Keys[]] => [slug, keys ? [keys] : []]));
  let siteKey = site === null ? null : objectKey(site);
  let unnamed = await listUnnamed();

  async function listUnnamed(): Promise<readonly string[]> {
    // A manifest that can't be read may be from a newer version, and may need any object.
    if (store.keys === undefined || [...releases.values()].includes(null)) return [];
    const named = new Set([...releases.values()].flatMap((keys) => [...(keys ?? [])]));
    return (await store.keys()).filter((key) => key !== INDEX_KEY && key !== siteKey && !named.has(key));
  }

  async function removeUnneeded(keys: readonly string[]): Promise<void> {
    const all = [...needed.values()].flat();
    const gone = [...new Set(keys)].filter((key) => key !== siteKey && !all.some((some) => some.has(key)));
    await pLimit(CONCURRENCY).map(gone, (key) => store.remove(key));
  }

  return {
    of: (slug) => new Set((needed.get(slug) ?? []).flatMap((keys) => [...keys])),
    replace: async (changes) => {
      const leaving = changes.flatMap(([slug, next]) => {
        const [current, previous = NONE] = needed.get(slug) ?? [];
        if (next === null) needed.delete(slug);
        else needed.set(slug, current === undefined ? [next] : [next, current]);
        return [...previous, ...(next === null ? (current ?? NONE) : NONE)];
      });
      await removeUnneeded(leaving);
    },
    sweep: async (next) => {
      const former = siteKey;
      siteKey = next === null ? null : objectKey(next);
      await removeUnneeded(unnamed);
      unnamed = former === null || former === siteKey ? [] : [former];
    },
  };
}

const NONE: Keys = new Set();

/** Returns the keys of all objects of a release; `digest` is that of its manifest. */
export function objectsOf({ files, dataSha256 }: Manifest, digest: string): Keys {
  return new Set([objectKey(digest), objectKey(dataSha256), ...Object.values(files).map(fileKey)]);
}
