/**
 * Uptime Kuma: one of its status pages with groups and monitors, incidents and maintenance. The database has all of it, the
 * public API of the page what visitors see.
 */

import { z } from 'zod';
import { toSlug } from '../../model/slugs.ts';
import { later, toIso } from '../../model/time.ts';
import { check, faultText } from '../../schema/issue-words.ts';
import { IMPACTS } from '../../sync/connectors/uptime-kuma/project.ts';
import { IncidentSchema } from '../../sync/connectors/uptime-kuma/schema.ts';
import { FlagSchema, IdSchema, parseInstant } from '../../sync/connectors/wire.ts';
import { createCheckList } from '../checks.ts';
import { quoted, toTitle } from '../names.ts';
import {
  changed,
  dropped,
  type ImportContext,
  type ImportedPost,
  type ImportedSite,
  type ImportNote,
} from '../site.ts';
import { kumaCheck } from './checks.ts';
import { listWindows, MaintenanceSchema } from './windows.ts';

/** Id of the upstream that goes on watching what Uptime Kuma watches. */
const UPSTREAM_ID = 'kuma';

/** What is read of a page, from wherever. */
export interface KumaPage {
  readonly slug: string;
  readonly title: string;
  readonly description: string | null;
  /** Address of Uptime Kuma; null: it is not known. */
  readonly url: string | null;
  readonly settings?: ImportedSite['settings'];
  readonly groups: readonly KumaGroup[];
  /** Rows of incidents, with the names that the API gives their fields. */
  readonly incidents: readonly unknown[];
  readonly maintenances: readonly unknown[];
  readonly notes: readonly ImportNote[];
}

export interface KumaGroup {
  readonly id: string;
  readonly name: string;
  readonly monitors: readonly KumaMonitor[];
}

interface KumaMonitor {
  readonly id: string;
  readonly name: string;
  /** How it is checked, as the database has it. Absent: the source doesn't say. */
  readonly row?: Readonly<Record<string, unknown>>;
}

const WhenSchema = z.string().nullish().catch(null);
const RowSchema = IncidentSchema.extend({
  pin: FlagSchema.nullish().catch(null),
  active: FlagSchema.nullish().catch(null),
  lastUpdatedDate: WhenSchema,
});

/** The page as posts and components. Never throws. */
export function kumaSite(page: KumaPage, context: ImportContext): ImportedSite {
  const notes: ImportNote[] = [...page.notes];
  const shown = new Map<string, KumaMonitor & { readonly groupId: string }>();
  for (const { id: groupId, name: group, monitors } of page.groups)
    for (const { id, name, row = {} } of monitors)
      if (shown.has(id))
        notes.push(
          dropped(
            `monitor ${quoted(name)} in ${quoted(group)}`,
            'it is in another group too; in Pharos a component has one group',
          ),
        );
      else shown.set(id, { id, name, groupId, row });
  const placed = { ...context, shown: new Set(shown.keys()) };
  const posts = [
    ...page.incidents.flatMap((row, index) => toIncident(row, index, context, notes)),
    ...page.maintenances.flatMap((row, index) => toMaintenance(row, index, placed, notes)),
  ];
  const checks = context.makesChecks === true ? createCheckList(notes) : null;
  const addCheck = ({ name, row = {} }: KumaMonitor): string | null =>
    checks?.add(`monitor ${quoted(name)}`, name, kumaCheck(row)) ?? null;
  notes.push(
    dropped(
      'beats',
      `for the time before today, Pharos has ${checks === null ? 'the heartbeats that the upstream still shows, and ' : ''}the imported incidents`,
    ),
  );
  const isAddressMissing = page.url === null && checks === null;
  return {
    title: page.title,
    description: page.description,
    ...(page.settings === undefined ? {} : { settings: page.settings }),
    groups: page.groups.map(({ id, name }) => ({ id: `group-${toSlug(id)}`, name })),
    components: [...shown.values()].map((monitor) => ({
      id: idOfMonitor(monitor.id),
      name: monitor.name,
      description: null,
      groupId: `group-${toSlug(monitor.groupId)}`,
      monitor: checks === null ? `${UPSTREAM_ID}/${monitor.id}` : addCheck(monitor),
    })),
    upstream:
      checks === null
        ? { id: UPSTREAM_ID, kind: 'uptime-kuma', url: page.url ?? 'https://kuma.example.com', page: page.slug }
        : checks.upstream(),
    posts,
    redirects: { [`/status/${page.slug}/`]: '/', [`/status/${page.slug}/rss/`]: '/feed.rss' },
    notes: isAddressMissing
      ? [
          ...notes,
          changed('upstreams[0].url', 'the database doesn’t contain the address of Uptime Kuma; enter it there'),
        ]
      : notes,
  };
}

function toIncident(row: unknown, index: number, { page }: ImportContext, notes: ImportNote[]): ImportedPost[] {
  const parsed = check(RowSchema, row);
  if (!parsed.success) {
    notes.push(dropped(`incident ${idOf(row, index)}`, faultText(parsed.faults[0])));
    return [];
  }
  const { id, title, content, style, createdDate, pin, active, lastUpdatedDate } = parsed.data;
  const place = `incident ${id}`;
  const impact = typeof style === 'string' && Object.hasOwn(IMPACTS, style) ? IMPACTS[style] : undefined;
  if (impact === undefined) notes.push(changed(place, `its style ${quoted(style)} is unknown; minor is used instead`));
  const isOver = active === false || pin === false;
  const changedAt = parseInstant(lastUpdatedDate ?? '', 'UTC');
  const endedAt = isOver ? later(createdDate, changedAt ?? createdDate) : null;
  // What was taken off the page without being resolved has no time at which that was.
  if (isOver && (active !== false || changedAt === null))
    notes.push(changed(place, `it is over, but its end is unknown; it ends at ${toIso(endedAt ?? createdDate)}`));
  return [
    {
      name: `kuma-incident-${id}`,
      post: {
        type: 'incident',
        title: toTitle(title) ?? `#${id}`,
        impact: impact ?? 'minor',
        state: 'none',
        started: toIso(createdDate),
        ...(endedAt === null ? {} : { ended: toIso(endedAt) }),
        pages: [page],
      },
      opening: content ?? '',
      updates: [],
      addresses: [],
    },
  ];
}

function toMaintenance(
  row: unknown,
  index: number,
  { page, zone, now, shown }: ImportContext & { readonly shown: ReadonlySet<string> },
  notes: ImportNote[],
): ImportedPost[] {
  const parsed = check(MaintenanceSchema, row);
  if (!parsed.success) {
    notes.push(dropped(`maintenance ${idOf(row, index)}`, faultText(parsed.faults[0])));
    return [];
  }
  const maintenance = parsed.data;
  const { id, title, description, active, monitors } = maintenance;
  const place = `maintenance ${id}, ${quoted(title)}`;
  if (active === false) {
    notes.push(dropped(place, 'it is switched off at the source'));
    return [];
  }
  const windows = listWindows(maintenance, { zone, now });
  if (typeof windows === 'string') {
    notes.push(dropped(place, windows));
    return [];
  }
  for (const message of windows.told) notes.push(changed(place, message));
  const components = (monitors ?? []).filter((one) => shown.has(one)).map((one) => `${page}/${idOfMonitor(one)}`);
  return [
    {
      name: `kuma-maintenance-${id}`,
      post: { type: 'maintenance', title: toTitle(title) ?? `#${id}`, ...windows.post, components, pages: [page] },
      opening: description ?? '',
      updates: [],
      addresses: [],
    },
  ];
}

function idOf(row: unknown, index: number): string {
  return IdSchema.safeParse((row as { id?: unknown } | null)?.id).data ?? `at place ${index + 1}`;
}

/** Numbers, unless somebody else answers. */
function idOfMonitor(id: string): string {
  return `monitor-${toSlug(id)}`;
}
