/** Seeded random histories, from tidy ones to what a hostile or broken store could hold. */

import type { History, Span } from '../../../src/model/overlap.ts';
import { STATES } from '../../../src/model/state.ts';
import { type Interval, toEpochMs } from '../../../src/model/time.ts';

/** How many random cases run, times what a test asks for. */
export const TEST_SCALE = Number(process.env['PHAROS_TEST_SCALE'] ?? 1);

/** A generator of numbers in [0, 1) that gives the same ones for the same seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export function integerBelow(random: () => number, limit: number): number {
  return Math.floor(random() * limit);
}

export function pickOne<T>(random: () => number, items: readonly T[]): T {
  return items[integerBelow(random, items.length)] as T;
}

export function shuffled<T>(random: () => number, items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, key: random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ item }) => item);
}

/**
 * A history about `window` and a little beyond its edges, all instants to the millisecond. One in four breaks the
 * promises of `History`: spans overlap, are empty, run backward and come in any order.
 */
export function randomHistory(random: () => number, window: Interval): History {
  const isTidy = random() < 0.75;
  const spans = isTidy ? chain : scatter;
  return {
    observed: spans(random, window),
    reported: random() < 0.5 ? spans(random, window) : [],
    outages: scatter(random, window, 4),
    maintenances: scatter(random, window, 3),
    declared: scatter(random, window, 4).map((span) => ({ ...span, isCounted: random() < 0.7 })),
    watched: random() < 0.2 ? scatter(random, window, 2) : [],
  };
}

function chain(random: () => number, window: Interval): Span[] {
  const lengthMs = window.to - window.from;
  const spans: Span[] = [];
  let at = window.from - integerBelow(random, lengthMs / 4);
  while (at < window.to + lengthMs / 10) {
    if (random() < 0.3) at += 1 + integerBelow(random, lengthMs / 8);
    const to = at + 1 + integerBelow(random, random() < 0.3 ? 2_000 : lengthMs / 5);
    spans.push({ state: pickOne(random, STATES), from: toEpochMs(at), to: toEpochMs(to) });
    at = to;
  }
  return spans;
}

function scatter(random: () => number, window: Interval, countMax = 12): Span[] {
  const lengthMs = window.to - window.from;
  return Array.from({ length: integerBelow(random, countMax + 1) }, () => {
    const from = window.from + Math.floor((random() * 1.3 - 0.15) * lengthMs);
    const to = from + Math.floor((random() * random() - 0.02) * lengthMs);
    return { state: pickOne(random, STATES), from: toEpochMs(from), to: toEpochMs(to) };
  });
}
