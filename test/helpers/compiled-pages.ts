/** Before a run of all tests: otherwise each of the processes that begin at once compiles the pages for itself. */

import { compilePages } from '../../src/publish/draw/compile-pages.ts';

export async function setup(): Promise<void> {
  // A few files may need no pages.
  const isWhole = process.argv.slice(2).every((word) => word === 'run' || word.startsWith('-'));
  if (isWhole) await compilePages();
}
