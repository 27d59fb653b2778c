/**
 * Types, templates, formatting, lint and dead code, all at once: `node scripts/check.ts [WORD]`, where a word chooses the steps that
 * it is in. What the types and the dead code of unchanged files are is kept from the last run.
 */

import { spawn } from 'node:child_process';

const STEPS = [
  // Several checkers look at much of the same, and the compiler's memory is collected less often: half of what it takes otherwise.
  'tsc --noEmit --incremental --tsBuildInfoFile dist/check.tsbuildinfo --checkers 1 -p .',
  'node scripts/check-templates.ts',
  'biome check --error-on-warnings .',
  'knip --cache',
];

/** Runs a step, and prints at its end what it said. */
async function passes(step: string): Promise<boolean> {
  const child = spawn(step, {
    shell: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { GOGC: '400', NODE_COMPILE_CACHE: 'dist/compile-cache', ...process.env },
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  const status = await new Promise((done) => child.once('close', done));
  process.stdout.write(status === 0 ? said : `${said}Failed: ${step}\n`);
  return status === 0;
}

const word = process.argv[2] ?? '';
const steps = STEPS.filter((step) => step.includes(word));
if (steps.length === 0) throw new Error(`No step has the word ${word}`);
if ((await Promise.all(steps.map(passes))).includes(false)) process.exitCode = 1;
