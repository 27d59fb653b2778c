import { describe, expect, it } from 'vitest';
import { toEpochMs } from '../../../src/model/time.ts';
import { revokeKey } from '../../../src/sync/connectors/uptime-service/calls.ts';
import { uptimeService } from '../../../src/sync/connectors/uptime-service/connector.ts';
import { contextOf, drive, failure, NOW, probeOf, Reply, type Respond, refusal } from '../../helpers/drive.ts';
import { recordedBody } from '../../helpers/upstream-cases.ts';
import {
  components,
  monitor,
  names,
  optionsOf,
  page,
  pull,
  type Row,
  service,
  type World,
} from '../../helpers/uptime-world.ts';

describe('states of monitors', () => {
  it.each([
    [{}, 'operational'],
    [{ status: 'active' }, 'operational'],
    [{ status: 'MONITOR_STATUS_DEGRADED' }, 'degraded'],
    [{ status: 'error' }, 'major_outage'],
    [{ status: undefined }, 'unknown'],
    [{ status: 'MONITOR_STATUS_UNSPECIFIED' }, 'unknown'],
    [{ status: 'MONITOR_STATUS_SPLENDID' }, 'unknown'],
    [{ status: 1 }, 'unknown'],
    [{ active: false }, 'paused'],
    [{ active: false, status: 'MONITOR_STATUS_ERROR' }, 'paused'],
    [{ active: 'sometimes' }, 'unknown'],
    [{ active: null }, 'unknown'],
  ])('%j is %s', async (fields, state) => {
    const { result } = await pull(service({ monitors: [monitor(1, fields)] }));
    expect(result.monitors.map((one) => one.state)).toEqual([state]);
  });

  it('an absent status is an answer, a strange one is counted', async () => {
    const { result } = await pull(
      service({ monitors: [monitor(1, { status: undefined }), monitor(2, { status: 'x' })] }),
    );
    expect(result.problems).toEqual([{ kind: 'word', place: 'httpMonitors[1].status', message: 'unknown word "x"' }]);
  });

  it('takes kinds that do not exist yet', async () => {
    const { result } = await pull((question, index) =>
      question.name === 'list monitors' ? { icmpMonitors: [monitor(1)] } : service({})(question, index),
    );
    expect(result.monitors).toMatchObject([{ id: 'up/1', kind: 'icmp' }]);
  });

  it('says how many monitors the service counts and does not list', async () => {
    const { result } = await pull((question, index) =>
      question.name === 'list monitors' ? { httpMonitors: [monitor(1)], totalSize: 3 } : service({})(question, index),
    );
    expect(result.monitors.map(({ id }) => id)).toEqual(['up/1']);
    expect(result.problems).toEqual([
      {
        kind: 'note',
        place: 'list monitors',
        message: 'the service counts 3 and lists 1; its API leaves out ICMP, UDP and TLS monitors',
      },
    ]);
  });

  it('shows no monitor of which it cannot be read who may see it', async () => {
    const { result } = await pull(service({ monitors: [monitor(1, { public: 'perhaps' })] }));
    expect(result.problems).toMatchObject([{ kind: 'word', place: 'httpMonitors[0].public' }]);
    expect(result.monitors[0]?.isPublic).toBe(false);
  });
});

describe('lists of many', () => {
  it('are asked with an empty request, and in pages of a hundred only when there is more', async () => {
    const few = await pull(service({ monitors: [monitor(1)] }));
    expect(few.questions.filter(({ name }) => name === 'list monitors').map(({ body }) => body)).toEqual([{}]);
    const monitors = Array.from({ length: 230 }, (_, index) => monitor(index + 1));
    const many = await pull(service({ monitors }));
    expect(many.result.monitors.length).toBe(230);
    expect(many.questions.filter(({ name }) => name === 'list monitors').map(({ body }) => body)).toEqual([
      {},
      { limit: 100, offset: 0 },
      { limit: 100, offset: 100 },
      { limit: 100, offset: 200 },
      { limit: 100, offset: 0 },
    ]);
  });

  it('end by their offset, since rows that cannot be read there still count', async () => {
    const { result } = await pull((question, index) => {
      const { limit = 50, offset = 0 } = (question.body ?? {}) as { limit?: number; offset?: number };
      if (question.name !== 'list monitors') return service({})(question, index);
      const rows = Array.from({ length: 150 }, (_, row) => monitor(row + 1)).slice(offset, offset + limit);
      // Every third row is unreadable there, and one whole page of them.
      return { httpMonitors: offset === 0 ? rows.filter((_, row) => row % 3 > 0) : [], totalSize: 150 };
    });
    expect(result.monitors.length).toBe(66);
    expect(result.stale).toEqual([]);
  });

  it('that never hold still keep the last known monitors', async () => {
    let total = 300;
    const { result } = await pull((question, index) => {
      if (question.name !== 'list monitors') return service({})(question, index);
      const { offset = 0 } = question.body as { offset?: number };
      total -= 1;
      return { httpMonitors: [monitor(offset + 1)], totalSize: total };
    });
    expect(result.stale).toContain('monitors');
  });

  it('in the document’s wire are one empty object, and must hold httpMonitors', async () => {
    const options = { preset: 'document' };
    const { questions } = await pull(() => ({ httpMonitors: [] }), {}, options);
    expect(questions).toMatchObject([
      {
        method: 'POST',
        url: 'https://up.test/rpc/MonitorService/listMonitors',
        body: {},
        headers: { 'x-svc-key': 'key' },
      },
    ]);
    await expect(pull(() => ({}), {}, options)).rejects.toMatchObject({ code: 'UPSTREAM_SHAPE' });
    await expect(pull(() => ({}))).resolves.toBeTruthy();
    await expect(pull(() => ({ error: 'no' }))).rejects.toMatchObject({ code: 'UPSTREAM_SHAPE' });
  });

  it('follow the options for what is not shown: header and path', async () => {
    const { questions } = await pull(
      () => ({ httpMonitors: [] }),
      {},
      { preset: 'document', headerName: 'x-other-key', listMonitorsPath: '/v1/MonitorService.listMonitors' },
    );
    expect(questions[0]).toMatchObject({
      url: 'https://up.test/rpc/v1/MonitorService.listMonitors',
      headers: { 'x-other-key': 'key' },
    });
  });
});

describe('who may see a page', () => {
  it.each([
    ['PAGE_ACCESS_TYPE_PUBLIC', 'public', null],
    ['PAGE_ACCESS_TYPE_PASSWORD_PROTECTED', 'password', null],
    ['PAGE_ACCESS_TYPE_AUTHENTICATED', 'email-domain', null],
    ['PAGE_ACCESS_TYPE_IP_RESTRICTED', 'closed', null],
    ['public', 'public', null],
    ['password', 'password', null],
    ['email-domain', 'email-domain', null],
    ['PAGE_ACCESS_TYPE_UNSPECIFIED', 'closed', 'word'],
    ['PAGE_ACCESS_TYPE_FRIENDS', 'closed', 'word'],
    ['toString', 'closed', 'word'],
    [undefined, 'closed', 'word'],
    [3, 'closed', 'gate'],
  ])('%s is %s', async (accessType, access, kind) => {
    const { result } = await pull(service({ pages: [page({ accessType })] }));
    expect(result.pages.map((one) => one.access)).toEqual([access]);
    expect(result.problems.map((problem) => problem.kind)).toEqual(kind === null ? [] : [kind]);
  });

  it.each([
    [{ authEmailDomains: ['Corp.Example', 'a.example'] }, ['a.example', 'corp.example'], 0],
    [{ authEmailDomains: 'corp.example' }, [], 1],
    [{ authEmailDomains: [1] }, [], 1],
    [{ published: 'maybe' }, [], 1],
  ])('%j', async (fields, domains, gates) => {
    const { result } = await pull(service({ pages: [page(fields)] }));
    expect(result.pages[0]?.emailDomains).toEqual(domains);
    expect(result.problems.filter(({ kind }) => kind === 'gate').length).toBe(gates);
  });

  it('never keeps the password that a read key gets to see', async () => {
    const { result } = await pull(service({ pages: [page({ password: 'hunter2' })] }));
    expect(JSON.stringify(result)).not.toContain('hunter2');
  });

  it.each(['../etc', 'a/b', '', '-a', 'ä', 'a'.repeat(300)])('a page at %.9s is left out and told', async (slug) => {
    const { result } = await pull(service({ pages: [page({ slug })] }));
    expect(result.pages).toEqual([]);
    expect(result.problems[0]).toMatchObject({ kind: 'gate', page: expect.stringContaining('/') });
  });

  it.each([
    ['javascript:alert(1)', null],
    ['data:text/html,x', null],
    ['https://acme.example', 'https://acme.example'],
    ['mailto:help@acme.example', 'mailto:help@acme.example'],
    [42, null],
  ])('the link %s becomes %s', async (homepageUrl, expected) => {
    const { result } = await pull(service({ pages: [page({ homepageUrl })] }));
    expect(result.pages[0]?.homepageUrl).toBe(expected);
  });
});

describe('pages that cannot be read', () => {
  const twoPages = [page(), page({ id: '2', slug: 'other' })];
  const failing =
    (error: unknown, ...operations: string[]): Respond =>
    (question) =>
      (question.body as { id?: string } | undefined)?.id === '2' && operations.some((one) => question.url.endsWith(one))
        ? error
        : undefined;

  it('fall back to the content where an older service has no overview', async () => {
    const { result } = await pull(
      service({ pages: [page()] }, ({ url }) =>
        url.endsWith('GetStatusPageOverview')
          ? refusal(404)
          : url.endsWith('GetStatusPageContent')
            ? recordedBody('074')
            : undefined,
      ),
    );
    expect(result.pages[0]?.components.length).toBe(3);
    expect(result.stale).toEqual([]);
  });

  it('keep at least their gate when only that may be read', async () => {
    const { result } = await pull(
      service({ pages: twoPages }, (question) => {
        const refused = failing(refusal(403), 'Overview', 'Content')(question, 0);
        return refused ?? (question.url.endsWith('GetStatusPage') ? recordedBody('056') : undefined);
      }),
    );
    expect(result.pages.map(({ slug, access }) => [slug, access])).toEqual([
      ['acme', 'public'],
      ['acme-partners', 'password'],
    ]);
  });

  it('are gone when everything about them is 404', async () => {
    const { result } = await pull(service({ pages: twoPages }, failing(refusal(404), 'Overview')));
    expect(result.pages.map(({ id }) => id)).toEqual(['up/1']);
    expect(result.stale).toEqual([]);
  });

  it.each([
    ['forbidden', refusal(403)],
    ['failing', failure('UPSTREAM_FAILED')],
    ['skipped', 'skipped'],
    ['unreadable', { statusPage: 'no' }],
  ])('keep everything as it is known when %s', async (_, answer) => {
    const { result } = await pull(
      service({ pages: twoPages }, failing(answer, 'Overview', 'Content', 'GetStatusPage')),
    );
    expect(result.stale).toEqual(['incidents', 'maintenances', 'pages']);
    expect(result.isBackfilled).toBe(false);
  });

  it('do not cost the states of the monitors', async () => {
    const { result } = await pull(
      service({ monitors: [monitor(1)] }, ({ name }) =>
        name === 'list status pages' ? failure('UPSTREAM_FAILED') : undefined,
      ),
    );
    expect(result.monitors[0]?.state).toBe('operational');
    expect(result.stale).toEqual(['incidents', 'maintenances', 'pages']);
  });
});

describe('components', () => {
  it('of an unknown type are looked up as monitors that do not exist, so they are unknown, never well', async () => {
    const overviews = {
      1: {
        components: [
          { id: '10', type: 'PAGE_COMPONENT_TYPE_ORACLE' },
          { id: '11', order: 'first', type: [] },
        ],
      },
    };
    const { result } = await pull(service({ pages: [page()], overviews }));
    expect(result.pages[0]?.components.map(({ type, monitor: of }) => [type, of])).toEqual([
      ['monitor', 'up/component-10'],
      ['monitor', 'up/component-11'],
    ]);
  });

  it('stand in their order, and groups where their first component does', async () => {
    const overviews = {
      1: {
        components: [
          { id: '1', type: 'static', order: 3, groupId: '8' },
          { id: '2', type: 'static', order: 1, groupId: '9' },
          { id: '3', type: 'static', groupId: '404' },
        ],
        groups: [
          { id: '8', name: 'Eight' },
          { id: '9', name: 'Nine' },
        ],
      },
    };
    const { result } = await pull(service({ pages: [page()], overviews }));
    expect(result.pages[0]?.components.map(({ id, groupId }) => [id, groupId])).toEqual([
      ['3', null],
      ['2', '9'],
      ['1', '8'],
    ]);
    expect(result.pages[0]?.groups.map(({ id }) => id)).toEqual(['9', '8']);
  });
});

describe('maintenances', () => {
  const window = {
    id: '1',
    title: 'Upgrade',
    message: 'Short',
    from: '2026-11-22T01:00:00Z',
    to: '2026-11-22T02:00:00Z',
    pageComponentIds: ['10'],
  };
  const learnt = async (...maintenances: Row[]) =>
    (await pull(service({ pages: [page()], overviews: { 1: { components, maintenances } } }))).result;

  it('name their components, monitors and page', async () => {
    expect((await learnt(window)).maintenances).toMatchObject([
      { id: 'up/maintenance-1', components: ['up/1/10'], monitors: ['up/1'], pages: ['up/1'] },
    ]);
  });

  it.each([
    ['ends before it starts', { to: '2026-11-22T00:00:00Z' }],
    ['has no time', { from: undefined }],
    ['is in the year 9999', { to: '9999-01-01T00:00:00Z' }],
  ])('one that %s is left out, and those known are kept', async (_, fields) => {
    const result = await learnt({ ...window, ...fields });
    expect(result.maintenances).toEqual([]);
    expect(result.problems).toMatchObject([{ kind: 'dropped' }]);
    expect(result.stale).toContain('maintenances');
  });
});

describe('how a page is drawn', () => {
  const drawn = async (fields: Row, configuration?: Row) => {
    const groups = [
      { id: '8', name: 'Eight', defaultOpen: true },
      { id: '9', name: 'Nine' },
    ];
    const overviews = { 1: { components, groups, ...(configuration === undefined ? {} : { configuration }) } };
    return (await pull(service({ monitors: [monitor(1, { public: false })], pages: [page(fields)], overviews })))
      .result;
  };

  it('is taken as the page says, where what is left out is a no', async () => {
    const { pages } = await drawn(
      { allowIndex: true, defaultLocale: 'LOCALE_FR', locales: ['LOCALE_FR'] },
      { showUptime: true, barType: 'PAGE_BAR_TYPE_ABSOLUTE' },
    );
    expect(pages[0]?.presentation).toEqual({
      ...{ allowIndex: true, locale: 'fr', locales: ['fr'] },
      ...{ showUptime: true, showsAllPlaced: true },
    });
    expect(pages[0]?.groups.map(({ defaultOpen }) => defaultOpen)).toEqual([true, false]);
    const { presentation } = (await drawn({}, {})).pages[0] ?? {};
    expect(presentation).toEqual({ allowIndex: false, showUptime: false, showsAllPlaced: true });
  });

  it('says nothing of uptime where an older service tells no configuration', async () => {
    expect((await drawn({})).pages[0]?.presentation?.showUptime).toBe(undefined);
  });

  it('shows no monitor in manual mode, since its own page shows only what people say', async () => {
    const { pages } = await drawn({}, { barType: 'PAGE_BAR_TYPE_MANUAL', showUptime: true });
    expect(pages[0]?.components.map(({ id, type, monitor: of }) => [id, type, of])).toEqual([
      ['10', 'static', null],
      ['11', 'static', null],
    ]);
  });

  it('looks at what the page never looks at as little: whether it is published, and whether monitors are public', async () => {
    const { pages, monitors } = await drawn({ published: false });
    expect(pages[0]?.published).toBe(true);
    expect(monitors[0]?.isPublic).toBe(false);
    expect(pages[0]?.components[0]?.monitor).toBe('up/1');
  });

  it('tells what of it Pharos leaves out', async () => {
    const { problems, pages } = await drawn(
      { customTheme: { light: {} }, defaultLocale: 'LOCALE_EN', locales: ['LOCALE_EN', 'LOCALE_DE', 'LOCALE_KO'] },
      { themeKey: 'dracula' },
    );
    expect(problems).toEqual([
      {
        kind: 'note',
        place: 'pages.1',
        message: 'left out: custom colours, the theme "dracula"; use accent_color and css_variables in pharos.yaml',
      },
    ]);
    expect(pages[0]?.presentation?.locales).toEqual(['de', 'en', 'ko']);
  });
});

describe('notification channels', () => {
  const channel = (id: number, more: Row = {}): Row => ({
    id: String(id),
    name: `Channel ${id}`,
    provider: 'NOTIFICATION_PROVIDER_SLACK',
    data: { slack: { webhookUrl: 'https://hooks.test/secret' } },
    monitorIds: ['2', '1'],
    ...more,
  });

  it('are kept with what triggers them, and without where they lead', async () => {
    const channels = [
      channel(2),
      channel(1, { provider: 'NOTIFICATION_PROVIDER_CARRIER_PIGEON', monitorIds: undefined }),
    ];
    const { result } = await pull(service({ channels }));
    expect(result.channels).toEqual([
      { id: 'up/1', name: 'Channel 1', kind: 'carrier_pigeon', monitors: [] },
      { id: 'up/2', name: 'Channel 2', kind: 'slack', monitors: ['up/1', 'up/2'] },
    ]);
    expect(JSON.stringify(result)).not.toContain('secret');
  });

  it('are asked for once an hour', async () => {
    const asked = async (minutesAgo: number) =>
      names((await pull(service({}), { channelsAt: toEpochMs(NOW - minutesAgo * 60_000) })).questions);
    expect(await asked(59)).not.toContain('list channels');
    expect(await asked(60)).toContain('list channels');
  });

  it.each([
    ['none where the service does not offer them', refusal(404), [], []],
    ['not known when the key may not see them', refusal(403), undefined, ['list channels']],
    ['not known while the service fails', failure('UPSTREAM_FAILED'), undefined, ['list channels']],
    ['not known while there is no quota', 'skipped', undefined, ['list channels']],
  ])('are %s', async (_, answer, expected, places) => {
    const { result } = await pull(service({}, ({ name }) => (name === 'list channels' ? answer : undefined)));
    expect(result.channels).toEqual(expected);
    expect(result.problems.map(({ place }) => place)).toEqual(places);
    expect(result.stale).toEqual([]);
  });

  it('whose monitors cannot be read are kept all the same', async () => {
    const { result } = await pull(
      service({ channels: [channel(1)] }, ({ name }) => (name === 'channel' ? refusal(403) : undefined)),
    );
    expect(result.channels).toMatchObject([{ id: 'up/1', kind: 'slack', monitors: null }]);
  });

  it('are counted by kind in the probe', async () => {
    const channels = [channel(1), channel(2), channel(3, { provider: 'NOTIFICATION_PROVIDER_EMAIL' })];
    const { result } = await drive(
      probeOf(uptimeService, optionsOf(), contextOf()),
      service({ channels }, ({ name }) => (name === 'whoami' ? { name: 'Acme' } : undefined)),
    );
    expect(result.summary).toContain('3 notification channels (1 email, 2 slack)');
  });
});

describe('the days before our first pass', () => {
  const bucket = (day: string, more: Row) => ({ day: `${day}T00:00:00.000Z`, ...more });
  const world = (...buckets: Row[]): World => ({
    monitors: [monitor(1)],
    pages: [page()],
    overviews: { 1: { components } },
    days: {
      components: [
        { componentId: '10', monitorId: '1', buckets },
        { componentId: '11', buckets: [bucket('2026-11-20', {})] },
      ],
    },
  });

  it('are asked once, for 45 days, as back-fill', async () => {
    const { questions, result } = await pull(
      service(world(bucket('2026-11-20', { count: '288', ok: '280', degraded: '5', error: '3' }))),
    );
    expect(questions.find(({ name }) => name === 'daily summary')).toMatchObject({
      priority: 'backfill',
      body: { id: '1', days: 45 },
    });
    expect(result.details[0]?.reportedDays).toEqual([
      { day: '2026-11-20', operational: 280, degraded: 5, major_outage: 3 },
    ]);
    expect(result.backfilled).toEqual(['up/1']);
    const again = await pull(service(world()), { isBackfilled: true, backfilledMonitors: new Set(['1']) });
    expect(names(again.questions)).not.toContain('daily summary');
    expect(again.result.backfilled).toEqual([]);
  });

  const added = (world: World): World => ({
    ...world,
    monitors: [monitor(1), monitor(2)],
    overviews: {
      1: {
        components: [...components, { id: '12', type: 'PAGE_COMPONENT_TYPE_MONITOR', monitorId: '2', name: 'Web' }],
      },
    },
    days: {
      components: ['1', '2'].map((monitorId) => ({ monitorId, buckets: [bucket('2026-11-20', { count: 9, ok: 9 })] })),
    },
  });
  const later = { isBackfilled: true, backfilledMonitors: new Set(['1']) };

  it('are asked for a monitor that is put on a page later, and then taken of that monitor only', async () => {
    const { result, questions } = await pull(service(added(world())), later);
    expect(names(questions).filter((name) => name === 'daily summary')).toHaveLength(1);
    expect(result.details.filter(({ reportedDays }) => reportedDays.length > 0).map(({ id }) => id)).toEqual(['up/2']);
    expect(result.backfilled).toContain('up/2');
  });

  it('that wait or fail are not taken for asked', async () => {
    for (const answer of ['skipped', failure('UPSTREAM_FAILED')]) {
      const respond = service(added(world()), ({ name }) => (name === 'daily summary' ? answer : undefined));
      expect((await pull(respond, later)).result.backfilled).toEqual([]);
    }
  });

  it('are not asked for ever for the component of a monitor that was deleted', async () => {
    const { questions } = await pull(service({ ...added(world()), monitors: [monitor(1)] }), later);
    expect(names(questions)).not.toContain('daily summary');
  });

  it.each([
    ['no checks', { status: 'COMPONENT_DAY_STATUS_EMPTY' }],
    ['counts that do not add up', { count: '288', ok: '280' }],
  ])('of %s stay unknown', async (_, fields) => {
    const { result } = await pull(service(world(bucket('2026-11-20', fields))));
    expect(result.details.flatMap(({ reportedDays }) => reportedDays)).toEqual([]);
  });

  it('never reach into the future', async () => {
    const { result } = await pull(service(world(bucket('2026-11-22', { count: '1', ok: '1' }))));
    expect(result.details.flatMap(({ reportedDays }) => reportedDays)).toEqual([]);
  });

  it.each([
    ['skipped', 'skipped', false],
    ['failing', failure('UPSTREAM_FAILED'), false],
    ['not offered', refusal(404), true],
    ['unreadable', { components: 'none' }, true],
  ])('when %s are asked again: not %s', async (_, answer, isOver) => {
    const { result } = await pull(service(world(), ({ name }) => (name === 'daily summary' ? answer : undefined)));
    expect(result.isBackfilled).toBe(isOver);
  });
});

describe('outages that the service recorded', () => {
  const outage = { id: 1, monitorId: 1, startedAt: '2026-11-21T07:37:19.000Z', resolvedAt: null };

  it('are incidents of their monitor, open until resolved', async () => {
    const outages = [outage, { ...outage, id: 2, resolvedAt: '2026-11-21T08:00:00Z' }];
    const { result } = await pull(service({ monitors: [monitor(1)], outages }));
    expect(result.incidents).toMatchObject([
      { id: 'up/incident-1', title: 'Monitor 1', isOutage: true, endedAt: null, affectedState: 'major_outage' },
      { id: 'up/incident-2', status: 'resolved', endedAt: Date.UTC(2026, 10, 21, 8) },
    ]);
  });

  it('of a monitor that was deleted are read, and about none', async () => {
    const { result } = await pull(service({ monitors: [monitor(1)], outages: [{ ...outage, monitorId: null }] }), {
      openIncidents: new Set(['incident-1']),
    });
    expect(result.incidents).toMatchObject([{ id: 'up/incident-1', monitors: [] }]);
    expect([result.problems, result.stale]).toEqual([[], []]);
  });

  it('may be switched off, may be missing, and keep what is known when they fail', async () => {
    const off = await pull(service({}), {}, { outages: false });
    expect(names(off.questions)).not.toContain('list outages');
    const missing = await pull(service({}, ({ name }) => (name === 'list outages' ? refusal(404) : undefined)));
    expect(missing.result.stale).toEqual([]);
    const failed = await pull(
      service({}, ({ name }) => (name === 'list outages' ? failure('UPSTREAM_FAILED') : undefined)),
    );
    expect(failed.result.stale).toEqual(['incidents']);
    const broken = await pull(service({ outages: [{ ...outage, startedAt: 4 }] }), {
      openIncidents: new Set(['incident-1']),
    });
    expect(broken.result.stale).toEqual(['incidents']);
  });
});

describe('lists that are whole', () => {
  const window = { id: '4', title: 'T', from: '2026-11-22T01:00:00Z', to: '2026-11-22T02:00:00Z' };
  const world: World = {
    pages: [page()],
    overviews: { 1: { components, maintenances: [window] } },
    outages: [{ id: 7, monitorId: 1, startedAt: '2026-11-21T07:37:19.000Z' }],
  };
  const parts = async (respond: Respond) =>
    (await pull(respond)).result.complete.map(({ prefix, ids }) => [prefix, ids]);

  it('are named, so that what they lack was taken back', async () => {
    expect(await parts(service(world))).toEqual([
      ['up/report-', []],
      ['up/maintenance-', ['up/maintenance-4']],
      ['up/incident-', ['up/incident-7']],
    ]);
  });

  it('name what cannot be read too', async () => {
    const unreadable = { ...window, from: 'soon' };
    const broken = { ...world, overviews: { 1: { components, maintenances: [unreadable] } } };
    expect(await parts(service(broken))).toContainEqual(['up/maintenance-', ['up/maintenance-4']]);
  });

  it.each([
    ['a page cannot be read', failure('UPSTREAM_FAILED'), 'status page overview', 'up/maintenance-'],
    ['the list of pages cannot be read', 'skipped', 'list status pages', 'up/maintenance-'],
    ['only the gate of a page can be read', refusal(404), 'status page overview', 'up/maintenance-'],
    ['the list of reports cannot be read', failure('UPSTREAM_FAILED'), 'list reports', 'up/report-'],
    ['a report has no id', { statusReports: [{ title: 'x' }], totalSize: 1 }, 'list reports', 'up/report-'],
    ['the list of outages cannot be read', failure('UPSTREAM_FAILED'), 'list outages', 'up/incident-'],
    ['an outage has no id', [{ monitorId: 1 }], 'list outages', 'up/incident-'],
  ])('are not named when %s', async (_, answer, name, prefix) => {
    const gate = (question: { url: string }): unknown =>
      question.url.endsWith('GetStatusPage') ? { statusPage: page() } : undefined;
    const told = await parts(service(world, (question) => (question.name === name ? answer : gate(question))));
    expect(told.map(([one]) => one)).not.toContain(prefix);
  });
});

describe('the probe', () => {
  const probe = (actor: unknown, options: Row = {}) =>
    drive(
      probeOf(uptimeService, optionsOf(options), contextOf()),
      service({ monitors: [monitor(1)] }, ({ name }) =>
        name === 'whoami' ? { name: 'Acme', slug: 'acme', plan: 'team', actor } : undefined,
      ),
    );

  it.each([
    [{ type: 'apiKey', keyId: 'k1', scopes: ['read'] }, 'workspace "Acme", plan team, key k1 with read scope', 0],
    [{ type: 'apiKey', keyId: 'k2', scopes: ['write'] }, 'workspace "Acme", plan team, key k2 with write scope', 1],
    [
      { type: 'apiKey', keyId: 3, scopes: ['read', 'write'] },
      'workspace "Acme", plan team, key 3 with read and write scope',
      1,
    ],
    // Keys from before scopes existed behave as read and write.
    [{ type: 'apiKey', keyId: 'k0' }, 'workspace "Acme", plan team, key k0 with no scopes shown', 1],
  ])('tells whose key it is and warns when it may write: %j', async (actor, summary, warnings) => {
    const { result } = await probe(actor);
    expect(result).toMatchObject({ summary: `${summary}; 0 status pages; no notification channels`, monitorsTotal: 1 });
    expect(result.warnings.length).toBe(warnings);
  });

  it('knows where the REST API is: beside the RPC API, or where the options say', async () => {
    const whoami = async (options: Row) =>
      (await probe({}, options)).questions.find(({ name }) => name === 'whoami')?.url;
    expect(await whoami({})).toBe('https://up.test/v1/whoami');
    expect(await whoami({ restUrl: 'https://rest.test/v1/' })).toBe('https://rest.test/v1/whoami');
    const nowhere = await probe({}, { preset: 'document' });
    expect(nowhere.result.warnings).toEqual(['restUrl is not set, so name, plan and scopes are unknown']);
  });
});

describe('revoking a key', () => {
  const revoke = (answer: unknown, options: Row = {}) =>
    drive(revokeKey(optionsOf(options) as Parameters<typeof revokeKey>[0], 'key/1'), () => answer);

  it('deletes that key', async () => {
    const { result, questions } = await revoke(new Reply(204, null));
    expect(result).toBe('Revoked key key/1.');
    expect(questions).toMatchObject([
      { method: 'DELETE', url: 'https://up.test/v1/api-key/key%2F1', isRepeatable: false },
    ]);
  });

  it.each([
    [403, /read-only and can revoke only itself/],
    [404, /no such key, or the service no longer revokes keys at this address/],
  ])('explains %s', async (status, words) => {
    await expect(revoke(new Reply(status, null))).rejects.toMatchObject({
      code: 'UPSTREAM_REFUSED',
      message: expect.stringMatching(words),
      context: { status },
    });
  });

  it('says what is missing where the REST address is not known', async () => {
    await expect(revoke(null, { preset: 'document' })).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });
});
