/**
 * Creates a folder and its missing parents. Node's own `recursive` never returns if the system reports a missing folder
 * although its parent exists, as below /proc.
 */

import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

export function makeFolder(path: string, mode?: number): void {
  if (isThere(path)) return;
  if (!isThere(dirname(path))) makeFolder(dirname(path), mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process was faster.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** @throws ENOTDIR if something else has this name */
function isThere(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return false;
  if (found.isDirectory()) return true;
  throw Object.assign(new Error(`${path} is not a folder`), { code: 'ENOTDIR' });
}
