/** The view of the operators' form: open posts of a page, and the fields of the form. Pure. */

import type { IncidentTemplate } from '../config/schema.ts';
import { INCIDENT_STATUSES } from '../model/observation.ts';
import { MAINTENANCE_STATUSES, type PageIncident, type PageMaintenance } from '../model/page.ts';
import { type EpochMs, toIso } from '../model/time.ts';
import { hidesPrivate } from '../publish/page-inputs.ts';
import type { Fault } from '../schema/issue-words.ts';
import { listSections } from '../views/model/sections.ts';
import type { FormField, OpenStory, OpsWriteView } from '../views/operators/ops-write.ts';
import { pickerView } from '../views/picker.ts';
import { absoluteUrl, incidentPath, maintenancePath } from '../views/text/addresses.ts';
import { declaredStatus } from './requests.ts';
import { type FormKind, lastDeclared } from './write-form.ts';
import { isMaintenance, storyOf, type WritingPage, type WrittenStory } from './writing-page.ts';

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

const listOptions = (words: Readonly<Record<string, string>>) =>
  Object.entries(words).map(([value, text]) => ({ value, text }));
const words = (list: readonly string[]) => list.map((value) => ({ value, text: capital(value.replaceAll('_', ' ')) }));

interface FormInit {
  readonly kind: FormKind;
  readonly writing: WritingPage;
  /** The post to change; null: a new one. */
  readonly own: WrittenStory | null;
  readonly template: IncidentTemplate | null;
  /** Submitted values, to show again; null: nothing was submitted. */
  readonly sent: URLSearchParams | null;
  readonly faults: readonly Fault[];
}

type FormParts = Pick<OpsWriteView['form'], 'fields' | 'components' | 'last' | 'canDraft'>;

/** Fields with the submitted values, or those of the stored post, or those of a template. */
export function formParts(init: FormInit): FormParts {
  const { kind, writing, own, template, sent, faults } = init;
  const field: MakeField = (made) => ({
    ...made,
    // Browsers don’t send unchecked boxes.
    value: sent === null ? (made.value ?? '') : (sent.get(made.name) ?? ''),
    fault: faults.find(({ path }) => path === made.name)?.message ?? null,
  });
  if (kind === 'override')
    return { fields: overrideFields(writing, field), components: null, last: [], canDraft: false };
  const post = own?.document.post;
  const canDraft = post === undefined || post.draft;
  const title = field({
    name: 'name',
    label: 'Title',
    type: 'text',
    isRequired: true,
    value: post?.title ?? template?.title ?? '',
  });
  const body = field({
    name: 'body',
    label: own === null ? 'Message for visitors' : 'Update',
    type: 'area',
    hint: 'You can use Markdown.',
    value: own === null ? (template?.body ?? '') : '',
  });
  if (kind === 'announcement')
    return { fields: [title, body, ...announcementFields(writing, field)], components: null, last: [], canDraft };
  const notify = field({
    name: 'deliver_notifications',
    label: 'Notify subscribers and channels',
    type: 'check',
    value: 'true',
  });
  const status = statusField({ kind, own, template }, field);
  return {
    fields: [
      title,
      ...(status === null ? [] : [status]),
      body,
      ...translationFields(init, field),
      ...(kind === 'maintenance' ? timeFields(writing, own, field) : []),
    ],
    components: componentPicker({ ...init, kind }),
    last: [notify],
    canDraft,
  };
}

/** Title and text in the page's other languages. Where one is empty, visitors see the main language. */
function translationFields({ writing: { model }, own }: FormInit, field: MakeField): readonly FormField[] {
  const post = own?.document.post;
  const known = post?.type === 'incident' || post?.type === 'maintenance' ? post.translations : undefined;
  return (model.settings.languages?.all.slice(1) ?? []).flatMap((tag) => [
    field({ name: `title.${tag}`, label: `Title (${tag})`, type: 'text', value: known?.[tag]?.title ?? '' }),
    field({ name: `body.${tag}`, label: `Text (${tag})`, type: 'area' }),
  ]);
}

/** For an incident, each component gets a state; a maintenance only names them. */
function componentPicker({
  kind,
  writing,
  own,
  template,
  sent,
}: FormInit & { readonly kind: 'incident' | 'maintenance' }): FormParts['components'] {
  if (writing.model.components.length === 0) return null;
  const before = lastDeclared(own);
  const item = (name: string, label: string, known: string) => {
    const value = sent === null ? known : (sent.get(name) ?? '');
    const isChosen = value !== '';
    if (kind === 'maintenance') return { name, label: [label], value: 'named', isChosen };
    return { name, label: [label], value, isChosen, options: listOptions(STATE_WORDS) };
  };
  const listed = listSections(writing.model).flatMap(({ group, members }) =>
    members.map(({ definition: { id }, plainName, name }) => ({ id, name: group === null ? name : plainName, group })),
  );
  return pickerView(listed, {
    legend: 'Components',
    search: 'Find a component or group',
    itemFor: ({ id, name }) =>
      item(`components.${id}`, name, before.get(id) ?? (own === null ? template?.components[id] : undefined) ?? ''),
    wholeFor: ({ id, name }) => {
      const whole = item(`groups.${id}`, `All of ${name}`, '');
      return kind === 'maintenance' ? whole : { ...whole, options: listOptions({ ...STATE_WORDS, '': 'As below' }) };
    },
  });
}

function announcementFields(writing: WritingPage, field: MakeField): readonly FormField[] {
  return [
    field({ name: 'level', label: 'Kind', type: 'select', options: words(['info', 'warning', 'success']) }),
    field({
      name: 'until',
      label: 'Until',
      type: 'time',
      hint: zoneHint(writing, 'Leave empty to show it until you remove it.'),
    }),
  ];
}

type MakeField = (init: Omit<FormField, 'fault' | 'value'> & { readonly value?: string }) => FormField;

/** A new maintenance has no status field, because it begins and ends by itself. */
function statusField(
  { kind, own, template }: Pick<FormInit, 'kind' | 'own' | 'template'>,
  field: MakeField,
): FormField | null {
  const known = own?.document.updates.findLast(({ status }) => status !== null)?.status ?? null;
  if (kind === 'incident')
    return field({
      name: 'status',
      label: 'Status',
      type: 'select',
      value: known ?? template?.status ?? 'investigating',
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
      options: listOptions(repeats),
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
    field({ name: 'status', label: 'State', type: 'select', options: listOptions(states) }),
  ];
}

function zoneHint({ model }: WritingPage, more: string): string {
  return `In ${model.settings.timezone}. ${more}`.trim();
}

/** The value of an input for times: `2026-11-21T22:00`. */
function wallClock(text: string, { model }: WritingPage): string {
  return Temporal.Instant.from(text)
    .toZonedDateTimeISO(model.settings.timezone)
    .toPlainDateTime()
    .toString({ smallestUnit: 'minute' });
}

/**
 * Open and unpublished posts, with links to change them; then open incidents and maintenances from elsewhere,
 * read-only.
 */
export function openStories(writing: WritingPage, now: EpochMs): readonly OpenStory[] {
  const own = writing.written
    .filter((one) => isOpenPost(one, writing, now))
    .map((one): OpenStory => {
      const { row, document } = one;
      const { post } = document;
      const story = storyOf(writing, row.id);
      const isHidden = row.isPrivate && hidesPrivate(writing.page);
      const facts = [
        post.type === 'override'
          ? `Override: ${STATE_WORDS[declaredStatus(post.state)] ?? post.state}`
          : capital(post.type),
        ...(story === null ? [] : [story.status.replaceAll('_', ' ')]),
        ...(post.draft ? ['draft'] : []),
        ...(isHidden ? ['hidden, because it was written while the page was private'] : []),
        `changed ${writeMinute(row.updatedAt)} by ${row.actor}`,
      ];
      const isStory = post.type === 'incident' || post.type === 'maintenance';
      return {
        title: post.title,
        facts: facts.join(', '),
        note: document.note ?? null,
        href: isStory ? `write?page=${writing.page.definition.slug}&kind=${post.type}&id=${row.id}` : null,
        own: { id: row.id, version: row.version, isHidden, removal: post.type === 'override' ? 'Remove' : 'Delete' },
      };
    });
  return [...own.toReversed(), ...foreignStories(writing, now)];
}

function foreignStories(writing: WritingPage, now: EpochMs): readonly OpenStory[] {
  const { model, written } = writing;
  const own = new Set(written.map(({ row }) => storyOf(writing, row.id)));
  return [...model.incidents, ...model.maintenances]
    .filter((story) => !own.has(story) && isOpenStory(story, now))
    .map((story): OpenStory => {
      const plan = isMaintenance(story);
      const isAutomatic = !plan && story.isAutomatic;
      return {
        title: story.title,
        facts: [
          plan ? 'Maintenance' : 'Incident',
          story.status.replaceAll('_', ' '),
          ...(plan
            ? [`${writeMinute(story.startsAt)} to ${writeMinute(story.endsAt)}`]
            : [`since ${writeMinute(story.startedAt)}`]),
          isAutomatic ? 'detected automatically' : `from ${storySource(story)}`,
          'read-only',
        ].join(', '),
        note: isAutomatic ? 'To take it over, publish an incident that names the same components.' : null,
        href: absoluteUrl(model, plan ? maintenancePath(story.slug) : incidentPath(story.slug)),
        own: null,
      };
    });
}

/** The id doesn’t name an upstream if the story took over a detected one. */
function storySource({ id }: PageIncident | PageMaintenance): string {
  return id.includes('/') ? id.slice(0, id.indexOf('/')) : 'an upstream';
}

function isOpenPost({ row, document: { post } }: WrittenStory, writing: WritingPage, now: EpochMs): boolean {
  if (post.draft) return true;
  if (post.type === 'override') return post.to === undefined;
  if (post.type === 'announcement') return post.to === undefined || post.to > toIso(now);
  const story = storyOf(writing, row.id);
  return story === null || isOpenStory(story, now);
}

function isOpenStory(story: PageIncident | PageMaintenance, now: EpochMs): boolean {
  return isMaintenance(story) ? story.status !== 'completed' : story.endedAt === null || story.endedAt > now;
}

function writeMinute(at: EpochMs): string {
  return `${toIso(at).slice(0, 16).replace('T', ' ')} UTC`;
}

function capital(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}
