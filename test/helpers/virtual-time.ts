/** A clock that only moves when a test says so, and sleeps that end by it. */

import { setImmediate } from 'node:timers/promises';
import { type EpochMs, toEpochMs } from '../../src/model/time.ts';

export interface VirtualTime {
  readonly now: () => EpochMs;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Moves the clock on, from one sleep that ends to the next. */
  readonly pass: (ms: number) => Promise<void>;
  /** Moves the clock on in one step, as a machine that slept does. */
  readonly jump: (ms: number) => Promise<void>;
}

export function virtualTime(start: number): VirtualTime {
  let time = start;
  const sleeps = new Set<{ readonly until: number; readonly end: () => void }>();
  const settle = async (): Promise<void> => {
    for (let round = 0; round < 5; round += 1) await setImmediate();
  };
  const wake = async (): Promise<void> => {
    await settle();
    for (;;) {
      const due = [...sleeps].filter(({ until }) => until <= time).sort((a, b) => a.until - b.until);
      if (due.length === 0) return;
      for (const sleep of due) sleep.end();
      await settle();
    }
  };
  return {
    now: () => toEpochMs(time),
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        const sleep = {
          until: time + ms,
          end: () => {
            sleeps.delete(sleep);
            resolve();
          },
        };
        if (signal?.aborted === true) resolve();
        else sleeps.add(sleep);
        signal?.addEventListener('abort', sleep.end, { once: true });
      }),
    pass: async (ms) => {
      const end = time + ms;
      await wake();
      for (;;) {
        const next = Math.min(...[...sleeps].map(({ until }) => until));
        if (next > end) break;
        time = Math.max(time, next);
        await wake();
      }
      time = end;
      await wake();
    },
    jump: async (ms) => {
      time += ms;
      await wake();
    },
  };
}
