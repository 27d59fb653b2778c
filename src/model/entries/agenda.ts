/** What is to happen, played through in the order of time; what happens may add to it. */

import type { EpochMs } from '../time.ts';

interface Happening {
  /** The instant first; then what decides which of several comes first there. */
  readonly when: readonly [at: EpochMs, ...ties: number[]];
  readonly happen: () => void;
}

export interface Agenda {
  /** Takes up what happens up to the last instant and including it; anything later is left out. */
  readonly note: (happening: Happening) => void;
  /** Lets everything happen, each thing once; what is noted meanwhile of the past happens next. */
  readonly run: () => void;
}

/** Makes an agenda up to an instant. */
export function createAgenda(until: EpochMs): Agenda {
  /** Latest first, once sorted. */
  const waiting: Happening[] = [];
  let isRunning = false;
  const place = (happening: Happening): number => {
    let low = 0;
    let high = waiting.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compare(happening, waiting[middle] ?? happening) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return {
    note: (happening) => {
      if (happening.when[0] > until) return;
      if (isRunning) waiting.splice(place(happening), 0, happening);
      else waiting.push(happening);
    },
    run: () => {
      isRunning = true;
      waiting.sort((a, b) => compare(b, a));
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) next.happen();
    },
  };
}

function compare({ when: a }: Happening, { when: b }: Happening): number {
  for (const [index, value] of a.entries()) {
    const difference = value - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
