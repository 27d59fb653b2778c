/**
 * Loaded into a process ahead of everything else: its clock is off by what a file says, in ms, and jumps when the file
 * changes. What measures time that passes (`performance.now`) is left alone, as on a machine whose clock is set.
 */

import { readFileSync } from 'node:fs';

const file = process.env.PHAROS_TEST_CLOCK;
if (file !== undefined) {
  const RealDate = Date;
  let offset = 0;
  const look = () => {
    try {
      offset = Number(readFileSync(file, 'utf8')) || 0;
    } catch {
      // Nobody has set it yet.
    }
  };
  look();
  setInterval(look, 100).unref();
  globalThis.Date = class extends RealDate {
    constructor(...parts) {
      if (parts.length === 0) super(RealDate.now() + offset);
      else super(...parts);
    }
    static now() {
      return RealDate.now() + offset;
    }
  };
}
