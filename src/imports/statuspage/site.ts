/**
 * Statuspage and what speaks its API: the documents of its public API (v2), and incidents as its manage API lists them. One
 * source may be several documents.
 */

import { z } from 'zod';
import { INCIDENT_IMPACTS, INCIDENT_STATUSES, isOverStatus } from '../../model/observation.ts';
import { MAINTENANCE_STATUSES } from '../../model/page.ts';
import { later, toIso } from '../../model/time.ts';
import { check, faultText } from '../../schema/issue-words.ts';
import { IdSchema } from '../../sync/connectors/wire.ts';
import { createIds, quoted, toTitle } from '../names.ts';
import {
  changed,
  dropped,
  type ImportContext,
  type ImportedComponent,
  type ImportedGroup,
  type ImportedPost,
  type ImportedSite,
  type ImportNote,
} from '../site.ts';
import { unreadKeys } from '../unread.ts';
import {
  COMPONENT_KEYS,
  type Component,
  ComponentSchema,
  DocumentSchema,
  EVENT_KEYS,
  type Event,
  EventSchema,
  ReadEventsSchema,
} from './schema.ts';
import { readUpdates, wordText } from './updates.ts';

/** A document as it was read, and what to call it. */
export interface NamedDocument {
  readonly name: string;
  readonly value: unknown;
}

/** Everything that the documents have. Never throws. */
export function statuspageSite(documents: readonly NamedDocument[], context: ImportContext): ImportedSite {
  const notes: ImportNote[] = [];
  const lists = documents.flatMap((document) => readLists(document, notes));
  const page = lists.map((list) => list.page).find((one) => one != null);
  const components = uniqueComponents(lists.flatMap((list) => list.components));
  const layout = buildLayout(components, notes);
  const raw = lists.flatMap((list) => list.events.map(({ item }) => item));
  notes.push(
    ...unreadKeys(
      'components',
      lists.flatMap((list) => list.components),
      z.array(ComponentSchema),
      COMPONENT_KEYS,
    ),
    ...unreadKeys('incidents', raw, ReadEventsSchema, EVENT_KEYS),
  );
  const events = new Map<string, Event>();
  for (const { place, item } of lists.flatMap((list) => list.events)) {
    const parsed = check(EventSchema, item);
    if (!parsed.success) {
      notes.push(dropped(`${place}${idText(item)}`, faultText(parsed.faults[0])));
      continue;
    }
    const known = events.get(parsed.data.id);
    const isRicher = (known?.incident_updates?.length ?? -1) < (parsed.data.incident_updates?.length ?? 0);
    if (isRicher) events.set(parsed.data.id, parsed.data);
  }
  const posts = [...events.values()].flatMap((event) => toPost(event, { ...context, ids: layout.ids }, notes));
  return {
    title: page?.name ?? null,
    description: page?.page_description ?? null,
    groups: layout.groups,
    components: layout.components,
    upstream: null,
    posts,
    redirects: {},
    notes: [
      ...notes,
      dropped('subscribers, metrics', 'the public API doesn’t provide them; visitors have to subscribe again'),
    ],
  };
}

interface Lists {
  readonly page: z.output<typeof DocumentSchema>['page'];
  readonly components: readonly unknown[];
  readonly events: readonly { readonly place: string; readonly item: unknown }[];
}

function readLists({ name, value }: NamedDocument, notes: ImportNote[]): Lists[] {
  // A list of incidents or components, or of pages of such lists.
  if (Array.isArray(value)) {
    const isNested = value.some((item) => Array.isArray(item) || isDocument(item));
    if (isNested) return value.flatMap((item, index) => readLists({ name: `${name}[${index}]`, value: item }, notes));
    const [components, events] = [value.filter(isComponent), value.filter((item) => !isComponent(item))];
    return [{ page: null, components, events: events.map((item) => ({ place: name, item })) }];
  }
  const parsed = DocumentSchema.safeParse(value);
  if (parsed.success && isDocument(value)) {
    const { page, components, incidents, scheduled_maintenances: maintenances } = parsed.data;
    const events = [...incidents, ...maintenances].map((item) => ({ place: name, item }));
    return [{ page, components, events }];
  }
  // One incident by itself.
  if (EventSchema.safeParse(value).success)
    return [{ page: null, components: [], events: [{ place: name, item: value }] }];
  notes.push(dropped(name, 'it has no incidents, scheduled_maintenances or components'));
  return [];
}

function isDocument(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Object.hasOwn(value, 'incident_updates')) return false;
  return ['incidents', 'scheduled_maintenances', 'components'].some(
    (key) => Object.hasOwn(value, key) && Array.isArray((value as Record<string, unknown>)[key]),
  );
}

function isComponent(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'position' in value && !('incident_updates' in value);
}

function idText(item: unknown): string {
  const id = IdSchema.safeParse((item as { id?: unknown } | null)?.id).data;
  return id === undefined ? '' : ` ${id.slice(0, 60)}`;
}

function uniqueComponents(items: readonly unknown[]): Component[] {
  const read = items.flatMap((item) => ComponentSchema.safeParse(item).data ?? []);
  return [...new Map(read.map((one) => [one.id, one])).values()];
}

interface Layout {
  readonly groups: readonly ImportedGroup[];
  readonly components: readonly ImportedComponent[];
  /** Ours by theirs. */
  readonly ids: ReadonlyMap<string, string>;
}

function buildLayout(all: readonly Component[], notes: ImportNote[]): Layout {
  const groupIds = createIds('group');
  const componentIds = createIds('component');
  const sorted = all.toSorted((a, b) => (a.position ?? 0) - (b.position ?? 0));
  const groups = sorted
    .filter(({ group }) => group === true)
    .map(({ id, name }) => ({ code: id, id: groupIds(name, id), name }));
  for (const { name, description } of sorted.filter(({ group }) => group === true))
    if (description !== null) notes.push(dropped(`group ${quoted(name)}`, 'Pharos has no descriptions of groups'));
  for (const { name } of sorted.filter((one) => one.only_show_if_degraded === true))
    notes.push(changed(`component ${quoted(name)}`, 'was shown only while degraded; Pharos always shows it'));
  const single = sorted.filter(({ group }) => group !== true);
  const components = single.map(({ id, name, description, group_id: groupId }) => ({
    code: id,
    id: componentIds(name, id),
    name,
    description,
    groupId: groups.find(({ code }) => code === groupId)?.id ?? null,
    monitor: null,
  }));
  return {
    groups: groups.map(({ id, name }) => ({ id, name })),
    components: components.map(({ code: _, ...component }) => component),
    ids: new Map(components.map(({ code, id }) => [code, id])),
  };
}

interface EventContext extends ImportContext {
  readonly ids: ReadonlyMap<string, string>;
}

function toPost(event: Event, context: EventContext, notes: ImportNote[]): ImportedPost[] {
  const place = `incident ${event.id}`;
  const title = toTitle(event.name) ?? event.id;
  const isMaintenance = MAINTENANCE_STATUSES.some((word) => word === event.status) || event.scheduled_for != null;
  const { updates, impacts, codes } = readUpdates(event, isMaintenance ? MAINTENANCE_STATUSES : INCIDENT_STATUSES, {
    ...context,
    tell: (message) => notes.push(changed(place, message)),
    lose: (message) => notes.push(dropped(place, message)),
  });
  const named = new Map((event.components ?? []).map(({ id, name }) => [id, name ?? id]));
  for (const code of codes) if (!named.has(code)) named.set(code, code);
  const missing = [...named].filter(([code]) => !context.ids.has(code)).map(([, name]) => quoted(name));
  if (missing.length > 0) notes.push(dropped(place, `it is about ${missing.join(', ')}, which the page no longer has`));
  const about = {
    title,
    components: [...named.keys()].flatMap((code) => context.ids.get(code) ?? []).map((id) => `${context.page}/${id}`),
    pages: [context.page],
  };
  const shared = { name: `statuspage-${event.id}`, opening: '', addresses: [`/incidents/${event.id}/`] };
  if (isMaintenance) {
    const window = eventWindow(event);
    if (window !== null) return [{ ...shared, post: { type: 'maintenance', ...about, ...window }, updates }];
    notes.push(dropped(place, 'maintenance without a window, or with one that ends before it starts'));
    return [];
  }
  const startedAt = event.started_at ?? updates[0]?.at ?? event.created_at;
  const status = INCIDENT_STATUSES.find((word) => word === event.status);
  if (status === undefined)
    notes.push(changed(place, `its status ${wordText(event.status)} is unknown; it is derived from its updates`));
  const impact = INCIDENT_IMPACTS.find((word) => word === event.impact);
  if (impact === undefined)
    notes.push(changed(place, `its impact ${wordText(event.impact)} is unknown; minor is used instead`));
  const closing = updates.findLast((update) => isOverStatus(update.status))?.at;
  const endedAt = isOverStatus(status ?? null)
    ? (event.resolved_at ?? closing ?? updates.at(-1)?.at ?? startedAt)
    : null;
  return [
    {
      ...shared,
      post: {
        type: 'incident',
        ...about,
        impact: impact ?? 'minor',
        state: 'none',
        started: toIso(startedAt),
        ...(endedAt === null ? {} : { ended: toIso(later(startedAt, endedAt)) }),
        ...(impacts.length === 0 ? {} : { impacts }),
      },
      updates,
    },
  ];
}

function eventWindow({ status, scheduled_for: from, scheduled_until: until, resolved_at: over }: Event): {
  readonly starts: string;
  readonly ends: string;
} | null {
  if (from == null) return null;
  const isOver = status === 'completed' || (typeof status === 'string' && isOverStatus(status));
  const ends = isOver && over != null && over > from && (until == null || over < until) ? over : until;
  return ends == null || ends <= from ? null : { starts: toIso(from), ends: toIso(ends) };
}
