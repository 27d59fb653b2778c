/** A folder that any static file server serves. */

import { existsSync, mkdirSync, readFileSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { messageOf, StatusError } from '../../errors.ts';
import type { TargetStore } from './target.ts';

const PROBE = '.pharos-probe';

/** Files that somebody else put there are left alone. */
export function createFolderStore(folder: string): TargetStore {
  const inFolder = (path: string): string => join(folder, path);
  const failing = <Result>(task: () => Result): Result => {
    try {
      return task();
    } catch (error) {
      throw unwritable(folder, error);
    }
  };
  const remove = (path: string): void => {
    rmSync(inFolder(path), { force: true });
    removeEmptyFolders(folder, dirname(inFolder(path)));
  };
  return {
    kind: 'folder',
    place: folder,
    settings: '',
    concurrency: 1,
    checkpointFiles: 500,
    readLedger: async (path) => {
      const file = inFolder(path);
      return existsSync(file) ? failing(() => ({ text: readFileSync(file, 'utf8'), version: '' })) : null;
    },
    writeLedger: async (path, text) => {
      failing(() => writeWhole(inFolder(path), Buffer.from(text)));
      return '';
    },
    put: async (file) => {
      const body = await file.read();
      failing(() => writeWhole(inFolder(file.path), body));
      return body.length;
    },
    remove: async (path) => failing(() => remove(path)),
    has: (path) => existsSync(inFolder(path)),
    probe: async () => {
      failing(() => {
        writeWhole(inFolder(PROBE), Buffer.from('Pharos was here.\n'));
        remove(PROBE);
      });
    },
    close: async () => undefined,
  };
}

/** A reader sees the old file or the new one. */
function writeWhole(path: string, body: Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  const next = `${path}.pharos-next`;
  writeFileSync(next, body);
  renameSync(next, path);
}

function removeEmptyFolders(root: string, folder: string): void {
  if (relative(root, folder).startsWith('..') || relative(root, folder) === '') return;
  try {
    rmdirSync(folder);
  } catch {
    // Something is still in it.
    return;
  }
  removeEmptyFolders(root, dirname(folder));
}

function unwritable(folder: string, error: unknown): StatusError {
  return new StatusError({
    code: 'TARGET_UNREACHABLE',
    message: `The folder ${folder} cannot be written: ${messageOf(error)}. Check that it may be written by this user and that the disk has room.`,
    cause: error,
  });
}
