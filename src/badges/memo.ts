/** Remembers what is dear to make and needed again, up to a limit: then it forgets everything and starts anew. */

export interface Memo<T> {
  get(key: string): T | undefined;
  set(key: string, value: T): void;
  readonly size: number;
}

/** Quicker to read than a cache that counts uses, and good where far fewer than `max` keys are in use. */
export function createMemo<T>(max: number): Memo<T> {
  const known = new Map<string, T>();
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
