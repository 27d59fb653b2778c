/** The text of docs/configuration.md, made from the schema of pharos.yaml. */

import { stringify } from 'yaml';
import { UPSTREAM_COMMON } from '../src/config/schema.ts';
import { CONNECTORS, connectorOf } from '../src/sync/connectors/index.ts';
import { configShape } from './config-schema.ts';

/** The part of JSON Schema that ours uses. */
interface Node {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly required?: readonly string[];
  readonly items?: Node;
  readonly anyOf?: readonly Node[];
  readonly additionalProperties?: unknown;
}

export interface ReferenceRow {
  /** As in the file, dotted: `pages[].components[].name`. */
  readonly path: string;
  readonly type: string;
  readonly standard: string;
  readonly meaning: string;
}

const INTRODUCTION = `# Configuration: pharos.yaml

*Generated from the schema by \`npm run reference\`.*

This page lists every key. To start, run \`pharos init\` or copy [pharos.example.yaml](../pharos.example.yaml). Then run \`pharos check\`, which
shows every error with its path, line and value.

Write \`\${NAME}\` to read a value from the environment, or \`\${file:/run/secrets/name}\` to read it from a file. Secrets (keys, passwords,
tokens, SMTP URLs, authentication headers) can only be given this way, and are printed as \`***\`. The name of a monitor is
\`<upstream id>/<external id>\`. Missing values and unknown keys are errors.

With this first line, editors with YAML support complete keys and show these descriptions:

\`\`\`yaml
# yaml-language-server: $schema=./docs/pharos.schema.json
site: { url: "https://status.example.com" }
\`\`\`

Send SIGHUP to reload the file ([operating.md](operating.md)). \`data\`, \`server.host\`, \`server.port\`, \`access.sessionHours\`,
\`access.key\` and \`releases\` need a restart. [gates.md](gates.md) explains who can see a page if several sources disagree.
`;

/** What the reference holds: sections in the order of the file, each with its rows. */
export function referenceSections(): readonly {
  readonly title: string;
  readonly note: string;
  readonly rows: readonly ReferenceRow[];
}[] {
  const schema = configShape(CONNECTORS) as Node;
  const { upstreams, notifications, ...others } = schema.properties ?? {};
  const plain = Object.entries(others).filter(([, node]) => node.properties === undefined && node.items === undefined);
  const nested = Object.entries(others).filter(([, node]) => node.properties !== undefined || node.items !== undefined);
  const isRequired = (key: string): boolean => schema.required?.includes(key) === true;
  return [
    {
      title: 'Top level',
      note: '',
      rows: plain.filter(([key]) => key !== 'store').map(([key, node]) => rowOf(key, node, isRequired(key))),
    },
    ...nested
      .filter(([key]) => key === 'site' || key === 'server')
      .map(([key, node]) => ({ title: `\`${key}\``, note: node.description ?? '', rows: rowsBelow(key, node) })),
    ...upstreamSections(upstreams),
    ...nested
      .filter(([key]) => key !== 'site' && key !== 'server')
      .map(([key, node]) => ({
        title: `\`${key}\``,
        note: node.description ?? '',
        rows: node.items === undefined ? rowsBelow(key, node) : rowsBelow(`${key}[]`, node.items),
      })),
    ...channelSections(notifications),
  ];
}

function upstreamSections(upstreams: Node | undefined) {
  const kinds = upstreams?.items?.anyOf ?? [];
  const [first] = kinds;
  const only = (node: Node, isCommon: boolean): Node => ({
    ...node,
    properties: Object.fromEntries(
      Object.entries(node.properties ?? {}).filter(
        ([key]) => key !== 'kind' && Object.hasOwn(UPSTREAM_COMMON, key) === isCommon,
      ),
    ),
  });
  return [
    {
      title: '`upstreams`',
      note: 'Every upstream has an `id` and a `kind`; the rest depends on the kind.',
      rows: first === undefined ? [] : rowsBelow('upstreams[]', only(first, true)),
    },
    ...kinds.map((node) => {
      const kind = String(node.properties?.['kind']?.const);
      return {
        title: `\`upstreams\`, kind \`${kind}\``,
        note: introductionOf(kind),
        rows: rowsBelow('upstreams[]', only(node, false)),
      };
    }),
  ];
}

/** What all channels have in common, then what each kind adds, then what stands beside `from`. */
function channelSections(notifications: Node | undefined) {
  const entries = notifications?.items?.anyOf ?? [];
  const kindOf = ({ properties }: Node): unknown => properties?.['kind']?.const;
  const [first] = entries;
  const common = Object.entries(first?.properties ?? {}).filter(([key]) =>
    entries.every(({ properties }) => properties !== undefined && Object.hasOwn(properties, key)),
  );
  const shared = new Set([...common.map(([key]) => key), 'kind']);
  const ownRows = (node: Node): ReferenceRow[] =>
    rowsBelow('notifications[]', {
      ...node,
      properties: Object.fromEntries(Object.entries(node.properties ?? {}).filter(([key]) => !shared.has(key))),
    });
  return [
    {
      title: '`notifications`',
      note: notifications?.description ?? '',
      rows:
        first === undefined ? [] : rowsBelow('notifications[]', { ...first, properties: Object.fromEntries(common) }),
    },
    ...entries.map((node) => ({
      title:
        kindOf(node) === undefined ? '`notifications`, with `from`' : `\`notifications\`, kind \`${kindOf(node)}\``,
      note: '',
      rows: ownRows(node),
    })),
  ];
}

/** What a kind is, where its document is, and an entry to begin with. */
function introductionOf(kind: string): string {
  const { title, example } = connectorOf(kind);
  const document = `upstreams/${kind}.md`;
  const entry = stringify({ upstreams: [example] }, { lineWidth: 0 }).trimEnd();
  return `${title.replace(/^./, (letter) => letter.toUpperCase())}. See [${document}](${document}).\n\n\`\`\`yaml\n${entry}\n\`\`\``;
}

/** Described in full where they belong: docs/badges.md. */
const ELSEWHERE: ReadonlySet<string> = new Set(['pages[].badge', 'pages[].badges']);

function rowsBelow(path: string, node: Node): ReferenceRow[] {
  return Object.entries(node.properties ?? {}).flatMap(([key, child]) => {
    const place = `${path}.${key}`;
    const own = rowOf(place, child, node.required?.includes(key) === true && child.default === undefined);
    if (ELSEWHERE.has(place)) return [own];
    if (child.properties !== undefined) return [own, ...rowsBelow(place, child)];
    if (child.items?.properties !== undefined) return [own, ...rowsBelow(`${place}[]`, child.items)];
    return [own];
  });
}

function rowOf(path: string, node: Node, isRequired: boolean): ReferenceRow {
  const standard = node.default === undefined ? (isRequired ? '**required**' : '') : standardOf(node.default);
  return { path, type: typeOf(node), standard, meaning: node.description ?? '' };
}

function standardOf(value: unknown): string {
  if (typeof value === 'object' && value !== null && Object.keys(value).length === 0)
    return Array.isArray(value) ? 'none' : '';
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
}

function typeOf(node: Node): string {
  if (node.const !== undefined) return `\`${String(node.const)}\``;
  if (node.enum !== undefined) return node.enum.map((word) => `\`${String(word)}\``).join(', ');
  if (node.anyOf !== undefined) return [...new Set(node.anyOf.map(typeOf))].join(' or ');
  const types = typeof node.type === 'string' ? [node.type] : (node.type ?? ['any']);
  return types.map((type) => typeName(type, node)).join(' or ');
}

function typeName(type: string, node: Node): string {
  if (type === 'array')
    return node.items === undefined ? 'list' : `list of ${typeOf(node.items).replace(/^string$/, 'strings')}`;
  if (type === 'object') return node.properties === undefined ? 'keys and values' : 'section';
  if (type === 'integer' || type === 'number') {
    const least = node.minimum;
    const most = node.maximum !== undefined && node.maximum < Number.MAX_SAFE_INTEGER ? node.maximum : undefined;
    if (least !== undefined && most !== undefined) return `number, ${least} to ${most}`;
    return least === undefined
      ? most === undefined
        ? 'number'
        : `number, at most ${most}`
      : `number, at least ${least}`;
  }
  return { boolean: 'true or false', null: 'none' }[type] ?? type;
}

/** The whole document. */
export function configReference(): string {
  const escaped = (text: string): string =>
    text
      .replaceAll('|', '\\|')
      .replaceAll('\n', ' ')
      .replaceAll(/`[^`]*`|</g, (part) => part.replace(/^<$/, '&lt;'));
  const sections = referenceSections()
    .filter(({ rows, note }) => rows.length > 0 || note !== '')
    .map(({ title, note, rows }) => {
      const lines = rows.map(
        (row) => `| \`${row.path}\` | ${row.type} | ${row.standard.replaceAll('|', '\\|')} | ${escaped(row.meaning)} |`,
      );
      const table = rows.length === 0 ? [] : ['| key | type | default | |', '|---|---|---|---|', ...lines];
      return [`## ${title}`, '', ...(note === '' ? [] : [note, '']), ...table].join('\n').trimEnd();
    });
  return `${[INTRODUCTION.trimEnd(), ...sections].join('\n\n')}\n`;
}
