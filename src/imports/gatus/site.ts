/**
 * Imports Gatus: endpoints, announcements and maintenance from its configuration, and past outages from its database or
 * API. It has no incidents with updates; an announcement is a single text.
 */

import { hash } from 'node:crypto';
import { z } from 'zod';
import { toSlug } from '../../model/slugs.ts';
import { DAY_MS, type EpochMs, toEpochMs, toIso } from '../../model/time.ts';
import { check, faultText } from '../../schema/issue-words.ts';
import { TimezoneSchema } from '../../schema/scalars.ts';
import { ListSchema, NameSchema, parseInstant, TextSchema } from '../../sync/connectors/wire.ts';
import { createCheckList } from '../checks.ts';
import {
  type Ask,
  aboutPage,
  askOptional,
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
  type Select,
  toTitle,
} from '../site.ts';
import { type GatusEndpoint, type GatusPart, gatusCheck, parseLength } from './config.ts';

// A maintenance of Gatus: a time of day and a duration, on all or some weekdays.

const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

const WindowSchema = z.object({
  enabled: z.boolean().nullish(),
  start: z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/),
  duration: z.string(),
  timezone: TimezoneSchema.nullish(),
  every: z.array(z.enum(WEEKDAYS)).nullish(),
});

/** The first window of this year and its rule; null if it is disabled; a text says why it can't be read. */
function repeatedWindow(value: unknown, now: EpochMs) {
  if ((value as { enabled?: unknown } | null)?.enabled === false) return null;
  const parsed = check(WindowSchema, value);
  if (!parsed.success) return faultText(parsed.faults[0]);
  const { start, duration, every } = parsed.data;
  const timezone = parsed.data.timezone ?? 'UTC';
  const lasts = parseLength(duration);
  if (lasts === null || lasts > DAY_MS)
    return `duration: expected a duration such as 1h30m, got ${JSON.stringify(duration.slice(0, 40))}`;
  const year = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timezone).year;
  const first = Temporal.PlainDateTime.from(`${year}-01-01T${start}`).toZonedDateTime(timezone);
  const from = toEpochMs(first.epochMilliseconds);
  // Recurrence rules name a day by its first two letters.
  const days = (every ?? []).map((day) => day.slice(0, 2).toUpperCase());
  return {
    starts: toIso(from),
    ends: toIso(toEpochMs(from + lasts)),
    repeat: days.length === 0 ? 'FREQ=DAILY' : `FREQ=WEEKLY;BYDAY=${[...new Set(days)].join(',')}`,
    timezone,
  };
}

/** Id of the upstream that reads Gatus from now on. */
const UPSTREAM_ID = 'gatus';

const AnnouncementSchema = z.object({
  timestamp: z.string(),
  type: z.string().nullish().catch(null),
  message: z.string().min(1),
  archived: z.boolean().nullish().catch(null),
});

/** Types of announcements. */
const TYPES = {
  outage: { level: 'warning', impact: 'major' },
  warning: { level: 'warning', impact: 'minor' },
  information: { level: 'info', impact: 'none' },
  operational: { level: 'success', impact: 'none' },
  none: { level: 'info', impact: 'none' },
} as const;

/** Merges all parts. Never throws. */
export function gatusSite(parts: readonly GatusPart[], context: ImportContext): ImportedSite {
  const notes = parts.flatMap((part) => part.notes);
  const byKey = new Map<string, GatusEndpoint>();
  for (const endpoint of parts.flatMap((part) => part.endpoints)) {
    const { events, config, ...first } = byKey.get(endpoint.key) ?? { ...endpoint, events: [] };
    const all = [...events, ...endpoint.events].toSorted((a, b) => a.at - b.at);
    byKey.set(endpoint.key, { ...first, events: all, config: config ?? endpoint.config });
  }
  const endpoints = [...byKey.values()];
  const checks = context.makesChecks === true ? createCheckList(notes) : null;
  const names = new Set(endpoints.map(({ group }) => group).filter((name) => name !== ''));
  const { groups, components, ids } = layOut(
    [...names].map((name) => ({ key: name, name })),
    endpoints.map(({ key, name, group, config }) => {
      const draft = config === undefined ? 'only its configuration says how it is checked' : gatusCheck(config);
      const monitor = checks === null ? `${UPSTREAM_ID}/${key}` : checks.add(`endpoint ${quoted(name)}`, name, draft);
      return { key, name, group, monitor };
    }),
  );
  const announcements = parts.flatMap((part) => part.announcements);
  const importing = { ...context, ids, notes };
  const posts = [
    ...announcements.flatMap((item, index) => toAnnouncement(item, index, importing)),
    ...parts.flatMap((part) => part.maintenance).flatMap((item) => toMaintenance(item, importing)),
    ...endpoints.flatMap((endpoint) => listOutages(endpoint, importing)),
  ];
  const url = parts.find((part) => part.url !== null)?.url ?? null;
  if (url === null && checks === null)
    change(notes, 'upstreams[0].url', 'the address of Gatus is unknown; enter it there');
  return {
    title: parts.find((part) => part.title !== null)?.title ?? null,
    description: parts.find((part) => part.description !== null)?.description ?? null,
    groups,
    components,
    upstream:
      checks === null ? { id: UPSTREAM_ID, kind: 'gatus', url: url ?? 'https://gatus.example.com' } : checks.upstream(),
    posts: [...new Map(posts.map((post) => [post.name, post])).values()],
    redirects: Object.fromEntries([...ids].map(([key, id]) => [`/endpoints/${key}/`, `/components/${id}/`])),
    notes,
  };
}

/** `2026-08-18T10:00:00Z`, or Go's format in databases: `2026-08-18 10:00:00.123456789 +0000 UTC`. */
function goInstant(text: string): EpochMs | null {
  const [, day, time, offset = '+00', minutes = '00'] =
    /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?))?\s*(?:Z|([+-]\d\d):?(\d\d))?/.exec(text.trim()) ??
    [];
  return day === undefined ? null : parseInstant(`${day}T${time ?? '00:00:00'}${offset}:${minutes}`, null);
}

function toAnnouncement(item: unknown, index: number, { page, notes }: Importing): ImportedPost[] {
  const parsed = AnnouncementSchema.safeParse(item);
  const at = parsed.success ? goInstant(parsed.data.timestamp) : null;
  if (!parsed.success || at === null) return drop(notes, `announcement ${index + 1}`, 'it has no message or no time');
  const { type, message, archived } = parsed.data;
  const known = entryFor<(typeof TYPES)[keyof typeof TYPES]>(TYPES, type ?? 'none');
  if (known === undefined)
    change(notes, `announcement of ${toIso(at)}`, `its type ${quoted(type ?? '')} is unknown; none is used instead`);
  const { level, impact } = known ?? TYPES.none;
  const title = toTitle(message.split('\n').find((line) => line.trim() !== '') ?? '') ?? 'Announcement';
  const name = `gatus-${fileStamp(at)}-${hash('sha256', message, 'hex').slice(0, 8)}`;
  const shared = { name, opening: message };
  // Archived announcements are past events in Gatus.
  if (archived !== true)
    return [{ ...shared, post: { type: 'announcement', title, level, from: toIso(at), pages: [page] } }];
  const times = { started: toIso(at), ended: toIso(at) };
  return [{ ...shared, post: { type: 'incident', title, impact, state: 'none', ...times, pages: [page] } }];
}

function fileStamp(at: EpochMs): string {
  return toIso(at).slice(0, 19).replaceAll(/[-:]/g, '').toLowerCase();
}

function toMaintenance({ key, value }: GatusPart['maintenance'][number], importing: Importing): ImportedPost[] {
  const { ids, notes, now } = importing;
  const place = key === null ? 'maintenance' : `maintenance of ${key}`;
  const window = repeatedWindow(value, now);
  if (window === null) return [];
  if (typeof window === 'string') return drop(notes, place, window);
  change(notes, place, `it has no first date; ${window.starts} is used`);
  const about = aboutPage(importing, key === null ? ids.values() : [ids.get(key)].filter((id) => id !== undefined));
  const when = toSlug(`${window.repeat} ${window.starts.slice(11, 16)}`);
  const name = ['gatus-maintenance', ...(key === null ? [] : [toSlug(key)]), when].join('-');
  return [{ name, post: { type: 'maintenance', title: 'Maintenance', ...window, ...about } }];
}

function listOutages({ key, name, events }: GatusEndpoint, { ids, notes, ...context }: Importing): ImportedPost[] {
  const posts: ImportedPost[] = [];
  let downAt: EpochMs | null = null;
  for (const { type, at } of events) {
    if (type === 'UNHEALTHY') downAt ??= at;
    if (type !== 'HEALTHY' || downAt === null) continue;
    posts.push({
      name: `gatus-${toSlug(key)}-${fileStamp(downAt)}`,
      post: {
        type: 'incident',
        title: toTitle(`${name} was down`) ?? key,
        impact: 'minor',
        state: 'major_outage',
        started: toIso(downAt),
        ended: toIso(at),
        ...aboutPage(context, [ids.get(key) ?? key]),
      },
    });
    downAt = null;
  }
  if (downAt !== null)
    drop(
      notes,
      `endpoint ${quoted(name)}`,
      `it has been down since ${toIso(downAt)}; Pharos shows that from its first pass on`,
    );
  return posts;
}

/** The maximum number of endpoints per request. */
const PAGE_SIZE = 100;

const StatusesSchema = z.array(
  z.object({ key: z.string().regex(/^[^\p{Cc}\s/]{1,500}$/u), name: NameSchema, group: TextSchema.catch(null) }),
);
const EventsSchema = z.object({ events: z.array(z.object({ type: z.string(), timestamp: z.string() })).nullish() });
const ConfigSchema = z.object({ announcements: ListSchema });

const NO_TITLE = { title: null, description: null, maintenance: [] };

/** Reads the API of Gatus, which has no maintenance. @throws a StatusError */
export async function gatusFromApi(ask: Ask, url: string): Promise<GatusPart> {
  const notes: ImportNote[] = [];
  drop(notes, 'maintenance, title', 'the API doesn’t provide them; import the configuration too');
  const answer = StatusesSchema.safeParse(await ask(`/api/v1/endpoints/statuses?page=1&pageSize=${PAGE_SIZE}`));
  if (!answer.success) drop(notes, '/api/v1/endpoints/statuses', 'it is not a list of endpoints');
  const endpoints: GatusEndpoint[] = [];
  for (const { key, name, group } of answer.data ?? []) {
    const path = `/api/v1/endpoints/${encodeURIComponent(key)}/statuses?page=1&pageSize=1`;
    const status = await askOptional(ask, path, notes, `events of ${key}`);
    const events = EventsSchema.safeParse(status).data?.events ?? [];
    endpoints.push({ key, name, group: group ?? '', events: readEvents(events) });
  }
  const config = await askOptional(ask, '/api/v1/config', notes, 'announcements');
  const announcements = ConfigSchema.safeParse(config).data?.announcements ?? [];
  return { ...NO_TITLE, name: url, url, endpoints, announcements, notes };
}

/** Reads endpoints and their last changes from the database. */
export async function gatusFromDatabase(select: Select, name: string): Promise<GatusPart> {
  const rows = await select(
    'SELECT endpoint_id, endpoint_key, endpoint_name, endpoint_group FROM endpoints ORDER BY endpoint_id',
  );
  const events = await select(
    'SELECT endpoint_id, event_type AS type, event_timestamp AS timestamp FROM endpoint_events ORDER BY endpoint_event_id',
  );
  const byEndpoint = Map.groupBy(events, (event) => event['endpoint_id']);
  const endpoints = rows.map((row) => ({
    key: String(row['endpoint_key']),
    name: String(row['endpoint_name']),
    group: String(row['endpoint_group']),
    events: readEvents(byEndpoint.get(row['endpoint_id']) ?? []),
  }));
  return { ...NO_TITLE, name, url: null, endpoints, announcements: [], notes: [] };
}

function readEvents(events: readonly { readonly type?: unknown; readonly timestamp?: unknown }[]) {
  return events.flatMap(({ type, timestamp }) => {
    const at = goInstant(String(timestamp));
    return at === null ? [] : [{ type: String(type), at }];
  });
}
