/** Keeps what was drawn on demand: a bounded number of results, the least recently used given up first. */

export interface BadgeCache<T> {
  /**
   * The result for `key`, drawn at most once while it is kept. The key names everything the result depends on, the
   * release included. A promise is kept as it is, so that two who ask at once wait for one drawing; when it fails it
   * is forgotten.
   */
  get(key: string, draw: () => T): T;
  readonly size: number;
}

export function createBadgeCache<T>(maxEntries: number): BadgeCache<T> {
  const kept = new Map<string, T>();
  return {
    get(key, draw) {
      const known = kept.get(key);
      if (known !== undefined) {
        // A map remembers the order of insertion: the first is the least recently used.
        kept.delete(key);
        kept.set(key, known);
        return known;
      }
      const drawn = draw();
      kept.set(key, drawn);
      const oldest = kept.size > maxEntries ? kept.keys().next() : null;
      if (oldest?.done === false) kept.delete(oldest.value);
      if (drawn instanceof Promise)
        drawn.catch(() => {
          if (kept.get(key) === drawn) kept.delete(key);
        });
      return drawn;
    },
    get size() {
      return kept.size;
    },
  };
}
