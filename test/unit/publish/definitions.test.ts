import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../../src/config/load.ts';
import type { ComponentDefinition, MonitorObservation, PageDefinition } from '../../../src/model/observation.ts';
import { toMonitorId } from '../../../src/model/observation.ts';
import { resolvePages } from '../../../src/publish/definitions/definitions.ts';
import { CONNECTORS } from '../../../src/sync/connectors/index.ts';

const SITE = {
  url: 'https://status.example.com',
  name: 'Example',
  home: null,
  timezone: 'Europe/Berlin',
  locale: 'de',
};

function pagesOf(yaml: string) {
  const text = `site: { url: "https://status.example.com" }\nupstreams: [{ id: edge, kind: server-monitor, baseUrl: "https://x.example", apiKey: "\${K}" }, { id: svc, kind: uptime-service, rpcUrl: "https://y.example", restUrl: "https://y.example/v1", apiKey: "\${K}" }]\npages:\n${yaml}`;
  return parseConfig({ text, file: null, folder: '/' }, CONNECTORS, { K: 'k', PW: 'pw' }).pages;
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
  undecided?: string[];
}) {
  const monitors = new Map((input.monitors ?? [monitor(1)]).map((item) => [item.id, item]));
  return resolvePages({
    site: { ...SITE, home: input.home ?? null },
    pages: input.yaml === undefined ? [] : pagesOf(input.yaml),
    upstreamDefinitions: input.definitions ?? [],
    undecidedUpstreams: new Set(input.undecided ?? []),
    monitors,
  });
}

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
    expect(page?.password?.reveal()).toBe('pw');
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
      problems: [],
      withheld: ['acme'],
    });
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
