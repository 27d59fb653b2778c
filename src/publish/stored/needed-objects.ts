/** Which objects of a store are needed, so that the others are removed and do not add up. */

import pLimit from 'p-limit';
import type { Manifest } from '../releases/manifest.ts';
import { fileKey, INDEX_KEY, objectKey, type ReleaseStore } from './release-store.ts';

const CONCURRENCY = 16;

type Keys = ReadonlySet<string>;

export interface NeededObjects {
  /** Of the releases of a page: the one in the index, and the one before it, which somebody may be taking still. */
  readonly of: (slug: string) => Keys;
  /** Notes what the index says from now on, and removes what only earlier releases of these pages needed. Null: the page is gone. */
  readonly replace: (changes: readonly (readonly [slug: string, next: Keys | null])[]) => Promise<void>;
  /**
   * Notes the object that the index names beside releases, and removes what nothing named when it was called last: at
   * first, what whoever uploaded before left behind, where the store can tell.
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
  /** The last one first. */
  const needed = new Map([...releases].map(([slug, keys]): [string, readonly Keys[]] => [slug, keys ? [keys] : []]));
  let siteKey = site === null ? null : objectKey(site);
  let unnamed = await listUnnamed();

  async function listUnnamed(): Promise<readonly string[]> {
    // A manifest that cannot be read may be of a version to come, and name any of them.
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

/** Keys of everything that a release is made of; `digest` is that of its manifest. */
export function objectsOf({ files, dataSha256 }: Manifest, digest: string): Keys {
  return new Set([objectKey(digest), objectKey(dataSha256), ...Object.values(files).map(fileKey)]);
}
