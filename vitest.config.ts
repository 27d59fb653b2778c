import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { TEST_FLAGS } from './test/helpers/warm.ts';

/** These replace modules, measure the memory of their process, or import what only Vite finds: each has a process of its own. */
const ALONE = [
  'test/contract/gates-machine.test.ts',
  'test/contract/http-body.test.ts',
  'test/contract/pass-fuzz.test.ts',
  'test/contract/same-work.test.ts',
  'test/e2e/package.test.ts',
];

/**
 * What takes ten seconds or more, in the order in which it begins: the longest first, so that no process is left with one of them
 * at the end, and those that compute between those that wait.
 */
const LONG = [
  'test/e2e/nodes.test.ts',
  'test/e2e/subscriptions.test.ts',
  'test/e2e/checks-places.test.ts',
  'test/e2e/manage-api.test.ts',
  'test/contract/publisher.test.ts',
  'test/e2e/nodes-visitors.test.ts',
  'test/e2e/pages-matrix.test.ts',
  'test/contract/redraw.test.ts',
  'test/e2e/nodes-chaos.test.ts',
  'test/e2e/read-only.test.ts',
  'test/e2e/own-components.test.ts',
  'test/contract/failing-questions.test.ts',
  'test/e2e/api-languages.test.ts',
  'test/contract/page-log.test.ts',
  'test/e2e/gates-matrix.test.ts',
  'test/contract/hanging-store.test.ts',
  'test/e2e/postgres.test.ts',
  'test/e2e/front-door.test.ts',
  'test/contract/connector-faults.test.ts',
  'test/e2e/upgrade.test.ts',
  'test/e2e/command-line.test.ts',
  'test/e2e/checks.test.ts',
  'test/e2e/redraw-sources.test.ts',
  'test/e2e/docs.test.ts',
  'test/e2e/commands.test.ts',
  'test/e2e/targets.test.ts',
  'test/e2e/web-nodes.test.ts',
  'test/e2e/web-nodes-postgres.test.ts',
  'test/e2e/ops.test.ts',
  'test/e2e/statuspage-clients.test.ts',
  'test/e2e/statuspage-table.test.ts',
  'test/consistency/consistency.test.ts',
  'test/e2e/deploy-proxies.test.ts',
  'test/e2e/gates-cache.test.ts',
  'test/e2e/network.test.ts',
  'test/e2e/init.test.ts',
  'test/contract/templates-check.test.ts',
  'test/contract/stored-releases.test.ts',
  'test/e2e/api-kills.test.ts',
  'test/contract/store-durability.test.ts',
];
const missing = LONG.filter((path) => !existsSync(join(import.meta.dirname, path)));
if (missing.length > 0) throw new Error(`vitest.config.ts names tests that are not there: ${missing.join(', ')}`);

const rankOf = ({ moduleId }: TestSpecification): number => {
  const at = LONG.findIndex((path) => moduleId.endsWith(`/${path}`));
  return at === -1 ? LONG.length : at;
};

/** In a fresh clone nothing is known of how long files take, and Vitest goes by their size. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isAlone = ({ project }: TestSpecification): boolean => project.config.isolate;
    // A process that is shared is kept only while nothing else comes between.
    return [
      ...sorted.filter(isAlone),
      ...sorted.filter((one) => !isAlone(one)).toSorted((a, b) => rankOf(a) - rankOf(b)),
    ];
  }
}

export default defineConfig({
  test: {
    // Nobody waits for it but who runs the tests on a machine that does much else.
    testTimeout: 120_000,
    hookTimeout: 240_000,
    // Where one waits for a clock or a browser, another has something to compute.
    maxWorkers: 4,
    sequence: { sequencer: LongFirst },
    globalSetup: ['test/helpers/memory-folder.ts', 'test/helpers/compiled-pages.ts'],
    // Threads and processes that tests begin compile nothing that was compiled before.
    env: {
      TZ: 'America/St_Johns',
      NODE_COMPILE_CACHE: join(import.meta.dirname, 'dist/compile-cache'),
      // glibc keeps what was given back, instead of having the system clear it each time. `start` and `serve` find this set, and
      // don't begin again with settings that spare memory.
      MALLOC_TRIM_THRESHOLD_: String(2 ** 30),
      MALLOC_MMAP_THRESHOLD_: String(2 ** 25),
      // Of what tests try by chance, a quarter; 1 or more before a release.
      PHAROS_TEST_SCALE: process.env['PHAROS_TEST_SCALE'] ?? '0.25',
    },
    projects: [
      {
        extends: true,
        test: {
          name: 'shared',
          include: ['test/{unit,contract,consistency,e2e}/**/*.test.ts'],
          exclude: ALONE,
          // What files import is evaluated once for each worker, not once for each file.
          isolate: false,
          // Node runs our sources as they are, here too. Transformed, they take longer to load and to run.
          experimental: { viteModuleRunner: false, nodeLoader: false },
          execArgv: TEST_FLAGS,
        },
      },
      { extends: true, test: { name: 'alone', include: ALONE } },
    ],
  },
});
