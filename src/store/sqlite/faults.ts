/** What SQLite says when it fails, in our errors. */

import { fileReason, isStatusError, messageOf, StatusError } from '../../errors.ts';

export const SQLITE_BUSY = 5;
export const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;

export function isSqliteError(error: unknown): error is Error & { errcode: number } {
  return error instanceof Error && typeof (error as { errcode?: unknown }).errcode === 'number';
}

export function isDamage(error: unknown): boolean {
  return isSqliteError(error) && (error.errcode === SQLITE_CORRUPT || error.errcode === SQLITE_NOTADB);
}

/** @param place path of the file, or what it is called */
export function unavailable(place: string, error: unknown): StatusError {
  if (isStatusError(error)) return error;
  return new StatusError({
    code: isDamage(error) ? 'STORE_CORRUPT' : 'STORE_UNAVAILABLE',
    message: `Can’t use ${place}: ${isSqliteError(error) ? messageOf(error) : fileReason(error)}. Check that the data folder is writable, has space and is used by one version of Pharos.`,
    cause: error,
  });
}

/** For whoever only looks at a database: a damaged one stays where it is. */
export function unreadable(file: string, error: unknown): StatusError {
  if (!isDamage(error)) return unavailable(file, error);
  return new StatusError({
    code: 'STORE_CORRUPT',
    message: `The database ${file} is damaged: ${messageOf(error)}. Nothing was changed. Restore a backup, or run pharos start, which moves the file aside and creates a new one.`,
    cause: error,
  });
}
