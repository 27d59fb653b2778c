/**
 * Takes the pictures of the documents from the sandbox, so that none shows what cannot be: `node scripts/pictures.ts`. The
 * sandbox runs twice: as it comes, and with the look of docs/look-example.
 */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { parse, stringify } from 'yaml';
import { toEpochMs } from '../src/model/time.ts';
import { startSandbox } from '../src/sandbox/sandbox.ts';
import { startBrowser } from '../test/helpers/browser.ts';
import { eventually, startPharos } from '../test/helpers/pharos.ts';

const ROOT = join(import.meta.dirname, '..');
const LOOK = join(ROOT, 'docs/look-example');

interface Shot {
  readonly name: string;
  /** Below the site's address. */
  readonly path: string;
  readonly size: readonly [width: number, height: number];
  readonly context?: BrowserContextOptions;
  readonly act?: (page: Page) => Promise<void>;
}

const SHOTS: readonly Shot[] = [
  { name: 'page', path: 'acme/', size: [1200, 900] },
  { name: 'dark', path: 'acme/', size: [1200, 900], context: { colorScheme: 'dark' } },
  { name: 'phone', path: 'acme/', size: [390, 844], context: { deviceScaleFactor: 2 } },
  { name: 'incident', path: 'acme/', size: [1200, 900], act: openIncident },
  { name: 'many', path: 'cloud/', size: [1200, 1000] },
  { name: 'uptime', path: 'acme/uptime/', size: [1200, 900] },
  { name: 'badges', path: 'acme/badges/', size: [1200, 900] },
  { name: 'write', path: '-/ops/write?page=cloud', size: [1200, 900], act: declareIncident },
];

/** What the strip of the README is made of: taller than the others, so that days are on it. */
const STRIP: readonly Shot[] = [
  { name: 'page', path: 'acme/', size: [860, 1290] },
  { name: 'phone', path: 'acme/', size: [390, 844], context: { deviceScaleFactor: 2 } },
  { name: 'incident', path: 'acme/', size: [640, 960], act: openIncident },
  { name: 'dark', path: 'acme/', size: [860, 1290], context: { colorScheme: 'dark' } },
];
const STRIP_HEIGHT = 720;
/** Before today, on every bar. */
const DAYS = 89;

function openIncident(page: Page): Promise<void> {
  return page.getByRole('link', { name: 'Search is slow' }).first().click();
}

async function declareIncident(page: Page): Promise<void> {
  await page.getByLabel('Title').fill('Slow uploads in Frankfurt');
  await page.getByLabel('Message for visitors').fill('Uploads take longer than usual. We are looking into it.');
  await page.locator('summary', { hasText: 'Frankfurt' }).click();
  await page.getByLabel('Object storage').first().selectOption('degraded_performance');
  await page.getByRole('button', { name: 'Preview' }).click();
  await page.frameLocator('#preview iframe').locator('h1').waitFor();
  await page.locator('#h-form').scrollIntoViewIfNeeded();
  await page.evaluate(() => document.getElementById('h-form')?.scrollIntoView());
}

/** Whole days before today that are known of every component; 0: the page is not there yet. */
async function daysKnown(page: string): Promise<number> {
  const answer = await fetch(`${page}api/uptime.json`);
  if (!answer.ok) return 0;
  const { components } = (await answer.json()) as { components: { days: { coverage: number[] } }[] };
  return Math.min(...components.map(({ days }) => days.coverage.slice(0, -1).filter((share) => share > 0.99).length));
}

async function withSandbox(
  edit: (config: Record<string, unknown>) => void,
  use: (url: string, token: string) => Promise<void>,
): Promise<void> {
  const now = () => toEpochMs(Date.now());
  const sandbox = await startSandbox(0, now);
  const folder = mkdtempSync(join(tmpdir(), 'pharos-pictures-'));
  const config = parse(sandbox.configText()) as Record<string, unknown>;
  edit(config);
  writeFileSync(
    join(folder, 'pharos.yaml'),
    stringify({ ...config, subscriptions: true, access: { smtp: '${SMTP_URL}', from: 'status@acme.example' } }),
  );
  const environment = sandbox.environment();
  const pharos = await startPharos(['start', '--port', '0'], {
    cwd: folder,
    env: { ...environment, SMTP_URL: 'smtp://127.0.0.1:9' },
  });
  try {
    for (const slug of ['acme', 'cloud']) {
      const days = await eventually(
        () => daysKnown(`${pharos.url}/${slug}/`),
        (count) => count >= DAYS,
      );
      if (days < DAYS) throw new Error(`The page ${slug} knows only ${days} whole days of some component.`);
    }
    await use(`${pharos.url}/`, environment['PHAROS_TOKEN'] ?? '');
  } finally {
    await pharos.stop();
    await sandbox.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function take(
  browser: Browser,
  { path, size: [width, height], context, act }: Shot,
  site: { url: string; token: string },
): Promise<Buffer> {
  const opened = await browser.newContext({ viewport: { width, height }, ...context });
  const page = await opened.newPage();
  if (path.startsWith('-/ops')) {
    await page.goto(`${site.url}-/ops`);
    await page.getByLabel('Token').fill(site.token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Upstreams' }).waitFor();
  }
  await page.goto(site.url + path);
  await act?.(page);
  await page.waitForLoadState('networkidle');
  const picture = await page.screenshot();
  await opened.close();
  return picture;
}

async function drawStrip(browser: Browser, pictures: readonly Buffer[]): Promise<Buffer> {
  const page = await browser.newPage({ viewport: { width: 2200, height: STRIP_HEIGHT + 32 }, deviceScaleFactor: 1 });
  const images = pictures.map((picture) => `<img src="data:image/png;base64,${picture.toString('base64')}">`);
  await page.setContent(
    `<style>body{margin:0}p{display:inline-flex;gap:16px;margin:0;padding:16px;background:#e9e8e4}img{height:${STRIP_HEIGHT}px;border-radius:8px}</style><p>${images.join('')}</p>`,
  );
  const picture = await page.locator('p').screenshot();
  await page.close();
  return picture;
}

const save = (name: string, content: string | Buffer): void => writeFileSync(join(ROOT, 'docs', name), content);

const browser = await startBrowser();
await withSandbox(
  () => undefined,
  async (url, token) => {
    for (const shot of SHOTS) save(`screenshot-${shot.name}.png`, await take(browser, shot, { url, token }));
    const strip: Buffer[] = [];
    for (const shot of STRIP) strip.push(await take(browser, shot, { url, token }));
    save('screenshot-strip.png', await drawStrip(browser, strip));
    save('badge.svg', await (await fetch(`${url}acme/badges/uptime-90d.svg`)).text());
  },
);
const { site } = parse(readFileSync(join(LOOK, 'pharos.yaml'), 'utf8')) as { site: Record<string, unknown> };
await withSandbox(
  (config) => {
    const look = Object.fromEntries(Object.entries(site).filter(([key]) => ['preset', 'accent_color'].includes(key)));
    Object.assign(config['site'] as object, look);
  },
  async (url, token) =>
    save(
      'screenshot-look.png',
      await take(browser, { name: 'look', path: 'acme/', size: [1100, 620] }, { url, token }),
    ),
);
await browser.close();
