/** The operators' form as it is drawn: what is open on a page, and the fields of what is being written. Pure. */

import type { PageConfig } from '../config/schema.ts';
import { INCIDENT_STATUSES } from '../model/observation.ts';
import { MAINTENANCE_STATUSES } from '../model/page.ts';
import { type EpochMs, toIso } from '../model/time.ts';
import { hidesPrivate } from '../publish/page/page-inputs.ts';
import type { Fault } from '../schema/issue-words.ts';
import type { FormField, OpenStory } from '../views/operators/ops-write.ts';
import { statusOf } from './requests.ts';
import { declaredBefore, type FormKind } from './write-form.ts';
import { isPlan, storyOf, type WritingPage, type WrittenStory } from './writing-page.ts';

export type Template = NonNullable<PageConfig['templates']>[number];

const STATE_WORDS: Readonly<Record<string, string>> = {
  '': 'Not affected',
  named: 'Affected, state unchanged',
  operational: 'Operational',
  degraded_performance: 'Degraded',
  partial_outage: 'Partial outage',
  major_outage: 'Major outage',
  under_maintenance: 'Under maintenance',
};
const REPEATS: Readonly<Record<string, string>> = {
  '': 'Once',
  'FREQ=DAILY': 'Every day',
  'FREQ=WEEKLY': 'Every week',
  'FREQ=WEEKLY;INTERVAL=2': 'Every two weeks',
  'FREQ=MONTHLY': 'Every month',
};

const optionsOf = (words: Readonly<Record<string, string>>) =>
  Object.entries(words).map(([value, text]) => ({ value, text }));
const words = (list: readonly string[]) => list.map((value) => ({ value, text: capital(value.replaceAll('_', ' ')) }));

interface FormInit {
  readonly kind: FormKind;
  readonly writing: WritingPage;
  /** The post that is changed; null: a new one. */
  readonly own: WrittenStory | null;
  readonly template: Template | null;
  /** What was sent and is shown again; null: nothing was sent. */
  readonly sent: URLSearchParams | null;
  readonly faults: readonly Fault[];
}

/** The fields of a form, with what was sent, what is stored, or what a template says. */
export function formFields({ kind, writing, own, template, sent, faults }: FormInit): readonly FormField[] {
  const field = (init: Omit<FormField, 'fault' | 'value'> & { readonly value?: string }): FormField => ({
    ...init,
    value: sent?.get(init.name) ?? init.value ?? '',
    fault: faults.find(({ path }) => path === init.name)?.message ?? null,
  });
  if (kind === 'override') return overrideFields(writing, field);
  const post = own?.document.post;
  const title = field({
    name: 'name',
    label: 'Title',
    type: 'text',
    isRequired: true,
    value: post?.title ?? template?.title ?? '',
  });
  const isDraft = post?.draft === true;
  const publish = field({
    name: 'published',
    label: 'Publish',
    type: 'select',
    value: isDraft ? 'false' : 'true',
    options: [
      { value: 'true', text: 'Now' },
      { value: 'false', text: 'Later (save as a draft)' },
    ],
  });
  const body = field({
    name: 'body',
    label: own === null ? 'Message for visitors' : 'Update',
    type: 'area',
    hint: 'You can use Markdown.',
    value: own === null ? (template?.body ?? '') : '',
  });
  if (kind === 'announcement') {
    const level = field({
      name: 'level',
      label: 'Kind',
      type: 'select',
      options: words(['info', 'warning', 'success']),
    });
    const until = field({
      name: 'until',
      label: 'Until',
      type: 'time',
      hint: zoneHint(writing, 'Leave empty to show it until you remove it.'),
    });
    return [title, body, level, until, publish];
  }
  const notify = field({
    name: 'deliver_notifications',
    label: 'Notify subscribers',
    type: 'select',
    value: 'true',
    options: [
      { value: 'true', text: 'Yes' },
      { value: 'false', text: 'No' },
    ],
  });
  const before = declaredBefore(own);
  const components = writing.model.components.map(({ definition, name }) =>
    field({
      name: `components.${definition.id}`,
      label: name,
      type: 'select',
      value: before.get(definition.id) ?? template?.components[definition.id] ?? '',
      options: optionsOf(kind === 'maintenance' ? { '': 'Not affected', named: 'Under maintenance' } : STATE_WORDS),
    }),
  );
  const status = statusField(kind, own, field);
  return [
    title,
    ...(status === null ? [] : [status]),
    body,
    ...(kind === 'maintenance' ? timeFields(writing, own, field) : []),
    ...components,
    notify,
    publish,
  ];
}

type MakeField = (init: Omit<FormField, 'fault' | 'value'> & { readonly value?: string }) => FormField;

/** A maintenance begins and ends by itself; of one that is there somebody may say more. */
function statusField(kind: 'incident' | 'maintenance', own: WrittenStory | null, field: MakeField): FormField | null {
  const known = own?.document.updates.findLast(({ status }) => status !== null)?.status ?? null;
  if (kind === 'incident')
    return field({
      name: 'status',
      label: 'Status',
      type: 'select',
      value: known ?? 'investigating',
      options: words(INCIDENT_STATUSES),
    });
  if (own === null) return null;
  const options = [{ value: '', text: 'Unchanged' }, ...words(MAINTENANCE_STATUSES.slice(1))];
  return field({ name: 'status', label: 'Status', type: 'select', options });
}

function timeFields(writing: WritingPage, own: WrittenStory | null, field: MakeField): readonly FormField[] {
  const post = own?.document.post;
  const plan = post?.type === 'maintenance' ? post : null;
  const clock = (text: string | undefined): string => (text === undefined ? '' : wallClock(text, writing));
  const hint = zoneHint(writing, '');
  const repeats =
    plan?.repeat === undefined || plan.repeat in REPEATS ? REPEATS : { ...REPEATS, [plan.repeat]: plan.repeat };
  return [
    field({ name: 'scheduled_for', label: 'Starts', type: 'time', value: clock(plan?.starts), hint, isRequired: true }),
    field({ name: 'scheduled_until', label: 'Ends', type: 'time', value: clock(plan?.ends), hint, isRequired: true }),
    field({
      name: 'scheduled_repeat',
      label: 'Repeats',
      type: 'select',
      value: plan?.repeat ?? '',
      options: optionsOf(repeats),
    }),
  ];
}

function overrideFields({ model }: WritingPage, field: MakeField): readonly FormField[] {
  const { '': _, named: __, operational: ___, ...states } = STATE_WORDS;
  return [
    field({
      name: 'component',
      label: 'Component',
      type: 'select',
      options: model.components.map(({ definition, name }) => ({ value: definition.id, text: name })),
    }),
    field({ name: 'status', label: 'State', type: 'select', options: optionsOf(states) }),
  ];
}

function zoneHint({ model }: WritingPage, more: string): string {
  return `In ${model.settings.timezone}. ${more}`.trim();
}

/** As an input for times has it: `2026-11-21T22:00`. */
function wallClock(text: string, { model }: WritingPage): string {
  return Temporal.Instant.from(text)
    .toZonedDateTimeISO(model.settings.timezone)
    .toPlainDateTime()
    .toString({ smallestUnit: 'minute' });
}

/** What is open, or not published, with where it is changed. */
export function openStories(writing: WritingPage, now: EpochMs): readonly OpenStory[] {
  return writing.written
    .filter((one) => isOpenPost(one, writing, now))
    .map((one): OpenStory => {
      const { row, document } = one;
      const { post } = document;
      const story = storyOf(writing, row.id);
      const isHidden = row.isPrivate && hidesPrivate(writing.page);
      const facts = [
        post.type === 'override' ? `Override: ${STATE_WORDS[statusOf(post.state)] ?? post.state}` : capital(post.type),
        ...(story === null ? [] : [story.status.replaceAll('_', ' ')]),
        ...(post.draft ? ['draft'] : []),
        ...(isHidden ? ['hidden, because it was written while the page was private'] : []),
        `changed ${toIso(row.updatedAt).slice(0, 16).replace('T', ' ')} UTC by ${row.actor}`,
      ];
      const isStory = post.type === 'incident' || post.type === 'maintenance';
      return {
        id: row.id,
        version: row.version,
        isHidden,
        title: post.title,
        facts: facts.join(', '),
        note: document.note ?? null,
        href: isStory ? `write?page=${writing.page.definition.slug}&kind=${post.type}&id=${row.id}` : null,
        removal: post.type === 'override' ? 'Remove' : 'Delete',
      };
    })
    .toReversed();
}

function isOpenPost({ row, document: { post } }: WrittenStory, writing: WritingPage, now: EpochMs): boolean {
  if (post.draft) return true;
  if (post.type === 'override') return post.to === undefined;
  if (post.type === 'announcement') return post.to === undefined || post.to > toIso(now);
  const story = storyOf(writing, row.id);
  if (story === null) return true;
  return isPlan(story) ? story.status !== 'completed' : story.endedAt === null || story.endedAt > now;
}

function capital(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}
