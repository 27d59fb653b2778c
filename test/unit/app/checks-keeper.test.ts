import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const MODULE = pathToFileURL(resolve(import.meta.dirname, '../../../src/app/nodes/checks.ts')).href;

/** In a process of its own, where nothing else has timers. */
const SCRIPT = `
  const { createChecksKeeper } = await import(${JSON.stringify(MODULE)});
  const live = { upstreams: () => [], config: () => ({ checks: { resolver: [] } }) };
  const log = { warn: console.error, error: console.error };
  const keeper = createChecksKeeper({ live, log }, {}, { leaseOf: () => null });
  keeper.open(Promise.resolve());
  await keeper.close();
  console.log(process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length);
`;

it('leaves no timer behind, which would keep a process that is stopped soon after its start from ending', async () => {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', SCRIPT]);
  expect([stdout, stderr]).toEqual(['0\n', '']);
});
