/** Schemas of Statuspage's public API, and of incidents in its manage API. */

import { z } from 'zod';
import { IdSchema, InstantSchema, ListSchema, NameSchema, TextSchema } from '../../sync/connectors/wire.ts';
import type { Reasons } from '../site.ts';

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

const IDS = ['id', 'page_id', 'created_at', 'updated_at', 'shortlink', 'monitoring_at', 'object', 'incident_id'];
const MAILS = 'visitors subscribe again, and what was sent is not sent twice';
/** Keys of components that aren't imported. */
export const COMPONENT_KEYS: Reasons = {
  ...Object.fromEntries([...IDS, 'status', 'start_date', 'components', 'position'].map((key) => [key, null])),
  showcase: 'Pharos shows the uptime of each component; see `show_uptime`',
  automation_email: 'set `intake` in pharos.yaml',
};
/** Keys of incidents and maintenance that aren't imported. */
export const EVENT_KEYS: Reasons = {
  ...Object.fromEntries(
    IDS.flatMap((key) => [
      [key, null],
      [`incident_updates[].${key}`, null],
    ]),
  ),
  'components[].status': null,
  ...Object.fromEntries(
    ['created_at', 'updated_at', 'position', 'description', 'showcase', 'group_id', 'page_id', 'group', 'start_date']
      .concat(['only_show_if_degraded', 'automation_email'])
      .map((key) => [`components[].${key}`, null]),
  ),
  'incident_updates[].affected_components[].old_status': null,
  'incident_updates[].affected_components[].name': null,
  ...Object.fromEntries(
    ['deliver_notifications', 'wants_twitter_update', 'custom_tweet', 'tweet_id', 'twitter_updated_at'].map((key) => [
      `incident_updates[].${key}`,
      MAILS,
    ]),
  ),
  ...Object.fromEntries(
    [
      'postmortem_notified_subscribers',
      'postmortem_notified_twitter',
      'postmortem_ignored',
      'postmortem_body_last_updated_at',
    ]
      .concat([
        'scheduled_reminded_at',
        'scheduled_remind_prior',
        'scheduled_auto_in_progress',
        'scheduled_auto_completed',
      ])
      .concat([
        'scheduled_auto_transition',
        'auto_transition_to_maintenance_state',
        'auto_transition_to_operational_state',
      ])
      .concat(['auto_transition_deliver_notifications_at_start', 'auto_transition_deliver_notifications_at_end'])
      .concat([
        'auto_tweet_at_beginning',
        'auto_tweet_on_completion',
        'auto_tweet_on_creation',
        'auto_tweet_one_hour_before',
      ])
      .concat(['reminder_intervals'])
      .map((key) => [key, MAILS]),
  ),
  impact_override: null,
  backfilled: null,
  metadata: 'Pharos keeps no metadata',
};
