import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DAY_MS, MINUTE_MS, toEpochMs } from '../../src/model/time.ts';
import { type Asked, startTestSandbox, type TestSandbox } from '../helpers/sandbox.ts';
import { serverMonitorSandbox } from '../sandbox/kinds/server-monitor.ts';

const NAIVE = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}$/;
const SPACED = /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/;

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox({ services: 12 });
});
afterAll(() => sandbox.stop());

function get(path: string, headers: Record<string, string> = keyOf(sandbox), method = 'GET'): Promise<Asked> {
  return sandbox.ask(`/server-monitor${path}`, { headers, method });
}

function keyOf({ credentials }: TestSandbox): Record<string, string> {
  return { 'x-api-key': credentials.serverMonitor.apiKey };
}

interface Incident {
  readonly id: number;
  readonly ended_at: string | null;
  readonly monitor_id: number;
  readonly started_at: string;
}

async function incidents(query: string): Promise<{ incidents: readonly Incident[]; pagination: unknown }> {
  const { json } = await get(`/incidents${query}`);
  return (json as { data: { incidents: readonly Incident[]; pagination: unknown } }).data;
}

describe('who may ask the server monitor', () => {
  it.each([
    ['X-API-Key', () => ({ 'X-API-Key': sandbox.credentials.serverMonitor.apiKey })],
    ['Bearer', () => ({ Authorization: `Bearer ${sandbox.credentials.serverMonitor.apiKey}` })],
  ])('anyone with the key in %s', async (_, headers) => {
    const { status, json } = await get('/test', headers());
    expect(status).toBe(200);
    expect(json).toEqual({ success: true, data: { message: expect.any(String), client_id: expect.any(Number) } });
  });

  it.each([
    ['no key', 401, {}],
    ['a wrong key', 401, { 'x-api-key': 'wrong' }],
    ['a wrong bearer', 401, { authorization: 'Bearer wrong' }],
    ['basic authentication', 401, { authorization: 'Basic d3Jvbmc6d3Jvbmc=' }],
  ])('not one with %s', async (_, status, headers) => {
    const answer = await get('/status', headers);
    expect([answer.status, answer.json]).toEqual([status, { success: false, error: expect.any(String) }]);
  });

  it('not a key without permission', async () => {
    const { status, json } = await get('/status', { 'x-api-key': sandbox.credentials.serverMonitor.forbiddenKey });
    expect([status, json]).toEqual([403, { success: false, error: expect.any(String) }]);
  });

  it.each(['POST', 'PUT', 'DELETE'])('nobody with %s', async (method) => {
    const { status, headers, json } = await get('/monitors', keyOf(sandbox), method);
    expect([status, headers.get('allow'), json]).toEqual([405, 'GET', { success: false, error: expect.any(String) }]);
  });

  it.each(['/', '/nothing', '/monitors/1/logs', '/constructor', '/maintenance', '/metrics', '/webhooks'])(
    'nobody for %s, which does not exist',
    async (path) => {
      const { status, json } = await get(path);
      expect([status, json]).toEqual([404, { success: false, error: expect.any(String) }]);
    },
  );
});

describe('GET /status', () => {
  it('counts monitors by status and says its time with an offset', async () => {
    const { status, json } = await get('/status');
    expect(status).toBe(200);
    expect(json).toEqual({
      success: true,
      data: {
        status: {
          total: 12,
          up: 11,
          down: 0,
          pending: 0,
          paused: 1,
          overall_status: 'operational',
          uptime_percentage: 100,
        },
        active_incidents: [],
        timestamp: '2026-11-21T11:13:27+02:00',
      },
    });
  });

  it('is degraded with an open incident while something is down', async () => {
    sandbox.world.force('edge/2', 'down');
    sandbox.world.force('edge/3', 'pending');
    const { json } = await get('/status');
    sandbox.world.force('edge/2', null);
    sandbox.world.force('edge/3', null);
    expect(json).toMatchObject({
      data: {
        status: { up: 9, down: 1, pending: 1, paused: 1, overall_status: 'degraded', uptime_percentage: 90 },
        active_incidents: [{ monitor_id: 2, started_at: '2026-11-21T11:13:27', ended_at: null }],
      },
    });
  });
});

describe('GET /monitors', () => {
  it('lists every monitor with exactly the documented fields', async () => {
    const { json } = await get('/monitors');
    const { data } = json as { data: { monitors: readonly Record<string, unknown>[]; count: number } };
    expect(data.count).toBe(12);
    expect(data.monitors).toHaveLength(12);
    for (const monitor of data.monitors) {
      expect(monitor).toEqual({
        id: expect.any(Number),
        name: expect.any(String),
        type: expect.stringMatching(/^(http|tcp|dns)$/),
        target: expect.any(String),
        status: expect.stringMatching(/^(up|down|pending|paused)$/),
        is_active: monitor['status'] === 'paused' ? 0 : 1,
        created_at: expect.stringMatching(SPACED),
        updated_at: expect.stringMatching(SPACED),
      });
    }
  });

  it.each([
    ['?status=paused', 1],
    ['?status=up', 11],
    ['?status=down', 0],
    ['?status=nonsense', 0],
    ['?type=dns', 2],
    ['?type=dns&status=paused', 0],
  ])('filters by %s', async (query, count) => {
    expect((await get(`/monitors${query}`)).json).toMatchObject({ data: { count } });
  });

  it('says up for a service that is only slow, having no other word', async () => {
    sandbox.world.force('api', 'degraded');
    const { json } = await get('/monitors/2');
    sandbox.world.force('api', null);
    expect(json).toMatchObject({ data: { monitor: { status: 'up' } } });
  });

  it('writes when the state last changed, in its own time', async () => {
    sandbox.world.force('api', 'down');
    const { json } = await get('/monitors/2');
    sandbox.world.force('api', null);
    expect(json).toMatchObject({ data: { monitor: { status: 'down', updated_at: '2026-11-21 11:13:27' } } });
  });
});

describe('GET /monitors/{id}', () => {
  const monitorOf = async (path: string): Promise<Record<string, unknown>> =>
    ((await get(path)).json as { data: { monitor: Record<string, unknown> } }).data.monitor;

  it('has neither uptime nor logs unless asked', async () => {
    const monitor = await monitorOf('/monitors/1');
    expect(monitor).toMatchObject({ id: 1, name: 'web-1' });
    expect(monitor).not.toHaveProperty('uptime');
    expect(monitor).not.toHaveProperty('logs');
  });

  it.each([
    ['', 30],
    ['&uptime_days=7', 7],
    ['&uptime_days=90', 90],
    ['&uptime_days=91', 90],
  ])('counts the checks of the days asked: include_uptime=1%s', async (query, days) => {
    const { uptime } = await monitorOf(`/monitors/4?include_uptime=1${query}`);
    const [database] = sandbox.world.services.filter(({ id }) => id === 4);
    if (database === undefined) throw new Error('no database');
    const now = sandbox.now();
    const { total, up } = sandbox.world.checksOf(database, toEpochMs(now - days * DAY_MS), now);
    expect(uptime).toEqual({
      period_days: days,
      total_checks: days * 1_440,
      up_checks: up,
      uptime_percentage: Math.round((up / total) * 10_000) / 100,
      avg_response_time: expect.any(Number),
    });
  });

  it('sees the six hours of ninety days in which the database was down', async () => {
    expect(await monitorOf('/monitors/4?include_uptime=1&uptime_days=90')).toMatchObject({
      uptime: { up_checks: 90 * 1_440 - 380 },
    });
  });

  it.each([
    ['', 50],
    ['&logs_limit=3', 3],
    ['&logs_limit=100', 100],
    ['&logs_limit=101', 100],
  ])('lists the newest checks first: include_logs=1%s', async (query, count) => {
    const { logs } = await monitorOf(`/monitors/1?include_logs=1${query}`);
    const times = (logs as { checked_at: string }[]).map(({ checked_at }) => checked_at);
    expect(times).toHaveLength(count);
    expect(times).toEqual(times.toSorted().reverse());
    expect(times[0]).toBe('2026-11-21 11:13:00');
  });

  it('includes nothing for another value than 1', async () => {
    const monitor = await monitorOf('/monitors/1?include_logs=true&include_uptime=0');
    expect(monitor).not.toHaveProperty('logs');
    expect(monitor).not.toHaveProperty('uptime');
  });

  it.each(['logs_limit=0', 'logs_limit=-1', 'logs_limit=many', 'uptime_days=1.5', 'uptime_days='])(
    'refuses %s with 400',
    async (query) => {
      const { status, json } = await get(`/monitors/1?${query}`);
      expect([status, json]).toEqual([400, { success: false, error: expect.any(String) }]);
    },
  );

  it.each(['0', '13', '99', 'abc', '1e0', '-1'])('answers 404 for the unknown id %s', async (id) => {
    expect((await get(`/monitors/${id}`)).status).toBe(404);
  });
});

describe('GET /incidents', () => {
  it('lists exactly the documented fields, newest first, with times that name no zone', async () => {
    const { incidents: list } = await incidents('');
    expect(list.length).toBeGreaterThan(5);
    for (const incident of list) {
      expect(incident).toEqual({
        id: expect.any(Number),
        monitor_id: expect.any(Number),
        monitor_name: expect.any(String),
        target: expect.any(String),
        started_at: expect.stringMatching(NAIVE),
        ended_at: expect.stringMatching(NAIVE),
        title: expect.any(String),
        description: expect.toSatisfy((text) => text === null || typeof text === 'string'),
      });
    }
    const starts = list.map(({ started_at }) => started_at);
    expect(starts).toEqual(starts.toSorted().reverse());
  });

  it('has twenty-five to a page by default and says how many there are', async () => {
    const { pagination } = await incidents('');
    expect(pagination).toEqual({ total: 10, per_page: 25, current_page: 1, total_pages: 1 });
  });

  it('pages without losing or repeating one, and is empty behind the end', async () => {
    const pages = await Promise.all([1, 2, 3, 4, 5].map((page) => incidents(`?per_page=3&page=${page}`)));
    expect(pages.map((page) => page.incidents.length)).toEqual([3, 3, 3, 1, 0]);
    const ids = pages.flatMap((page) => page.incidents.map(({ id }) => id));
    expect(ids).toEqual((await incidents('?per_page=100')).incidents.map(({ id }) => id));
    expect(pages[4]?.pagination).toEqual({ total: 10, per_page: 3, current_page: 5, total_pages: 4 });
  });

  it('has at most a hundred to a page', async () => {
    expect((await incidents('?per_page=500')).pagination).toMatchObject({ per_page: 100 });
  });

  it.each(['page=0', 'page=two', 'per_page=0', 'per_page=-5'])('refuses %s with 400', async (query) => {
    expect((await get(`/incidents?${query}`)).status).toBe(400);
  });

  it('filters by monitor, and to those that are open', async () => {
    const { incidents: queue } = await incidents('?monitor_id=5');
    expect(queue.map(({ monitor_id }) => monitor_id)).toEqual([5]);
    sandbox.world.force('edge/5', 'down');
    const { incidents: open, pagination } = await incidents('?active=1');
    const byMonitor = await incidents('?active=1&monitor_id=4');
    sandbox.world.force('edge/5', null);
    expect(open).toMatchObject([{ monitor_id: 5, ended_at: null }]);
    expect(pagination).toMatchObject({ total: 1, total_pages: 1 });
    expect(byMonitor).toMatchObject({ incidents: [], pagination: { total: 0, total_pages: 0 } });
    expect((await incidents('?active=0')).incidents.length).toBeGreaterThan(5);
  });

  it('finds one by its id, and 404 for any other', async () => {
    expect((await get('/incidents/4')).json).toMatchObject({
      data: { incident: { id: 4, title: expect.any(String) } },
    });
    for (const id of ['0', '999', 'x']) expect((await get(`/incidents/${id}`)).status).toBe(404);
  });

  it('ends an incident when the service recovers, under the same id', async () => {
    sandbox.world.force('edge/6', 'down');
    const open = (await incidents('?active=1')).incidents[0];
    sandbox.pass(7 * MINUTE_MS);
    sandbox.world.force('edge/6', null);
    const { json } = await get(`/incidents/${open?.id}`);
    expect(json).toMatchObject({ data: { incident: { id: open?.id, ended_at: '2026-11-21T11:20:27' } } });
  });
});

describe('the limits of the server monitor', () => {
  it('allow sixty a minute, then refuse with when to come back, and tell what remains with every answer', async () => {
    const limited = await startTestSandbox({ kinds: [serverMonitorSandbox({})] });
    const ask = (headers = keyOf(limited)): Promise<Asked> => limited.ask('/server-monitor/test', { headers });
    const answers: Asked[] = [];
    for (let times = 0; times < 60; times += 1) answers.push(await ask());
    const refused = await ask();
    limited.pass(MINUTE_MS - 1);
    const stillRefused = await ask();
    limited.pass(1);
    const allowed = await ask();
    const { status } = await ask({});
    await limited.stop();
    expect(answers.map((answer) => answer.status)).toEqual(Array(60).fill(200));
    expect(answers.map(({ headers }) => Number(headers.get('x-ratelimit-remaining')))).toEqual(
      Array.from({ length: 60 }, (_, index) => 59 - index),
    );
    expect(refused.status).toBe(429);
    expect(refused.json).toEqual({ success: false, error: expect.any(String) });
    expect([refused.headers.get('retry-after'), refused.headers.get('x-ratelimit-remaining')]).toEqual(['60', '0']);
    expect(stillRefused.headers.get('retry-after')).toBe('1');
    expect(allowed.status).toBe(200);
    expect(status).toBe(401);
  });

  it('allow a thousand an hour, however they are spread', async () => {
    const limited = await startTestSandbox({
      kinds: [serverMonitorSandbox({ limits: { perMinute: 60, perHour: 100 } })],
    });
    const ask = (): Promise<Asked> => limited.ask('/server-monitor/test', { headers: keyOf(limited) });
    for (let times = 0; times < 100; times += 1) {
      await ask();
      if (times === 49) limited.pass(10 * MINUTE_MS);
    }
    const refused = await ask();
    limited.pass(50 * MINUTE_MS);
    const allowed = await ask();
    await limited.stop();
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, String((50 * MINUTE_MS) / 1_000)]);
    expect(allowed.status).toBe(200);
  });
});

describe('the clock and the future of the server monitor', () => {
  it('can stand in another zone', async () => {
    const elsewhere = await startTestSandbox({ kinds: [serverMonitorSandbox({ limits: null, offsetMinutes: -210 })] });
    elsewhere.world.force('edge/1', 'down');
    const { json } = await elsewhere.ask('/server-monitor/status', { headers: keyOf(elsewhere) });
    await elsewhere.stop();
    expect(json).toMatchObject({
      data: { timestamp: '2026-11-21T05:43:27-03:30', active_incidents: [{ started_at: '2026-11-21T05:43:27' }] },
    });
  });

  it('may one day have maintenance and metrics', async () => {
    const later = await startTestSandbox({ kinds: [serverMonitorSandbox({ limits: null, hasFutureEndpoints: true })] });
    const [maintenance, metrics] = await Promise.all(
      ['maintenance', 'metrics'].map((path) => later.ask(`/server-monitor/${path}`, { headers: keyOf(later) })),
    );
    await later.stop();
    expect(maintenance?.json).toMatchObject({
      success: true,
      data: { maintenance: [{ id: 1 }, { id: 2 }, { id: 4 }] },
    });
    expect(metrics?.json).toMatchObject({ success: true });
  });
});
