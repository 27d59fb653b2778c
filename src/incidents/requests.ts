/**
 * Requests in the format of Statuspage's manage API, and refusals. Unknown keys are ignored, because clients send many
 * that have no meaning here.
 */

import { z } from 'zod';
import { ANNOUNCEMENT_LEVELS, INCIDENT_IMPACTS, INCIDENT_STATUSES } from '../model/observation.ts';
import { MAINTENANCE_STATUSES } from '../model/page.ts';
import type { State } from '../model/state.ts';
import type { EpochMs } from '../model/time.ts';
import { checkOwn, type Fault, faultText } from '../schema/issue-words.ts';
import { LocaleSchema } from '../schema/scalars.ts';
import { REPEAT_RULE } from '../sync/connectors/markdown/schema.ts';
import { parseInstant } from '../sync/connectors/wire.ts';

/** About twenty screens. In the worst case, the time to render Markdown grows with the square of its length. */
const BODY_CHARS_MAX = 10_000;
const COMPONENTS_MAX = 500;
/** Deeper quotes and lists are unreadable. */
const NESTED_MAX = 20;

const COMPONENT_STATUSES = {
  operational: 'operational',
  degraded_performance: 'degraded',
  partial_outage: 'partial_outage',
  major_outage: 'major_outage',
  under_maintenance: 'maintenance',
} as const satisfies Record<string, State>;
type ComponentStatus = keyof typeof COMPONENT_STATUSES;
type DeclaredState = (typeof COMPONENT_STATUSES)[ComponentStatus];

/** Translates Statuspage's status of a component into a state. */
export function declaredState(status: ComponentStatus): DeclaredState {
  return COMPONENT_STATUSES[status];
}

/** Translates a state into Statuspage's status. */
export function declaredStatus(state: DeclaredState): ComponentStatus {
  const found = Object.entries(COMPONENT_STATUSES).find(([, ours]) => ours === state);
  return (found?.[0] ?? 'operational') as ComponentStatus;
}

const NameSchema = z
  .string()
  .trim()
  .min(1)
  .max(256)
  .regex(/^\P{Cc}*$/u, 'expected one line')
  .describe('One line; shown as the heading.');
const BodySchema = z
  .string()
  .max(BODY_CHARS_MAX)
  .regex(/^(?:\P{Cc}|[\t\r\n])*$/u, 'has control characters')
  .refine((text) => !isBomb(text), 'is nested too deeply: at most 20 levels of quotes, lists or brackets')
  .describe('Markdown of the update.');
/** Forms have no booleans. */
const FlagSchema = z.union([z.boolean(), z.enum(['true', 'false', '1', '0'])]);
const InstantSchema = z
  .string()
  .refine((text) => parseInstant(text, 'UTC') !== null, 'expected a date and time such as 2026-11-21T22:00:00Z');
const ComponentStatusSchema = z.enum(Object.keys(COMPONENT_STATUSES) as [ComponentStatus, ...ComponentStatus[]]);
const ComponentIdSchema = z.string().min(1).max(300);
const ComponentIdsSchema = z.array(ComponentIdSchema).max(COMPONENTS_MAX);
const DescriptionSchema = z
  .string()
  .trim()
  .max(1_000)
  .regex(/^(?:\P{Cc}|[\t\r\n])*$/u, 'has control characters')
  .transform((text) => (text === '' ? null : text))
  .nullish();
const STATUSES = [...INCIDENT_STATUSES, ...MAINTENANCE_STATUSES] as const;

const TranslationsSchema = z
  .record(LocaleSchema, z.strictObject({ title: NameSchema.nullish(), body: BodySchema.nullish() }).nullable())
  .optional()
  .describe(
    'Pharos only: the name and this update in other languages, { de: { title: …, body: … } }. Null takes a text away, or a language.',
  );
const NamesSchema = z
  .record(LocaleSchema, NameSchema.nullable())
  .optional()
  .describe('Pharos only: the name in other languages, { de: … }. Null takes one away.');

const IncidentFields = {
  name: NameSchema.optional(),
  status: z
    .enum(STATUSES)
    .optional()
    .describe(
      'For an incident investigating, identified, monitoring, resolved or postmortem; for maintenance the others.',
    ),
  body: BodySchema.optional(),
  translations: TranslationsSchema,
  impact_override: z
    .enum([...INCIDENT_IMPACTS, 'maintenance'])
    .nullish()
    .describe('Default: from the worst declared state.'),
  component_ids: ComponentIdsSchema.optional().describe(
    'Affected components, by their id in the page’s v2 JSON or in the configuration.',
  ),
  components: z
    .record(ComponentIdSchema, ComponentStatusSchema.or(z.literal('')))
    .refine((all) => Object.keys(all).length <= COMPONENTS_MAX, `at most ${COMPONENTS_MAX} components`)
    .optional()
    .describe(
      'Declared state of each, from now until another is declared or the incident ends. Empty: it is affected, and no state is declared. A list of ids is the same as component_ids.',
    ),
  scheduled_for: InstantSchema.nullish().describe(
    'Start of the maintenance window. Setting it makes this maintenance and not an incident.',
  ),
  scheduled_until: InstantSchema.nullish().describe('End of the maintenance window.'),
  scheduled_repeat: z
    .string()
    .regex(REPEAT_RULE, 'expected a rule such as FREQ=WEEKLY;BYDAY=SU')
    .nullish()
    .describe('Pharos only: recurrence rule (RFC 5545) of the maintenance.'),
  backfilled: FlagSchema.optional().describe('True: a past incident; nobody is notified.'),
  backfill_date: z.iso.date().optional().describe('Day of a past incident, if started_at is not set.'),
  started_at: InstantSchema.optional().describe('Pharos only: start of a past incident.'),
  resolved_at: InstantSchema.optional().describe('Pharos only: end of a past incident.'),
  deliver_notifications: FlagSchema.optional().describe(
    'Whether subscribers and channels are notified of this update. Default: true.',
  ),
  published: FlagSchema.optional().describe(
    'Pharos only: false keeps it a draft, which only a preview shows. Default: true.',
  ),
};

/** `POST incidents`. */
export const NewIncidentSchema = z.looseObject({ incident: z.looseObject({ ...IncidentFields, name: NameSchema }) });
/** `PATCH incidents/<id>`. */
export const IncidentChangeSchema = z.looseObject({ incident: z.looseObject(IncidentFields) });
/** `PATCH incidents/<id>/incident_updates/<id>`. */
export const UpdateChangeSchema = z.looseObject({
  incident_update: z.looseObject({
    body: BodySchema.optional(),
    translations: TranslationsSchema,
    deliver_notifications: FlagSchema.optional(),
    display_at: InstantSchema.optional().describe('Only the time that the update has: it can’t be moved.'),
  }),
});
/** `PUT incidents/<id>/postmortem`. */
export const PostmortemSchema = z.looseObject({
  postmortem: z.looseObject({
    body_draft: BodySchema.min(1).describe('Markdown; nobody sees it until it is published.'),
  }),
});
/** `PUT incidents/<id>/postmortem/publish`. */
export const PublishPostmortemSchema = z.looseObject({
  postmortem: z.looseObject({ notify_subscribers: FlagSchema.optional().describe('Default: false.') }).optional(),
});

const ComponentFields = {
  name: NameSchema.optional(),
  names: NamesSchema,
  description: DescriptionSchema,
  status: ComponentStatusSchema.optional().describe('Stays until it is set to operational.'),
  group_id: ComponentIdSchema.nullish().describe('Id of the group; null: it is in none.'),
  showcase: FlagSchema.optional().describe('Returned; changes nothing.'),
  only_show_if_degraded: FlagSchema.optional().describe('Returned; changes nothing.'),
  start_date: z.iso.date().optional().describe('Returned; changes nothing.'),
};
/** `POST components`. */
export const NewComponentSchema = z.looseObject({ component: z.looseObject({ ...ComponentFields, name: NameSchema }) });
/** `PATCH components/<id>`. */
export const ComponentChangeSchema = z.looseObject({ component: z.looseObject(ComponentFields) });
export type ComponentRequest = z.output<typeof ComponentChangeSchema>['component'];

const GroupFields = {
  name: NameSchema.optional(),
  names: NamesSchema,
  description: DescriptionSchema.describe('Returned; pages don’t show it.'),
  components: ComponentIdsSchema.optional().describe('Ids of all components of the group.'),
};
/** `POST component-groups`. */
export const NewGroupSchema = z.looseObject({
  description: DescriptionSchema,
  component_group: z.looseObject({ ...GroupFields, name: NameSchema }),
});
/** `PATCH component-groups/<id>`. */
export const GroupChangeSchema = z.looseObject({
  description: DescriptionSchema,
  component_group: z.looseObject(GroupFields),
});

/** `POST subscribers`. */
export const NewSubscriberSchema = z.looseObject({
  subscriber: z.looseObject({
    email: z.string().max(320),
    component_ids: ComponentIdsSchema.optional().describe('Default: all of the page.'),
    skip_confirmation_notification: FlagSchema.optional().describe('Only false: every subscriber has to confirm.'),
  }),
});

/**
 * Parses a body. Clients send unset fields as null or as empty text.
 *
 * @param kept names of fields for which null or empty text has a meaning
 * @throws Refusal 422
 */
export function readRequest<Schema extends z.ZodType>(schema: Schema, body: unknown, kept: readonly string[] = []) {
  if (!isObject(body)) return checked(schema, body);
  const isGiven = ([name, value]: readonly [string, unknown]): boolean =>
    kept.includes(name) || (value !== null && value !== '');
  const withoutUnset = (value: unknown): unknown =>
    isObject(value) ? Object.fromEntries(Object.entries(value).filter(isGiven)) : value;
  return checked(schema, Object.fromEntries(Object.entries(body).map(([name, value]) => [name, withoutUnset(value)])));
}

/** The same for an incident: `components` may be a list instead of a map, and `message` is an old name for `body`. */
export function readIncident<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const { incident } = (body ?? {}) as { readonly incident?: unknown };
  if (!isObject(incident)) return readRequest(schema, body);
  const { components, message, ...others } = incident;
  const listed = z.array(z.string()).safeParse(components);
  return readRequest(
    schema,
    {
      incident: {
        ...(message === undefined ? {} : { body: message }),
        ...others,
        components: listed.success ? Object.fromEntries(listed.data.map((id) => [id, ''])) : components,
      },
    },
    ['scheduled_repeat'],
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** For the form only: Statuspage’s API has no announcements. */
export const NewAnnouncementSchema = z.object({
  name: NameSchema,
  body: BodySchema,
  level: z.enum(ANNOUNCEMENT_LEVELS),
});

export type UpdateRequest = z.output<typeof UpdateChangeSchema>['incident_update'];
export type IncidentRequest = z.output<typeof IncidentChangeSchema>['incident'];
export type NewIncidentRequest = z.output<typeof NewIncidentSchema>['incident'];

/** Reads a flag, which forms send as text. */
export function isSet(flag: z.output<typeof FlagSchema> | undefined, otherwise: boolean): boolean {
  return flag === undefined ? otherwise : flag === true || flag === 'true' || flag === '1';
}

/** Parses an instant that a schema has validated. */
export function instantIn(text: string): EpochMs {
  const at = parseInstant(text, 'UTC');
  if (at === null) throw new TypeError(`${text} was not checked`);
  return at;
}

/** A foreign text as the text of an update: cut to the limit, without control characters; empty: nested too deeply. */
export function foreignBody(text: string): string {
  const whole = text.replace(/[^\P{Cc}\t\r\n]/gu, '').trim();
  const head = whole.slice(0, BODY_CHARS_MAX - 1).replace(/[\uD800-\uDBFF]$/, '');
  const body = whole.length > BODY_CHARS_MAX ? `${head.trimEnd()}…` : whole;
  return BodySchema.safeParse(body).success ? body : '';
}

/** Whether a text is nested so deeply that it is unreadable and expensive to render. */
function isBomb(text: string): boolean {
  const quotes = new RegExp(`^[ \\t]*(?:(?:>|[-*+]|\\d{1,9}[.)])[ \\t]*){${NESTED_MAX + 1}}`, 'm');
  return quotes.test(text) || /\[{20}|!?\[(?:!?\[){20}|\({40}|[*_~`]{200}/.test(text);
}

/** A request that is rejected with this HTTP status. Nothing was written. */
export class Refusal extends Error {
  readonly status: number;
  readonly issues: readonly Fault[];

  constructor(status: number, message: string, issues: readonly Fault[] = []) {
    super(message);
    this.name = 'Refusal';
    this.status = status;
    this.issues = issues;
  }
}

/** Rejects with 422 and several issues. */
export function unprocessable(issues: readonly Fault[]): Refusal {
  return new Refusal(422, issues.map(faultText).join('; '), issues);
}

/** Rejects with 422 and one issue. */
export function faultAt(path: string, message: string): Refusal {
  return unprocessable([{ path, message }]);
}

/** Parses a value. @throws Refusal 422 with every issue and its path */
export function checked<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const parsed = checkOwn(schema, value);
  if (!parsed.success) throw unprocessable(parsed.faults);
  return parsed.data;
}
