import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

/** These replace modules, or measure the memory of their process: each has a process of its own. */
const ALONE = [
  'test/contract/gates-machine.test.ts',
  'test/contract/http-body.test.ts',
  'test/contract/pass-fuzz.test.ts',
];

export default defineConfig({
  test: {
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Where one waits for a clock or a browser, another has something to compute.
    maxWorkers: 3,
    globalSetup: 'test/helpers/memory-folder.ts',
    // Threads and processes that tests begin compile nothing that was compiled before.
    env: { TZ: 'America/St_Johns', NODE_COMPILE_CACHE: join(import.meta.dirname, 'dist/compile-cache') },
    projects: [
      {
        extends: true,
        test: {
          name: 'shared',
          include: ['test/{unit,contract,consistency,e2e}/**/*.test.ts'],
          exclude: ALONE,
          // What files import is evaluated once for each worker, not once for each file.
          isolate: false,
        },
      },
      { extends: true, test: { name: 'alone', include: ALONE } },
    ],
  },
});
