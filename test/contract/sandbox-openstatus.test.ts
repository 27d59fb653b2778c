import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MINUTE_MS } from '../../src/model/time.ts';
import { type Exchange, loadExchanges } from '../helpers/replay.ts';
import { type Asked, type AskOptions, startTestSandbox, type TestSandbox } from '../helpers/sandbox.ts';

const MONITORS = 'openstatus.monitor.v1.MonitorService';
const PAGES = 'openstatus.status_page.v1.StatusPageService';

const exchanges = await loadExchanges();

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox({ isCalm: false });
  sandbox.world.force('api', 'down');
  sandbox.world.force('mail', 'degraded');
  sandbox.pass(10 * MINUTE_MS);
});
afterAll(() => sandbox.stop());

function call(name: string, body: unknown = {}, options: AskOptions = {}): Promise<Asked> {
  const headers = { 'x-openstatus-key': sandbox.credentials.uptime.read.token, ...options.headers };
  return sandbox.ask(`/openstatus/rpc/${name}`, { method: 'POST', body, ...options, headers });
}

/** Sends what was recorded, with the sandbox's own key of that name. */
function resend({ request }: Exchange): Promise<Asked> {
  const { read, write, expired } = sandbox.credentials.uptime;
  const keys: Record<string, string> = { read: read.token, write: write.token, expired: expired.token };
  const key: Record<string, string> =
    request.key === null ? {} : { 'x-openstatus-key': keys[request.key] ?? request.key };
  return sandbox.ask(`/openstatus${request.path}`, {
    method: request.method,
    headers: { ...request.headers, ...key },
    ...(request.body === '' ? {} : { body: request.body }),
  });
}

function recorded(number: string): Exchange {
  const exchange = exchanges.find(({ name }) => name.startsWith(number));
  if (exchange === undefined) throw new Error(`no exchange ${number}`);
  return exchange;
}

/** Every place in a value with the type that stands there: `monitors[].id: string`. */
function shapes(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return [`${path}: list`, ...value.flatMap((item) => shapes(item, `${path}[]`))];
  if (typeof value !== 'object' || value === null) return [`${path}: ${value === null ? 'null' : typeof value}`];
  return Object.entries(value).flatMap(([key, inner]) => shapes(inner, `${path}.${key}`));
}

describe('refusals on the real wire', () => {
  it.each([
    ...['005', '006', '008', '012', '013', '014', '015', '020', '027', '028', '030', '032', '057', '090', '138', '139'],
  ])('are word for word those of exchange %s', async (number) => {
    const exchange = recorded(number);
    const { status, headers, text, json } = await resend(exchange);
    const { 'x-request-id': requestId, ...facts } = exchange.response.headers;
    expect(status).toBe(exchange.response.status);
    for (const [name, value] of Object.entries(facts)) expect(headers.get(name)).toBe(value);
    expect(headers.has('x-request-id')).toBe(requestId !== undefined);
    const expected = json === undefined ? exchange.response.body : JSON.parse(exchange.response.body);
    expect(json ?? text).toEqual(
      requestId !== undefined && 'requestId' in Object(expected)
        ? { ...expected, requestId: headers.get('x-request-id') }
        : expected,
    );
  });

  it('shut gated pages to readers by slug, whatever their key', async () => {
    const answers = await Promise.all(
      ['partners', 'staff', 'nowhere', 'acme'].map((slug) => call(`${PAGES}/GetStatusPageContent`, { slug })),
    );
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 404, 200]);
    expect(answers.map(({ headers }) => headers.get('error-access-type'))).toEqual([
      'password',
      'email-domain',
      null,
      null,
    ]);
    expect(answers[0]?.json).toEqual(JSON.parse(recorded('079').response.body));
  });

  it('have an empty body for another content type', async () => {
    const { status, text } = await call(`${MONITORS}/ListMonitors`, '{}', {
      headers: { 'content-type': 'text/plain' },
    });
    expect([status, text]).toEqual([415, '']);
  });

  it('ignore a bearer, and stumble over an id that is no number', async () => {
    const bearer = await sandbox.ask(`/openstatus/rpc/${MONITORS}/ListMonitors`, {
      method: 'POST',
      body: {},
      headers: { authorization: `Bearer ${sandbox.credentials.uptime.read.token}` },
    });
    const text = await call(`${PAGES}/GetStatusPage`, { id: 'acme' });
    expect([bearer.status, text.status]).toEqual([401, 500]);
  });
});

describe('answers on the real wire', () => {
  /** In the service's own definitions, but in none of the recordings. */
  const UNRECORDED: ReadonlySet<string> = new Set([
    '.statusPages[].published: boolean',
    '.statusPage.authEmailDomains: list',
    '.statusPage.authEmailDomains[]: string',
    '.components[].buckets[].degraded: string',
    '.components[].buckets[].error: string',
    '[].resolvedAt: string',
    '.resolvedAt: string',
  ]);

  it.each([
    [`${MONITORS}/ListMonitors`, ['024'], [{}]],
    [`${MONITORS}/GetMonitor`, ['087', '088', '089'], [{ id: '1' }, { id: '4' }, { id: '8' }]],
    [`${MONITORS}/GetMonitorStatus`, ['092'], [{ id: '1' }]],
    [`${MONITORS}/GetMonitorSummary`, ['093'], [{ id: '2', timeRange: 'TIME_RANGE_7D' }]],
    [`${PAGES}/ListStatusPages`, ['053'], [{}]],
    // 077 has the same message, of a page that is published.
    [`${PAGES}/GetStatusPage`, ['055', '056', '077'], [{ id: '1' }, { id: '2' }, { id: '3' }]],
    [`${PAGES}/GetStatusPageContent`, ['074', '077'], [{ id: '1' }]],
    [`${PAGES}/GetStatusPageOverview`, ['085'], [{ id: '1' }]],
    [`${PAGES}/GetOverallStatus`, ['083'], [{ id: '1' }]],
    [`${PAGES}/GetPageComponentDailySummary`, ['086'], [{ id: '1', days: 45 }, { id: '1' }]],
    ['openstatus.status_report.v1.StatusReportService/ListStatusReports', ['065'], [{}]],
    ['openstatus.status_report.v1.StatusReportService/GetStatusReport', ['064'], [{ id: '1' }]],
    ['openstatus.maintenance.v1.MaintenanceService/ListMaintenances', ['072'], [{}]],
    ['openstatus.maintenance.v1.MaintenanceService/GetMaintenance', ['073'], [{ id: '1' }]],
  ])('of %s have no field and no type that was not recorded', async (name, numbers, bodies) => {
    const known = new Set(numbers.flatMap((number) => shapes(JSON.parse(recorded(number).response.body))));
    for (const body of bodies) {
      const { status, json } = await call(name, body);
      expect(status).toBe(200);
      expect(shapes(json).filter((shape) => !known.has(shape) && !UNRECORDED.has(shape))).toEqual([]);
    }
  });

  it.each([
    ['/v1/whoami', ['003']],
    ['/v1/monitor/1', ['115']],
    ['/v1/monitor/1/summary', ['120']],
    ['/v1/page/1', ['122']],
    ['/v1/status_report', ['126']],
    ['/v1/status_report/1', ['127']],
    ['/v1/status_report_update/1', ['128']],
    ['/v1/maintenance', ['129']],
    ['/v1/maintenance/1', ['130']],
    ['/v1/incident', ['131']],
    ['/v1/incident/1', ['132']],
  ])('of GET %s have no field and no type that was not recorded', async (path, numbers) => {
    const headers = { 'x-openstatus-key': sandbox.credentials.uptime.read.token };
    const known = new Set(numbers.flatMap((number) => shapes(JSON.parse(recorded(number).response.body))));
    const { status, json } = await sandbox.ask(`/openstatus${path}`, { headers });
    expect(status).toBe(200);
    expect(shapes(json).filter((shape) => !known.has(shape) && !UNRECORDED.has(shape))).toEqual([]);
  });

  it('use no word of an enumeration whose kind was not recorded', async () => {
    const enumerations = (text: string): string[] =>
      [...text.matchAll(/"((?:[A-Z]+_)*(?:TYPE|STATUS|THEME|METHOD|COMPARATOR|LOCALE))_[A-Z_]+"/g)].map(
        ([, kind = '']) => kind,
      );
    const { text } = await call(`${PAGES}/GetStatusPageOverview`, { id: '1' });
    const known = enumerations(exchanges.map(({ response }) => response.body).join());
    expect(new Set(enumerations(text)).size).toBeGreaterThan(5);
    expect(enumerations(text).filter((kind) => !known.includes(kind))).toEqual([]);
  });
});

describe('ListMonitors', () => {
  type Answer = Record<string, unknown> & { totalSize?: number };
  const ids = (answer: Answer): string[] =>
    [answer['httpMonitors'], answer['tcpMonitors'], answer['dnsMonitors']].flatMap((monitors) =>
      ((monitors ?? []) as { id: string }[]).map(({ id }) => id),
    );
  const list = async (body: unknown): Promise<Answer> => (await call(`${MONITORS}/ListMonitors`, body)).json as Answer;

  it('pages one mixed sequence and then splits it by type', async () => {
    const page = await list({ limit: 3, offset: 2 });
    expect(ids(page).sort()).toEqual(['3', '4', '5']);
    expect(page).not.toHaveProperty('dnsMonitors');
    expect(page.totalSize).toBe(9);
  });

  it('gives fifty unless told otherwise, and nothing but the size behind the end', async () => {
    const large = await startTestSandbox({ services: 120 });
    const headers = { 'x-openstatus-key': large.credentials.uptime.read.token };
    const ask = async (body: unknown): Promise<Answer> =>
      (await large.ask(`/openstatus/rpc/${MONITORS}/ListMonitors`, { method: 'POST', body, headers })).json as Answer;
    const [all, rest, beyond] = [await ask({}), await ask({ limit: 100, offset: 50 }), await ask({ offset: 120 })];
    await large.stop();
    expect([ids(all).length, ids(rest).length, beyond]).toEqual([50, 70, { totalSize: 120 }]);
  });

  it.each([{ limit: 0 }, { limit: 101 }, { offset: -1 }, { limit: 'many' }])('refuses %o', async (body) => {
    const { status, json } = await call(`${MONITORS}/ListMonitors`, body);
    expect([status, (json as { code: string }).code]).toEqual([400, 'invalid_argument']);
  });

  it('is also answered as Connect GET', async () => {
    const headers = { 'x-openstatus-key': sandbox.credentials.uptime.read.token };
    const message = encodeURIComponent('{"limit":1}');
    const path = `/openstatus/rpc/${MONITORS}/ListMonitors?connect=v1&encoding=json&message=${message}`;
    expect((await sandbox.ask(path, { headers })).json).toMatchObject({ httpMonitors: [{ id: '1' }], totalSize: 9 });
  });

  it('says of a paused monitor that it is active, and nothing of one that is unknown', async () => {
    sandbox.world.force('search', 'pending');
    const { httpMonitors } = (await list({})) as { httpMonitors: Record<string, unknown>[] };
    sandbox.world.force('search', null);
    const byId = new Map(httpMonitors.map((monitor) => [monitor['id'], monitor]));
    expect(byId.get('9')).toMatchObject({ active: false, status: 'MONITOR_STATUS_ACTIVE' });
    expect(byId.get('6')).not.toHaveProperty('status');
    expect(byId.get('2')).toMatchObject({ status: 'MONITOR_STATUS_ERROR' });
  });
});

describe('status pages', () => {
  it('are listed newest first, without how they are gated', async () => {
    const { json, text } = await call(`${PAGES}/ListStatusPages`);
    expect(json).toMatchObject({
      statusPages: [{ slug: 'staff' }, { slug: 'partners' }, { slug: 'acme' }],
      totalSize: 3,
    });
    expect(text).not.toContain('accessType');
  });

  it('leave out what protobuf leaves out: false, zero and empty lists', async () => {
    const { json } = await call(`${PAGES}/GetStatusPageContent`, { id: '1' });
    const { groups, components } = json as Record<'groups' | 'components', Record<string, unknown>[]>;
    expect(groups?.map((group) => group['defaultOpen'])).toEqual([true, undefined]);
    expect(components?.map((component) => component['groupOrder'])).toEqual([undefined, 1, 2, undefined, 1, 2]);
    expect(json).not.toHaveProperty('statusPage.authEmailDomains');
  });

  it('show a read key the password of a page in clear', async () => {
    const { json } = await call(`${PAGES}/GetStatusPage`, { id: '2' });
    expect(json).toMatchObject({ statusPage: { password: sandbox.pagePassword } });
  });

  it('hold open reports only, and all maintenances, past ones too', async () => {
    const fresh = await startTestSandbox({ isCalm: false });
    const headers = { 'x-openstatus-key': fresh.credentials.uptime.read.token };
    const ask = (body: unknown): Promise<Asked> =>
      fresh.ask(`/openstatus/rpc/${PAGES}/GetStatusPageOverview`, { method: 'POST', body, headers });
    const before = await ask({ id: '1' });
    fresh.pass(2 * 60 * MINUTE_MS);
    const after = await ask({ id: '1' });
    await fresh.stop();
    expect(before.json).toMatchObject({
      statusReports: [{ id: '3', status: 'STATUS_REPORT_STATUS_IDENTIFIED', updates: [{ id: '8' }, { id: '7' }] }],
      maintenances: [{ id: '4' }, { id: '3' }, { id: '2' }],
    });
    expect(after.json).not.toHaveProperty('statusReports');
    expect(after.json).toMatchObject({ maintenances: [{ id: '4' }, { id: '3' }, { id: '2' }] });
  });

  it('count at most forty-five days, oldest first, in checks that add up', async () => {
    const { json } = await call(`${PAGES}/GetPageComponentDailySummary`, { id: '1' });
    const { components } = json as { components: { componentId: string; buckets: Record<string, string>[] }[] };
    const [website] = components;
    expect(website?.buckets).toHaveLength(45);
    expect(website?.buckets.at(-1)).toMatchObject({ day: '2026-11-21T00:00:00.000Z' });
    for (const { buckets } of components.filter(({ componentId }) => componentId !== '7')) {
      for (const { count, ok, degraded = '0', error = '0' } of buckets) {
        expect(Number(ok) + Number(degraded) + Number(error)).toBe(Number(count));
      }
    }
    for (const days of [0, 46]) {
      expect((await call(`${PAGES}/GetPageComponentDailySummary`, { id: '1', days })).status).toBe(400);
    }
  });
});
