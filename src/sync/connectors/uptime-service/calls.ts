/**
 * How questions to the uptime service are put, as the document has it or as they were recorded; its monitors with their
 * figures; and revoking a key, the only thing that Pharos ever changes there, when an operator asks for it.
 */

import { z } from 'zod';
import { StatusError } from '../../../errors.ts';
import { type MonitorDetail, type MonitorObservation, toMonitorId } from '../../../model/observation.ts';
import type { ReportedDay } from '../../../model/overlap.ts';
import { MINUTE_MS } from '../../../model/time.ts';
import { ask, attemptEach, type Pull, type PullContext, type Query } from '../../connector.ts';
import { detailsDue, externalIdOf, itemKey } from '../items.ts';
import { type Reading, readOffsetPages } from '../paging.ts';
import { BaseUrlSchema, HeaderNameSchema, SecretSchema } from '../wire.ts';
import { projectDetail } from './project.ts';
import {
  DocumentedMonitorsSchema,
  type MonitorSummary,
  MonitorSummarySchema,
  type MonitorsAnswer,
  RecordedMonitorsSchema,
} from './schema.ts';

const PathSchema = z.string().regex(/^\/[A-Za-z0-9._~/-]*$/, 'expected a path that starts with a slash');

export const OptionsSchema = z.strictObject({
  rpcUrl: BaseUrlSchema.describe('Address of the RPC API.'),
  restUrl: BaseUrlSchema.optional().describe(
    'Address of the REST API, including /v1. Default with the preset: /v1 on the host of rpcUrl.',
  ),
  apiKey: SecretSchema.describe('API key; a read-only key is enough.'),
  preset: z
    .enum(['document', 'openstatus'])
    .default('document')
    .describe('openstatus for openstatus; document for a service that follows the API document.'),
  headerName: HeaderNameSchema.optional().describe('Header that carries the key. Default: depends on the preset.'),
  listMonitorsPath: PathSchema.optional().describe(
    'Path of listMonitors below rpcUrl. Default: depends on the preset.',
  ),
  statusPages: z
    .boolean()
    .optional()
    .describe('Read status pages, reports and maintenance. Default: true with preset: openstatus.'),
  outages: z
    .boolean()
    .optional()
    .describe('Read the outages that the service recorded. Default: true with preset: openstatus.'),
});
export type Options = z.output<typeof OptionsSchema>;

/** The documented largest page of every list. */
const LIMIT = 100;
/** 10,000 monitors, pages or reports; beyond that the total is a mistake. */
const PAGES_MAX = 100;

type Service = 'Monitor' | 'StatusPage' | 'StatusReport' | 'Notification';

function operationPath(options: Options, service: Service, operation: string): string {
  if (operation === 'ListMonitors' && options.listMonitorsPath !== undefined) return options.listMonitorsPath;
  if (options.preset === 'openstatus') {
    const domain = service.replace(/(?<=[a-z])(?=[A-Z])/, '_').toLowerCase();
    return `/openstatus.${domain}.v1.${service}Service/${operation}`;
  }
  return `/${service}Service/${operation.charAt(0).toLowerCase()}${operation.slice(1)}`;
}

function requestHeaders(options: Options): Record<string, string> {
  const name = options.headerName ?? (options.preset === 'openstatus' ? 'x-openstatus-key' : 'x-svc-key');
  return { [name]: options.apiKey };
}

/** One read operation of the RPC API; asking twice does no harm. */
export function call<T>(
  options: Options,
  operation: readonly [Service, string],
  asked: Pick<Query<T>, 'name' | 'priority' | 'body' | 'schema'>,
): Query<T> {
  return {
    ...asked,
    method: 'POST',
    url: `${options.rpcUrl}${operationPath(options, ...operation)}`,
    headers: requestHeaders(options),
    isRepeatable: true,
  };
}

/** The address of the REST API; null: the document does not show it and no option says. */
export function readRestUrl(options: Options): string | null {
  if (options.restUrl !== undefined) return options.restUrl;
  return options.preset === 'openstatus' ? `${new URL(options.rpcUrl).origin}/v1` : null;
}

/** A read of the REST API. */
export function restQuery<T>(options: Options, url: string, asked: Omit<Query<T>, 'url' | 'headers'>): Query<T> {
  return { ...asked, url, headers: requestHeaders(options) };
}

/** A list of the RPC API, read as far as it goes; a failure comes back as such. */
export function readList<T extends { readonly totalSize?: number | null | undefined }>(
  options: Options,
  operation: readonly [Service, string],
  { itemsOf, ...asked }: Pick<Query<T>, 'name' | 'priority' | 'schema'> & { itemsOf: (page: T) => readonly unknown[] },
): Pull<Reading<T>> {
  return readOffsetPages({
    ask: (range) => call(options, operation, { priority: 'incident', ...asked, body: range ?? {} }),
    factsOf: (page) => ({ total: page.totalSize ?? null, ids: itemsOf(page).map((item) => itemKey(item)) }),
    limit: LIMIT,
    pagesMax: PAGES_MAX,
    isNeeded: false,
  });
}

/**
 * Revokes the key `id` (`DELETE /v1/api-key/{id}`); returns what to tell the operator.
 *
 * @throws CONFIG_INVALID without `restUrl`; UPSTREAM_REFUSED for 403 (a read-only key may revoke only itself) and 404
 *   (no such key, or a service that does not offer this), each explained; and whatever the network gives
 */
export function* revokeKey(options: Options, id: string): Pull<string> {
  const restUrl = readRestUrl(options);
  if (restUrl === null)
    throw new StatusError({
      code: 'CONFIG_INVALID',
      message: 'The address of the REST API is unknown. Set restUrl on this upstream.',
      issues: [{ path: 'restUrl', message: 'needed to revoke a key' }],
    });
  const { status } = yield* ask(
    restQuery(options, `${restUrl}/api-key/${encodeURIComponent(id)}`, {
      name: 'revoke key',
      method: 'DELETE',
      schema: z.unknown(),
      acceptStatuses: [403, 404],
      allowEmpty: true,
      isRepeatable: false,
    }),
  );
  if (status !== 403 && status !== 404) return `Revoked key ${id}.`;
  const message = `Key ${id} was not revoked: ${status === 403 ? FORBIDDEN : MISSING}`;
  throw new StatusError({ code: 'UPSTREAM_REFUSED', message, context: { status } });
}

const FORBIDDEN =
  'the configured key is read-only and can revoke only itself (pharos check shows its id). Use a key with write scope, or revoke it in the service’s dashboard.';
const MISSING = 'there is no such key, or the service no longer revokes keys at this address. Check its dashboard.';

/** Summaries asked in one pass at most; no limit is documented, so we stay modest. */
const SUMMARIES_PER_PASS = 10;
/** A summary of seven days need not be asked again before this. */
const SUMMARY_AGE_MIN_MS = 15 * MINUTE_MS;

export function readMonitors(options: Options): Pull<Reading<MonitorsAnswer>> {
  const schema = options.preset === 'openstatus' ? RecordedMonitorsSchema : DocumentedMonitorsSchema;
  return readOffsetPages({
    ask: (range) => call(options, ['Monitor', 'ListMonitors'], { name: 'list monitors', body: range ?? {}, schema }),
    factsOf: ({ total, lists }) => ({ total, ids: lists.flatMap(({ items }) => items.map((item) => itemKey(item))) }),
    limit: LIMIT,
    pagesMax: PAGES_MAX,
    isNeeded: true,
  });
}

/** Figures of seven days for the monitors that were not asked for longest, and the past days of all. */
export function* readSummaries(
  options: Options,
  context: PullContext,
  { monitors, days }: { monitors: readonly MonitorObservation[]; days: ReadonlyMap<string, readonly ReportedDay[]> },
): Pull<MonitorDetail[]> {
  const { upstreamId, now } = context;
  const active = options.preset === 'openstatus' ? monitors.filter(({ state }) => state !== 'paused') : [];
  const toQuery = (id: string): Query<MonitorSummary> =>
    call(options, ['Monitor', 'GetMonitorSummary'], {
      name: 'monitor summary',
      priority: 'detail',
      body: { id, timeRange: 'TIME_RANGE_7D' },
      schema: MonitorSummarySchema,
    });
  const answers = yield* attemptEach(detailsDue(active, context, SUMMARY_AGE_MIN_MS), toQuery, SUMMARIES_PER_PASS);
  const summaries = new Map(
    answers.flatMap(({ item: id, answer }) => (answer.kind === 'ok' ? [[id, answer] as const] : [])),
  );
  const known = new Set(monitors.map(({ id }) => externalIdOf(id)));
  return [...new Set([...summaries.keys(), ...days.keys()].filter((id) => known.has(id)))].map((id) => {
    const { at = now, payload: summary = null } = summaries.get(id) ?? {};
    return projectDetail(toMonitorId(upstreamId, id), at, { summary, days: days.get(id) ?? [] });
  });
}
