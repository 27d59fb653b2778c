/** A ledger of requests in memory, as the store keeps it, for the many schedules that need no database. */

import type { EpochMs } from '../../src/model/time.ts';
import { CONTROL_AT_FIRST, type RequestLedger, type UpstreamControl } from '../../src/store/upstream-control.ts';

export function createMemoryLedger(): RequestLedger {
  let rows: { at: EpochMs; isSpare: boolean }[] = [];
  let spare: { at: EpochMs; isSpare: boolean }[] = [];
  let control: UpstreamControl = CONTROL_AT_FIRST;
  return {
    nthNewest: async (n, isLowPriorityOnly) => (isLowPriorityOnly ? spare : rows).at(-n)?.at ?? null,
    add: async (at, isSpare) => {
      const row = { at, isSpare };
      rows.push(row);
      if (isSpare) spare.push(row);
    },
    clamp: async (now) => {
      for (let index = rows.length - 1; index >= 0; index -= 1) {
        const row = rows[index];
        if (row === undefined || row.at <= now) break;
        row.at = now;
      }
    },
    forgetBefore: async (at) => {
      if ((rows[0]?.at ?? at) >= at) return;
      rows = rows.filter((row) => row.at >= at);
      spare = spare.filter((row) => row.at >= at);
    },
    control: async () => control,
    setControl: async (next) => {
      control = next;
    },
  };
}
