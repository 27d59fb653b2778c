import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toEpochMs } from '../../src/model/time.ts';
import { launchBrowser } from '../helpers/browser.ts';
import { eventually, type RunningPharos, temporaryFolder } from '../helpers/pharos.ts';
import { runWarm, startWarm } from '../helpers/warm.ts';
import { type Sandbox, startSandbox } from '../sandbox/sandbox.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

async function violations(page: Page): Promise<unknown[]> {
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run: () => Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
    };
    return (await axe.run()).violations.map(({ id, nodes }) => [id, nodes.map((node) => node.html)]);
  });
}

describe('pharos start against upstreams that change', () => {
  const folder = temporaryFolder();
  let sandbox: Sandbox;
  let pharos: RunningPharos;
  let browser: Browser;
  let env: Record<string, string>;

  beforeAll(async () => {
    sandbox = await startSandbox({ port: 0, now: () => toEpochMs(Date.now()), isCalm: true });
    env = { ...sandbox.environment() };
    // Nothing is asked by schedule (once a year), so that each pass is one that the test asked for.
    writeFileSync(
      join(folder.path, 'pharos.yaml'),
      `${sandbox.configText({ include: ['server-monitor', 'uptime'] })}schedule: "0 0 1 * *"\nserver: { port: 0 }\n`,
    );
    [pharos, browser] = await Promise.all([
      startWarm(['start', '--port', '0'], { cwd: folder.path, env }),
      launchBrowser(),
    ]);
    await eventually(
      () => fetch(`${pharos.url}/acme/`),
      (answer) => answer.status === 200,
    );
  });

  afterAll(async () => {
    await browser?.close();
    await pharos?.stop();
    await sandbox?.stop();
    folder.remove();
  });

  async function pull(): Promise<{ status: number; body: { report: { hasFailed: boolean } } }> {
    const answer = await fetch(`${pharos.url}/-/rebuild?wait=1`, {
      method: 'POST',
      headers: { authorization: `Bearer ${env['PHAROS_TOKEN']}` },
    });
    return { status: answer.status, body: (await answer.json()) as { report: { hasFailed: boolean } } };
  }

  async function open(path: string, javaScriptEnabled = true): Promise<Page> {
    const context = await browser.newContext({ javaScriptEnabled });
    const page = await context.newPage();
    await page.goto(pharos.url + path);
    return page;
  }

  const stateInJson = async (): Promise<string> =>
    ((await (await fetch(`${pharos.url}/acme/api/v2/status.json`)).json()) as { status: { indicator: string } }).status
      .indicator;
  const badge = async (): Promise<string> =>
    /<title>([^<]*)/.exec(await (await fetch(`${pharos.url}/acme/badges/status.svg`)).text())?.[1] ?? '';

  it('shows the page with every component, with and without JavaScript, and axe finds nothing', async () => {
    const seen = [];
    for (const javaScriptEnabled of [true, false]) {
      const page = await open('/acme/', javaScriptEnabled);
      seen.push(await page.locator('main').innerText());
      if (javaScriptEnabled) expect(await violations(page)).toEqual([]);
      await page.context().close();
    }
    for (const text of seen) for (const name of ['Website', 'Public API', 'Search']) expect(text).toContain(name);
    expect(await stateInJson()).toBe('none');
    expect(await badge()).toMatch(/operational/i);
  });

  it('serves the home page at the root and its history below it', async () => {
    const page = await open('/');
    await page.getByRole('link', { name: 'History' }).first().click();
    expect(new URL(page.url()).pathname).toBe('/history/');
    expect(await violations(page)).toEqual([]);
    await page.context().close();
  });

  it('lets page, JSON and badge follow a component that fails and recovers', async () => {
    sandbox.world.force('website', 'down');
    expect((await pull()).status).toBe(200);
    const page = await open('/acme/', false);
    expect(await page.locator('h1').innerText()).toMatch(/outage|down|not working/i);
    expect(await stateInJson()).toBe('major');
    expect(await badge()).toMatch(/outage/i);
    await page.context().close();

    sandbox.world.force('website', 'up');
    await pull();
    expect(await stateInJson()).toBe('none');
    expect(await badge()).toMatch(/operational/i);
  });

  it('keeps the last good page and says so when an upstream fails', async () => {
    sandbox.faults.set('server-monitor', { name: 'html' });
    const { body } = await pull();
    expect(body.report.hasFailed).toBe(true);
    expect((await fetch(`${pharos.url}/acme/`)).status).toBe(200);
    sandbox.faults.set('server-monitor', null);
  });

  it('refuses a rebuild without the token, with a wrong one, and for a page that is not there', async () => {
    const ask = (headers: Record<string, string>, body?: string) =>
      fetch(`${pharos.url}/-/rebuild`, { method: 'POST', headers, ...(body === undefined ? {} : { body }) }).then(
        (answer) => answer.status,
      );
    const token = { authorization: `Bearer ${env['PHAROS_TOKEN']}` };
    expect(await ask({})).toBe(401);
    expect(await ask({ authorization: 'Bearer wrong' })).toBe(401);
    expect(await ask(token, '{"page":"nowhere"}')).toBe(404);
    expect(await ask(token, 'not json')).toBe(400);
    expect((await fetch(`${pharos.url}/-/rebuild`)).status).toBe(405);
  });

  it('pharos rebuild prints the report of the running server', async () => {
    const result = await runWarm(['rebuild', '--json', '--url', pharos.url], { cwd: folder.path, env });
    expect(result.status).toBe(0);
    expect(JSON.parse(result.stdout)).toMatchObject({ trigger: 'rebuild', hasFailed: false });
  });

  it('says that it is alive, and answers only the hosts it is for', async () => {
    expect(await (await fetch(`${pharos.url}/-/health`)).json()).toEqual({ status: 'ok' });
    const { request } = await import('node:http');
    const status = await new Promise<number | undefined>((done) => {
      request(`${pharos.url}/acme/`, { headers: { host: 'evil.test' } }, (answer) => {
        answer.resume();
        done(answer.statusCode);
      }).end();
    });
    expect(status).toBe(421);
  });

  it('shows nothing of a page behind a password without it, and all of it with it', async () => {
    const password = env['PARTNERS_PASSWORD'] ?? '';
    for (const path of [
      '',
      'index.html',
      'history/',
      'feed.atom',
      'api/v2/summary.json',
      'badges/status.svg',
      'og.png',
      'favicon.svg',
    ]) {
      const answer = await fetch(`${pharos.url}/partners/${path}`);
      expect([path, answer.status]).toEqual([path, 404]);
      expect(/for partners/i.test(await answer.text())).toBe(false);
    }
    const page = await open('/partners/');
    await page.locator('input[type=password]').first().fill('not the password');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    expect(await page.locator('input[type=password]').count()).toBeGreaterThan(0);
    await page.locator('input[type=password]').first().fill(password);
    await page.keyboard.press('Enter');
    await page.waitForURL(`${pharos.url}/partners/`);
    expect(await page.title()).toContain('partners');
    await page.context().close();
  });
});
