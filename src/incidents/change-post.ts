/** Turns requests into posts, and applies changes to existing posts. Pure. */

import { INCIDENT_STATUSES, type IncidentImpact, type IncidentStatus, isOverStatus } from '../model/observation.ts';
import { MAINTENANCE_STATUSES, type MaintenanceStatus } from '../model/page.ts';
import { isWorse, type State } from '../model/state.ts';
import { DAY_MS, type EpochMs, later, toEpochMs, toIso } from '../model/time.ts';
import { updateId } from '../sync/connectors/markdown/project.ts';
import type { IncidentPost, MaintenancePost, OverridePost, PostUpdate } from '../sync/connectors/markdown/schema.ts';
import type { WrittenPost } from '../sync/connectors/markdown/written.ts';
import {
  declaredState,
  faultAt,
  type IncidentRequest,
  instantIn,
  isSet,
  type NewIncidentRequest,
  Refusal,
  type UpdateRequest,
} from './requests.ts';
import { componentRef, findComponent, type WritingPage } from './writing-page.ts';

/** The page and the time of a change. */
interface ChangeContext {
  readonly writing: WritingPage;
  readonly now: EpochMs;
}

type Impacts = NonNullable<IncidentPost['impacts']>;

const IMPACT_OF_STATE: Partial<Readonly<Record<State, IncidentImpact>>> = {
  major_outage: 'critical',
  partial_outage: 'major',
  degraded: 'minor',
};

/** Makes a new incident or, if it is scheduled, a new maintenance. @throws Refusal 422 with the path of the error */
export function newPost(request: NewIncidentRequest, context: ChangeContext): WrittenPost {
  const isScheduled = (request.scheduled_for ?? null) !== null || (request.scheduled_until ?? null) !== null;
  return isScheduled ? newMaintenance(request, context) : newIncident(request, context);
}

/** @param begunAt if it isn’t a past one, whose times are in the request */
export function newIncident(
  request: NewIncidentRequest,
  { writing, now }: ChangeContext,
  begunAt: EpochMs = now,
): WrittenPost {
  if ((request.scheduled_repeat ?? null) !== null)
    throw faultAt('incident.scheduled_repeat', 'scheduled_repeat needs scheduled_for and scheduled_until');
  const status = incidentStatus(request.status) ?? 'investigating';
  const { startedAt, endedAt } = isSet(request.backfilled, false)
    ? readPast(request, now)
    : { startedAt: begunAt, endedAt: null };
  const { ids, declared } = namedComponents(request, writing);
  const impacts: Impacts = Object.keys(declared).length === 0 ? [] : [{ at: toIso(startedAt), components: declared }];
  return {
    post: {
      type: 'incident',
      title: request.name,
      ...readTitles(request),
      draft: !isSet(request.published, true),
      impact: impactOverride(request) ?? worstImpact(impacts),
      state: 'none',
      started: toIso(startedAt),
      ...(endedAt === null ? {} : { ended: toIso(endedAt) }),
      affects_uptime: true,
      monitors: [],
      components: ids,
      pages: [writing.page.definition.id],
      ...(impacts.length === 0 ? {} : { impacts }),
    },
    opening: '',
    updates: [readUpdate(request, endedAt ?? startedAt, status)],
  };
}

/** Reads the times of a past incident. */
function readPast(request: IncidentRequest, now: EpochMs) {
  const { started_at: started, resolved_at: resolved, backfill_date: day, status } = request;
  if (status !== undefined && status !== 'resolved' && status !== 'postmortem')
    throw faultAt('incident.status', 'a past incident must be resolved or postmortem');
  if (started === undefined && day === undefined)
    throw faultAt('incident.backfill_date', 'a past incident needs backfill_date, or started_at and resolved_at');
  const startedAt = instantIn(started ?? `${day}T00:00:00Z`);
  const endedAt = resolved === undefined ? startedAt : instantIn(resolved);
  if (startedAt > now)
    throw faultAt(started === undefined ? 'incident.backfill_date' : 'incident.started_at', 'is in the future');
  if (endedAt < startedAt) throw faultAt('incident.resolved_at', 'is before the start');
  if (endedAt > now) throw faultAt('incident.resolved_at', 'is in the future');
  return { startedAt, endedAt };
}

function newMaintenance(request: NewIncidentRequest, { writing, now }: ChangeContext): WrittenPost {
  const status = maintenanceStatus(request.status);
  const repeat = request.scheduled_repeat ?? undefined;
  const { starts, ends } = moveWindow(status, readWindow(request, null), repeat, now);
  const { ids } = namedComponents({ component_ids: request.component_ids }, writing);
  const named = namedComponents(
    { component_ids: Object.keys(request.components ?? {}) },
    writing,
    'incident.components',
  );
  const { body = '' } = request;
  const isPlain = status === undefined || status === 'scheduled';
  return {
    post: {
      type: 'maintenance',
      title: request.name,
      ...readTitles(request, undefined, isPlain),
      draft: !isSet(request.published, true),
      starts: toIso(starts),
      ends: toIso(ends),
      ...(isPlain && readNotify(request).notify === false ? { deliver_notifications: false } : {}),
      ...(repeat === undefined ? {} : { repeat }),
      monitors: [],
      components: [...new Set([...ids, ...named.ids])],
      pages: [writing.page.definition.id],
    },
    opening: isPlain ? body : '',
    updates: isPlain ? [] : [readUpdate(request, now, status)],
  };
}

/** Applies a change to a post. @throws Refusal 422 with the path of the error */
export function applyChange(document: WrittenPost, request: IncidentRequest, context: ChangeContext): WrittenPost {
  const { post } = document;
  if (post.type === 'maintenance') return applyToMaintenance({ ...document, post }, request, context);
  if (post.type === 'incident') return applyToIncident({ ...document, post }, request, context);
  throw new TypeError(`a post of type ${post.type} can’t be changed this way`);
}

function applyToIncident(
  { post, updates, ...document }: WrittenPost & { readonly post: IncidentPost },
  request: IncidentRequest,
  { writing, now }: ChangeContext,
): WrittenPost {
  for (const field of ['scheduled_for', 'scheduled_until', 'scheduled_repeat'] as const)
    if ((request[field] ?? null) !== null)
      throw faultAt(`incident.${field}`, 'an incident can’t become a maintenance window');
  const status = incidentStatus(request.status);
  const { ids, declared } = namedComponents(request, writing, undefined, request.component_ids ?? null);
  const at = updateTime(updates, instantIn(post.started), now);
  const components = [...new Set([...keptRefs(post.components, request, writing), ...ids])];
  const declares = Object.keys(declared).length > 0;
  const hasUpdate = status !== undefined || hasText(request) || declares;
  const isPublished = post.draft && isSet(request.published, false) && post.ended === undefined;
  // The newest update of a draft is said when that is published if it would be too old for notices, unless it ends the incident.
  const isLate = (one: PostUpdate): boolean =>
    isPublished && one === updates.at(-1) && now - one.at >= DAY_MS && !isOverStatus(one.status);
  const kept = updates.map((one) => (isLate(one) ? { ...one, at } : one));
  const said = hasUpdate ? [...updates, readUpdate(request, at, status)] : kept;
  const instants = new Set([instantIn(post.started), ...said.map((one) => one.at)]);
  const impacts = [...(post.impacts ?? []), ...(declares ? [{ at: toIso(at), components: declared }] : [])]
    .flatMap((impact) => keepComponents(impact, components))
    // Of an update that was replaced.
    .map((impact) => (instants.has(instantIn(impact.at)) ? impact : { ...impact, at: toIso(at) }));
  const isAutomatic = hasOwnImpact(post);
  const { impacts: _, ended, ...others } = post;
  const isReopened = status !== undefined && status !== 'resolved' && status !== 'postmortem';
  return {
    ...document,
    post: {
      ...others,
      ...(ended === undefined || isReopened ? {} : { ended }),
      ...readHead(request, post),
      impact: impactOverride(request) ?? (isAutomatic ? worstImpact(impacts) : post.impact),
      components,
      ...(impacts.length === 0 ? {} : { impacts }),
    },
    updates: said,
  };
}

function applyToMaintenance(
  { post, updates, ...document }: WrittenPost & { readonly post: MaintenancePost },
  request: IncidentRequest,
  { writing, now }: ChangeContext,
): WrittenPost {
  const status = maintenanceStatus(request.status);
  const { starts, ends } = moveWindow(status, readWindow(request, post), post.repeat, now);
  const ids = [...(request.component_ids ?? []), ...Object.keys(request.components ?? {})];
  const { ids: components } = namedComponents({ component_ids: ids }, writing);
  const repeat = request.scheduled_repeat === undefined ? post.repeat : (request.scheduled_repeat ?? undefined);
  const { repeat: _, ...kept } = post;
  const hasOtherStart = toIso(starts) !== toIso(instantIn(post.starts));
  const isMoved = hasOtherStart || toIso(ends) !== toIso(instantIn(post.ends));
  const hasUpdate = (isMoved && !post.draft) || (status !== undefined && status !== 'scheduled') || hasText(request);
  const at = updateTime(updates, toEpochMs(0), now);
  return {
    ...document,
    post: {
      ...kept,
      ...readHead(request, post),
      ...(hasOtherStart && !post.draft ? { announced_for: post.announced_for ?? post.starts } : {}),
      starts: toIso(starts),
      ends: toIso(ends),
      ...(repeat === undefined ? {} : { repeat }),
      components: [...new Set([...keptRefs(post.components, request, writing), ...components])],
    },
    updates: hasUpdate ? [...updates, readUpdate(request, at, status)] : updates,
  };
}

/** The components before a change that stay. A request can’t name those that left the page. */
const keptRefs = (refs: readonly string[], { component_ids: named }: IncidentRequest, writing: WritingPage) =>
  refs.filter((ref) => named === undefined || findComponent(writing, ref.slice(ref.lastIndexOf('/') + 1)) === null);

/** Whether a request has a text for visitors, in whichever language. */
export const hasText = ({ body, translations = {} }: IncidentRequest): boolean =>
  [body, ...Object.values(translations).map((one) => one?.body)].some((text) => (text ?? '') !== '');

/** Title, translations and draft of a post after a change. */
function readHead(request: IncidentRequest, post: IncidentPost | MaintenancePost) {
  return {
    title: request.name ?? post.title,
    ...readTitles(request, post),
    draft: !isSet(request.published, !post.draft),
  };
}

/** Declares a state of a component, until it is ended. */
export function overridePost(title: string, component: string, state: OverridePost['state'], now: EpochMs) {
  const post = { type: 'override', title: title.slice(0, 256), draft: false, component, state } as const;
  return { post: { ...post, from: toIso(now) }, opening: '', updates: [] };
}

/** Changes the text or the notification of an update. @throws Refusal 409 if nobody wrote it */
export function editUpdate(
  document: WrittenPost,
  { id, at, isFirst }: { readonly id: string; readonly at: EpochMs; readonly isFirst: boolean },
  request: UpdateRequest,
): WrittenPost {
  const { body, deliver_notifications: delivers, display_at: moved, translations = {} } = request;
  if (moved !== undefined && instantIn(moved) !== at)
    throw faultAt('incident_update.display_at', 'an update can’t be moved; delete the incident, or add an update');
  const notification = delivers === undefined ? {} : { notify: isSet(delivers, true) ? undefined : false };
  const isKnown = document.updates.some((update, index) => updateId(update, index) === id);
  if (!isKnown && isFirst && document.opening !== '') return { ...document, opening: body ?? document.opening };
  if (!isKnown) throw new Refusal(409, 'Nobody wrote this update: it says that maintenance began or ended.');
  return {
    ...document,
    updates: document.updates.map((update, index) =>
      updateId(update, index) === id
        ? { ...update, body: body ?? update.body, bodies: withBodies(update.bodies, translations), ...notification }
        : update,
    ),
  };
}

/** The published postmortem and its draft. */
export function findPostmortem({ updates, postmortem }: WrittenPost) {
  return { draft: postmortem, published: updates.findLast(({ status }) => status === 'postmortem') };
}

/** Publishes the draft. @throws Refusal 422 if there is none, or the incident is open */
export function publishPostmortem(document: WrittenPost, isNotified: boolean, now: EpochMs): WrittenPost {
  const { post, updates, postmortem: draft, ...kept } = document;
  const { published } = findPostmortem(document);
  if (post.type !== 'incident') throw faultAt('postmortem', 'only an incident can have a postmortem');
  if (draft === undefined) throw faultAt('postmortem', 'there is no draft; PUT …/postmortem writes one');
  if (published !== undefined)
    return { ...kept, post, updates: updates.map((one) => (one === published ? { ...one, body: draft.body } : one)) };
  const isOver =
    post.ended !== undefined || isOverStatus(updates.findLast(({ status }) => status !== null)?.status ?? null);
  if (!isOver) throw faultAt('postmortem', 'the incident is not resolved yet');
  const at = updateTime(updates, instantIn(post.started), now);
  const notification = isNotified ? {} : { notify: false };
  return { ...kept, post, updates: [...updates, { at, status: 'postmortem', body: draft.body, ...notification }] };
}

/** Turns the postmortem back into a draft, or removes it. The incident stays resolved. */
export function revertPostmortem(document: WrittenPost, keeps: 'draft' | 'nothing', now: EpochMs): WrittenPost {
  const { post, updates, postmortem, ...kept } = document;
  const { draft, published } = findPostmortem(document);
  const text = draft ?? (published === undefined ? undefined : { body: published.body, at: now });
  const isOver =
    updates.some(({ status }) => status === 'resolved') || (post.type === 'incident' && post.ended !== undefined);
  return {
    ...kept,
    post,
    updates: isOver
      ? updates.filter(({ status }) => status !== 'postmortem')
      : updates.map((one) => (one.status === 'postmortem' ? { ...one, status: 'resolved', body: '' } : one)),
    ...(keeps === 'nothing' || text === undefined ? {} : { postmortem: text }),
  };
}

function readWindow(request: IncidentRequest, post: MaintenancePost | null) {
  const starts = request.scheduled_for ?? post?.starts;
  const ends = request.scheduled_until ?? post?.ends;
  if (starts === undefined) throw faultAt('incident.scheduled_for', 'a maintenance window needs a start');
  if (ends === undefined) throw faultAt('incident.scheduled_until', 'a maintenance window needs an end');
  const window = { starts: instantIn(starts), ends: instantIn(ends) };
  if (window.ends <= window.starts) throw faultAt('incident.scheduled_until', 'must be after scheduled_for');
  return window;
}

/** Moves the start or end of a window to now if someone says that it began or ended early. */
function moveWindow(
  status: MaintenanceStatus | undefined,
  { starts, ends }: ReturnType<typeof readWindow>,
  repeat: MaintenancePost['repeat'],
  now: EpochMs,
) {
  const isEarlyEnd = status === 'completed' && ends > now;
  const isRunning = status === 'in_progress' || status === 'verifying';
  const isEarlyStart = isRunning && starts > now;
  if (repeat !== undefined && (isEarlyEnd || isEarlyStart))
    throw faultAt('incident.status', 'repeating maintenance follows its windows; change those, or delete it');
  if (isEarlyEnd && starts >= now)
    throw faultAt(
      'incident.status',
      'it has not started; DELETE it, or move it with scheduled_for and scheduled_until',
    );
  if (isRunning && repeat === undefined && ends <= now)
    throw faultAt('incident.status', 'the window is over; set a later scheduled_until, or the status completed');
  return { starts: isEarlyStart ? now : starts, ends: isEarlyEnd ? now : ends };
}

function incidentStatus(status: IncidentRequest['status']): IncidentStatus | undefined {
  const known = INCIDENT_STATUSES.find((word) => word === status);
  if (known === status) return known;
  const message = 'expected investigating, identified, monitoring, resolved or postmortem for an incident';
  throw faultAt('incident.status', message);
}

function maintenanceStatus(status: IncidentRequest['status']): MaintenanceStatus | undefined {
  const known = MAINTENANCE_STATUSES.find((word) => word === status);
  if (known === status) return known;
  throw faultAt('incident.status', 'expected scheduled, in_progress, verifying or completed for a maintenance');
}

/** The components in a request, and the states that it declares for them. */
function namedComponents(
  { component_ids: named = [], components = {} }: Pick<IncidentRequest, 'component_ids' | 'components'>,
  writing: WritingPage,
  path = 'incident.component_ids',
  only: readonly string[] | null = null,
) {
  const ids = named.map((id, index) => componentRef(writing, id, `${path}.${index}`));
  const affected = Object.entries(components).map(
    ([id, status]) => [componentRef(writing, id, `incident.components.${id}`), status] as const,
  );
  const stranger = only === null ? undefined : affected.find(([id]) => !ids.includes(id));
  if (stranger !== undefined) throw faultAt('incident.components', 'names a component that is not in component_ids');
  return {
    ids: [...new Set([...ids, ...affected.map(([id]) => id)])],
    declared: Object.fromEntries(
      affected.flatMap(([id, status]) => (status === '' ? [] : [[id, declaredState(status)] as const])),
    ),
  };
}

function keepComponents({ at, components }: Impacts[number], kept: readonly string[]): Impacts {
  const left = Object.entries(components).filter(([id]) => kept.includes(id));
  return left.length === 0 ? [] : [{ at, components: Object.fromEntries(left) }];
}

/** Whether the impact is derived from the declared states. Otherwise someone chose it. */
export function hasOwnImpact({ impact, impacts = [] }: Pick<IncidentPost, 'impact' | 'impacts'>): boolean {
  return impact === worstImpact(impacts);
}

/** The impact of the worst state that was ever declared. */
function worstImpact(impacts: Impacts): IncidentImpact {
  const states = impacts.flatMap(({ components }) => Object.values(components));
  const worst = states.reduce<State>((known, state) => (isWorse(state, known) ? state : known), 'operational');
  return IMPACT_OF_STATE[worst] ?? 'none';
}

function impactOverride({ impact_override: impact }: IncidentRequest): IncidentImpact | null {
  return impact === undefined || impact === null || impact === 'maintenance' ? null : impact;
}

function readUpdate(request: IncidentRequest, at: EpochMs, status: PostUpdate['status'] = null): PostUpdate {
  const { body = '', translations = {} } = request;
  const bodies = withBodies(undefined, translations);
  return { at, status, body, ...readNotify(request), ...(bodies === undefined ? {} : { bodies }) };
}

/** Merges the translations of an update with those that a request sets or removes. */
function withBodies(bodies: PostUpdate['bodies'], translations: NonNullable<UpdateRequest['translations']>) {
  const all = Object.keys({ ...bodies, ...translations }).flatMap((tag) => {
    const translation = translations[tag];
    const body = translation === null ? null : translation?.body === undefined ? bodies?.[tag] : translation.body;
    return body == null ? [] : [[tag, body] as const];
  });
  return all.length === 0 ? undefined : Object.fromEntries(all);
}

/**
 * Merges the translated titles of a post with those in a request; null removes one.
 *
 * @param hasBodies  whether the text belongs to the post, as a maintenance's announcement does, and not to an update
 */
function readTitles(
  { translations = {} }: IncidentRequest,
  post?: Pick<IncidentPost, 'translations'>,
  hasBodies = false,
): Pick<IncidentPost, 'translations'> {
  const before = post?.translations ?? {};
  const all = Object.keys({ ...before, ...translations }).flatMap((tag) => {
    const [known = {}, translation = {}] = [before[tag], translations[tag]];
    const wanted = translation ?? { title: null, body: null };
    const title = wanted.title === undefined ? known.title : wanted.title;
    const body = !hasBodies || wanted.body === undefined ? known.body : wanted.body;
    const kept = { ...(title == null ? {} : { title }), ...(body == null ? {} : { body }) };
    return Object.keys(kept).length === 0 ? [] : [[tag, kept] as const];
  });
  return { translations: all.length === 0 ? undefined : Object.fromEntries(all) };
}

function readNotify(request: IncidentRequest): Pick<PostUpdate, 'notify'> {
  const isNotified = isSet(request.deliver_notifications, true) && !isSet(request.backfilled, false);
  return isNotified ? {} : { notify: false };
}

/** The time of the next update, always after the last one, whatever the clock says. */
export function updateTime(updates: readonly PostUpdate[], startedAt: EpochMs, now: EpochMs): EpochMs {
  const last = updates.reduce<EpochMs>((latest, { at }) => later(latest, at), startedAt);
  return later(now, toEpochMs(last + 1));
}
