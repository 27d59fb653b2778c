/** Loaded into a process ahead of everything else: its thread that publishes first runs the code in `PHAROS_TEST_PUBLISHER`. */

import { syncBuiltinESMExports } from 'node:module';
import threads from 'node:worker_threads';

const late = (module) => {
  const code = `${process.env.PHAROS_TEST_PUBLISHER}\nawait import(${JSON.stringify(String(module))});`;
  return new URL(`data:text/javascript,${encodeURIComponent(code)}`);
};

threads.Worker = class extends threads.Worker {
  constructor(module, options) {
    super(String(module).includes('/publisher-thread.') ? late(module) : module, options);
  }
};
syncBuiltinESMExports();
