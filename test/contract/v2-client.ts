/** What a strict client of the Statuspage v2 shape expects, written from the shape's description and not from our code. */

import { z } from 'zod';

const Id = z.string().regex(/^[a-z0-9]{12}$/);
const Time = z.iso.datetime({ precision: 3 }).refine((text) => text.endsWith('Z'));
const Page = z.strictObject({ id: Id, name: z.string(), url: z.url(), time_zone: z.string(), updated_at: Time });
const Status = z.strictObject({
  indicator: z.enum(['none', 'minor', 'major', 'critical', 'maintenance']),
  description: z.string().min(1),
});
const ComponentStatus = z.enum([
  'operational',
  'degraded_performance',
  'partial_outage',
  'major_outage',
  'under_maintenance',
]);
const componentFields = {
  id: Id,
  name: z.string(),
  status: ComponentStatus,
  created_at: Time,
  updated_at: Time,
  position: z.int().positive(),
  description: z.string().nullable(),
  showcase: z.boolean(),
  start_date: z.iso.date().nullable(),
  group_id: Id.nullable(),
  page_id: Id,
  only_show_if_degraded: z.boolean(),
};
const Component = z.union([
  z.strictObject({ ...componentFields, group: z.literal(false) }),
  z.strictObject({ ...componentFields, group: z.literal(true), components: z.array(Id) }),
]);

function updateOf<Word extends z.ZodType>(status: Word) {
  return z.strictObject({
    id: Id,
    status,
    body: z.string(),
    incident_id: Id,
    created_at: Time,
    updated_at: Time,
    display_at: Time,
    affected_components: z
      .array(z.strictObject({ code: Id, name: z.string(), old_status: ComponentStatus, new_status: ComponentStatus }))
      .min(1)
      .nullable(),
    deliver_notifications: z.boolean(),
    custom_tweet: z.string().nullable(),
    tweet_id: z.string().nullable(),
  });
}

function eventFields<Word extends z.ZodType>(status: Word) {
  return {
    id: Id,
    name: z.string(),
    status,
    created_at: Time,
    updated_at: Time,
    monitoring_at: Time.nullable(),
    resolved_at: Time.nullable(),
    impact: z.enum(['none', 'minor', 'major', 'critical', 'maintenance']),
    shortlink: z.url(),
    started_at: Time,
    page_id: Id,
    incident_updates: z.array(updateOf(status)).min(1),
    components: z.array(Component),
    reminder_intervals: z.string().nullable(),
  };
}

const Incident = z.strictObject(
  eventFields(z.enum(['investigating', 'identified', 'monitoring', 'resolved', 'postmortem'])),
);
const Maintenance = z.strictObject({
  ...eventFields(z.enum(['scheduled', 'in_progress', 'verifying', 'completed'])),
  scheduled_for: Time,
  scheduled_until: Time,
});

const Incidents = z.strictObject({ page: Page, incidents: z.array(Incident) });
const Maintenances = z.strictObject({ page: Page, scheduled_maintenances: z.array(Maintenance) });

/** Each address of the tree with what it answers. Unknown keys are refused. */
export const V2_CLIENT = {
  'summary.json': z.strictObject({
    page: Page,
    components: z.array(Component),
    incidents: z.array(Incident),
    scheduled_maintenances: z.array(Maintenance),
    status: Status,
  }),
  'status.json': z.strictObject({ page: Page, status: Status }),
  'components.json': z.strictObject({ page: Page, components: z.array(Component) }),
  'incidents.json': Incidents,
  'incidents/unresolved.json': Incidents,
  'scheduled-maintenances.json': Maintenances,
  'scheduled-maintenances/upcoming.json': Maintenances,
  'scheduled-maintenances/active.json': Maintenances,
} as const;

export type V2Address = keyof typeof V2_CLIENT;
/** What a client gets at an address. */
export type V2Answer<Address extends V2Address> = z.output<(typeof V2_CLIENT)[Address]>;
export const V2_ADDRESSES = Object.keys(V2_CLIENT) as V2Address[];
