/** Remembers what is dear to make and needed again, up to a limit: then it forgets everything and starts anew. */

export type Memo<T, K = string> = ReturnType<typeof createMemo<T, K>>;

/** By hand, since drawing loads no package: `pharos/badges` is light, and runs wherever JavaScript does. */
export function createMemo<T, K = string>(max: number) {
  const known = new Map<K, T>();
  return {
    get: (key: K): T | undefined => known.get(key),
    set(key: K, value: T): void {
      if (known.size >= max) known.clear();
      known.set(key, value);
    },
    get size(): number {
      return known.size;
    },
  };
}
