/**
 * Publishes the sandbox's world as of one fixed instant and writes the hash of every published file to the file named:
 * `node scripts/published-digest.ts before.txt`. A refactoring that should change no page is shown to change none by
 * comparing the file from before with the one from after.
 */

import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { main } from '../src/cli/main.ts';
import { toEpochMs } from '../src/model/time.ts';
import { startSandbox } from '../test/sandbox/sandbox.ts';

const AT = toEpochMs(Date.parse('2026-11-21T09:13:00Z'));
/** Made of the others, and compressed at levels that depend on how much there is to do. */
const PRECOMPRESSED = /\.(?:br|gz|zst)$/;
/** What a target remembers of what it holds; it names the version of the renderer. */
const LEDGER = /\/\.pharos/;

// The command line reads the clock of the process.
Date.now = () => AT;
const [output = 'published-digest.txt', keepIn] = process.argv.slice(2).map((path) => resolve(path));
const folder = mkdtempSync(join(tmpdir(), 'pharos-digest-'));
const sandbox = await startSandbox({ port: 0, now: () => AT });
try {
  Object.assign(process.env, sandbox.environment());
  const text = sandbox
    .configText()
    .replace(/url: "?http:\/\/127\.0\.0\.1:\d+"?(?=[,\s}])/, 'url: "https://status.example"');
  writeFileSync(join(folder, 'pharos.yaml'), `${text}\ndata: ./data\n`);
  process.chdir(folder);
  const status = await main(['build', '--out', 'out', '--quiet']);
  const lines = ['data/site/public', 'data/site/private', 'out']
    .flatMap((root) => filesBelow(join(folder, root)))
    .filter((path) => !PRECOMPRESSED.test(path) && !LEDGER.test(path))
    .map((path) => `${digestOf(path)}  ${relative(folder, path)}\n`);
  writeFileSync(output, lines.join(''));
  if (keepIn !== undefined) cpSync(folder, keepIn, { recursive: true, dereference: true });
  process.exitCode = status;
} finally {
  await sandbox.stop();
  rmSync(folder, { recursive: true, force: true });
}

function filesBelow(path: string): string[] {
  return readdirSync(path, { withFileTypes: true })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const at = join(path, entry.name);
      if (entry.isFile()) return [at];
      return filesBelow(at);
    });
}

function digestOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}
