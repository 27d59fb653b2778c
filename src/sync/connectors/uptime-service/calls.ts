/** How questions to the uptime service are put: as the document has it, or as they were recorded. */

import { z } from 'zod';
import type { Priority, Pull, Question } from '../../connector.ts';
import { itemKey } from '../items.ts';
import { type Reading, readOffsetPages } from '../paging.ts';
import { BaseUrlSchema, HeaderNameSchema, SecretSchema } from '../wire.ts';
import { ID_FIELD } from './schema.ts';

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
export const LIMIT = 100;
/** 10,000 monitors, pages or reports; beyond that the total is a mistake. */
export const PAGES_MAX = 100;

type Service = 'Monitor' | 'StatusPage' | 'StatusReport' | 'Notification';

function operationPath(options: Options, service: Service, operation: string): string {
  if (operation === 'ListMonitors' && options.listMonitorsPath !== undefined) return options.listMonitorsPath;
  if (options.preset === 'openstatus') {
    const domain = service.replace(/(?<=[a-z])(?=[A-Z])/, '_').toLowerCase();
    return `/openstatus.${domain}.v1.${service}Service/${operation}`;
  }
  return `/${service}Service/${operation.charAt(0).toLowerCase()}${operation.slice(1)}`;
}

export function requestHeaders(options: Options): Record<string, string> {
  const name = options.headerName ?? (options.preset === 'openstatus' ? 'x-openstatus-key' : 'x-svc-key');
  return { [name]: options.apiKey };
}

/** One read operation of the RPC API; asking twice does no harm. */
export function call<T>(
  options: Options,
  operation: readonly [Service, string],
  asked: { name: string; priority: Priority; body: unknown; schema: z.ZodType<T> },
): Question<T> {
  return {
    name: asked.name,
    priority: asked.priority,
    method: 'POST',
    url: `${options.rpcUrl}${operationPath(options, ...operation)}`,
    headers: requestHeaders(options),
    body: asked.body,
    schema: asked.schema,
    isRepeatable: true,
  };
}

/** The address of the REST API; null: the document does not show it and no option says. */
export function restUrlOf(options: Options): string | null {
  if (options.restUrl !== undefined) return options.restUrl;
  return options.preset === 'openstatus' ? `${new URL(options.rpcUrl).origin}/v1` : null;
}

/** A read of the REST API below its `/v1`. */
export function restQuestion<T>(
  options: Options,
  restUrl: string,
  asked: { name: string; priority: Priority; path: string; schema: z.ZodType<T> },
): Question<T> {
  return {
    name: asked.name,
    priority: asked.priority,
    method: 'GET',
    url: `${restUrl}${asked.path}`,
    headers: requestHeaders(options),
    schema: asked.schema,
  };
}

/** The id of an item, or something that no other item has. */
export function itemId(item: unknown): string {
  return itemKey(item, ID_FIELD);
}

/** A list of the RPC API, read as far as it goes; a failure comes back as such. */
export function readList<T extends { readonly totalSize?: number | null | undefined }>(
  options: Options,
  operation: readonly [Service, string],
  list: {
    readonly name: string;
    readonly priority?: Priority;
    readonly schema: z.ZodType<T>;
    readonly itemsOf: (page: T) => readonly unknown[];
  },
): Pull<Reading<T>> {
  return readOffsetPages({
    ask: (range) =>
      call(options, operation, {
        name: list.name,
        priority: list.priority ?? 'incident',
        body: range ?? {},
        schema: list.schema,
      }),
    factsOf: (page) => ({ total: page.totalSize ?? null, ids: list.itemsOf(page).map(itemId) }),
    limit: LIMIT,
    pagesMax: PAGES_MAX,
    isNeeded: false,
  });
}
