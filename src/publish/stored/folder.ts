/** A folder that any static file server serves. Other files in it are left alone. */

import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { messageOf, StatusError } from '../../errors.ts';
import type { ObjectStore } from './object-store.ts';

/** All operations are asynchronous, because this thread also serves visitors. */
export function createFolder(folder: string): ObjectStore {
  const inFolder = (key: string): string => join(folder, key);
  const failing = async <Result>(task: () => Promise<Result>): Promise<Result> => {
    try {
      return await task();
    } catch (error) {
      throw unwritable(folder, error);
    }
  };
  const get = async (key: string): Promise<Buffer | null> =>
    existsSync(inFolder(key)) ? failing(() => readFile(inFolder(key))) : null;
  const put = (key: string, bytes: Uint8Array): Promise<void> => failing(() => writeWhole(inFolder(key), bytes));
  return {
    kind: 'folder',
    place: folder,
    get,
    getIfOther: async (key) => {
      const bytes = await get(key);
      return { bytes, version: bytes === null ? null : '' };
    },
    put,
    replace: async (key, bytes) => {
      await put(key, bytes);
      return '';
    },
    remove: (key) =>
      failing(async () => {
        await rm(inFolder(key), { force: true });
        await removeEmptyFolders(folder, dirname(inFolder(key)));
      }),
    has: (key) => existsSync(inFolder(key)),
    close: async () => undefined,
  };
}

/** Written to a temporary name first, so that a reader sees either the old file or the new one. */
async function writeWhole(path: string, body: Uint8Array): Promise<void> {
  await makeFolder(dirname(path));
  const next = `${path}.pharos-next`;
  await writeFile(next, body);
  await rename(next, path);
}

/** Node's own way of making the folders above never ends where the kernel refuses one of them with ENOENT, as below `/proc`. */
async function makeFolder(folder: string): Promise<void> {
  const made = await mkdir(folder).catch((error: NodeJS.ErrnoException) => error);
  if (made === undefined || made.code === 'EEXIST') return;
  if (made.code !== 'ENOENT' || dirname(folder) === folder) throw made;
  await makeFolder(dirname(folder));
  await mkdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
}

async function removeEmptyFolders(root: string, folder: string): Promise<void> {
  if (relative(root, folder).startsWith('..') || relative(root, folder) === '') return;
  try {
    await rmdir(folder);
  } catch {
    // The folder isn't empty.
    return;
  }
  await removeEmptyFolders(root, dirname(folder));
}

function unwritable(folder: string, error: unknown): StatusError {
  return new StatusError({
    code: 'TARGET_UNREACHABLE',
    message: `Can’t write to the folder ${folder}: ${messageOf(error)}. Check its permissions and the free disk space.`,
    cause: error,
  });
}
