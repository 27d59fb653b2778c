/** Loaded into a process and its threads ahead of everything else: `plain-pictures.ts` stands for the thread that draws social images. */

import { syncBuiltinESMExports } from 'node:module';
import threads from 'node:worker_threads';

const PLAIN = new URL('plain-pictures.ts', import.meta.url);

threads.Worker = class extends threads.Worker {
  constructor(module, options) {
    super(String(module).includes('/picture-thread.') ? PLAIN : module, options);
  }
};
syncBuiltinESMExports();
