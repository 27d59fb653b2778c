/**
 * `npm run bench [name …]`: every benchmark in this folder, or those named, one after the other in a process of its own,
 * so that none warms another up. Figures are printed beside their budgets and docs/benchmarks.md keeps them; budgets that
 * were missed are listed at the end. A missed budget is a figure, and figures depend on the machine: the status is 1 only
 * when a benchmark could not be run to its end.
 */

import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { basename, join } from 'node:path';
import type { MissedBudget } from './budget.ts';

/** Files that are no benchmarks, and benchmarks that only run when named: they take many minutes. */
const PARTS = new Set([
  'run',
  'bare-node',
  'budget',
  'big-site',
  'peer-site',
  'posts-site',
  'trace',
  'publish-case',
  'load',
  'nginx',
]);
const ONLY_WHEN_NAMED = new Set(['soak', 'peers']);

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
const missed: string[] = [];
const broken: string[] = [];
for (const name of asked.length > 0 ? asked : all.filter((one) => !ONLY_WHEN_NAMED.has(one))) {
  console.log(`\n# ${name}`);
  const file = join(import.meta.dirname, `${name}.ts`);
  const child = spawn(process.execPath, ['--expose-gc', '-e', `await (await import(${JSON.stringify(file)})).run()`], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  child.on('message', (message: MissedBudget) => missed.push(`${name}: ${message.missed}`));
  const status = await new Promise((done) => child.once('exit', done));
  if (status !== 0) broken.push(`${name} ended with ${String(status)}`);
}
console.log(missed.length === 0 ? '\nEvery budget was kept.' : `\nBudgets missed (${missed.length}):`);
for (const line of [...missed, ...broken]) console.log(`  ${line}`);
process.exitCode = broken.length > 0 ? 1 : 0;
