/** Questions that are answered from disk: state files and folders of posts that the operator named. */

import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isStatusError, messageOf, StatusError } from '../../errors.ts';
import type { EpochMs } from '../../model/time.ts';
import { HTTP_LIMITS, type HttpAnswer } from '../http/http.ts';
import type { HttpQuestion } from '../http/http-question.ts';
import { parseJson, plainText } from '../http/json.ts';

/** Posts by hand are tens or hundreds; more is a wrong folder. */
const FILES_MAX = 10_000;

/** Whether a question is answered from disk. */
export function isFileQuestion(question: HttpQuestion): boolean {
  return question.url.startsWith('file:');
}

/**
 * Answers a `file:` question with status 200.
 *
 * A folder gives its files, sorted by name, without sub-folders and names that begin with a dot.
 *
 * @throws UPSTREAM_REFUSED when it is not there or may not be read, UPSTREAM_SHAPE when it is too large or unreadable
 */
export async function readFileQuestion(question: HttpQuestion, now: EpochMs): Promise<HttpAnswer> {
  try {
    const path = fileURLToPath(question.url);
    const payload = question.reads === 'folder' ? await readFolder(path) : await readOne(path, question.reads);
    return { status: 200, payload, at: now, clockSkewMs: null, remaining: null };
  } catch (error) {
    if (isStatusError(error)) throw error;
    const words =
      (error as { code?: unknown }).code === 'ENOTDIR' ? 'it is a file where a folder was expected' : messageOf(error);
    throw new StatusError({
      code: 'UPSTREAM_REFUSED',
      message: `${question.url} cannot be read: ${words}. Check that it is there and that Pharos may read it.`,
      cause: error,
    });
  }
}

async function readOne(path: string, reads: HttpQuestion['reads']): Promise<unknown> {
  requireSize(path, (await stat(path)).size);
  const bytes = await readFile(path);
  if (reads === 'text') return plainText(new TextDecoder().decode(bytes));
  const parsed = parseJson(bytes);
  if (!parsed.isValid) throw unreadable(path, `it ${parsed.reason}`);
  return parsed.value;
}

async function readFolder(path: string): Promise<readonly { readonly name: string; readonly text: string }[]> {
  const entries = await readdir(path, { withFileTypes: true });
  const names = entries.filter((entry) => !entry.isDirectory() && !entry.name.startsWith('.')).map(({ name }) => name);
  if (names.length > FILES_MAX) throw unreadable(path, `it holds more than ${FILES_MAX} files`);
  let bytesTotal = 0;
  const files: { name: string; text: string }[] = [];
  for (const name of names.sort()) {
    bytesTotal += (await stat(join(path, name))).size;
    requireSize(path, bytesTotal);
    files.push({ name, text: plainText(new TextDecoder().decode(await readFile(join(path, name)))) });
  }
  return files;
}

function requireSize(path: string, bytes: number): void {
  if (bytes > HTTP_LIMITS.bytesMax) throw unreadable(path, `it is larger than ${HTTP_LIMITS.bytesMax} bytes`);
}

function unreadable(path: string, words: string): StatusError {
  return new StatusError({ code: 'UPSTREAM_SHAPE', message: `${path} cannot be taken: ${words}.` });
}
