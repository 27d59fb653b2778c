/** Schemas of Statuspage's public API, and of incidents in its manage API. */

import { z } from 'zod';
import { IdSchema, InstantSchema, ListSchema, NameSchema, TextSchema } from '../../sync/connectors/wire.ts';

const WhenSchema = InstantSchema.nullish().catch(null);

/** Lists that a document may contain; the manage API returns plain lists. */
export const DocumentSchema = z.object({
  page: z
    .object({ name: NameSchema, page_description: TextSchema.catch(null) })
    .nullish()
    .catch(null),
  components: ListSchema,
  incidents: ListSchema,
  scheduled_maintenances: ListSchema,
});

export const ComponentSchema = z.object({
  id: IdSchema,
  name: NameSchema,
  description: TextSchema.catch(null),
  group: z.boolean().nullish().catch(null),
  group_id: IdSchema.nullish().catch(null),
  position: z.number().nullish().catch(null),
  only_show_if_degraded: z.boolean().nullish().catch(null),
});
export type Component = z.output<typeof ComponentSchema>;

export const UpdateSchema = z.object({
  id: IdSchema.nullish().catch(null),
  status: z.unknown().optional(),
  body: TextSchema,
  created_at: InstantSchema,
  display_at: WhenSchema,
  affected_components: z
    .array(z.object({ code: IdSchema, new_status: z.unknown().optional() }))
    .nullish()
    .catch(null),
});

export const EventSchema = z.object({
  id: IdSchema,
  name: NameSchema,
  status: z.unknown().optional(),
  impact: z.unknown().optional(),
  created_at: InstantSchema,
  started_at: WhenSchema,
  resolved_at: WhenSchema,
  scheduled_for: WhenSchema,
  scheduled_until: WhenSchema,
  postmortem_body: TextSchema.catch(null),
  postmortem_published_at: WhenSchema,
  incident_updates: z.array(z.unknown()).nullish(),
  components: z
    .array(z.object({ id: IdSchema, name: z.string().nullish().catch(null) }))
    .nullish()
    .catch(null),
});
export type Event = z.output<typeof EventSchema>;

/** All keys that the import reads, to find those that it doesn't. */
export const ReadEventsSchema = z.array(EventSchema.extend({ incident_updates: z.array(UpdateSchema).nullish() }));
