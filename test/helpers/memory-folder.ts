/**
 * Where tests have their folders: in memory, where the system has room for them. They make and remove so many files that a disk spends
 * more time on those than anything else does, and its flushing stops whoever waits for it. What tests end are processes and never
 * machines, so none of them depends on what a disk keeps. Set `TMPDIR` to have them elsewhere, `TMPDIR=/var/tmp npm test`.
 */

import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';

const MEMORY = '/dev/shm';
const NAME = /^pharos-tests-(\d+)-/;
/** Far more than is taken at any time. */
const ROOM_BYTES = 4 * 2 ** 30;

/** Vitest calls this before it begins workers, which get the environment as it is then, and what it returns at the end. */
export function setup(): (() => void) | undefined {
  if (process.env['TMPDIR'] !== undefined || !hasRoom()) return undefined;
  removeAbandoned();
  const folder = mkdtempSync(join(MEMORY, `pharos-tests-${process.pid}-`));
  // Some servers of tests run as other users.
  chmodSync(folder, 0o1777);
  process.env['TMPDIR'] = folder;
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}

function hasRoom(): boolean {
  if (!existsSync(MEMORY)) return false;
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize >= ROOM_BYTES;
}

/** Of runs that were killed. */
function removeAbandoned(): void {
  for (const name of readdirSync(MEMORY)) {
    const [, pid] = NAME.exec(name) ?? [];
    if (pid === undefined || isRunning(Number(pid))) continue;
    try {
      rmSync(join(MEMORY, name), { recursive: true, force: true });
    } catch {
      // A read-only mount of a killed run stays until the machine restarts; it takes no room.
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
