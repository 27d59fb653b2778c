import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { toEpochMs } from '../../src/model/time.ts';
import { projectPosts } from '../../src/sync/connectors/markdown/project.ts';
import { runHere } from '../helpers/in-process.ts';
import { type JsonServer, startJsonServer } from '../helpers/json-server.ts';
import { temporaryFolder } from '../helpers/pharos.ts';

const NOW = toEpochMs(Date.parse('2026-11-21T09:00:00Z'));
const folder = temporaryFolder();
const cwd = folder.path;
let server: JsonServer | null = null;
let count = 0;
beforeEach(() => {
  count += 1;
});
afterEach(async () => {
  await server?.stop();
  server = null;
});
afterAll(() => folder.remove());

const out = (): string => `posts-${count}`;
const run = (...args: string[]) => runHere(['import', ...args, '--page', 'acme', '--out', out()], { cwd });

function read() {
  const files = readdirSync(join(cwd, out()))
    .filter((name) => name.endsWith('.md'))
    .map((name) => ({ name, text: readFileSync(join(cwd, out(), name), 'utf8') }));
  const posts = projectPosts(files, { upstreamId: 'posts', zone: 'UTC', now: NOW });
  expect(posts.problems).toEqual([]);
  const fragment = parse(readFileSync(join(cwd, out(), 'acme.pages.yaml'), 'utf8')) as {
    upstreams: Record<string, string>[];
    pages: Record<string, unknown>[];
  };
  return { ...posts, names: files.map(({ name }) => name), fragment, page: fragment.pages[0] };
}

async function serve(answers: Record<string, unknown>): Promise<string> {
  server = await startJsonServer((path) => answers[path]);
  return server.url;
}

async function expectNothingNew(...args: string[]): Promise<void> {
  const again = await run(...args);
  expect([again.status, again.stdout]).toEqual([0, expect.stringMatching(/\d+ posts: 0 new, \d+ unchanged\./)]);
  expect(again.stdout).not.toMatch(/^[+=] /m);
}

describe('pharos import upptime', () => {
  const label = (name: string) => ({ id: 1, name, color: 'ff0000' });
  const issue = (number: number, over: object) => ({
    ...{ number, title: `🛑 Shop is down`, body: 'In `abc`, Shop was **down**:\n- HTTP code: 503', state: 'closed' },
    ...{
      labels: [label('shop'), label('status')],
      created_at: '2023-05-01T10:00:00Z',
      closed_at: '2023-05-01T10:20:00Z',
      user: { login: 'bot' },
      ...over,
    },
  });
  const ISSUES = [
    issue(3, {}),
    issue(4, {
      title: '⚠️ Blog has degraded performance',
      labels: [label('blog-main'), label('status')],
      state: 'open',
      closed_at: null,
    }),
    issue(5, {
      title: 'New disks',
      labels: [label('maintenance')],
      body: '<!--\nstart: 2024-02-24T13:00:00+01:00\nend: 2024-02-24T14:00:00+01:00\nexpectedDown: shop, gone\n-->\nWe change disks.',
    }),
    issue(6, { title: 'How do I …?', labels: [] }),
    issue(7, { title: 'A change', labels: [label('status')], pull_request: { url: 'x' } }),
    issue(8, { title: 'No window', labels: [label('maintenance')], body: 'soon' }),
    { number: 9 },
  ];
  const COMMENTS = [
    {
      issue_url: 'https://api.example/repos/harbour/up/issues/3',
      body: 'A **plug**.',
      created_at: '2023-05-01T10:10:00Z',
    },
    {
      issue_url: 'https://api.example/repos/harbour/up/issues/3',
      body: '**Resolved:** Shop is back up in `def`.',
      created_at: '2023-05-01T10:20:00Z',
    },
  ];

  function repository(name: string, api: string): string {
    mkdirSync(join(cwd, name, 'history'), { recursive: true });
    writeFileSync(
      join(cwd, name, '.upptimerc.yml'),
      `owner: harbour\nrepo: up\nsites:\n  - name: Shop\n    url: https://shop.example\n  - name: Blog\n    slug: blog-main\n    url: https://blog.example\nstatus-website:\n  name: Harbour\n  introMessage: How **we** are.\n  apiBaseUrl: ${api}\n`,
    );
    writeFileSync(
      join(cwd, name, 'history', 'summary.json'),
      JSON.stringify([
        {
          name: 'Shop',
          slug: 'shop',
          url: 'https://shop.example',
          status: 'up',
          dailyMinutesDown: { '2023-05-01': 20 },
        },
      ]),
    );
    writeFileSync(join(cwd, name, 'history', 'shop.yml'), 'url: https://shop.example\nstatus: up\n');
    return name;
  }

  it('asks for issues and comments, and takes incidents and maintenance of them', async () => {
    const url = await serve({
      '/repos/harbour/up/issues?state=all&direction=asc&per_page=100&page=1': ISSUES,
      '/repos/harbour/up/issues/comments?per_page=100&page=1': COMMENTS,
    });
    const dir = repository('repo', url);
    const result = await run('upptime', dir);
    expect([result.status, result.stderr]).toEqual([0, '']);
    const { incidents, maintenances, page, names } = read();
    expect(names).toEqual(['upptime-3.md', 'upptime-4.md', 'upptime-5.md']);
    expect(
      incidents.map(({ title, status, components, affectedState }) => [
        title,
        status,
        components.map(({ id }) => id),
        affectedState,
      ]),
    ).toEqual([
      ['🛑 Shop is down', 'resolved', ['config/acme/shop'], 'major_outage'],
      ['⚠️ Blog has degraded performance', 'investigating', ['config/acme/blog-main'], 'degraded'],
    ]);
    expect(incidents[0]?.updates.map(({ status, body }) => [status, body.slice(0, 13)])).toEqual([
      ['investigating', 'In `abc`, Sho'],
      [null, 'A **plug**.'],
      ['resolved', '**Resolved:**'],
    ]);
    expect(maintenances[0]).toMatchObject({
      startsAt: Date.parse('2024-02-24T12:00:00Z'),
      body: 'We change disks.',
      components: ['config/acme/shop'],
    });
    expect(page).toMatchObject({
      title: 'Harbour',
      components: [
        { id: 'shop', name: 'Shop', type: 'static' },
        { id: 'blog-main', name: 'Blog' },
      ],
      redirects: {
        '/history/shop/': '/components/shop/',
        '/incident/3/': '/incidents/posts-upptime-3/',
        '/incident/5/': '/maintenance/posts-upptime-5/',
      },
    });
    for (const words of [
      '✗ issues #6: they have neither',
      '✗ issue #8: maintenance without start',
      '✗ issue 9: title',
      'the site "gone", which',
      '1 days with minutes',
      'upptime-4.md: still open at the source',
    ])
      expect(result.stdout).toContain(words);
    await expectNothingNew('upptime', dir);
  });

  it('reads issues from a file as the command line of GitHub writes it, and asks nobody', async () => {
    const gh = ISSUES.slice(0, 1).map(
      ({ created_at: createdAt, closed_at: closedAt, ...one }: Record<string, unknown>) => ({
        ...{ ...one, createdAt, closedAt },
        comments: COMMENTS.map(({ body, created_at: when }) => ({ body, createdAt: when, author: { login: 'x' } })),
      }),
    );
    writeFileSync(join(cwd, 'issues.json'), JSON.stringify(gh));
    const url = await serve({});
    const result = await run('upptime', repository('repo2', url), '--issues', 'issues.json');
    expect(result.status).toBe(0);
    expect(server?.asked).toEqual([]);
    expect(read().incidents[0]?.updates).toHaveLength(3);
  });

  it('says what is no repository of it, and where issues are not', async () => {
    mkdirSync(join(cwd, 'empty'));
    expect((await run('upptime', 'empty')).stderr).toContain('empty has neither .upptimerc.yml');
    const missing = await run('upptime', repository('repo3', await serve({})));
    expect([missing.status, missing.stderr]).toEqual([1, expect.stringContaining('/repos/harbour/up/issues')]);
  });
});

describe('pharos import uptime-kuma', () => {
  /** The columns that version 2.5.3 has, as far as they are read. */
  const TABLES = `
    CREATE TABLE status_page (id INTEGER PRIMARY KEY, slug TEXT, title TEXT, description TEXT, password TEXT);
    CREATE TABLE "group" (id INTEGER PRIMARY KEY, name TEXT, weight INTEGER, status_page_id INTEGER);
    CREATE TABLE monitor (id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE monitor_group (id INTEGER PRIMARY KEY, monitor_id INTEGER, group_id INTEGER, weight INTEGER);
    CREATE TABLE incident (id INTEGER PRIMARY KEY, title TEXT, content TEXT, style TEXT, created_date TEXT, last_updated_date TEXT, pin BOOLEAN, active BOOLEAN, status_page_id INTEGER);
    CREATE TABLE maintenance (id INTEGER PRIMARY KEY, title TEXT, description TEXT, active BOOLEAN, strategy TEXT, start_date TEXT, end_date TEXT, start_time TEXT, end_time TEXT, weekdays TEXT, days_of_month TEXT, interval_day INTEGER, cron TEXT, timezone TEXT, duration INTEGER);
    CREATE TABLE maintenance_status_page (id INTEGER PRIMARY KEY, status_page_id INTEGER, maintenance_id INTEGER);
    CREATE TABLE monitor_maintenance (id INTEGER PRIMARY KEY, monitor_id INTEGER, maintenance_id INTEGER);
    INSERT INTO status_page VALUES (1, 'main', 'Harbour', 'All of it', NULL), (2, 'staff', 'Staff', NULL, 'x');
    INSERT INTO "group" VALUES (1, 'Second', 2, 1), (2, 'First', 1, 1), (3, 'Other', 1, 2), (4, 'Empty', 3, 1);
    INSERT INTO monitor VALUES (11, 'Crane'), (12, 'Rails'), (13, 'Hidden');
    INSERT INTO monitor_group VALUES (1, 11, 1, 2), (2, 12, 1, 1), (3, 11, 2, 1), (4, 13, 3, 1);
    INSERT INTO incident VALUES
      (1, 'Fog', 'We **see** nothing.', 'danger', '2024-05-01 10:00:00', '2024-05-01 12:00:00', 0, 0, 1),
      (2, 'Pinned', 'Still.', 'warning', '2026-11-20 10:00:00.123', NULL, 1, 1, 1),
      (3, 'Taken down', 'Gone.', 'odd', '2024-06-01 10:00:00', NULL, 0, 1, 1),
      (4, 'Of another page', 'x', 'info', '2024-06-01 10:00:00', NULL, 1, 1, 2);
    INSERT INTO maintenance VALUES
      (1, 'Once', 'A swap.', 1, 'single', '2026-12-01 02:00:00', '2026-12-01 03:00:00', NULL, NULL, '[]', '[]', 1, NULL, 'Europe/Berlin', NULL),
      (2, 'Nights', '', 1, 'recurring-weekday', '2026-01-01 00:00:00', '2026-12-24 12:00:00', '23:00', '01:30', '[1,0]', '[]', 1, 'x', 'Europe/Berlin', 9000),
      (3, 'Ends of months', '', 1, 'recurring-day-of-month', '2026-01-01 00:00:00', NULL, '02:00:00', '03:00:00', '[]', '[1,"lastDay1","lastDay2"]', 1, 'x', 'SAME_AS_SERVER', 3600),
      (4, 'Every third day', '', 1, 'recurring-interval', '2026-03-05 00:00:00', NULL, '04:00', '05:00', '[]', '[]', 3, 'x', 'UTC', 3600),
      (5, 'By hand', '', 1, 'manual', NULL, NULL, NULL, NULL, '[]', '[]', 1, NULL, 'UTC', NULL),
      (6, 'Cron', '', 1, 'cron', NULL, NULL, NULL, NULL, '[]', '[]', 1, '0 1 * * *', 'UTC', 60),
      (7, 'Off', '', 0, 'single', '2026-12-01 02:00:00', '2026-12-01 03:00:00', NULL, NULL, '[]', '[]', 1, NULL, 'UTC', NULL),
      (8, 'Nowhere', '', 1, 'manual', NULL, NULL, NULL, NULL, '[]', '[]', 1, NULL, 'UTC', NULL);
    INSERT INTO maintenance_status_page SELECT NULL, 1, id FROM maintenance WHERE id < 8;
    INSERT INTO monitor_maintenance VALUES (1, 11, 1), (2, 13, 1);
  `;

  function databaseOf(sql: string, name = `kuma-${count}.db`): string {
    const database = new DatabaseSync(join(cwd, name));
    database.exec('PRAGMA journal_mode = WAL');
    database.exec(sql);
    database.close();
    return name;
  }

  it('reads a page of the database: groups, incidents and every kind of window', async () => {
    const args = ['uptime-kuma', databaseOf(TABLES), '--status-page', 'main'];
    const result = await run(...args);
    expect([result.status, result.stderr]).toEqual([0, '']);
    const { incidents, maintenances, page, fragment } = read();
    expect(incidents.map(({ title, impact, status, endedAt }) => [title, impact, status, endedAt])).toEqual([
      ['Fog', 'major', 'resolved', Date.parse('2024-05-01T12:00:00Z')],
      ['Pinned', 'minor', 'investigating', null],
      ['Taken down', 'minor', 'resolved', Date.parse('2024-06-01T10:00:00Z')],
    ]);
    expect(incidents[0]?.updates[0]?.body).toBe('We **see** nothing.');
    const plan = (title: string) => maintenances.find((one) => one.title === title);
    expect(plan('Once')).toMatchObject({
      startsAt: Date.parse('2026-12-01T01:00:00Z'),
      components: ['config/acme/monitor-11'],
      body: 'A swap.',
    });
    expect(plan('Nights')?.repeats).toMatchObject({
      rule: 'FREQ=WEEKLY;BYDAY=MO,SU;UNTIL=20261224T120000Z',
      every: 'week',
    });
    const night = plan('Nights')?.repeats?.windows.find(({ from }) => from > NOW);
    expect([night?.from, night?.to]).toEqual([Date.parse('2026-11-22T22:00:00Z'), Date.parse('2026-11-23T00:30:00Z')]);
    expect(plan('Ends of months')?.repeats?.rule).toBe('FREQ=MONTHLY;BYMONTHDAY=1,-1,-2');
    expect(plan('Every third day')?.repeats?.rule).toBe('FREQ=DAILY;INTERVAL=3');
    expect(
      plan('Every third day')?.repeats?.windows.some(
        ({ from }) => (from - Date.parse('2026-03-05T04:00:00Z')) % (3 * 86_400_000) !== 0,
      ),
    ).toBe(false);
    expect(maintenances).toHaveLength(4);
    expect(page).toMatchObject({
      title: 'Harbour',
      description: 'All of it',
      groups: [{ name: 'First' }, { name: 'Second' }, { name: 'Empty' }],
      components: [
        { id: 'monitor-11', monitor: 'kuma/11', name: 'Crane', group_id: 'group-2' },
        { id: 'monitor-12', monitor: 'kuma/12', name: 'Rails', group_id: 'group-1' },
      ],
      redirects: { '/status/main/': '/' },
    });
    expect(fragment.upstreams[0]).toMatchObject({ id: 'kuma', kind: 'uptime-kuma', page: 'main' });
    for (const words of [
      '"By hand": it was switched on by hand',
      '"Cron": it repeats by a cron',
      '"Off": it is switched off',
      '1 maintenances: they are on no status page',
      'incident 3: its style "odd"',
      'incident 3: it is over, but its end is unknown',
      'in the server’s time zone',
      'monitor "Crane" in "Second": it is in another group',
      'its days lastDay2 never took effect',
    ])
      expect([words, result.stdout]).toEqual([words, expect.stringContaining(words)]);
    await expectNothingNew(...args);
  });

  it('takes over its checks with --checks, from the database alone', async () => {
    const database = databaseOf(`${TABLES}
      ALTER TABLE monitor ADD type TEXT; ALTER TABLE monitor ADD url TEXT; ALTER TABLE monitor ADD interval INTEGER;
      UPDATE monitor SET type = 'http', url = 'https://crane.example', interval = 120 WHERE id = 11;
      UPDATE monitor SET type = 'docker', interval = 60 WHERE id = 12;`);
    const result = await run('uptime-kuma', database, '--status-page', 'main', '--checks');
    expect([result.status, result.stderr]).toEqual([0, '']);
    const { fragment, page } = read();
    expect(fragment.upstreams.map(({ kind }) => kind)).toEqual(['checks', 'markdown']);
    expect(fragment.upstreams[0]?.['checks']).toEqual([
      { id: 'crane', name: 'Crane', periodicity: '1m', type: 'http', url: 'https://crane.example', retry: 0 },
    ]);
    expect(page?.['components']).toMatchObject([
      { id: 'monitor-11', monitor: 'checks/crane' },
      { id: 'monitor-12', type: 'static' },
    ]);
    expect(result.stdout).toContain('✗ monitor "Rails": it has no check: Pharos has no check of the type docker');
    expect(result.stdout).not.toContain('upstreams[0].url');
    const refused = await run('uptime-kuma', 'https://kuma.example.com/status/main', '--checks');
    expect([refused.status, refused.stderr]).toEqual([2, expect.stringContaining('pass kuma.db from its data folder')]);
  });

  it('says which page is meant, and what is no database of it', async () => {
    const database = databaseOf(TABLES);
    expect((await run('uptime-kuma', database)).stderr).toContain('choose one with --status-page: main, staff');
    expect((await run('uptime-kuma', database, '--status-page', 'x')).stderr).toContain('there is no status page "x"');
    expect((await run('uptime-kuma', databaseOf('CREATE TABLE a (b)', 'other.db'))).stderr).toContain(
      'Can’t read other.db as a database of Uptime Kuma: no such table: status_page',
    );
    writeFileSync(join(cwd, 'backup.json'), '{"monitorList":[]}');
    expect((await run('uptime-kuma', 'backup.json')).stderr).toContain(
      'Backup files (JSON) of version 1 have no status pages',
    );
    expect((await run('uptime-kuma', 'http://127.0.0.1:9')).stderr).toContain('/status/default');
  });

  const row = (id: number, over: object = {}) => ({
    ...{ id, style: 'warning', title: `Incident ${id}`, content: 'Text', pin: false, active: false, status_page_id: 1 },
    ...{
      createdDate: `2025-03-0${(id % 9) + 1} 10:00:00`,
      lastUpdatedDate: `2025-03-0${(id % 9) + 1} 11:00:00`,
      ...over,
    },
  });
  const PUBLIC = {
    config: { slug: 'main', title: 'Harbour', description: null },
    publicGroupList: [{ id: 2, name: 'First', monitorList: [{ id: 11, name: 'Crane', type: 'http' }] }],
    incidents: [row(30, { pin: true, active: true, lastUpdatedDate: null })],
    maintenanceList: [
      {
        id: 1,
        title: 'Once',
        description: 'A swap.',
        strategy: 'single',
        active: true,
        timezone: 'UTC',
        dateRange: ['2026-12-01 02:00:00', '2026-12-01 03:00:00'],
        timeRange: [{}, {}],
        weekdays: [],
        daysOfMonth: [],
        timeslotList: [],
      },
      {
        id: 2,
        title: 'Nights',
        description: '',
        strategy: 'recurring-weekday',
        active: true,
        timezone: 'UTC',
        intervalDay: 1,
        dateRange: ['2026-01-01 00:00:00'],
        timeRange: [
          { hours: 2, minutes: 5 },
          { hours: 3, minutes: 0 },
        ],
        weekdays: [3],
        daysOfMonth: [],
        timeslotList: [],
      },
    ],
  };

  it('reads the public page with all pages of its history', async () => {
    const url = await serve({
      '/api/status-page/main': PUBLIC,
      '/api/status-page/main/incident-history': {
        ok: true,
        incidents: [row(30, { pin: true, active: true }), row(29)],
        total: 3,
        hasMore: true,
        nextCursor: '2025-03-03 10:00:00',
      },
      '/api/status-page/main/incident-history?cursor=2025-03-03%2010%3A00%3A00': {
        ok: true,
        incidents: [row(28)],
        total: 3,
        hasMore: false,
        nextCursor: null,
      },
    });
    const result = await run('uptime-kuma', `${url}/status/main`);
    expect([result.status, result.stderr]).toEqual([0, '']);
    const { incidents, maintenances, fragment } = read();
    expect(incidents.map(({ title, status }) => [title, status])).toEqual([
      ['Incident 28', 'resolved'],
      ['Incident 29', 'resolved'],
      ['Incident 30', 'investigating'],
    ]);
    expect(maintenances.map(({ title }) => title)).toEqual(['Once', 'Nights']);
    expect(fragment.upstreams[0]?.['url']).toBe(url);
    expect(result.stdout).toContain('without its monitors');
    await expectNothingNew('uptime-kuma', url, '--status-page', 'main');
  });

  it('says of a version without a history that there is none', async () => {
    const { incidents: _, ...old } = PUBLIC;
    const url = await serve({
      '/api/status-page/main': {
        ...old,
        incident: { id: 5, title: 'Now', content: '', style: 'info', createdDate: '2026-11-01 10:00:00', pin: true },
      },
    });
    const result = await run('uptime-kuma', `${url}/status/main`);
    expect(read().incidents.map(({ title }) => title)).toEqual(['Now']);
    expect(result.stdout).toMatch(
      /✗ incidents of the past: this version doesn’t list them .*import its database instead/,
    );
  });
});

describe('pharos import gatus', () => {
  const CONFIG = `
ui: { header: Harbour checks, description: What is checked }
maintenance: { start: "23:30", duration: 1h30m, timezone: Europe/Berlin, every: [Saturday, Sunday] }
endpoints:
  - name: Front door
    group: Core
    url: "\${URL}"
    conditions: ["[STATUS] == 200"]
    maintenance-windows: [{ start: "04:00", duration: 20m }, { start: "4", duration: 20m }]
  - { name: Back.door, url: "https://b.example", conditions: [] }
  - { name: Off, enabled: false, url: "https://c.example", conditions: [] }
external-endpoints: [{ name: Job, group: Core, token: secret-of-the-job }]
suites: [{ name: s, endpoints: [] }]
announcements:
  - { timestamp: 2026-11-20T10:00:00Z, type: outage, message: "**Fog**\\nWe see nothing." }
  - { timestamp: 2025-01-01T10:00:00Z, type: warning, message: Old fog, archived: true }
  - { timestamp: soon, message: x }
`;

  function databaseOf(): string {
    const name = `gatus-${count}.db`;
    const database = new DatabaseSync(join(cwd, name));
    database.exec(`
      CREATE TABLE endpoints (endpoint_id INTEGER PRIMARY KEY, endpoint_key TEXT, endpoint_name TEXT, endpoint_group TEXT);
      CREATE TABLE endpoint_events (endpoint_event_id INTEGER PRIMARY KEY, endpoint_id INTEGER, event_type TEXT, event_timestamp TIMESTAMP);
      INSERT INTO endpoints VALUES (1, 'core_front-door', 'Front door', 'Core');
      INSERT INTO endpoint_events VALUES
        (1, 1, 'START', '2026-10-01 09:00:00.123456789 +0000 UTC'),
        (2, 1, 'UNHEALTHY', '2026-10-02 10:00:00.5 +0000 UTC'),
        (3, 1, 'HEALTHY', '2026-10-02 10:30:00 +0000 UTC'),
        (4, 1, 'UNHEALTHY', '2026-11-02T10:00:00Z');
    `);
    database.close();
    return name;
  }

  it('adds up its configuration and its database', async () => {
    writeFileSync(join(cwd, 'gatus.yaml'), CONFIG);
    const args = ['gatus', 'gatus.yaml', databaseOf()];
    const result = await run(...args);
    expect([result.status, result.stderr]).toEqual([0, '']);
    const { incidents, maintenances, announcements, page, fragment } = read();
    expect(
      incidents.map(({ title, startedAt, endedAt, components }) => [
        title,
        startedAt,
        endedAt,
        components.map(({ id }) => id),
      ]),
    ).toEqual([
      ['Old fog', Date.parse('2025-01-01T10:00:00Z'), Date.parse('2025-01-01T10:00:00Z'), []],
      [
        'Front door was down',
        Date.parse('2026-10-02T10:00:00.500Z'),
        Date.parse('2026-10-02T10:30:00Z'),
        ['config/acme/front-door'],
      ],
    ]);
    expect(announcements.map(({ title, level, body, pages }) => [title, level, body, pages])).toEqual([
      ['**Fog**', 'warning', '**Fog**\nWe see nothing.', ['acme']],
    ]);
    expect(maintenances.map(({ repeats, components }) => [repeats?.rule, components.length])).toEqual([
      ['FREQ=DAILY', 1],
      ['FREQ=WEEKLY;BYDAY=SA,SU', 3],
    ]);
    const next = maintenances[1]?.repeats?.windows.find(({ from }) => from > NOW);
    expect([next?.from, next?.to]).toEqual([Date.parse('2026-11-21T22:30:00Z'), Date.parse('2026-11-22T00:00:00Z')]);
    expect(page).toMatchObject({
      title: 'Harbour checks',
      groups: [{ id: 'core', name: 'Core' }],
      components: [
        { id: 'front-door', monitor: 'gatus/core_front-door', group_id: 'core' },
        { id: 'back-door', monitor: 'gatus/_back-door' },
        { id: 'job', monitor: 'gatus/core_job' },
      ],
      redirects: { '/endpoints/core_front-door/': '/components/front-door/' },
    });
    expect(fragment.upstreams[0]).toMatchObject({ id: 'gatus', kind: 'gatus' });
    expect(JSON.stringify(fragment)).not.toContain('secret-of-the-job');
    for (const words of [
      'endpoint "Off": it is switched off',
      '1 suites',
      'announcement 3: it has no message or no time',
      'maintenance of core_front-door: start',
      'endpoint "Front door": it has been down since 2026-11-02',
      'enter it there',
    ])
      expect([words, result.stdout]).toEqual([words, expect.stringContaining(words)]);
    await expectNothingNew(...args);
  });

  it('asks a running one for its endpoints, their changes and its announcements', async () => {
    const status = { name: 'Front door', group: 'Core', key: 'core_front-door', results: [] };
    const url = await serve({
      '/api/v1/endpoints/statuses?page=1&pageSize=100': [status, { name: 'Other', key: '_other', results: [] }],
      '/api/v1/endpoints/core_front-door/statuses?page=1&pageSize=1': {
        ...status,
        events: [
          { type: 'UNHEALTHY', timestamp: '2026-10-02T10:00:00.5+02:00' },
          { type: 'HEALTHY', timestamp: '2026-10-02T11:00:00+02:00' },
        ],
      },
      '/api/v1/config': {
        oidc: false,
        authenticated: true,
        announcements: [{ timestamp: '2026-11-20T10:00:00Z', type: 'operational', message: 'All well' }],
      },
    });
    const result = await run('gatus', url);
    expect(result.status).toBe(0);
    const { incidents, announcements, fragment } = read();
    expect(incidents.map(({ startedAt, endedAt }) => [startedAt, endedAt])).toEqual([
      [Date.parse('2026-10-02T08:00:00.500Z'), Date.parse('2026-10-02T09:00:00Z')],
    ]);
    expect(announcements.map(({ level }) => level)).toEqual(['success']);
    expect(fragment.upstreams[0]?.['url']).toBe(url);
    expect(result.stdout).toMatch(/✗ events of _other: .*404/);
    await expectNothingNew('gatus', url);
  });
});
