/** Answers of the Statuspage v2 API. Only what is read is named; sentences for other networks and the like are dropped. */

import { z } from 'zod';
import { IdSchema, InstantSchema, ListSchema, NameSchema, TextSchema } from '../wire.ts';

/** States now, what is open, and what is planned or under way. Some services leave the last list out when it is empty. */
export const SummarySchema = z.object({
  components: z.array(z.unknown()),
  incidents: z.array(z.unknown()),
  scheduled_maintenances: ListSchema,
});

export const IncidentsSchema = z.object({ incidents: z.array(z.unknown()) });
export const MaintenancesSchema = z.object({ scheduled_maintenances: z.array(z.unknown()) });

export const ComponentSchema = z.object({
  id: IdSchema,
  name: NameSchema,
  status: z.unknown().optional(),
  description: TextSchema,
  group: z.boolean().nullish().catch(null),
  group_id: IdSchema.nullish().catch(null),
  created_at: InstantSchema.nullish().catch(null),
});
export type Component = z.output<typeof ComponentSchema>;

const UpdateSchema = z.object({
  id: IdSchema,
  status: z.unknown().optional(),
  body: TextSchema,
  created_at: InstantSchema,
  display_at: InstantSchema.nullish().catch(null),
});

const EventSchema = z.object({
  id: IdSchema,
  name: NameSchema,
  status: z.unknown().optional(),
  updated_at: InstantSchema.nullish().catch(null),
  resolved_at: InstantSchema.nullish().catch(null),
  incident_updates: z.array(UpdateSchema).nullish(),
  /** Null: it cannot be read which. */
  components: z
    .array(z.object({ id: IdSchema }))
    .nullish()
    .catch(null),
});

export const IncidentSchema = EventSchema.extend({
  impact: z.unknown().optional(),
  created_at: InstantSchema,
  started_at: InstantSchema.nullish().catch(null),
});
export type Incident = z.output<typeof IncidentSchema>;

export const MaintenanceSchema = EventSchema.extend({ scheduled_for: InstantSchema, scheduled_until: InstantSchema });
export type Maintenance = z.output<typeof MaintenanceSchema>;

/** What of an open incident says whether a component that is "operational" can be believed. */
export const AlarmSchema = z.object({
  status: z.unknown().optional(),
  impact: z.unknown().optional(),
  components: z.array(z.object({ id: IdSchema })),
});
