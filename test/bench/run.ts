/**
 * `npm run bench [name …]`: every benchmark in this folder, or those named, one after the other in a process of its own,
 * so that none warms another up. Figures are printed beside their budgets; docs/benchmarks.md keeps them.
 */

import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { basename, join } from 'node:path';

/** Files that are no benchmarks, or that only run when named: they take many minutes. */
const PARTS = new Set(['run', 'big-site', 'peers', 'peer-site']);
const ONLY_WHEN_NAMED = new Set(['soak']);

const all = readdirSync(import.meta.dirname)
  .filter((name) => name.endsWith('.ts'))
  .map((name) => basename(name, '.ts'))
  .filter((name) => !PARTS.has(name));
const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !all.includes(name));
if (unknown.length > 0) {
  console.error(`There is no benchmark ${unknown.join(', ')}; there are ${all.join(', ')}.`);
  process.exit(2);
}

console.log(
  `${cpus().length} cores (${cpus()[0]?.model ?? 'unknown'}), ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`,
);
let hasFailed = false;
for (const name of asked.length > 0 ? asked : all.filter((one) => !ONLY_WHEN_NAMED.has(one))) {
  console.log(`\n# ${name}`);
  const file = join(import.meta.dirname, `${name}.ts`);
  const child = spawn(process.execPath, ['--expose-gc', '-e', `await (await import(${JSON.stringify(file)})).run()`], {
    stdio: 'inherit',
  });
  const status = await new Promise((done) => child.once('exit', done));
  if (status !== 0) hasFailed = true;
}
process.exitCode = hasFailed ? 1 : 0;
