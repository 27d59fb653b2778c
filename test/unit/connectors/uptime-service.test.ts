import { describe, expect, it } from 'vitest';
import { declaredSpans } from '../../../src/model/impacts.ts';
import { type Incident, type Learned, toMonitorId } from '../../../src/model/observation.ts';
import { DAY_MS, type EpochMs, HOUR_MS, toEpochMs, toIso } from '../../../src/model/time.ts';
import type { PullMemory } from '../../../src/sync/connector.ts';
import { uptimeService } from '../../../src/sync/connectors/uptime-service/connector.ts';
import { revokeKey } from '../../../src/sync/connectors/uptime-service/revoke.ts';
import { contextOf, drive, failure, NOW, Reply, type Respond, refusal } from '../../helpers/drive.ts';
import { recordedBody } from '../../helpers/upstream-cases.ts';

type Row = Readonly<Record<string, unknown>>;

const optionsOf = (more: Row = {}) =>
  uptimeService.optionsSchema.parse({ rpcUrl: 'https://up.test/rpc', apiKey: 'key', preset: 'openstatus', ...more });

async function pull(respond: Respond, memory: Partial<PullMemory> = {}, options: Row = {}) {
  return drive<Learned>(uptimeService.pull(optionsOf(options), contextOf(memory)), respond);
}

interface World {
  readonly monitors?: readonly Row[];
  readonly pages?: readonly Row[];
  /** What is on each page, by its id. */
  readonly overviews?: Readonly<Record<string, Row>>;
  readonly reports?: readonly Row[];
  readonly days?: unknown;
  readonly outages?: unknown;
}

/** The service over a small world; `before` may answer in its place. */
function service(world: World, before: Respond = () => undefined): Respond {
  const { monitors = [], pages = [], overviews = {}, reports = [], days = {}, outages = [] } = world;
  return (question, index) => {
    const early = before(question, index);
    if (early !== undefined) return early;
    const operation = new URL(question.url).pathname.split('/').at(-1);
    const body = (question.body ?? {}) as { id?: string; limit?: number; offset?: number };
    const slice = (items: readonly Row[]) => items.slice(body.offset ?? 0, (body.offset ?? 0) + (body.limit ?? 50));
    switch (operation) {
      case 'ListMonitors':
        return { httpMonitors: slice(monitors), totalSize: monitors.length };
      case 'ListStatusPages':
        return { statusPages: slice(pages), totalSize: pages.length };
      case 'GetStatusPageOverview': {
        const page = pages.find(({ id }) => id === body.id);
        return page === undefined ? refusal(404) : { statusPage: page, ...overviews[body.id ?? ''] };
      }
      case 'ListStatusReports':
        return {
          statusReports: slice(reports.map(({ updates: _, ...summary }) => summary)),
          totalSize: reports.length,
        };
      case 'GetStatusReport':
        return { statusReport: reports.find(({ id }) => id === body.id) };
      case 'GetPageComponentDailySummary':
        return days;
      case 'incident':
        return outages;
      case 'GetMonitorSummary':
        return { id: body.id };
      default:
        return refusal(404);
    }
  };
}

const monitor = (id: number, more: Row = {}): Row => ({
  id: String(id),
  name: `Monitor ${id}`,
  url: 'https://x.test',
  active: true,
  public: true,
  status: 'MONITOR_STATUS_ACTIVE',
  ...more,
});
const page = (more: Row = {}): Row => ({
  id: '1',
  title: 'Acme',
  slug: 'acme',
  published: true,
  accessType: 'PAGE_ACCESS_TYPE_PUBLIC',
  ...more,
});
const report = (id: number, more: Row = {}): Row => ({
  id: String(id),
  status: 'STATUS_REPORT_STATUS_RESOLVED',
  title: `Report ${id}`,
  pageComponentIds: ['10'],
  updates: [],
  createdAt: toIso(toEpochMs(NOW - HOUR_MS)),
  updatedAt: toIso(toEpochMs(NOW - HOUR_MS)),
  ...more,
});
const components = [
  { id: '10', type: 'PAGE_COMPONENT_TYPE_MONITOR', monitorId: '1', name: 'API' },
  { id: '11', type: 'PAGE_COMPONENT_TYPE_STATIC', name: 'Desk' },
];
const names = (questions: readonly { name: string }[]): string[] => questions.map(({ name }) => name);

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

  it('refuses the snapshot when it cannot be read who may see a monitor', async () => {
    const { result } = await pull(service({ monitors: [monitor(1, { public: 'perhaps' })] }));
    expect(result.problems).toMatchObject([{ kind: 'gate', place: 'httpMonitors[0].public' }]);
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
    expect(result.problems[0]).toMatchObject({ kind: 'dropped' });
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
    expect(result.complete).toContainEqual({
      part: 'maintenances',
      prefix: 'up/maintenance-',
      since: null,
      ids: ['up/maintenance-2', 'up/maintenance-1'],
    });
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
    // What is on it cannot be told, so nothing was taken back.
    expect(result.complete.map(({ part }) => part)).not.toContain('maintenances');
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

describe('reports', () => {
  const impact = (word: unknown, pageComponentId = '10') => ({ pageComponentId, impact: word });
  const update = (id: number, minutes: number, more: Row = {}): Row => ({
    id: String(id),
    status: 'STATUS_REPORT_STATUS_INVESTIGATING',
    date: toIso(toEpochMs(NOW - minutes * 60_000)),
    message: `Update ${id}`,
    ...more,
  });
  const open = (more: Row = {}) => report(1, { status: 'STATUS_REPORT_STATUS_INVESTIGATING', ...more });
  const first = async (item: Row) =>
    (await pull(service({ pages: [page()], overviews: { 1: { components, statusReports: [item] } }, reports: [item] })))
      .result.incidents[0];

  /** What it declares of a component: states, and for how many minutes before now they begin. */
  const declared = (incident: Incident | undefined, id = 'up/1/10') =>
    incident === undefined
      ? null
      : declaredSpans(incident, { id, monitor: toMonitorId('up', 1) }, NOW).map(({ state, from }) => [
          state,
          (NOW - from) / 60_000,
        ]);

  it('that are open and give no impact mean degraded', async () => {
    const incident = await first(open());
    expect(incident).toMatchObject({ endedAt: null, impact: 'minor', bornAt: NOW - HOUR_MS });
    expect(declared(incident)).toEqual([['degraded', 60]]);
  });

  it.each([
    ['PAGE_COMPONENT_IMPACT_OPERATIONAL', 'operational', 'none'],
    ['PAGE_COMPONENT_IMPACT_DEGRADED_PERFORMANCE', 'degraded', 'minor'],
    ['PAGE_COMPONENT_IMPACT_PARTIAL_OUTAGE', 'partial_outage', 'major'],
    ['PAGE_COMPONENT_IMPACT_MAJOR_OUTAGE', 'major_outage', 'critical'],
    ['PAGE_COMPONENT_IMPACT_UNSPECIFIED', 'degraded', 'minor'],
    ['PAGE_COMPONENT_IMPACT_TERRIBLE', 'unknown', 'minor'],
    [7, 'unknown', 'minor'],
  ])('with impact %s put their component into %s', async (word, state, impactWord) => {
    const incident = await first(open({ updates: [update(1, 30, { componentImpacts: [impact(word)] })] }));
    expect(incident?.components).toMatchObject([{ id: 'up/1/10' }]);
    expect(declared(incident)).toEqual(state === 'operational' ? [] : [[state, 60]]);
    expect(incident?.impact).toBe(impactWord);
  });

  it('carry an impact forward until a newer update names the component again', async () => {
    const updates = [
      update(3, 5, { componentImpacts: [] }),
      update(2, 10, { componentImpacts: [impact('PAGE_COMPONENT_IMPACT_MAJOR_OUTAGE')] }),
      update(1, 30, {
        componentImpacts: [
          impact('PAGE_COMPONENT_IMPACT_OPERATIONAL'),
          impact('PAGE_COMPONENT_IMPACT_PARTIAL_OUTAGE', '11'),
        ],
      }),
    ];
    const incident = await first(open({ updates }));
    expect(declared(incident)).toEqual([
      ['major_outage', 10],
      ['major_outage', 5],
    ]);
    expect(declared({ ...incident, monitors: [] } as unknown as Incident, 'up/1/11')).toEqual([
      ['partial_outage', 60],
      ['partial_outage', 10],
      ['partial_outage', 5],
    ]);
    expect(incident?.impact).toBe('critical');
    expect(incident?.updates.map(({ id }) => id)).toEqual(['1', '2', '3']);
  });

  it('mean degraded of a component that they are about and no update names', async () => {
    const updates = [update(1, 30, { componentImpacts: [impact('PAGE_COMPONENT_IMPACT_PARTIAL_OUTAGE')] })];
    const incident = await first(open({ pageComponentIds: ['10', '11'], updates }));
    expect(declared(incident, 'up/1/11')).toEqual([['degraded', 60]]);
  });

  it('keep the impact that they had at their worst', async () => {
    const updates = [
      update(2, 10, { componentImpacts: [impact('PAGE_COMPONENT_IMPACT_OPERATIONAL')] }),
      update(1, 30, { componentImpacts: [impact('PAGE_COMPONENT_IMPACT_PARTIAL_OUTAGE')] }),
    ];
    const incident = await first(open({ updates }));
    expect([incident?.impact, declared(incident)]).toEqual(['major', [['partial_outage', 60]]]);
  });

  it('with a status that nobody knows stay open', async () => {
    expect(await first(open({ status: 'STATUS_REPORT_STATUS_WHO_KNOWS' }))).toMatchObject({
      status: 'investigating',
      endedAt: null,
    });
  });

  it('end when the update says so that says resolved', async () => {
    const updates = [update(1, 50), update(2, 20, { status: 'STATUS_REPORT_STATUS_RESOLVED' })];
    expect(await first(report(1, { updates }))).toMatchObject({
      status: 'resolved',
      endedAt: NOW - 20 * 60_000,
      startedAt: NOW - HOUR_MS,
    });
  });

  it('are published on their page only, and one whose page cannot be told on none', async () => {
    expect((await first(open()))?.pages).toEqual(['up/1']);
    const lost = report(5, { pageComponentIds: [] });
    const { result } = await pull(service({ pages: [page()], reports: [lost] }));
    expect(result.incidents).toMatchObject([{ id: 'up/report-5', pages: [] }]);
  });

  it('that name no component are on the page that the REST API says', async () => {
    const lost = report(5, { pageComponentIds: [] });
    const rest = (question: { name: string }) =>
      question.name === 'pages of reports' ? [{ id: 5, pageId: 1 }, { id: 6 }] : undefined;
    const found = await pull(service({ pages: [page()], reports: [lost, report(6)] }, rest));
    expect(found.result.incidents).toMatchObject([{ pages: ['up/1'] }, { pages: [] }]);
    expect(names(found.questions).filter((name) => name === 'pages of reports').length).toBe(1);
    const named = await pull(service({ pages: [page()], overviews: { 1: { components } }, reports: [report(6)] }));
    expect(names(named.questions)).not.toContain('pages of reports');
  });

  it('of the past are read once, later only those that ended since we last looked', async () => {
    const old = report(1, {
      updatedAt: toIso(toEpochMs(NOW - 20 * DAY_MS)),
      createdAt: toIso(toEpochMs(NOW - 20 * DAY_MS)),
    });
    const world = { pages: [page()], overviews: { 1: { components } }, reports: [old, report(2), report(3)] };
    const firstPass = await pull(service(world));
    expect(names(firstPass.questions).filter((name) => name === 'report').length).toBe(3);
    expect(firstPass.result.isBackfilled).toBe(true);
    const memory = { isBackfilled: true, detailFetchedAt: new Map([['1', toEpochMs(NOW - 60_000)]]) };
    const later = await pull(service(world), memory);
    expect(later.questions.filter(({ name }) => name === 'report').map(({ body }) => body)).toEqual([
      { id: '2' },
      { id: '3' },
    ]);
    const known = await pull(service(world), { ...memory, openIncidents: new Set(['report-1']) });
    expect(known.questions.filter(({ name }) => name === 'report').length).toBe(3);
  });

  it('of the past are read again in turn, a few at a time, the longest unread first', async () => {
    const at = toIso(toEpochMs(NOW - 20 * DAY_MS));
    const reports = Array.from({ length: 9 }, (_, index) => report(index + 1, { createdAt: at, updatedAt: at }));
    const readAt = [7, 3, 8, 2, 9, 4, 1].map((id, index): [string, EpochMs] => [
      `report-${id}`,
      toEpochMs(NOW - (8 - index) * HOUR_MS),
    ]);
    const memory = {
      isBackfilled: true,
      detailFetchedAt: new Map([['1', toEpochMs(NOW - 60_000)]]),
      incidentsReadAt: new Map([['incident-1', toEpochMs(0)], ...readAt]),
    };
    const world = { pages: [page()], overviews: { 1: { components } }, reports };
    const { questions, result } = await pull(service(world), memory);
    const asked = questions.filter(({ name }) => name === 'report');
    // The others were read within six hours.
    expect(asked.map(({ body, priority }) => [body, priority])).toEqual(
      ['7', '3', '8'].map((id) => [{ id }, 'detail']),
    );
    expect(result.readAgain).toEqual(['up/report-7', 'up/report-3', 'up/report-8']);
    const older = new Map(readAt.map(([id, since]): [string, EpochMs] => [id, toEpochMs(since - DAY_MS)]));
    const many = await pull(service(world), { ...memory, incidentsReadAt: older });
    expect(many.result.readAgain.length).toBe(5);
    // What the quota does not allow is read later and makes nothing stale.
    const short = await pull(
      service(world, ({ priority }) => (priority === 'detail' ? 'skipped' : undefined)),
      memory,
    );
    expect([short.result.readAgain, short.result.stale]).toEqual([[], []]);
  });

  it('are told as a whole, those that cannot be read among them, and not when an id is missing', async () => {
    const complete = async (reports: Row[], overview: Row = { components }) =>
      (await pull(service({ pages: [page()], overviews: { 1: overview }, reports }))).result.complete.map(
        ({ prefix, ids }) => [prefix, ids.join()],
      );
    const broken = report(2, { title: 7 });
    expect(await complete([report(1), broken])).toEqual([
      ['up/report-', 'up/report-1,up/report-2'],
      ['up/maintenance-', ''],
      ['up/incident-', ''],
    ]);
    expect(await complete([report(1), { title: 'no id' }])).toEqual([
      ['up/maintenance-', ''],
      ['up/incident-', ''],
    ]);
  });

  it('of the past wait for the quota without holding the rest', async () => {
    const world = { pages: [page()], overviews: { 1: { components } }, reports: [report(1), report(2)] };
    const { result } = await pull(
      service(world, ({ name, body }) =>
        name === 'report' && (body as { id: string }).id === '2' ? 'skipped' : undefined,
      ),
    );
    expect(result.incidents.map(({ id }) => id)).toEqual(['up/report-1']);
    expect([result.isBackfilled, result.stale]).toEqual([false, []]);
  });

  it('that were open and cannot be read stay as they are known', async () => {
    const broken = open({ createdAt: 'yesterday' });
    const { result } = await pull(
      service({ pages: [page()], overviews: { 1: { components, statusReports: [broken] } } }),
      { isBackfilled: true, openIncidents: new Set(['report-1']) },
    );
    expect(result.stale).toContain('incidents');
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
      {
        id: 'up/maintenance-1',
        components: ['up/1/10'],
        monitors: ['up/1'],
        pages: ['up/1'],
        updates: [],
        body: 'Short',
      },
    ]);
    expect((await learnt({ ...window, createdAt: '2026-11-20T01:00:00Z' })).maintenances).toMatchObject([
      { bornAt: Date.UTC(2026, 10, 20, 1) },
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
    const again = await pull(service(world()), { isBackfilled: true });
    expect(names(again.questions)).not.toContain('daily summary');
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

describe('the probe', () => {
  const probe = (actor: unknown, options: Row = {}) =>
    drive(uptimeService.probe(optionsOf(options), contextOf()), ({ name }) =>
      name === 'whoami' ? { name: 'Acme', slug: 'acme', plan: 'team', actor } : { httpMonitors: [monitor(1)] },
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
    expect(result).toMatchObject({ summary, monitorsTotal: 1 });
    expect(result.warnings.length).toBe(warnings);
  });

  it('knows where the REST API is: beside the RPC API, or where the options say', async () => {
    expect((await probe({})).questions.at(-1)?.url).toBe('https://up.test/v1/whoami');
    const elsewhere = await probe({}, { restUrl: 'https://rest.test/v1/' });
    expect(elsewhere.questions.at(-1)?.url).toBe('https://rest.test/v1/whoami');
    const nowhere = await probe({}, { preset: 'document' });
    expect(nowhere.result.warnings).toEqual(['no restUrl: name, plan and scopes cannot be shown']);
  });
});

describe('revoking a key', () => {
  const revoke = (answer: unknown, options: Row = {}) =>
    drive(revokeKey(optionsOf(options) as Parameters<typeof revokeKey>[0], 'key/1'), () => answer);

  it('deletes that key', async () => {
    const { result, questions } = await revoke(new Reply(204, null));
    expect(result).toBe('Key key/1 is revoked.');
    expect(questions).toMatchObject([
      { method: 'DELETE', url: 'https://up.test/v1/api-key/key%2F1', isRepeatable: false },
    ]);
  });

  it.each([
    [403, /read-only, and such a key may revoke only itself/],
    [404, /no such key, or this service does not revoke keys at this address/],
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
