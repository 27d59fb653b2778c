import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../../src/config/load.ts';
import { type MonitorId, type PageDefinition, toMonitorId } from '../../../src/model/observation.ts';
import { toEpochMs } from '../../../src/model/time.ts';
import { type ReferenceInputs, unknownReferences } from '../../../src/publish/definitions/references.ts';
import { CONNECTORS } from '../../../src/sync/connectors/index.ts';
import { projectPosts } from '../../../src/sync/connectors/markdown/project.ts';

const NOW = toEpochMs(Date.parse('2026-11-21T08:31:00Z'));
const UPSTREAMS = `[{ id: edge, kind: server-monitor, baseUrl: "https://x.example", apiKey: "\${K}" }, { id: svc, kind: uptime-service, rpcUrl: "https://y.example", restUrl: "https://y.example/v1", apiKey: "\${K}" }]`;

/** Of svc: the page acme there, with one component. */
const STAFF: PageDefinition = {
  id: 'svc/7',
  slug: 'staff',
  title: 'Staff',
  description: null,
  homepageUrl: null,
  contactUrl: null,
  icon: null,
  customDomain: null,
  access: 'public',
  emailDomains: [],
  published: true,
  theme: 'system',
  groups: [{ id: 'core', name: 'Core', order: 0 }],
  components: [
    {
      id: 'mail',
      type: 'monitor',
      monitor: toMonitorId('svc', 1),
      name: null,
      description: null,
      groupId: 'core',
      order: 0,
      groupOrder: 0,
    },
  ],
};

interface Init {
  readonly site?: string;
  readonly pages?: string;
  /** Posts by their name. */
  readonly posts?: Readonly<Record<string, string>>;
  /** Upstreams that were never heard. */
  readonly silent?: readonly string[];
}

const ACME = '  - { slug: acme, components: [{ id: api, monitor: edge/1 }, { id: search, monitor: svc/1 }] }';

function inputsOf({ site = '', pages = ACME, posts = {}, silent = [] }: Init): ReferenceInputs {
  const text = `site: { url: "https://status.example.com"${site} }\nupstreams: ${UPSTREAMS}\npages:\n${pages}`;
  const config = parseConfig({ text, file: null, folder: '/' }, CONNECTORS, { K: 'k' });
  const { home = null, ...rest } = config.site;
  const lists: Readonly<Record<string, readonly MonitorId[]>> = {
    edge: [toMonitorId('edge', 1), toMonitorId('edge', 'db-1')],
    svc: [toMonitorId('svc', 1)],
  };
  const monitors = Object.entries(lists).filter(([id]) => !silent.includes(id));
  const files = Object.entries(posts).map(([name, body]) => ({ name: `${name}.md`, text: body }));
  return {
    definitions: {
      site: { ...rest, home, historyDays: 400 },
      pages: config.pages,
      upstreamDefinitions: silent.includes('svc') ? [] : [STAFF],
      undecidedUpstreams: new Set(silent.filter((id) => id === 'svc')),
      monitors: new Map(),
    },
    upstreams: ['edge', 'svc', 'posts'],
    monitors: new Map(monitors.map(([id, ids]) => [id, new Set(ids)])),
    ties: [],
    posts: [projectPosts(files, { upstreamId: 'posts', zone: 'UTC', now: NOW })],
    now: NOW,
  };
}

const found = (init: Init): string[] =>
  unknownReferences(inputsOf(init)).map(
    ({ place, message, isPast }) => `${isPast ? '(past) ' : ''}${place}: ${message}`,
  );
const post = (matter: string, body = 'We are looking.') => `---\n${matter}\n---\n${body}\n`;
const incident = (about: string, more = '') =>
  post(`type: incident\ntitle: X\nstarted: 2026-11-21T08:00:00Z\n${about}${more}`);

describe('what is named and is there', () => {
  it('is told of nowhere', () => {
    expect(
      found({
        site: ', home: acme, locale: de-AT',
        pages: `${ACME}\n  - { slug: team, from: svc/staff, locale: fr, components: [{ monitor: svc/1, group_id: core }] }`,
        posts: {
          one: incident('monitors: [edge/db-1, svc/1]\ncomponents: [acme/api]\npages: [acme, team]'),
          two: incident('components: [team/svc-1]'),
          three: post('type: announcement\ntitle: X\nfrom: 2026-11-01T00:00:00Z\npages: [acme]', 'Hi.'),
        },
      }),
    ).toEqual([]);
  });

  it('is the page that an upstream defines, by its slug and by its id there', () => {
    expect(
      found({
        site: ', home: staff',
        posts: { one: incident('components: [staff/mail, svc/7/mail]\npages: [staff, svc/7]') },
      }),
    ).toEqual([]);
  });
});

describe('what is named and is not there', () => {
  it('is a home, with the page that was meant', () => {
    expect(found({ site: ', home: amce' })).toEqual(['site.home: There is no page amce. Did you mean acme?']);
  });

  it('is a language without words, of the site and of a page', () => {
    expect(found({ site: ', locale: dee', pages: `${ACME}\n  - { slug: b, locale: nl }` })).toEqual([
      'site.locale: No translation for dee, so pages are in English. Available: en, de, fr, es, pt-BR, ja, zh-Hans, ar, ko, it. Did you mean de?',
      expect.stringContaining('pages[1].locale: No translation for nl, so pages are in English.'),
    ]);
  });

  it('is a monitor that its upstream does not have', () => {
    expect(
      found({
        pages: '  - { slug: acme, components: [{ monitor: edge/1 }, { monitor: edge/db-2 }, { monitor: edge/99 }] }',
      }),
    ).toEqual([
      'pages[0].components[1].monitor: edge has no monitor edge/db-2. Did you mean edge/db-1?',
      'pages[0].components[2].monitor: edge has no monitor edge/99. Did you mean edge/1?',
    ]);
  });

  it('is a page of an upstream that another builds on', () => {
    expect(found({ pages: '  - { slug: team, from: svc/staf }' })).toEqual([
      'pages[0].from: svc has no page staf. Did you mean staff?',
    ]);
  });

  it('is a group that neither the configuration nor the page below has', () => {
    expect(
      found({
        pages: `  - { slug: team, from: svc/staff, components: [{ monitor: svc/1, group_id: coer }] }\n  - { slug: acme, components: [{ monitor: svc/1, group_id: api }] }`,
      }),
    ).toEqual([
      'pages[0].components[0].group_id: There is no group coer on this page. Did you mean core?',
      'pages[1].components[0].group_id: There is no group api on this page.',
    ]);
  });

  it('is a component, a monitor, an upstream or a page in a post', () => {
    expect(
      found({
        posts: {
          'api-down': incident(
            'components: [acme/apii, staff/mial, acmee/api]\nmonitors: [edgee/1, svc/2]\npages: [acne]',
          ),
          'db-upgrade': post(
            'type: maintenance\ntitle: X\nstarts: 2026-12-01T00:00:00Z\nends: 2026-12-01T01:00:00Z\ncomponents: [acme/saerch]',
          ),
          hello: post('type: announcement\ntitle: X\nfrom: 2026-11-01T00:00:00Z\npages: [amce]', 'Hi.'),
        },
      }),
    ).toEqual([
      'posts/api-down: monitors: There is no upstream edgee (edgee/1). Did you mean edge?',
      'posts/api-down: monitors: svc has no monitor svc/2. Did you mean svc/1?',
      'posts/api-down: components: There is no component acme/apii. Did you mean acme/api?',
      'posts/api-down: components: There is no component staff/mial. Did you mean staff/mail?',
      'posts/api-down: components: There is no component acmee/api. Did you mean acme/api?',
      'posts/api-down: pages: There is no page acne. Did you mean acme?',
      'posts/db-upgrade: components: There is no component acme/saerch. Did you mean acme/search?',
      'posts/hello: pages: There is no page amce. Did you mean acme?',
    ]);
  });

  it('may have been there when it was about something that is over', () => {
    const ended = '\nended: 2026-11-21T08:10:00Z\nstatus: resolved';
    expect(found({ posts: { old: incident('components: [acme/old]', ended) } })).toEqual([
      '(past) posts/old: components: There is no component acme/old. Use one of acme/api, acme/search, staff/mail.',
    ]);
  });
});

describe('what cannot be known', () => {
  it('is not judged: monitors, pages and components of an upstream that was never heard', () => {
    expect(
      found({
        site: ', home: staff',
        pages: `${ACME}\n  - { slug: team, from: svc/staff, components: [{ monitor: svc/9, group_id: x }] }`,
        posts: { one: incident('monitors: [svc/9]\ncomponents: [staff/mail, svc/7/x]\npages: [staff]') },
        silent: ['svc'],
      }),
    ).toEqual([]);
  });

  it('does not hide what is known of the others', () => {
    expect(found({ pages: '  - { slug: acme, components: [{ monitor: edge/db-2 }] }', silent: ['svc'] })).toHaveLength(
      1,
    );
  });
});
