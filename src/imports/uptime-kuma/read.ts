/** Reads a status page of Uptime Kuma from its database (versions 1.18 to 2), with its checks, or from its public API. */

import { z } from 'zod';
import { SECOND_MS } from '../../model/time.ts';
import { check, faultText } from '../../schema/issue-words.ts';
import { itemKey } from '../../sync/connectors/items.ts';
import { PageSchema } from '../../sync/connectors/uptime-kuma/project.ts';
import { FlagSchema, IdSchema, NameSchema, NumberSchema, TextSchema } from '../../sync/connectors/wire.ts';
import { type CheckDraft, statusAssertions } from '../checks.ts';
import {
  type Ask,
  askShaped,
  change,
  drop,
  type ImportedSite,
  type ImportNote,
  quoted,
  type Select,
  unreadKeys,
} from '../site.ts';
import unread from '../unread-keys.json' with { type: 'json' };

type Row = Readonly<Record<string, unknown>>;

/** The data of a page, whatever its source. */
export interface KumaPage {
  readonly slug: string;
  readonly title: string;
  readonly description: string | null;
  /** Address of Uptime Kuma; null: unknown. */
  readonly url: string | null;
  readonly settings?: ImportedSite['settings'];
  readonly groups: readonly { readonly id: string; readonly name: string; readonly monitors: readonly KumaMonitor[] }[];
  /** Rows of incidents, with the API's field names. */
  readonly incidents: readonly unknown[];
  readonly maintenances: readonly unknown[];
  readonly notes: readonly ImportNote[];
}

export interface KumaMonitor {
  readonly id: string;
  readonly name: string;
  /** Its row in the database, which says how it is checked. Absent: the source has none. */
  readonly row?: Readonly<Record<string, unknown>>;
}

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
      weekdays: dataIn(String(row['weekdays'])) ?? [],
      daysOfMonth: dataIn(String(row['days_of_month'])) ?? [],
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

const PublicPageSchema = PageSchema.extend({
  config: z.object({ title: NameSchema, description: TextSchema.catch(null) }),
  publicGroupList: z.array(
    z.object({ id: IdSchema, name: NameSchema, monitorList: z.array(z.object({ id: IdSchema, name: NameSchema })) }),
  ),
});
const HistorySchema = z.object({
  incidents: z.array(z.unknown()),
  hasMore: z.boolean().catch(false),
  nextCursor: z.string().nullish().catch(null),
});
/** A page of the history has ten entries. */
const PAGES_MAX = 1_000;

/** Reads a page as visitors see it. @throws a StatusError, or NoKumaPageError if another program answers */
export async function kumaFromApi(ask: Ask, { url, slug }: { readonly url: string; readonly slug: string }) {
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

// Turns monitors in the database into checks.

const ColumnSchema = z.string().nullish();
const MonitorSchema = z.object({
  type: z.string(),
  active: FlagSchema.nullish(),
  interval: NumberSchema,
  timeout: NumberSchema.nullish(),
  maxretries: NumberSchema.nullish(),
  description: ColumnSchema,
  url: ColumnSchema,
  method: ColumnSchema,
  headers: ColumnSchema,
  body: ColumnSchema,
  http_body_encoding: ColumnSchema,
  auth_method: ColumnSchema,
  basic_auth_user: ColumnSchema,
  basic_auth_pass: ColumnSchema,
  keyword: ColumnSchema,
  invert_keyword: FlagSchema.nullish(),
  accepted_statuscodes_json: ColumnSchema,
  maxredirects: NumberSchema.nullish(),
  ip_family: ColumnSchema,
  hostname: ColumnSchema,
  port: NumberSchema.nullish(),
  dns_resolve_type: ColumnSchema,
  dns_resolve_server: ColumnSchema,
  ignore_tls: FlagSchema.nullish(),
  upside_down: FlagSchema.nullish(),
  proxy_id: NumberSchema.nullish(),
  conditions: ColumnSchema,
});
type Monitor = z.output<typeof MonitorSchema>;

export function kumaCheck(row: Readonly<Record<string, unknown>>): CheckDraft | string {
  const parsed = check(MonitorSchema, row);
  if (!parsed.success) return faultText(parsed.faults[0]);
  const monitor = parsed.data;
  // Foreign text must not become a reference to our variables.
  if (Object.values(monitor).some((value) => String(value).includes('${')))
    return 'it contains ${, which pharos.yaml would replace';
  if (monitor.upside_down === true) return 'it is upside down: for it, a failure is good';
  const lost: string[] = [];
  const fields = toFields(monitor, lost);
  if (typeof fields === 'string') return fields;
  if (!['', '[]'].includes(monitor.conditions ?? '')) lost.push('conditions');
  return {
    everyMs: monitor.interval * SECOND_MS,
    lost,
    fields: {
      ...fields,
      active: monitor.active === false ? false : null,
      timeout: (monitor.timeout ?? 0) > 0 ? Math.min(120, monitor.timeout ?? 0) * SECOND_MS : null,
      retry: Math.min(10, monitor.maxretries ?? 0),
      description: monitor.description === '' ? null : monitor.description,
    },
  };
}

function toFields(monitor: Monitor, lost: string[]): Readonly<Record<string, unknown>> | string {
  switch (monitor.type) {
    case 'http':
    case 'keyword':
      return httpFields(monitor, lost);
    case 'port':
      return { type: 'tcp', uri: `${monitor.hostname ?? ''}:${monitor.port ?? ''}` };
    case 'dns':
      return dnsFields(monitor, lost);
    default:
      return `Pharos has no check of the type ${monitor.type.slice(0, 40)}`;
  }
}

function httpFields(monitor: Monitor, lost: string[]): Readonly<Record<string, unknown>> {
  const { auth_method: auth, maxredirects } = monitor;
  const hasUser = (auth == null || auth === 'basic') && (monitor.basic_auth_user ?? '') !== '';
  if (auth != null && !['', 'basic'].includes(auth)) lost.push(`auth_method ${auth}`);
  if (monitor.ignore_tls === true) lost.push('ignore_tls (set `ca` of the upstream)');
  if (monitor.proxy_id != null) lost.push('proxy_id (proxies are those of the environment)');
  if (!['', 'json'].includes(monitor.http_body_encoding ?? '') && (monitor.body ?? '') !== '')
    lost.push('http_body_encoding (add the header Content-Type)');
  const statuses = statusAssertions(rangesIn(monitor.accepted_statuscodes_json));
  if (statuses === null) lost.push('accepted_statuscodes');
  const headers = dataIn(monitor.headers);
  const comparator = monitor.invert_keyword === true ? 'not_contains' : 'contains';
  const keyword = { comparator, target: monitor.keyword ?? '' };
  return {
    ...{ type: 'http', url: monitor.url, method: monitor.method },
    ip_version: monitor.ip_family === 'ipv4' ? 4 : monitor.ip_family === 'ipv6' ? 6 : null,
    body: monitor.body === '' ? null : monitor.body,
    headers: Object.entries(headers ?? {}).map(([key, value]) => ({ key, value: String(value) })),
    auth: hasUser ? { user: monitor.basic_auth_user, password: monitor.basic_auth_pass || '-' } : null,
    follow_redirects: maxredirects === 0 ? false : null,
    status_code_assertions: statuses,
    body_assertions: monitor.type === 'keyword' ? [keyword] : [],
  };
}

function dnsFields(monitor: Monitor, lost: string[]): Readonly<Record<string, unknown>> | string {
  const { hostname: uri, dns_resolve_type: record } = monitor;
  if ((monitor.dns_resolve_server ?? '') !== '') lost.push('dns_resolve_server (set checks.resolver)');
  const shared = { type: 'dns', uri };
  if (record === 'A' || record === 'AAAA') return { ...shared, ip_version: record === 'A' ? 4 : 6 };
  if (record == null || !['CNAME', 'MX', 'TXT'].includes(record))
    return `Pharos has no check of records ${record ?? '?'}`;
  // Any record is accepted.
  return { ...shared, record_assertions: [{ record, comparator: 'contains', target: '' }] };
}

function dataIn(text: string | null | undefined): object | null {
  try {
    const data: unknown = JSON.parse(text ?? '');
    return typeof data === 'object' ? data : null;
  } catch {
    return null;
  }
}

/** Parses `["200-299", "404"]`. */
function rangesIn(text: string | null | undefined): [number, number][] {
  const codes = Object.values(dataIn(text ?? '["200-299"]') ?? {});
  return codes.flatMap((code): [number, number][] => {
    const [, from, to = from] = /^(\d{3})(?:-(\d{3}))?$/.exec(String(code)) ?? [];
    return from === undefined ? [] : [[Number(from), Number(to)]];
  });
}
