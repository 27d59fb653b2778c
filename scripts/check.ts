/**
 * Types, templates, formatting, lint and dead code, all at once: `node scripts/check.ts [WORD]`, where a word chooses the steps that
 * it is in. What the types and the dead code of unchanged files are is kept from the last run, and a step that passed isn't
 * repeated until a file changes.
 */

import { spawn, spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const STEPS = [
  // Several checkers look at much of the same, and the compiler's memory is collected less often: half of what it takes otherwise.
  'tsc --noEmit --incremental --tsBuildInfoFile dist/check.tsbuildinfo --checkers 1 -p .',
  'node scripts/check-templates.ts',
  'biome check --error-on-warnings .',
  'knip --cache',
];

/** For each step, the digest of the checkout in which it passed last. */
const PASSED = 'dist/check';

/** Of all that steps read: every file that Git doesn't ignore, and what is installed. Null: this isn't a checkout. */
function digestCheckout(): string | null {
  const { status, stdout } = spawnSync('git', ['ls-files', '-coz', '--exclude-standard'], { encoding: 'utf8' });
  if (status !== 0 || !existsSync('.git')) return null;
  const paths = [...stdout.split('\0').filter(existsSync), 'node_modules/.package-lock.json'].toSorted();
  const digests = paths.map((path) => `${path} ${existsSync(path) ? hash('sha256', readFileSync(path)) : ''}`);
  return hash('sha256', [process.version, ...digests].join('\n'));
}

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
const checkout = digestCheckout();
const results = steps.map(async (step) => {
  const passed = join(PASSED, hash('sha256', step).slice(0, 16));
  if (checkout !== null && existsSync(passed) && readFileSync(passed, 'utf8') === checkout) return true;
  if (!(await passes(step))) return false;
  if (checkout !== null) {
    mkdirSync(PASSED, { recursive: true });
    writeFileSync(passed, checkout);
  }
  return true;
});
if ((await Promise.all(results)).includes(false)) process.exitCode = 1;
