/** Responses in the format of Statuspage's manage API: the v2 JSON, plus the fields that only writers need. */

import { z } from 'zod';
import type { GroupDefinition } from '../model/observation.ts';
import type { PageIncident, PageMaintenance } from '../model/page.ts';
import { toIso } from '../model/time.ts';
import type { MadeComponent } from '../store/written.ts';
import { type V2Component, v2ComponentSet, v2GroupId, v2PageId } from '../views/v2/components.ts';
import { v2Incident, v2Maintenance } from '../views/v2/incidents.ts';
import { hasOwnImpact } from './change-post.ts';
import { isMaintenance, storyOf, type WritingPage, type WrittenStory } from './writing-page.ts';

/** Fields that say the same kind of thing. */
export function fields<Schema extends z.ZodType, Name extends string>(schema: Schema, ...names: readonly Name[]) {
  return Object.fromEntries(names.map((name) => [name, schema])) as Record<Name, Schema>;
}

const NullableSchema = z.string().nullable();
const NamesAnswerSchema = z
  .record(z.string(), z.string())
  .optional()
  .describe('Pharos only: the name in other languages, of what was made here.');

export const ComponentAnswerSchema = z.object({
  ...fields(z.string(), 'id', 'page_id', 'name'),
  description: NullableSchema,
  status: z.enum(['operational', 'degraded_performance', 'partial_outage', 'major_outage', 'under_maintenance']),
  group: z.boolean(),
  group_id: NullableSchema,
  position: z.int(),
  ...fields(z.string(), 'created_at', 'updated_at'),
  start_date: NullableSchema,
  ...fields(z.boolean(), 'showcase', 'only_show_if_degraded'),
  automation_email: z.null(),
  names: NamesAnswerSchema,
  components: z.array(z.string()).optional(),
  override: z.string().nullish().describe('Pharos only: state set by an operator until removed; null: none.'),
});

export const GroupAnswerSchema = z.object({
  ...fields(z.string(), 'id', 'page_id', 'name'),
  names: NamesAnswerSchema,
  description: NullableSchema,
  components: z.array(z.string()),
  position: z.int(),
  ...fields(NullableSchema, 'created_at', 'updated_at'),
});

export const UpdateAnswerSchema = z.object({
  ...fields(z.string(), 'id', 'incident_id', 'status', 'body', 'created_at', 'updated_at', 'display_at'),
  deliver_notifications: z.boolean(),
  affected_components: z.array(z.unknown()).nullable(),
  ...fields(z.null(), 'custom_tweet', 'tweet_id', 'twitter_updated_at'),
  wants_twitter_update: z.boolean(),
});

export const PostmortemAnswerSchema = z.object({
  preview_key: z.null(),
  ...fields(NullableSchema, 'body', 'body_updated_at', 'body_draft', 'body_draft_updated_at', 'published_at'),
  ...fields(z.boolean(), 'notify_subscribers', 'notify_twitter'),
  custom_tweet: z.null(),
  ...fields(z.string(), 'created_at', 'updated_at'),
});

/** Statuspage's fields with the same value for every incident here. */
const SAME_OF_ALL = {
  postmortem_ignored: false,
  postmortem_notified_twitter: false,
  scheduled_auto_in_progress: true,
  scheduled_auto_completed: true,
  scheduled_remind_prior: false,
  scheduled_reminded_at: null,
  auto_transition_deliver_notifications_at_start: true,
  auto_transition_deliver_notifications_at_end: true,
  auto_transition_to_maintenance_state: true,
  auto_transition_to_operational_state: true,
} as const;

export const IncidentAnswerSchema = z.object({
  ...fields(z.string(), 'id', 'page_id', 'name', 'status', 'impact'),
  impact_override: NullableSchema,
  ...fields(z.string(), 'created_at', 'updated_at', 'started_at'),
  ...fields(NullableSchema, 'monitoring_at', 'resolved_at', 'scheduled_for', 'scheduled_until'),
  shortlink: z.string(),
  incident_updates: z.array(UpdateAnswerSchema),
  components: z.array(ComponentAnswerSchema),
  reminder_intervals: z.null(),
  metadata: z.object({}),
  ...fields(NullableSchema, 'postmortem_body', 'postmortem_body_last_updated_at', 'postmortem_published_at'),
  postmortem_notified_subscribers: z.boolean(),
  ...(Object.fromEntries(Object.entries(SAME_OF_ALL).map(([name, value]) => [name, z.literal(value)])) as {
    [Name in keyof typeof SAME_OF_ALL]: z.ZodLiteral<(typeof SAME_OF_ALL)[Name]>;
  }),
  published: z.boolean().describe('Pharos only: false while it is a draft.'),
  version: z
    .int()
    .nullable()
    .describe(
      'Pharos only: increases with every change, for If-Match. Null: it comes from elsewhere and can’t be changed here.',
    ),
});
export type IncidentAnswer = z.output<typeof IncidentAnswerSchema>;
type ComponentAnswer = z.output<typeof ComponentAnswerSchema>;

/** The response for an incident or a maintenance of the page. */
export function incidentAnswer({ model }: WritingPage, story: Story, own: WrittenStory | null): IncidentAnswer {
  const components = v2ComponentSet(model);
  const v2 = isMaintenance(story) ? v2Maintenance(model, components, story) : v2Incident(model, components, story);
  const post = own?.document.post;
  const postmortem = v2.incident_updates.find(({ status }) => status === 'postmortem');
  const silent = new Set(own?.document.updates.filter(({ notify }) => notify === false).map(({ at }) => toIso(at)));
  return {
    ...v2,
    impact_override:
      post?.type === 'incident' && !hasOwnImpact(post) ? post.impact : isMaintenance(story) ? 'maintenance' : null,
    scheduled_for: 'scheduled_for' in v2 ? v2.scheduled_for : null,
    scheduled_until: 'scheduled_until' in v2 ? v2.scheduled_until : null,
    incident_updates: v2.incident_updates.map((update) => ({
      ...update,
      affected_components: update.affected_components === null ? null : [...update.affected_components],
      deliver_notifications: update.deliver_notifications && !silent.has(update.created_at),
      custom_tweet: null,
      tweet_id: null,
      twitter_updated_at: null,
      wants_twitter_update: false,
    })),
    components: v2.components.map(plainComponent),
    reminder_intervals: null,
    metadata: {},
    postmortem_body: postmortem?.body ?? null,
    postmortem_body_last_updated_at: postmortem?.updated_at ?? null,
    postmortem_published_at: postmortem?.created_at ?? null,
    postmortem_notified_subscribers: postmortem !== undefined && !silent.has(postmortem.created_at),
    ...SAME_OF_ALL,
    published: post?.draft !== true,
    version: own?.row.version ?? null,
  };
}

function plainComponent({ components, ...rest }: V2Component): Omit<ComponentAnswer, 'override'> {
  return { ...rest, automation_email: null, ...(components === undefined ? {} : { components: [...components] }) };
}

export type Story = PageIncident | PageMaintenance;

/**
 * Incidents and maintenances in a list, newest first.
 *
 * @param query text in the name, the status or an update; empty: all
 */
export function findStories({ model }: WritingPage, isListed: (story: Story) => boolean, query: string) {
  const startOf = (story: Story): number => (isMaintenance(story) ? story.startsAt : story.startedAt);
  const wanted = query.toLowerCase();
  const isFound = ({ title, status, updates }: Story): boolean =>
    [title, status, ...updates.map(({ body }) => body)].some((text) => text.toLowerCase().includes(wanted));
  return [...model.incidents, ...model.maintenances]
    .filter((story) => isListed(story) && (wanted === '' || isFound(story)))
    .toSorted((a, b) => startOf(b) - startOf(a));
}

/** The responses for a list, each with its post if it was written here. */
export function incidentAnswers(writing: WritingPage, stories: readonly Story[]): readonly IncidentAnswer[] {
  const own = new Map(
    writing.written.flatMap((one) => {
      const story = storyOf(writing, one.row.id);
      return story === null ? [] : [[story, one] as const];
    }),
  );
  return stories.map((story) => incidentAnswer(writing, story, own.get(story) ?? null));
}

/** Components and groups in the order of the page, followed by empty groups. */
export function componentList(writing: WritingPage): readonly ComponentAnswer[] {
  const { model, made } = writing;
  const { all, byId } = v2ComponentSet(model);
  const ids = new Map([
    ...[...byId].map(([id, { id: known }]) => [known, id] as const),
    ...model.groups.map(({ id }) => [v2GroupId(model, id), id] as const),
  ]);
  const known = new Set(all.map(({ id }) => id));
  const empty = model.groups.filter(({ id }) => !known.has(v2GroupId(model, id)));
  return [...all, ...empty.map((group, index) => emptyGroup(writing, group, all.length + index + 1))].map((one) => {
    const id = ids.get(one.id) ?? '';
    return {
      ...plainComponent(one),
      ...madeSettings(made.get(id)),
      override: one.group ? null : overrideStatus(writing, id),
    };
  });
}

function emptyGroup({ model, made }: WritingPage, { id, name }: GroupDefinition, position: number): V2Component {
  const at = toIso(made.get(id)?.createdAt ?? model.knownSince);
  return {
    ...{ id: v2GroupId(model, id), page_id: v2PageId(model), name, description: null, position },
    ...{ status: 'operational', group: true, group_id: null, components: [], showcase: true },
    ...{ only_show_if_degraded: false, start_date: null, created_at: at, updated_at: at },
  };
}

/** Settings that are stored and returned for clients, but have no effect. */
function madeSettings(made: MadeComponent | undefined): Partial<ComponentAnswer> {
  if (made === undefined) return {};
  const { names, description, showcase, onlyIfDegraded, startDate } = made;
  return {
    ...{ description, showcase, only_show_if_degraded: onlyIfDegraded },
    ...(startDate === null ? {} : { start_date: startDate }),
    ...(names === undefined ? {} : { names }),
  };
}

/** Open overrides of a component. Each names it as `<definition id>/<component id>`. */
export function openOverrides(written: readonly WrittenStory[], componentId: string): readonly WrittenStory[] {
  return written.filter(
    ({ document: { post } }) =>
      post.type === 'override' && post.component.endsWith(`/${componentId}`) && post.to === undefined,
  );
}

function overrideStatus({ written }: WritingPage, componentId: string): string | null {
  const post = openOverrides(written, componentId).at(-1)?.document.post;
  return post?.type === 'override' ? post.state : null;
}
