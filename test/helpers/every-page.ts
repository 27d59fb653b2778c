/** Every kind of HTML page in situations worth looking at, drawn, and served as a host would serve it. */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { galleryChoices, PART_KINDS } from '../../src/badges/kinds.ts';
import { LOGIN_STEPS } from '../../src/model/access.ts';
import type { Day, PageModel } from '../../src/model/index.ts';
import type { LogSummary } from '../../src/model/page.ts';
import { PAGE_SCRIPTS } from '../../src/model/slugs.ts';
import type { Rendered, Renderer } from '../../src/publish/draw/renderer.ts';
import { badgeGalleryView } from '../../src/views/badges/badge-gallery.ts';
import { componentView } from '../../src/views/component/component.ts';
import { verifyView } from '../../src/views/component/verify.ts';
import { historyView } from '../../src/views/history/history.ts';
import { uptimeCalendarView } from '../../src/views/history/uptime-calendar.ts';
import type { ViewByKind, ViewKind } from '../../src/views/html.ts';
import { incidentView, maintenanceView } from '../../src/views/incident/incident.ts';
import { loginView } from '../../src/views/login/login.ts';
import { opsView } from '../../src/views/operators/ops.ts';
import { opsSignInView } from '../../src/views/operators/ops-sign-in.ts';
import { type OpsWriteView, opsWriteView } from '../../src/views/operators/ops-write.ts';
import { notFoundView, siteNotFoundView } from '../../src/views/page/not-found.ts';
import { embedView, statusPageView } from '../../src/views/page/status-page.ts';
import { pickerView } from '../../src/views/picker.ts';
import { reportIndexView, reportView } from '../../src/views/report/report.ts';
import { indexOfPagesView } from '../../src/views/site/index-of-pages.ts';
import { type SubscribeInit, subscribeView } from '../../src/views/subscribe/subscribe.ts';
import { opsFacts } from './ops-facts.ts';
import { withMonths } from './page-model.ts';
import * as scenes from './page-scenes.ts';

/** A page under test: its place below the root of its status page, its kind and its view. */
export type PageUnderTest = {
  readonly [Kind in ViewKind]: { readonly path: string; readonly kind: Kind; readonly view: ViewByKind[Kind] };
}[ViewKind];

/** The badges that components have, as their pages are handed them. */
export const partBadges = (locale = 'en') => galleryChoices(PART_KINDS, locale).kinds;

/** What the gallery is handed of badges, of which the test page has two. */
export const galleryOf = (locale = 'en') => galleryChoices(['status', 'uptime-90d'], locale);

/** Every step of a subscription, by its path, with what may be wrong in it, and as a gate leaves it. */
const SUBSCRIBE_STEPS: Readonly<Record<string, Partial<SubscribeInit>>> = {
  '': { step: 'ask', token: '' },
  'invalid/': { step: 'ask', token: '', fault: 'invalid' },
  'limited/': { step: 'ask', token: '', fault: 'limited' },
  'refused/': { step: 'ask', token: '', fault: 'refused' },
  'sent/': { step: 'sent', token: '' },
  'confirm/': { step: 'confirm' },
  'confirm-refused/': { step: 'confirm', fault: 'refused' },
  'confirmed/': { step: 'confirmed' },
  'manage/': { step: 'manage' },
  'manage-paused/': { step: 'manage', state: 'paused', isSaved: true },
  // The page went behind a gate that its subscriber may not pass: no component is named.
  'manage-stopped/': { step: 'manage', state: 'stopped', components: [] },
  'leave/': { step: 'leave' },
  'left/': { step: 'left' },
  'expired/': { step: 'expired', token: '' },
  'expired-nowhere/': { step: 'expired', token: '', title: null, components: [] },
};

const first = <T>(list: readonly T[]): T => {
  const [one] = list;
  if (one === undefined) throw new Error('The scene has none of these');
  return one;
};

function logOf({ components, asOf }: PageModel): LogSummary {
  return {
    size: 1_204,
    root: Buffer.alloc(32, 7).toString('base64'),
    days: '',
    witnesses: [
      { url: 'https://witness.example/', word: 'agrees', faults: [] },
      { url: 'https://other.example/', word: 'differs', faults: ['entry 1,204 is another one there'] },
    ],
    corrected: components
      .slice(0, 1)
      .map(({ definition }) => ({ component: definition.id, day: '2026-11-19' as Day, at: asOf })),
  };
}

/** All kinds of pages of one model, at the paths of the contract. */
export function pagesOf(model: PageModel): PageUnderTest[] {
  const month = '2026-11';
  return [
    { path: '', kind: 'status-page', view: statusPageView(model) },
    { path: 'history/', kind: 'history', view: historyView(withMonths(model), null) },
    { path: `history/${month}/`, kind: 'history', view: historyView(withMonths(model), month) },
    ...model.incidents.map(
      (one): PageUnderTest => ({ path: `incidents/${one.slug}/`, kind: 'incident', view: incidentView(model, one) }),
    ),
    ...model.maintenances.map(
      (one): PageUnderTest => ({
        path: `maintenance/${one.slug}/`,
        kind: 'maintenance',
        view: maintenanceView(model, one),
      }),
    ),
    ...model.components.map(
      (one): PageUnderTest => ({
        path: `components/${one.definition.id}/`,
        kind: 'component',
        view: componentView(model, one, { badges: partBadges(model.settings.locale) }),
      }),
    ),
    { path: 'uptime/', kind: 'uptime-calendar', view: uptimeCalendarView(model) },
    { path: 'reports/', kind: 'report-index', view: reportIndexView(model, [month]) },
    { path: `reports/${month}/`, kind: 'report', view: reportView(withMonths(model), month) },
    { path: 'badges/', kind: 'badge-gallery', view: badgeGalleryView(model, galleryOf(model.settings.locale)) },
    { path: 'embed/', kind: 'embed', view: embedView(model) },
    {
      path: 'verify/',
      kind: 'verify',
      view: verifyView({ frame: model, log: model.log ?? logOf(model), components: model.components }),
    },
    { path: '404/', kind: 'not-found', view: notFoundView(model) },
  ];
}

/** One page of each kind, with those that belong to no status page, in the language of the model. */
export function onePageOfEachKind(model: PageModel = scenes.outage()): PageUnderTest[] {
  const byKind = Map.groupBy(pagesOf(model), ({ kind }) => kind);
  const { locale } = model.settings;
  const site = { locale, siteTitle: 'Acme Group', base: '/' };
  const init = { locale, timezone: 'UTC', siteTitle: 'Acme Group', url: 'https://s.example/' };
  return [
    ...[...byKind.values()].map(first),
    { path: 'index/', kind: 'index-of-pages', view: indexOfPagesView([model, scenes.stale()], init) },
    ...LOGIN_STEPS.map(
      (step): PageUnderTest => ({
        path: `${step}/`,
        kind: 'login',
        view: loginView({
          locale,
          step,
          fault: step === 'sent' ? 'wrong-code' : step === 'sign-in' ? 'wrong' : null,
          minutes: 10,
          hasPassword: true,
          hasEmail: true,
          hasOidc: true,
          base: './',
          home: '../',
          to: '',
          username: 'acme',
          token: '',
          next: 'https://id.example/end',
        }),
      }),
    ),
    ...Object.entries(SUBSCRIBE_STEPS).map(
      ([path, init]): PageUnderTest => ({
        path: `subscribe/${path}`,
        kind: 'subscribe',
        view: subscribeView({
          locale,
          step: 'ask',
          fault: null,
          minutes: 10,
          title: { text: model.definition.title },
          base: '../',
          token: 'x',
          components: model.components.map(({ definition: { id }, name }, index) => ({
            id,
            name,
            isChosen: index === 0,
          })),
          state: 'active',
          isSaved: false,
          ...init,
        }),
      }),
    ),
    { path: 'site-404/', kind: 'not-found', view: siteNotFoundView(site) },
    { path: 'ops/', kind: 'ops', view: opsView(opsFacts(), { formToken: 'x', notice: 'A run is queued.' }) },
    {
      path: 'ops-sign-in/',
      kind: 'ops-sign-in',
      view: opsSignInView({ fault: 'wrong', up: '', hasProvider: true, written: 'We look.' }),
    },
    { path: 'ops-write/', kind: 'ops-write', view: opsWriteView(writing()) },
  ];
}

/** The page in the situations that a page gets into. */
export function sceneStatusPages(): { readonly name: string; readonly model: PageModel }[] {
  return [
    { name: 'calm', model: scenes.calm() },
    { name: 'outage', model: scenes.outage() },
    { name: 'empty', model: scenes.empty() },
    { name: 'one-component', model: scenes.oneComponent() },
    { name: 'many-components', model: scenes.manyComponents(200) },
    { name: 'long-names', model: scenes.longNames() },
    { name: 'many-incidents', model: scenes.manyIncidents() },
    { name: 'vendors', model: scenes.vendors() },
    { name: 'right-to-left', model: scenes.rightToLeft() },
    { name: 'stale', model: scenes.stale() },
    { name: 'japanese', model: scenes.outage({ settings: { locale: 'ja', timezone: 'Asia/Tokyo' } }) },
  ];
}

/** Scripts of pages, by the last build that drew one. */
let scriptOf: Renderer['scriptOf'] = () => '';

/** As it is published: what browsers keep of its scripts comes from files beside it (`servePages`). */
export function render(renderer: Renderer, page: PageUnderTest): Promise<Rendered> {
  ({ scriptOf } = renderer);
  // The kind and the view of a page under test always belong together; the compiler cannot follow that through a union.
  return renderer.render(page.kind, page.view as never, 'file');
}

export interface PageServer {
  /** With a slash at the end. */
  readonly url: string;
  /** Paths asked for since the start, with what came of each; none of scripts. */
  readonly requests: { readonly path: string; readonly status: number }[];
  /** Puts another document in place of one, or a new one. */
  readonly put: (path: string, page: Rendered) => void;
  readonly remove: (path: string) => void;
  readonly close: () => Promise<void>;
}

/** Serves pages by their paths on a loopback port, with their policies as headers, and scripts. Anything else is missing. */
export async function servePages(pages: Iterable<readonly [path: string, page: Rendered]>): Promise<PageServer> {
  const documents = new Map(pages);
  const requests: { path: string; status: number }[] = [];
  const server: Server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '/', 'http://localhost').pathname).slice(1);
    const page = documents.get(path);
    const script = PAGE_SCRIPTS.find((name) => path.endsWith(name));
    if (script !== undefined)
      return response.writeHead(200, { 'content-type': 'text/javascript' }).end(scriptOf(script));
    requests.push({ path, status: page === undefined ? 404 : 200 });
    if (page === undefined) return response.writeHead(404).end();
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': page.csp });
    return response.end(page.html);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    requests,
    put: (path, page) => void documents.set(path, page),
    remove: (path) => void documents.delete(path),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** Everything that the operators' form can show, at once. */
function writing(): Omit<OpsWriteView, 'shell' | 'heading'> {
  const choice = { text: 'Acme', href: 'write?page=acme', isCurrent: true };
  const field = { value: '', fault: null, hint: 'Markdown.' };
  const own = { id: 'a', version: 1, isHidden: false, removal: 'Delete' };
  const group = { id: 'eu', name: 'Europe' };
  return {
    notice: 'Published.',
    faults: ['Someone else changed it in the meantime.'],
    page: 'acme',
    pages: [choice],
    kinds: [{ ...choice, text: 'Incident' }],
    templates: [{ ...choice, text: 'Slow' }],
    open: [
      {
        title: 'Slow',
        facts: 'Incident, investigating, changed 2026-11-20 09:31 UTC by operator',
        note: 'A note.',
        href: 'write?id=a',
        own: { ...own, isHidden: true },
      },
      { title: 'API', facts: 'Override', note: null, href: null, own: { ...own, removal: 'Remove' } },
      { title: 'Mail is slow', facts: 'Incident, from edge', note: null, href: 'https://x.example/', own: null },
    ],
    form: {
      heading: 'New: Incident',
      hidden: [{ name: 'kind', value: 'incident' }],
      fields: [
        { ...field, name: 'name', label: 'Title', type: 'text', isRequired: true, fault: 'is missing' },
        { ...field, name: 'body', label: 'Update', type: 'area' },
        { ...field, name: 'status', label: 'Status', type: 'select', options: [{ value: '', text: 'Unchanged' }] },
        { ...field, name: 'until', label: 'Until', type: 'time' },
      ],
      components: pickerView(
        Array.from({ length: 20 }, (_, index) => ({ name: `Part ${index}`, group: index < 10 ? group : null })),
        {
          legend: 'Components',
          search: 'Find',
          itemFor: ({ name: label }) => ({
            name: `components.${label}`,
            label: [label],
            value: '',
            isChosen: false,
            options: [{ value: '', text: 'Not affected' }],
          }),
          wholeFor: ({ name }) => ({ name: 'groups.eu', label: [`All of ${name}`], value: 'named', isChosen: false }),
        },
      ),
      last: [{ ...field, name: 'deliver_notifications', label: 'Notify', type: 'check' }],
      publish: 'Publish incident',
      canDraft: true,
    },
    formToken: 'x',
    preview: { src: 'preview?id=x', colours: ['API: operational → major outage'], told: 'Feeds tell it.' },
  };
}
