/** The incidents of a page: what people declared, outages that monitors saw, and both as one story where they are. */

import {
  type ComponentModel,
  cutTimeline,
  type Entries,
  type Entry,
  type EntryEvent,
  type EpochMs,
  earlier,
  fillPieces,
  INCIDENT_STATUSES,
  type IncidentStatus,
  impactOfEntry,
  isOverStatus,
  isWorse,
  joinPieces,
  later,
  type NewEntry,
  type PageDefinition,
  type PageIncident,
  type PageSettings,
  type PageUpdate,
  type Pieces,
  RELAPSE_MS,
  type State,
  type StoryComponent,
  textIn,
  toEpochMs,
  toIso,
  toPiece,
} from '../../model/index.ts';
import { shortId } from '../text/addresses.ts';
import { formatIn } from '../text/format.ts';
import { count, fill, findWords } from '../words/index.ts';
import { matchComponents, type SeenIncident } from './known-incidents.ts';

interface StoryInputs {
  readonly definition: PageDefinition;
  readonly settings: Pick<PageSettings, 'locale' | 'languages' | 'timezone'>;
  /** In the order of the page. */
  readonly components: readonly ComponentModel[];
  /** Those on the page, as they are known at `asOf`; recorded outages among them. */
  readonly incidents: readonly SeenIncident[];
  readonly entries: Entries;
  readonly knownEntries: readonly KnownEntry[];
  readonly asOf: EpochMs;
}

export function buildStories(inputs: StoryInputs) {
  const { entries } = inputs.entries;
  const declared = inputs.incidents.filter(({ isOutage, isOverride }) => !isOutage && isOverride !== true);
  const identities = matchIdentities(declared, inputs.entries, inputs.knownEntries);
  const adopted = Map.groupBy(entries, ({ adoptedBy }) => adoptedBy);
  const incidents = [
    ...declared.map((incident) =>
      declaredStory(inputs, incident, {
        identity: identities.ofIncident(incident),
        entries: adopted.get(incident.id) ?? [],
      }),
    ),
    ...entries.flatMap((entry, index) =>
      entry.adoptedBy === null ? [automaticStory(inputs, entry, identities.ofEntry(index))] : [],
    ),
  ];
  return {
    // Newest start first.
    incidents: incidents.sort((a, b) => b.startedAt - a.startedAt || (a.id < b.id ? -1 : 1)),
    newEntries: identities.newEntries,
  };
}

function declaredStory(
  inputs: StoryInputs,
  incident: SeenIncident,
  { identity, entries }: { readonly identity: Identity; readonly entries: readonly Entry[] },
): PageIncident {
  const { status, impact, endedAt } = incident;
  const { text: title, ...lang } = textIn(inputs.settings, incident.title, incident.titles);
  const startedAt = entries.reduce((first, entry) => earlier(first, entry.startedAt), incident.startedAt);
  const written = writtenUpdates(incident, inputs);
  const firstWordAt = written[0]?.at ?? startedAt;
  // What was found before anybody wrote is how the story began; what was found later, people know.
  const found = entries.flatMap((entry) => automaticUpdates(inputs, entry)).filter(({ at }) => at < firstWordAt);
  const ids = new Set([
    ...matchComponents(inputs.definition, incident),
    ...entries.flatMap(({ falls }) => falls.map(({ componentId }) => componentId)),
  ]);
  return {
    ...identity,
    title,
    ...lang,
    status,
    impact,
    startedAt,
    endedAt,
    isAutomatic: false,
    ...aboutComponents(inputs, ids, { startedAt, endedAt }),
    updates: [...found.sort((a, b) => a.at - b.at), ...written],
  };
}

/** Its own updates with the status each left it in; at least one, and the last one leaves it as it is. */
function writtenUpdates(
  { updates, status, startedAt, endedAt }: SeenIncident,
  inputs: StoryInputs,
): PageUpdate<IncidentStatus>[] {
  let reached: IncidentStatus = 'investigating';
  const written = updates.map(
    ({ id, at, status: said, body: original, bodies, notify }): PageUpdate<IncidentStatus> => {
      reached = INCIDENT_STATUSES.find((word) => word === said) ?? reached;
      const { text: body, ...lang } = textIn(inputs.settings, original, bodies);
      return { id, at, status: reached, body, ...lang, ...(notify === false ? { notify } : {}) };
    },
  );
  if (written.length === 0) written.push({ id: 'started', at: startedAt, status: reached, body: '' });
  const last = written.at(-1);
  if (last === undefined || last.status === status) return written;
  if (!isOverStatus(status)) return [...written.slice(0, -1), { ...last, status }];
  return [...written, { id: 'ended', at: later(last.at, endedAt ?? last.at), status, body: '' }];
}

function automaticStory(inputs: StoryInputs, entry: Entry, identity: Identity): PageIncident {
  const { asOf, components, settings } = inputs;
  const { startedAt, endedAt, falls } = entry;
  const ids = new Set(falls.map(({ componentId }) => componentId));
  const watchedCount = components.filter(({ definition }) => definition.monitor !== null).length;
  return {
    ...identity,
    ...titleOf(fillPieces(findWords(settings.locale).outageTitle, { names: namePieces(inputs, ids) })),
    status: endedAt === null ? 'investigating' : 'resolved',
    impact: impactOfEntry(entry, watchedCount, asOf),
    startedAt,
    endedAt,
    isAutomatic: true,
    ...aboutComponents(inputs, ids, entry),
    updates: [...automaticUpdates(inputs, entry), ...upstreamWords(inputs, entry)].sort((a, b) => a.at - b.at),
  };
}

function titleOf(title: Pieces): Pick<PageIncident, 'title' | 'pieces'> {
  const { text, ...pieces } = joinPieces(title);
  return { title: text, ...pieces };
}

const EVENT_WORDS = { opened: 'autoOpened', joined: 'autoJoined', reopened: 'autoReopened' } as const;

function automaticUpdates(
  inputs: StoryInputs,
  { events, startedAt, falls: [{ componentId }] }: Entry,
): PageUpdate<IncidentStatus>[] {
  const words = findWords(inputs.settings.locale);
  const { duration } = formatIn(inputs.settings.locale, inputs.settings.timezone);
  let downFrom = startedAt;
  return events.map((event): PageUpdate<IncidentStatus> => {
    const { kind, at, componentIds } = event;
    if (kind === 'closed')
      return {
        // Outages that one story tells of may end together.
        ...head({ ...event, componentIds: [componentId] }),
        status: 'resolved',
        body: fill(words.autoClosed, { duration: duration(at - downFrom) }),
      };
    if (kind === 'reopened') downFrom = at;
    const names = namePieces(inputs, new Set(componentIds));
    const { text: body, ...pieces } = joinPieces(fillPieces(words[EVENT_WORDS[kind]], { names }));
    return { ...head(event), status: 'investigating', body, ...pieces };
  });
}

function head({ kind, at, componentIds }: EntryEvent): Pick<PageUpdate<IncidentStatus>, 'id' | 'at'> {
  return { id: [kind, at, ...componentIds].join('-'), at };
}

/** What upstreams say of the outages that an entry is made of, where its components may show that. */
function upstreamWords(inputs: StoryInputs, { falls, events }: Entry): PageUpdate<IncidentStatus>[] {
  const { definition, incidents } = inputs;
  const closedAt = events.at(-1)?.kind === 'closed' ? (events.at(-1)?.at ?? null) : null;
  const shown = definition.components.filter(
    ({ id, showsDetails }) => showsDetails === true && falls.some(({ componentId }) => componentId === id),
  );
  const reported = incidents.filter(
    ({ isOutage, monitors, startedAt, endedAt }) =>
      isOutage &&
      shown.some(({ monitor }) => monitor !== null && monitors.includes(monitor)) &&
      falls.some(({ from, to }) => startedAt < (to ?? Infinity) && (endedAt ?? Infinity) > from),
  );
  return reported.flatMap(({ id, title, updates }) =>
    updates
      .filter(({ at, body }) => body !== '' && (closedAt === null || at < closedAt))
      .map((update) => {
        const { text: body, ...lang } = textIn(inputs.settings, `${title}: ${update.body}`);
        return { id: `${id}-${update.id}`, at: update.at, status: 'investigating', body, ...lang };
      }),
  );
}

/** Names in a title; the rest is counted. */
const NAMES_MAX = 3;

function namePieces({ components, settings: { locale, timezone } }: StoryInputs, ids: ReadonlySet<string>): Pieces {
  const named = components.filter(({ definition }) => ids.has(definition.id));
  const isLong = named.length > NAMES_MAX + 1;
  const more = isLong ? count(findWords(locale).bannerOthers, named.length - NAMES_MAX, locale) : '';
  return formatIn(locale, timezone).listPieces(isLong ? named.slice(0, NAMES_MAX) : named, toPiece, more);
}

/** What a story says of components is what their time lines say: now, or of one that is over the worst while it lasted. */
function aboutComponents(
  { components, asOf }: StoryInputs,
  ids: ReadonlySet<string>,
  { startedAt, endedAt }: Pick<PageIncident, 'startedAt' | 'endedAt'>,
): Pick<PageIncident, 'components' | 'componentIds'> {
  const about = components
    .filter(({ definition }) => ids.has(definition.id))
    .map(({ definition, state, timeline }): StoryComponent => {
      if (endedAt === null || endedAt > asOf) return { id: definition.id, state };
      const to = toEpochMs(Math.max(endedAt, startedAt + 1));
      return { id: definition.id, state: worstState(cutTimeline(timeline, { from: startedAt, to })) };
    });
  return { components: about, componentIds: about.map(({ id }) => id) };
}

function worstState(pieces: readonly { readonly state: State }[]): State {
  return pieces.reduce<State>(
    (worst, { state }) => (isWorse(state, worst) ? state : worst),
    pieces[0]?.state ?? 'unknown',
  );
}

/**
 * Small letters, digits and `-`. Where two ids become alike, the one that was asked for first keeps the plain slug, and
 * the other ends in a few characters that follow from its own id, whatever comes later.
 */
export function createSlugger(kind: 'incident' | 'maintenance'): (id: string) => string {
  const known = new Map<string, string>();
  const taken = new Set<string>();
  return (id) => {
    const found = known.get(id);
    if (found !== undefined) return found;
    const plain =
      id
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, '-')
        .replace(/^-+|-+$/g, '') || 'x';
    const slug = taken.has(plain) ? `${plain}-${shortId(kind, id)}` : plain;
    taken.add(slug);
    known.set(id, slug);
    return slug;
  };
}

/** An entry that was published before. */
export interface KnownEntry extends NewEntry {
  readonly firstSeenAt: EpochMs;
}

interface Identity {
  readonly id: string;
  readonly slug: string;
  /** Slugs of what else it was known as. */
  readonly aliases: readonly string[];
}

interface Identities {
  readonly ofIncident: (incident: SeenIncident) => Identity;
  /** By the place of the entry among all. */
  readonly ofEntry: (index: number) => Identity;
  /** Entries that stand by themselves and were not known. */
  readonly newEntries: readonly NewEntry[];
}

/** The identities of all stories of a page. */
function matchIdentities(
  incidents: readonly SeenIncident[],
  { entries, declared }: Entries,
  known: readonly KnownEntry[],
): Identities {
  const slugs = createSlugger('incident');
  const inOrder = known.toSorted((a, b) => a.firstSeenAt - b.firstSeenAt || (a.id < b.id ? -1 : 1));
  for (const { id } of inOrder) slugs(id);
  const asSeen = incidents.toSorted((a, b) => seenAt(a) - seenAt(b) || (a.id < b.id ? -1 : 1));
  for (const { id } of asSeen) slugs(id);

  const holders = [
    ...declared.map((fall) => ({ ...fall, holder: fall.declaredBy })),
    ...entries.flatMap(({ falls, adoptedBy }, index) =>
      falls.map((fall) => ({ ...fall, holder: adoptedBy ?? entryKey(index) })),
    ),
  ];
  /** Whose story the fall is now that an entry was opened by: one of that component, at that time or nearly. */
  const holderOf = ({ componentId, fellAt }: KnownEntry): string | undefined =>
    holders
      .filter(({ from, to, ...fall }) => {
        const isThen = from - RELAPSE_MS <= fellAt && (to === null || fellAt <= to);
        return fall.componentId === componentId && isThen;
      })
      .toSorted((a, b) => Math.abs(a.from - fellAt) - Math.abs(b.from - fellAt))
      .at(0)?.holder;
  const held = Map.groupBy(inOrder, holderOf);
  const taken = new Set(inOrder.map(({ id }) => id));

  const newEntries: NewEntry[] = [];
  const ids = entries.map(({ adoptedBy, falls: [{ componentId, from }] }, index): string | null => {
    if (adoptedBy !== null) return null;
    const [first] = held.get(entryKey(index)) ?? [];
    if (first !== undefined) return first.id;
    const id = freshId({ componentId, fellAt: from }, taken);
    taken.add(id);
    newEntries.push({ id, componentId, fellAt: from });
    return id;
  });
  return {
    ofIncident: (incident) => {
      const entriesHeld = held.get(incident.id) ?? [];
      const names = [incident.id, ...entriesHeld.map(({ id }) => id)];
      const [first] = entriesHeld;
      // Only what was published before the incident was there can have been taken over by it.
      const id = first !== undefined && first.firstSeenAt < seenAt(incident) ? first.id : incident.id;
      return { id, slug: slugs(id), aliases: names.filter((name) => name !== id).map(slugs) };
    },
    ofEntry: (index) => {
      const id = ids[index];
      if (id == null) throw new TypeError(`entry ${index} is the story of an incident`);
      const others = (held.get(entryKey(index)) ?? []).slice(1);
      return { id, slug: slugs(id), aliases: others.map((other) => slugs(other.id)) };
    },
    newEntries,
  };
}

function seenAt({ firstSeenAt }: SeenIncident): number {
  return firstSeenAt ?? 0;
}

/** No id of an incident begins so: those begin with the id of an upstream. */
function entryKey(index: number): string {
  return `/${index}`;
}

/** `auto/api-20261121-1000`; with the milliseconds where the minute is not enough. */
function freshId({ componentId, fellAt }: Omit<NewEntry, 'id'>, taken: ReadonlySet<string>): string {
  const stamp = toIso(fellAt)
    .replaceAll(/[-:.Z]/g, '')
    .replace('T', '-');
  const short = `auto/${componentId}-${stamp.slice(0, 'YYYYMMDD-HHMM'.length)}`;
  return taken.has(short) ? `auto/${componentId}-${stamp}` : short;
}
