/** The JSON Schema of pharos.yaml, for editors. */

import { z } from 'zod';
import { CHANNEL_KINDS, CHANNEL_SETTINGS, ChannelHeadSchema, ChannelSourceSchema } from './notifications.ts';
import { createConfigSchema } from './rules.ts';
import { type ConnectorOptions, UPSTREAM_COMMON } from './schema.ts';

const OPTIONS = {
  target: 'draft-7',
  io: 'input',
  unrepresentable: 'any',
  // Wherever an address may stand, so may `${NAME}`, which editors would mark as none.
  override: ({ jsonSchema }: { readonly jsonSchema: { format?: unknown } }): void => {
    delete jsonSchema.format;
  },
} as const;

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
  const { id, ...common } = (embedded(z.strictObject(UPSTREAM_COMMON)) as unknown as Part).properties;
  const upstreams = connectors.map(({ kind, optionsSchema }) => {
    const own = z.toJSONSchema(optionsSchema, options) as { properties?: Record<string, unknown>; required?: string[] };
    return {
      type: 'object',
      properties: { id, kind: { const: kind }, ...common, ...own.properties },
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
