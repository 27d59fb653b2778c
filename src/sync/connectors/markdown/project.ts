/** What posts mean: incidents, maintenance windows and announcements. */

import rrule from 'rrule';
import type {
  Announcement,
  Incident,
  Maintenance,
  MonitorId,
  Problem,
  SnapshotPart,
  Update,
} from '../../../model/observation.ts';
import { isOverStatus } from '../../../model/observation.ts';
import { DAY_MS, type EpochMs, toEpochMs, toIso } from '../../../model/time.ts';
import { uniqueById } from '../items.ts';
import { parseInstant } from '../wire.ts';
import { type PostFault, type ReadPost, readPost } from './read.ts';
import type { AnnouncementPost, IncidentPost, MaintenancePost, PostFile } from './schema.ts';

export interface Origin {
  readonly upstreamId: string;
  /** Zone of times without an offset. */
  readonly zone: string;
  readonly now: EpochMs;
  /** Whether posts that are marked as drafts are taken too. Default: they are as good as not there. */
  readonly hasDrafts?: boolean;
}

export interface Projected {
  readonly incidents: readonly Incident[];
  readonly maintenances: readonly Maintenance[];
  readonly announcements: readonly Announcement[];
  readonly problems: readonly Problem[];
  readonly stale: readonly SnapshotPart[];
  readonly itemsTotal: number;
}

/** Repeated windows are told this far back and ahead; the store keeps what is older. */
const WINDOWS_BEFORE_MS = 90 * DAY_MS;
const WINDOWS_AHEAD_MS = 90 * DAY_MS;
/** A daily window over the whole stretch, with some to spare. */
const WINDOWS_MAX = 250;

/** Which part of the snapshot a faulty file would have been in; another file's facts are taken all the same. */
const PART_OF_TYPE: Readonly<Record<string, SnapshotPart>> = {
  incident: 'incidents',
  maintenance: 'maintenances',
  announcement: 'pages',
};
const ALL_PARTS: readonly SnapshotPart[] = ['incidents', 'maintenances', 'pages'];

/**
 * Every post of a folder, sorted by id. Files that are no Markdown and README.md are passed over. A file that cannot be
 * read is told with its field, and the part it belongs to keeps its last value: a typing error must not end an incident.
 */
export function projectPosts(files: readonly PostFile[], origin: Origin): Projected {
  const problems: Problem[] = [];
  const stale = new Set<SnapshotPart>();
  const posts: ReadPost[] = [];
  const markdown = files.filter(({ name }) => /\.(md|markdown)$/i.test(name) && !/^readme\./i.test(name));
  for (const file of markdown) {
    const read = readPost(file, origin.zone);
    const faults = 'post' in read ? checkPost(read, origin.zone) : read;
    for (const fault of faults) {
      problems.push(toProblem(file.name, fault));
      for (const part of staleParts(fault)) stale.add(part);
    }
    if ('post' in read && faults.length === 0 && (!read.post.draft || origin.hasDrafts === true)) posts.push(read);
  }
  const ofType = <Type extends ReadPost['post']['type']>(type: Type) => posts.filter(({ post }) => post.type === type);
  const incidents = uniqueById(
    ofType('incident').map((read) => projectIncident(read, read.post as IncidentPost, origin)),
  );
  const maintenances = uniqueById(
    ofType('maintenance').flatMap((read) => projectMaintenance(read, read.post as MaintenancePost, origin)),
  );
  const announcements = uniqueById(
    ofType('announcement').map((read) => projectAnnouncement(read, read.post as AnnouncementPost, origin)),
  );
  return {
    incidents: incidents.items,
    maintenances: maintenances.items,
    announcements: announcements.items,
    problems: [...problems, ...incidents.problems, ...maintenances.problems, ...announcements.problems],
    stale: ALL_PARTS.filter((part) => stale.has(part)),
    itemsTotal: markdown.length,
  };
}

function toProblem(name: string, { field, message }: PostFault): Problem {
  return { kind: 'note', place: field === '' ? name : `${name}: ${field}`, message };
}

function staleParts({ type }: PostFault): readonly SnapshotPart[] {
  const part = type !== null && Object.hasOwn(PART_OF_TYPE, type) ? PART_OF_TYPE[type] : undefined;
  return part === undefined ? ALL_PARTS : [part];
}

/** Rules between fields, which need the zone. */
function checkPost({ post, updates }: ReadPost, zone: string): PostFault[] {
  const { type } = post;
  const clock = post.type === 'maintenance' ? (post.timezone ?? zone) : zone;
  if (post.type === 'maintenance' && instantOf(post.ends, clock) <= instantOf(post.starts, clock))
    return [{ field: 'ends', message: 'is not after starts', type }];
  if (
    post.type === 'maintenance' &&
    post.repeat !== undefined &&
    maintenanceWindows(post, { zone, now: null }).length === 0
  )
    return [{ field: 'repeat', message: 'is not a rule that gives any window', type }];
  if (post.type === 'announcement' && post.to !== undefined && instantOf(post.to, zone) <= instantOf(post.from, zone))
    return [{ field: 'to', message: 'is not after from', type }];
  if (post.type !== 'incident') return [];
  const hasEnd = post.ended !== undefined || updates.some(({ status }) => isOverStatus(status));
  if (isOverStatus(post.status ?? null) && !hasEnd)
    return [{ field: 'ended', message: `is needed when status is ${post.status}`, type }];
  return [];
}

/** Checked when the front matter was. */
function instantOf(text: string, zone: string): EpochMs {
  return parseInstant(text, zone) ?? toEpochMs(0);
}

function projectIncident(read: ReadPost, post: IncidentPost, { upstreamId, zone }: Origin): Incident {
  const startedAt = instantOf(post.started, zone);
  const updates = read.updates.toSorted((a, b) => a.at - b.at);
  const status =
    post.status ??
    updates.findLast((update) => update.status !== null)?.status ??
    (post.ended === undefined ? 'investigating' : 'resolved');
  const ending =
    updates.findLast((update) => update.status === 'resolved') ??
    updates.findLast((update) => isOverStatus(update.status));
  const endedAt = post.ended === undefined ? (ending?.at ?? startedAt) : instantOf(post.ended, zone);
  const isOpen = !isOverStatus(status) && post.ended === undefined;
  const opening: Update = {
    id: 'opening',
    at: startedAt,
    status: updates.length === 0 ? status : 'investigating',
    body: read.opening,
  };
  return {
    id: `${upstreamId}/${read.name}`,
    title: post.title,
    status: !isOpen && !isOverStatus(status) ? 'resolved' : status,
    impact: post.impact,
    startedAt,
    endedAt: isOpen ? null : toEpochMs(Math.max(startedAt, endedAt)),
    monitors: post.monitors as MonitorId[],
    components: post.components.map((component) => ({ id: toDefinition(component), state: post.state })),
    pages: pagesOf(post),
    affectedState: post.state,
    isOutage: false,
    updates: [
      ...(read.opening === '' ? [] : [opening]),
      ...updates.map(({ at, status: word, body }, index) => ({ id: `${toIso(at)}-${index}`, at, status: word, body })),
    ],
  };
}

/** Pages of the configuration are named by their slug, those of upstreams by `<upstream id>/<page id there>`. */
function pagesOf({
  pages,
  components,
}: {
  pages?: readonly string[] | undefined;
  components: readonly string[];
}): string[] | null {
  if (pages !== undefined) return pages.map((page) => (page.includes('/') ? page : `config/${page}`));
  const own = components.map((component) => toDefinition(component).split('/').slice(0, 2).join('/'));
  return own.length === 0 ? null : [...new Set(own)];
}

/** `acme/api` is a component of the page `acme` of the configuration; with two slashes it is named in full. */
function toDefinition(component: string): string {
  return component.split('/').length > 2 ? component : `config/${component}`;
}

function projectMaintenance(read: ReadPost, post: MaintenancePost, { upstreamId, zone, now }: Origin): Maintenance[] {
  const windows = maintenanceWindows(post, { zone, now });
  return windows.map(({ startsAt, endsAt }) => ({
    id: `${upstreamId}/${read.name}${post.repeat === undefined ? '' : `-${toIso(startsAt).slice(0, 16).replaceAll(/[-:]/g, '')}`}`,
    title: post.title,
    startsAt,
    endsAt,
    monitors: post.monitors as MonitorId[],
    components: post.components.map(toDefinition),
    pages: pagesOf(post),
    updates: read.opening === '' ? [] : [{ id: 'opening', at: startsAt, status: null, body: read.opening }],
  }));
}

/**
 * The windows of a post around `now` (null: the first of them), oldest first. A repeated window keeps to the clock of
 * its zone: 02:00 stays 02:00 when clocks change, and lasts as long as the first.
 */
function maintenanceWindows(
  post: MaintenancePost,
  { zone, now }: { zone: string; now: EpochMs | null },
): { startsAt: EpochMs; endsAt: EpochMs }[] {
  const clock = post.timezone ?? zone;
  const starts = instantOf(post.starts, clock);
  const lastsMs = instantOf(post.ends, clock) - starts;
  if (post.repeat === undefined) return [{ startsAt: starts, endsAt: toEpochMs(starts + lastsMs) }];
  const begins = Temporal.Instant.fromEpochMilliseconds(starts).toZonedDateTimeISO(clock).toPlainDateTime();
  const rule = ruleOf(post.repeat, begins);
  if (rule === null) return [];
  const from = now === null ? starts : now - WINDOWS_BEFORE_MS;
  const until = now === null ? starts + 10 * 365 * DAY_MS : now + WINDOWS_AHEAD_MS;
  // The library counts in a clock without zones; its instants are read as wall clock times of the zone. A day of margin
  // on both sides covers every offset.
  const walls = rule.between(new Date(from - DAY_MS), new Date(until + DAY_MS), true, (_, index) =>
    now === null ? index < 1 : index < WINDOWS_MAX,
  );
  return walls
    .map((wall) => {
      const plain = Temporal.PlainDateTime.from(wall.toISOString().slice(0, 19));
      const startsAt = toEpochMs(plain.toZonedDateTime(clock).epochMilliseconds);
      return { startsAt, endsAt: toEpochMs(startsAt + lastsMs) };
    })
    .filter(({ startsAt, endsAt }) => endsAt > from && startsAt < until);
}

function ruleOf(repeat: string, begins: Temporal.PlainDateTime): InstanceType<typeof rrule.RRule> | null {
  try {
    const dtstart = new Date(`${begins.toString({ smallestUnit: 'second' })}Z`);
    return new rrule.RRule({ ...rrule.RRule.parseString(repeat), dtstart });
  } catch {
    return null;
  }
}

function projectAnnouncement(read: ReadPost, post: AnnouncementPost, { upstreamId, zone }: Origin): Announcement {
  return {
    id: `${upstreamId}/${read.name}`,
    title: post.title,
    body: read.opening,
    level: post.level,
    from: instantOf(post.from, zone),
    to: post.to === undefined ? null : instantOf(post.to, zone),
    pages: post.pages ?? null,
  };
}
