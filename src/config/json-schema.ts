/** The JSON Schema of pharos.yaml, for editors. */

import { z } from 'zod';
import { CHANNEL_KINDS, CHANNEL_SETTINGS, ChannelHeadSchema, ChannelSourceSchema } from './notifications.ts';
import { type ConnectorOptions, createConfigSchema, HookSchema, LimitsSchema } from './schema.ts';

const OPTIONS = { target: 'draft-7', io: 'input', unrepresentable: 'any' } as const;

/** A schema as part of another. */
function embedded(schema: z.ZodType): Record<string, unknown> {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, OPTIONS) as Record<string, unknown>;
  return rest;
}

/** An entry of `notifications` of one kind. */
function channelSchema(kind: (typeof CHANNEL_KINDS)[number]): Record<string, unknown> {
  const head = embedded(ChannelHeadSchema) as unknown as Part;
  const own = embedded(CHANNEL_SETTINGS[kind]) as unknown as Part;
  return {
    type: 'object',
    properties: { ...head.properties, kind: { const: kind }, ...own.properties },
    required: ['id', 'kind', ...(own.required ?? [])],
    additionalProperties: false,
  };
}

interface Part {
  readonly properties: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
}

/** What may be written in the file: an upstream is one of the kinds there are, each with its own options. */
export function configJsonSchema(connectors: readonly ConnectorOptions[]): unknown {
  const options = OPTIONS;
  const schema = z.toJSONSchema(createConfigSchema(connectors), options) as { properties: Record<string, unknown> };
  const upstreams = connectors.map(({ kind, optionsSchema }) => {
    const own = z.toJSONSchema(optionsSchema, options) as { properties?: Record<string, unknown>; required?: string[] };
    return {
      type: 'object',
      properties: {
        id: { type: 'string', description: 'Id of the upstream. Its monitors are <id>/<external id>.' },
        kind: { const: kind },
        schedule: { type: 'string', description: 'Cron in UTC. Default: the top-level schedule.' },
        limits: {
          ...embedded(LimitsSchema),
          description: 'Rate limits. Default: the documented limits of this kind.',
        },
        hook: { ...embedded(HookSchema), description: 'Webhook at /-/hooks/<id> that triggers a sync.' },
        ...own.properties,
      },
      required: ['id', 'kind', ...(own.required ?? [])],
      additionalProperties: false,
    };
  });
  return {
    ...schema,
    title: 'pharos.yaml',
    properties: {
      ...schema.properties,
      upstreams: { type: 'array', default: [], items: upstreams.length === 0 ? {} : { anyOf: upstreams } },
      notifications: {
        ...(schema.properties['notifications'] as object),
        items: { anyOf: [...CHANNEL_KINDS.map(channelSchema), embedded(ChannelSourceSchema)] },
      },
    },
  };
}
