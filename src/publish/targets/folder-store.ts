/** A folder that any static file server serves. */

import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { messageOf, StatusError } from '../../errors.ts';
import { PROBE, type TargetStore } from './target.ts';

/**
 * A folder as a target. Other files in it are left alone. All operations are asynchronous, because this thread also serves
 * visitors.
 */
export function createFolderStore(folder: string): TargetStore {
  const inFolder = (path: string): string => join(folder, path);
  const failing = async <Result>(task: () => Promise<Result>): Promise<Result> => {
    try {
      return await task();
    } catch (error) {
      throw unwritable(folder, error);
    }
  };
  const remove = async (path: string): Promise<void> => {
    await rm(inFolder(path), { force: true });
    await removeEmptyFolders(folder, dirname(inFolder(path)));
  };
  return {
    kind: 'folder',
    place: folder,
    settings: '',
    concurrency: 16,
    checkpointFiles: 500,
    readLedger: async (path) => {
      const file = inFolder(path);
      return existsSync(file) ? failing(async () => ({ text: await readFile(file, 'utf8'), version: '' })) : null;
    },
    writeLedger: async (path, text) => {
      await failing(() => writeWhole(inFolder(path), Buffer.from(text)));
      return '';
    },
    put: async (file) => {
      const body = await file.read();
      await failing(() => writeWhole(inFolder(file.path), body));
      return body.length;
    },
    remove: (path) => failing(() => remove(path)),
    has: (path) => existsSync(inFolder(path)),
    probe: async () => {
      await failing(async () => {
        await writeWhole(inFolder(PROBE.path), PROBE.bytes);
        await remove(PROBE.path);
      });
    },
    close: async () => undefined,
  };
}

/** Written to a temporary name first, so that a reader sees either the old file or the new one. */
async function writeWhole(path: string, body: Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const next = `${path}.pharos-next`;
  await writeFile(next, body);
  await rename(next, path);
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
