import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchBrowser } from '../helpers/browser.ts';
import { type RunningPharos, temporaryFolder } from '../helpers/pharos.ts';
import { callApi, OPERATOR, startWritingSite, WRITING_CONFIG } from '../helpers/writing-site.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const CONFIG = WRITING_CONFIG.replace(
  '    title: Acme\n',
  `    title: Acme
    timezone: Europe/Berlin
    templates:
      - { name: Slow searches, title: Searches are slow, body: We are on it., components: { web: degraded_performance } }
`,
);

describe('the form of operators', () => {
  const folder = temporaryFolder();
  let pharos: RunningPharos;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;

  beforeAll(async () => {
    [pharos, browser] = await Promise.all([startWritingSite(folder.path, CONFIG), launchBrowser()]);
    // A phone, and no script at all.
    context = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 360, height: 740 } });
    page = await signIn(context);
  });
  afterAll(async () => {
    await browser?.close();
    await pharos?.stop();
    folder.remove();
  });

  async function signIn(within: BrowserContext): Promise<Page> {
    const opened = await within.newPage();
    await opened.goto(`${pharos.url}/-/ops`);
    await opened.getByLabel('Operator token').fill(OPERATOR);
    await opened.getByRole('button', { name: 'Sign in' }).click();
    await opened.getByRole('heading', { name: 'Upstreams' }).waitFor();
    return opened;
  }
  const write = (query = '') => page.goto(`${pharos.url}/-/ops/write?page=acme${query}`);
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const said = (text: string) => page.getByText(text).first().waitFor();
  const shown = async (): Promise<string> => (await fetch(`${pharos.url}/acme/`)).text();
  const states = async () => {
    const { components } = await (await fetch(`${pharos.url}/acme/api/v2/components.json`)).json();
    return components.map(({ name, status }: Record<string, string>) => `${name} ${status}`);
  };

  it('declares an incident, after a look at what it will do, and resolves it', async () => {
    await page.goto(`${pharos.url}/-/ops`);
    await page.getByRole('link', { name: 'Write on acme' }).click();
    await page.getByLabel('Title').fill('Errors at the API');
    await page.getByLabel('Message for visitors').fill('We are **looking** into it.');
    await page.getByLabel('API').selectOption('Major outage');
    await press('Preview');
    await said('API: operational → major outage');
    await said('if the page has any, are notified');
    const preview = page.frameLocator('iframe');
    await preview.getByText('Errors at the API').first().waitFor();
    expect(await shown()).not.toContain('Errors at the API');
    expect(await page.getByLabel('Title').inputValue()).toBe('Errors at the API');
    await press('Send');
    await said('Published.');
    expect(await shown()).toContain('Errors at the API');
    expect(await states()).toEqual(['API major_outage', 'Website operational']);

    await page.getByRole('link', { name: 'Errors at the API' }).click();
    await page.getByLabel('Status').selectOption('Resolved');
    await page.getByLabel('Update', { exact: true }).fill('All is well again.');
    await press('Send');
    await said('Published.');
    await said('Nothing open on this page.');
    expect(await states()).toEqual(['API operational', 'Website operational']);
    expect(await shown()).toContain('All is well again.');
  });

  it('fills in a template, keeps a draft that nobody sees, and publishes it', async () => {
    await write();
    await page.getByRole('link', { name: 'Slow searches' }).click();
    expect(await page.getByLabel('Title').inputValue()).toBe('Searches are slow');
    await page.getByLabel('Publish').selectOption('Later (save as a draft)');
    await press('Send');
    await said('Saved as a draft.');
    expect(await shown()).not.toContain('Searches are slow');
    await page.getByRole('link', { name: 'Searches are slow' }).click();
    await page.getByLabel('Publish').selectOption('Now');
    await press('Send');
    expect(await shown()).toContain('Searches are slow');
    expect(await states()).toEqual(['API operational', 'Website degraded_performance']);
    await page.getByRole('button', { name: 'Delete: Searches are slow' }).click();
    await said('Deleted.');
    expect(await shown()).not.toContain('Searches are slow');
  });

  it('plans a maintenance by the clock of the page, with repetition, and tells what is wrong at its field', async () => {
    await write('&kind=maintenance');
    await page.getByLabel('Title').fill('Database upgrade');
    await page.getByLabel('Starts').fill('2030-07-01T22:00');
    await page.getByLabel('Ends').fill('2030-07-01T21:00');
    await page.getByLabel('Repeats').selectOption('Every week');
    await page.getByLabel('Website').selectOption('Under maintenance');
    await press('Send');
    await said('must be after scheduled_for');
    expect(await page.getByLabel('Starts').inputValue()).toBe('2030-07-01T22:00');
    await page.getByLabel('Ends').fill('2030-07-01T23:30');
    await press('Send');
    await said('Published.');
    const [made] = (await callApi(pharos.url, 'GET', 'pages/acme/incidents/upcoming')).body;
    expect(made).toMatchObject({
      name: 'Database upgrade',
      scheduled_for: '2030-07-01T20:00:00.000Z',
      scheduled_until: '2030-07-01T21:30:00.000Z',
    });
    await page.getByRole('link', { name: 'Database upgrade' }).click();
    expect(await page.getByLabel('Repeats').inputValue()).toBe('FREQ=WEEKLY');
    await page.getByRole('button', { name: 'Delete: Database upgrade' }).click();
    await said('Deleted.');
  });

  it('announces, and overrides a component until that is taken back', async () => {
    await write('&kind=announcement');
    await page.getByLabel('Title').fill('We have moved');
    await press('Send');
    await said('Published.');
    expect(await shown()).toContain('We have moved');
    await page.getByRole('button', { name: 'Delete: We have moved' }).click();
    await said('Deleted.');
    expect(await shown()).not.toContain('We have moved');

    await write('&kind=override');
    await page.getByLabel('Component', { exact: true }).selectOption('Website');
    await page.getByLabel('State', { exact: true }).selectOption('Partial outage');
    await press('Send');
    await said('Published.');
    expect(await states()).toEqual(['API operational', 'Website partial_outage']);
    await page.getByRole('button', { name: 'Remove: Website' }).click();
    await said('Deleted.');
    expect(await states()).toEqual(['API operational', 'Website operational']);
  });

  it('tells an operator whose form is stale, and loses neither text', async () => {
    await write();
    await page.getByLabel('Title').fill('Two at once');
    await press('Send');
    await said('Published.');
    await page.getByRole('link', { name: 'Two at once' }).click();
    const other = await context.newPage();
    await other.goto(page.url());
    await other.getByLabel('Update', { exact: true }).fill('The other was first.');
    await other.getByRole('button', { name: 'Send' }).click();
    await other.getByText('Published.').waitFor();
    await page.getByLabel('Update', { exact: true }).fill('I was second.');
    await press('Send');
    await said('Someone else changed it in the meantime.');
    expect(await shown()).toContain('The other was first.');
    expect(await shown()).not.toContain('I was second.');
    expect(await page.getByLabel('Update', { exact: true }).inputValue()).toBe('I was second.');
    await press('Send');
    await said('Published.');
    for (const words of ['The other was first.', 'I was second.']) expect(await shown()).toContain(words);
    await page.getByRole('button', { name: 'Delete: Two at once' }).click();
    await other.close();
  });

  it('is for nobody without a session, takes no form of another session, and no field that is not ours', async () => {
    for (const path of ['write?page=acme', 'preview?id=x']) {
      const answer = await fetch(`${pharos.url}/-/ops/${path}`);
      expect([path, answer.status]).toEqual([path, path.startsWith('write') ? 401 : 404]);
      expect(await answer.text()).not.toContain('Acme');
    }
    const cookies = await context.cookies();
    const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
    const send = (fields: Record<string, string>) =>
      fetch(`${pharos.url}/-/ops/write`, {
        method: 'POST',
        redirect: 'manual',
        headers: { cookie, origin: pharos.url },
        body: new URLSearchParams(fields),
      });
    const forged = { page: 'acme', kind: 'incident', name: 'Forged', step: 'send' };
    expect((await send(forged)).status).toBe(403);
    expect((await send({ ...forged, form: 'x' })).status).toBe(403);
    await write();
    const form = await page.locator('input[name=form]').first().inputValue();
    expect((await send({ ...forged, form, name: '' })).status).toBe(422);
    expect((await send({ ...forged, form, id: 'nosuch' })).status).toBe(404);
    expect((await send({ ...forged, form, kind: 'override', component: 'vault', status: 'major_outage' })).status).toBe(
      422,
    );
    expect((await send({ ...forged, form, 'components.vault': 'major_outage' })).status).toBe(303);
    expect(await states()).toEqual(['API operational', 'Website operational']);
    for (const { id } of (await callApi(pharos.url, 'GET', 'pages/acme/incidents/unresolved')).body)
      await callApi(pharos.url, 'DELETE', `pages/acme/incidents/${id}`);
  });

  it('fits a phone, and axe finds nothing', async () => {
    const scripted = await browser.newContext({ viewport: { width: 320, height: 640 } });
    const opened = await signIn(scripted);
    for (const kind of ['incident', 'maintenance', 'announcement', 'override']) {
      await opened.goto(`${pharos.url}/-/ops/write?page=acme&kind=${kind}`);
      const wide = await opened.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      expect([kind, wide]).toEqual([kind, 0]);
      await opened.evaluate(AXE);
      const found = await opened.evaluate(async () => {
        const { axe } = globalThis as unknown as {
          axe: { run: () => Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
        };
        return (await axe.run()).violations.map(({ id, nodes }) => [id, nodes.map((node) => node.html)]);
      });
      expect([kind, found]).toEqual([kind, []]);
    }
    await scripted.close();
  });
});
