import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { cstateSite } from '../../../src/imports/cstate/site.ts';
import { importFiles } from '../../../src/imports/files.ts';
import { gatusConfig } from '../../../src/imports/gatus/config.ts';
import type { ImportNote } from '../../../src/imports/site.ts';
import { statuspageSite } from '../../../src/imports/statuspage/site.ts';
import { issuesFromApi, upptimeSite } from '../../../src/imports/upptime/site.ts';
import { kumaFromApi, kumaFromDatabase } from '../../../src/imports/uptime-kuma/read.ts';
import { toEpochMs } from '../../../src/model/time.ts';

const now = toEpochMs(Date.parse('2026-11-21T09:00:00Z'));
const context = { page: 'acme', zone: 'UTC', now };

/** What is reported under a place, as `key: reason`. */
const unread = (notes: readonly ImportNote[], place: string): string[] =>
  notes
    .filter((note) => note.place.startsWith(`${place}: `))
    .map((note) => `${note.place.slice(place.length + 2)} – ${note.message}`);

/** Every key of the documented configuration, and one that nobody knows. */
const UPPTIME = `
owner: acme
repo: status
user-agent: acme
assignees: [acme]
sites:
  - name: Web
    url: https://acme.example
    method: POST
    icon: https://acme.example/icon.png
    expectedStatusCodes: [200]
    novel: true
status-website:
  name: Acme Status
  cname: status.acme.example
  robotsText: "User-agent: *\\nDisallow: /"
  favicon: https://acme.example/favicon.svg
  logoUrl: https://acme.example/logo.svg
  themeUrl: https://acme.example/theme.css
  introTitle: "**Acme**"
  introMessage: All about Acme.
  navbar: [{ title: Home, href: / }]
i18n: { up: Fine }
novel: 1
`;

describe('keys of a source', () => {
  const upptime = upptimeSite([{ path: '.upptimerc.yml', text: UPPTIME }], { issues: [], notes: [] }, context);

  it('are taken or named for Upptime', () => {
    const { pages } = parse(importFiles(upptime, { ...context, upstreamId: 'posts', folder: './posts' }).fragment) as {
      pages: unknown[];
    };
    expect(pages).toMatchObject([
      {
        title: 'Acme Status',
        description: 'All about Acme.',
        custom_domain: 'status.acme.example',
        allow_index: false,
        icon: 'https://acme.example/favicon.svg',
      },
    ]);
    expect(unread(upptime.notes, '.upptimerc.yml')).toEqual([
      'sites[].url, sites[].method, sites[].expectedStatusCodes – how sites are checked is set in the upstream that monitors them from now on',
      'sites[].icon – Pharos has no icons of components',
      'sites[].novel, novel – the import doesn’t know this key',
      'status-website.logoUrl, status-website.themeUrl – set `look` of the page instead',
      'status-website.introTitle – a page has one title; add it to `description`',
      'status-website.navbar – a page links to one site of yours, `homepage_url`',
      'i18n – Pharos has its own words; set `locale`',
    ]);
  });

  it('say nothing of robots that may read the page', () => {
    const text = 'status-website: { robotsText: "User-agent: *\nDisallow:" }';
    const { settings } = upptimeSite([{ path: '.upptimerc.yml', text }], { issues: [], notes: [] }, context);
    expect(settings).toEqual({});
  });

  it.each([
    ['GitHub', 'git-hub'],
    ['Shop APIs', 'shop-apis'],
    ['APIServer', 'api-server'],
    ['Google', 'google'],
  ])('know a site of Upptime called %s by the label %s of its issues', (name, label) => {
    const [text, labels] = [
      `sites: [{ name: ${name}, url: "https://a.example" }]`,
      [{ name: label }, { name: 'status' }],
    ];
    const times = { created_at: '2023-05-01T10:00:00Z', closed_at: '2023-05-01T10:20:00Z' };
    const issue = { number: 3, title: 'Down', body: '', state: 'closed', labels, user: { login: 'bot' }, ...times };
    const { posts } = upptimeSite([{ path: '.upptimerc.yml', text }], issuesFromApi([issue], []), context);
    expect(posts.map(({ post }) => post)).toMatchObject([{ components: [expect.stringContaining('acme/')] }]);
  });

  it('are taken or named for cState, in configuration and front matter', () => {
    const { notes, posts } = cstateSite(
      [
        {
          path: 'config.yml',
          text: 'title: Acme\ntheme: cstate\nparams:\n  brand: "#000"\n  googleAnalytics: UA\n  dateFormat: x\n  novel: 1\n',
        },
        {
          path: 'content/issues/one.md',
          text: '---\nTitle: One\nDate: 2019-01-30 9:24:00\nResolved: true\nResolvedWhen: 2019-01-30 10:02:00\nnovel: 1\n---\n',
        },
      ],
      context,
    );
    expect(posts.map(({ post }) => post)).toMatchObject([
      { title: 'One', started: '2019-01-30T09:24:00.000Z', ended: '2019-01-30T10:02:00.000Z' },
    ]);
    expect(unread(notes, 'config.yml')).toEqual([
      'params.brand – colours, logo and layout are set with `look` in Pharos',
      'params.googleAnalytics – Pharos pages load nothing from other hosts',
      'params.dateFormat – Pharos formats times by the language of the page',
      'params.novel – the import doesn’t know this key',
    ]);
    expect(unread(notes, 'front matter of issues')).toEqual(['novel – the import doesn’t know this key']);
  });

  it('are taken or named for Gatus', () => {
    const { notes } = gatusConfig('config.yaml', {
      endpoints: [{ name: 'Web', url: 'https://acme.example', conditions: [], alerts: [], novel: 1 }],
      alerting: {},
      security: {},
      storage: {},
      ui: { title: 'Acme', 'custom-css': 'x' },
    });
    expect(unread(notes, 'config.yaml')).toEqual([
      'endpoints[].alerts, alerting – set `notifications` in pharos.yaml',
      'endpoints[].novel – the import doesn’t know this key',
      'security – set `access_type` of the page',
      'ui.custom-css – set `look` and `homepage_url` of the page',
    ]);
  });

  it('are taken or named for Statuspage', () => {
    const at = '2026-01-01T00:00:00Z';
    const { notes } = statuspageSite(
      [
        {
          name: 'incidents.json',
          value: {
            components: [{ id: 'c', name: 'API', position: 1, status: 'operational', showcase: true, novel: 1 }],
            incidents: [
              {
                ...{
                  id: 'i',
                  name: 'One',
                  status: 'resolved',
                  impact: 'minor',
                  created_at: at,
                  shortlink: 'x',
                  metadata: {},
                },
                incident_updates: [
                  { id: 'u', status: 'resolved', body: 'Over.', created_at: at, custom_tweet: 'x', novel: 1 },
                ],
              },
            ],
          },
        },
      ],
      context,
    );
    expect(unread(notes, 'components')).toEqual([
      'showcase – Pharos shows the uptime of each component; see `show_uptime`',
      'novel – the import doesn’t know this key',
    ]);
    expect(unread(notes, 'incidents')).toEqual([
      'metadata – Pharos keeps no metadata',
      'incident_updates[].custom_tweet – visitors subscribe again, and what was sent is not sent twice',
      'incident_updates[].novel – the import doesn’t know this key',
    ]);
  });

  it('are taken or named for Uptime Kuma, from its database and its public page', async () => {
    const row = {
      id: 1,
      slug: 'main',
      title: 'Main',
      theme: 'auto',
      search_engine_index: 0,
      analytics_id: '',
      novel: 1,
    };
    const fromDatabase = await kumaFromDatabase(
      async (sql) => (sql.includes('FROM status_page') ? [row] : []),
      undefined,
    );
    expect(fromDatabase.settings).toEqual({ allow_index: false });
    expect(unread(fromDatabase.notes, 'status page')).toEqual([
      'theme – set `look` of the page instead',
      'novel – the import doesn’t know this key',
    ]);
    const fromApi = await kumaFromApi(
      async () => ({ config: { title: 'Main', footerText: 'x', showTags: true, novel: 1 }, publicGroupList: [] }),
      { url: 'https://kuma.example', slug: 'main' },
    );
    expect(unread(fromApi.notes, 'status page')).toEqual([
      'footerText – set `look` of the page instead',
      'showTags – Pharos has no tags; use groups',
      'novel – the import doesn’t know this key',
    ]);
  });
});
