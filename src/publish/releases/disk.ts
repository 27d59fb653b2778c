/** The few things that publishing does to a disk; whoever wants to see what happens when one of them fails wraps it. */

import {
  chmodSync,
  closeSync,
  fsync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { promisify } from 'node:util';
import { syncFileSystemOf } from './sync-file-system.ts';

export interface Disk {
  /** Makes a folder and those above it, all with this mode; default: their owner's only. */
  readonly makeFolder: (path: string, mode?: number) => void;
  /** Makes one folder; fails when it is there. */
  readonly claimFolder: (path: string, mode?: number) => void;
  readonly setMode: (path: string, mode: number) => void;
  /** Gives an existing file another name. */
  readonly link: (from: string, to: string) => void;
  readonly symlink: (target: string, path: string) => void;
  readonly rename: (from: string, to: string) => void;
  readonly unlink: (path: string) => void;
  /** Removes a file or a whole folder, if it is there. */
  readonly remove: (path: string) => void;
  /** Begins a number of writes that are made durable together. */
  readonly batch: () => Batch;
  /** Returns once the names in a folder are on disk. */
  readonly syncFolder: (path: string) => Promise<void>;
}

/** Files written one by one and made durable all at once, since that is many times as quick. */
export interface Batch {
  /** Writes a new file whole; default mode: its owner's only. */
  readonly write: (path: string, bytes: Uint8Array, mode?: number) => void;
  /** Notes a folder whose names changed. */
  readonly touch: (folder: string) => void;
  /** Returns once everything is on disk. A failure means that nothing can be said of any of it. */
  readonly flush: () => Promise<void>;
  /** Lets go of what is still open. */
  readonly close: () => void;
}

/** More than these are not kept open one by one; the whole file system is asked to write instead. */
const OPEN_FILES_MAX = 200;
const OWNER_FOLDER = 0o700;
const OWNER_FILE = 0o600;

const syncFile = promisify(fsync);

export const DISK: Disk = {
  makeFolder: (path, mode = OWNER_FOLDER) => void mkdirSync(path, { recursive: true, mode }),
  claimFolder: (path, mode = OWNER_FOLDER) => mkdirSync(path, { mode }),
  setMode: chmodSync,
  link: linkSync,
  symlink: symlinkSync,
  rename: renameSync,
  unlink: unlinkSync,
  remove: (path) => rmSync(path, { recursive: true, force: true }),
  batch: createBatch,
  syncFolder: async (path) => {
    const folder = openSync(path, 'r');
    try {
      await syncFile(folder);
    } finally {
      closeSync(folder);
    }
  },
};

function createBatch(): Batch {
  const open: number[] = [];
  const folders = new Set<string>();
  /** Written and closed again, because there were too many. */
  const closed: string[] = [];

  const closeAll = (): void => {
    for (const file of open.splice(0)) closeSync(file);
  };
  return {
    write: (path, bytes, mode = OWNER_FILE) => {
      const file = openSync(path, 'wx', mode);
      try {
        for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written);
      } catch (error) {
        closeSync(file);
        throw error;
      }
      if (open.length < OPEN_FILES_MAX) open.push(file);
      else {
        closeSync(file);
        closed.push(path);
      }
    },
    touch: (folder) => void folders.add(folder),
    flush: async () => {
      try {
        const [first] = closed;
        if (first !== undefined && (await syncFileSystemOf(first))) return;
        const waiting = [...closed, ...folders];
        do {
          while (open.length < OPEN_FILES_MAX && waiting.length > 0) open.push(openSync(waiting.shift() ?? '', 'r'));
          await Promise.all(open.map((file) => syncFile(file)));
          closeAll();
        } while (waiting.length > 0);
      } finally {
        closeAll();
      }
    },
    close: closeAll,
  };
}
