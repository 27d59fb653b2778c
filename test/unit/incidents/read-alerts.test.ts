import { describe, expect, it } from 'vitest';
import { type IntakeConfig, IntakeSchema } from '../../../src/config/intake.ts';
import { readAlerts } from '../../../src/incidents/intake.ts';
import {
  alertmanagerMessage,
  grafanaMessage,
  grafanaTest,
  kumaCertificate,
  kumaMessage,
  kumaTest,
  opsgenieMessage,
  PAGERDUTY_EVENTS,
  pagerdutyMessage,
  pagerdutyOther,
  pagerdutyTest,
} from '../../helpers/alert-messages.ts';

const AT = '2026-11-21T06:31:00.000Z';

function intakeOf(preset: string): IntakeConfig {
  return IntakeSchema.parse({ id: 'one', page: 'acme', preset, secrets: ['secret-0123456789abcdef'] });
}
const read = (preset: string, payload: unknown) => readAlerts(payload, intakeOf(preset));
const statesOf = (preset: string, payload: unknown) => read(preset, payload).alerts.map(({ state }) => state);

describe("a service's own test", () => {
  const tests: readonly (readonly [string, unknown])[] = [
    ['grafana', grafanaTest(AT)],
    ['alertmanager', grafanaTest(AT)],
    ['alertmanager', alertmanagerMessage('firing', AT, { alertname: 'Watchdog', severity: 'none' })],
    ['pagerduty', pagerdutyTest(AT)],
    ['uptime-kuma', kumaTest],
  ];
  for (const [preset, payload] of tests)
    it(`of ${preset} is no alert: ${JSON.stringify(payload).slice(0, 60)}`, () => {
      expect(read(preset, payload)).toEqual({ alerts: [], hasTest: true });
    });

  it('is not what only resembles it', () => {
    const alike = { alertname: 'TestAlert', instance: 'web-1' };
    expect(read('grafana', grafanaMessage('firing', AT, alike))).toMatchObject({ hasTest: false, alerts: [{}] });
    expect(read('uptime-kuma', kumaCertificate)).toEqual({ alerts: [], hasTest: false });
    const named = { ...kumaMessage(0, new Date(AT)), msg: '[Website] [🔴 Down] Testing' };
    expect(read('uptime-kuma', named)).toMatchObject({ hasTest: false, alerts: [{ state: 'firing' }] });
  });

  it('leaves the alerts beside it in one message', () => {
    const real = grafanaMessage('firing', AT, { alertname: 'Errors' });
    const both = { ...real, alerts: [...grafanaTest(AT).alerts, ...real.alerts] };
    expect(read('grafana', both)).toMatchObject({ hasTest: true, alerts: [{ title: 'Summary of Errors' }] });
  });
});

describe('PagerDuty', () => {
  it('says of every documented event whether an incident is open, over, or of another priority', () => {
    const stateBy = new Map<string, string>([
      ['incident.resolved', 'resolved'],
      ['incident.priority_updated', 'changed'],
      ['incident.service_updated', ''],
      ['incident.incident_type.changed', ''],
    ]);
    for (const event of PAGERDUTY_EVENTS.incident)
      expect([event, statesOf('pagerduty', pagerdutyMessage(event, { occurredAt: AT, createdAt: AT })).join()]).toEqual(
        [event, stateBy.get(event) ?? 'firing'],
      );
    for (const event of PAGERDUTY_EVENTS.other)
      expect([event, statesOf('pagerduty', pagerdutyOther(event, AT))]).toEqual([event, []]);
  });

  it('dates an incident by its event and looks its priority up before its urgency', () => {
    const created = { createdAt: '2026-11-01T00:00:00Z', occurredAt: AT, priority: 'P1' };
    const [alert] = read('pagerduty', pagerdutyMessage('incident.reopened', created)).alerts;
    expect(alert).toMatchObject({
      key: 'PGR0VU2',
      state: 'firing',
      title: 'Checkout fails',
      component: 'Checkout service',
      severities: ['P1', 'high'],
      startedAt: Date.parse(AT),
    });
    const [plain] = read('pagerduty', pagerdutyMessage('incident.triggered', { ...created, priority: null })).alerts;
    expect(plain?.severities).toEqual(['high']);
  });
});

describe('Opsgenie', () => {
  it('opens, changes and ends an alert, and says nothing by its other actions', () => {
    const states = ['Create', 'UpdatePriority', 'Close', 'Delete', 'Acknowledge', 'AddNote', 'EscalateNext'].map(
      (action) => statesOf('opsgenie', opsgenieMessage(action, { createdAt: Date.parse(AT), priority: 'P1' })).join(),
    );
    expect(states).toEqual(['firing', 'changed', 'resolved', 'resolved', '', '', '']);
  });
});

describe('Uptime Kuma', () => {
  it('opens and ends by the state of the heartbeat, at its time in UTC, and keeps its message to itself', () => {
    const at = new Date(AT);
    expect(([0, 1, 2, 3] as const).map((status) => statesOf('uptime-kuma', kumaMessage(status, at)).join())).toEqual([
      'firing',
      'resolved',
      '',
      '',
    ]);
    expect(read('uptime-kuma', kumaMessage(0, at)).alerts).toEqual([
      {
        key: '4',
        state: 'firing',
        title: 'Website',
        body: '',
        component: 'Website',
        severities: [],
        startedAt: Date.parse(AT),
        endedAt: null,
      },
    ]);
  });
});

it('cuts a text to the limit of an update, between characters, and drops control characters alone', () => {
  const [alert] = alertmanagerMessage('firing', AT, { alertname: 'Errors' }).alerts;
  const bodyOf = (description: string) =>
    read('alertmanager', { alerts: [{ ...alert, annotations: { description } }] }).alerts[0]?.body;
  expect(bodyOf('a'.repeat(10_000))).toBe('a'.repeat(10_000));
  expect(bodyOf(`a${'🔥'.repeat(15_000)}`)).toBe(`a${'🔥'.repeat(4_999)}…`);
  expect(bodyOf('\u001b[31mOut of memory\u0000\n\tat 9:00')).toBe('[31mOut of memory\n\tat 9:00');
  expect(bodyOf('> '.repeat(30_000))).toBe('');
});

it('reads what Alertmanager and Grafana send', () => {
  const labels = { alertname: 'Errors', severity: 'critical', component: 'api' };
  for (const payload of [alertmanagerMessage('resolved', AT, labels), grafanaMessage('resolved', AT, labels)])
    expect(read('grafana', payload).alerts).toEqual([
      {
        key: 'c6eadffa33fcdf37',
        state: 'resolved',
        title: 'Summary of Errors',
        body: '',
        component: 'api',
        severities: ['critical'],
        startedAt: Date.parse(AT),
        endedAt: Date.parse(AT) + 60_000,
      },
    ]);
});
