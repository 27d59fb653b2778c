/** How fast the machine is: load tells of other work on it, but not of what shares its processors and memory from outside. */

import { hash } from 'node:crypto';
import { median } from './budget.ts';

const ROUNDS = 7;
const ITEMS = 100_000;
/** A prime, so that steps of this many visit every item, each far from the one before. */
const STRIDE = 65_537;

/** Milliseconds that the same work always takes here, the middle of seven: objects made, written as JSON, hashed, read in no order. */
export function measurePace(): number {
  const rounds = Array.from({ length: ROUNDS }, () => {
    const startedAt = performance.now();
    work();
    return performance.now() - startedAt;
  });
  return median(rounds);
}

function work(): number {
  const items = Array.from({ length: ITEMS }, (_, index) => ({
    id: `item-${index}`,
    at: index * STRIDE,
    days: [index],
  }));
  const text = JSON.stringify(items);
  const read = JSON.parse(text) as typeof items;
  let sum = hash('sha256', text).length;
  for (let step = 0, place = 0; step < ITEMS; step += 1, place = (place + STRIDE) % ITEMS) sum += read[place]?.at ?? 0;
  return sum;
}
