/**
 * Turns messages of alerting systems into incidents. Each sender has a mapping from its payload to an alert: presets
 * are entries of a table, and for any other sender of JSON the configuration contains a mapping with the same keys.
 */

import { z } from 'zod';
import { HeaderNameSchema, IdSchema, SlugSchema, when } from '../schema/scalars.ts';
import { SecretsSchema } from '../schema/secret.ts';

const PathSchema = z
  .string()
  .regex(/^[\w-]{1,64}(\.[\w-]{1,64}){0,9}$/, 'expected names with dots between them, such as labels.component');
/** One path, or several: the first one that exists in the payload is used. */
const PathsSchema = z.union([PathSchema.transform((path) => [path]), z.array(PathSchema).min(1).max(8)]);
const WordsSchema = z.array(z.string().min(1).max(100)).min(1).max(20);
const StateSchema = z.enum(['degraded', 'partial_outage', 'major_outage']);

const MappingSchema = z.strictObject({
  alerts: PathSchema.optional().describe('Path to the list of alerts. Default: the body is one alert.'),
  key: PathsSchema.describe('Identifies an alert. The same key updates the same incident.'),
  status: PathsSchema.describe('Path to the status of an alert.'),
  firing: WordsSchema.default(['firing']).describe('Status values that open an incident.'),
  resolved: WordsSchema.default(['resolved']).describe('Status values that resolve it. Others are ignored.'),
  changed: WordsSchema.optional().describe('Status values that only change the severity of an open incident.'),
  title: PathsSchema.describe('Title of the incident.'),
  body: PathsSchema.optional().describe('Text of the first update. Default: none.'),
  component: PathsSchema.optional().describe('Affected component, by id or name.'),
  started: PathsSchema.optional().describe(
    'Start time. Distinguishes a new alert with the same key from a late message.',
  ),
  ended: PathsSchema.optional().describe('End time.'),
  severity: PathsSchema.optional().describe('Severity, as used in severities. Of several, the first listed there.'),
});

const SignatureSchema = z.strictObject({
  header: HeaderNameSchema.describe('Header that carries the signature.'),
  prefix: z.string().max(20).default('').describe('Text before the hexadecimal digits, such as v1=.'),
});

/** Recognises the sender's test alert: text by path, or null if the path doesn't exist. */
export type TestMark = Readonly<Record<string, RegExp | null>>;

interface Preset {
  readonly mapping: z.input<typeof MappingSchema>;
  readonly signature?: z.input<typeof SignatureSchema>;
  readonly tests: readonly TestMark[];
}

const PROMETHEUS: Preset = {
  mapping: {
    alerts: 'alerts',
    key: 'fingerprint',
    status: 'status',
    title: ['annotations.summary', 'labels.alertname'],
    body: 'annotations.description',
    component: ['labels.component', 'labels.service', 'labels.job'],
    started: 'startsAt',
    ended: 'endsAt',
    severity: 'labels.severity',
  },
  tests: [
    // The test of a Grafana contact point, also for Alertmanagers managed by Grafana.
    { 'labels.alertname': /^TestAlert$/, 'labels.instance': /^Grafana$/ },
    // Alertmanager has no test of its own. kube-prometheus fires this one for ever, to show that alerts get through.
    { 'labels.alertname': /^Watchdog$/ },
  ],
};

const INTAKE_PRESETS = {
  alertmanager: PROMETHEUS,
  grafana: PROMETHEUS,
  pagerduty: {
    mapping: {
      key: 'event.data.id',
      status: 'event.event_type',
      firing: [
        'incident.triggered',
        'incident.acknowledged',
        'incident.unacknowledged',
        'incident.reopened',
        'incident.escalated',
        'incident.delegated',
        'incident.reassigned',
      ],
      resolved: ['incident.resolved'],
      changed: ['incident.priority_updated'],
      title: 'event.data.title',
      component: 'event.data.service.summary',
      // The creation time would be wrong for incidents that were reopened.
      started: 'event.occurred_at',
      ended: 'event.occurred_at',
      severity: ['event.data.priority.summary', 'event.data.urgency'],
    },
    signature: { header: 'x-pagerduty-signature', prefix: 'v1=' },
    tests: [{ 'event.event_type': /^pagey\.ping$/ }],
  },
  opsgenie: {
    mapping: {
      key: 'alert.alertId',
      status: 'action',
      firing: ['Create'],
      resolved: ['Close', 'Resolve', 'Delete'],
      changed: ['UpdatePriority'],
      title: 'alert.message',
      body: 'alert.description',
      component: ['alert.entity', 'alert.alias'],
      started: 'alert.createdAt',
      severity: 'alert.priority',
    },
    tests: [],
  },
  'uptime-kuma': {
    mapping: {
      key: 'monitor.id',
      // Messages about certificates and domains have no heartbeat; they aren't alerts.
      status: ['heartbeat.status', 'msg'],
      firing: ['0'],
      resolved: ['1'],
      title: 'monitor.name',
      component: 'monitor.name',
      started: 'heartbeat.time',
      // `heartbeat.msg` is left out, because it can contain internal addresses. Uptime Kuma doesn't publish it either.
    },
    tests: [{ msg: / Testing$/, 'heartbeat.status': null }],
  },
} as const satisfies Record<string, Preset>;

const NAMES = Object.keys(INTAKE_PRESETS) as (keyof typeof INTAKE_PRESETS)[];

export const IntakeSchema = z
  .strictObject({
    id: IdSchema.describe('Part of the URL: /-/intake/<id>.'),
    page: SlugSchema.describe('Page for its incidents.'),
    preset: z.enum(NAMES).optional().describe('Sender with a known payload.'),
    mapping: MappingSchema.optional().describe('Where to find fields in payloads from other senders.'),
    header: HeaderNameSchema.default('authorization').describe(
      'Header that carries the secret; in authorization, as Bearer.',
    ),
    secrets: SecretsSchema.describe('One secret, or two during rotation.'),
    signature: SignatureSchema.optional().describe(
      'For senders that sign the body (HMAC-SHA-256, hexadecimal). Default: as in the preset.',
    ),
    components: z
      .record(z.string(), z.string())
      .default({})
      .describe('Component id by the sender’s name for it, if that differs from the component’s id and name.'),
    severities: z.record(z.string(), StateSchema).default({}).describe('Component state by severity.'),
    state: StateSchema.default('degraded').describe('Component state for any other severity.'),
    published: z.boolean().default(true).describe('false keeps incidents as drafts.'),
  })
  .refine(({ preset, mapping }) => (preset === undefined) !== (mapping === undefined), {
    path: ['preset'],
    error: `set preset to one of ${NAMES.join(', ')}, or give a mapping`,
  })
  .transform(({ preset, mapping, signature, ...intake }) => {
    const known: Preset | undefined = preset === undefined ? undefined : INTAKE_PRESETS[preset];
    const signed = signature ?? known?.signature;
    return {
      ...intake,
      mapping: mapping ?? MappingSchema.parse(known?.mapping),
      signature: signed === undefined ? null : SignatureSchema.parse(signed),
      tests: known?.tests ?? [],
    };
  })
  .meta(when({ preset: {} }, { properties: { mapping: false } }, { required: ['mapping'] }));
export type IntakeConfig = z.output<typeof IntakeSchema>;
