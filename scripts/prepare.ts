/** Compiles the pages right after installing, so that the first start serves at once. */

import { compileRenderer } from '../src/publish/draw/load-renderer.ts';

await compileRenderer();
