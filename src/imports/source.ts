/** What importers read from: files, rows of a database, and addresses that are asked one question after another. */

import { isStatusError } from '../errors.ts';

/** The JSON at a path. @throws a StatusError where there is none */
export type Ask = (path: string) => Promise<unknown>;

/** The same where an answer may be missing: null, or what was thrown where `tell` wants to know it. */
export async function askIfThere(
  ask: Ask,
  path: string,
  tell: (error: Error) => void = () => undefined,
): Promise<unknown> {
  try {
    return await ask(path);
  } catch (error) {
    if (!isStatusError(error)) throw error;
    tell(error);
    return null;
  }
}

/** A file below the folder that the operator named: `content/issues/2024-api.md`. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** Rows of the database of another program. */
export type Select = (
  sql: string,
  parameters?: readonly (string | number | null)[],
) => Promise<readonly Readonly<Record<string, unknown>>[]>;
