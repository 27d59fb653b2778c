/** The disk operations of publishing. Tests wrap them to see what happens when one fails. */

import { type ChildProcessByStdio, spawn } from 'node:child_process';
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
import type { Readable, Writable } from 'node:stream';
import { promisify } from 'node:util';
import { makeFolder } from '../../store/make-folder.ts';

export type Disk = Readonly<typeof DISK>;
export type Batch = Readonly<ReturnType<typeof createBatch>>;

/** Above this number of open files, the whole file system is synced instead. */
const OPEN_FILES_MAX = 200;
const OWNER_FOLDER = 0o700;
const OWNER_FILE = 0o600;

const syncFile = promisify(fsync);

export const DISK = {
  /** Creates a folder and its parents, all with this mode; default: only the owner has access. */
  makeFolder: (path: string, mode = OWNER_FOLDER): void => makeFolder(path, mode),
  /** Creates one folder; fails if it exists. */
  claimFolder: (path: string, mode = OWNER_FOLDER): void => void mkdirSync(path, { mode }),
  setMode: (path: string, mode: number): void => chmodSync(path, mode),
  /** Gives an existing file another name. */
  link: (from: string, to: string): void => linkSync(from, to),
  symlink: (target: string, path: string): void => symlinkSync(target, path),
  rename: (from: string, to: string): void => renameSync(from, to),
  unlink: (path: string): void => unlinkSync(path),
  /** Removes a file or a whole folder, if it exists. */
  remove: (path: string): void => rmSync(path, { recursive: true, force: true }),
  /** Starts a batch of writes that are made durable together. */
  batch: createBatch,
  /** Resolves once the names in a folder are on disk. */
  syncFolder: async (path: string): Promise<void> => {
    const folder = openSync(path, 'r');
    try {
      await syncFile(folder);
    } finally {
      closeSync(folder);
    }
  },
};

/** Files that are written one by one and made durable together, which is many times as fast. */
function createBatch() {
  const open: number[] = [];
  const folders = new Set<string>();
  /** Files that were closed after writing, because too many would be open. */
  const closed: string[] = [];

  const closeAll = (): void => {
    for (const file of open.splice(0)) closeSync(file);
  };
  return {
    /** Writes a new file; default mode: only the owner has access. */
    write: (path: string, bytes: Uint8Array, mode = OWNER_FILE): void => {
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
    /** Adds a folder whose names changed. */
    touch: (folder: string): void => void folders.add(folder),
    /** Resolves once everything is on disk. After a failure, any of it may be missing. */
    flush: async (): Promise<void> => {
      try {
        const [first] = closed;
        if (first !== undefined && (await syncFileSystem(first))) return;
        const waiting = [...closed, ...folders];
        do {
          while (open.length < OPEN_FILES_MAX && waiting.length > 0) open.push(openSync(waiting.shift() ?? '', 'r'));
          await Promise.all(open.splice(0).map((file) => syncFile(file).finally(() => closeSync(file))));
        } while (waiting.length > 0);
      } finally {
        closeAll();
      }
    },
    /** Closes what is still open. */
    close: closeAll,
  };
}

/**
 * Has a whole file system written to disk. The command is run by a shell that stays: beginning a program from a process of
 * hundreds of megabytes takes 25 ms in which its thread does nothing else, and from a small shell one or two.
 */
const TIMEOUT_MS = 60_000;
/** A path a line; for each `y` or `n`. */
const SCRIPT = 'while IFS= read -r path; do if sync -f "$path" 2>/dev/null; then echo y; else echo n; fi; done';

interface Shell {
  readonly child: ChildProcessByStdio<Writable, Readable, null>;
  /** Callbacks of the requests, in their order. */
  readonly waiting: ((isDone: boolean) => void)[];
}

let shell: Shell | null = null;

/** Flushes the file system of `path`; false if that failed, or if there is no command for it. */
export function syncFileSystem(path: string): Promise<boolean> {
  if (path.includes('\n')) return Promise.resolve(false);
  shell ??= begin();
  const mine = shell;
  return new Promise((resolve) => {
    const timer = setTimeout(() => mine.child.kill('SIGKILL'), TIMEOUT_MS);
    mine.waiting.push((isDone) => {
      clearTimeout(timer);
      resolve(isDone);
    });
    // A process ends while its shell has nothing to do, but not before it has answered.
    hold(mine, true);
    mine.child.stdin.write(`${path}\n`);
  });
}

function begin(): Shell {
  // With no environment of ours, which holds secrets.
  const child = spawn('/bin/sh', ['-c', SCRIPT], { stdio: ['pipe', 'pipe', 'ignore'], env: {} });
  const mine: Shell = { child, waiting: [] };
  const end = (): void => {
    if (shell === mine) shell = null;
    for (const answer of mine.waiting.splice(0)) answer(false);
  };
  child.once('error', end);
  child.once('exit', end);
  // Told by its end.
  child.stdin.on('error', () => undefined);
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    for (const answer of text.replaceAll('\n', '')) mine.waiting.shift()?.(answer === 'y');
    if (mine.waiting.length === 0) hold(mine, false);
  });
  return mine;
}

/** Whether this process stays for it. */
function hold({ child }: Shell, isHeld: boolean): void {
  for (const part of [child, child.stdin, child.stdout] as unknown as (NodeJS.RefCounted | undefined)[])
    if (isHeld) part?.ref();
    else part?.unref();
}
