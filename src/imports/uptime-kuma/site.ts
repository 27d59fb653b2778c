/**
 * Imports one status page of Uptime Kuma, with its groups, monitors, incidents and maintenance: everything from the
 * database, or what visitors see from the public API.
 */

import { z } from 'zod';
import { isTimezone } from '../../model/scalars.ts';
import { toSlug } from '../../model/slugs.ts';
import { DAY_MS, type EpochMs, later, MINUTE_MS, toEpochMs, toIso } from '../../model/time.ts';
import { IMPACTS, IncidentSchema } from '../../sync/connectors/uptime-kuma/project.ts';
import { FlagSchema, IdSchema, NameSchema, parseInstant, TextSchema } from '../../sync/connectors/wire.ts';
import { createCheckList } from '../checks.ts';
import {
  aboutPage,
  change,
  drop,
  entryFor,
  type ImportContext,
  type ImportedPost,
  type ImportedSite,
  type Importing,
  type ImportNote,
  quoted,
  readItem,
  toTitle,
} from '../site.ts';
import { type KumaMonitor, type KumaPage, kumaCheck } from './read.ts';

/** Id of the upstream that reads Uptime Kuma from now on. */
const UPSTREAM_ID = 'kuma';

const WhenSchema = z.string().nullish().catch(null);
const RowSchema = IncidentSchema.extend({
  pin: FlagSchema.nullish().catch(null),
  active: FlagSchema.nullish().catch(null),
  lastUpdatedDate: WhenSchema,
});

/** Imports the page as posts and components. Never throws. */
export function kumaSite(page: KumaPage, context: ImportContext): ImportedSite {
  const notes: ImportNote[] = [...page.notes];
  const shown = new Map<string, KumaMonitor & { readonly groupId: string }>();
  for (const { id: groupId, name: group, monitors } of page.groups)
    for (const { id, name, row = {} } of monitors)
      if (!shown.has(id)) shown.set(id, { id, name, groupId, row });
      else {
        const place = `monitor ${quoted(name)} in ${quoted(group)}`;
        drop(notes, place, 'it is in another group too; in Pharos a component has one group');
      }
  const ids = new Map([...shown.keys()].map((id) => [id, idOfMonitor(id)]));
  const posts = [
    ...page.incidents.flatMap((row, index) => toIncident(row, index, context, notes)),
    ...page.maintenances.flatMap((row, index) => toMaintenance(row, index, { ...context, ids, notes })),
  ];
  const checks = context.makesChecks === true ? createCheckList(notes) : null;
  const addCheck = ({ name, row = {} }: KumaMonitor): string | null =>
    checks?.add(`monitor ${quoted(name)}`, name, kumaCheck(row)) ?? null;
  drop(
    notes,
    'beats',
    `for the time before today, Pharos has ${checks === null ? 'the heartbeats that the upstream still shows, and ' : ''}the imported incidents`,
  );
  if (page.url === null && checks === null)
    change(notes, 'upstreams[0].url', 'the database doesn’t contain the address of Uptime Kuma; enter it there');
  const { title, description, settings } = page;
  return {
    ...{ title, description, settings },
    groups: page.groups.map(({ id, name }) => ({ id: `group-${toSlug(id)}`, name })),
    components: [...shown.values()].map((monitor) => ({
      id: idOfMonitor(monitor.id),
      name: monitor.name,
      groupId: `group-${toSlug(monitor.groupId)}`,
      monitor: checks === null ? `${UPSTREAM_ID}/${monitor.id}` : addCheck(monitor),
    })),
    upstream:
      checks === null
        ? { id: UPSTREAM_ID, kind: 'uptime-kuma', url: page.url ?? 'https://kuma.example.com', page: page.slug }
        : checks.upstream(),
    posts,
    redirects: { [`/status/${page.slug}/`]: '/', [`/status/${page.slug}/rss/`]: '/feed.rss' },
    notes,
  };
}

function toIncident(row: unknown, index: number, { page }: ImportContext, notes: ImportNote[]): ImportedPost[] {
  const incident = readItem(RowSchema, row, `incident ${rowId(row, index)}`, notes);
  if (incident === null) return [];
  const { id, title, content, style, createdDate, pin, active, lastUpdatedDate } = incident;
  const place = `incident ${id}`;
  const impact = entryFor(IMPACTS, style);
  if (impact === undefined) change(notes, place, `its style ${quoted(style)} is unknown; minor is used instead`);
  const isOver = active === false || pin === false;
  const changedAt = parseInstant(lastUpdatedDate ?? '', 'UTC');
  const endedAt = isOver ? later(createdDate, changedAt ?? createdDate) : null;
  // Incidents that were unpinned without being resolved have no end time.
  if (isOver && (active !== false || changedAt === null))
    change(notes, place, `it is over, but its end is unknown; it ends at ${toIso(endedAt ?? createdDate)}`);
  return [
    {
      name: `kuma-incident-${id}`,
      post: {
        type: 'incident',
        title: toTitle(title) ?? `#${id}`,
        impact: impact ?? 'minor',
        state: 'none',
        started: toIso(createdDate),
        ended: endedAt === null ? undefined : toIso(endedAt),
        pages: [page],
      },
      opening: content ?? '',
    },
  ];
}

function toMaintenance(row: unknown, index: number, { ids, notes, ...context }: Importing): ImportedPost[] {
  const maintenance = readItem(MaintenanceSchema, row, `maintenance ${rowId(row, index)}`, notes);
  if (maintenance === null) return [];
  const { id, title, description, active, monitors } = maintenance;
  const place = `maintenance ${id}, ${quoted(title)}`;
  if (active === false) return drop(notes, place, 'it is switched off at the source');
  const windows = listWindows(maintenance, context);
  if (typeof windows === 'string') return drop(notes, place, windows);
  for (const message of windows.changes) change(notes, place, message);
  const about = aboutPage(
    context,
    (monitors ?? []).flatMap((monitor) => ids.get(monitor) ?? []),
  );
  const post = { type: 'maintenance', title: toTitle(title) ?? `#${id}`, ...windows.post, ...about } as const;
  return [{ name: `kuma-maintenance-${id}`, post, opening: description ?? '' }];
}

function rowId(row: unknown, index: number): string {
  return IdSchema.safeParse((row as { id?: unknown } | null)?.id).data ?? `at place ${index + 1}`;
}

/** Ids are numbers, unless another program answers. */
function idOfMonitor(id: string): string {
  return `monitor-${toSlug(id)}`;
}

// The time of a maintenance in Uptime Kuma: one window, or the first of many with its rule.

const MaintenanceSchema = z.object({
  id: IdSchema,
  title: NameSchema,
  description: TextSchema,
  strategy: z.string(),
  active: FlagSchema.nullish().catch(null),
  /** IANA name, or a word for the server's zone. */
  timezone: z.string().nullish().catch(null),
  /** Local time in that zone. */
  startDate: WhenSchema,
  endDate: WhenSchema,
  /** `02:00`, `02:00:00`. */
  startTime: WhenSchema,
  endTime: WhenSchema,
  intervalDay: z.number().nullish().catch(null),
  weekdays: z.array(z.number()).catch([]),
  daysOfMonth: z.array(z.union([z.number(), z.string()])).catch([]),
  monitors: z.array(IdSchema).nullish().catch(null),
});
type KumaMaintenance = z.output<typeof MaintenanceSchema>;

const WEEKDAYS = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'];

/** The windows as fields of a post, with notes on differences; or the reason why there are none. */
function listWindows(maintenance: KumaMaintenance, { zone, now }: ImportContext) {
  const { strategy, timezone, startDate, endDate } = maintenance;
  const isServers = timezone == null || !isTimezone(timezone);
  const clock = isServers ? zone : timezone;
  const changes = isServers
    ? [`its times are in the server’s time zone; ${zone} is used. Set another with --timezone`]
    : [];
  const from = parseInstant(startDate ?? '', clock);
  const to = parseInstant(endDate ?? '', clock);
  if (strategy === 'single') {
    if (from === null || to === null || to <= from) return 'its window is unreadable, or ends before it begins';
    return { post: { starts: toIso(from), ends: toIso(to) }, changes };
  }
  if (strategy === 'manual') return 'it was switched on by hand and has no start or end; schedule one in Pharos';
  if (strategy === 'cron')
    return 'it repeats by a cron expression; enter it as a rule with `pharos maintenance new --repeat`';
  const rule = toRule(maintenance);
  if (rule === null) return `it repeats in an unsupported way: ${strategy}`;
  const first = firstDay(maintenance, clock, from ?? now);
  if (first === null) return 'its times of day are unreadable';
  const last = to === null ? '' : `;UNTIL=${wallTime(to, clock)}`;
  const lost = maintenance.daysOfMonth.filter((day) => typeof day === 'string' && day !== 'lastDay1');
  return {
    post: { starts: toIso(first.from), ends: toIso(first.to), repeat: rule + last, timezone: clock },
    changes: [
      ...changes,
      ...(from === null ? [`it has no first date; ${toIso(first.from)} is used`] : []),
      ...(lost.length === 0 ? [] : [`its days ${lost.join(', ')} never took effect at the source, but do in Pharos`]),
    ],
  };
}

function toRule({ strategy, intervalDay, weekdays, daysOfMonth }: KumaMaintenance): string | null {
  if (strategy === 'recurring-interval') {
    const days = Math.max(1, Math.trunc(intervalDay ?? 1));
    return days === 1 ? 'FREQ=DAILY' : `FREQ=DAILY;INTERVAL=${days}`;
  }
  if (strategy === 'recurring-weekday') {
    const days = [...new Set(weekdays.map((day) => WEEKDAYS[day % 7]))].filter((day) => day !== undefined);
    return days.length === 0 ? null : `FREQ=WEEKLY;BYDAY=${days.join(',')}`;
  }
  if (strategy !== 'recurring-day-of-month') return null;
  const days = daysOfMonth.map((day) =>
    typeof day === 'number' ? day : -Number(/^lastDay([1-4])$/.exec(day)?.[1] ?? Number.NaN),
  );
  const known = days.filter((day) => Number.isInteger(day) && day !== 0 && day >= -4 && day <= 31);
  return known.length === 0 ? null : `FREQ=MONTHLY;BYMONTHDAY=${[...new Set(known)].join(',')}`;
}

/** The window on the day of `from`. An end that isn't after the start is on the next day. */
function firstDay({ startTime, endTime }: KumaMaintenance, clock: string, from: EpochMs) {
  const [begin, end] = [startTime, endTime].map(parseMinutes);
  if (begin == null || end == null) return null;
  const day = Temporal.Instant.fromEpochMilliseconds(from).toZonedDateTimeISO(clock).toPlainDate();
  const time = Temporal.PlainTime.from({ hour: Math.trunc(begin / 60), minute: begin % 60 });
  const starts = toEpochMs(day.toZonedDateTime({ timeZone: clock, plainTime: time }).epochMilliseconds);
  const lasts = (end - begin) * MINUTE_MS;
  return { from: starts, to: toEpochMs(starts + (lasts > 0 ? lasts : lasts + DAY_MS)) };
}

function parseMinutes(text: string | null | undefined): number | null {
  const [, hours, minutes] = /^(\d{1,2}):(\d\d)(?::\d\d(?:\.\d+)?)?$/.exec(text ?? '') ?? [];
  if (hours === undefined || minutes === undefined || Number(hours) > 23 || Number(minutes) > 59) return null;
  return Number(hours) * 60 + Number(minutes);
}

/** The end of a rule, in local time as posts write it. */
function wallTime(at: EpochMs, clock: string): string {
  const wall = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(clock).toPlainDateTime();
  return `${wall.toString({ smallestUnit: 'second' }).replaceAll(/[-:]/g, '')}Z`;
}
