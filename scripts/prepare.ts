/** Compiles the pages right after installing, so that the first start serves at once. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { compilePages } from '../src/publish/draw/compile-pages.ts';

// Without development dependencies there is nothing to compile with; whoever starts it then is told.
if (existsSync(join(import.meta.dirname, '..', 'node_modules', 'astro'))) await compilePages();
