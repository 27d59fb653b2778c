import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/pharos.ts';

const ROOT = resolve(import.meta.dirname, '../..');
/** What a step of `npm run check` needs to look at the templates: types of all sources, or the text of some templates. */
const NEEDED = {
  'check-templates': ['src', 'scripts', 'package.json', 'tsconfig.json', 'tsconfig.templates.json'],
  biome: ['src/components/state', 'scripts', 'package.json', 'biome.json', '.gitignore'],
};

const { path: top, remove } = temporaryFolder();
beforeAll(() => {
  for (const [program, names] of Object.entries(NEEDED)) {
    const folder = join(top, program);
    for (const name of names) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  }
});
afterAll(remove);

type Edit = readonly [path: string, from: string, to: string];

/** The step of `npm run check` that runs a program, after these edits: what it printed, and whether it let everything pass. */
function check(program: keyof typeof NEEDED, edits: readonly Edit[]): { passes: boolean; output: string } {
  const folder = join(top, program);
  for (const [path, from, to] of edits) {
    const text = readFileSync(join(folder, path), 'utf8');
    expect(text).toContain(from);
    writeFileSync(join(folder, path), text.replaceAll(from, to));
  }
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
    const { passes, output } = check('check-templates', [
      ['src/views/incident/events.ts', 'olderText', 'earlierText'],
      ['src/views/words/en.json', 'noUpdates', 'noNews'],
      ['src/components/events/EventSection.astro', '<EventCard {event} ', '<EventCard event={heading} '],
      // The others take as long again.
      ['tsconfig.templates.json', '"src/**/*.astro"', '"src/components/events/*.astro"'],
    ]);
    expect(passes).toBe(false);
    expect(output).toMatch(/EventCard\.astro.*'olderText' does not exist on type 'EventView'/);
    expect(output).toMatch(/Story\.astro.*'noUpdates' does not exist on type 'Words'/);
    expect(output).toMatch(/EventSection\.astro.*'string' is not assignable to type 'EventView'/);
  });

  it('fails on a template that is not formatted, or imports what it does not draw', () => {
    const { passes, output } = check('biome', [
      ['src/components/state/When.astro', '<time datetime', '<time   datetime'],
      ['src/components/state/AsOf.astro', 'import When', "import Since from './Since.astro';\nimport When"],
    ]);
    expect(passes).toBe(false);
    expect(output).toMatch(/When\.astro format/);
    expect(output).toMatch(/AsOf\.astro.*noUnusedImports/);
  });
});
