/**
 * What alerting systems post to a webhook, in the shape of their own source or document:
 *
 * - Grafana: grafana/alerting 783ce04, `receivers/webhook/v1/webhook.go`, `templates/template_data.go`; its test is
 *   `newTestAlert` of `notify/receivers.go`.
 * - Alertmanager: prometheus/alertmanager 68fb2d5, `notify/webhook/webhook.go`, `template/template.go`. It has no test of
 *   its own; `Watchdog` is an alert of prometheus-operator/kube-prometheus that never ends.
 * - PagerDuty: PagerDuty/developer-docs 9422439, `docs/webhooks/01-Overview.md`; its test is the event `pagey.ping`.
 * - Opsgenie: Atlassian's document "Opsgenie Edge Connector alert action data". It describes no test.
 * - Uptime Kuma: louislam/uptime-kuma 6398a95, `server/notification-providers/webhook.js`, `server/model/monitor.js`,
 *   `server/model/heartbeat.js`; its test is `testNotification` of `server/server.js`.
 */

type Fields = Readonly<Record<string, unknown>>;

/** One alert of Prometheus' family. */
function alertOf(status: 'firing' | 'resolved', startsAt: string, labels: Fields, extra: Fields = {}) {
  return {
    status,
    labels,
    annotations: { summary: `Summary of ${String(labels['alertname'])}` },
    startsAt,
    endsAt: status === 'firing' ? '0001-01-01T00:00:00Z' : new Date(Date.parse(startsAt) + 60_000).toISOString(),
    generatorURL: 'https://metrics.example/graph',
    fingerprint: 'c6eadffa33fcdf37',
    ...extra,
  };
}

function groupOf(alert: ReturnType<typeof alertOf>) {
  const { status, labels, annotations } = alert;
  return {
    receiver: 'pharos',
    status,
    alerts: [alert],
    groupLabels: { alertname: labels['alertname'] },
    commonLabels: labels,
    commonAnnotations: annotations,
    externalURL: 'https://alerts.example/',
    groupKey: '{}:{alertname="x"}',
    truncatedAlerts: 0,
  };
}

export function alertmanagerMessage(status: 'firing' | 'resolved', startsAt: string, labels: Fields) {
  return { version: '4', ...groupOf(alertOf(status, startsAt, labels)) };
}

export function grafanaMessage(status: 'firing' | 'resolved', startsAt: string, labels: Fields) {
  const extra = { silenceURL: '', dashboardURL: '', panelURL: '', values: { B: 22 }, valueString: '[ value=22 ]' };
  const state = status === 'firing' ? 'alerting' : 'ok';
  return {
    ...groupOf(alertOf(status, startsAt, labels, extra)),
    version: '1',
    orgId: 1,
    title: '[FIRING:1]',
    state,
    message: '**Firing**',
  };
}

/** "Test" of a contact point; the operator may add labels. */
export const grafanaTest = (startsAt: string) =>
  grafanaMessage('firing', startsAt, { alertname: 'TestAlert', instance: 'Grafana', component: 'api' });

/** All event types that are documented, by what they are about. */
export const PAGERDUTY_EVENTS = {
  incident: [
    'incident.acknowledged',
    'incident.delegated',
    'incident.escalated',
    'incident.incident_type.changed',
    'incident.priority_updated',
    'incident.reassigned',
    'incident.reopened',
    'incident.resolved',
    'incident.service_updated',
    'incident.triggered',
    'incident.unacknowledged',
  ],
  other: [
    'incident.annotated',
    'incident.conference_bridge.updated',
    'incident.custom_field_values.updated',
    'incident.responder.added',
    'incident.responder.replied',
    'incident.role.assigned',
    'incident.status_update_published',
    'incident.task.completed',
    'incident.task.created',
    'incident.task.updated',
    'incident.action_invocation.created',
    'incident.action_invocation.terminated',
    'incident.action_invocation.updated',
    'incident.workflow.started',
    'incident.workflow.completed',
    'service.created',
    'service.custom_field_values.updated',
    'service.deleted',
    'service.updated',
  ],
} as const;

function pagerdutyEvent(eventType: string, occurredAt: string, data: Fields) {
  return {
    event: {
      id: '01BRB6ZP4M6T8ZG4X6BP63ZB9O',
      event_type: eventType,
      resource_type: eventType.split('.')[0],
      occurred_at: occurredAt,
      agent: null,
      client: null,
      data,
    },
  };
}

/** About an incident, which every such event has whole. */
export function pagerdutyMessage(
  eventType: string,
  { occurredAt, createdAt, priority = null }: { occurredAt: string; createdAt: string; priority?: string | null },
) {
  return pagerdutyEvent(eventType, occurredAt, {
    id: 'PGR0VU2',
    type: 'incident',
    html_url: 'https://acme.pagerduty.example/incidents/PGR0VU2',
    number: 2,
    status: eventType === 'incident.resolved' ? 'resolved' : 'triggered',
    incident_key: 'd3640fbd41094207a1c11e58e46b1662',
    created_at: createdAt,
    title: 'Checkout fails',
    service: { id: 'PF9KMXH', summary: 'Checkout service', type: 'service_reference' },
    assignees: [],
    priority: priority === null ? null : { id: 'PSO75BM', summary: priority, type: 'priority_reference' },
    urgency: 'high',
    resolve_reason: null,
  });
}

/** About a note, a responder, a task, a service: no incident in it. */
export const pagerdutyOther = (eventType: string, occurredAt: string) =>
  pagerdutyEvent(eventType, occurredAt, {
    id: 'P2LA89X',
    type: 'incident_note',
    incident: { id: 'PGR0VU2', summary: 'Checkout fails', type: 'incident_reference' },
    content: 'Looking into it',
  });

export const pagerdutyTest = (occurredAt: string) =>
  pagerdutyEvent('pagey.ping', occurredAt, { message: 'Hello from your friend Pagey!', type: 'ping' });

export function opsgenieMessage(action: string, { createdAt, priority }: { createdAt: number; priority: string }) {
  return {
    action,
    source: { name: 'web', type: 'API' },
    alert: {
      alertId: '052652ac-5d1c-464a-812a-7dd18bbfba8c',
      message: 'Disk is full',
      alias: 'disk',
      entity: 'web',
      tags: ['disk'],
      tinyId: '23',
      username: 'operator@acme.example',
      priority,
      createdAt,
      updatedAt: createdAt * 1_000_000,
    },
    integrationId: '37c8f316-17c6-49d7-899b-9c7e540c048d',
    integrationName: 'Pharos',
  };
}

/** `time` as it writes it: UTC without an offset. */
export function kumaMessage(status: 0 | 1 | 2 | 3, time: Date) {
  return {
    heartbeat: {
      monitorID: 4,
      status,
      time: time.toISOString().replace('T', ' ').replace('Z', ''),
      msg: 'connect ECONNREFUSED 10.9.8.7:5432',
      important: true,
      duration: 60,
      timezone: 'Europe/Berlin',
      timezoneOffset: '+01:00',
    },
    monitor: { id: 4, name: 'Website', type: 'http', url: 'https://inside.example' },
    msg: `[Website] [${status === 1 ? '✅ Up' : '🔴 Down'}] connect ECONNREFUSED 10.9.8.7:5432`,
  };
}

export const kumaTest = { heartbeat: null, monitor: null, msg: 'Status page Testing' };
/** Neither a test nor about a heartbeat. */
export const kumaCertificate = {
  heartbeat: null,
  monitor: null,
  msg: '[Website][https://inside.example] server certificate inside.example will expire in 7 days',
};
