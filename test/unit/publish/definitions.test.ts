import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../../src/config/load.ts';
import {
  type ComponentDefinition,
  type MonitorObservation,
  type PageDefinition,
  toMonitorId,
} from '../../../src/model/observation.ts';
import { type PageKey, toPageKey } from '../../../src/model/slugs.ts';
import { toEpochMs } from '../../../src/model/time.ts';
import { type ResolvedPage, resolvePages } from '../../../src/publish/definitions/definitions.ts';
import { iconKey, refusedIcons, withIcon } from '../../../src/publish/definitions/site-state.ts';
import type { PlacedComponent } from '../../../src/store/written.ts';
import { CONNECTORS } from '../../../src/sync/connectors/index.ts';
import { inPageOrder } from '../../../src/views/model/sections.ts';

const SITE = {
  url: 'https://status.example.com',
  name: 'Example',
  home: null,
  timezone: 'Europe/Berlin',
  locale: 'de',
  historyDays: 400,
};

function pagesOf(yaml: string) {
  const text = `site: { url: "https://status.example.com" }\nupstreams: [{ id: edge, kind: server-monitor, baseUrl: "https://x.example", apiKey: "\${K}" }, { id: svc, kind: uptime-service, rpcUrl: "https://y.example", restUrl: "https://y.example/v1", apiKey: "\${K}" }]\npages:\n${yaml}`;
  return parseConfig({ text, file: null, folder: '/' }, CONNECTORS, { K: 'k', PW: 'correct horse' }).pages;
}

function monitor(id: number, over: Partial<MonitorObservation> = {}): MonitorObservation {
  return {
    id: toMonitorId('edge', id),
    name: `Monitor ${id}`,
    description: null,
    kind: 'http',
    target: 'https://internal.example',
    state: 'operational',
    isPublic: null,
    createdAt: null,
    ...over,
  };
}

function component(id: string, over: Partial<ComponentDefinition> = {}): ComponentDefinition {
  return {
    id,
    type: 'monitor',
    monitor: toMonitorId('edge', 1),
    name: null,
    description: null,
    groupId: null,
    order: 0,
    groupOrder: 0,
    ...over,
  };
}

function definition(over: Partial<PageDefinition> = {}): PageDefinition {
  return {
    id: 'svc/1',
    slug: 'acme',
    title: 'Acme',
    description: 'From upstream',
    homepageUrl: 'https://acme.example',
    contactUrl: null,
    icon: null,
    customDomain: null,
    access: 'public',
    emailDomains: [],
    published: true,
    theme: 'system',
    groups: [],
    components: [component('1')],
    ...over,
  };
}

function resolve(input: {
  yaml?: string;
  definitions?: PageDefinition[];
  monitors?: MonitorObservation[];
  home?: string;
  locales?: string[];
  undecided?: string[];
  made?: PlacedComponent[];
}) {
  const monitors = new Map((input.monitors ?? [monitor(1)]).map((item) => [item.id, item]));
  return resolvePages({
    site: { ...SITE, home: input.home ?? null, ...(input.locales === undefined ? {} : { locales: input.locales }) },
    pages: input.yaml === undefined ? [] : pagesOf(input.yaml),
    upstreamDefinitions: input.definitions ?? [],
    undecidedUpstreams: new Set(input.undecided ?? []),
    made: input.made,
    monitors,
  });
}

/** Made over the API on the page of the upstream. */
function made(id: string, over: Partial<PlacedComponent> = {}): PlacedComponent {
  return {
    ...{ page: toPageKey('acme', 1), slug: 'acme', origin: 'svc/1', id, kind: 'component', name: id, groupId: null },
    ...{ description: null, showcase: true, onlyIfDegraded: false, startDate: null, createdAt: toEpochMs(0) },
    ...over,
  };
}

describe('components that were made over the API', () => {
  const placed = (init: Parameters<typeof resolve>[0]) =>
    resolve(init).pages.map(({ definition: page }) => [
      page.slug,
      ...inPageOrder(page).components.map(({ id, groupId }) => (groupId === null ? id : `${groupId}/${id}`)),
    ]);

  it('stand after all others, or at the end of their group', () => {
    const yaml = `  - slug: acme
    from: svc
    groups: [{ id: core, name: Core }, { id: empty, name: Empty }]
    components:
      - { id: a, type: static, name: A, group_id: core, order: 900 }
      - { id: b, type: static, name: B, order: 7.5 }`;
    const own = [made('x'), made('y', { groupId: 'core' }), made('g', { kind: 'group' }), made('z', { groupId: 'g' })];
    expect(placed({ yaml, definitions: [definition()], made: own })).toEqual([
      ['acme', 'b', 'core/a', 'core/y', 'x', 'g/z'],
    ]);
  });

  it('are on the page that they were made on, and no other of its slug', () => {
    const definitions = [definition(), definition({ id: 'svc/2', slug: 'other' })];
    expect(placed({ definitions, made: [made('x')] })).toEqual([
      ['acme', '1', 'x'],
      ['other', '1'],
    ]);
    for (const over of [{ origin: 'config/acme' }, { slug: 'other' }])
      expect(placed({ definitions, made: [made('x', over)] })).toEqual([
        ['acme', '1'],
        ['other', '1'],
      ]);
  });

  it('give way to what has their id elsewhere', () => {
    expect(placed({ definitions: [definition()], made: [made('1', { name: 'Mine' }), made('2')] })).toEqual([
      ['acme', '1', '2'],
    ]);
  });
});

describe('which pages there are', () => {
  it('is one public page with every monitor, by name, when nothing defines one', () => {
    const { pages } = resolve({ monitors: [monitor(2, { name: 'b' }), monitor(1, { name: 'a' })] });
    expect(
      pages.map((page) => [
        page.definition.slug,
        page.definition.access,
        page.definition.components.map((item) => item.monitor),
      ]),
    ).toEqual([['status', 'public', ['edge/1', 'edge/2']]]);
    expect(resolve({ home: 'example' }).pages[0]?.definition.slug).toBe('example');
  });

  it('is what upstreams define, with the defaults of the site', () => {
    const [page] = resolve({ definitions: [definition()] }).pages;
    expect(page?.definition).toMatchObject({ title: 'Acme', description: 'From upstream' });
    expect(page?.settings).toMatchObject({
      url: 'https://status.example.com/acme/',
      timezone: 'Europe/Berlin',
      locale: 'de',
      showTargets: false,
    });
  });

  it('lets the configuration overlay an upstream field by field and keep its id', () => {
    const yaml =
      '  - { slug: acme, from: svc, title: Ours, timezone: Asia/Tokyo, access_type: password, password: "${PW}" }\n';
    const [page] = resolve({ yaml, definitions: [definition()] }).pages;
    expect(page?.definition).toMatchObject({
      id: 'svc/1',
      title: 'Ours',
      description: 'From upstream',
      access: 'password',
      components: [{ id: '1' }],
    });
    expect(page?.settings.timezone).toBe('Asia/Tokyo');
    expect(page?.password?.reveal()).toBe('correct horse');
  });

  it('takes components from several upstreams', () => {
    const yaml =
      '  - { slug: a, components: [{ monitor: edge/1 }, { type: static, name: Desk }, { monitor: edge/1, name: Again }] }\n';
    const [page] = resolve({ yaml }).pages;
    expect(page?.definition.components.map((item) => [item.id, item.type, item.monitor])).toEqual([
      ['edge-1', 'monitor', 'edge/1'],
      ['desk', 'static', null],
      ['edge-1-3', 'monitor', 'edge/1'],
    ]);
  });

  it('never shows a monitor that is not public on a public page, and lets a gate decide on others', () => {
    const monitors = [monitor(1, { isPublic: false }), monitor(2, { isPublic: true }), monitor(3)];
    const yaml =
      '  - { slug: a, components: [{ monitor: edge/1 }, { monitor: edge/2 }, { monitor: edge/3 }] }\n  - { slug: b, access_type: password, password: "${PW}", components: [{ monitor: edge/1 }] }\n  - { slug: c }\n';
    const shown = resolve({ yaml, monitors }).pages.map((page) => [
      page.definition.slug,
      page.definition.components.map((item) => item.monitor),
    ]);
    expect(shown).toEqual([
      ['a', ['edge/2', 'edge/3']],
      ['b', ['edge/1']],
      ['c', ['edge/2', 'edge/3']],
    ]);
  });

  it('publishes neither of two pages that claim one slug, and says so', () => {
    const { pages, problems } = resolve({
      definitions: [definition(), definition({ id: 'other/9', access: 'password' })],
    });
    expect(pages).toEqual([]);
    expect(problems).toEqual([{ slug: 'acme', message: expect.stringContaining('svc/1, other/9') as string }]);
  });

  it('counts no page as claiming its slug that another one of the configuration builds on', () => {
    const { pages, problems } = resolve({
      yaml: '  - { slug: acme, title: Ours }\n  - { slug: other, from: svc/acme }\n',
      definitions: [definition()],
    });
    expect(pages.map(({ definition: { slug, id } }) => [slug, id])).toEqual([
      ['acme', 'config/acme'],
      ['other', 'svc/1'],
    ]);
    expect(problems).toEqual([]);
  });

  it('keeps closed what cannot be kept closed to the right people', () => {
    for (const over of [
      { access: 'closed' },
      { access: 'password' },
      { access: 'email-domain', emailDomains: [] },
    ] as const) {
      const { pages, problems } = resolve({ definitions: [definition(over)] });
      expect(pages).toEqual([]);
      expect(problems).toHaveLength(1);
    }
    expect(resolve({ definitions: [definition({ published: false })] })).toMatchObject({
      pages: [],
      problems: [{ slug: 'acme', message: 'Its upstream does not publish this page, so nobody can see it.' }],
      withheld: ['acme'],
    });
    // What its own operator decided is no news.
    const yaml = '  - { slug: acme, published: false, components: [{ monitor: svc/1 }] }\n';
    expect(resolve({ yaml })).toMatchObject({ pages: [], problems: [], withheld: ['acme'] });
  });

  it('lets nothing hostile of an upstream into an address or a link', () => {
    const hostile = definition({
      homepageUrl: 'javascript:alert(1)',
      contactUrl: 'https://x.example/" onclick="y',
      icon: 'data:text/html,x',
      customDomain: 'evil.example/path',
      components: [component('../../x'), component('<b>'), component('ok'), component('ok')],
    });
    const [page] = resolve({ definitions: [hostile] }).pages;
    expect(page?.definition).toMatchObject({
      homepageUrl: null,
      contactUrl: 'https://x.example/%22%20onclick=%22y',
      icon: null,
      customDomain: null,
    });
    expect(page?.definition.components.map((item) => item.id)).toEqual(['ok']);
    for (const slug of [
      '../x',
      'a b',
      '-',
      '<script>',
      'api',
      'robots',
      'sitemap',
      'favicon',
      'assets',
      '.hidden',
      '_site',
    ]) {
      expect(resolve({ definitions: [definition({ slug })] }).pages.map((item) => item.definition.slug)).toEqual([]);
    }
  });

  it('serves a custom domain at its root', () => {
    expect(resolve({ definitions: [definition({ customDomain: 'Status.Acme.Example' })] }).pages[0]?.settings.url).toBe(
      'https://status.acme.example/',
    );
  });
});

describe('the order of groups', () => {
  const order = (groups: string, components: readonly string[]): string => {
    const rows = components.map((name) => {
      const [id, group] = name.split('@');
      return `{ id: ${id}, type: static, name: ${id}${group === undefined ? '' : `, group_id: ${group}`} }`;
    });
    const yaml = `  - { slug: acme, groups: [${groups}], components: [${rows.join(', ')}] }\n`;
    const [page] = resolve({ yaml }).pages;
    if (page === undefined) throw new Error('no page');
    return inPageOrder(page.definition)
      .components.map(({ id }) => id)
      .join(' ');
  };
  const [CORE, EDGE] = ['{ id: core, name: Core }', '{ id: edge, name: Edge }'];

  it.each([
    ['where their first component is', `${CORE}, ${EDGE}`, ['a', 'b@core', 'c', 'd@edge', 'e@core'], 'a b e c d'],
    ['before all where they begin', `${CORE}`, ['a@core', 'b', 'c@core'], 'a c b'],
    ['as they are listed among each other', `${CORE}, ${EDGE}`, ['a', 'b@edge', 'c', 'd@core', 'e'], 'a c d b e'],
    ['where they say', `{ id: core, name: Core, order: 9 }, ${EDGE}`, ['a@core', 'b', 'c@edge'], 'b a c'],
    ['nowhere when empty', `{ id: none, name: None }, ${CORE}`, ['a', 'b@core', 'c'], 'a b c'],
  ])('is %s', (_, groups, components, expected) => {
    expect(order(groups, components)).toBe(expected);
  });
});

describe('how a page is drawn', () => {
  const settings = (input: Parameters<typeof resolve>[0]) => {
    const { locale, allowIndex, showUptime } = resolve(input).pages[0]?.settings ?? {};
    return { locale, allowIndex, showUptime };
  };
  const presented = (presentation: PageDefinition['presentation']) => [definition({ presentation })];

  it('is what its service says, else the default', () => {
    expect(settings({ definitions: [definition()] })).toEqual({ locale: 'de', allowIndex: true, showUptime: true });
    expect(settings({ definitions: presented({ allowIndex: false, locale: 'fr', showUptime: false }) })).toEqual({
      locale: 'fr',
      allowIndex: false,
      showUptime: false,
    });
  });

  it('is what the configuration says, whatever its service does', () => {
    const yaml = '  - { slug: acme, from: svc, allow_index: true, show_uptime: true, locale: es }\n';
    const definitions = presented({ allowIndex: false, locale: 'fr', showUptime: false });
    expect(settings({ yaml, definitions })).toEqual({ locale: 'es', allowIndex: true, showUptime: true });
  });

  it('keeps the language of the site where there are no words for that of the service, and tells', () => {
    const definitions = presented({ locale: 'tr' });
    expect(settings({ definitions }).locale).toBe('de');
    expect(resolve({ definitions }).problems).toEqual([
      {
        slug: 'acme',
        message: 'its language is tr, which Pharos doesn’t support, so the page is in de',
      },
    ]);
    expect(resolve({ yaml: '  - { slug: acme, from: svc, locale: en }\n', definitions }).problems).toEqual([]);
  });

  it('has the languages that it says, or its service, or the site', () => {
    const languages = (init: Parameters<typeof resolve>[0]) => resolve(init).pages[0]?.settings.languages?.all;
    const yaml = (more: string) => `  - { slug: acme, from: svc${more} }\n`;
    const definitions = presented({ locale: 'fr', locales: ['en', 'fr', 'tr'] });
    expect(languages({ yaml: yaml(', locales: [ja, pt-br]'), definitions })).toEqual(['ja', 'pt-BR']);
    expect(languages({ yaml: yaml(', locale: ja'), definitions })).toBeUndefined();
    expect(languages({ yaml: yaml(''), definitions })).toEqual(['fr', 'en']);
    expect(resolve({ definitions }).problems.map(({ message }) => message)).toEqual([
      'its language tr is left out, because Pharos doesn’t support it',
    ]);
    expect(languages({ definitions: presented({ locale: 'fr' }) })).toBeUndefined();
    expect(languages({ locales: ['de', 'en'], definitions: presented({ locale: 'fr' }) })).toEqual(['fr', 'de', 'en']);
    expect(languages({ locales: ['de', 'en'], definitions: [definition()] })).toEqual(['de', 'en']);
  });

  it('leaves out a language of the home page whose address is that of another page', () => {
    const yaml = '  - { slug: acme, title: A }\n  - { slug: fr, title: F }\n';
    const { pages, problems } = resolve({ yaml, home: 'acme', locales: ['de', 'fr', 'en'] });
    expect(pages.map(({ settings }) => settings.languages?.all)).toEqual([
      ['de', 'en'],
      ['de', 'fr', 'en'],
    ]);
    expect(problems.map(({ slug, message }) => `${slug}: ${message}`)).toEqual([
      'acme: Its language fr is left out, because there is a page fr and both would be at /fr/. Rename that page, or set site.home to another one.',
    ]);
  });

  it('takes away with null what its service says', () => {
    const yaml =
      '  - { slug: acme, from: svc, description: null, homepage_url: null, contact_url: null, icon: null }\n';
    const base = definition({ contactUrl: 'mailto:a@acme.example', icon: 'https://acme.example/icon.png' });
    expect(resolve({ yaml, definitions: [base] }).pages[0]?.definition).toMatchObject({
      title: 'Acme',
      description: null,
      homepageUrl: null,
      contactUrl: null,
      icon: null,
    });
  });
});

describe('monitors that are not public', () => {
  const monitors = [monitor(1, { isPublic: false, name: 'Vault' }), monitor(2, { isPublic: true })];
  const both = [component('1'), component('2', { monitor: toMonitorId('edge', 2) })];
  const shown = (over: Partial<PageDefinition>, yaml?: string) => {
    const { pages, problems } = resolve({
      monitors,
      definitions: [definition({ components: both, ...over })],
      ...(yaml === undefined ? {} : { yaml }),
    });
    return [pages[0]?.definition.components.map(({ id }) => id), problems.map(({ message }) => message)];
  };
  const told =
    'left out because their monitors are not public in the upstream: "Vault". Make them public, or make the page private';

  it('are left out of a public page, and that is told', () => {
    expect(shown({})).toEqual([['2'], [told]]);
    expect(
      shown({ access: 'password' }, '  - { slug: acme, from: svc, access_type: password, password: "${PW}" }\n'),
    ).toEqual([['1', '2'], []]);
  });

  it('show where their service places them and says that this decides', () => {
    expect(shown({ presentation: { showsAllPlaced: true } })).toEqual([['1', '2'], []]);
  });

  it('stay hidden where the configuration places them, whatever the service says of its own page', () => {
    const yaml = '  - { slug: acme, from: svc, components: [{ monitor: edge/1 }, { monitor: edge/2 }] }\n';
    expect(shown({ presentation: { showsAllPlaced: true } }, yaml)).toEqual([['edge-2'], [told]]);
  });

  it('are named, a few at most', () => {
    const many = Array.from({ length: 8 }, (_, index) => monitor(index + 1, { isPublic: false }));
    expect(resolve({ monitors: many }).problems.map(({ message }) => message)).toEqual([
      'left out because their monitors are not public in the upstream: "Monitor 1", "Monitor 2", "Monitor 3", "Monitor 4", "Monitor 5", 3 more. Make them public, or make the page private',
    ]);
  });
});

describe('the icon of a page', () => {
  const address = 'https://cdn.acme.example/icon.svg';
  const resolveIcon = (icon: string | null) =>
    resolvePages({
      site: SITE,
      pages: [],
      upstreamDefinitions: [definition({ icon })],
      undecidedUpstreams: new Set(),
      monitors: new Map(),
    });
  const wanting = (key: PageKey): ResolvedPage[] =>
    resolveIcon(address).pages.map((page) => ({ ...page, identity: { key, gate: 1 } }));
  const [ACME, LATER] = [toPageKey('acme', 1), toPageKey('acme', 2)];

  it('of another origin is wanted, and never linked', () => {
    const { pages, problems } = resolveIcon(address);
    expect(pages[0]).toMatchObject({ definition: { icon: null }, icon: null, iconAddress: address });
    expect(problems).toEqual([]);
  });

  it('is a file of the page once it was fetched, and of no other page', () => {
    const icons = new Map([[iconKey(ACME, address), { kind: 'picture', png: 'AAAA' }]] as const);
    const [page, later] = [ACME, LATER].map((key) => wanting(key).map((one) => withIcon(one, icons))[0]);
    expect(page).toMatchObject({
      definition: { icon: 'https://status.example.com/acme/icon.png' },
      icon: { png: 'AAAA' },
      iconAddress: address,
    });
    expect(later).toMatchObject({ definition: { icon: null }, icon: null, iconAddress: address });
  });

  it('that was refused is told', () => {
    const icons = new Map([[iconKey(ACME, address), { kind: 'refused', reason: 'status 404' }]] as const);
    expect(wanting(ACME).map((one) => withIcon(one, icons))[0]).toMatchObject({
      definition: { icon: null },
      icon: null,
    });
    expect(refusedIcons([...wanting(ACME), ...wanting(LATER)], icons)).toEqual([
      { slug: 'acme', message: 'its icon is left out: status 404' },
    ]);
  });

  it('of the page’s own origin is linked as it is, and nobody is asked for it', () => {
    const own = 'https://status.example.com/acme.svg';
    expect(resolveIcon(own).pages[0]).toMatchObject({
      definition: { icon: own },
      icon: null,
      iconAddress: null,
    });
  });

  it.each(['javascript:alert(1)', 'data:image/png;base64,AAAA', 'file:///etc/passwd'])('is never %s', (icon) => {
    expect(resolveIcon(icon).pages[0]).toMatchObject({ definition: { icon: null }, iconAddress: null });
  });
});
