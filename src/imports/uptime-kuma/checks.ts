/** Turns monitors in Uptime Kuma's database into checks. */

import { z } from 'zod';
import { SECOND_MS } from '../../model/time.ts';
import { check, faultText } from '../../schema/issue-words.ts';
import { FlagSchema, NumberSchema } from '../../sync/connectors/wire.ts';
import { type CheckDraft, statusAssertions } from '../checks.ts';

const TextSchema = z.string().nullish();
const MonitorSchema = z.object({
  type: z.string(),
  active: FlagSchema.nullish(),
  interval: NumberSchema,
  timeout: NumberSchema.nullish(),
  maxretries: NumberSchema.nullish(),
  description: TextSchema,
  url: TextSchema,
  method: TextSchema,
  headers: TextSchema,
  body: TextSchema,
  http_body_encoding: TextSchema,
  auth_method: TextSchema,
  basic_auth_user: TextSchema,
  basic_auth_pass: TextSchema,
  keyword: TextSchema,
  invert_keyword: FlagSchema.nullish(),
  accepted_statuscodes_json: TextSchema,
  maxredirects: NumberSchema.nullish(),
  ip_family: TextSchema,
  hostname: TextSchema,
  port: NumberSchema.nullish(),
  dns_resolve_type: TextSchema,
  dns_resolve_server: TextSchema,
  ignore_tls: FlagSchema.nullish(),
  upside_down: FlagSchema.nullish(),
  proxy_id: NumberSchema.nullish(),
  conditions: TextSchema,
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
  const { auth_method: auth, keyword, maxredirects } = monitor;
  const hasUser = (auth == null || auth === 'basic') && (monitor.basic_auth_user ?? '') !== '';
  if (auth != null && !['', 'basic'].includes(auth)) lost.push(`auth_method ${auth}`);
  if (monitor.ignore_tls === true) lost.push('ignore_tls (set `ca` of the upstream)');
  if (monitor.proxy_id != null) lost.push('proxy_id (proxies are those of the environment)');
  if (!['', 'json'].includes(monitor.http_body_encoding ?? '') && (monitor.body ?? '') !== '')
    lost.push('http_body_encoding (add the header Content-Type)');
  const statuses = statusAssertions(rangesIn(monitor.accepted_statuscodes_json));
  if (statuses === null) lost.push('accepted_statuscodes');
  const headers = dataIn(monitor.headers);
  return {
    ...{ type: 'http', url: monitor.url, method: monitor.method },
    ip_version: monitor.ip_family === 'ipv4' ? 4 : monitor.ip_family === 'ipv6' ? 6 : null,
    body: monitor.body === '' ? null : monitor.body,
    headers: Object.entries(headers ?? {}).map(([key, value]) => ({ key, value: String(value) })),
    auth: hasUser ? { user: monitor.basic_auth_user, password: monitor.basic_auth_pass || '-' } : null,
    follow_redirects: maxredirects === 0 ? false : null,
    status_code_assertions: statuses,
    body_assertions:
      monitor.type === 'keyword'
        ? [{ comparator: monitor.invert_keyword === true ? 'not_contains' : 'contains', target: keyword ?? '' }]
        : [],
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
