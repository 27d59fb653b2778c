/**
 * The JSON Schema of pharos.yaml, for editors. Rules between keys stand beside the zod schemas as `meta`, and what depends
 * on a kind as `if` and `then`, so that editors name the key that is wrong. It never rejects what `check` accepts.
 */

import { z } from 'zod';
import { isSecretKey } from '../src/config/load.ts';
import {
  CHANNEL_KINDS,
  CHANNEL_SETTINGS,
  ChannelHeadSchema,
  ChannelSourceSchema,
} from '../src/config/notifications.ts';
import { createConfigSchema } from '../src/config/rules.ts';
import { type ConnectorOptions, UPSTREAM_COMMON } from '../src/config/schema.ts';
import { when } from '../src/schema/scalars.ts';

/** The part of JSON Schema that is looked into. */
interface Node {
  readonly [keyword: string]: unknown;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly Node[];
  readonly pattern?: string;
}

type Override = NonNullable<NonNullable<Parameters<typeof z.toJSONSchema>[1]>['override']>;

/** What zod says of a text that doesn't match, for editors to say too. */
const sayExpected: Override = ({ zodSchema, jsonSchema }) => {
  const checks = [zodSchema, ...(zodSchema._zod.def.checks ?? [])];
  const formats = checks.flatMap(({ _zod: { def } }) => ('format' in def ? [def] : []));
  const said = formats.map(({ error }) => error?.({} as never)).find((words) => typeof words === 'string');
  if (said !== undefined) jsonSchema['patternErrorMessage'] = said;
};

const OPTIONS = { target: 'draft-7', io: 'input', unrepresentable: 'any', override: sayExpected } as const;

function schemaOf(schema: z.ZodType): Node {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, OPTIONS);
  return rest as Node;
}

/** An entry of one kind. */
function entryOf(kind: string, head: z.ZodType, own: Node): Node {
  const { properties: { id, ...common } = {} } = schemaOf(head);
  return {
    type: 'object',
    properties: { ...(id === undefined ? {} : { id }), kind: { const: kind }, ...common, ...own.properties },
    required: ['id', 'kind', ...(own.required ?? [])],
    additionalProperties: false,
  };
}

/** Every key with its type and description; an entry of upstreams and notifications is any of its kinds. */
export function configShape(connectors: readonly ConnectorOptions[]): Node {
  const { properties, ...schema } = schemaOf(createConfigSchema(connectors));
  const upstreams = connectors.map(({ kind, optionsSchema }) =>
    entryOf(kind, z.strictObject(UPSTREAM_COMMON), schemaOf(optionsSchema)),
  );
  const channels = CHANNEL_KINDS.map((kind) => entryOf(kind, ChannelHeadSchema, schemaOf(CHANNEL_SETTINGS[kind])));
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    ...schema,
    title: 'pharos.yaml',
    properties: {
      ...properties,
      upstreams: { type: 'array', default: [], items: upstreams.length === 0 ? {} : { anyOf: upstreams } },
      notifications: {
        ...properties?.['notifications'],
        items: { anyOf: [...channels, schemaOf(ChannelSourceSchema)] },
      },
    },
  };
}

/** What the top-level keys need of each other. */
const MAIL = { required: ['access'], properties: { access: { required: ['smtp', 'from'] } } };
const RULES = [
  when({ subscriptions: { const: true } }, MAIL),
  when({ notifications: { contains: { required: ['kind'], properties: { kind: { const: 'email' } } } } }, MAIL),
  when({ intake: { minItems: 1 } }, { required: ['operators'], properties: { operators: { required: ['token'] } } }),
];

/** What may be written in the file, as editors read it. */
export function configJsonSchema(connectors: readonly ConnectorOptions[]): unknown {
  return { ...forEditors(configShape(connectors), '', false), allOf: RULES };
}

/** `${NAME}` or `${file:/path}`, which may be part of any text. */
const REFERENCE = '\\$\\{';

/** With references wherever a text may stand, nothing else where a secret does, and kinds as `if` and `then`. */
function forEditors(node: Node, path: string, isSecret: boolean): Node {
  const { format, pattern, ...others } = node;
  const inside = (value: unknown): unknown => (isNode(value) ? forEditors(value, path, isSecret) : value);
  const made: Record<string, unknown> = Object.fromEntries(
    Object.entries(others).map(([keyword, value]) => {
      if (keyword === 'properties') return [keyword, propertiesOf(value as Record<string, Node>, path, isSecret)];
      return [keyword, Array.isArray(value) ? value.map(inside) : inside(value)];
    }),
  );
  if (node['type'] === 'string' && isSecret)
    return {
      ...made,
      pattern: REFERENCE,
      patternErrorMessage: 'Secrets must not be in this file. Use ${NAME} or ${file:/path}.',
    };
  const expected = pattern ?? (format === 'uri' ? '^https?://' : undefined);
  if (expected !== undefined) made['pattern'] = `(?:${expected})|${REFERENCE}`;
  if (node['enum'] !== undefined) return orReference(made);
  const hasKinds = node.anyOf?.some((entry) => kindOf(entry) !== undefined) === true;
  return hasKinds ? byKind(made['anyOf'] as readonly Node[]) : made;
}

function propertiesOf(properties: Readonly<Record<string, Node>>, path: string, isSecret: boolean): object {
  return Object.fromEntries(
    Object.entries(properties).map(([key, value]) => {
      const place = path === '' ? key : `${path}.${key}`;
      return [key, isNode(value) ? forEditors(value, place, isSecret || isSecretKey(key, place)) : value];
    }),
  );
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** One of some words, or a reference to one. */
function orReference({ type, enum: words, ...rest }: Readonly<Record<string, unknown>>): Node {
  return {
    ...rest,
    anyOf: [
      { type, enum: words },
      { type: 'string', pattern: REFERENCE },
    ],
  };
}

function kindOf({ properties }: Node): unknown {
  return properties?.['kind']?.['const'];
}

/** An entry by its kind, and by the only one without a kind where it has none. */
function byKind(entries: readonly Node[]): Node {
  const kinds = entries.filter((entry) => kindOf(entry) !== undefined);
  const plain = entries.find((entry) => kindOf(entry) === undefined);
  return {
    type: 'object',
    properties: { kind: { enum: kinds.map(kindOf) } },
    ...(plain === undefined ? { required: ['kind'] } : {}),
    allOf: [
      ...kinds.map((entry) => when({ kind: { const: kindOf(entry) } }, entry)),
      ...(plain === undefined ? [] : [when({ kind: {} }, {}, plain)]),
    ],
  };
}
