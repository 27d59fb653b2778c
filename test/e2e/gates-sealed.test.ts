import { hash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sealPage } from '../../src/access/sealed/seal.ts';
import { sealWords } from '../../src/views/login/login.ts';
import { launchBrowser } from '../helpers/browser.ts';

const sha = (text: string): string => `'sha256-${hash('sha256', text, 'base64')}'`;
const STYLE = 'h1{color:rgb(1, 2, 3)}';
const SCRIPT = 'document.documentElement.dataset.ran = "yes";';
const PAGE = `<!doctype html><html lang="en"><head><meta http-equiv="Content-Security-Policy" content="default-src 'none';script-src ${sha(SCRIPT)};style-src ${sha(STYLE)}"><title>Vault</title><style>${STYLE}</style></head><body><h1>All systems go</h1><script>${SCRIPT}</script><script>document.documentElement.dataset.injected = "yes";</script><img src="https://evil.test/beacon" alt=""></body></html>`;

describe('a sealed page in a browser', () => {
  let browser: Browser;
  let folder: string;

  beforeAll(async () => {
    browser = await launchBrowser();
    folder = mkdtempSync(join(tmpdir(), 'pharos-sealed-'));
    writeFileSync(join(folder, 'index.html'), await sealPage(PAGE, 'open sesame', { words: sealWords('en') }));
  });
  afterAll(async () => {
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('refuses a wrong password, opens to the right one, keeps its policy and calls nobody', async () => {
    const page = await browser.newPage();
    // The browser reports what the policy blocks as a request that failed for that reason.
    const blocked: (string | undefined)[] = [];
    const answered: string[] = [];
    page.on('requestfailed', (request) => blocked.push(request.failure()?.errorText));
    page.on('requestfinished', (request) => answered.push(request.url()));
    const address = pathToFileURL(join(folder, 'index.html')).href;
    await page.goto(address);
    expect(await page.title()).toBe('This page is private');
    const field = page.getByLabel('Password');
    await field.fill('open says me');
    await page.getByRole('button').click();
    await page.getByText('Incorrect password.').waitFor();
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    await field.fill('open sesame');
    await field.press('Enter');
    await page.getByRole('heading', { name: 'All systems go' }).waitFor();
    expect(await page.title()).toBe('Vault');
    expect(await page.evaluate(() => getComputedStyle(document.querySelector('h1') as Element).color)).toBe(
      'rgb(1, 2, 3)',
    );
    expect(await page.evaluate(() => ({ ...document.documentElement.dataset }))).toEqual({ ran: 'yes' });
    expect(answered).toEqual([address]);
    expect(blocked).toEqual(['csp']);
    await page.close();
  });

  it('says what it needs when there is no JavaScript', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(pathToFileURL(join(folder, 'index.html')).href);
    expect(await page.locator('main').innerText()).toContain('Turn on JavaScript');
    await context.close();
  });
});
