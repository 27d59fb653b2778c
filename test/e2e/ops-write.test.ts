import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchBrowser } from '../helpers/browser.ts';
import { brokenWordsOf } from '../helpers/page-examination.ts';
import { type RunningPharos, temporaryFolder } from '../helpers/pharos.ts';
import { callApi, OPERATOR, startWritingSite, WRITING_CONFIG } from '../helpers/writing-site.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const CONFIG = WRITING_CONFIG.replace(
  '    title: Acme\n',
  `    title: Acme
    timezone: Europe/Berlin
    incident_templates:
      - { name: Slow searches, title: Searches are slow, body: We are on it., components: { web: degraded_performance }, status: identified }
`,
)
  .replace('pages:\n', 'upstreams: [{ id: posts, kind: markdown, path: ./posts }]\npages:\n')
  .replace(
    '  - slug: inner\n',
    `  - slug: cloud
    title: Cloud
    groups: [{ id: eu, name: Frankfurt }, { id: us, name: Virginia }]
    components:
${['eu', 'us']
  .flatMap((group) =>
    ['Compute', 'Queues', 'Storage', 'Search', 'Mail', 'Logs', 'Keys'].map(
      (name) => `      - { id: ${group}-${name.toLowerCase()}, type: static, name: ${name}, group_id: ${group} }\n`,
    ),
  )
  .join('')}  - slug: inner
`,
  );

describe('the form of operators', () => {
  const folder = temporaryFolder();
  let pharos: RunningPharos;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;

  beforeAll(async () => {
    mkdirSync(join(folder.path, 'posts'));
    writeFileSync(
      join(folder.path, 'posts', 'mail.md'),
      '---\ntype: incident\ntitle: Mail is late\nimpact: minor\nstate: none\nstarted: 2026-11-20T08:00:00Z\npages: [cloud]\n---\n\n## 2026-11-20T08:00:00Z identified\n\nA queue is full.\n',
    );
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
    await opened.getByLabel('Token').fill(OPERATOR);
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
    expect(new URL(page.url()).hash).toBe('#preview');
    await said('API: operational → major outage');
    await said('if the page has any, are notified');
    const preview = page.frameLocator('iframe');
    await preview.getByText('Errors at the API').first().waitFor();
    expect(await shown()).not.toContain('Errors at the API');
    expect(await page.getByLabel('Title').inputValue()).toBe('Errors at the API');
    await press('Publish incident');
    await said('Published.');
    expect(await shown()).toContain('Errors at the API');
    expect(await states()).toEqual(['API major_outage', 'Website operational']);

    await page.getByRole('link', { name: 'Errors at the API' }).click();
    await page.getByLabel('Status').selectOption('Resolved');
    await page.getByLabel('Update', { exact: true }).fill('All is well again.');
    await press('Publish update');
    await said('Published.');
    await said('Nothing open on this page.');
    expect(await states()).toEqual(['API operational', 'Website operational']);
    expect(await shown()).toContain('All is well again.');
  });

  it('fills in a template, keeps a draft that nobody sees, and publishes it', async () => {
    await write();
    await page.getByRole('link', { name: 'Slow searches' }).click();
    expect(await page.getByLabel('Title').inputValue()).toBe('Searches are slow');
    expect(await page.getByLabel('Status').inputValue()).toBe('identified');
    await press('Save draft');
    await said('Saved as a draft.');
    expect(await shown()).not.toContain('Searches are slow');
    await page.getByRole('link', { name: 'Searches are slow' }).click();
    await press('Publish incident');
    await said('Published.');
    expect(await shown()).toContain('Searches are slow');
    expect(await states()).toEqual(['API operational', 'Website degraded_performance']);
    await page.getByRole('button', { name: 'Delete: Searches are slow' }).click();
    await said('Deleted.');
    expect(await shown()).not.toContain('Searches are slow');
  });

  it('shows the text of a draft, which is published once and as it is by then', async () => {
    await write();
    await page.getByLabel('Title').fill('Mail waits');
    await page.getByLabel('Message for visitors').fill('Mail is wating.');
    await press('Save draft');
    await page.getByRole('link', { name: 'Mail waits' }).click();
    expect(await page.getByLabel('Update', { exact: true }).inputValue()).toBe('Mail is wating.');
    await page.getByLabel('Update', { exact: true }).fill('Mail is waiting.');
    await press('Publish incident');
    await said('Published.');
    const updates = async () => {
      const [made] = (await callApi(pharos.url, 'GET', 'pages/acme/incidents')).body;
      return [made.name, ...made.incident_updates.map(({ body }: Record<string, string>) => body)];
    };
    expect(await updates()).toEqual(['Mail waits', 'Mail is waiting.']);
    await page.getByRole('link', { name: 'Mail waits' }).click();
    await page.getByLabel('Title').fill('Mail waited');
    await press('Publish update');
    await said('Published.');
    expect(await updates()).toEqual(['Mail waited', 'Mail is waiting.']);
    await page.getByRole('button', { name: 'Delete: Mail waited' }).click();
    await said('Deleted.');

    await write('&kind=maintenance');
    await page.getByLabel('Title').fill('Disks');
    await page.getByLabel('Message for visitors').fill('New discs.');
    await page.getByLabel('Starts').fill('2030-07-01T22:00');
    await page.getByLabel('Ends').fill('2030-07-01T23:00');
    await press('Save draft');
    await page.getByRole('link', { name: 'Disks' }).click();
    expect(await page.getByLabel('Update', { exact: true }).inputValue()).toBe('New discs.');
    await page.getByLabel('Update', { exact: true }).fill('New disks.');
    await press('Publish maintenance');
    await said('Published.');
    expect(await updates()).toEqual(['Disks', 'New disks.']);
    await page.getByRole('button', { name: 'Delete: Disks' }).click();
    await said('Deleted.');
  });

  it('moves no window of which only something else is changed', async () => {
    // The second of two hours that are both two o’clock in Berlin.
    const times = { scheduled_for: '2030-10-27T01:30:45.000Z', scheduled_until: '2030-10-27T03:00:30.000Z' };
    const made = await callApi(pharos.url, 'POST', 'pages/acme/incidents', {
      body: { incident: { name: 'At night', body: 'Disks.', ...times } },
    });
    expect(made.status).toBe(201);
    await write();
    await page.getByRole('link', { name: 'At night' }).click();
    expect(await page.getByLabel('Starts').inputValue()).toBe('2030-10-27T02:30');
    await page.getByLabel('Update', { exact: true }).fill('As planned.');
    await press('Publish update');
    await said('Published.');
    expect((await callApi(pharos.url, 'GET', 'pages/acme/incidents/upcoming')).body).toMatchObject([times]);
    await page.getByRole('button', { name: 'Delete: At night' }).click();
    await said('Deleted.');
  });

  it('plans a maintenance by the clock of the page, with repetition, and tells what is wrong at its field', async () => {
    await write('&kind=maintenance');
    await page.getByLabel('Title').fill('Database upgrade');
    await page.getByLabel('Starts').fill('2030-07-01T22:00');
    await page.getByLabel('Ends').fill('2030-07-01T21:00');
    await page.getByLabel('Repeats').selectOption('Every week');
    await page.getByLabel('Website').check();
    await press('Publish maintenance');
    await said('must be after scheduled_for');
    expect(await page.getByLabel('Starts').inputValue()).toBe('2030-07-01T22:00');
    await page.getByLabel('Ends').fill('2030-07-01T23:30');
    await press('Publish maintenance');
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

  it('chooses a whole group, of many components that are folded, without script', async () => {
    await page.goto(`${pharos.url}/-/ops/write?page=cloud`);
    expect(await page.getByLabel('Queues').first().isVisible()).toBe(false);
    await page.getByLabel('Title').fill('Frankfurt is slow');
    await page.locator('summary', { hasText: 'Frankfurt' }).click();
    await page.getByLabel('All of Frankfurt').selectOption('degraded_performance');
    await press('Preview');
    await said('Queues, Frankfurt: operational → degraded');
    expect(await page.getByText('Queues, Virginia').count()).toBe(0);
    await press('Publish incident');
    await said('Published.');
    const { components } = await (await fetch(`${pharos.url}/cloud/api/v2/components.json`)).json();
    const slow = components.filter(({ status }: Record<string, string>) => status === 'degraded_performance');
    expect(slow.map(({ name }: Record<string, string>) => name)).toEqual([
      'Frankfurt',
      'Compute',
      'Queues',
      'Storage',
      'Search',
      'Mail',
      'Logs',
      'Keys',
    ]);
    // What is declared is unfolded, and the whole group is a way to choose, not what is chosen.
    await page.getByRole('link', { name: 'Frankfurt is slow' }).click();
    expect(await page.getByLabel('Queues').first().isVisible()).toBe(true);
    expect(await page.getByLabel('Queues').last().isVisible()).toBe(false);
    expect(await page.getByLabel('All of Frankfurt').inputValue()).toBe('');
    await page.getByRole('button', { name: 'Delete: Frankfurt is slow' }).click();
    await said('Deleted.');
  });

  it('with script finds components by name, keeps a group and its components in step, and previews in place', async () => {
    const scripted = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    const opened = await signIn(scripted);
    const failed: string[] = [];
    opened.on('console', (message) => message.type() === 'error' && failed.push(message.text()));
    await opened.goto(`${pharos.url}/-/ops/write?page=cloud`);
    const queues = opened.getByLabel('Queues');
    await opened.getByLabel('Find a component or group').fill('queu');
    expect([await queues.first().isVisible(), await queues.last().isVisible()]).toEqual([true, true]);
    expect(await opened.getByLabel('Compute').first().isVisible()).toBe(false);
    await opened.getByLabel('Find a component or group').fill('virg');
    expect(await opened.getByLabel('Compute').last().isVisible()).toBe(true);
    const whole = opened.getByLabel('All of Virginia');
    await whole.selectOption('Partial outage');
    expect(await opened.getByLabel('Compute').last().inputValue()).toBe('partial_outage');
    await opened.getByLabel('Compute').last().selectOption('Not affected');
    expect(await whole.inputValue()).toBe('');
    await opened.getByLabel('Find a component or group').fill('');
    expect(await opened.getByLabel('Compute').first().isVisible()).toBe(false);
    await opened.getByLabel('Title').fill('Half of Virginia');
    const [before, address] = [await opened.evaluate(() => scrollY), opened.url()];
    // As Enter in a field does.
    await opened.getByLabel('Title').press('Enter');
    await opened.getByText('Queues, Virginia: operational → partial outage').waitFor();
    await opened.frameLocator('iframe').getByText('Half of Virginia').first().waitFor();
    expect(await opened.getByText('Compute, Virginia').count()).toBe(0);
    expect([await opened.evaluate(() => scrollY), opened.url()]).toEqual([before, address]);
    const box = async (selector: string) => (await opened.locator(selector).boundingBox()) ?? { x: 0, y: 0, width: 0 };
    const [form, preview] = [await box('form#write'), await box('#preview')];
    expect(preview.x).toBeGreaterThanOrEqual(form.x + form.width);
    // What is refused is said at its field, in the page of the server.
    await opened.getByLabel('Title').fill(' ');
    await opened.getByRole('button', { name: 'Preview' }).click();
    await opened.locator('#f-name-fault').waitFor();
    // The preview may run no script.
    expect(failed.filter((text) => !/422|frame is sandboxed/.test(text))).toEqual([]);
    await scripted.close();
  });

  it('lists what an upstream opened, with the way to read it and none to change it', async () => {
    await page.goto(`${pharos.url}/-/ops/write?page=cloud`);
    const item = page.getByRole('listitem').filter({ hasText: 'Mail is late' });
    await item.getByText('Incident, identified, since 2026-11-20 08:00 UTC, from posts, read-only').waitFor();
    expect(await item.getByRole('link').getAttribute('href')).toMatch(/\/cloud\/incidents\/[^/]+\/$/);
    expect(await item.getByRole('button').count()).toBe(0);
  });

  it('gives its templates to programs too', async () => {
    const { body } = await callApi(pharos.url, 'GET', 'pages/acme/incident_templates');
    expect(body).toEqual([
      expect.objectContaining({
        name: 'Slow searches',
        title: 'Searches are slow',
        body: 'We are on it.',
        update_status: 'identified',
        components: { web: 'degraded_performance' },
      }),
    ]);
    expect((await callApi(pharos.url, 'GET', 'pages/cloud/incident_templates')).body).toEqual([]);
  });

  it('announces, and overrides a component until that is taken back', async () => {
    await write('&kind=announcement');
    await page.getByLabel('Title').fill('We have moved');
    await press('Publish announcement');
    await said('Published.');
    expect(await shown()).toContain('We have moved');
    await page.getByRole('button', { name: 'Delete: We have moved' }).click();
    await said('Deleted.');
    expect(await shown()).not.toContain('We have moved');

    await write('&kind=override');
    await page.getByLabel('Component', { exact: true }).selectOption('Website');
    await page.getByLabel('State', { exact: true }).selectOption('Partial outage');
    await press('Publish override');
    await said('Published.');
    expect(await states()).toEqual(['API operational', 'Website partial_outage']);
    await page.getByRole('button', { name: 'Remove: Website' }).click();
    await said('Deleted.');
    expect(await states()).toEqual(['API operational', 'Website operational']);
  });

  it('tells an operator whose form is stale, and loses neither text', async () => {
    await write();
    await page.getByLabel('Title').fill('Two at once');
    await press('Publish incident');
    await said('Published.');
    await page.getByRole('link', { name: 'Two at once' }).click();
    const other = await context.newPage();
    await other.goto(page.url());
    await other.getByLabel('Update', { exact: true }).fill('The other was first.');
    await other.getByRole('button', { name: 'Publish update' }).click();
    await other.getByText('Published.').waitFor();
    await page.getByLabel('Update', { exact: true }).fill('I was second.');
    await press('Publish update');
    await said('Someone else changed it in the meantime.');
    expect(await shown()).toContain('The other was first.');
    expect(await shown()).not.toContain('I was second.');
    expect(await page.getByLabel('Update', { exact: true }).inputValue()).toBe('I was second.');
    await press('Publish update');
    await said('Published.');
    for (const words of ['The other was first.', 'I was second.']) expect(await shown()).toContain(words);
    await page.getByRole('button', { name: 'Delete: Two at once' }).click();
    await said('Deleted.');
    await other.getByRole('button', { name: 'Delete: Two at once' }).click();
    await other.getByText('Deleted.').waitFor({ timeout: 5_000 });
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

  it('takes as many characters as its fields do, in any script and with line breaks', async () => {
    const text = `${'ช'.repeat(99)}\n`.repeat(100);
    await write();
    await page.getByLabel('Title').fill('Long');
    await page.getByLabel('Message for visitors').fill(text);
    await press('Publish incident');
    await said('Published.');
    const [made] = (await callApi(pharos.url, 'GET', 'pages/acme/incidents')).body;
    expect(made.incident_updates[0].body).toBe(text.trim());
    await page.getByRole('button', { name: 'Delete: Long' }).click();
    await said('Deleted.');
  });

  it('gives back what was written when the session has ended or the page is gone, and reflects no other site’s form', async () => {
    const text = '<b>We</b> look\nat it.';
    await write();
    const fill = async (): Promise<void> => {
      await page.getByLabel('Title').fill('Lost?');
      await page.getByLabel('Message for visitors').fill(text);
    };
    await fill();
    await page
      .locator('input[name=page]')
      .first()
      .evaluate((field: HTMLInputElement) => {
        field.value = 'renamed';
      });
    await press('Publish incident');
    expect(await page.locator('pre').innerText()).toContain(`Lost?\n\n${text}`);
    await page.getByRole('link', { name: 'Operators' }).click();
    await page.getByRole('heading', { name: 'Upstreams' }).waitFor();

    await write();
    await fill();
    await context.clearCookies();
    await press('Publish incident');
    expect(await page.locator('pre').innerText()).toContain(`Lost?\n\n${text}`);
    await page.getByLabel('Token').fill(OPERATOR);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Upstreams' }).waitFor();

    const body = new URLSearchParams({ page: 'acme', name: 'Forged', step: 'send' });
    const forged = { method: 'POST', headers: { origin: 'https://evil.example' }, body };
    expect(await (await fetch(`${pharos.url}/-/ops/write`, forged)).text()).not.toContain('Forged');
    expect(await shown()).not.toMatch(/Lost|Forged/);
  });

  it('fits a phone, and axe finds nothing', async () => {
    const scripted = await browser.newContext({ viewport: { width: 320, height: 640 } });
    const opened = await signIn(scripted);
    await callApi(pharos.url, 'POST', 'pages/acme/incidents', { body: { incident: { name: 'Slow again' } } });
    for (const kind of ['incident', 'maintenance', 'announcement', 'override']) {
      await opened.goto(`${pharos.url}/-/ops/write?page=acme&kind=${kind}`);
      const wide = await opened.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      expect([kind, wide]).toEqual([kind, 0]);
      expect(await brokenWordsOf(opened)).toEqual([]);
      await opened.evaluate(AXE);
      const found = await opened.evaluate(async () => {
        const { axe } = globalThis as unknown as {
          axe: { run: (options: object) => Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
        };
        return (await axe.run({ preload: false })).violations.map(({ id, nodes }) => [
          id,
          nodes.map((node) => node.html),
        ]);
      });
      expect([kind, found]).toEqual([kind, []]);
    }
    await scripted.close();
  });
});
