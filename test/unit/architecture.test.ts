import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const SRC = resolve(import.meta.dirname, '../../src');

/** Who may import whom: for each folder, what it may import besides itself. This table is the architecture. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  errors: [],
  model: [],
  views: ['model'],
  badges: ['model', 'views'],
  components: ['model', 'views', 'layouts', 'badges'],
  layouts: ['model', 'views', 'components'],
  pages: ['components', 'layouts', 'badges', 'publish/handed', 'views/html'],
  config: ['model', 'errors', 'badges/options', 'views/theme', 'sync/connector', 'exports/options'],
  'sync/connectors': ['model', 'errors', 'sync/connector'],
  sync: ['model', 'errors', 'store'],
  store: ['model', 'errors'],
  access: ['model', 'errors', 'store'],
  exports: ['model', 'errors', 'store', 'sync/connector'],
  publish: ['model', 'views', 'badges', 'errors', 'store', 'config', 'access'],
  server: ['model', 'errors', 'publish', 'access', 'badges', 'store', 'views'],
  sandbox: ['model', 'errors'],
  cli: ['*'],
  env: ['views', 'publish'],
};

/** Packages that only one place may import, so that it can be replaced or bounded there. */
const ONLY_IN: Readonly<Record<string, readonly string[]>> = {
  undici: ['sync/http.ts', 'sync/http-faults.ts', 'publish/targets/s3-client.ts', 'cli/commands/rebuild.ts'],
  aws4fetch: ['publish/targets/s3-client.ts'],
  'node-cron': ['sync/schedule.ts'],
  'node:sqlite': ['store/sqlite.ts'],
  pg: ['store/postgres'],
  nodemailer: ['access/'],
  satori: ['badges/', 'publish/social-image.ts'],
};

/** Places that may read the clock, chance or the environment; everything else is handed them. */
const EDGES = ['cli/', 'config/load.ts', 'pages/', 'layouts/', 'components/'];
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

function importsOf({ text }: Source, isRunning = false): string[] {
  const code = text.replace(/\/\*[\s\S]*?\*\//g, '');
  const clean = isRunning
    ? code.replace(/(?:^|\n)\s*(?:import|export)\s+type\b[^'"`;]*?from\s*['"][^'"]+['"]/g, '')
    : code;
  return [
    ...clean.matchAll(
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

  it('lets nothing import the command line', () => {
    const faults = all.filter(
      (source) =>
        folderOf(source.path) !== 'cli' &&
        importsOf(source).some((specifier) => internalTarget(source, specifier)?.startsWith('cli/')),
    );
    expect(faults.map((source) => source.path)).toEqual([]);
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

  it('has no cycle among modules that run; types alone make none', () => {
    const graph = new Map(
      all.map((source) => [
        source.path,
        importsOf(source, true)
          .map((specifier) => internalTarget(source, specifier))
          .filter((target) => target !== null),
      ]),
    );
    const done = new Set<string>();
    const cycles: string[] = [];
    const visit = (path: string, trail: readonly string[]): void => {
      if (trail.includes(path)) {
        cycles.push([...trail.slice(trail.indexOf(path)), path].join(' -> '));
        return;
      }
      if (done.has(path)) return;
      for (const target of graph.get(path) ?? []) visit(target, [...trail, path]);
      done.add(path);
    };
    for (const path of graph.keys()) visit(path, []);
    expect(cycles).toEqual([]);
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
});
