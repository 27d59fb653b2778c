import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/pharos.ts';

const ROOT = resolve(import.meta.dirname, '../..');
/** What `npm run check` needs to look at the templates. */
const NEEDED = [
  'src',
  'scripts',
  'package.json',
  'biome.json',
  '.gitignore',
  'tsconfig.json',
  'tsconfig.templates.json',
];

const { path: folder, remove } = temporaryFolder();
beforeAll(() => {
  for (const name of NEEDED) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
});
afterAll(remove);

const renamed = new Set<string>();
afterEach(() => {
  for (const path of renamed) cpSync(join(ROOT, path), join(folder, path));
  renamed.clear();
});

/** Changes a file until the end of the test. */
function rename(path: string, from: string, to: string): void {
  const text = readFileSync(join(folder, path), 'utf8');
  expect(text).toContain(from);
  writeFileSync(join(folder, path), text.replaceAll(from, to));
  renamed.add(path);
}

/** The step of `npm run check` that runs a program: what it printed, and whether it let everything pass. */
function check(program: string): { readonly passes: boolean; readonly output: string } {
  const { scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { scripts: { check: string } };
  const env = { ...process.env, NO_COLOR: '1', PATH: `${join(ROOT, 'node_modules/.bin')}:${process.env['PATH']}` };
  const { status, stdout, stderr } = spawnSync(`${scripts.check} ${program}`, {
    cwd: folder,
    env,
    shell: true,
    encoding: 'utf8',
  });
  return { passes: status === 0, output: stdout + stderr };
}

// That it says nothing where everything fits is seen whenever it runs, which is before all tests.
describe('npm run check', () => {
  it('fails on a renamed field of a view, a renamed word and a wrong property, and names the templates', () => {
    rename('src/views/incident/events.ts', 'olderText', 'earlierText');
    rename('src/views/words/en.json', 'noUpdates', 'noNews');
    rename('src/components/events/EventSection.astro', '<EventCard {event} ', '<EventCard event={heading} ');
    const { passes, output } = check('check-templates');
    expect(passes).toBe(false);
    expect(output).toMatch(/EventCard\.astro.*'olderText' does not exist on type 'EventView'/);
    expect(output).toMatch(/Story\.astro.*'noUpdates' does not exist on type 'Words'/);
    expect(output).toMatch(/EventSection\.astro.*'string' is not assignable to type 'EventView'/);
  });

  it('fails on a template that is not formatted, or imports what it does not draw', () => {
    rename('src/components/state/When.astro', '<time datetime', '<time   datetime');
    rename('src/components/state/AsOf.astro', 'import When', "import Since from './Since.astro';\nimport When");
    const { passes, output } = check('biome');
    expect(passes).toBe(false);
    expect(output).toMatch(/When\.astro format/);
    expect(output).toMatch(/AsOf\.astro.*noUnusedImports/);
  });
});
