/**
 * `npm run bench [-- --record] [name …]`: every benchmark, or those named, one after the other in a process of its own, so that none
 * warms another up; `all` also means those that take many minutes. Figures are printed beside their budgets; with `--record` they
 * also go into docs/benchmarks.json and the tables of docs/benchmarks.md. Budgets that were missed are listed at the end. A missed
 * budget is a figure, and figures depend on the machine: the status is 1 only when a benchmark could not be run to its end.
 */

import { spawn } from 'node:child_process';
import { cpus, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';
import { MINUTE_MS, SECOND_MS } from '../../src/model/time.ts';
import { BENCHES } from './benches.ts';
import type { Judged, ToldFigure } from './budget.ts';
import { measurePace } from './pace.ts';
import { keepRun, readCircumstances } from './record.ts';

/** One that hangs must not keep the others from being run. */
const MINUTES_MAX = 60;

const all = Object.keys(BENCHES);
const names = process.argv.slice(2).filter((one) => one !== '--record');
const unknown = names.filter((name) => name !== 'all' && !all.includes(name));
if (unknown.length > 0) {
  console.error(`There is no benchmark ${unknown.join(', ')}; there are ${all.join(', ')}.`);
  process.exit(2);
}
const usual = all.filter((name) => BENCHES[name]?.isOnlyWhenNamed !== true);
const chosen = names.includes('all') ? all : names.length > 0 ? names : usual;
const circumstances = process.argv.includes('--record') ? readCircumstances(loadavg()[0] ?? 0) : null;

console.log(
  `${cpus().length} cores (${cpus()[0]?.model ?? 'unknown'}), ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`,
);
const missed: string[] = [];
const broken: string[] = [];
for (const name of chosen) {
  const paceMs = Math.round(measurePace());
  console.log(`\n# ${name}, at a pace of ${paceMs} ms`);
  const file = join(import.meta.dirname, `${name}.ts`);
  const child = spawn(process.execPath, ['--expose-gc', '-e', `await (await import(${JSON.stringify(file)})).run()`], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  const figures: Judged[] = [];
  child.on('message', ({ judged, missed: line }: ToldFigure) => {
    figures.push(judged);
    if (line !== null) missed.push(`${name}: ${line}`);
  });
  const startedAt = performance.now();
  const limit = setTimeout(() => child.kill(), MINUTES_MAX * MINUTE_MS);
  const status = await new Promise((done) => child.once('exit', done));
  clearTimeout(limit);
  console.log(`${name} took ${Math.round((performance.now() - startedAt) / SECOND_MS)} s`);
  if (status !== 0) broken.push(`${name} ended with ${String(status)}; after ${MINUTES_MAX} minutes it is stopped`);
  else if (figures.length === 0) broken.push(`${name} could measure nothing here`);
  else if (circumstances !== null) keepRun(name, { ...circumstances, paceMs, figures });
}
const faults = [...missed, ...broken];
console.log(faults.length === 0 ? '\nEvery budget was kept.' : `\nBudgets missed, or not measured (${faults.length}):`);
for (const line of faults) console.log(`  ${line}`);
process.exitCode = broken.length > 0 ? 1 : 0;
