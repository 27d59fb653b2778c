/** Questions that are answered from disk: state files and folders of posts that the operator named. */

import { constants } from 'node:fs';
import { open, readdir, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fileReason, isStatusError, StatusError } from '../../errors.ts';
import type { EpochMs } from '../../model/time.ts';
import { HTTP_LIMITS, type HttpAnswer } from '../http/http.ts';
import type { HttpQuestion } from '../http/http-faults.ts';
import { parseJson, plainText } from '../http/json.ts';

/** There are tens or hundreds of posts; with more, this is the wrong folder. */
const FILES_MAX = 10_000;

/**
 * Answers a `file:` question with status 200.
 *
 * A folder gives its files, sorted by name, without sub-folders and names that begin with a dot; what is no file or
 * leads out of the folder is named with its fault and not opened.
 *
 * @throws UPSTREAM_REFUSED when it is not there or may not be read, UPSTREAM_SHAPE when it is too large or unreadable
 */
export async function readFileQuestion({ url, reads }: HttpQuestion, now: EpochMs): Promise<HttpAnswer> {
  let path = url;
  try {
    path = fileURLToPath(url);
    const payload = reads === 'folder' ? await readFolder(path) : await readOne(path, reads);
    return { status: 200, payload, at: now, clockSkewMs: null, remaining: null };
  } catch (error) {
    if (isStatusError(error)) throw error;
    const words =
      (error as { code?: unknown }).code === 'ENOTDIR' ? 'expected a folder, found a file' : fileReason(error);
    const message = `Can’t read ${path}: ${words}. Check that it exists and that Pharos has access.`;
    throw new StatusError({ code: 'UPSTREAM_REFUSED', message, cause: error });
  }
}

async function readOne(path: string, reads: HttpQuestion['reads']): Promise<unknown> {
  const bytes = await readRegular(path, HTTP_LIMITS.bytesMax);
  if (reads === 'text') return plainText(new TextDecoder().decode(bytes));
  const parsed = parseJson(bytes);
  if (!parsed.isValid) throw unreadable(path, `it ${parsed.reason}`);
  return parsed.value;
}

/**
 * The files of a folder; `fault` says why one was not opened, and then `text` is empty. Links may point to other files in the folder, as in mounted volumes, and nowhere else: someone who can write a post must not
 * be able to publish files that only Pharos may read.
 */
async function readFolder(path: string) {
  const root = await realpath(path);
  const entries = await readdir(root, { withFileTypes: true });
  const visible = entries.filter((entry) => !entry.isDirectory() && !entry.name.startsWith('.'));
  if (visible.length > FILES_MAX) throw unreadable(path, `it contains more than ${FILES_MAX} files`);
  let bytesLeft = HTTP_LIMITS.bytesMax;
  return Array.fromAsync(
    visible.sort((a, b) => (a.name < b.name ? -1 : 1)),
    async ({ name }) => {
      const place = await placeWithin(root, name);
      if ('fault' in place) return { name, text: '', ...place };
      const bytes = await readRegular(place.path, bytesLeft);
      bytesLeft -= bytes.length;
      return { name, text: plainText(new TextDecoder().decode(bytes)) };
    },
  );
}

async function placeWithin(root: string, name: string): Promise<{ path: string } | { fault: string }> {
  const path = await realpath(join(root, name)).catch(() => null);
  if (path === null) return { fault: 'is a broken link' };
  if (!path.startsWith(root.endsWith(sep) ? root : `${root}${sep}`))
    return { fault: 'is a link to a file outside the folder; copy the file instead' };
  return (await stat(path)).isFile() ? { path } : { fault: 'is not a regular file' };
}

/** Only regular files are read: opening a named pipe would block until someone writes to it. */
async function readRegular(path: string, bytesMax: number): Promise<Buffer> {
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const found = await file.stat();
    if (!found.isFile()) throw unreadable(path, 'it is not a regular file');
    if (found.size > bytesMax) throw unreadable(path, `it is larger than ${HTTP_LIMITS.bytesMax} bytes`);
    return await file.readFile();
  } finally {
    await file.close();
  }
}

function unreadable(path: string, words: string): StatusError {
  return new StatusError({ code: 'UPSTREAM_SHAPE', message: `Can’t use ${path}: ${words}.` });
}
