/** Badges drawn on demand from the data of a release. */

import type { FileAnswer } from './file-answer.ts';
import type { ReleaseReader } from './release-reader.ts';

/** Answers addresses of badges; null for every other address. */
export function createBadgeDesk(_reader: ReleaseReader): (request: { readonly slug: string; readonly path: string; readonly query: URLSearchParams }) => FileAnswer | null {
  return () => null;
}
