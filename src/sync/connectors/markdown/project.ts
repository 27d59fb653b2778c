/** Turns posts into incidents, maintenance windows and announcements. */

import rrule from 'rrule';
import {
  type AffectedComponent,
  type Announcement,
  type CompleteList,
  INCIDENT_STATUSES,
  type Incident,
  type IncidentStatus,
  isOverStatus,
  type Learned,
  type Maintenance,
  type MonitorId,
  type Problem,
  type Recurrence,
  type SnapshotPart,
  type Update,
} from '../../../model/observation.ts';
import type { State } from '../../../model/state.ts';
import { DAY_MS, type EpochMs, type Interval, later, toEpochMs, toIso } from '../../../model/time.ts';
import { createIncident } from '../entries.ts';
import { note, uniqueById } from '../items.ts';
import { lookUp, parseInstant } from '../wire.ts';
import {
  type IncidentPost,
  type MaintenancePost,
  type PostFault,
  type PostFile,
  type PostUpdate,
  type ReadPost,
  readPost,
  readTranslations,
} from './schema.ts';

interface Origin {
  readonly upstreamId: string;
  /** Time zone of times without an offset. */
  readonly zone: string;
  readonly now: EpochMs;
  /** Whether drafts are included. Default: they are ignored. */
  readonly hasDrafts?: boolean;
  /** Whether the posts are from our own store, where missing posts are gone. Default: from a folder, which may be half copied. */
  readonly isOwn?: boolean;
}

type PostParts = 'incidents' | 'maintenances' | 'announcements' | 'problems' | 'stale' | 'complete' | 'itemsTotal';
export type Projected = Pick<Learned, PostParts>;

/** The part of the snapshot that an invalid file belongs to. Other files aren't affected. */
const PART_OF_TYPE: Readonly<Record<string, SnapshotPart>> = {
  incident: 'incidents',
  maintenance: 'maintenances',
  announcement: 'pages',
  override: 'incidents',
};
const ALL_PARTS: readonly SnapshotPart[] = ['incidents', 'maintenances', 'pages'];

/**
 * Every post of a folder, sorted by id. Files that are no Markdown and README.md are passed over. A file that cannot be
 * read is told with its field, and the part it belongs to keeps its last value: a typing error must not end an incident.
 */
export function projectPosts(files: readonly PostFile[], origin: Origin): Projected {
  const markdown = files.filter(({ name }) => /\.(md|markdown)$/i.test(name) && !/^readme\./i.test(name));
  return projectRead(
    markdown.map((file) => ({ name: file.name, read: readPost(file, origin.zone) })),
    origin,
  );
}

type PostType = ReadPost['post']['type'];
/** A post of one type. */
type ReadOf<Type extends PostType> = ReadPost & { readonly post: Extract<ReadPost['post'], { type: Type }> };

/** A post with its name for messages, or its errors. */
interface NamedPost {
  readonly name: string;
  readonly read: ReadPost | readonly PostFault[];
}

/** The same for posts that are already parsed. */
export function projectRead(named: readonly NamedPost[], origin: Origin): Projected {
  const problems: Problem[] = [];
  const stale = new Set<SnapshotPart>();
  const posts: ReadPost[] = [];
  for (const { name, read } of named) {
    const faults = 'post' in read ? findFaults(read, origin.zone) : read;
    for (const { field, message, type } of faults) {
      problems.push(note(field === '' ? name : `${name}: ${field}`, message));
      const part = lookUp(PART_OF_TYPE, type);
      for (const one of part === undefined ? ALL_PARTS : [part]) stale.add(one);
    }
    if ('post' in read && faults.length === 0 && (!read.post.draft || origin.hasDrafts === true)) posts.push(read);
  }
  const ofType = <Type extends PostType>(type: Type) =>
    posts.filter((read): read is ReadOf<Type> => read.post.type === type);
  const incidents = [
    ...ofType('incident').map((read) => projectIncident(read, origin)),
    ...ofType('override').map((read) => projectOverride(read, origin)),
  ];
  const maintenances = ofType('maintenance').flatMap((read) => projectMaintenance(read, origin) ?? []);
  const announcements = ofType('announcement').map((read) => projectAnnouncement(read, origin));
  return {
    incidents: uniqueById(incidents, problems),
    maintenances: uniqueById(maintenances, problems),
    announcements: uniqueById(announcements, problems),
    problems,
    stale: ALL_PARTS.filter((part) => stale.has(part)),
    complete: [
      wholeList('incidents', [...ofType('incident'), ...ofType('override')], origin),
      wholeList('maintenances', ofType('maintenance'), origin),
    ].filter(({ part }) => !stale.has(part)),
    itemsTotal: named.length,
  };
}

/** The folder contains all posts, including those that aren't shown now. */
function wholeList(
  part: CompleteList['part'],
  posts: readonly ReadPost[],
  { upstreamId, isOwn }: Origin,
): CompleteList {
  const ids = posts.map(({ name }) => `${upstreamId}/${name}`);
  return { part, prefix: `${upstreamId}/`, since: null, ...(isOwn === true ? { isFinal: true } : {}), ids };
}

/** Checks fields that depend on each other and need the time zone. */
export function findFaults({ post, updates }: ReadPost, zone: string): PostFault[] {
  const { type } = post;
  if (post.type === 'maintenance') {
    const { from, to } = firstWindow(post, zone);
    if (to <= from) return [{ field: 'ends', message: 'must be after starts', type }];
    if (post.repeat !== undefined && !hasAnyWindow(post, zone))
      return [{ field: 'repeat', message: 'never occurs after starts; check the rule', type }];
    return [];
  }
  if (post.type !== 'incident') {
    const isEmpty = post.to !== undefined && checkedInstant(post.to, zone) <= checkedInstant(post.from, zone);
    return isEmpty ? [{ field: 'to', message: 'must be after from', type }] : [];
  }
  const instants = new Set([checkedInstant(post.started, zone), ...updates.map(({ at }) => at)]);
  if (post.impacts?.some(({ at }) => !instants.has(checkedInstant(at, zone))) === true)
    return [{ field: 'impacts', message: 'each must have the time of started or of an update', type }];
  const hasEnd = post.ended !== undefined || updates.some(({ status }) => isOverStatus(status));
  if (isOverStatus(post.status ?? null) && !hasEnd)
    return [{ field: 'ended', message: `is required if status is ${post.status}`, type }];
  return [];
}

function projectIncident({ post, ...read }: ReadOf<'incident'>, { upstreamId, zone, now, isOwn }: Origin): Incident {
  const startedAt = checkedInstant(post.started, zone);
  const updates = read.updates.toSorted((a, b) => a.at - b.at);
  // Whatever is in our own store has been said by now (`notAhead`).
  const heardAt = isOwn === true ? later(now, updates.at(-1)?.at ?? startedAt) : now;
  const { status, endsAt } = readCourse(post, updates, { zone, now: heardAt });
  const { bodies, ...titles } = readTranslations(post);
  const opening: Update = {
    id: 'opening',
    at: startedAt,
    status: updates.length === 0 ? status : 'investigating',
    body: read.opening,
    ...(bodies === undefined ? {} : { bodies }),
  };
  return createIncident({
    id: `${upstreamId}/${read.name}`,
    title: post.title,
    ...titles,
    status,
    impact: post.impact,
    startedAt,
    endedAt: endsAt === null ? null : later(startedAt, endsAt),
    monitors: post.monitors as MonitorId[],
    components: readImpacts(post, zone, startedAt),
    pages: selectPages(post.components, post.pages),
    affectedState: post.state === 'none' ? null : post.state,
    updates: [...(read.opening === '' ? [] : [opening]), ...updates.map(toUpdate)].map((update) => ({
      ...update,
      ...(post.impacts === undefined ? {} : { impacts: readImpacts(post, zone, update.at) }),
      ...(post.deliver_notifications === false ? SILENT : {}),
    })),
    ...(post.affects_uptime ? {} : { affectsUptime: false }),
  });
}

const SILENT = { notify: false } as const;

/** The id of an update in its story. @param index  among the post's updates, oldest first */
export function updateId({ at }: Pick<PostUpdate, 'at'>, index: number): string {
  return `${toIso(at)}-${index}`;
}

function toUpdate(update: PostUpdate, index: number): Update {
  const { at, status, body, bodies, notify } = update;
  const translated = bodies === undefined ? {} : { bodies };
  return { id: updateId(update, index), at, status, body, ...translated, ...(notify === false ? SILENT : {}) };
}

/** The declared state of each component at an instant. */
function readImpacts(post: IncidentPost, zone: string, at: EpochMs): AffectedComponent[] {
  const declared = (post.impacts ?? [])
    .map((impact) => ({ ...impact, at: checkedInstant(impact.at, zone) }))
    .filter((impact) => impact.at <= at)
    .toSorted((a, b) => a.at - b.at);
  const states = Object.assign({}, ...declared.map(({ components }) => components)) as Partial<Record<string, State>>;
  const otherwise = post.state === 'none' ? null : post.state;
  return post.components.map((id) => ({ id: toDefinition(id), state: states[id] ?? otherwise }));
}

function projectOverride({ post, name }: ReadOf<'override'>, { upstreamId, zone, now }: Origin): Incident {
  const endedAt = post.to === undefined ? null : checkedInstant(post.to, zone);
  return createIncident({
    id: `${upstreamId}/${name}`,
    title: post.title,
    status: endedAt !== null && endedAt <= now ? 'resolved' : 'investigating',
    impact: 'none',
    startedAt: checkedInstant(post.from, zone),
    endedAt,
    monitors: [],
    components: [{ id: toDefinition(post.component), state: post.state }],
    pages: selectPages([post.component]),
    isOverride: true,
  });
}

/** The progress of an incident at `now`, and its end. Updates with later dates don't count yet. */
function readCourse(
  post: IncidentPost,
  updates: readonly PostUpdate[],
  { zone, now }: Pick<Origin, 'zone' | 'now'>,
): { status: IncidentStatus; endsAt: EpochMs | null } {
  const heard = updates.filter(({ at }) => at <= now);
  const last = post.status ?? lastStatus(heard) ?? 'investigating';
  const ended = post.ended === undefined ? null : checkedInstant(post.ended, zone);
  const closedAt = isOverStatus(last) ? (closingUpdate(heard) ?? closingUpdate(updates))?.at : undefined;
  // A status that ends it takes precedence over a planned end.
  const isForeseen = ended !== null && ended > now && closedAt !== undefined && closedAt <= now;
  const endsAt = isForeseen ? closedAt : (ended ?? closedAt ?? null);
  const isOver = endsAt !== null && endsAt <= now;
  if (isOver) return { status: isOverStatus(last) ? last : 'resolved', endsAt };
  if (!isOverStatus(last)) return { status: last, endsAt };
  return { status: lastStatus(heard, (word) => !isOverStatus(word)) ?? 'investigating', endsAt };
}

function lastStatus(
  updates: readonly PostUpdate[],
  isWanted: (status: IncidentStatus) => boolean = () => true,
): IncidentStatus | undefined {
  return updates
    .flatMap(({ status }) => INCIDENT_STATUSES.find((known) => known === status) ?? [])
    .findLast((status) => isWanted(status));
}

function closingUpdate(updates: readonly PostUpdate[]): PostUpdate | undefined {
  return (
    updates.findLast(({ status }) => status === 'resolved') ?? updates.findLast(({ status }) => isOverStatus(status))
  );
}

/** Pages of the configuration are named by their slug, those of upstreams by `<upstream id>/<page id there>`. */
function selectPages(components: readonly string[], pages?: readonly string[]): string[] | null {
  if (pages !== undefined) return pages.map((page) => (page.includes('/') ? page : `config/${page}`));
  const own = components.map((component) => toDefinition(component).split('/').slice(0, 2).join('/'));
  return own.length === 0 ? null : [...new Set(own)];
}

/** `acme/api` is a component of the page `acme` of the configuration; with two slashes it is named in full. */
function toDefinition(component: string): string {
  return component.split('/').length > 2 ? component : `config/${component}`;
}

/** Null: it repeats, and no window is near enough to be shown. */
function projectMaintenance({ post, ...read }: ReadOf<'maintenance'>, origin: Origin): Maintenance | null {
  const { upstreamId, zone, now } = origin;
  const repeats = readRecurrence(post, zone, now);
  if (post.repeat !== undefined && repeats === null) return null;
  const windows = repeats?.windows ?? [firstWindow(post, zone)];
  const window = windows.find(({ to }) => to > now) ?? windows.at(-1) ?? firstWindow(post, zone);
  return {
    id: `${upstreamId}/${read.name}`,
    title: post.title,
    ...readTranslations(post),
    startsAt: window.from,
    endsAt: window.to,
    ...(post.announced_for && !repeats
      ? { announcedFor: checkedInstant(post.announced_for, post.timezone ?? zone) }
      : {}),
    monitors: post.monitors as MonitorId[],
    components: post.components.map(toDefinition),
    pages: selectPages(post.components, post.pages),
    updates: read.updates.toSorted((a, b) => a.at - b.at).map(toUpdate),
    ...(read.opening === '' ? {} : { body: read.opening }),
    ...(repeats === null ? {} : { repeats }),
    ...(post.deliver_notifications === false ? SILENT : {}),
  };
}

function projectAnnouncement(read: ReadOf<'announcement'>, { upstreamId, zone }: Origin): Announcement {
  const { post, name, opening: body } = read;
  return {
    id: `${upstreamId}/${name}`,
    title: post.title,
    ...readTranslations(post),
    body,
    level: post.level,
    from: checkedInstant(post.from, zone),
    to: post.to === undefined ? null : checkedInstant(post.to, zone),
    pages: post.pages ?? null,
  };
}

// The windows of a maintenance post, and how they repeat.

/** How far back and ahead repeated windows are listed; the store keeps older ones. */
const WINDOWS_BEFORE_MS = 90 * DAY_MS;
const WINDOWS_AHEAD_MS = 90 * DAY_MS;
/** Enough for a daily window over the whole period. */
const WINDOWS_MAX = 250;
/** A rule without a window in this period never has one. */
const NEXT_WITHIN_MS = 10 * 366 * DAY_MS;

/** The window, or the first one. */
function firstWindow(post: MaintenancePost, zone: string): Interval {
  const clock = post.timezone ?? zone;
  return { from: checkedInstant(post.starts, clock), to: checkedInstant(post.ends, clock) };
}

/** The front matter was validated, so it can be parsed. */
function checkedInstant(text: string, zone: string): EpochMs {
  return parseInstant(text, zone) ?? toEpochMs(0);
}

/**
 * How a post repeats, around `now`: what lies in the stretch that is told, and beyond it the next window and the first
 * one after a long break. Null: its rule gives none from there on, or it has no rule.
 */
function readRecurrence(post: MaintenancePost, zone: string, now: EpochMs): Recurrence | null {
  const read = post.repeat === undefined ? null : readRule(post, zone);
  if (read === null) return null;
  const { rule, windowOf } = read;
  const from = toEpochMs(now - WINDOWS_BEFORE_MS);
  const until = toEpochMs(now + WINDOWS_AHEAD_MS);
  const windows = startsBetween(rule, { from, to: until }, WINDOWS_MAX)
    .map(windowOf)
    .filter((window) => window.to > from && window.from < until);
  if (windows.every(({ to }) => to <= now)) {
    const next = startsBetween(rule, { from: now, to: toEpochMs(now + NEXT_WITHIN_MS) }, 3).map(windowOf);
    windows.push(...next.filter((window) => window.from >= until).slice(0, 1));
  }
  return windows.length === 0 ? null : { rule: post.repeat ?? '', ...inWords(rule), windows };
}

/** Whether the rule of a post has any window. */
function hasAnyWindow(post: MaintenancePost, zone: string): boolean {
  const { from } = firstWindow(post, zone);
  const read = readRule(post, zone);
  return read !== null && startsBetween(read.rule, { from, to: toEpochMs(from + NEXT_WITHIN_MS) }, 1).length > 0;
}

type Rule = InstanceType<typeof rrule.RRule>;

function readRule(post: MaintenancePost, zone: string) {
  const clock = post.timezone ?? zone;
  const { from, to } = firstWindow(post, zone);
  const begins = Temporal.Instant.fromEpochMilliseconds(from).toZonedDateTimeISO(clock).toPlainDateTime();
  try {
    const dtstart = new Date(`${begins.toString({ smallestUnit: 'second' })}Z`);
    const rule = new rrule.RRule({ ...rrule.RRule.parseString(post.repeat ?? ''), dtstart });
    return {
      rule,
      /** A repeated window follows local time: 02:00 stays 02:00 when clocks change. It is as long as the first one. */
      windowOf: (wall: Date): Interval => {
        const plain = Temporal.PlainDateTime.from(wall.toISOString().slice(0, 19));
        const startsAt = toEpochMs(plain.toZonedDateTime(clock).epochMilliseconds);
        return { from: startsAt, to: toEpochMs(startsAt + to - from) };
      },
    };
  } catch {
    return null;
  }
}

/**
 * Starts as wall clock times: the library counts in a clock without zones. A day of margin on both sides covers every
 * offset.
 */
function startsBetween(rule: Rule, { from, to }: Interval, max: number): Date[] {
  return rule.between(new Date(from - DAY_MS), new Date(to + DAY_MS), true, (_, index) => index < max);
}

/** Indexed by the library's numbers for frequencies. */
const EVERY: readonly Recurrence['every'][] = ['year', 'month', 'week', 'day'];

function inWords({ options, origOptions }: Rule): Pick<Recurrence, 'every' | 'interval' | 'weekdays'> {
  const every = EVERY[options.freq] ?? 'day';
  const { interval } = options;
  const named = origOptions.byweekday ?? [];
  const days = Array.isArray(named) ? named : [named];
  const weekdays = days.flatMap((day) =>
    day instanceof rrule.Weekday && day.n === undefined ? [day.weekday + 1] : [],
  );
  return { every, interval, weekdays: every === 'week' ? weekdays.toSorted((a, b) => a - b) : [] };
}
