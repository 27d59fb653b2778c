/** How importers ask: by a path below the address that the operator gave, one question after another. */

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
