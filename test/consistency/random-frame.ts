/** The frame in which a random world happens, and chances on its grid. */

import type { State } from '../../src/model/state.ts';
import { integerBelow } from '../unit/model/random-history.ts';
import { TICK_MS, type WorldComponent } from './world.ts';

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export type Random = () => number;

/** The frame that everything of a world happens in. */
export interface Frame {
  readonly random: Random;
  readonly from: number;
  readonly to: number;
  readonly isLong: boolean;
  /** So much is told that lists have no room for all of it. */
  readonly isCrowded: boolean;
  readonly definitionId: string;
  readonly slug: string;
  readonly components: readonly WorldComponent[];
}

/** Something people or upstreams tell: from when to when, and what at each instant. */
export interface Told<Item> {
  readonly from: number;
  /** Null: never taken back. */
  readonly deletedAt: number | null;
  /** The answer at or after this instant leaves it out once. */
  readonly hiddenAt: number | null;
  readonly at: (instant: number) => Item;
}

export function chance(random: Random, share: number): boolean {
  return random() < share;
}

/** A whole tick in [from, to). */
export function tickIn(random: Random, from: number, to: number): number {
  const first = Math.ceil(from / TICK_MS);
  return (first + integerBelow(random, Math.max(1, Math.floor(to / TICK_MS) - first))) * TICK_MS;
}

/** A stretch of trouble of one monitor. */
export interface Trouble {
  readonly monitor: string;
  readonly state: State;
  readonly from: number;
  readonly to: number;
}
