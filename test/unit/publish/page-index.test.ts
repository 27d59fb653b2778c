import { expect, it } from 'vitest';
import { toMonitorId } from '../../../src/model/observation.ts';
import { toPageKey } from '../../../src/model/slugs.ts';
import type { ResolvedPage } from '../../../src/publish/definitions/definitions.ts';
import { indexPages, pageSubjects } from '../../../src/publish/definitions/site-memory.ts';
import { type Subject, subjects } from '../../../src/store/revisions.ts';

const pageOf = (id: string, slug: string, monitors: readonly string[]): ResolvedPage =>
  ({
    identity: { key: toPageKey(slug, 2), gate: 1 },
    definition: {
      id,
      slug,
      components: monitors.map((name) => ({ id: `c-${name}`, monitor: toMonitorId('up', name) })),
    },
  }) as unknown as ResolvedPage;

const PAGES = [
  pageOf('up/7', 'acme', ['web', 'api']),
  pageOf('config/own', 'own', ['api', 'db']),
  pageOf('other/1', 'bare', []),
];
const index = indexPages(PAGES);

it('finds each page by everything that it is about', () => {
  for (const page of PAGES)
    for (const subject of pageSubjects(page)) expect(index.showing(subject)).toContain(page.definition.slug);
});

it.each([
  ['a monitor of one page', subjects.monitor(toMonitorId('up', 'web')), ['acme']],
  ['a monitor of two pages', subjects.monitor(toMonitorId('up', 'api')), ['acme', 'own']],
  ['a component by the page’s id', subjects.component('up/7/c-web'), ['acme']],
  ['a component by the page’s slug', subjects.component('config/acme/c-web'), ['acme']],
  ['a component of another page', subjects.component('up/7/c-db'), []],
  ['a component by a bare slug', subjects.component('acme/c-web'), []],
  ['a component without a page', subjects.component('c-web'), []],
  ['a page by its id', subjects.page('up/7'), ['acme']],
  ['a page by its slug', subjects.page('acme'), ['acme']],
  ['a page by its key', subjects.page('acme~2'), ['acme']],
  ['a page by the key of another era', subjects.page('acme~1'), []],
  ['a page by its slug in a post', subjects.page('config/acme'), ['acme']],
  ['a page that is configured, by its id', subjects.page('config/own'), ['own']],
  ['an unknown monitor', subjects.monitor(toMonitorId('up', 'mail')), []],
  ['a name that a monitor has, of no known kind', 'else:up/web' as Subject, []],
])('finds the pages that show %s', (_what, subject, slugs) => {
  expect(index.showing(subject)).toEqual(slugs);
});

it('finds the pages that an upstream defines or has monitors on', () => {
  expect(index.drawingOn('up')).toEqual(['acme', 'own']);
  expect(index.drawingOn('other')).toEqual(['bare']);
  expect(index.drawingOn('none')).toEqual([]);
});
