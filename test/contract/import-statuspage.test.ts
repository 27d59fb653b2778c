import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { toEpochMs } from '../../src/model/time.ts';
import { projectPosts } from '../../src/sync/connectors/markdown/project.ts';
import { runHere } from '../helpers/in-process.ts';
import { type JsonServer, startJsonServer } from '../helpers/json-server.ts';
import { temporaryFolder } from '../helpers/pharos.ts';

const NOW = toEpochMs(Date.parse('2026-11-21T09:00:00Z'));
const at = (day: number, hour = 10): string =>
  new Date(Date.UTC(2026, 10, day, hour)).toISOString().replace('Z', '+00:00');

const component = (id: string, name: string, over: object = {}) => ({
  ...{ id, name, status: 'operational', description: null, group_id: null, group: false, page_id: 'p', position: 1 },
  ...{ showcase: true, start_date: null, only_show_if_degraded: false, created_at: at(1), updated_at: at(1), ...over },
});
const COMPONENTS = [
  component('g1', 'Ports', { group: true, components: ['c1', 'c2'] }),
  component('c1', 'Api', { group_id: 'g1', position: 1, description: 'For machines' }),
  component('c2', 'Web', { group_id: 'g1', position: 2 }),
  component('c3', 'Web', { position: 3, only_show_if_degraded: true }),
];
const update = (id: string, status: string, body: string, when: string, affected: unknown = null) => ({
  ...{ id, status, body, incident_id: 'i', created_at: when, updated_at: when, display_at: when },
  ...{ affected_components: affected, deliver_notifications: true, custom_tweet: null, tweet_id: null },
});
const change = (code: string, from: string, to: string) => ({ code, name: code, old_status: from, new_status: to });

const incident = (id: string, over: object = {}) => ({
  ...{ id, name: `Trouble ${id}`, status: 'resolved', impact: 'major', created_at: at(2), updated_at: at(2, 12) },
  ...{
    monitoring_at: null,
    resolved_at: at(2, 12),
    shortlink: 'https://stspg.example/x',
    started_at: at(2),
    page_id: 'p',
  },
  incident_updates: [
    update(`${id}-3`, 'resolved', 'It <strong>works</strong>.<br />Sorry.', at(2, 12), [
      change('c1', 'major_outage', 'operational'),
    ]),
    update(`${id}-2`, 'identified', 'A bad cable.', at(2, 11), [change('c1', 'operational', 'major_outage')]),
    update(`${id}-1`, 'investigating', 'We look.', at(2, 10), [
      change('c1', 'operational', 'partial_outage'),
      change('c2', 'operational', 'degraded_performance'),
    ]),
  ],
  components: [COMPONENTS[1], COMPONENTS[2]],
  ...over,
});
const OPEN = incident('open1', {
  status: 'monitoring',
  resolved_at: null,
  components: [],
  incident_updates: [update('o1', 'monitoring', 'Nearly.', at(20))],
  started_at: at(20),
});
const PLAN = incident('plan1', {
  name: 'New router',
  status: 'scheduled',
  impact: 'maintenance',
  resolved_at: null,
  scheduled_for: '2026-12-01T02:00:00.000+01:00',
  scheduled_until: '2026-12-01T04:00:00.000+01:00',
  incident_updates: [update('p1', 'scheduled', 'We change it.', at(19))],
});
const EARLY = incident('early1', {
  name: 'Done early',
  status: 'completed',
  scheduled_for: at(3, 8),
  scheduled_until: at(3, 12),
  resolved_at: at(3, 9),
  incident_updates: [update('e1', 'completed', 'Done.', at(3, 9)), update('e0', 'scheduled', 'Soon.', at(1))],
});
const PAGE = {
  id: 'p',
  name: 'Acme Status',
  url: 'https://status.acme.example',
  time_zone: 'Etc/UTC',
  updated_at: at(20),
};

describe('pharos import statuspage', () => {
  const folder = temporaryFolder();
  let server: JsonServer;
  // In a folder of its own, so that what appears beside it is ours.
  const cwd = join(folder.path, 'site');
  mkdirSync(cwd);
  let count = 0;
  beforeEach(() => {
    count += 1;
  });
  afterEach(async () => {
    await server?.stop();
  });
  afterAll(() => folder.remove());
  const out = (): string => `posts-${count}`;
  const run = (...args: string[]) =>
    runHere(['import', 'statuspage', ...args, '--page', 'acme', '--out', out()], { cwd });
  const posts = () =>
    readdirSync(join(cwd, out()))
      .filter((name) => name.endsWith('.md'))
      .map((name) => ({ name, text: readFileSync(join(cwd, out(), name), 'utf8') }));
  const read = () => projectPosts(posts(), { upstreamId: 'posts', zone: 'UTC', now: NOW });
  const pages = () =>
    parse(readFileSync(join(cwd, out(), 'acme.pages.yaml'), 'utf8')) as { pages: Record<string, never>[] };

  const documents =
    (incidents: readonly unknown[], over: Record<string, unknown> = {}) =>
    async (): Promise<void> => {
      const known: Record<string, unknown> = {
        '/api/v2/summary.json': {
          page: PAGE,
          components: COMPONENTS,
          incidents: [OPEN],
          scheduled_maintenances: [PLAN],
          status: {},
        },
        '/api/v2/components.json': { page: PAGE, components: COMPONENTS },
        '/api/v2/incidents.json': { page: PAGE, incidents },
        '/api/v2/scheduled-maintenances.json': { page: PAGE, scheduled_maintenances: [PLAN, EARLY] },
        ...over,
      };
      server = await startJsonServer((path) => known[path]);
    };

  it('takes over incidents with all updates, what they say of components, and maintenance', async () => {
    await documents([OPEN, incident('i1')])();
    const result = await run(server.url);
    expect([result.status, result.stderr]).toEqual([0, '']);
    const { incidents, maintenances, problems } = read();
    expect(problems).toEqual([]);
    expect(incidents.map(({ title, status }) => [title, status])).toEqual([
      ['Trouble i1', 'resolved'],
      ['Trouble open1', 'monitoring'],
    ]);
    const [first] = incidents;
    expect(first).toMatchObject({ impact: 'major', startedAt: Date.parse(at(2)), endedAt: Date.parse(at(2, 12)) });
    expect(first?.updates.map(({ status, body }) => [status, body])).toEqual([
      ['investigating', 'We look.'],
      ['identified', 'A bad cable.'],
      ['resolved', 'It **works**.\nSorry.'],
    ]);
    expect(first?.updates.map(({ impacts }) => impacts?.map(({ id, state }) => [id, state]))).toEqual([
      [
        ['config/acme/api', 'partial_outage'],
        ['config/acme/web', 'degraded'],
      ],
      [
        ['config/acme/api', 'major_outage'],
        ['config/acme/web', 'degraded'],
      ],
      [
        ['config/acme/api', 'operational'],
        ['config/acme/web', 'degraded'],
      ],
    ]);
    expect(
      maintenances.map(({ title, startsAt, endsAt, updates }) => [title, startsAt, endsAt, updates.length]),
    ).toEqual([
      ['Done early', Date.parse(at(3, 8)), Date.parse(at(3, 9)), 2],
      ['New router', Date.parse('2026-12-01T01:00:00Z'), Date.parse('2026-12-01T03:00:00Z'), 1],
    ]);
    expect(pages().pages[0]).toMatchObject({
      title: 'Acme Status',
      groups: [{ id: 'ports', name: 'Ports' }],
      components: [
        { id: 'api', type: 'static', name: 'Api', description: 'For machines', group_id: 'ports' },
        { id: 'web', group_id: 'ports' },
        { id: 'web-c3', name: 'Web' },
      ],
      redirects: {
        '/incidents/i1/': '/incidents/posts-statuspage-i1/',
        '/incidents/plan1/': '/maintenance/posts-statuspage-plan1/',
      },
    });
    expect(result.stdout).toContain('component "Web": was shown only while degraded');
    expect(result.stdout).toContain('subscribers, metrics');
    expect(server.asked.filter((path) => path.includes('history'))).toEqual([]);
  });

  it('writes nothing new the second time, and only with --update what has changed', async () => {
    await documents([incident('i1')])();
    expect((await run(server.url)).stdout).toContain('4 posts: 4 new');
    const before = posts();
    expect((await run(server.url)).stdout).toContain('4 posts: 0 new, 4 unchanged');
    const file = join(cwd, out(), 'statuspage-i1.md');
    writeFileSync(file, `${readFileSync(file, 'utf8')}\nEdited.\n`);
    const kept = await run(server.url);
    expect(kept.stdout).toContain('3 unchanged, 1 left unchanged');
    expect(readFileSync(file, 'utf8')).toContain('Edited.');
    expect((await run(server.url, '--update')).stdout).toContain('1 updated');
    expect(posts()).toEqual(before);
  });

  it('goes back to the first incident by the archive where the lists are full', async () => {
    const newest = Array.from({ length: 50 }, (_, index) => incident(`n${index}`));
    const old = incident('old1', {
      name: 'Long ago',
      created_at: '2014-02-03T10:00:00-07:00',
      started_at: '2014-02-03T10:00:00-07:00',
      resolved_at: '2014-02-03T12:00:00-07:00',
      incident_updates: [update('x', 'resolved', 'Over.', '2014-02-03T12:00:00-07:00')],
    });
    const month = (...codes: string[]) => ({
      name: 'February',
      year: 2014,
      days: 28,
      starts_on: 6,
      incidents: codes.map((code) => ({
        code,
        name: 'x',
        message: 'y',
        impact: 'none',
        timestamp: 'Feb <var>3</var>',
      })),
    });
    await documents(newest, {
      '/history.json?page=1': { months: [month('n0', 'n1'), month()] },
      '/history.json?page=2': { months: [month(), month(), month()] },
      '/history.json?page=3': { months: [month('old1', 'lost1')] },
      ...Object.fromEntries(
        Array.from({ length: 8 }, (_, index) => [`/history.json?page=${index + 4}`, { months: [month()] }]),
      ),
      '/incidents/old1.json': old,
    })();
    const result = await run(server.url);
    expect(read().incidents).toHaveLength(52);
    expect(read().incidents.find(({ title }) => title === 'Long ago')?.startedAt).toBe(
      Date.parse('2014-02-03T17:00:00Z'),
    );
    expect(result.stdout).toMatch(/✗ incident lost1: .*404/);
    expect(server.asked.filter((path) => path.startsWith('/incidents/'))).toEqual([
      '/incidents/old1.json',
      '/incidents/lost1.json',
    ]);
    expect((pages() as unknown as { retentionDays: number }).retentionDays).toBeGreaterThan(12 * 365);
  });

  it('says where the past ends of a page without an archive', async () => {
    await documents(Array.from({ length: 50 }, (_, index) => incident(`n${index}`)))();
    const { stdout, status } = await run(server.url);
    expect(status).toBe(0);
    expect(stdout).toContain('✗ history: the lists end at the 50 newest');
  });

  it('takes files of both APIs, in parts and twice the same', async () => {
    const manage = [
      [
        {
          ...incident('m1'),
          postmortem_body: 'A *cable*.',
          postmortem_published_at: at(5),
          scheduled_for: null,
          deliver_notifications: false,
        },
      ],
      [
        { ...PLAN, backfilled: false },
        incident('i1', { impact: 'odd', status: 'weird', components: [{ id: 'gone', name: 'Fax' }] }),
      ],
    ];
    writeFileSync(join(cwd, 'manage.json'), JSON.stringify(manage));
    writeFileSync(
      join(cwd, 'summary.json'),
      JSON.stringify({ page: PAGE, components: COMPONENTS, incidents: [], scheduled_maintenances: [PLAN] }),
    );
    const result = await run('manage.json', 'summary.json');
    expect(result.status).toBe(0);
    expect(posts().map(({ name }) => name)).toEqual(['statuspage-i1.md', 'statuspage-m1.md', 'statuspage-plan1.md']);
    const m1 = read().incidents.find(({ title }) => title === 'Trouble m1');
    expect(m1?.updates.at(-1)).toMatchObject({ status: 'postmortem', body: 'A *cable*.', at: Date.parse(at(5)) });
    for (const words of [
      'its impact "odd" is unknown',
      'its status "weird" is unknown',
      'it is about "Fax", which the page no longer has',
    ])
      expect(result.stdout).toContain(words);
  });

  it('writes no file outside of its folder, whatever ids are', async () => {
    await documents([
      incident('../../evil'),
      incident('../../evil '),
      incident('CON:\u0000x'),
      incident('i1'),
      incident('I1'),
    ])();
    const before = readdirSync(join(cwd, '..')).toSorted();
    const result = await run(server.url);
    expect(result.status).toBe(0);
    expect(posts()).toHaveLength(8);
    expect(
      posts()
        .map(({ name }) => name)
        .join(' '),
    ).toMatch(/^(?:[a-z0-9-]+\.md ?)+$/);
    expect(readdirSync(join(cwd, '..')).toSorted()).toEqual(before);
    expect(result.stdout).not.toContain('\u0000');
    expect(
      read()
        .incidents.map(({ title }) => title.includes('evil'))
        .filter(Boolean),
    ).toHaveLength(2);
  });

  it('leaves out what it cannot read, with a line, and says what is no page at all', async () => {
    await documents([
      { id: 'bad1', name: 'No time', incident_updates: [] },
      incident('i2', {
        incident_updates: [
          { id: 'u', status: 'resolved', body: 'x', created_at: 'never' },
          update('v', 'odd', 'y', at(2)),
        ],
      }),
      'nonsense',
    ])();
    const { stdout } = await run(server.url);
    expect(stdout).toMatch(/✗ \/api\/v2\/incidents\.json bad1: created_at/);
    expect(stdout).toMatch(/✗ incident i2: an update is unreadable: created_at/);
    expect(stdout).toMatch(/~ incident i2: an update has the unknown status "odd"/);
    expect(stdout).toMatch(/✗ \/api\/v2\/incidents\.json: /);
    await server.stop();
    server = await startJsonServer(() => ({ status: 200, html: '<!doctype html><p>Welcome' }));
    const html = await run(server.url);
    expect([html.status, html.stderr]).toEqual([1, expect.stringContaining('/api/v2/summary.json')]);
    writeFileSync(join(cwd, 'other.json'), '{"a":1}');
    expect((await run('other.json')).stdout).toContain('✗ other.json: it has no incidents');
    writeFileSync(join(cwd, 'text.json'), 'hello');
    expect((await run('text.json')).stderr).toContain('text.json is not JSON');
    expect((await run('nowhere.json')).stderr).toContain('Can’t read nowhere.json');
  });
});
