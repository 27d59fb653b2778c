import { beforeAll, describe, expect, it } from 'vitest';
import { MINUTE_MS, type PageModel, type PageSettings, toEpochMs, toMonitorId } from '../../src/model/index.ts';
import { loadRenderer, type Renderer } from '../../src/publish/draw/renderer.ts';
import { pageModel } from '../../src/views/model/page-model.ts';
import { type Document, type Element, parseHtml } from '../consistency/html.ts';
import { pagesOf, render } from '../helpers/every-page.ts';
import { SETTINGS } from '../helpers/page-model.ts';

const NOW = toEpochMs(Date.UTC(2026, 10, 21, 12));
const ago = (minutes: number) => toEpochMs(NOW - minutes * MINUTE_MS);

/** Nothing of this is a word of any catalogue. */
const TEXTS = ['Zorbit', 'Quillon', 'Vexcore', 'Ymirix', 'Plumbus', 'Grommel', 'Skarn'];
const [TITLE, DOWN, WELL, GROUP, WRITTEN, PLANNED, ANNOUNCED] = TEXTS as [
  string,
  ...[string, string, string, string, string, string],
];

/** A page on which something fell by itself, somebody wrote of something else, and something is planned, in English alone. */
function pageIn(locales: readonly string[], names?: Readonly<Record<string, string>>): PageModel {
  const settings: PageSettings = {
    ...SETTINGS,
    timezone: 'UTC',
    locale: locales[0] ?? 'en',
    languages: { all: locales, path: '' },
    entriesAfterMs: 3 * MINUTE_MS,
  };
  const ids = ['down', 'well', 'third'];
  const nameOf: Readonly<Record<string, string>> = { down: DOWN, well: WELL, third: WELL };
  const monitors = ids.map((id) => toMonitorId('edge', id));
  const components = ids.map((id, order) => ({
    ...{ id, type: 'monitor' as const, monitor: toMonitorId('edge', id), order, groupOrder: order },
    ...{ name: nameOf[id] ?? id, description: `${TITLE} ${id}`, groupId: id === 'third' ? null : 'core' },
    ...(names === undefined ? {} : { names }),
  }));
  const head = { monitors: [], pages: ['config/acme'], components: [{ id: 'config/acme/well', state: null }] };
  return pageModel({
    definition: {
      ...{ id: 'config/acme', slug: 'acme', title: TITLE, description: `${TITLE}, **all** of it.`, homepageUrl: null },
      ...{ contactUrl: null, icon: null, customDomain: null, access: 'public', emailDomains: [], published: true },
      ...{ theme: 'system', groups: [{ id: 'core', name: GROUP, order: 0, defaultOpen: true }], components },
    },
    settings,
    monitors: new Map(
      monitors.map((id) => [
        id,
        {
          ...{ id, name: id, description: null, kind: 'http', target: null, isPublic: null, createdAt: null },
          state: id.endsWith('down') ? 'major_outage' : 'operational',
        },
      ]),
    ),
    pasts: new Map(
      monitors.map((id) => [
        id,
        {
          observed: [
            { state: 'operational', from: ago(9_000), to: ago(20) },
            { state: id.endsWith('down') ? 'major_outage' : 'operational', from: ago(20), to: ago(0.5) },
          ],
          ...{ reported: [], reportedDays: [], responseTimes: [], uptime: null },
        },
      ]),
    ),
    incidents: [
      {
        ...{ ...head, id: 'posts/one', title: `${WRITTEN} is slow`, status: 'investigating', impact: 'minor' },
        ...{ startedAt: ago(60), endedAt: null, affectedState: null, isOutage: false },
        updates: [{ id: 'opening', at: ago(60), status: 'investigating', body: `${WRITTEN} is looked at.` }],
      },
    ],
    maintenances: [
      {
        ...{
          ...head,
          components: ['config/acme/well'],
          id: 'posts/two',
          title: `${PLANNED} moves`,
          body: `${PLANNED} is moved.`,
          updates: [],
        },
        ...{ startsAt: ago(-600), endsAt: ago(-660), firstSeenAt: ago(60) },
      },
    ],
    announcements: [
      {
        ...{ id: 'posts/three', title: `${ANNOUNCED} is new`, body: `${ANNOUNCED}!`, level: 'info' },
        ...{ from: ago(60), to: null, pages: null },
      },
    ],
    sources: [
      {
        ...{ upstreamId: 'edge', monitorsAt: ago(0.5), incidentsAt: ago(0.5), intervalMs: MINUTE_MS },
        ...{ isMonitorsStale: false, isIncidentsStale: false },
      },
    ],
    asOf: NOW,
  });
}

/** Texts with one of the words, and the language that they are in by the elements around them. Code is code. */
function said(document: Document): { readonly text: string; readonly lang: string }[] {
  const walk = (place: Document | Element, lang: string): { readonly text: string; readonly lang: string }[] =>
    place.children.flatMap((child) => {
      if (child.type === 'text')
        return TEXTS.some((word) => child.data.includes(word)) ? [{ text: child.data.trim(), lang }] : [];
      if ('attribs' in child && child.attribs['data-incidents'] !== undefined)
        return inPopover(child.attribs['data-incidents']);
      if (!('attribs' in child) || ['title', 'script', 'style', 'pre'].includes(child.name)) return [];
      return walk(child, child.attribs['lang'] ?? lang);
    });
  return walk(document, '');
}

/** The same of titles that the script shows: pieces, each followed by its language where that is not the page's. */
function inPopover(packed: string): { readonly text: string; readonly lang: string }[] {
  return packed
    .split('\n')
    .map((line) => line.split('\t').slice(1))
    .flatMap((pieces) => pieces.flatMap((text, at) => (at % 2 === 0 ? [{ text, lang: pieces[at + 1] ?? '' }] : [])))
    .filter(({ text }) => TEXTS.some((word) => text.includes(word)));
}

describe('what nobody translated', () => {
  let renderer: Renderer;
  beforeAll(async () => {
    renderer = await loadRenderer();
  }, 60_000);

  const LOCALES = ['en', 'de', 'ar', 'ja'];
  const drawn = async (model: PageModel) =>
    Promise.all(
      pagesOf(model).map(async (page) => ({ ...page, document: parseHtml((await render(renderer, page)).html) })),
    );

  it('is in an element with its language on every kind of page in another', async () => {
    const [german, ...others] = pageIn(LOCALES).others ?? [];
    if (german === undefined) throw new Error('There is no German');
    expect(german.incidents.map(({ isAutomatic }) => isAutomatic)).toContain(true);
    for (const model of [german, ...others])
      for (const { path, document } of await drawn(model)) {
        const found = said(document);
        if (!['404/', 'reports/'].includes(path)) expect(found.length, path).toBeGreaterThan(1);
        for (const { text, lang } of found) expect([model.settings.locale, path, text, lang].join(' ')).toMatch(/ en$/);
      }
  });

  it('has no mark in the default language, nor has what somebody translated', async () => {
    for (const { path, document } of await drawn(pageIn(LOCALES)))
      for (const { text, lang } of said(document)) expect([path, text, lang || 'en']).toEqual([path, text, 'en']);
    const [german] = pageIn(['en', 'de'], { de: `${TITLE}-Dienst` }).others ?? [];
    const [page] = pagesOf(german as PageModel);
    const html = (await render(renderer, page as NonNullable<typeof page>)).html;
    expect(html).toContain(`dir="auto">${TITLE}-Dienst</a>`);
    expect(html).not.toMatch(new RegExp(`lang="en"[^>]*>${TITLE}-Dienst`));
  });

  it('is read as a whole where titles are made of names', () => {
    const page = pageIn(['en', 'de']);
    const automatic = (model: PageModel | undefined) => model?.incidents.find(({ isAutomatic }) => isAutomatic);
    expect(automatic(page)?.pieces).toBeUndefined();
    const german = automatic(page.others?.[0]);
    expect(german?.pieces).toContainEqual({ text: DOWN, lang: 'en' });
    expect(german?.pieces?.map((piece) => (typeof piece === 'string' ? piece : piece.text)).join('')).toBe(
      german?.title,
    );
  });
});
