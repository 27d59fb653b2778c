import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HOUR_MS } from '../../src/model/time.ts';
import { type Asked, startTestSandbox, type TestSandbox } from '../helpers/sandbox.ts';

let sandbox: TestSandbox;
beforeEach(async () => {
  sandbox = await startTestSandbox();
});
afterEach(() => sandbox.stop());

function send(body: unknown, headers: Record<string, string> = {}): Promise<Asked> {
  return sandbox.ask('/payroll/api/v1/payroll/time-events', {
    method: 'POST',
    body,
    headers: { authorization: `Bearer ${sandbox.credentials.payrollToken}`, ...headers },
  });
}

function event(fields: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    external_event_id: 'e-1',
    employee_id: 7,
    event_type: 'overtime',
    occurred_at: '2026-11-21T09:00:00Z',
    hours: 1.5,
    ...fields,
  };
}

describe('taking time events', () => {
  it('queues what is valid and says so with 202', async () => {
    const full = event({
      starts_at: '2026-11-21T07:30:00+02:00',
      ends_at: null,
      source: 'pharos',
      payload: { incident: 'edge/4' },
    });
    const { status, json } = await send({ payroll_run_id: 3, events: [full, event({ external_event_id: 'e-2' })] });
    expect([status, json]).toEqual([202, { accepted: 2, rejected: 0, errors: [] }]);
    expect(sandbox.payrollEvents()[0]).toEqual(full);
  });

  it.each([
    ['no employee', { employee_id: undefined }],
    ['an employee that is text', { employee_id: '7' }],
    ['an unknown type', { event_type: 'holiday' }],
    ['no time', { occurred_at: undefined }],
    ['a time without a zone', { occurred_at: '2026-11-21T09:00:00' }],
    ['no hours in a timesheet', { event_type: 'timesheet', hours: undefined }],
    ['null hours in overtime', { hours: null }],
    ['hours that are text', { hours: '1.5' }],
    ['an id of 129 characters', { external_event_id: 'x'.repeat(129) }],
    ['a source of 81 characters', { source: 's'.repeat(81) }],
    ['a payload that is a list', { payload: [] }],
  ])('rejects one with %s in the body of the 202', async (_, fields) => {
    const { status, json } = await send({ events: [event(), event({ external_event_id: 'bad', ...fields })] });
    const { external_event_id = 'bad' } = fields as { external_event_id?: string };
    expect(status).toBe(202);
    expect(json).toEqual({
      accepted: 1,
      rejected: 1,
      errors: [{ index: 1, external_event_id, reason: expect.any(String) }],
    });
    expect(sandbox.payrollEvents()).toHaveLength(1);
  });

  it.each([
    ['punch', {}],
    ['leave_impact', { hours: null }],
  ])('needs no hours for %s', async (event_type, fields) => {
    const { json } = await send({ events: [{ ...event({ event_type, ...fields }), hours: undefined }] });
    expect(json).toMatchObject({ accepted: 1 });
  });

  it('skips a known external id without a word, also within a batch', async () => {
    await send({ events: [event()] });
    const { json } = await send({
      events: [event(), event({ external_event_id: 'e-2' }), event({ external_event_id: 'e-2' })],
    });
    expect(json).toEqual({ accepted: 1, rejected: 0, errors: [] });
    expect(sandbox.payrollEvents()).toHaveLength(2);
  });

  it('does not remember the id of an event that it rejected', async () => {
    await send({ events: [event({ hours: null })] });
    expect((await send({ events: [event()] })).json).toMatchObject({ accepted: 1 });
  });

  it('takes events without an id each time', async () => {
    const anonymous = event({ external_event_id: undefined });
    await send({ events: [anonymous] });
    expect((await send({ events: [anonymous] })).json).toMatchObject({ accepted: 1 });
  });
});

describe('the request as a whole', () => {
  it.each([
    ['no list', {}],
    ['an empty list', { events: [] }],
    ['501 events', { events: Array.from({ length: 501 }, (_, index) => event({ external_event_id: `e-${index}` })) }],
    ['a run that is text', { payroll_run_id: '3', events: [event()] }],
    ['what is no object', [event()]],
    ['what is no JSON', 'nothing'],
  ])('is refused with 422 for %s, and nothing is queued', async (_, body) => {
    expect((await send(body)).status).toBe(422);
    expect(sandbox.payrollEvents()).toHaveLength(0);
  });

  it('may hold five hundred events', async () => {
    const events = Array.from({ length: 500 }, (_, index) => event({ external_event_id: `e-${index}` }));
    expect((await send({ events })).json).toMatchObject({ accepted: 500 });
  });

  it('wants a token and POST', async () => {
    const none = await send({ events: [event()] }, { authorization: '' });
    const get = await sandbox.ask('/payroll/api/v1/payroll/time-events');
    const elsewhere = await sandbox.ask('/payroll/api/v1/payroll/runs');
    expect([none.status, get.status, elsewhere.status]).toEqual([401, 405, 404]);
  });
});

describe('an idempotency key', () => {
  const key = { 'idempotency-key': 'batch-1' };

  it('gives the first answer again within twenty-four hours, and processes nothing', async () => {
    const first = await send({ events: [event(), event({ hours: null, external_event_id: 'bad' })] }, key);
    sandbox.pass(24 * HOUR_MS - 1);
    const again = await send({ events: [event({ external_event_id: 'other' })] }, key);
    expect([again.status, again.json]).toEqual([first.status, first.json]);
    expect(first.json).toMatchObject({ accepted: 1, rejected: 1 });
    expect(sandbox.payrollEvents()).toHaveLength(1);
  });

  it('is forgotten after twenty-four hours, while external ids still count', async () => {
    await send({ events: [event()] }, key);
    sandbox.pass(24 * HOUR_MS);
    const ids = ['e-1', 'new', 'newer'];
    const later = await send({ events: ids.map((external_event_id) => event({ external_event_id })) }, key);
    expect(later.json).toEqual({ accepted: 2, rejected: 0, errors: [] });
  });

  it('does not keep a refusal', async () => {
    await send({ events: [] }, key);
    expect((await send({ events: [event()] }, key)).status).toBe(202);
  });

  it('has at most 128 characters', async () => {
    const long = await send({ events: [event()] }, { 'idempotency-key': 'k'.repeat(129) });
    const longest = await send({ events: [event()] }, { 'idempotency-key': 'k'.repeat(128) });
    expect([long.status, longest.status]).toEqual([422, 202]);
  });
});
