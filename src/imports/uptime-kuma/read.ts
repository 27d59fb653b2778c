/** Reads a status page of Uptime Kuma from its database (versions 1.18 to 2), or from its public API. */

import { z } from 'zod';
import { itemKey } from '../../sync/connectors/items.ts';
import { IdSchema, ListSchema, NameSchema, TextSchema } from '../../sync/connectors/wire.ts';
import { type Ask, askShaped, change, drop, type ImportNote, quoted, type Select, unreadKeys } from '../site.ts';
import unread from '../unread-keys.json' with { type: 'json' };
import type { KumaPage } from './site.ts';

type Row = Readonly<Record<string, unknown>>;

/** There is no such page, or several and none was chosen. */
export class NoKumaPageError extends Error {}

/** Reads a page from the database. @throws NoKumaPageError, and database errors if it isn't a database of Uptime Kuma */
export async function kumaFromDatabase(select: Select, wanted: string | undefined): Promise<KumaPage> {
  const pages = await select('SELECT * FROM status_page ORDER BY id');
  const page = wanted === undefined && pages.length === 1 ? pages[0] : pages.find(({ slug }) => slug === wanted);
  if (page === undefined) {
    const slugs = pages.map(({ slug }) => String(slug)).join(', ');
    const which = wanted === undefined ? '' : `there is no status page ${quoted(wanted)}; `;
    throw new NoKumaPageError(
      pages.length === 0 ? 'it has no status page' : `${which}choose one with --status-page: ${slugs}`,
    );
  }
  const id = Number(page['id']);
  const used = Object.fromEntries(Object.entries(page).filter(([, value]) => isSet(value)));
  const notes: ImportNote[] = unreadKeys('status page', used, RowSchema, unread.uptimeKuma);
  const placed = await select(
    `SELECT m.*, g.id AS group_id, g.name AS group_name FROM "group" g
     LEFT JOIN monitor_group mg ON mg.group_id = g.id LEFT JOIN monitor m ON m.id = mg.monitor_id
     WHERE g.status_page_id = ? ORDER BY g.weight, g.id, mg.weight, m.id`,
    [id],
  );
  const incidents = await select('SELECT * FROM incident WHERE status_page_id = ? ORDER BY id', [id]);
  const maintenances = await select(
    `SELECT * FROM maintenance WHERE id IN (SELECT maintenance_id FROM maintenance_status_page WHERE status_page_id = ?)
     ORDER BY id`,
    [id],
  );
  const others = await select(
    'SELECT COUNT(*) AS count FROM maintenance WHERE id NOT IN (SELECT maintenance_id FROM maintenance_status_page)',
  );
  if (Number(others[0]?.['count']) > 0)
    drop(notes, `${Number(others[0]?.['count'])} maintenances`, 'they are on no status page');
  const named = await select('SELECT maintenance_id, monitor_id FROM monitor_maintenance ORDER BY id');
  const passwordWords = 'the page has a password at the source; in Pharos it is public until you set pages[].password';
  if (typeof page['password'] === 'string' && page['password'] !== '') change(notes, 'password', passwordWords);
  return {
    slug: String(page['slug']),
    title: String(page['title']),
    description: typeof page['description'] === 'string' && page['description'] !== '' ? page['description'] : null,
    url: null,
    ...(page['search_engine_index'] === 0 ? { settings: { allow_index: false } } : {}),
    groups: readGroups(placed),
    incidents: incidents.map(inCamelCase),
    maintenances: maintenances.map((row) => ({
      ...inCamelCase(row),
      weekdays: listIn(row['weekdays']),
      daysOfMonth: listIn(row['days_of_month']),
      monitors: named.filter((one) => one['maintenance_id'] === row['id']).map((one) => one['monitor_id']),
    })),
    notes,
  };
}

/** A row with the API's names of fields. */
function inCamelCase(row: Row): Row {
  const renamed = (name: string): string => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [renamed(name), value]));
}

/** Whether a column differs from its default. */
function isSet(value: unknown): boolean {
  return value !== null && value !== '' && value !== 0;
}

const RowSchema = z.object({
  id: IdSchema,
  slug: NameSchema,
  title: NameSchema,
  description: TextSchema,
  password: TextSchema,
});
function readGroups(rows: readonly Row[]): KumaPage['groups'] {
  return [...Map.groupBy(rows, (row) => Number(row['group_id']))].map(([id, members]) => ({
    id: String(id),
    name: String(members[0]?.['group_name']),
    monitors: members
      .filter((row) => row['id'] !== null)
      .map((row) => ({ id: String(row['id']), name: String(row['name']), row })),
  }));
}

function listIn(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return [];
  }
}

const PublicPageSchema = z.object({
  config: z.object({ title: NameSchema, description: TextSchema.catch(null) }),
  publicGroupList: z.array(
    z.object({ id: IdSchema, name: NameSchema, monitorList: z.array(z.object({ id: IdSchema, name: NameSchema })) }),
  ),
  incidents: z.array(z.unknown()).nullish(),
  incident: z.unknown().optional(),
  maintenanceList: ListSchema,
});
const HistorySchema = z.object({
  incidents: z.array(z.unknown()),
  hasMore: z.boolean().catch(false),
  nextCursor: z.string().nullish().catch(null),
});
/** A page of the history has ten entries. */
const PAGES_MAX = 1_000;

/** Reads a page as visitors see it. @throws a StatusError, or NoKumaPageError if another program answers */
export async function kumaFromApi(
  ask: Ask,
  { url, slug }: { readonly url: string; readonly slug: string },
): Promise<KumaPage> {
  const path = `/api/status-page/${encodeURIComponent(slug)}`;
  const answer = await ask(path);
  const parsed = PublicPageSchema.safeParse(answer);
  if (!parsed.success) throw new NoKumaPageError(`${path} is not a status page of Uptime Kuma`);
  const { config, publicGroupList, incidents, incident, maintenanceList } = parsed.data;
  const raw = Object.entries((answer as { config: object }).config);
  const used = Object.fromEntries(raw.filter(([, value]) => isSet(value) && value !== false));
  const notes: ImportNote[] = unreadKeys('status page', used, RowSchema, unread.uptimeKuma);
  const pinned = [...(incidents ?? []), ...(incident == null ? [] : [incident])];
  const past = await readHistory(ask, path, notes);
  const all = new Map([...past, ...pinned].map((row) => [itemKey(row), row]));
  const partial = 'the public page shows only current maintenance, without its monitors; the database has everything';
  if (maintenanceList.length > 0) change(notes, 'maintenance', partial);
  return {
    ...{ ...config, slug, url },
    groups: publicGroupList.map(({ id, name, monitorList }) => ({ id, name, monitors: monitorList })),
    incidents: [...all.values()],
    maintenances: maintenanceList.map(asRow),
    notes,
  };
}

async function readHistory(ask: Ask, path: string, notes: ImportNote[]): Promise<unknown[]> {
  const items: unknown[] = [];
  let cursor = '';
  for (let page = 1; page <= PAGES_MAX; page += 1) {
    const otherwise = 'the response is not from Uptime Kuma';
    const answer = await askShaped(ask, `${path}/incident-history${cursor}`, HistorySchema, otherwise);
    if (typeof answer === 'string') {
      drop(notes, 'incidents of the past', `this version doesn’t list them (${answer}); import its database instead`);
      return items;
    }
    items.push(...answer.incidents);
    if (!answer.hasMore || answer.nextCursor == null) return items;
    cursor = `?cursor=${encodeURIComponent(answer.nextCursor)}`;
  }
  return items;
}

/** Renames the API's fields of a maintenance to those of the database. */
function asRow(item: unknown): unknown {
  const { dateRange, timeRange, timezone } = (item ?? {}) as {
    readonly dateRange?: readonly unknown[];
    readonly timeRange?: readonly { readonly hours?: unknown; readonly minutes?: unknown }[];
    readonly timezone?: unknown;
  };
  const [startTime, endTime] = [0, 1].map((index) => {
    const time = timeRange?.[index];
    const part = (value: unknown): string => (typeof value === 'number' ? String(value).padStart(2, '0') : '');
    return typeof time?.hours === 'number' ? `${part(time.hours)}:${part(time.minutes ?? 0)}` : null;
  });
  const [startDate, endDate] = dateRange ?? [];
  return { ...(typeof item === 'object' ? item : {}), timezone, startDate, endDate, startTime, endTime };
}
