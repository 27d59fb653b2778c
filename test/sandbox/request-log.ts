/** Which requests came in. Never holds headers or bodies: secrets travel there. */

import type { EpochMs } from '../../src/model/time.ts';

interface RequestRecord {
  readonly at: EpochMs;
  readonly method: string;
  /** Below the upstream's prefix, with its query. */
  readonly path: string;
  /** The `Host` header: another one means that a redirect was followed. */
  readonly host: string;
  /** What was answered; null when a fault cut the connection. */
  readonly status: number | null;
}

export interface RequestLog {
  /** The newest ten thousand, oldest first. */
  of(upstream: string): readonly RequestRecord[];
  /** All since the start or the last `clear`. */
  count(upstream: string): number;
  clear(): void;
}

/** A sandbox may run for weeks; what tests look at is far less. */
const RECORDS_MAX = 10_000;

export function createRequestLog(): RequestLog & { add(upstream: string, record: RequestRecord): void } {
  const records = new Map<string, RequestRecord[]>();
  const counts = new Map<string, number>();
  return {
    of: (upstream) => records.get(upstream)?.slice(-RECORDS_MAX) ?? [],
    count: (upstream) => counts.get(upstream) ?? 0,
    clear() {
      records.clear();
      counts.clear();
    },
    add(upstream, record) {
      const kept = records.get(upstream) ?? [];
      kept.push(record);
      if (kept.length > 2 * RECORDS_MAX) kept.splice(0, RECORDS_MAX);
      records.set(upstream, kept);
      counts.set(upstream, (counts.get(upstream) ?? 0) + 1);
    },
  };
}
