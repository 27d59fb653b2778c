/** Sites of Upptime as checks. */

import { z } from 'zod';
import { MINUTE_MS } from '../../model/time.ts';
import { check, faultText } from '../../schema/issue-words.ts';
import { type CheckDraft, statusAssertions } from '../checks.ts';

const SiteSchema = z.object({
  url: z.string(),
  method: z.string().nullish(),
  headers: z.array(z.string()).nullish(),
  body: z.string().nullish(),
  check: z.string().nullish(),
  port: z.coerce.number().nullish(),
  expectedStatusCodes: z.array(z.coerce.number().int()).nullish(),
  maxResponseTime: z.coerce.number().nullish(),
  maxRedirects: z.coerce.number().nullish(),
  ipv6: z.boolean().nullish(),
  __dangerous__body_down: z.string().nullish(),
  __dangerous__body_down_if_text_missing: z.string().nullish(),
});
/** What says nothing of how a site is checked. */
const OTHER = new Set(['name', 'slug', 'icon', 'assignees', 'tags', 'verbose', 'type']);
/** GitHub runs its workflow this often unless it is told otherwise. */
const USUAL_MS = 5 * MINUTE_MS;

/** @param schedule  cron expression of the workflow that checks */
export function upptimeCheck(site: object, schedule: unknown): CheckDraft | string {
  const parsed = check(SiteSchema, site);
  if (!parsed.success) return faultText(parsed.faults[0]);
  const { url, method, headers, body, port, check: kind, ...rest } = parsed.data;
  const lost = Object.keys(site).filter((key) => !OTHER.has(key) && !Object.hasOwn(SiteSchema.shape, key));
  const minutes = Number(/^\*\/(\d{1,2}) /.exec(typeof schedule === 'string' ? schedule : '')?.[1] ?? 0);
  const shared = {
    everyMs: minutes > 0 ? minutes * MINUTE_MS : USUAL_MS,
    fields: { ip_version: rest.ipv6 === true ? 6 : null, degraded_at: rest.maxResponseTime },
  };
  if (kind === 'tcp-ping') {
    const uri = `${url.replace(/^\w+:\/\//, '').replace(/[/:].*$/, '')}:${port ?? 80}`;
    return { ...shared, lost, fields: { type: 'tcp', ...shared.fields, uri } };
  }
  if (kind != null && kind !== 'http') return `Pharos has no check ${kind}`;
  const statuses = statusAssertions((rest.expectedStatusCodes ?? []).map((status) => [status, status]));
  if (rest.expectedStatusCodes != null && statuses === null) lost.push('expectedStatusCodes');
  if ((rest.maxRedirects ?? 0) > 0) lost.push('maxRedirects');
  const texts = [
    ['not_contains', rest.__dangerous__body_down],
    ['contains', rest.__dangerous__body_down_if_text_missing],
  ] as const;
  return {
    everyMs: shared.everyMs,
    lost,
    fields: {
      ...{ type: 'http', ...shared.fields, url: toReferences(url), method: method?.toUpperCase() },
      body: body == null ? null : toReferences(body),
      headers: (headers ?? []).map((line) => {
        const [, key = '', value = ''] = /^([^:]*):\s*(.*)$/s.exec(line) ?? [];
        return { key: key.trim(), value: toReferences(value.trim()) };
      }),
      follow_redirects: rest.maxRedirects === 0 ? false : null,
      status_code_assertions: statuses,
      body_assertions: texts.flatMap(([comparator, target]) => (target == null ? [] : [{ comparator, target }])),
    },
  };
}

/** `$NAME` is a secret of the repository. */
function toReferences(text: string): string {
  return text.replaceAll(/\$([A-Z][A-Z0-9_]*)/g, '${$1}');
}
