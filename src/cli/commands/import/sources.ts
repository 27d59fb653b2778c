/** Where imports read from: files, folders and addresses that the command line names. */

import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parse } from 'yaml';
import { now } from '../../../app/clock.ts';
import { fileReason, isStatusError, messageOf } from '../../../errors.ts';
import type { Ask, Select, SourceFile } from '../../../imports/source.ts';
import { MINUTE_MS, SECOND_MS } from '../../../model/time.ts';
import { proxySettings } from '../../../network/proxy.ts';
import { openSqliteReader } from '../../../store/sqlite/sqlite.ts';
import { createHttp } from '../../../sync/http/http.ts';
import { parseJson } from '../../../sync/http/json.ts';
import { UsageError } from '../../terminal/exit.ts';
import { createProgress } from '../../terminal/progress.ts';

/** Importing is in no hurry, and whoever is asked has others to serve. */
const PAUSE_MS = 100;
const TRIES_MAX = 4;
const PATIENCE_MAX_MS = 2 * MINUTE_MS;
/** Documents about somebody's incidents are small; a folder of them may be large. */
const FILE_BYTES_MAX = 64 * 1024 * 1024;

export function isAddress(place: string): boolean {
  return /^https?:\/\//i.test(place);
}

/** What may be asked below an address: tells a terminal of each request, and closes the connections afterwards. */
export async function askingAt<T>(
  place: string,
  { json }: { readonly json?: boolean },
  use: (ask: Ask) => Promise<T>,
): Promise<T> {
  const url = URL.parse(place);
  if (url === null || url.username !== '' || url.search !== '' || url.hash !== '')
    throw new UsageError(`${place} is not a valid address. Pass it without user name, query or fragment.`);
  const base = url.href.replace(/\/+$/, '');
  const http = createHttp({ proxy: proxySettings(process.env) });
  const progress = createProgress(json ?? false);
  let requests = 0;
  const ask: Ask = async (path) => {
    for (let tries = 1; ; tries += 1) {
      if (requests > 0) await wait(PAUSE_MS);
      requests += 1;
      progress.doing(`request ${requests} to ${url.host}`);
      try {
        const { payload } = await http.request({ method: 'GET', url: base + path, headers: {} }, { now });
        return payload;
      } catch (error) {
        const delay = delayAfter(error, tries);
        if (delay === null) throw error;
        progress.did(`${messageOf(error)} Trying again in ${Math.ceil(delay / SECOND_MS)} s.`);
        await wait(delay);
      }
    }
  };
  try {
    return await use(ask);
  } finally {
    progress.end();
    await http.close();
  }
}

/** How long to wait before asking again; null: it is of no use. */
function delayAfter(error: unknown, tries: number): number | null {
  if (!isStatusError(error) || !error.retryable || tries >= TRIES_MAX) return null;
  const ms = error.retryAt === null ? tries * SECOND_MS : error.retryAt - now();
  return ms > PATIENCE_MAX_MS ? null : Math.max(0, ms);
}

/** A file's bytes. @throws UsageError */
function bytesOf(place: string): Buffer {
  try {
    const { size } = statSync(place);
    if (size > FILE_BYTES_MAX) throw new UsageError(`${place} is larger than ${FILE_BYTES_MAX / 1024 / 1024} MB.`);
    return readFileSync(place);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(
      `Can’t read ${place}: ${fileReason(error)}. Pass an existing file, or an address that starts with https://.`,
    );
  }
}

/** A JSON file. @throws UsageError */
export function jsonOf(place: string): unknown {
  const parsed = parseJson(bytesOf(place));
  if (parsed.isValid) return parsed.value;
  throw new UsageError(`${place} is not JSON: it ${parsed.reason}.`);
}

/** Text files of a folder and what is in it, by a test of their path there, in the order of their paths. @throws UsageError */
export function filesIn(folder: string, isWanted: (path: string) => boolean): SourceFile[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
      .filter((path) => isWanted(path))
      .toSorted()
      .map((path) => ({ path, text: bytesOf(join(folder, path)).toString('utf8') }));
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(
      `Can’t read ${folder}: ${fileReason(error)}. Pass the folder of the repository, as \`git clone\` made it.`,
    );
  }
}

export function nameOf(place: string): string {
  return basename(place);
}

/** A YAML file. @throws UsageError */
export function yamlOf(place: string): unknown {
  const text = bytesOf(place).toString('utf8');
  try {
    return parse(text);
  } catch (error) {
    throw new UsageError(`${place} is not YAML: ${messageOf(error).split('\n')[0]}`);
  }
}

const SQLITE_BEGIN = 'SQLite format 3\0';

/** Whether a file is an SQLite database. @throws UsageError where it cannot be read */
export function isDatabase(place: string): boolean {
  try {
    const file = openSync(place, 'r');
    try {
      const head = Buffer.alloc(SQLITE_BEGIN.length);
      readSync(file, head);
      return head.toString('latin1') === SQLITE_BEGIN;
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw new UsageError(
      `Can’t read ${place}: ${fileReason(error)}. Pass an existing file, or an address that starts with https://.`,
    );
  }
}

/** Reads the database of another program, and writes nothing to it. @throws UsageError where it is not that of the program */
export async function databaseAt<T>(place: string, program: string, use: (select: Select) => Promise<T>): Promise<T> {
  const refuse = (error: unknown): UsageError => {
    const reason = error instanceof Error && error.cause instanceof Error ? error.cause.message : messageOf(error);
    return new UsageError(
      `Can’t read ${place} as a database of ${program}: ${reason}. If it is in use, stop ${program} before you copy it.`,
    );
  };
  let database: ReturnType<typeof openSqliteReader>;
  try {
    database = openSqliteReader(place);
  } catch (error) {
    throw refuse(error);
  }
  try {
    return await use((sql, parameters = []) =>
      database.all(sql, parameters).catch((error: unknown) => {
        throw refuse(error);
      }),
    );
  } finally {
    await database.close();
  }
}
