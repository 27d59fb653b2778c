import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DAY_MS } from '../../src/model/index.ts';
import { loadRenderer, type Renderer } from '../../src/publish/draw/renderer.ts';
import type { ViewKind } from '../../src/views/html.ts';
import { opsView } from '../../src/views/operators/ops.ts';
import { statusPageView } from '../../src/views/page/status-page.ts';
import { launchBrowser } from '../helpers/browser.ts';
import { onePageOfEachKind, pagesOf, render, sceneStatusPages } from '../helpers/every-page.ts';
import { opsFacts } from '../helpers/ops-facts.ts';
import { ago, announcement, componentModel, incident, pageModel } from '../helpers/page-model.ts';
import { calm, manyComponents, outage, rightToLeft } from '../helpers/page-scenes.ts';
import { firstClassOf, partsOf, readTemplates } from '../helpers/templates.ts';

let renderer: Renderer;
let browser: Browser;
/** Documents by kind, in situations that together show all that a kind of page can show. */
const documents = new Map<ViewKind, string[]>();

beforeAll(async () => {
  [browser, renderer] = await Promise.all([launchBrowser(), loadRenderer()]);
  const markdown = '# h\n\n## i\n\n![j](k.png)\n\n- a\n\n1. b\n\n`c`\n\n> d\n\n```\ne\n```\n\n| f |\n|---|\n| g |';
  const longOutage = { state: 'major_outage', startedAgoMs: 5 * DAY_MS, forMs: DAY_MS } as const;
  const models = [
    calm({
      announcements: [announcement({ level: 'warning' }), announcement()],
      definition: { icon: 'data:image/png;base64,AAAA', theme: 'dark' },
    }),
    outage({
      incidents: [...outage().incidents, incident({ updateBodies: [markdown], componentIds: ['api'] })],
    }),
    pageModel({
      components: [componentModel({ id: 'a', state: 'paused' }), componentModel({ id: 'b', groupId: 'g' })],
      definition: { theme: 'light', groups: [{ id: 'g', name: 'Group', order: 0 }] },
    }),
    pageModel({ components: [componentModel({ state: 'major_outage', knownDays: 41, troubles: [longOutage] })] }),
    rightToLeft(),
    pageModel({ settings: { locale: 'ko', languages: { all: ['ko', 'en'], path: '' } } }),
    pageModel({ components: [componentModel({ upstreamUptime: CHECKED })] }),
    manyComponents(30, {
      settings: { locale: 'ar' },
      definition: { groups: [{ id: 'g0', name: 'Open', order: 0, defaultOpen: true }] },
    }),
  ];
  const failing = { id: 'payroll', queued: 0, sent: 0, rejected: 1, parked: 0, lastError: 'It answered 400' };
  const mail = { isNeeded: false, isConfigured: false, isPrinted: false, waiting: 0 };
  const quiet = { problems: [], pages: [], upstreams: [], unpublishedTotal: 0, exports: [], mail };
  const pages = [
    ...models.flatMap((model) => pagesOf(model)),
    ...sceneStatusPages().map(({ model }) => ({ path: '', kind: 'status-page', view: statusPageView(model) }) as const),
    ...onePageOfEachKind(),
    ...[opsFacts(quiet), opsFacts({ exports: [failing] })].map(
      (facts) => ({ path: '', kind: 'ops', view: opsView(facts, { formToken: '', notice: null }) }) as const,
    ),
  ];
  for (const page of pages) {
    const { html } = await render(renderer, page);
    documents.set(page.kind, [...(documents.get(page.kind) ?? []), html]);
  }
});
afterAll(() => browser?.close());

/** What checks of its own say of a component. */
const CHECKED = {
  ...{ periodDays: null, checksTotal: null, checksUp: null, uptimeRatio: null, responseTimeAverageMs: null },
  places: [{ place: 'ams', at: ago(DAY_MS), state: 'operational', responseTimeMs: 1_240 }],
} as const;

const styleOf = (html: string) => [...html.matchAll(/<style>([\s\S]*?)<\/style>/g)].map((match) => match[1]).join('\n');

interface Rule {
  readonly selector: string;
  /** Whether an element of the document is as the selector asks. */
  readonly isUsed: boolean;
}

/** The rules of every document, by its kind. */
async function rulesByKind(): Promise<ReadonlyMap<ViewKind, readonly Rule[]>> {
  const page = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
  const found = new Map<ViewKind, Rule[]>();
  for (const [kind, pages] of documents)
    for (const html of pages) found.set(kind, [...(found.get(kind) ?? []), ...(await page.evaluate(rulesOf, html))]);
  await page.context().close();
  return found;
}

/** The rules of a document, which is parsed and not drawn. Runs in the browser. */
function rulesOf(html: string): Rule[] {
  const parsed = new DOMParser().parseFromString(html, 'text/html');
  const rules: Rule[] = [];
  const isUsed = (selector: string) => {
    // What a visitor or a script does to an element is taken as done, and a page may be in any language.
    const done = selector
      .replace(/:lang\([a-z-]+\)/g, '')
      .replace(/::?(?:hover|target|focus-visible|focus|after|before|details-content)/g, '')
      .replace(/(?:\.is-stale)+|\[data-(?:open|past|pinned)\]/g, '')
      .replace(/:(?:not|is)\([, ]*\)/g, '');
    return parsed.querySelector(done.trim() || '*') !== null;
  };
  const look = (list: CSSRuleList, parent: string) => {
    for (const rule of list) {
      const own = rule instanceof CSSStyleRule ? rule.selectorText.split(/,(?![^(]*\))/) : [];
      const selectors = own.map((one) => one.trim().replaceAll('&', `:is(${parent})`));
      for (const selector of selectors) rules.push({ selector, isUsed: isUsed(selector) });
      if (rule instanceof CSSGroupingRule || rule instanceof CSSStyleRule)
        look(rule.cssRules, selectors.join(',') || parent);
    }
  };
  for (const { textContent } of parsed.querySelectorAll('style')) {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(textContent);
    look(sheet.cssRules, '');
  }
  return rules;
}

describe('a page carries the styles of what it shows', () => {
  it('and of no component that its kind never draws, and no rule that draws nothing anywhere', async () => {
    const byKind = await rulesByKind();
    expect(new Set(byKind.keys())).toEqual(new Set(onePageOfEachKind().map(({ kind }) => kind)));
    /** Templates by the classes of their outermost rules. What is left belongs to all, or Astro says whose it is. */
    const templates = new Map(
      readTemplates().flatMap(({ path, style }) =>
        (style?.isGlobal ? style.selectors : []).map((selector) => [firstClassOf(selector), path]),
      ),
    );
    const ownerOf = ({ selector }: Rule) =>
      /\.(astro-\w+)/.exec(selector)?.[1] ?? templates.get(firstClassOf(selector)) ?? 'layouts/';
    const ofLayout = partsOf(readTemplates(), 'layouts/Page.astro');
    for (const [kind, rules] of byKind) {
      const byOwner = Map.groupBy(rules, ownerOf);
      const idle = [...byOwner].filter(([, own]) => own.every((rule) => !rule.isUsed)).map(([owner]) => owner);
      expect(byOwner.size, kind).toBeGreaterThan(2);
      // The layout is one for all pages, whether or not a kind of them has a menu or grows old.
      expect(
        idle.filter((owner) => !owner.startsWith('layouts/') && !ofLayout.has(owner)),
        kind,
      ).toEqual([]);
    }
    const bySelector = Map.groupBy([...byKind.values()].flat(), ({ selector }) => selector);
    expect(bySelector.size).toBeGreaterThan(200);
    const unused = [...bySelector]
      .filter(([, rules]) => rules.every((rule) => !rule.isUsed))
      .map(([selector]) => selector);
    // Incidents of a day are put into its pop-over by script.
    expect(unused.filter((selector) => !selector.startsWith(':is(.tip) li'))).toEqual([]);
  });

  it('so that an incident has no rules for bars, rows or tables, and a login form none for events', () => {
    const [incidentPage = ''] = documents.get('incident') ?? [];
    const [statusPage = ''] = documents.get('status-page') ?? [];
    const [loginPage = ''] = documents.get('login') ?? [];
    for (const rule of [/\.row\b/, /\.strip\b/, /\.days\b/, /\.legend\b/]) {
      expect(styleOf(statusPage)).toMatch(rule);
      expect(styleOf(incidentPage)).not.toMatch(rule);
    }
    expect(styleOf(incidentPage)).toMatch(/\.prose\b/);
    expect(styleOf(loginPage)).not.toMatch(/\.prose\b|\.event\b|\.icon\b/);
  });
});
