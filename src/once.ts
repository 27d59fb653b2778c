/**
 * Calls `make` at the first call and hands out what it made from then on. A promise that rejects is forgotten, so that
 * the next call tries again.
 */
export function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | null = null;
  return () => {
    if (made !== null) return made.value;
    const value = make();
    made = { value };
    if (value instanceof Promise)
      value.catch(() => {
        made = null;
      });
    return value;
  };
}
