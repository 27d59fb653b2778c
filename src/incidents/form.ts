/** The operators' form: what it shows (open posts of a page, and fields), and turning it into posts. Pure. */

import type { IncidentTemplate } from '../config/schema.ts';
import { INCIDENT_STATUSES, isOverStatus } from '../model/observation.ts';
import { MAINTENANCE_STATUSES, type PageIncident, type PageMaintenance, type PageModel } from '../model/page.ts';
import { type EpochMs, toIso } from '../model/time.ts';
import { hidesPrivate } from '../publish/page-inputs.ts';
import type { Fault } from '../schema/issue-words.ts';
import type { IncidentPost, PostUpdate } from '../sync/connectors/markdown/schema.ts';
import type { WrittenPost } from '../sync/connectors/markdown/written.ts';
import { parseInstant } from '../sync/connectors/wire.ts';
import { listSections } from '../views/model/sections.ts';
import type { FormField, OpenStory, OpsWriteView } from '../views/operators/ops-write.ts';
import { pickerView } from '../views/picker.ts';
import { absoluteUrl, incidentPath, maintenancePath } from '../views/text/addresses.ts';
import { applyChange, hasText, newPost, overridePost } from './change-post.ts';
import {
  ComponentChangeSchema,
  checked,
  declaredState,
  declaredStatus,
  faultAt,
  IncidentChangeSchema,
  NewAnnouncementSchema,
  NewIncidentSchema,
  Refusal,
  unprocessable,
} from './requests.ts';
import { componentRef, isMaintenance, storyOf, type WritingPage, type WrittenStory } from './writing-page.ts';

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

/** Fields with the submitted values, or those of the stored post, or those of a template. */
export function formParts(init: FormInit): Pick<OpsWriteView['form'], 'fields' | 'components' | 'last' | 'canDraft'> {
  const { kind, writing, own, template, sent, faults } = init;
  const field: MakeField = (name, label, type, { value = '', ...more } = {}) => ({
    ...{ name, label, type, ...more },
    // Browsers don’t send unchecked boxes.
    value: sent === null ? value : (sent.get(name) ?? ''),
    fault: faults.find(({ path }) => path === name)?.message ?? null,
  });
  if (kind === 'override')
    return { fields: overrideFields(writing, field), components: null, last: [], canDraft: false };
  const post = own?.document.post;
  const canDraft = post === undefined || post.draft;
  const title = field('name', 'Title', 'text', { isRequired: true, value: post?.title ?? template?.title });
  const body = field('body', own === null ? 'Message for visitors' : 'Update', 'area', {
    hint: 'You can use Markdown.',
    value: own === null ? template?.body : draftedText(own)?.body,
  });
  if (kind === 'announcement')
    return { fields: [title, body, ...announcementFields(writing, field)], components: null, last: [], canDraft };
  const notify = field('deliver_notifications', 'Notify subscribers and channels', 'check', { value: 'true' });
  return {
    fields: [
      title,
      ...statusFields(init, field),
      body,
      ...translationFields(init, field),
      ...(kind === 'maintenance' ? timeFields(writing, own, field) : []),
    ],
    components: componentPicker(init, kind),
    last: [notify],
    canDraft,
  };
}

type MakeField = (
  name: string,
  label: string,
  type: FormField['type'],
  more?: Pick<FormField, 'hint' | 'options' | 'isRequired'> & { readonly value?: string | undefined },
) => FormField;

/** Title and text in the page's other languages. Where one is empty, visitors see the main language. */
function translationFields({ writing: { model }, own }: FormInit, field: MakeField): readonly FormField[] {
  const post = own?.document.post;
  const known = post?.type === 'incident' || post?.type === 'maintenance' ? post.translations : undefined;
  const drafted = draftedText(own);
  return (model.settings.languages?.all.slice(1) ?? []).flatMap((tag) => [
    field(`title.${tag}`, `Title (${tag})`, 'text', { value: known?.[tag]?.title }),
    field(`body.${tag}`, `Text (${tag})`, 'area', { value: drafted && (drafted.bodies?.[tag] ?? known?.[tag]?.body) }),
  ]);
}

/** The text of a draft that has one, which the form shows and replaces; undefined: the form adds an update. */
function draftedText(own: WrittenStory | null): Pick<PostUpdate, 'body' | 'bodies'> | undefined {
  const { post, opening, updates } = own?.document ?? { opening: '', updates: [] };
  if (post?.draft !== true || updates.length > (post.type === 'incident' ? 1 : 0)) return undefined;
  if (post.type === 'maintenance') return { body: opening };
  return isOverStatus(updates[0]?.status ?? null) ? undefined : updates[0];
}

/** For an incident, each component gets a state; a maintenance only names them. */
function componentPicker({ writing, own, template, sent }: FormInit, kind: 'incident' | 'maintenance') {
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
  const hint = zoneHint(writing, 'Leave empty to show it until you remove it.');
  return [
    field('level', 'Kind', 'select', { options: words(['info', 'warning', 'success']) }),
    field('until', 'Until', 'time', { hint }),
  ];
}

/** A new maintenance has no status field, because it begins and ends by itself. */
function statusFields({ kind, own, template }: FormInit, field: MakeField): readonly FormField[] {
  const value = lastStatus(own) ?? template?.status ?? 'investigating';
  if (kind === 'incident') return [field('status', 'Status', 'select', { value, options: words(INCIDENT_STATUSES) })];
  const options = [{ value: '', text: 'Unchanged' }, ...words(MAINTENANCE_STATUSES.slice(1))];
  return own === null ? [] : [field('status', 'Status', 'select', { options })];
}

const lastStatus = (own: WrittenStory | null) =>
  own?.document.updates.findLast(({ status }) => status !== null)?.status;

function timeFields(writing: WritingPage, own: WrittenStory | null, field: MakeField): readonly FormField[] {
  const post = own?.document.post;
  const plan = post?.type === 'maintenance' ? post : null;
  const time = (name: string, label: string, known: string | undefined): FormField => {
    const value = known === undefined ? '' : wallClock(known, writing);
    return field(name, label, 'time', { value, hint: zoneHint(writing, ''), isRequired: true });
  };
  const value = plan?.repeat;
  const repeats = value === undefined || value in REPEATS ? REPEATS : { ...REPEATS, [value]: value };
  return [
    time('scheduled_for', 'Starts', plan?.starts),
    time('scheduled_until', 'Ends', plan?.ends),
    field('scheduled_repeat', 'Repeats', 'select', { value, options: listOptions(repeats) }),
  ];
}

function overrideFields({ model }: WritingPage, field: MakeField): readonly FormField[] {
  const { '': _, named: __, operational: ___, ...states } = STATE_WORDS;
  const options = model.components.map(({ definition, name }) => ({ value: definition.id, text: name }));
  return [
    field('component', 'Component', 'select', { options }),
    field('status', 'State', 'select', { options: listOptions(states) }),
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
  const { model, written } = writing;
  const own = new Set(written.map(({ row }) => storyOf(writing, row.id)));
  return [
    ...written
      .filter((one) => isOpenPost(one, writing, now))
      .map((one) => ownStory(one, writing))
      .toReversed(),
    ...[...model.incidents, ...model.maintenances]
      .filter((story) => !own.has(story) && isOpenStory(story, now))
      .map((story) => foreignStory(story, model)),
  ];
}

function ownStory({ row, document }: WrittenStory, writing: WritingPage): OpenStory {
  const { post, note } = document;
  const story = storyOf(writing, row.id);
  const isHidden = row.isPrivate && hidesPrivate(writing.page);
  const isStory = post.type === 'incident' || post.type === 'maintenance';
  const facts = [
    post.type === 'override'
      ? `Override: ${STATE_WORDS[declaredStatus(post.state)] ?? post.state}`
      : capital(post.type),
    ...(story === null ? [] : [story.status.replaceAll('_', ' ')]),
    ...(post.draft ? ['draft'] : []),
    ...(isHidden ? ['hidden, because it was written while the page was private'] : []),
    `changed ${writeMinute(row.updatedAt)} by ${row.actor}`,
  ];
  return {
    ...{ title: post.title, facts: facts.join(', '), note: note ?? null },
    href: isStory ? `write?page=${writing.page.definition.slug}&kind=${post.type}&id=${row.id}` : null,
    own: { id: row.id, version: row.version, isHidden, removal: post.type === 'override' ? 'Remove' : 'Delete' },
  };
}

function foreignStory(story: PageIncident | PageMaintenance, model: PageModel): OpenStory {
  const plan = isMaintenance(story);
  const isAutomatic = !plan && story.isAutomatic;
  // The id doesn’t name an upstream if the story took over a detected one.
  const source = story.id.includes('/') ? story.id.slice(0, story.id.indexOf('/')) : 'an upstream';
  const facts = [
    plan ? 'Maintenance' : 'Incident',
    story.status.replaceAll('_', ' '),
    plan ? `${writeMinute(story.startsAt)} to ${writeMinute(story.endsAt)}` : `since ${writeMinute(story.startedAt)}`,
    isAutomatic ? 'detected automatically' : `from ${source}`,
    'read-only',
  ];
  return {
    ...{ title: story.title, facts: facts.join(', '), own: null },
    note: isAutomatic ? 'To take it over, publish an incident that names the same components.' : null,
    href: absoluteUrl(model, plan ? maintenancePath(story.slug) : incidentPath(story.slug)),
  };
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

export function capital(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

// Turns the operators’ form into posts. Its fields correspond to requests of the API.

export const FORM_KINDS = ['incident', 'maintenance', 'announcement', 'override'] as const;
export type FormKind = (typeof FORM_KINDS)[number];

type FormContext = Pick<FormInit, 'writing' | 'own'> & { readonly now: EpochMs };

/** Reads a form into a post. @throws Refusal with field names as paths */
export function readPost(kind: FormKind, form: URLSearchParams, context: FormContext): WrittenPost {
  try {
    if (kind === 'announcement') return readAnnouncement(form, context);
    if (kind === 'override') return readOverride(form, context);
    return readStory(kind, form, context);
  } catch (error) {
    if (!(error instanceof Refusal) || error.issues.length === 0) throw error;
    // Paths of the API as names of fields.
    const toField = (path: string): string => path.replace(/^(?:incident|component|announcement)\.?/, '');
    throw unprocessable(error.issues.map(({ path, message }) => ({ path: toField(path), message })));
  }
}

function readStory(kind: 'incident' | 'maintenance', form: URLSearchParams, context: FormContext): WrittenPost {
  const { writing, own, now } = context;
  const plan = own?.document.post.type === 'maintenance' ? own.document.post : undefined;
  const text = (name: string): string | undefined => form.get(name)?.trim() || undefined;
  const chosen = writing.model.components.flatMap(({ definition: { id, groupId } }): [string, string][] => {
    // A state chosen for a group applies to each of its components.
    const state = form.get(`groups.${groupId}`) || form.get(`components.${id}`) || '';
    return state === '' ? [] : [[id, state]];
  });
  const before = lastDeclared(own);
  const states = chosen.filter(([id, state]) => state !== 'named' && before.get(id) !== state);
  const requested = {
    name: text('name'),
    status: text('status'),
    body: text('body'),
    translations: Object.fromEntries(
      (writing.model.settings.languages?.all.slice(1) ?? []).map((tag) => [
        tag,
        // An emptied field removes the translation.
        { title: text(`title.${tag}`) ?? null, body: text(`body.${tag}`) },
      ]),
    ),
    component_ids: chosen.map(([id]) => id),
    ...(kind === 'maintenance' || states.length === 0 ? {} : { components: Object.fromEntries(states) }),
    ...(kind === 'incident'
      ? {}
      : {
          scheduled_for: instantText(form, 'scheduled_for', writing, plan?.starts),
          scheduled_until: instantText(form, 'scheduled_until', writing, plan?.ends),
          scheduled_repeat: text('scheduled_repeat') ?? null,
        }),
    deliver_notifications: form.get('deliver_notifications') === 'true',
    published: form.get('step') !== 'draft',
  };
  const drafted = draftedText(own);
  if (own === null || (drafted !== undefined && kind === 'maintenance')) {
    const { incident } = checked(NewIncidentSchema, { incident: requested });
    if (kind === 'maintenance' && requested.scheduled_for === undefined)
      throw faultAt('scheduled_for', 'a maintenance window needs a start');
    return newPost(incident, { writing, now });
  }
  const { incident } = checked(IncidentChangeSchema, { incident: requested });
  if (drafted !== undefined) return applyChange({ ...own.document, updates: [] }, incident, { writing, now });
  // Of an incident the form always has a status. Without anything new to say, it is no update.
  const isNews = hasText(incident) || states.length > 0 || kind !== 'incident' || incident.status !== lastStatus(own);
  return applyChange(own.document, isNews ? incident : { ...incident, status: undefined }, { writing, now });
}

/** The latest state that an incident declared for each component, with the form's names. */
function lastDeclared(own: WrittenStory | null): ReadonlyMap<string, string> {
  const post = own?.document.post;
  if (post?.type !== 'incident' && post?.type !== 'maintenance') return new Map();
  const impacts = post.type === 'incident' ? (post.impacts ?? []) : [];
  const declared = Object.assign({}, ...impacts.map(({ components }) => components)) as Partial<
    NonNullable<IncidentPost['impacts']>[number]['components']
  >;
  return new Map(
    post.components.map((ref) => {
      const state = declared[ref];
      return [ref.slice(ref.lastIndexOf('/') + 1), state === undefined ? 'named' : declaredStatus(state)];
    }),
  );
}

/** Reads a local time, as browsers send it, in the page’s time zone. */
function instantText(form: URLSearchParams, name: string, writing: WritingPage, known?: string): string | undefined {
  const text = form.get(name)?.trim() ?? '';
  if (text === '') return undefined;
  // The field has neither seconds nor, when clocks go back, which of two equal hours it means.
  if (known !== undefined && text === wallClock(known, writing)) return known;
  const at = parseInstant(text, writing.model.settings.timezone);
  if (at === null) throw faultAt(name, 'expected a time such as 2026-11-21 22:00');
  return toIso(at);
}

function readAnnouncement(form: URLSearchParams, { writing, now }: FormContext): WrittenPost {
  const until = instantText(form, 'until', writing);
  const sent = { name: '', body: '', level: 'info', ...Object.fromEntries(form) };
  const { name: title, body, level } = checked(NewAnnouncementSchema, sent);
  if (until !== undefined && until <= toIso(now)) throw faultAt('until', 'must be in the future');
  return {
    post: {
      ...({ type: 'announcement', title, level, from: toIso(now) } as const),
      draft: form.get('step') === 'draft',
      ...(until === undefined ? {} : { to: until }),
      pages: [writing.model.definition.slug],
    },
    ...{ opening: body, updates: [] },
  };
}

function readOverride(form: URLSearchParams, { writing, now }: FormContext): WrittenPost {
  const component = componentRef(writing, form.get('component') ?? '', 'component');
  const { component: change } = checked(ComponentChangeSchema, { component: { status: form.get('status') ?? '' } });
  const state = declaredState(change.status ?? 'operational');
  if (state === 'operational')
    throw faultAt('status', 'an override needs a state other than operational; remove it instead');
  const name = writing.model.components.find(({ definition }) => component.endsWith(`/${definition.id}`))?.name;
  return overridePost(name ?? component, component, state, now);
}
