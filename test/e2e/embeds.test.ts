import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadRenderer } from '../../src/publish/draw/renderer.ts';
import { embedScript } from '../../src/publish/files/site-files.ts';
import { stateDocument } from '../../src/views/json/state-json.ts';
import { embedView } from '../../src/views/page/status-page.ts';
import { launchBrowser } from '../helpers/browser.ts';
import { AS_OF } from '../helpers/page-model.ts';
import { calm, outage } from '../helpers/page-scenes.ts';

const PUBLIC = join(import.meta.dirname, '../../public');
const XSS = '"><img src=x onerror="document.title=1"><script>document.title=2</script>';

interface Answer {
  readonly status?: number;
  readonly type: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What the status site and the site that embeds it answer; two ports are two origins. */
const site = new Map<string, Answer>();
const host = new Map<string, Answer>();
let servers: readonly Server[] = [];
let siteUrl = '';
let hostUrl = '';
let browser: Browser;

async function listen(answers: ReadonlyMap<string, Answer>): Promise<Server> {
  const server = createServer((request, response) => {
    const {
      status = 200,
      type,
      body,
      headers,
    } = answers.get(request.url ?? '') ?? { status: 404, type: 'text/plain', body: '' };
    response.writeHead(status, { 'content-type': type, 'access-control-allow-origin': '*', ...headers }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

const urlOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const script = (name: string): Answer => ({ type: 'text/javascript', body: readFileSync(join(PUBLIC, name), 'utf8') });

function answerState(document: ReturnType<typeof stateDocument>): void {
  site.set('/acme/api/state.json', { type: 'application/json', body: JSON.stringify(document) });
}

/** Opens a page of the embedding site, its clock at the instant that the scenes are of. */
async function open(markup: string, policy?: string): Promise<Page> {
  const headers = policy === undefined ? {} : { 'content-security-policy': policy };
  host.set('/', { type: 'text/html', body: `<!doctype html><title>host</title>${markup}`, headers });
  const page = await browser.newPage({ viewport: { width: 700, height: 600 } });
  await page.clock.setFixedTime(AS_OF + 60_000);
  await page.goto(hostUrl);
  return page;
}

beforeAll(async () => {
  servers = await Promise.all([listen(site), listen(host)]);
  const [siteServer, hostServer] = servers;
  if (siteServer === undefined || hostServer === undefined) throw new Error('no servers');
  siteUrl = urlOf(siteServer);
  hostUrl = urlOf(hostServer);
  browser = await launchBrowser();
});

beforeEach(() => {
  site.clear();
  site.set('/embed.js', { ...script('embed.js'), body: embedScript(script('embed.js').body) });
  site.set('/embed-resize.js', script('embed-resize.js'));
});

afterAll(async () => {
  await browser?.close();
  for (const server of servers) server.close();
});

const element = (attributes = '') =>
  `<script src="${siteUrl}/embed.js"></script><pharos-status src="${siteUrl}/acme/" ${attributes}></pharos-status>`;

/** What the element says once it has asked. */
async function said(
  page: Page,
): Promise<{ state: string | null; text: string; rows: number; texts: (string | null)[]; links: (string | null)[] }> {
  await page.waitForSelector('pharos-status[state]');
  return page.locator('pharos-status').evaluate((node) => ({
    state: node.getAttribute('state'),
    text: node.shadowRoot?.querySelector('.head')?.textContent ?? '',
    rows: node.shadowRoot?.querySelectorAll('li').length ?? 0,
    texts: [...(node.shadowRoot?.querySelectorAll('li') ?? [])].map((row) => row.textContent),
    links: [...(node.shadowRoot?.querySelectorAll('a') ?? [])].map((link) => link.getAttribute('href')),
  }));
}

describe('the element <pharos-status>', () => {
  it('says the sentence of the page and links to it, under a policy that allows no inline style or script', async () => {
    answerState(stateDocument(calm()));
    const page = await open(element(), `default-src 'none'; script-src ${siteUrl}; connect-src ${siteUrl}`);
    const { state, text, rows, links } = await said(page);
    expect({ state, text, rows, links }).toEqual({
      state: 'operational',
      text: 'All systems operational',
      rows: 0,
      links: [`${siteUrl}/acme/`],
    });
    await page.close();
  });

  it('lists open incidents and the components that are not well when asked for details', async () => {
    answerState(stateDocument(outage()));
    const page = await open(element('details'));
    const { state, rows, links, texts } = await said(page);
    expect(texts.slice(1, 3)).toEqual(['Web application: Major outage', 'API: Major outage']);
    expect([state, rows, links[1]]).toEqual([
      'partial_outage',
      5,
      'https://status.acme.example/acme/incidents/api-down/',
    ]);
    await page.close();
  });

  it('shows an old copy, an error and a word it does not know as unknown, never as well', async () => {
    const good = stateDocument(calm());
    const answers: readonly Answer[] = [
      { type: 'application/json', body: JSON.stringify({ ...good, stale_after: new Date(AS_OF).toISOString() }) },
      { type: 'application/json', body: JSON.stringify({ ...good, state: 'excellent' }) },
      { type: 'application/json', body: JSON.stringify({ ...good, stale_after: undefined }) },
      { type: 'application/json', body: JSON.stringify({ ...good, state: 'toString' }) },
      { type: 'application/json', body: '{"state":"operational"' },
      { type: 'application/json', body: 'null' },
      { status: 503, type: 'application/json', body: JSON.stringify(good) },
    ];
    for (const answer of answers) {
      site.set('/acme/api/state.json', answer);
      const page = await open(element('details'));
      const { state, text, rows } = await said(page);
      expect([answer.body.slice(0, 40), state, text, rows]).toEqual([
        answer.body.slice(0, 40),
        'unknown',
        'Current status unknown',
        0,
      ]);
      await page.close();
    }
  });

  it('writes whatever it is told as text, and links to nothing that runs', async () => {
    const bad = stateDocument(outage());
    answerState({
      ...bad,
      sentence: XSS,
      open_incidents: bad.open_incidents.map((one) => ({ ...one, title: XSS, url: 'javascript:document.title=3' })),
      components: bad.components.map((one) => ({ ...one, name: XSS })),
    });
    const page = await open(element('details'));
    const { text, links } = await said(page);
    expect(text).toBe(XSS);
    expect(links).toEqual([`${siteUrl}/acme/`]);
    expect(
      await page.locator('pharos-status').evaluate((node) => node.shadowRoot?.querySelectorAll('img, script').length),
    ).toBe(0);
    expect(await page.title()).toBe('host');
    await page.close();
  });
});

describe('the frame', () => {
  it('gets the height of its content from the small script, and follows it when it wraps', async () => {
    const renderer = await loadRenderer();
    const { html, csp } = await renderer.render('embed', embedView(outage()));
    site.set('/acme/embed/', { type: 'text/html', body: html, headers: { 'content-security-policy': csp } });
    const frame = `<iframe src="${siteUrl}/acme/embed/" style="border:0;width:100%;height:20px"></iframe>`;
    const page = await open(`${frame}<script src="${siteUrl}/embed-resize.js"></script>`);
    const heights = () =>
      page.locator('iframe').evaluate((node) => (node as HTMLIFrameElement).getBoundingClientRect().height);
    await expect.poll(heights).toBeGreaterThan(60);
    const content = await page.frames()[1]?.evaluate(() => document.body.scrollHeight);
    expect(await heights()).toBe(content);
    const wide = await heights();
    await page.setViewportSize({ width: 180, height: 600 });
    await expect.poll(heights).toBeGreaterThan(wide);
    await page.close();
  });

  it('listens to its own frames only', async () => {
    site.set('/liar', {
      type: 'text/html',
      body: '<script>top.postMessage({type:"pharos:size",height:999},"*")</script>',
    });
    site.set('/acme/embed/', { type: 'text/html', body: '<p>quiet' });
    const page = await open(
      `<script src="${siteUrl}/embed-resize.js"></script><iframe id="a" src="${siteUrl}/acme/embed/" style="height:77px"></iframe>` +
        `<iframe id="b" src="${siteUrl}/liar" style="height:33px"></iframe>`,
    );
    await expect.poll(() => page.locator('#b').evaluate((node) => (node as HTMLElement).style.height)).toBe('999px');
    await page.evaluate(() => {
      postMessage({ type: 'pharos:size', height: 555 }, '*');
      postMessage({ type: 'pharos:size', height: Number.NaN }, '*');
    });
    expect(await page.locator('#a').evaluate((node) => (node as HTMLElement).style.height)).toBe('77px');
    await page.close();
  });
});
