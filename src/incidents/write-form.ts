/** Turns the operators’ form into posts. Its fields correspond to requests of the API. */

import { type EpochMs, toIso } from '../model/time.ts';
import type { IncidentPost } from '../sync/connectors/markdown/schema.ts';
import type { WrittenPost } from '../sync/connectors/markdown/written.ts';
import { parseInstant } from '../sync/connectors/wire.ts';
import { applyChange, newPost, overridePost } from './change-post.ts';
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
import { componentRef, type WritingPage, type WrittenStory } from './writing-page.ts';

export const FORM_KINDS = ['incident', 'maintenance', 'announcement', 'override'] as const;
export type FormKind = (typeof FORM_KINDS)[number];

interface FormContext {
  readonly writing: WritingPage;
  readonly now: EpochMs;
  /** The post to change; null: a new one. */
  readonly own: WrittenStory | null;
}

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
          scheduled_for: instantText(form, 'scheduled_for', writing),
          scheduled_until: instantText(form, 'scheduled_until', writing),
          scheduled_repeat: text('scheduled_repeat') ?? null,
        }),
    deliver_notifications: form.get('deliver_notifications') === 'true',
    published: form.get('step') !== 'draft',
  };
  if (own === null) {
    const { incident } = checked(NewIncidentSchema, { incident: requested });
    if (kind === 'maintenance' && requested.scheduled_for === undefined)
      throw faultAt('scheduled_for', 'a maintenance window needs a start');
    return newPost(incident, { writing, now });
  }
  const { incident } = checked(IncidentChangeSchema, { incident: requested });
  return applyChange(own.document, incident, { writing, now });
}

/** The latest state that an incident declared for each component, with the form's names. */
export function lastDeclared(own: WrittenStory | null): ReadonlyMap<string, string> {
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
function instantText(form: URLSearchParams, name: string, { model }: WritingPage): string | undefined {
  const text = form.get(name)?.trim() ?? '';
  if (text === '') return undefined;
  const at = parseInstant(text, model.settings.timezone);
  if (at === null) throw faultAt(name, 'expected a time such as 2026-11-21 22:00');
  return toIso(at);
}

function readAnnouncement(form: URLSearchParams, { writing, now }: FormContext): WrittenPost {
  const until = instantText(form, 'until', writing);
  const announcement = {
    name: form.get('name') ?? '',
    body: form.get('body') ?? '',
    level: form.get('level') ?? 'info',
  };
  const { name: title, body, level } = checked(NewAnnouncementSchema, announcement);
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
