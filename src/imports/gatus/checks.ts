/** Turns endpoints of a Gatus configuration, with their conditions, into checks. */

import { z } from 'zod';
import { DAY_MS } from '../../model/time.ts';
import { check, faultText } from '../../schema/issue-words.ts';
import { type CheckDraft, statusAssertions } from '../checks.ts';
import { parseLength } from './config.ts';

const EndpointSchema = z.object({
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
  const parsed = check(EndpointSchema, endpoint);
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
    ...Object.keys(endpoint).filter((key) => !OTHER.has(key) && !Object.hasOwn(EndpointSchema.shape, key)),
    ...Object.keys(settings).map((key) => `client.${key}`),
    ...(record === null ? [] : ['url (the name server; set checks.resolver)']),
  ];
  const shared = { type, timeout: parseLength(String(timeout)) };
  const asserted = toAssertions(conditions ?? [], { type, record }, lost);
  if (type === 'tcp') return { everyMs, lost, fields: { ...shared, ...asserted, uri: url.slice('tcp://'.length) } };
  if (type === 'dns') return { everyMs, lost, fields: { ...shared, ...asserted, uri: dns?.['query-name'] } };
  return {
    everyMs,
    lost,
    fields: {
      ...shared,
      ...asserted,
      ...{ url, method, body, follow_redirects: ignoresRedirects === true ? false : null },
      headers: Object.entries(headers ?? {}).map(([key, value]) => ({ key, value })),
    },
  };
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
  { type, record }: { readonly type: 'http' | 'tcp' | 'dns'; readonly record: string | null },
  lost: string[],
): Readonly<Record<string, unknown>> {
  const statuses: { readonly comparator: string; readonly target: number }[] = [];
  const texts: { readonly comparator: string; readonly target: string }[] = [];
  const numbers: Record<string, number> = {};
  let hasStatus = false;
  const lostBefore = lost.length;
  for (const condition of conditions) {
    const [, subject = '', operator = '', value = ''] =
      /^\s*(\S.*?)\s*(==|!=|<=|>=|<|>)\s*(\S.*?)\s*$/.exec(condition) ?? [];
    const comparator = COMPARATORS[operator] ?? '';
    const found = toAssertion(subject, comparator, value);
    if (found === null || !(found.types ?? ['http', 'tcp', 'dns']).includes(type)) lost.push(condition.slice(0, 100));
    else if ('statuses' in found) {
      hasStatus = true;
      statuses.push(...found.statuses);
    } else if ('text' in found) texts.push(found.text);
    else Object.assign(numbers, found.numbers);
  }
  if (type === 'tcp') return numbers;
  if (type === 'dns') {
    // Without a condition about records, any record is accepted.
    const any = record === 'A' || record === 'AAAA' ? [] : [{ comparator: 'contains', target: '' }];
    return { ...numbers, record_assertions: (texts.length > 0 ? texts : any).map((one) => ({ record, ...one })) };
  }
  // Without a condition about it, Gatus accepts any status. Here it isn't accepted if the deciding condition was lost.
  const others = lost.length > lostBefore ? [] : [{ comparator: 'gte', target: 100 }];
  return {
    ...numbers,
    status_code_assertions: hasStatus ? statuses : others,
    body_assertions: texts,
  };
}

type Assertion = { readonly types?: readonly string[] } & (
  | { readonly statuses: readonly { readonly comparator: string; readonly target: number }[] }
  | { readonly text: { readonly comparator: string; readonly target: string } }
  | { readonly numbers: Readonly<Record<string, number>> }
);

/** Turns a condition into an assertion; null if there is no equivalent. */
function toAssertion(subject: string, comparator: string, value: string): Assertion | null {
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
