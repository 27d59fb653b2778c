import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const SRC = resolve(import.meta.dirname, '../../src');

/** Who may import whom: for each folder, what it may import besides itself. This table is the architecture. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  errors: [],
  once: [],
  shorten: [],
  model: [],
  network: ['errors'],
  schema: ['model'],
  looks: ['model'],
  views: ['model', 'looks'],
  badges: ['model', 'once', 'schema', 'looks', 'views'],
  components: ['model', 'looks', 'views'],
  layouts: ['model', 'looks', 'views', 'components'],
  pages: ['components', 'layouts', 'views'],
  config: [
    'model',
    'schema',
    'errors',
    'badges/named',
    'badges/options',
    'views/frame/theme',
    'views/words/index',
    'views/frame/own-stylesheet',
    'sync/connector',
    'sync/connectors/check',
    'exports/options',
  ],
  'sync/connectors': ['model', 'schema', 'errors', 'sync/connector'],
  sync: ['model', 'schema', 'errors', 'network', 'store', 'sync/connectors/check'],
  checks: ['model', 'errors', 'network', 'sync/connectors/check', 'sync/http/body'],
  store: ['model', 'schema', 'errors'],
  transparency: ['model', 'store'],
  mail: ['shorten', 'model'],
  outbox: ['model', 'store'],
  access: ['model', 'errors', 'store', 'mail', 'outbox'],
  notify: [
    'once',
    'shorten',
    'model',
    'schema',
    'errors',
    'config',
    'network',
    'store',
    'mail',
    'outbox',
    'access',
    'looks',
    'views',
    'sync/http/public-only',
    'sync/http/retry-after',
  ],
  exports: ['shorten', 'model', 'schema', 'errors', 'store', 'outbox', 'sync/connector'],
  publish: [
    'model',
    'schema',
    'once',
    'looks',
    'views',
    'layouts/head-script',
    'badges',
    'errors',
    'network',
    'store',
    'config',
    'access',
    'notify/news',
    'transparency',
  ],
  incidents: [
    'model',
    'schema',
    'errors',
    'config',
    'store',
    'sync/connector',
    'sync/connectors',
    'publish',
    'views',
    'access/digest',
    'mail/mail',
    'notify',
  ],
  imports: ['model', 'schema', 'errors', 'sync/connectors'],
  server: [
    'model',
    'schema',
    'errors',
    'config',
    'publish',
    'access',
    'badges',
    'store',
    'views',
    'incidents',
    'notify',
    'once',
  ],
  sandbox: ['model', 'sync/connectors/markdown'],
  app: ['*'],
  cli: ['*'],
  env: ['views', 'publish'],
};

/** Packages that only one place may import, so that it can be replaced or bounded there. */
const ONLY_IN: Readonly<Record<string, readonly string[]>> = {
  undici: [
    'network/dispatcher.ts',
    // Each try of a check has a connection of its own, whose parts are timed.
    'checks/http.ts',
    // This machine's own server.
    'cli/server-client.ts',
    'notify/deliver.ts',
  ],
  aws4fetch: ['publish/targets/s3-client.ts'],
  'node-cron': ['sync/schedule.ts'],
  'node:sqlite': ['store/sqlite'],
  pg: ['store/postgres'],
  nodemailer: ['mail/'],
  'openid-client': ['access/oidc'],
  jose: ['access/oidc'],
  satori: ['badges/', 'publish/files/social-image.ts'],
};

/** Places that may read the clock, chance or the environment; everything else is handed them. */
const EDGES = [
  // node-cron reads the clock itself.
  'sync/schedule.ts',
  'app/',
  'cli/',
  'config/load.ts',
  'layouts/',
  'components/',
];
/** More files side by side than a newcomer reads through; what goes beyond gets folders by what it holds. */
const FILES_MAX = 20;
const FORBIDDEN_NAMES = ['utils', 'lib', 'common', 'shared', 'helpers'];

interface Source {
  readonly path: string;
  readonly text: string;
}

function sources(folder: string): Source[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.(ts|astro|js)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ path: relative(SRC, path), text: readFileSync(path, 'utf8') }));
}

/** What a module imports, types included. */
function importsOf({ text }: Source): string[] {
  const code = text.replace(/\/\*[\s\S]*?\*\//g, '');
  return [
    ...code.matchAll(
      /(?:^|\n)\s*(?:import|export)\b[^'"`;]*?from\s*['"]([^'"]+)['"]|(?:^|\n)\s*import\s*['"]([^'"]+)['"]|import\(\s*['"]([^'"]+)['"]\s*\)/g,
    ),
  ].map((match) => match[1] ?? match[2] ?? match[3] ?? '');
}

function folderOf(path: string): string {
  if (path.startsWith('sync/connectors/')) return 'sync/connectors';
  const [first = ''] = path.split('/');
  return first.replace(/\.(d\.)?ts$/, '');
}

function internalTarget(source: Source, specifier: string): string | null {
  if (!specifier.startsWith('.')) return null;
  const target = relative(SRC, resolve(SRC, dirname(source.path), specifier));
  return target.startsWith('..') ? null : target;
}

function isAllowed(from: string, target: string): boolean {
  const rules = MAY_IMPORT[from];
  if (rules === undefined) return false;
  const to = folderOf(target);
  if (to === from) return true;
  return rules.some(
    (rule) => rule === '*' || rule === to || target.startsWith(`${rule}.`) || target.startsWith(`${rule}/`),
  );
}

const all = sources(SRC);

/** What each file imports of `src`. */
function targetsByFile(): ReadonlyMap<string, readonly string[]> {
  return new Map(
    all.map((source) => [
      source.path,
      importsOf(source)
        .map((specifier) => internalTarget(source, specifier))
        .filter((target) => target !== null),
    ]),
  );
}

/** Circles of a graph, each as its way round. */
function circlesOf(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>();
  const circles: string[] = [];
  const visit = (node: string, trail: readonly string[]): void => {
    if (trail.includes(node)) {
      circles.push([...trail.slice(trail.indexOf(node)), node].join(' -> '));
      return;
    }
    if (done.has(node)) return;
    for (const target of graph.get(node) ?? []) visit(target, [...trail, node]);
    done.add(node);
  };
  for (const node of graph.keys()) visit(node, []);
  return circles;
}

describe('the structure of src', () => {
  it('imports only what the table allows', () => {
    const faults = all.flatMap((source) =>
      importsOf(source)
        .map((specifier) => internalTarget(source, specifier))
        .filter((target) => target !== null)
        .filter((target) => !isAllowed(folderOf(source.path), target))
        .map(
          (target) =>
            `${source.path} imports ${target}: ${folderOf(source.path)} may import ${(MAY_IMPORT[folderOf(source.path)] ?? []).join(', ') || 'nothing'}`,
        ),
    );
    expect(faults).toEqual([]);
  });

  it('keeps each connector away from the others', () => {
    const faults = all
      .filter((source) => /^sync\/connectors\/[^/]+\//.test(source.path))
      .flatMap((source) => {
        const own = source.path.split('/').slice(0, 3).join('/');
        return importsOf(source)
          .map((specifier) => internalTarget(source, specifier))
          .filter(
            (target) => target !== null && /^sync\/connectors\/[^/]+\//.test(target) && !target.startsWith(`${own}/`),
          )
          .map((target) => `${source.path} imports ${target}`);
      });
    expect(faults).toEqual([]);
  });

  it.each([
    ['cli', []],
    ['app', ['cli']],
  ])('lets nothing but %s itself and %j import it', (folder, users) => {
    const faults = all.filter(
      (source) =>
        ![folder, ...users].includes(folderOf(source.path)) &&
        importsOf(source).some((specifier) => internalTarget(source, specifier)?.startsWith(`${folder}/`)),
    );
    expect(faults.map((source) => source.path)).toEqual([]);
  });

  it('loads the sandbox only when it runs', () => {
    const isSandbox = (path: string): boolean => folderOf(path) === 'sandbox';
    const loaders = all
      .filter((source) => !isSandbox(source.path))
      .filter((source) => {
        const loaded = source.text.matchAll(/(?:^|\n)(?:import|export) (?!type )[^;]*?from '([^']+)'/g);
        return [...loaded].some(([, specifier = '']) => isSandbox(internalTarget(source, specifier) ?? ''));
      });
    expect(loaders.map(({ path }) => path)).toEqual([]);
  });

  it('imports bounded packages in their one place only', () => {
    const faults = all.flatMap((source) =>
      importsOf(source)
        .filter((specifier) => Object.hasOwn(ONLY_IN, specifier))
        .filter((specifier) => !ONLY_IN[specifier]?.some((place) => source.path.startsWith(place)))
        .map((specifier) => `${source.path} imports ${specifier}`),
    );
    expect(faults).toEqual([]);
  });

  it('has no circle of imports, types included', () => {
    expect(circlesOf(targetsByFile())).toEqual([]);
  });

  it('has no circle among the folders that stand beside each other', () => {
    const parents = new Set([...targetsByFile().keys()].map((path) => dirname(dirname(path))));
    const circles = [...parents].flatMap((parent) => {
      const childOf = (path: string): string | null => {
        const below = relative(parent, path).split('/');
        return below.length < 2 || below[0] === '..' ? null : (below[0] ?? null);
      };
      const graph = new Map<string, Set<string>>();
      for (const [path, targets] of targetsByFile()) {
        const from = childOf(path);
        if (from === null) continue;
        const others = targets.map(childOf).filter((to) => to !== null && to !== from);
        graph.set(from, new Set([...(graph.get(from) ?? []), ...others.map(String)]));
      }
      return circlesOf(new Map([...graph].map(([from, to]) => [from, [...to]]))).map(
        (circle) => `${parent}: ${circle}`,
      );
    });
    expect(circles).toEqual([]);
  });

  it('has no folder with more files than can be looked over', () => {
    const sizes = Map.groupBy(all, (source) => dirname(source.path));
    const full = [...sizes].filter(([, files]) => files.length > FILES_MAX);
    expect(full.map(([folder, files]) => `${folder}: ${files.length} files`)).toEqual([]);
  });

  it('declares kinds of files where no model is in reach, so that what they draw is what they are handed', () => {
    const [kinds] = all.filter(({ path }) => path === 'publish/files/kinds.ts');
    const faults = [...(kinds?.text ?? '').matchAll(/^(?:export )?(?:let|var) .*|\bPageModel\b.*|files\/.*/gm)];
    expect([kinds?.path, faults.map(([found]) => found)]).toEqual(['publish/files/kinds.ts', []]);
    const makers = all.filter(({ text }) => /\bFileKind<.*> = \{$/m.test(text)).map(({ path }) => path);
    expect(makers).toEqual(['publish/files/kinds.ts']);
  });

  it('reads the clock, chance and the environment at its edges only', () => {
    const faults = all
      .filter((source) => !EDGES.some((edge) => source.path.startsWith(edge)))
      .flatMap((source) => {
        const code = source.text.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, '');
        return [
          ...code.matchAll(/\bDate\.now\(|\bnew Date\(\s*\)|\bMath\.random\(|\bprocess\.env\b|Temporal\.Now\b/g),
        ].map((match) => `${source.path}: ${match[0]}`);
      });
    expect(faults).toEqual([]);
  });

  it('has no folder for homeless functions', () => {
    const names = new Set(all.flatMap((source) => dirname(source.path).split('/')));
    expect(FORBIDDEN_NAMES.filter((name) => names.has(name))).toEqual([]);
  });

  it('has every module that its documents and comments name', () => {
    const root = resolve(SRC, '..');
    const below = ['src', 'test', 'scripts'].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) => `/${folder}/${path}`),
    );
    const files = [...below, ...readdirSync(root).map((name) => `/${name}`)];
    const documents = ['ARCHITECTURE.md', 'CONTRIBUTING.md', 'docs/internals.md', 'docs/connectors.md'].map((path) => ({
      path,
      text: readFileSync(join(root, path), 'utf8'),
    }));
    const lost = [...documents, ...all].flatMap(({ path, text }) =>
      [...text.matchAll(/`([\w./-]+\.(?:ts|astro))`/g)]
        .map(([, name = '']) => name)
        .filter((name) => !files.some((file) => file.endsWith(`/${name}`)))
        .map((name) => `${path}: ${name}`),
    );
    expect(lost).toEqual([]);
  });
});
