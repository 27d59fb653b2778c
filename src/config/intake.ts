/**
 * What alerting systems send, as incidents. Each sender is a mapping from its payload to an alert: presets are entries of
 * one table, and anything else that sends JSON is mapped by hand in the same words.
 */

import { z } from 'zod';
import { IdSchema, SlugSchema } from '../schema/scalars.ts';
import { SecretSchema } from './secret.ts';

const PathSchema = z
  .string()
  .regex(/^[\w-]{1,64}(\.[\w-]{1,64}){0,9}$/, 'expected names with dots between them, such as labels.component');
/** The first of several that the payload has. */
const PathsSchema = z.union([PathSchema.transform((path) => [path]), z.array(PathSchema).min(1).max(8)]);
const WordsSchema = z.array(z.string().min(1).max(100)).min(1).max(20);
const StateSchema = z.enum(['degraded', 'partial_outage', 'major_outage']);

const MappingSchema = z.strictObject({
  alerts: PathSchema.optional().describe('The list of alerts. Default: the body is one alert.'),
  key: PathsSchema.describe('What names an alert: the same key again is the same incident.'),
  status: PathsSchema.describe('Whether it fires or is resolved.'),
  firing: WordsSchema.default(['firing']).describe('Words of status that begin an incident.'),
  resolved: WordsSchema.default(['resolved']).describe('Words of status that resolve it. Any other word does nothing.'),
  title: PathsSchema.describe('Its heading.'),
  body: PathsSchema.optional().describe('What is said of it first. Default: nothing.'),
  component: PathsSchema.optional().describe('The component it is about, by id or name.'),
  started: PathsSchema.optional().describe(
    'When it began to fire: by this a key that fires anew is told from a message that came late.',
  ),
  ended: PathsSchema.optional().describe('When it was resolved.'),
  severity: PathsSchema.optional().describe('How bad it is, in the words of severities.'),
});

const SignatureSchema = z.strictObject({
  header: z
    .string()
    .regex(/^[a-z0-9-]{1,64}$/i, 'expected a header name')
    .describe('Name of the header that carries it.'),
  prefix: z.string().max(20).default('').describe('What stands before the hexadecimal digits, such as v1=.'),
});

interface Preset {
  readonly mapping: z.input<typeof MappingSchema>;
  readonly signature?: z.input<typeof SignatureSchema>;
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
};

export const INTAKE_PRESETS = {
  alertmanager: PROMETHEUS,
  grafana: PROMETHEUS,
  pagerduty: {
    mapping: {
      key: 'event.data.id',
      status: 'event.event_type',
      firing: ['incident.triggered', 'incident.acknowledged', 'incident.reopened'],
      resolved: ['incident.resolved'],
      title: 'event.data.title',
      component: 'event.data.service.summary',
      started: 'event.data.created_at',
      ended: 'event.occurred_at',
      severity: 'event.data.urgency',
    },
    signature: { header: 'x-pagerduty-signature', prefix: 'v1=' },
  },
  opsgenie: {
    mapping: {
      key: 'alert.alertId',
      status: 'action',
      firing: ['Create'],
      resolved: ['Close', 'Resolve'],
      title: 'alert.message',
      body: 'alert.description',
      component: ['alert.entity', 'alert.alias'],
      started: 'alert.createdAt',
      severity: 'alert.priority',
    },
  },
} as const satisfies Record<string, Preset>;

const NAMES = Object.keys(INTAKE_PRESETS) as (keyof typeof INTAKE_PRESETS)[];

export const IntakeSchema = z
  .strictObject({
    id: IdSchema.describe('Its address: /-/intake/<id>.'),
    page: SlugSchema.describe('The page that its incidents are on.'),
    preset: z.enum(NAMES).optional().describe('Who sends: its payload is known.'),
    mapping: MappingSchema.optional().describe('Where things stand in the payload of any other sender.'),
    header: z
      .string()
      .regex(/^[a-z0-9-]{1,64}$/i, 'expected a header name')
      .default('authorization')
      .describe('Name of the header that carries a secret, in authorization as Bearer.'),
    secrets: z.array(SecretSchema).min(1).max(2).describe('One, or two while the secret is being changed.'),
    signature: SignatureSchema.optional().describe(
      'Where the sender signs the body instead (HMAC-SHA-256, hexadecimal). Default: as the preset does.',
    ),
    components: z
      .record(z.string(), z.string())
      .default({})
      .describe('Components of the page by what the sender calls them, where that is not their id or name.'),
    severities: z.record(z.string(), StateSchema).default({}).describe('What a component is by the sender’s severity.'),
    state: StateSchema.default('degraded').describe('What a component is at any other severity.'),
    published: z.boolean().default(true).describe('False: incidents begin as drafts.'),
  })
  .refine(({ preset, mapping }) => (preset === undefined) !== (mapping === undefined), {
    path: ['preset'],
    error: `name one of ${NAMES.join(', ')}, or give a mapping`,
  })
  .transform(({ preset, mapping, signature, ...intake }) => {
    const known: Preset | undefined = preset === undefined ? undefined : INTAKE_PRESETS[preset];
    const signed = signature ?? known?.signature;
    return {
      ...intake,
      mapping: mapping ?? MappingSchema.parse(known?.mapping),
      signature: signed === undefined ? null : SignatureSchema.parse(signed),
    };
  });
export type IntakeConfig = z.output<typeof IntakeSchema>;
