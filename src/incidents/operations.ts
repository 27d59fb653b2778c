/**
 * All operations of the API, and those of Statuspage that are missing. Routes and documents are generated from this
 * table.
 */

import { z } from 'zod';
import absent from './absent-operations.json' with { type: 'json' };
import { COMPONENT_OPERATIONS } from './component-operations.ts';
import { INCIDENT_OPERATIONS } from './incident-operations.ts';
import type { Operation } from './operation.ts';
import { PAGE_OPERATIONS, SUBSCRIBER_OPERATIONS } from './page-operations.ts';

export const OPERATIONS: readonly Operation[] = [
  ...PAGE_OPERATIONS,
  ...INCIDENT_OPERATIONS,
  ...COMPONENT_OPERATIONS,
  ...SUBSCRIBER_OPERATIONS,
];

/** What Statuspage has and Pharos doesn't: below `/-/v1/`, with everything below it. Without methods: all of them. */
const ABSENT = absent as readonly {
  readonly path: string;
  readonly methods?: readonly string[];
  readonly status: 404 | 409;
  readonly reason: string;
}[];

/** Finds the operation of an address. Literal segments take precedence over parameters, and `ABSENT` over both. */
export function matchOperation(method: string, path: readonly string[]) {
  const wanted = method === 'HEAD' ? 'GET' : method;
  const missing = ABSENT.flatMap((one) => {
    const names = one.path.split('/');
    const isExact = one.methods !== undefined && names.length !== path.length;
    const params = isExact ? null : matchPath(names, path.slice(0, names.length));
    return params === null || one.methods?.includes(wanted) === false ? [] : [{ absent: one, params }];
  }).at(-1);
  if (missing !== undefined) return { operation: null, methods: [], ...missing };
  const found = OPERATIONS.flatMap((operation) => {
    const params = matchPath(operation.path.split('/'), path);
    return params === null ? [] : [{ operation, params }];
  }).toSorted((a, b) => Object.keys(a.params).length - Object.keys(b.params).length);
  const exact = found.find(({ operation }) => operation.methods.some((known) => known === wanted));
  const methods = found.flatMap(({ operation }) => operation.methods);
  const [first] = found;
  return { operation: exact?.operation ?? null, absent: null, methods, params: (exact ?? first)?.params ?? {} };
}

function matchPath(template: readonly string[], path: readonly string[]): Readonly<Record<string, string>> | null {
  if (template.length !== path.length) return null;
  const params: Record<string, string> = {};
  for (const [index, part] of template.entries()) {
    const [, name] = /^\{(\w+)\}$/.exec(part) ?? [];
    const given = path[index] ?? '';
    if (name === undefined ? part !== given : given === '') return null;
    if (name !== undefined) params[name] = given;
  }
  return params;
}

/** The OpenAPI document, generated from the same table and schemas that requests are validated with. */
const FaultSchema = z.object({
  error: z.array(z.string()),
  message: z.string(),
  issues: z.array(z.object({ path: z.string(), message: z.string() })),
});

const REFUSALS: Readonly<Record<string, string>> = {
  400: 'The body is neither JSON nor a form.',
  401: 'The token is missing, incorrect, expired or revoked.',
  403: 'The token does not have the required scope.',
  404: 'There is nothing with this id on this page.',
  409: 'It wasn’t created here, or this process only serves pages.',
  412: 'Someone else changed it in the meantime (If-Match).',
  413: 'The body is larger than 64 kB.',
  422: 'The request is invalid; each issue names the field.',
  429: 'Too many requests; Retry-After says when.',
};

/** @param version of Pharos */
export function openApiDocument(version: string, siteUrl: string): unknown {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const operation of OPERATIONS) {
    const path = `/${operation.path}`;
    const methods = operation.methods.map((method) => [method.toLowerCase(), operationObject(operation, method)]);
    paths[path] = { ...paths[path], ...Object.fromEntries(methods) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Pharos',
      version,
      description:
        'Pages, incidents, maintenance, components and subscribers, in the format of the Statuspage manage API. Keys that are not listed are ignored.',
    },
    servers: [{ url: `${siteUrl}/-/v1` }],
    security: [{ bearer: [] }, { oauth: [] }],
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        oauth: { type: 'apiKey', in: 'header', name: 'Authorization', description: 'Authorization: OAuth <token>' },
      },
      schemas: { Fault: jsonSchema(FaultSchema, 'output') },
    },
  };
}

function operationObject(operation: Operation, method: string): unknown {
  const { id, summary, path, scope, body, status, answer, query = [] } = operation;
  const parameter = (place: string, name: string, more = {}) => {
    return { name, in: place, required: place === 'path', schema: { type: 'string', ...more } };
  };
  const content = (schema: unknown, ...types: readonly string[]) =>
    Object.fromEntries(['application/json', ...types].map((type) => [type, { schema }]));
  const refusal = content({ $ref: '#/components/schemas/Fault' });
  const headers = [parameter('header', 'Idempotency-Key', { maxLength: 200 }), parameter('header', 'If-Match')];
  return {
    operationId: method === 'PUT' ? `${id}_put` : id,
    summary,
    description: scope === 'read' ? 'Any token of the page.' : `Scope: ${scope}.`,
    parameters: [
      ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => parameter('path', name)),
      ...query.map((name) => parameter('query', name)),
      ...(method === 'GET' ? [] : headers),
    ],
    ...(body !== null && {
      requestBody: { required: true, content: content(jsonSchema(body, 'input'), 'application/x-www-form-urlencoded') },
    }),
    responses: {
      [status]: {
        description: 'Done.',
        ...(answer === null ? {} : { content: content(jsonSchema(answer, 'output')) }),
      },
      ...Object.fromEntries(
        Object.entries(REFUSALS).map(([code, description]) => [code, { description, content: refusal }]),
      ),
    },
  };
}

function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): unknown {
  const { $schema: _, ...plain } = z.toJSONSchema(schema, { io });
  return plain;
}
