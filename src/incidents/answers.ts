/** What is answered, in the shape of Statuspage's manage API: that of the v2 JSON, and what only writers need. */

import { z } from 'zod';
import type { PageIncident, PageMaintenance } from '../model/page.ts';
import { toIso } from '../model/time.ts';
import { isOpen } from '../views/incident/events.ts';
import { type V2ComponentSet, v2ComponentSet } from '../views/v2/components.ts';
import { v2Incident, v2Maintenance } from '../views/v2/incidents.ts';
import type { V2Component } from '../views/v2/types.ts';
import { hasOwnImpact } from './change-post.ts';
import { isPlan, storyOf, type WritingPage, type WrittenStory } from './writing-page.ts';

export const ComponentAnswerSchema = z.object({
  id: z.string(),
  page_id: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  status: z.enum(['operational', 'degraded_performance', 'partial_outage', 'major_outage', 'under_maintenance']),
  group: z.boolean(),
  group_id: z.string().nullable(),
  position: z.int(),
  created_at: z.string(),
  updated_at: z.string(),
  start_date: z.string().nullable(),
  showcase: z.boolean(),
  only_show_if_degraded: z.boolean(),
  components: z.array(z.string()).optional(),
  override: z.string().nullish().describe('Pharos only: state set by an operator until removed; null: none.'),
});

const UpdateAnswerSchema = z.object({
  id: z.string(),
  incident_id: z.string(),
  status: z.string(),
  body: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
  display_at: z.string(),
  deliver_notifications: z.boolean(),
  affected_components: z.array(z.unknown()).nullable(),
  custom_tweet: z.null(),
  tweet_id: z.null(),
});

export const IncidentAnswerSchema = z.object({
  id: z.string(),
  page_id: z.string(),
  name: z.string(),
  status: z.string(),
  impact: z.string(),
  impact_override: z.string().nullable(),
  created_at: z.string(),
  updated_at: z.string(),
  started_at: z.string(),
  monitoring_at: z.string().nullable(),
  resolved_at: z.string().nullable(),
  scheduled_for: z.string().nullable(),
  scheduled_until: z.string().nullable(),
  shortlink: z.string(),
  incident_updates: z.array(UpdateAnswerSchema),
  components: z.array(ComponentAnswerSchema),
  reminder_intervals: z.null(),
  metadata: z.object({}),
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

/** A story of the page. */
export function incidentAnswer(
  { model }: WritingPage,
  story: PageIncident | PageMaintenance,
  own: WrittenStory | null,
): IncidentAnswer {
  const components: V2ComponentSet = v2ComponentSet(model);
  const told = isPlan(story) ? v2Maintenance(model, components, story) : v2Incident(model, components, story);
  const post = own?.document.post;
  const silent = new Set(own?.document.updates.filter(({ notify }) => notify === false).map(({ at }) => toIso(at)));
  return {
    ...told,
    impact_override:
      post?.type === 'incident' && !hasOwnImpact(post) ? post.impact : isPlan(story) ? 'maintenance' : null,
    scheduled_for: 'scheduled_for' in told ? told.scheduled_for : null,
    scheduled_until: 'scheduled_until' in told ? told.scheduled_until : null,
    incident_updates: told.incident_updates.map((update) => ({
      ...update,
      affected_components: update.affected_components === null ? null : [...update.affected_components],
      deliver_notifications: !silent.has(update.created_at),
      custom_tweet: null,
      tweet_id: null,
    })),
    components: told.components.map((component) => ({ ...plainComponent(component) })),
    reminder_intervals: null,
    metadata: {},
    published: post?.draft !== true,
    version: own?.row.version ?? null,
  };
}

function plainComponent({ components, ...rest }: V2Component): Omit<ComponentAnswer, 'override'> {
  return { ...rest, ...(components === undefined ? {} : { components: [...components] }) };
}

/** Which incidents a list is of. */
const LISTS = {
  all: () => true,
  unresolved: (story: PageIncident | PageMaintenance) => (isPlan(story) ? story.status !== 'completed' : isOpen(story)),
  scheduled: (story: PageIncident | PageMaintenance) => isPlan(story) && story.status !== 'completed',
  upcoming: (story: PageIncident | PageMaintenance) => isPlan(story) && story.status === 'scheduled',
  active_maintenance: (story: PageIncident | PageMaintenance) =>
    isPlan(story) && (story.status === 'in_progress' || story.status === 'verifying'),
} as const;
export type ListName = keyof typeof LISTS;

/** As many as the original gives on a page of a list. */
const LISTED_MAX = 100;

/** Stories of the page, newest first. */
export function incidentList(writing: WritingPage, name: ListName): readonly IncidentAnswer[] {
  const { model, written } = writing;
  const own = new Map(
    written.flatMap((one) => {
      const story = storyOf(writing, one.row.id);
      return story === null ? [] : [[story, one] as const];
    }),
  );
  const startOf = (story: PageIncident | PageMaintenance): number => (isPlan(story) ? story.startsAt : story.startedAt);
  return [...model.incidents, ...model.maintenances]
    .filter((story) => LISTS[name](story))
    .toSorted((a, b) => startOf(b) - startOf(a))
    .slice(0, LISTED_MAX)
    .map((story) => incidentAnswer(writing, story, own.get(story) ?? null));
}

/** Components and groups in the order of the page. */
export function componentList(writing: WritingPage): readonly ComponentAnswer[] {
  const { all, byId } = v2ComponentSet(writing.model);
  const ids = new Map([...byId].map(([id, { id: known }]) => [known, id]));
  return all.map((component) => ({
    ...plainComponent(component),
    override: component.group ? null : overrideOf(writing, ids.get(component.id) ?? ''),
  }));
}

/** Overrides of a component of the page that nobody has taken back; each names it `<definition id>/<component id>`. */
export function overridesOf(written: readonly WrittenStory[], componentId: string): readonly WrittenStory[] {
  return written.filter(
    ({ document: { post } }) =>
      post.type === 'override' && post.component.endsWith(`/${componentId}`) && post.to === undefined,
  );
}

function overrideOf({ written }: WritingPage, componentId: string): string | null {
  const post = overridesOf(written, componentId).at(-1)?.document.post;
  return post?.type === 'override' ? post.state : null;
}
