import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { launchBrowser } from '../helpers/browser.ts';
import { eventually, type RunningPharos, temporaryFolder } from '../helpers/pharos.ts';
import { runWarm, startWarm } from '../helpers/warm.ts';

const EXAMPLE = resolve(import.meta.dirname, '../../docs/look-example');

/** A copy of the example, changed. */
function exampleIn(folder: string, change: (config: Record<string, unknown>) => void = () => {}): void {
  cpSync(EXAMPLE, folder, { recursive: true });
  const config = parse(readFileSync(join(folder, 'pharos.yaml'), 'utf8'));
  change(config);
  writeFileSync(join(folder, 'pharos.yaml'), stringify(config));
}

describe('a site with a look of its own', () => {
  const folder = temporaryFolder();
  let browser: Browser;
  let pharos: RunningPharos;
  let context: BrowserContext | undefined;
  beforeAll(async () => {
    exampleIn(folder.path, (config) => {
      config['output'] = { folder: 'out' };
      (config['pages'] as object[]).push({ slug: 'staff', password: '${PASSWORD}', components: [] });
    });
    [browser, pharos] = await Promise.all([
      launchBrowser(),
      startWarm(['start', '--quiet'], { cwd: folder.path, env: { PASSWORD: 'correct horse' } }),
    ]);
    await eventually(
      async () => Promise.all(['', 'northwind/'].map(async (path) => (await fetch(`${pharos.url}/${path}`)).status)),
      (statuses) => statuses.every((status) => status === 200),
    );
  });
  afterEach(async () => {
    await context?.close();
    context = undefined;
  });
  afterAll(async () => {
    await browser?.close();
    await pharos?.stop();
    folder.remove();
  });

  /** Opens a page; anything that a policy refuses or another origin is asked for fails the test. */
  async function open(path: string, options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
    context = await browser.newContext({ colorScheme: 'light', ...options });
    const page = await context.newPage();
    const faults: string[] = [];
    page.on(
      'console',
      (message) => message.type() === 'error' && faults.push(`${message.text()} ${message.location().url}`),
    );
    page.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(pharos.url) && !url.startsWith('data:')) faults.push(url);
    });
    await page.goto(`${pharos.url}/${path}`, { waitUntil: 'networkidle' });
    expect(faults).toEqual([]);
    return page;
  }

  const shownLogos = (page: Page) =>
    page
      .locator('.logo')
      .evaluateAll((all) =>
        (all as HTMLImageElement[])
          .filter((one) => one.getBoundingClientRect().width > 0 && one.naturalWidth > 0)
          .map((one) => new URL(one.src).pathname),
      );

  it('has its logo in the header, the other one on dark, as tall as it says and with the title as its words', async () => {
    const page = await open('northwind/');
    expect(await shownLogos(page)).toEqual(['/northwind/logo.svg']);
    expect(await page.locator('.logo').first().boundingBox()).toMatchObject({ width: 160, height: 36 });
    expect(await page.getByRole('link', { name: 'Northwind', exact: true }).count()).toBe(1);
    await page.getByText('Display', { exact: true }).click();
    await page.getByLabel('Theme').selectOption('Dark');
    expect(await shownLogos(page)).toEqual(['/northwind/logo-dark.svg']);
    await page.goto(`${pharos.url}/northwind/components/api/`, { waitUntil: 'networkidle' });
    expect(await shownLogos(page)).toEqual(['/northwind/logo-dark.svg']);
    await context?.close();
    const dark = await open('northwind/', { colorScheme: 'dark' });
    expect(await shownLogos(dark)).toEqual(['/northwind/logo-dark.svg']);
    await dark.locator('html').evaluate((root) => root.classList.replace('s-operational', 's-major_outage'));
    await dark.emulateMedia({ colorScheme: 'light' });
    expect(await shownLogos(dark)).toEqual(['/northwind/logo-dark.svg']);
    await dark.emulateMedia({ media: 'print' });
    expect(await shownLogos(dark)).toEqual(['/northwind/logo.svg']);
  });

  it('shows its accent, its preset and its style sheet, with nothing from elsewhere', async () => {
    const page = await open('northwind/');
    const style = (selector: string, name: string) =>
      page
        .locator(selector)
        .first()
        .evaluate((one, key) => getComputedStyle(one).getPropertyValue(key), name);
    expect(await style('header.header', 'border-block-start-color')).toBe('rgb(194, 65, 12)');
    expect(await style('html', 'background-color')).toBe('rgb(251, 252, 254)');
    expect(await style('.group', 'border-inline-start-color')).toBe('rgb(194, 65, 12)');
    expect(Number.parseFloat(await style('h1', 'letter-spacing'))).toBeLessThan(-0.9);
    expect(await style('.body', 'background-image')).toContain('/assets/ground.svg');
    expect(await style('.more a', 'color')).toMatch(/^rgb\(1[5-9]\d, /);
    expect(await (await fetch(`${pharos.url}/`)).text()).toContain('--brand:#c2410c');
  });

  it('serves the files of its folder at the root, behind no gate, and hands them to static hosts', async () => {
    const found = await fetch(`${pharos.url}/.well-known/security.txt`);
    expect([found.status, found.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
    const ground = await fetch(`${pharos.url}/assets/ground.svg`);
    expect([ground.status, ground.headers.get('content-type')]).toEqual([200, 'image/svg+xml; charset=utf-8']);
    expect(ground.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect((await fetch(`${pharos.url}/assets/other.svg`)).status).toBe(404);
    expect((await fetch(`${pharos.url}/site-logo.svg`)).status).toBe(200);
    // A logo is a file of its page, and behind its gate.
    const gated = await fetch(`${pharos.url}/staff/logo.svg`, { redirect: 'manual' });
    expect(gated.status).not.toBe(200);
    const out = await eventually(
      async () => readFileSync(join(folder.path, 'out/assets/ground.svg'), 'utf8'),
      (text) => text.includes('<svg'),
    );
    expect(out).toBe(readFileSync(join(EXAMPLE, 'public/assets/ground.svg'), 'utf8'));
    expect(readFileSync(join(folder.path, 'out/northwind/logo.svg'), 'utf8')).toContain('<svg');
  });
});

describe('a look that cannot be', () => {
  it('is told with the place in the configuration, the file and its line', async () => {
    const folder = temporaryFolder();
    exampleIn(folder.path, (config) => {
      Object.assign(config['site'] as object, { logo: 'brand/none.svg', preset: 'slat' });
    });
    const first = await runWarm(['check'], { cwd: folder.path });
    expect(first.status).not.toBe(0);
    expect(first.stdout + first.stderr).toContain('site.preset');
    exampleIn(folder.path, (config) => {
      Object.assign(config['site'] as object, { logo: 'brand/none.svg' });
      Object.assign((config['pages'] as object[])[0] ?? {}, { stylesheet: 'brand/bad.css', logo: 'brand/bad.svg' });
    });
    writeFileSync(join(folder.path, 'brand/bad.css'), 'h1 {}\n.x { background: url(https://cdn.example/x.png) }\n');
    writeFileSync(join(folder.path, 'brand/bad.svg'), '<svg viewBox="0 0 1 1"><script>alert(1)</script></svg>');
    const files = {
      'robots.txt': 'x',
      'page.html': 'x',
      'brand/x.png': 'x',
      'assets/.hidden': 'x',
      'logo.svg': '<svg/>',
    };
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(join(folder.path, 'public', path, '..'), { recursive: true });
      writeFileSync(join(folder.path, 'public', path), text);
    }
    symlinkSync('/etc/hostname', join(folder.path, 'public/assets/link.txt'));
    const { stdout, stderr } = await runWarm(['check'], { cwd: folder.path });
    const said = stdout + stderr;
    for (const text of [
      /site\.logo: can’t read .*none\.svg: no such file or folder \(line \d+\)/,
      /pages\[0\]\.stylesheet: brand\/bad\.css, line 2: url\(https:\/\/cdn\.example\/x\.png\) is neither/,
      /pages\[0\]\.logo: brand\/bad\.svg: it is an SVG with <script/,
      /site\.public: robots\.txt: Pharos uses this name itself/,
      /site\.public: logo\.svg: Pharos uses this name itself/,
      /site\.public: page\.html: files of this type are not served/,
      /site\.public: brand\/x\.png: a folder at the root could be a page/,
      /site\.public: assets\/\.hidden: file names can contain letters/,
      /site\.public: assets\/link\.txt: it is a link/,
    ])
      expect(said).toMatch(text);
    folder.remove();
  });
});
