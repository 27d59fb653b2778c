import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  countEvents,
  type DeliveryDeps,
  deliver,
  listEvents,
  makeTimeEvents,
  newEvents,
  retryParked,
} from '../../src/exports/deliver.ts';
import { PayrollOptionsSchema } from '../../src/exports/options.ts';
import { type Incident, toMonitorId } from '../../src/model/observation.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, toEpochMs } from '../../src/model/time.ts';
import { createStore, type Store } from '../../src/store/create-store.ts';
import { createHttp, type Http } from '../../src/sync/http/http.ts';
import { openEmptySqlite } from '../helpers/empty-sqlite.ts';
import { type Sandbox, startSandbox } from '../sandbox/sandbox.ts';

const T0 = toEpochMs(Date.UTC(2026, 0, 10, 12));

function incident(number: number, over: Partial<Incident> = {}): Incident {
  return {
    id: `edge/i${number}`,
    title: `Outage ${number}`,
    status: 'resolved',
    impact: 'critical',
    startedAt: toEpochMs(T0 + number * HOUR_MS),
    endedAt: toEpochMs(T0 + number * HOUR_MS + 30 * MINUTE_MS),
    monitors: [toMonitorId('edge', 1)],
    components: [],
    pages: null,
    affectedState: 'major_outage',
    isOutage: true,
    updates: [],
    ...over,
  };
}

describe('the payroll export', () => {
  let folder: string;
  let store: Store;
  let sandbox: Sandbox;
  let http: Http;
  let now: number;
  let incidents: Incident[];

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'pharos-exports-'));
    now = T0;
    incidents = [];
    store = createStore(openEmptySqlite(join(folder, 'pharos.db'), T0).database);
    sandbox = await startSandbox({ port: 0, now: () => toEpochMs(now) });
    http = createHttp();
  });
  afterEach(async () => {
    await http.close();
    await sandbox.stop();
    await store.close();
    rmSync(folder, { recursive: true });
  });

  const options = (over: object = {}) =>
    PayrollOptionsSchema.parse({
      id: 'payroll',
      kind: 'payroll-time-events',
      tenantBaseUrl: `${sandbox.url}/payroll`,
      headers: { Authorization: `Bearer ${sandbox.environment()['PAYROLL_TOKEN']}` },
      rota: { rotation: { employees: [17], startsAt: '2026-01-05T09:00' } },
      ...over,
    });
  const deps = (): DeliveryDeps => ({
    database: store.database,
    incidents: async () => incidents,
    post: async ({ url, headers, body, accepts }) => {
      const question = { method: 'POST', url, headers, body, acceptStatuses: accepts, reads: 'text' } as const;
      const { status, payload } = await http.request(question, { now: () => toEpochMs(now) });
      return { status, text: String(payload) };
    },
    now: () => toEpochMs(now),
    random: () => 0,
  });
  const ids = (): unknown[] => sandbox.payrollEvents().map((event) => event['external_event_id']);

  it('sends one event for each employee on call, with hours, times and a stable id', async () => {
    await deliver(options(), deps());
    incidents = [incident(1)];
    now += 3 * HOUR_MS;
    expect(await deliver(options(), deps())).toEqual({
      exportId: 'payroll',
      queued: 1,
      sent: 1,
      rejected: 0,
      parked: 0,
      error: null,
    });
    expect(sandbox.payrollEvents()).toEqual([
      {
        external_event_id: makeTimeEvents(incident(1), options())[0]?.external_event_id,
        employee_id: 17,
        event_type: 'overtime',
        occurred_at: '2026-01-10T13:30:00.000Z',
        starts_at: '2026-01-10T13:00:00.000Z',
        ends_at: '2026-01-10T13:30:00.000Z',
        hours: 0.5,
        source: 'pharos',
        payload: { incident: 'edge/i1', title: 'Outage 1' },
      },
    ]);
  });

  it('sends nothing of what ended before it was set up, is open, or was too short', async () => {
    await deliver(options(), deps());
    incidents = [incident(-2), incident(1, { endedAt: null }), incident(2)];
    now += DAY_MS;
    const ended = (over: object = {}) => newEvents(options(over), deps());
    expect(await ended({ minMinutes: 45 })).toEqual([]);
    expect((await ended()).map((event) => event.payload['incident'])).toEqual(['edge/i2']);
  });

  it('sends nothing twice: not again, not after a restart, not when the answer was lost', async () => {
    await deliver(options(), deps());
    incidents = [incident(1), incident(2)];
    now += 5 * HOUR_MS;
    const lost: DeliveryDeps = {
      ...deps(),
      post: async (request) => {
        await deps().post(request);
        throw new Error('the answer was lost on the way');
      },
    };
    expect((await deliver(options(), lost)).error).toContain('lost on the way');
    expect(ids()).toHaveLength(2);
    await store.close();
    store = createStore(openEmptySqlite(join(folder, 'pharos.db'), T0).database);
    // Before the wait is over nothing leaves.
    expect(await deliver(options(), deps())).toMatchObject({ sent: 0, error: 'the answer was lost on the way' });
    now += HOUR_MS;
    expect(await deliver(options(), deps())).toMatchObject({ queued: 0, sent: 2, error: null });
    await deliver(options(), deps());
    expect(ids()).toHaveLength(2);
  });

  it('keeps one key for one batch at every attempt, also when more events have come', async () => {
    await deliver(options(), deps());
    const keys: (string | undefined)[] = [];
    const failing: DeliveryDeps = {
      ...deps(),
      post: async (request) => {
        keys.push(`${request.headers['idempotency-key']} ${(request.body as { events: unknown[] }).events.length}`);
        throw new Error('no answer');
      },
    };
    incidents = [incident(1)];
    now += 2 * HOUR_MS;
    await deliver(options(), failing);
    incidents = [incident(1), incident(2)];
    now += 3 * HOUR_MS;
    await deliver(options(), failing);
    expect(keys).toHaveLength(2);
    expect(keys[0]).toBe(keys[1]);
  });

  it('keeps the reasons of rejects and sends the rest', async () => {
    await deliver(options(), deps());
    incidents = [incident(1), incident(2)];
    now += 5 * HOUR_MS;
    const rejecting: DeliveryDeps = {
      ...deps(),
      post: async () => ({
        status: 202,
        text: JSON.stringify({
          accepted: 1,
          rejected: 1,
          errors: [{ index: 1, external_event_id: 'x', reason: 'employee unknown' }],
        }),
      }),
    };
    expect(await deliver(options(), rejecting)).toMatchObject({ sent: 1, rejected: 1 });
    expect(await countEvents(store.database, 'payroll')).toEqual({ queued: 0, sent: 1, rejected: 1, parked: 0 });
    expect(
      (await listEvents(store.database, 'payroll', 9))
        .filter((event) => event.state === 'rejected')
        .map((event) => event.reason),
    ).toEqual(['employee unknown']);
  });

  const answering = (status: number, body: unknown): DeliveryDeps => ({
    ...deps(),
    post: async () => ({ status, text: typeof body === 'string' ? body : JSON.stringify(body) }),
  });

  it.each([
    [
      { accepted: 0, rejected: 2 },
      { sent: 0, rejected: 2, parked: 0 },
    ],
    [
      { accepted: 0, rejected: 2, errors: [] },
      { sent: 0, rejected: 2, parked: 0 },
    ],
    // One of them, and nobody knows which: nothing is recorded as sent.
    [
      { accepted: 1, rejected: 1, errors: [] },
      { sent: 0, rejected: 0, parked: 2 },
    ],
    [
      { accepted: 2, rejected: 0, errors: [] },
      { sent: 2, rejected: 0, parked: 0 },
    ],
    // Events that it has already count as neither.
    [
      { accepted: 0, rejected: 0, errors: [] },
      { sent: 2, rejected: 0, parked: 0 },
    ],
  ])('believes the counts of a 202: %j', async (body, expected) => {
    await deliver(options(), deps());
    incidents = [incident(1), incident(2)];
    now += 5 * HOUR_MS;
    expect(await deliver(options(), answering(202, body))).toMatchObject({ queued: 2, ...expected });
    expect(await countEvents(store.database, 'payroll')).toMatchObject({ ...expected, queued: 0 });
  });

  it('finds a rejected event by its id rather than by its place', async () => {
    await deliver(options(), deps());
    incidents = [incident(1), incident(2)];
    now += 5 * HOUR_MS;
    const [first] = makeTimeEvents(incident(1), options());
    const errors = [{ index: 9, external_event_id: first?.external_event_id, reason: 'closed\u0007 run' }];
    await deliver(options(), answering(202, { accepted: 1, rejected: 1, errors }));
    const rejected = (await listEvents(store.database, 'payroll', 9)).filter(({ state }) => state === 'rejected');
    expect(rejected).toMatchObject([{ id: first?.external_event_id, reason: 'closed run' }]);
  });

  it('keeps the words of a refusal on one line, cut, and without the key', async () => {
    await deliver(options(), deps());
    incidents = [incident(1)];
    now += 3 * HOUR_MS;
    const token = sandbox.environment()['PAYROLL_TOKEN'] ?? '';
    const words = `payroll_run_id 7 is closed\n\u001b[31m(sent with ${token})${'!'.repeat(900)}`;
    const { error } = await deliver(options(), answering(422, words));
    expect(error).toMatch(
      /^payroll: the receiver rejected the batch with status 422: payroll_run_id 7 is closed \[31m\(sent with \*\*\*\)!+…$/,
    );
    expect(error?.length).toBeLessThan(400);
    const [event] = await listEvents(store.database, 'payroll', 9);
    expect(event).toMatchObject({ state: 'parked', reason: error });
  });

  it('parks what can never be taken, sends what comes after it, and queues it again when told to', async () => {
    await deliver(options(), deps());
    incidents = [incident(1), incident(2)];
    now += 4 * HOUR_MS;
    sandbox.faults.set('payroll', '422');
    let posts = 0;
    const counting = (): DeliveryDeps => ({
      ...deps(),
      post: (request) => {
        posts += 1;
        return deps().post(request);
      },
    });
    const report = await deliver(options(), counting());
    expect(report).toMatchObject({ sent: 0, parked: 2 });
    expect(report.error).toContain('422');
    sandbox.faults.set('payroll', null);
    incidents.push(incident(3));
    for (let hour = 0; hour < 48; hour += 1) {
      now += HOUR_MS;
      expect((await deliver(options(), counting())).error).toBeNull();
    }
    expect(posts).toBe(2);
    expect(await countEvents(store.database, 'payroll')).toEqual({ queued: 0, sent: 1, rejected: 0, parked: 2 });
    const parked = (await listEvents(store.database, 'payroll', 9)).filter((event) => event.state === 'parked');
    expect(parked.map((event) => event.reason)).toEqual([report.error, report.error]);
    expect(await retryParked(store.database, 'payroll')).toBe(2);
    expect(await deliver(options(), deps())).toMatchObject({ sent: 2, parked: 0, error: null });
    expect(await countEvents(store.database, 'payroll')).toEqual({ queued: 0, sent: 3, rejected: 0, parked: 0 });
    expect(new Set(ids()).size).toBe(3);
  });

  it('tries a failing receiver again, waiting longer each time', async () => {
    await deliver(options(), deps());
    incidents = [incident(1)];
    now += 2 * HOUR_MS;
    for (const fault of ['500', 'html', 'truncated'] as const) {
      sandbox.faults.set('payroll', fault);
      expect((await deliver(options(), deps())).error).not.toBeNull();
      now += HOUR_MS;
    }
    sandbox.faults.set('payroll', null);
    expect(await deliver(options(), deps())).toMatchObject({ sent: 1, error: null });
    expect(ids()).toHaveLength(1);
  });

  it('cuts what is many into batches', async () => {
    await deliver(options(), deps());
    incidents = Array.from({ length: 25 }, (_, number) => incident(number + 1));
    now += 30 * DAY_MS;
    const sizes: number[] = [];
    const counting: DeliveryDeps = {
      ...deps(),
      post: (request) => {
        sizes.push((request.body as { events: unknown[] }).events.length);
        return deps().post(request);
      },
    };
    expect(await deliver(options({ batchSize: 10 }), counting)).toMatchObject({ sent: 25 });
    expect(sizes).toEqual([10, 10, 5]);
  });
});
