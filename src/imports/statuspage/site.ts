/**
 * Imports Statuspage, and services with the same API: documents of the public API (v2), and lists of incidents from the
 * manage API. One source may consist of several documents.
 */

import { z } from 'zod';
import { INCIDENT_IMPACTS, INCIDENT_STATUSES, isOverStatus } from '../../model/observation.ts';
import { MAINTENANCE_STATUSES } from '../../model/page.ts';
import { type EpochMs, later, toIso } from '../../model/time.ts';
import { check, faultText } from '../../schema/issue-words.ts';
import type { IncidentPost, PostUpdate } from '../../sync/connectors/markdown/schema.ts';
import { STATE_WORDS } from '../../sync/connectors/statuspage/project.ts';
import { IdSchema, InstantSchema, ListSchema, NameSchema, TextSchema } from '../../sync/connectors/wire.ts';
import {
  type Ask,
  aboutPage,
  askOptional,
  askShaped,
  change,
  drop,
  entryFor,
  type ImportContext,
  type ImportedPost,
  type ImportedSite,
  type Importing,
  type ImportNote,
  layOut,
  quoted,
  readItem,
  toTitle,
  unreadKeys,
} from '../site.ts';
import unread from '../unread-keys.json' with { type: 'json' };

// Schemas of Statuspage's public API, and of incidents in its manage API.

const WhenSchema = InstantSchema.nullish().catch(null);

/** Lists that a document may contain; the manage API returns plain lists. */
const DocumentSchema = z.object({
  page: z
    .object({ name: NameSchema, page_description: TextSchema.catch(null) })
    .nullish()
    .catch(null),
  components: ListSchema,
  incidents: ListSchema,
  scheduled_maintenances: ListSchema,
});

const ComponentSchema = z.object({
  id: IdSchema,
  name: NameSchema,
  description: TextSchema.catch(null),
  group: z.boolean().nullish().catch(null),
  group_id: IdSchema.nullish().catch(null),
  position: z.number().nullish().catch(null),
  only_show_if_degraded: z.boolean().nullish().catch(null),
});

const UpdateSchema = z.object({
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

const EventSchema = z.object({
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
type Event = z.output<typeof EventSchema>;

/** All keys that the import reads, to find those that it doesn't. */
const ReadEventsSchema = z.array(EventSchema.extend({ incident_updates: z.array(UpdateSchema).nullish() }));

/** A document, and its name in messages. */
interface NamedDocument {
  readonly name: string;
  readonly value: unknown;
}

/** Imports everything in the documents. Never throws. */
export function statuspageSite(documents: readonly NamedDocument[], context: ImportContext): ImportedSite {
  const notes: ImportNote[] = [];
  const lists = documents.flatMap((document) => readLists(document, notes));
  const page = lists.map((list) => list.page).find((one) => one != null);
  const given = lists.flatMap((list) => list.components);
  const { groups, components, ids } = readLayout(given, notes);
  const raw = lists.flatMap((list) => list.events.map(({ item }) => item));
  notes.push(
    ...unreadKeys('components', given, z.array(ComponentSchema), unread.statuspageComponent),
    ...unreadKeys('incidents', raw, ReadEventsSchema, unread.statuspageEvent),
  );
  const events = new Map<string, Event>();
  for (const { place, item } of lists.flatMap((list) => list.events)) {
    const event = readItem(EventSchema, item, `${place}${idText(item)}`, notes);
    if (event === null) continue;
    const known = events.get(event.id);
    const isRicher = (known?.incident_updates?.length ?? -1) < (event.incident_updates?.length ?? 0);
    if (isRicher) events.set(event.id, event);
  }
  const posts = [...events.values()].flatMap((event) => toPost(event, { ...context, ids, notes }));
  drop(notes, 'subscribers, metrics', 'the public API doesn’t provide them; visitors have to subscribe again');
  return {
    title: page?.name ?? null,
    description: page?.page_description ?? null,
    groups,
    components,
    upstream: null,
    posts,
    redirects: {},
    notes,
  };
}

function readLists(
  { name, value }: NamedDocument,
  notes: ImportNote[],
): {
  readonly page: z.output<typeof DocumentSchema>['page'];
  readonly components: readonly unknown[];
  readonly events: readonly { readonly place: string; readonly item: unknown }[];
}[] {
  // A list of incidents or components, or a list of such lists.
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
  // A single incident.
  if (EventSchema.safeParse(value).success)
    return [{ page: null, components: [], events: [{ place: name, item: value }] }];
  return drop(notes, name, 'it has no incidents, scheduled_maintenances or components');
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

function readLayout(items: readonly unknown[], notes: ImportNote[]) {
  const read = items.flatMap((item) => ComponentSchema.safeParse(item).data ?? []);
  const all = new Map(read.map((one) => [one.id, one]));
  const sorted = [...all.values()].toSorted((a, b) => (a.position ?? 0) - (b.position ?? 0));
  const groups = sorted.filter(({ group }) => group === true);
  for (const { name, description } of groups)
    if (description !== null) drop(notes, `group ${quoted(name)}`, 'Pharos has no descriptions of groups');
  for (const { name } of sorted.filter((one) => one.only_show_if_degraded === true))
    change(notes, `component ${quoted(name)}`, 'was shown only while degraded; Pharos always shows it');
  return layOut(
    groups.map(({ id, name }) => ({ key: id, name })),
    sorted
      .filter(({ group }) => group !== true)
      .map(({ id, name, description, group_id: group }) => ({ key: id, name, description, group })),
  );
}

function toPost(event: Event, { ids, notes, ...context }: Importing): ImportedPost[] {
  const place = `incident ${event.id}`;
  const title = toTitle(event.name) ?? event.id;
  const isMaintenance = MAINTENANCE_STATUSES.some((word) => word === event.status) || event.scheduled_for != null;
  const words = isMaintenance ? MAINTENANCE_STATUSES : INCIDENT_STATUSES;
  const { updates, changed } = readUpdates(event, words, place, notes);
  const named = new Map((event.components ?? []).map(({ id, name }) => [id, name ?? id]));
  for (const { code } of changed) named.getOrInsert(code, code);
  const missing = [...named].filter(([code]) => !ids.has(code)).map(([, name]) => quoted(name));
  if (missing.length > 0) drop(notes, place, `it is about ${missing.join(', ')}, which the page no longer has`);
  const affected = [...named.keys()].flatMap((code) => ids.get(code) ?? []);
  const about = { title, ...aboutPage(context, affected) };
  const shared = { name: `statuspage-${event.id}`, addresses: [`/incidents/${event.id}/`] };
  if (isMaintenance) {
    const window = eventWindow(event);
    if (window !== null) return [{ ...shared, post: { type: 'maintenance', ...about, ...window }, updates }];
    return drop(notes, place, 'maintenance without a window, or with one that ends before it starts');
  }
  const startedAt = event.started_at ?? updates[0]?.at ?? event.created_at;
  const status = INCIDENT_STATUSES.find((word) => word === event.status);
  if (status === undefined)
    change(notes, place, `its status ${wordText(event.status)} is unknown; it is derived from its updates`);
  const impact = INCIDENT_IMPACTS.find((word) => word === event.impact);
  if (impact === undefined)
    change(notes, place, `its impact ${wordText(event.impact)} is unknown; minor is used instead`);
  const closing = updates.findLast((update) => isOverStatus(update.status))?.at;
  const endedAt = isOverStatus(status ?? null)
    ? (event.resolved_at ?? closing ?? updates.at(-1)?.at ?? startedAt)
    : null;
  const started = toIso(startedAt);
  const ended = endedAt === null ? undefined : toIso(later(startedAt, endedAt));
  const impacts = listImpacts(changed, context.page, ids);
  const state = { impact: impact ?? 'minor', state: 'none' } as const;
  return [{ ...shared, post: { type: 'incident', ...about, ...state, started, ended, impacts }, updates }];
}

function eventWindow({ status, scheduled_for: from, scheduled_until: until, resolved_at: over }: Event) {
  if (from == null) return null;
  const isOver = status === 'completed' || (typeof status === 'string' && isOverStatus(status));
  const ends = isOver && over != null && over > from && (until == null || over < until) ? over : until;
  return ends == null || ends <= from ? null : { starts: toIso(from), ends: toIso(ends) };
}

const RULES: readonly (readonly [RegExp, string])[] = [
  [/<br\s*\/?>\r?\n?/gi, '\n'],
  [/<p(?:\s[^<>]*)?>/gi, ''],
  [/<\/p>\s*/gi, '\n\n'],
  [/<(?:b|strong)>([^<>]*)<\/(?:b|strong)>/gi, '**$1**'],
  [/<(?:i|em)>([^<>]*)<\/(?:i|em)>/gi, '*$1*'],
  [/<code>([^<>`]*)<\/code>/gi, '`$1`'],
  [/<li(?:\s[^<>]*)?>/gi, '\n- '],
  [/<\/li>|<\/?[uo]l(?:\s[^<>]*)?>/gi, '\n'],
  [/<a\s[^<>]*?href="(https?:\/\/[^"<>\s()]*)"[^<>]*>([^<>[\]]*)<\/a>/gi, '[$2]($1)'],
];

/** Converts text with simple HTML to Markdown, which doesn't support HTML here. */
function toMarkdown(text: string): string {
  if (!/<\/?[a-z]/i.test(text)) return text;
  return RULES.reduce((words, [pattern, to]) => words.replace(pattern, to), text)
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
}

type Declared = NonNullable<IncidentPost['impacts']>[number]['components'][string];

/** States of components, and their names in posts. */
const STATES: Readonly<Record<string, Declared>> = STATE_WORDS;

/** The state that an update declares of a component, by its id there. */
interface Change {
  readonly at: EpochMs;
  /** Place of the update in the list, which begins with the newest. */
  readonly index: number;
  readonly code: string;
  /** Undefined: it isn't known. */
  readonly state: Declared | undefined;
}

/** Reads the updates of an incident or a maintenance. */
function readUpdates(event: Event, words: readonly PostUpdate['status'][], place: string, notes: ImportNote[]) {
  const changed: Change[] = [];
  const updates = (event.incident_updates ?? []).flatMap((item, index): PostUpdate[] => {
    const parsed = check(UpdateSchema, item);
    if (!parsed.success) return drop(notes, place, `an update is unreadable: ${faultText(parsed.faults[0])}`);
    const { status, body, created_at: createdAt, display_at: displayAt, affected_components: affected } = parsed.data;
    const at = displayAt ?? createdAt;
    const known = words.find((word) => word === status) ?? null;
    if (known === null)
      change(notes, place, `an update has the unknown status ${wordText(status)}; it was imported without a status`);
    for (const { code, new_status: word } of affected ?? []) {
      const state = entryFor(STATES, word);
      changed.push({ at, index, code, state });
      if (state === undefined)
        change(
          notes,
          place,
          `an update sets a component to the unknown state ${wordText(word)}; that state was left out`,
        );
    }
    return [{ at, status: known, body: toMarkdown(body ?? '') }];
  });
  if (event.postmortem_body !== null && !updates.some((one) => one.status === 'postmortem')) {
    const at = event.postmortem_published_at ?? event.resolved_at;
    if (at == null) drop(notes, place, 'its postmortem has no time');
    else updates.push({ at, status: 'postmortem', body: toMarkdown(event.postmortem_body) });
  }
  return { updates: updates.toReversed().toSorted((a, b) => a.at - b.at), changed };
}

/** The states of components at each time, oldest first; undefined: none. */
function listImpacts(changed: readonly Change[], page: string, ids: ReadonlyMap<string, string>) {
  const inOrder = changed.toSorted((a, b) => a.at - b.at || b.index - a.index);
  const states = inOrder.flatMap(({ at, code, state }) => {
    const id = ids.get(code);
    return id === undefined || state === undefined ? [] : [{ at, change: [`${page}/${id}`, state] as const }];
  });
  if (states.length === 0) return undefined;
  return [...Map.groupBy(states, ({ at }) => at)].map(([at, same]) => ({
    at: toIso(at),
    components: Object.fromEntries(same.map((one) => one.change)),
  }));
}

/** A foreign word for a message. */
function wordText(word: unknown): string {
  return typeof word === 'string' ? quoted(word) : typeof word;
}

// Downloads everything from a page: the documents of the public API, whose lists contain the 50 newest, and older
// incidents from the undocumented archive that Statuspage's own pages use. Pages without an archive have nothing older.

/** Maximum length of the API's lists. */
const LISTED_MAX = 50;
/** A page of the archive covers three months. After so many without incidents, there are no older ones. */
const EMPTY_PAGES_MAX = 8;
/** A hundred years. */
const PAGES_MAX = 400;

const IdsSchema = z.array(z.object({ id: z.string() }).catch({ id: '' })).optional();
const ListsSchema = z.object({ incidents: IdsSchema, scheduled_maintenances: IdsSchema });
const HistorySchema = z.object({
  months: z.array(z.object({ incidents: z.array(z.object({ code: z.string().regex(/^[\w-]{1,100}$/) })).nullish() })),
});

/** Requests all documents of a page. @throws a StatusError if it doesn't have the API */
export async function readStatuspage(ask: Ask) {
  const documents: NamedDocument[] = [];
  const notes: ImportNote[] = [];
  const known = new Set<string>();
  let isFull = false;
  for (const name of ['summary', 'components', 'incidents', 'scheduled-maintenances']) {
    const path = `/api/v2/${name}.json`;
    // Every page has the summary; some lack one of the others.
    const value = name === 'summary' ? await ask(path) : await askOptional(ask, path, notes);
    if (value === null) continue;
    documents.push({ name: path, value });
    const { incidents = [], scheduled_maintenances: maintenances = [] } = ListsSchema.safeParse(value).data ?? {};
    isFull ||= incidents.length >= LISTED_MAX || maintenances.length >= LISTED_MAX;
    for (const { id } of [...incidents, ...maintenances]) known.add(id);
  }
  if (!isFull) return { documents, notes };
  for (const code of await archivedCodes(ask, notes)) {
    if (known.has(code)) continue;
    known.add(code);
    const path = `/incidents/${code}.json`;
    const value = await askOptional(ask, path, notes, `incident ${code}`);
    if (value !== null) documents.push({ name: path, value });
  }
  return { documents, notes };
}

async function archivedCodes(ask: Ask, notes: ImportNote[]): Promise<readonly string[]> {
  const codes = new Set<string>();
  let empty = 0;
  for (let page = 1; page <= PAGES_MAX && empty < EMPTY_PAGES_MAX; page += 1) {
    const path = `/history.json?page=${page}`;
    const answer = await askShaped(ask, path, HistorySchema, 'it is not a Statuspage archive');
    if (typeof answer === 'string') {
      drop(
        notes,
        page === 1 ? 'history' : path,
        `the lists end at the ${LISTED_MAX} newest items, and older ones are not available: ${answer}. With a key for the manage API, save its incidents to a file and import that`,
      );
      return [...codes];
    }
    const found = answer.months.flatMap(({ incidents }) => incidents ?? []);
    empty = found.length === 0 ? empty + 1 : 0;
    for (const { code } of found) codes.add(code);
  }
  return [...codes];
}
