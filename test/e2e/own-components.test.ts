import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findWords } from '../../src/views/words/index.ts';
import { launchBrowser } from '../helpers/browser.ts';
import { eventually, type RunningPharos, temporaryFolder } from '../helpers/pharos.ts';
import { runWarm, startWarm } from '../helpers/warm.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const EXAMPLE = join(ROOT, 'docs/look-example');

const folder = temporaryFolder();
const at = (path: string) => join(folder.path, path);
beforeAll(() => cpSync(EXAMPLE, folder.path, { recursive: true }));
afterAll(folder.remove);

/** Changes a file of the copy until it is called. */
function change(path: string, from: string, to: string): () => void {
  const text = readFileSync(at(path), 'utf8');
  expect(text).toContain(from);
  writeFileSync(at(path), text.replace(from, to));
  return () => writeFileSync(at(path), text);
}

const build = () => runWarm(['build', '--quiet'], { cwd: folder.path });
const builtPage = () => readFileSync(at('data/site/public/northwind/index.html'), 'utf8');
/** Builds of the pages that are kept, with when each was made. */
const builds = () =>
  readdirSync(at('data/renderer')).map((name) => [name, statSync(at(`data/renderer/${name}`)).ctimeMs]);

describe('components of an operator’s own', () => {
  let browser: Browser;
  let pharos: RunningPharos;
  beforeAll(async () => {
    [browser, pharos] = await Promise.all([launchBrowser(), startWarm(['start', '--quiet'], { cwd: folder.path })]);
    await eventually(
      async () => (await fetch(`${pharos.url}/northwind/components/api/`)).status,
      (status) => status === 200,
    );
  });
  afterAll(async () => {
    await browser?.close();
    await pharos?.stop();
  });

  it('stand in place of ours on every kind of page, with their styles, inside the policy of the pages', async () => {
    const context = await browser.newContext({ viewport: { width: 390, height: 800 } });
    const page = await context.newPage();
    const faults: string[] = [];
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
    page.on('pageerror', (error) => faults.push(error.message));
    for (const path of ['', 'components/api/', 'history/']) {
      await page.goto(`${pharos.url}/northwind/${path}`, { waitUntil: 'networkidle' });
      expect(await page.getByText('Northwind Trading, All times are in UTC.').count(), path).toBe(1);
      // Ours is drawn by theirs.
      expect(await page.locator('footer.foot .links a').count(), path).toBe(5);
      if (path === 'history/') continue;
      expect(await page.locator('.banner').count(), path).toBe(0);
      const sail = page.locator('#state [data-sail=operational]');
      expect((await sail.boundingBox())?.width, path).toBe(56);
      expect(await sail.locator('path').evaluate((one) => getComputedStyle(one).fill)).toBe('rgb(194, 65, 12)');
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    }
    await page.goto(`${pharos.url}/northwind/`);
    expect(await page.getByRole('status').getByRole('heading').innerText()).toBe(findWords('en').bannerOperational);
    expect(faults).toEqual([]);
    await context.close();
  });
});

describe('compiling them', () => {
  it('happens once for each state of their sources, and publishes anew what they draw', async () => {
    expect((await build()).status).toBe(0);
    const before = builds();
    expect((await build()).status).toBe(0);
    expect(builds()).toEqual(before);
    const back = change('components/small/Sail.astro', '<path class', '<title>A sail</title><path class');
    rmSync(at('components/Footer.astro'));
    expect((await build()).status).toBe(0);
    expect(builds()).toHaveLength(before.length + 1);
    expect(builtPage()).toContain('<title>A sail</title>');
    expect(builtPage()).not.toContain('Northwind Trading');
    back();
    cpSync(join(EXAMPLE, 'components/Footer.astro'), at('components/Footer.astro'));
  });

  it.each([
    {
      what: 'does not parse',
      command: 'check',
      from: '{freshness && <AsOf {freshness} {words} />}',
      to: '{freshness && <AsOf {freshness} {words} />',
      line: 18,
    },
    {
      what: 'has an error in its script',
      command: 'start',
      from: 'const { state, heading,',
      to: 'const { state,, heading',
      line: 8,
    },
    {
      what: 'imports what is not there',
      command: 'build',
      from: './small/Sail.astro',
      to: './small/Nope.astro',
      line: null,
    },
  ])('tells the file and the line where one $what', async ({ command, from, to, line }) => {
    const before = builtPage();
    const back = change('components/Banner.astro', from, to);
    const { status, stdout, stderr } = await runWarm([command], { cwd: folder.path });
    back();
    expect(status).not.toBe(0);
    expect(stdout + stderr).toContain(at('components/Banner.astro'));
    const place = /components\/Banner\.astro:(\d+)/.exec(stdout + stderr)?.[0];
    // The bundler counts the lines of what an import has become.
    if (line !== null) expect(place).toBe(`components/Banner.astro:${line}`);
    expect(stdout + stderr).not.toMatch(/own-components|^\s+at /m);
    expect(builtPage()).toBe(before);
  });

  it('tells the file and the line where one fails while it draws, and leaves what is published', async () => {
    const before = builtPage();
    const back = change('components/Banner.astro', '{heading}', '{heading.nothing.at.all}');
    const { status, stdout } = await runWarm(['build', '--json'], { cwd: folder.path });
    expect(status).not.toBe(0);
    expect(stdout).toContain(
      `could not be rendered: Cannot read properties of undefined (reading 'at') (${at('components/Banner.astro')}:15)`,
    );
    expect(builtPage()).toBe(before);
    back();
  });

  it('refuses what replaces nothing, and a folder that is not there', async () => {
    writeFileSync(at('components/Baner.astro'), '<p>x</p>');
    const strange = await build();
    expect([strange.status, strange.stderr]).toEqual([
      expect.any(Number),
      expect.stringContaining('Baner.astro doesn’t replace any part. Did you mean Banner? Parts are Banner, '),
    ]);
    expect(strange.status).not.toBe(0);
    rmSync(at('components/Baner.astro'));
    const back = change('pharos.yaml', 'components: components', 'components: nowhere');
    const missing = await build();
    expect(missing.status).not.toBe(0);
    expect(missing.stderr).toContain(`There is no folder ${at('nowhere')}`);
    back();
  });
});

/** What the checker writes for a terminal. */
const COLOURS = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, 'g');

describe('the types of a part', () => {
  const checkTypes = (path: string) =>
    spawnSync(process.execPath, [join(ROOT, 'scripts/check-templates.ts'), path], {
      encoding: 'utf8',
      env: { ...process.env, NO_COLOR: '1' },
    });

  it('fit the example, and tell of a field that it does not get', () => {
    // Below the project, where its types are.
    const copy = join(ROOT, 'test/artefacts/look-example');
    mkdirSync(copy, { recursive: true });
    cpSync(EXAMPLE, copy, { recursive: true });
    const settings = join(copy, 'tsconfig.templates.json');
    writeFileSync(settings, readFileSync(settings, 'utf8').replaceAll('../../', '../../../'));
    const banner = join(copy, 'components/Banner.astro');
    writeFileSync(banner, readFileSync(banner, 'utf8').replace('{heading}', '{heading.nothing}'));
    const { status, stdout } = checkTypes(copy);
    rmSync(copy, { recursive: true });
    expect(status).toBe(1);
    expect(stdout.match(/ts\(\d+\): .*/g)?.map((one) => one.replaceAll(COLOURS, ''))).toEqual([
      "ts(2339): Property 'nothing' does not exist on type 'string'.",
    ]);
  });
});
