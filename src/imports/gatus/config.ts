/** The parts of a Gatus that a source describes, and its configuration as such a source, with its checks. */

import { z } from 'zod';
import { DAY_MS, type EpochMs, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../model/time.ts';
import { check, faultText } from '../../schema/issue-words.ts';
import { ListSchema, NameSchema, TextSchema } from '../../sync/connectors/wire.ts';
import { type CheckDraft, statusAssertions } from '../checks.ts';
import { drop, type ImportNote, quoted, unreadKeys } from '../site.ts';
import unread from '../unread-keys.json' with { type: 'json' };

/** What one source contains. Several sources are merged. */
export interface GatusPart {
  /** Its name in messages. */
  readonly name: string;
  readonly title: string | null;
  readonly description: string | null;
  /** Address of Gatus; null if the source isn't an address. */
  readonly url: string | null;
  readonly endpoints: readonly GatusEndpoint[];
  /** As in the configuration or from the API. */
  readonly announcements: readonly unknown[];
  /** For everything (null), or for an endpoint by its key. */
  readonly maintenance: readonly { readonly key: string | null; readonly value: unknown }[];
  readonly notes: readonly ImportNote[];
}

export interface GatusEndpoint {
  readonly key: string;
  readonly name: string;
  /** Empty: none. */
  readonly group: string;
  /** Its recorded changes. */
  readonly events: readonly { readonly type: string; readonly at: EpochMs }[];
  /** How it is checked. Absent: the source doesn't say. */
  readonly config?: object | undefined;
}

const UNITS_MS: Readonly<Record<string, number>> = { h: HOUR_MS, m: MINUTE_MS, s: SECOND_MS };

/** Parses a Go duration such as `1h30m` to ms; null if it is invalid. */
export function parseLength(text: string): number | null {
  if (!/^(?:\d{1,6}(?:\.\d{1,3})?[hms])+$/.test(text)) return null;
  const ms = [...text.matchAll(/(\d+(?:\.\d+)?)([hms])/g)].reduce(
    (sum, [, amount, unit = '']) => sum + Number(amount) * (UNITS_MS[unit] ?? 0),
    0,
  );
  return ms > 0 ? ms : null;
}

const EndpointSchema = z.object({
  name: NameSchema,
  group: TextSchema.catch(null),
  enabled: z.boolean().nullish().catch(null),
  'maintenance-windows': ListSchema.catch([]),
});
const ConfigSchema = z.object({
  endpoints: ListSchema,
  'external-endpoints': ListSchema,
  suites: ListSchema,
  announcements: ListSchema,
  maintenance: z.unknown().optional(),
  remote: z.unknown().optional(),
  ui: z
    .object({ title: TextSchema, header: TextSchema, description: TextSchema, 'dashboard-subheading': TextSchema })
    .partial()
    .nullish()
    .catch(null),
});

/** With the shape of list items, to find keys that aren't imported. */
const DocumentSchema = ConfigSchema.extend({
  endpoints: z.array(EndpointSchema),
  'external-endpoints': z.array(EndpointSchema),
});

/** Makes a key from group and name like Gatus. */
function gatusKey(group: string, name: string): string {
  const parts = [group, name].map((text) => text.trim().toLowerCase());
  return parts.map((text) => text.replaceAll(/[/_., #+&]/g, '-')).join('_');
}

/** Reads a configuration, a parsed YAML file. */
export function gatusConfig(name: string, value: unknown): GatusPart {
  const parsed = ConfigSchema.safeParse(value);
  const empty = { name, title: null, description: null, url: null, announcements: [], maintenance: [] };
  const notes: ImportNote[] = [];
  if (!parsed.success) return { ...empty, endpoints: drop(notes, name, 'it is not a Gatus configuration'), notes };
  notes.push(...unreadKeys(name, value, DocumentSchema, unread.gatus));
  const { endpoints, announcements, suites, remote, maintenance, ui } = parsed.data;
  const windows: GatusPart['maintenance'][number][] = maintenance == null ? [] : [{ key: null, value: maintenance }];
  const read = [...endpoints, ...parsed.data['external-endpoints']].flatMap((item, index): GatusEndpoint[] => {
    const endpoint = EndpointSchema.safeParse(item).data;
    if (endpoint === undefined) return drop(notes, `${name}: endpoint ${index + 1}`, 'it has no name');
    if (endpoint.enabled === false)
      return drop(notes, `endpoint ${quoted(endpoint.name)}`, 'it is switched off at the source');
    const key = gatusKey(endpoint.group ?? '', endpoint.name);
    windows.push(...endpoint['maintenance-windows'].map((one) => ({ key, value: one })));
    const config = index < endpoints.length ? (item as object) : undefined;
    return [{ key, name: endpoint.name, group: endpoint.group ?? '', events: [], config }];
  });
  if (suites.length > 0) drop(notes, `${suites.length} suites`, 'the gatus upstream doesn’t read suites');
  const remoteWords = 'endpoints of remote instances are not in this configuration; import from the address instead';
  if (remote != null) drop(notes, 'remote', remoteWords);
  return {
    ...{ ...empty, endpoints: read, announcements, maintenance: windows, notes },
    title: ui?.header ?? ui?.title ?? null,
    description: ui?.['dashboard-subheading'] ?? ui?.description ?? null,
  };
}

// Turns endpoints, with their conditions, into checks.

const CheckedSchema = z.object({
  url: z.string(),
  interval: z.string().nullish(),
  conditions: z.array(z.string()).nullish(),
  method: z.string().nullish(),
  body: z.string().nullish(),
  headers: z.record(z.string(), z.coerce.string()).nullish(),
  client: z.record(z.string(), z.unknown()).nullish(),
  dns: z.object({ 'query-name': z.string(), 'query-type': z.string() }).nullish(),
});
/** Keys that don't affect how an endpoint is checked, or that are handled elsewhere. */
const OTHER = new Set(['name', 'group', 'enabled', 'alerts', 'ui', 'maintenance-windows', 'extra-labels']);
const RECORDS = ['A', 'AAAA', 'CNAME', 'MX', 'TXT'];
const INTERVAL = '60s';
const TIMEOUT = '10s';

export function gatusCheck(endpoint: object): CheckDraft | string {
  const parsed = check(CheckedSchema, endpoint);
  if (!parsed.success) return faultText(parsed.faults[0]);
  const { url, dns, client, interval, method, body, headers, conditions } = parsed.data;
  const record = dns?.['query-type'] ?? null;
  if (record !== null && !RECORDS.includes(record)) return `Pharos has no check of records ${record.slice(0, 20)}`;
  const type =
    record !== null ? 'dns' : /^(https?:\/\/|\$\{)/.test(url) ? 'http' : url.startsWith('tcp://') ? 'tcp' : null;
  if (type === null) return `Pharos has no check of ${url.slice(0, 60)}`;
  const everyMs = parseLength(interval ?? INTERVAL);
  if (everyMs === null) return `interval: expected a duration such as 1m30s`;
  const { timeout = TIMEOUT, 'ignore-redirect': ignoresRedirects, ...settings } = client ?? {};
  const lost = [
    ...Object.keys(endpoint).filter((key) => !OTHER.has(key) && !Object.hasOwn(CheckedSchema.shape, key)),
    ...Object.keys(settings).map((key) => `client.${key}`),
    ...(record === null ? [] : ['url (the name server; set checks.resolver)']),
  ];
  const shared = { type, timeout: parseLength(String(timeout)), ...toAssertions(conditions ?? [], type, record, lost) };
  if (type === 'tcp') return { everyMs, lost, fields: { ...shared, uri: url.slice('tcp://'.length) } };
  if (type === 'dns') return { everyMs, lost, fields: { ...shared, uri: dns?.['query-name'] } };
  const request = { url, method, body, follow_redirects: ignoresRedirects === true ? false : null };
  const pairs = Object.entries(headers ?? {}).map(([key, value]) => ({ key, value }));
  return { everyMs, lost, fields: { ...shared, ...request, headers: pairs } };
}

const COMPARATORS: Readonly<Record<string, string>> = {
  '==': 'eq',
  '!=': 'neq',
  '<': 'lt',
  '<=': 'lte',
  '>': 'gt',
  '>=': 'gte',
};

/** Turns conditions into assertions. Conditions without an equivalent are lost. */
function toAssertions(
  conditions: readonly string[],
  type: 'http' | 'tcp' | 'dns',
  record: string | null,
  lost: string[],
): Readonly<Record<string, unknown>> {
  const lostBefore = lost.length;
  const found = conditions.flatMap((condition) => {
    const [, subject = '', operator = '', value = ''] =
      /^\s*(\S.*?)\s*(==|!=|<=|>=|<|>)\s*(\S.*?)\s*$/.exec(condition) ?? [];
    const one = toAssertion(subject, COMPARATORS[operator] ?? '', value);
    if (one !== null && one.types?.includes(type) !== false) return [one];
    lost.push(condition.slice(0, 100));
    return [];
  });
  const statuses = found.some((one) => one.statuses !== undefined) ? found.flatMap((one) => one.statuses ?? []) : null;
  const texts = found.flatMap((one) => one.text ?? []);
  const numbers = Object.fromEntries(found.flatMap((one) => Object.entries(one.numbers ?? {})));
  if (type === 'tcp') return numbers;
  if (type === 'dns') {
    // Without a condition about records, any record is accepted.
    const any = record === 'A' || record === 'AAAA' ? [] : [{ comparator: 'contains', target: '' }];
    return { ...numbers, record_assertions: (texts.length > 0 ? texts : any).map((one) => ({ record, ...one })) };
  }
  // Without a condition about it, Gatus accepts any status. Here it isn't accepted if the deciding condition was lost.
  const others = lost.length > lostBefore ? [] : [{ comparator: 'gte', target: 100 }];
  return { ...numbers, status_code_assertions: statuses ?? others, body_assertions: texts };
}

/** Turns a condition into an assertion for checks of some types (default: all); null if there is no equivalent. */
function toAssertion(subject: string, comparator: string, value: string) {
  const isEqual = comparator === 'eq';
  switch (subject) {
    case '[STATUS]': {
      if (/^\d{3}$/.test(value)) return { types: ['http'], statuses: [{ comparator, target: Number(value) }] };
      const [, list] = /^any\(([\d, ]+)\)$/.exec(value) ?? [];
      const statuses = statusAssertions((list ?? '').split(',').map((one) => [Number(one), Number(one)]));
      return isEqual && list !== undefined && statuses !== null ? { types: ['http'], statuses } : null;
    }
    case '[RESPONSE_TIME]': {
      const ms = /^\d+$/.test(value) ? Number(value) : parseLength(value);
      return comparator.startsWith('lt') && ms !== null ? { numbers: { degraded_at: ms } } : null;
    }
    case '[CERTIFICATE_EXPIRATION]': {
      const days = Math.ceil((parseLength(value) ?? Number.NaN) / DAY_MS);
      return comparator.startsWith('gt') && days <= 365
        ? { types: ['http'], numbers: { certificate_days: days } }
        : null;
    }
    case '[CONNECTED]':
      return isEqual && value === 'true' ? { numbers: {} } : null;
    case '[DNS_RCODE]':
      return isEqual && value === 'NOERROR' ? { numbers: {} } : null;
    case '[BODY]': {
      const [, inside] = /^pat\(\*([^*?[\\]+)\*\)$/.exec(value) ?? [];
      if (!['eq', 'neq'].includes(comparator) || (inside === undefined && /^\w+\(.*\)$/.test(value))) return null;
      const types = ['http', 'dns'];
      if (inside === undefined) return { types, text: { comparator, target: value } };
      return { types, text: { comparator: isEqual ? 'contains' : 'not_contains', target: inside } };
    }
    default:
      return null;
  }
}
