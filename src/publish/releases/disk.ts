/** The disk operations of publishing. Tests wrap them to see what happens when one fails. */

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
import { makeFolder } from '../../store/make-folder.ts';
import { syncFileSystem } from './sync-file-system.ts';

export interface Disk {
  /** Creates a folder and its parents, all with this mode; default: only the owner has access. */
  readonly makeFolder: (path: string, mode?: number) => void;
  /** Creates one folder; fails if it exists. */
  readonly claimFolder: (path: string, mode?: number) => void;
  readonly setMode: (path: string, mode: number) => void;
  /** Gives an existing file another name. */
  readonly link: (from: string, to: string) => void;
  readonly symlink: (target: string, path: string) => void;
  readonly rename: (from: string, to: string) => void;
  readonly unlink: (path: string) => void;
  /** Removes a file or a whole folder, if it exists. */
  readonly remove: (path: string) => void;
  /** Starts a batch of writes that are made durable together. */
  readonly batch: () => Batch;
  /** Resolves once the names in a folder are on disk. */
  readonly syncFolder: (path: string) => Promise<void>;
}

/** Files that are written one by one and made durable together, which is many times as fast. */
export interface Batch {
  /** Writes a new file; default mode: only the owner has access. */
  readonly write: (path: string, bytes: Uint8Array, mode?: number) => void;
  /** Adds a folder whose names changed. */
  readonly touch: (folder: string) => void;
  /** Resolves once everything is on disk. After a failure, any of it may be missing. */
  readonly flush: () => Promise<void>;
  /** Closes what is still open. */
  readonly close: () => void;
}

/** Above this number of open files, the whole file system is synced instead. */
const OPEN_FILES_MAX = 200;
const OWNER_FOLDER = 0o700;
const OWNER_FILE = 0o600;

const syncFile = promisify(fsync);

export const DISK: Disk = {
  makeFolder: (path, mode = OWNER_FOLDER) => makeFolder(path, mode),
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
  /** Files that were closed after writing, because too many would be open. */
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
        if (first !== undefined && (await syncFileSystem(first))) return;
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
