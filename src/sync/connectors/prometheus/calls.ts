/** What is asked of a Prometheus and its Alertmanager, and the options that it is asked with. */

import { z } from 'zod';
import { isStatusError, type StatusError } from '../../../errors.ts';
import { IdSchema } from '../../../schema/scalars.ts';
import type { Question } from '../../connector.ts';
import { BaseUrlSchema, endpointAddress, HeadersSchema, NameSchema } from '../wire.ts';
import type { Rule } from './project.ts';
import {
  AlertsSchema,
  ConditionSchema,
  conditionOf,
  type QueryAnswer,
  QueryAnswerSchema,
  SelectorSchema,
} from './schema.ts';

const MonitorSchema = z.strictObject({
  id: IdSchema.describe('Part of `<upstream id>/<id>`.'),
  name: NameSchema.describe('Shown on pages.'),
  query: z.string().min(1).max(4_096).describe('PromQL that returns one or more numbers; no number means unknown.'),
  up: ConditionSchema.default('>0').describe('Condition for up; otherwise it is a major outage.'),
  degraded: ConditionSchema.optional().describe('Condition for degraded while it is up.'),
  alerts: z
    .array(SelectorSchema)
    .default([])
    .describe('Alerts about this monitor, by name and labels: Down{job="api"}. Others are never shown.'),
});
export type MonitorOptions = z.output<typeof MonitorSchema>;

export const OptionsSchema = z
  .strictObject({
    url: BaseUrlSchema.describe('Address of Prometheus, without /api/v1.'),
    monitors: z
      .array(MonitorSchema)
      .min(1)
      .default([{ id: 'targets', name: 'Targets', query: 'up', up: '>0', alerts: [] }])
      .describe('Queries with thresholds. Default: one that covers all scraped targets.'),
    alertmanager: BaseUrlSchema.optional().describe(
      'Address of Alertmanager, without /api/v2. Default: none, so there are no incidents.',
    ),
    headers: HeadersSchema.describe('Headers sent with each request, such as Authorization.'),
  })
  .refine(({ monitors }) => new Set(monitors.map(({ id }) => id)).size === monitors.length, {
    path: ['monitors'],
    error: 'two monitors have the same id',
  });
export type Options = z.output<typeof OptionsSchema>;

/** A query that Prometheus cannot carry out; it says so of this query and not of itself. */
const BAD_QUERY: ReadonlySet<unknown> = new Set([400, 422]);

export type Asked = Pick<Question<unknown>, 'name' | 'priority'>;

/** One query, now or over a range. */
export function queryQuestion(
  options: Options,
  path: '/api/v1/query' | '/api/v1/query_range',
  query: Readonly<Record<string, string | number>>,
  asked: Asked,
): Question<QueryAnswer> {
  const { url, headers } = options;
  return { ...asked, method: 'GET', url: endpointAddress(url, path, query), headers, schema: QueryAnswerSchema };
}

/** What the Alertmanager knows of: alerts that are not over. */
export function alertsQuestion(options: Options, alertmanager: string): Question<unknown[]> {
  return {
    name: 'list alerts',
    priority: 'incident',
    method: 'GET',
    url: endpointAddress(alertmanager, '/api/v2/alerts'),
    headers: options.headers,
    schema: AlertsSchema,
  };
}

/** A monitor of the configuration with its conditions read. */
export const ruleOf = ({ id, name, up, degraded }: MonitorOptions): Rule => ({
  id,
  name,
  up: conditionOf(up),
  degraded: degraded === undefined ? null : conditionOf(degraded),
});

/** Whether it is the query that is at fault. */
export function isBadQuery(error: StatusError): boolean {
  return isStatusError(error) && BAD_QUERY.has(error.context['status']);
}
