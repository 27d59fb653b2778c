/** Remembers what is dear to make and needed again, up to a limit: then it forgets everything and starts anew. */

export interface Memo<T, K = string> {
  get(key: K): T | undefined;
  set(key: K, value: T): void;
  readonly size: number;
}

/** By hand, since drawing loads no package: `pharos/badges` is light, and runs wherever JavaScript does. */
export function createMemo<T, K = string>(max: number): Memo<T, K> {
  const known = new Map<K, T>();
  return {
    get: (key) => known.get(key),
    set(key, value) {
      if (known.size >= max) known.clear();
      known.set(key, value);
    },
    get size() {
      return known.size;
    },
  };
}
