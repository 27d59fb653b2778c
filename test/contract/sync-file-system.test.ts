import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { syncFileSystem } from '../../src/publish/releases/disk.ts';
import { temporaryFolder } from '../helpers/pharos.ts';

const MODULE = new URL('../../src/publish/releases/disk.ts', import.meta.url).href;
const folder = temporaryFolder();
afterAll(() => folder.remove());

it('answers for each path in its turn, whatever is in its name', async () => {
  const hostile = join(folder.path, '$(touch pwned) "quoted" \'too\' \\n -f');
  mkdirSync(hostile);
  const paths = [hostile, join(folder.path, 'nowhere'), folder.path, `${folder.path}\nnowhere`, hostile];
  expect(await Promise.all(paths.map(syncFileSystem))).toEqual([true, false, true, false, true]);
  expect(await syncFileSystem(folder.path)).toBe(true);
});

it('keeps a process until it has answered, and not a moment longer', async () => {
  const script = `import { syncFileSystem } from '${MODULE}';
    process.stdout.write(String(await syncFileSystem(process.argv[1])));
    const { Worker } = await import('node:worker_threads');
    new Worker(\`import('${MODULE}').then((it) => it.syncFileSystem('/')).then((done) => console.log(done))\`, { eval: true });`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script, folder.path], {
    timeout: 30_000,
  });
  expect(stdout.trim()).toBe('truetrue');
});
