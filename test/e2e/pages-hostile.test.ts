import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, type PageModel } from '../../src/model/index.ts';
import { loadRenderer, type Renderer } from '../../src/publish/draw/renderer.ts';
import { componentView } from '../../src/views/component/component.ts';
import { incidentView, maintenanceView } from '../../src/views/incident/incident.ts';
import { statusPageView } from '../../src/views/page/status-page.ts';
import { launchBrowser } from '../helpers/browser.ts';
import { type PageUnderTest, pagesOf, partBadges, render, servePages } from '../helpers/every-page.ts';
import { hostileTexts } from '../helpers/hostile-text.ts';
import { AS_OF, ago, announcement, componentModel, incident, maintenance, pageModel } from '../helpers/page-model.ts';

const COUNT = Math.max(200, Math.min(2_000, Math.round(500 * Number(process.env['PHAROS_TEST_SCALE'] ?? 1))));
/** Four documents are drawn for each; every text is on a loaded page besides. */
const COUNT_OF_OWN_PAGES = Math.ceil(COUNT / 5);
/** Texts on one page that is loaded, and documents parsed in one go. */
const PER_PAGE = 200;

let browser: Browser;
let renderer: Renderer;
beforeAll(async () => {
  [browser, renderer] = await Promise.all([launchBrowser(), loadRenderer()]);
});
afterAll(async () => {
  await browser?.close();
});

/** A page on which each text is of a component, and an incident with an update, a maintenance and an announcement. */
function pageOf(texts: readonly string[]): PageModel {
  // Three texts a component: its ninety days are most of what a page is made of.
  const components = Array.from({ length: Math.ceil(texts.length / 3) }, (_, index) => ({
    ...componentModel({ id: `c${index}`, groupId: `g${index % 50}`, state: 'degraded' }),
    name: texts[index * 3] ?? '',
    description: texts[index * 3 + 1] ?? texts[0] ?? '',
    target: texts[index * 3 + 2] ?? texts[0] ?? '',
  }));
  const updates = <Status extends string>(text: string, status: Status) => [
    { id: text, at: ago(1), status, body: text },
  ];
  return pageModel({
    components,
    definition: { groups: texts.slice(0, 50).map((text, order) => ({ id: `g${order}`, name: text, order })) },
    announcements: texts.map((text, index) => announcement({ id: `a${index}`, title: text, body: text })),
    incidents: texts.map((text, index) =>
      incident({
        slug: `i${index}`,
        title: text,
        componentIds: [`c${index}`],
        startedAt: ago((index + 1) * HOUR_MS),
        updates: updates(text, 'investigating'),
      }),
    ),
    maintenances: texts.map((text, index) =>
      maintenance({ slug: `m${index}`, title: text, startsAt: ago(-DAY_MS), updates: updates(text, 'scheduled') }),
    ),
  });
}

/** A page whose every field is the same text, addresses and ids included. */
function pageAllOf(text: string): PageModel {
  const model = pageOf([text]);
  return pageModel({
    ...model,
    components: model.components.map((one) => ({ ...one, definition: { ...one.definition, id: text } })),
    incidents: model.incidents.map((one) => ({ ...one, slug: text, componentIds: [text] })),
    maintenances: model.maintenances.map((one) => ({ ...one, slug: text, componentIds: [text] })),
    definition: {
      title: text,
      description: text,
      homepageUrl: text,
      contactUrl: text,
      icon: text,
      groups: [{ id: 'g0', name: text, order: 0 }],
    },
  });
}

interface Anatomy {
  readonly scripts: number;
  readonly handlers: readonly string[];
  readonly strangers: readonly string[];
  readonly protocols: readonly string[];
}

/** As many scripts as the policy of the page has hashes for, and nothing else that could act. */
function healthy(csp: string): Anatomy {
  const hashes = /script-src ([^;]*)/.exec(csp)?.[1]?.match(/'sha256-/g) ?? [];
  return { scripts: hashes.length, handlers: [], strangers: [], protocols: [] };
}

/** What documents are made of, as the browser reads them: everything that could act. Runs in the browser. */
function anatomyOf(documents: readonly Document[]): Anatomy[] {
  const strange = /^(?:iframe|object|embed|base|math|template|video|audio|source|marquee|x|body)$/;
  return documents.map((one) => {
    const all = [...one.querySelectorAll('*')];
    const addresses = [...one.querySelectorAll('[href],[src],[action],[srcdoc],[data]')];
    return {
      scripts: one.querySelectorAll('script').length,
      handlers: all.flatMap((element) => element.getAttributeNames().filter((name) => name.startsWith('on'))),
      strangers: all.map((element) => element.localName).filter((name) => strange.test(name) && name !== 'body'),
      protocols: addresses
        .flatMap((element) => ['href', 'src', 'action'].map((name) => element.getAttribute(name) ?? ''))
        .filter(
          (address) => /^\s*(?:javascript|vbscript|file|blob):/i.test(address) || /^data:(?!image\/|,)/i.test(address),
        ),
    };
  });
}

/** What ran, asked elsewhere or had to be stopped while pages were loaded, and what of them could act. */
async function troubleWith(context: BrowserContext, pages: readonly PageUnderTest[]): Promise<string[]> {
  const trouble: string[] = [];
  const drawn = await Promise.all(
    pages.map(async (page, index) => [`${index}/`, await render(renderer, page)] as const),
  );
  const server = await servePages(drawn);
  const tab = await context.newPage();
  tab.on('dialog', (dialog) => {
    trouble.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  tab.on('request', (request) => {
    if (!request.url().startsWith(server.url) && !request.url().startsWith('data:')) trouble.push(request.url());
  });
  tab.on('console', (message) => {
    if (/Content Security Policy|Refused/i.test(message.text())) trouble.push(message.text());
  });
  for (const [index, page] of pages.entries()) {
    await tab.goto(`${server.url}${index}/`);
    const [anatomy] = (await tab.evaluate(`(${anatomyOf.toString()})([document])`)) as Anatomy[];
    if (JSON.stringify(anatomy) !== JSON.stringify(healthy(drawn[index]?.[1].csp ?? '')))
      trouble.push(`${page.path}: ${JSON.stringify(anatomy)}`);
  }
  await tab.close();
  await server.close();
  return trouble;
}

/** Reads documents in the browser without loading them. */
function parsed(tab: Page, documents: readonly string[]): Promise<Anatomy[]> {
  const read = `(texts) => (${anatomyOf.toString()})(texts.map((text) => new DOMParser().parseFromString(text, 'text/html')))`;
  return tab.evaluate(`(${read})(${JSON.stringify(documents)})`);
}

describe(`${COUNT} hostile texts`, () => {
  const texts = hostileTexts(COUNT);

  it('open no dialog, run nothing and ask nobody on a page, even without the policy', async () => {
    expect(new Set(texts).size).toBeGreaterThan(COUNT * 0.8);
    const context = await browser.newContext({ bypassCSP: true });
    await context.clock.setFixedTime(AS_OF);
    for (let from = 0; from < texts.length; from += PER_PAGE) {
      const model = pageOf(texts.slice(from, from + PER_PAGE));
      const home: PageUnderTest = { path: `from ${from}`, kind: 'status-page', view: statusPageView(model) };
      const others = pagesOf(model).filter(
        ({ kind }) => !['status-page', 'incident', 'component', 'maintenance'].includes(kind),
      );
      expect(await troubleWith(context, from === 0 ? [home, ...others] : [home])).toEqual([]);
    }
    await context.close();
  });

  it('stay text in every field of every page of their own, titles, addresses and ids included', async () => {
    const tab = await browser.newPage();
    const own = hostileTexts(COUNT_OF_OWN_PAGES);
    for (let from = 0; from < own.length; from += PER_PAGE) {
      const documents = await Promise.all(own.slice(from, from + PER_PAGE).flatMap((text) => ownPages(text)));
      const anatomies = await parsed(
        tab,
        documents.map(({ html }) => html),
      );
      for (const [index, { csp }] of documents.entries())
        expect(anatomies[index], `${JSON.stringify(own[from + Math.floor(index / 4)])}, page ${index % 4}`).toEqual(
          healthy(csp),
        );
    }
    await tab.close();
  });

  it('cannot take a page its looks: a name that begins a style leaves the real one alone', async () => {
    const view = statusPageView(pageModel({ definition: { title: '<style>', description: '<script>' } }));
    const { html, csp } = await renderer.render('status-page', view);
    const { csp: usual } = await renderer.render('status-page', statusPageView(pageModel()));
    expect(csp).toBe(usual);
    expect(html).toContain('content="<style>');
  });

  it('give the policy nothing to stop', async () => {
    const context = await browser.newContext();
    await context.clock.setFixedTime(AS_OF);
    expect(await troubleWith(context, pagesOf(pageOf(hostileTexts(8))))).toEqual([]);
    await context.close();
  });

  it('would be noticed: markup that is let through opens a dialog and is seen', async () => {
    const tab = await (await browser.newContext({ bypassCSP: true })).newPage();
    const opened = tab.waitForEvent('dialog').then((dialog) => dialog.dismiss());
    await tab.setContent('<img src=x onerror=alert(1)>');
    await opened;
    expect(await parsed(tab, ['<script></script><a href="javascript:1" onclick=x><svg><base>'])).toEqual([
      { scripts: 1, handlers: ['onclick'], strangers: ['base'], protocols: ['javascript:1'] },
    ]);
    await tab.context().close();
  });
});

function ownPages(text: string) {
  const model = pageAllOf(text);
  const [component] = model.components;
  const [one] = model.incidents;
  const [planned] = model.maintenances;
  if (component === undefined || one === undefined || planned === undefined) return [];
  return [
    renderer.render('status-page', statusPageView(model)),
    renderer.render('component', componentView(model, component, { badges: partBadges() })),
    renderer.render('incident', incidentView(model, one)),
    renderer.render('maintenance', maintenanceView(model, planned)),
  ];
}
