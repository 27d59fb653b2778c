/** What can be made to go wrong, per upstream. Tests and `POST /-/faults` use the same words. */

import { StatusError } from '../../src/errors.ts';
import type { PagingShift } from './exchange.ts';

/** Faults that need no figures. */
export const FAULT_NAMES = [
  'down',
  'slow',
  'drip',
  'stall',
  '400',
  '401',
  '403',
  '404',
  '405',
  '415',
  '422',
  '429',
  '500',
  '503',
  'garbage',
  'html',
  'empty',
  'truncated',
  'truncated-close',
  'wrong-content-type',
  'wrong-types',
  'missing-arrays',
  'duplicate-ids',
  'unknown-words',
  'numbers-as-strings',
  'empty-lists',
  'redirect',
  'gzip-bomb',
  'paging-shift',
] as const;
export type FaultName = (typeof FAULT_NAMES)[number];

/** A fault with the figures that its name leaves to a default. */
export interface Fault {
  readonly name: FaultName;
  /** Only requests whose path below the upstream begins with this. Default: all. */
  readonly path?: string;
  /** Only the next so many requests. Default: until it is taken back. */
  readonly times?: number;
  /** `slow`: silence before the first byte (default 60 s). `drip`: between two bytes (default 1 s). */
  readonly delayMs?: number;
  /** `429`, `503`: the header as it is sent, seconds or a date or nonsense; null: none. Default `30`. */
  readonly retryAfter?: string | null;
  /** `redirect`: where to. Default: the same path on another loopback address. */
  readonly location?: string;
  /** `gzip-bomb`: size when unpacked. Default 64 MiB. */
  readonly bytes?: number;
  /** `wrong-types`, `unknown-words`, `numbers-as-strings`: only every so many-th item of a list. Default 1: all. */
  readonly every?: number;
  /** `duplicate-ids`: false repeats the item as it is. Default true: with another name and status. */
  readonly isConflicting?: boolean;
  /** `paging-shift`: how records move with each request. Default `insert`. */
  readonly direction?: 'insert' | 'delete';
}

export interface Faults {
  /**
   * Sets the fault of one upstream; null takes it back.
   *
   * @throws NOT_FOUND when there is no such upstream
   */
  set(upstream: string, fault: FaultName | Fault | null): void;
  clear(): void;
  get(upstream: string): Fault | null;
}

/** Faults as the server uses them: taking one counts. */
export interface FaultBook extends Faults {
  /** The fault that this request meets, and how many met it before. */
  take(upstream: string, path: string): { readonly fault: Fault; readonly step: number } | null;
}

/** @param upstreams  names of those there are */
export function createFaults(upstreams: readonly string[]): FaultBook {
  const book = new Map<string, { readonly fault: Fault; step: number }>();
  return {
    set(upstream, fault) {
      if (!upstreams.includes(upstream)) throw noUpstream(upstream, upstreams);
      if (fault === null) book.delete(upstream);
      else book.set(upstream, { fault: typeof fault === 'string' ? { name: fault } : fault, step: 0 });
    },
    clear: () => book.clear(),
    get: (upstream) => book.get(upstream)?.fault ?? null,
    take(upstream, path) {
      const entry = book.get(upstream);
      if (entry === undefined || !path.startsWith(entry.fault.path ?? '')) return null;
      if (entry.step >= (entry.fault.times ?? Number.POSITIVE_INFINITY)) return null;
      const { step } = entry;
      entry.step += 1;
      return { fault: entry.fault, step };
    },
  };
}

/** The error of a name that no upstream has. */
export function noUpstream(name: string, upstreams: readonly string[]): StatusError {
  const message = `There is no upstream "${name}" in the sandbox; there are: ${upstreams.join(', ')}.`;
  return new StatusError({ code: 'NOT_FOUND', message });
}

/** Records held back at first, so that they can appear one by one. */
const HELD_BACK = 10;

/** A list, newest first, as a reader of pages meets it while records appear or vanish. */
export function shifted<T>(items: readonly T[], shift: PagingShift | null): readonly T[] {
  if (shift === null) return items;
  return items.slice(shift.direction === 'insert' ? Math.max(0, HELD_BACK - shift.step) : shift.step);
}
