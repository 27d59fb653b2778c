/** Keeps what was drawn on demand: a bounded number of results, the least recently used given up first. */

import { LRUCache } from 'lru-cache';

interface BadgeCache<T> {
  /**
   * The result for `key`, drawn at most once while it is kept. The key names everything the result depends on, the
   * release included. A promise is kept as it is, so that two who ask at once wait for one drawing; when it fails it
   * is forgotten.
   */
  get(key: string, draw: () => T): T;
  readonly size: number;
}

/** Not by the library's own `fetch`: that gives up what is being drawn when others push it out meanwhile. */
export function createBadgeCache<T extends object | string>(maxEntries: number): BadgeCache<T> {
  const kept = new LRUCache<string, T>({ max: maxEntries });
  return {
    get(key, draw) {
      const known = kept.get(key);
      if (known !== undefined) return known;
      const drawn = draw();
      kept.set(key, drawn);
      if (drawn instanceof Promise)
        drawn.catch(() => {
          if (kept.peek(key) === drawn) kept.delete(key);
        });
      return drawn;
    },
    get size() {
      return kept.size;
    },
  };
}
