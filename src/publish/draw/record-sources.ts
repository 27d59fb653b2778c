/**
 * Notes what the build of the pages reads, for each of Astro's pages: `sources.json` beside what is built. Loaded by
 * `astro.config.mjs` only. Nobody lists these files, so none can be forgotten: they are those that the build came to.
 */

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, extname, isAbsolute, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AstroIntegration } from 'astro';
import { digestOfFile, readModules } from './module-graph.ts';
import { ownParts, realPath } from './own-components.ts';
import { packageFiles } from './package-files.ts';

export const SOURCES_FILE = 'sources.json';

/** What a build was made from. Paths are below the project's folder; packages are their `package.json`. */
export interface RecordedSources {
  /** SHA-256 of every file. */
  readonly digests: Readonly<Record<string, string>>;
  /** What builds, and what is in every page. */
  readonly ofAll: readonly string[];
  /** What each page is made of besides, by its name. */
  readonly pages: Readonly<Record<string, readonly string[]>>;
  /** Folder of an operator's components, and the parts that they replace; empty: there are none. */
  readonly parts: readonly string[];
}

/** The part of the bundler's plugins that is used here. */
interface PluginContext {
  readonly getModuleIds: () => Iterable<string>;
  readonly getModuleInfo: (
    id: string,
  ) => { readonly importedIds: readonly string[]; readonly dynamicallyImportedIds: readonly string[] } | null;
  readonly error: (message: string) => never;
}

/**
 * Makes the integration.
 *
 * @param config  address of the module that configures the build
 * @param own     folder of an operator's components, which are sources too
 */
export function recordSources(config: string, own: string | undefined): AstroIntegration {
  const root = dirname(fileURLToPath(config));
  const roots = own === undefined ? [root] : [root, own];
  const fileOf = (id: string): string => realPath(root, own, id.split('?')[0] ?? '');
  /** The file that a module is, or is a part of (`Page.astro?astro&type=style`); else its id. */
  const nodeOf = (id: string): string => (isOwn(roots, fileOf(id)) ? fileOf(id) : id);
  /** By path, taken before a file is read, so that one which changes meanwhile is seen to have changed. */
  const digests = new Map<string, string>();
  const imports: Imports = new Map();
  const plugin = {
    name: 'record-sources',
    enforce: 'pre' as const,
    load: {
      // Before any that reads the file itself.
      order: 'pre' as const,
      handler(this: PluginContext, id: string): null {
        const file = fileOf(id);
        if (!isOwn(roots, file) || digests.has(file)) return null;
        if (extname(file) === '.css' && NAMES_FILES.test(readFileSync(file, 'utf8')))
          this.error(`${file} imports another file; import that in a component, where changes are noticed`);
        digests.set(file, digestOfFile(file));
        return null;
      },
    },
    /** Once for the server and once for the browser's scripts; together they are the graph. */
    generateBundle(this: PluginContext): void {
      for (const id of this.getModuleIds()) {
        const from = nodeOf(id);
        const to = imports.getOrInsertComputed(from, () => new Set());
        const { importedIds = [], dynamicallyImportedIds = [] } = this.getModuleInfo(id) ?? {};
        // What the compiler makes up imports every page like this.
        const later = isOwn(roots, from) ? dynamicallyImportedIds : [];
        for (const imported of [...importedIds, ...later]) to.add(nodeOf(imported));
      }
    },
  };
  let builders: readonly string[] = [];
  let outFolder = '';
  return {
    name: 'record-sources',
    hooks: {
      'astro:config:setup': ({ updateConfig }) => void updateConfig({ vite: { plugins: [plugin] } }),
      'astro:config:done': (options) => {
        outFolder = fileURLToPath(options.config.outDir);
        builders = [...readModules(config).filesOf(config), join(root, 'tsconfig.json')];
        for (const file of builders) digests.set(file, digestOfFile(file));
      },
      'astro:build:done': () => {
        const record = {
          ...recordOf(root, { digests, imports, builders }),
          parts: own === undefined ? [] : [own, ...ownParts(own)],
        };
        writeFileSync(join(outFolder, SOURCES_FILE), JSON.stringify(record));
      },
    },
  };
}

/** Astro's pages, by their names: each is found by its place, and nothing imports it. None where there are no sources. */
export function astroPages(root: string): readonly string[] {
  const folder = join(root, 'src/pages');
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.astro')) : [];
  return names.map((name) => basename(name, '.astro')).sort();
}

/** Style sheets are no modules: the bundler puts the files that one names into it, and tells nobody. */
const NAMES_FILES = /@import\b|url\((?!\s*['"]?(?:data:|#))/;

function isOwn(roots: readonly string[], path: string): boolean {
  const places = roots.map((root) => relative(root, path));
  return (
    isAbsolute(path) && places.some((place) => !place.startsWith('..') && !place.split('/').includes('node_modules'))
  );
}

/** What imports what: paths of our files, ids of packages' and of what the compiler makes up. */
type Imports = Map<string, Set<string>>;

interface Reading {
  readonly digests: ReadonlyMap<string, string>;
  readonly imports: Imports;
  /** Paths of what builds. */
  readonly builders: readonly string[];
}

function recordOf(root: string, { digests, imports, builders }: Reading): Omit<RecordedSources, 'parts'> {
  const pages = new Map(
    astroPages(root).map((name) => [name, reached(imports, join(root, `src/pages/${name}.astro`))]),
  );
  // What is of no page is of all: the entry, and what the compiler makes up.
  const ofPages = new Set([...pages.values()].flatMap((nodes) => [...nodes]));
  const others = [...imports.keys()].filter((node) => !ofPages.has(node));
  const packages = new Map<string, readonly string[]>();
  const filesOf = (nodes: Iterable<string>): string[] => {
    const files = [...nodes].flatMap((node) => {
      if (digests.has(node)) return [node];
      const [name, from] = packageOf(root, node);
      return packages.getOrInsertComputed(name + from, () => packageFiles(name, from));
    });
    return [...new Set(files.map((file) => relative(root, file)))].sort();
  };
  const ofAll = filesOf([...builders, ...others]);
  const own = [...pages].map(
    ([name, nodes]) => [name, filesOf(nodes).filter((file) => !ofAll.includes(file))] as const,
  );
  const all = new Set([...ofAll, ...own.flatMap(([, files]) => files)]);
  return {
    digests: Object.fromEntries(
      [...all].map((file) => [file, digests.get(join(root, file)) ?? digestOfFile(join(root, file))]),
    ),
    ofAll,
    pages: Object.fromEntries(own),
  };
}

function reached(imports: Imports, start: string): ReadonlySet<string> {
  const nodes = new Set<string>();
  const waiting = [start];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (nodes.has(node)) continue;
    nodes.add(node);
    waiting.push(...(imports.get(node) ?? []));
  }
  return nodes;
}

/** The package of a module and a place to look for it from: of `/x/node_modules/y/z.js` or of `y/z`. */
function packageOf(root: string, id: string): readonly [name: string, from: string] {
  const mark = '/node_modules/';
  const at = id.lastIndexOf(mark);
  return at === -1 ? [id, join(root, 'package.json')] : [id.slice(at + mark.length), id.slice(0, at + 1)];
}
