/** Files that accompany a first configuration: deployment files, and a folder for posts. */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, posix, resolve } from 'node:path';
import { didYouMean } from '../../schema/nearest.ts';
import { isLoopback } from '../doctor/network.ts';
import { UsageError } from '../terminal/exit.ts';
import type { Asker } from './gather.ts';

/** `deploy/` of the package or the checkout; its files are templates and tested unchanged. */
const TEMPLATES = join(import.meta.dirname, '../../../deploy');

interface DeploymentOptions {
  /** Path of the configuration. */
  readonly file: string;
  readonly deployment: Deployment;
  /** Folder of posts, relative to the configuration; null: none. */
  readonly posts: string | null;
  /** File or folder of the upstream, relative to the configuration; null: none. */
  readonly source: string | null;
  /** Names of the environment variables in the configuration. */
  readonly variables: readonly string[];
  /** `site.url`. */
  readonly siteUrl: string;
}

/** A way to run Pharos. */
interface Way {
  /** The texts of its files by path. */
  readonly files: (options: DeploymentOptions) => Readonly<Record<string, string>>;
  /** The remaining steps, one line each. */
  readonly steps: (options: DeploymentOptions) => readonly string[];
  /** Whether the folder of the configuration needs the package, and a .gitignore. */
  readonly isInFolder: boolean;
}

const WAYS = {
  none: { files: () => ({}), steps: () => [], isInFolder: false },
  'github-pages': {
    files: (options) => ({ '.github/workflows/pharos.yml': workflow(options) }),
    steps: ({ file, siteUrl, variables }) => [
      ...(isLoopback(new URL(siteUrl).hostname)
        ? [`In ${basename(file)}, set site.url to the address of your Pages, such as https://example.github.io/status.`]
        : []),
      'In the settings of the repository, choose "GitHub Actions" as the source of Pages.',
      ...(variables.length === 0 ? [] : [`Add these secrets for Actions: ${variables.join(', ')}`]),
      'Commit everything, including the package and package-lock.json, and push.',
    ],
    isInFolder: true,
  },
  compose: {
    files: (options) => ({
      'compose.yaml': compose(options),
      Containerfile: template('init.Containerfile'),
      '.dockerignore': '*\n!package.json\n!package-lock.json\n!*.tgz\n',
    }),
    steps: () => ['Put the variables into .env, then: docker compose up -d --build'],
    isInFolder: true,
  },
  systemd: {
    files: () => ({ 'pharos.service': template('pharos.service') }),
    steps: ({ file }) => [
      `Set "data: /var/lib/pharos" in ${basename(file)} and copy it to /etc/pharos/pharos.yaml; the comments in pharos.service say the rest.`,
    ],
    isInFolder: false,
  },
} satisfies Record<string, Way>;
export type Deployment = keyof typeof WAYS;
const NAMES = Object.keys(WAYS);

/** Plans the files besides the configuration. Nothing is written yet. */
export function plannedFiles(options: DeploymentOptions) {
  const { file, deployment, posts } = options;
  const folder = dirname(file);
  const way: Way = WAYS[deployment];
  const texts = {
    // Git doesn't keep empty folders.
    ...(posts !== null && !existsSync(resolve(folder, posts)) ? { [join(posts, '.gitkeep')]: '' } : {}),
    ...way.files(options),
    ...(way.isInFolder && !existsSync(join(folder, '.gitignore')) ? { '.gitignore': `${IGNORED.join('\n')}\n` } : {}),
  };
  return Object.entries(texts).map(([path, text]) => ({ path: resolve(folder, path), text }));
}

/** A sentence with the files that already exist; null: none. */
function faultOfTaken(files: readonly { readonly path: string }[]): string | null {
  const taken = files.map(({ path }) => path).filter((path) => existsSync(path));
  if (taken.length === 0) return null;
  const [verb, object] = taken.length === 1 ? ['exists', 'it'] : ['exist', 'them'];
  return `${taken.join(', ')} already ${verb}; init never overwrites a file. Move ${object} away, or choose another path with --out.`;
}

/** @throws UsageError before anything is written, if one of them exists */
export function requireFree(files: readonly { readonly path: string }[]): void {
  const fault = faultOfTaken(files);
  if (fault !== null) throw new UsageError(fault);
}

/** Writes files, and creates their folders. */
export function writeFiles(files: ReturnType<typeof plannedFiles>): void {
  for (const { path, text } of files) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { flag: 'wx' });
  }
}

/** The remaining steps, one line each. */
export function deploymentSteps(options: DeploymentOptions): readonly string[] {
  const folder = dirname(options.file);
  const way: Way = WAYS[options.deployment];
  const needsPackage = way.isInFolder && !existsSync(join(folder, 'package.json'));
  return [
    ...(needsPackage ? ['Add the package here: npm install ./pharos-<version>.tgz'] : []),
    ...(way.isInFolder ? ignoreStep(folder) : []),
    ...way.steps(options),
  ];
}

/** Must never be committed: history with private pages, the secret key, variables. */
const IGNORED = ['node_modules/', 'data/', '_site/', '.env'];

/** An existing .gitignore stays as it is. */
function ignoreStep(folder: string): readonly string[] {
  const path = join(folder, '.gitignore');
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split(/\r?\n/) : IGNORED;
  const known = new Set(lines.map((line) => line.trim().replace(/^\/|\/$/g, '')));
  const missing = IGNORED.filter((name) => !known.has(name.replace(/\/$/, '')));
  return missing.length === 0 ? [] : [`Add to .gitignore, so that they are never committed: ${missing.join(' ')}`];
}

function template(name: string): string {
  return readFileSync(join(TEMPLATES, name), 'utf8');
}

/** Replaces the example's variables in the workflow with those of this configuration. */
function workflow({ file, variables }: DeploymentOptions): string {
  const lines = variables.map((name) => `          ${name}: \${{ secrets.${name} }}\n`).join('');
  const env = / {8}env:\n(?: {10}\w+: \$\{\{ secrets\.\w+ \}\}\n)+/g;
  return (
    template('github-actions.yml')
      // Without variables, a step that begins with `env:` begins with the key after it.
      .replaceAll(/ {6}- env:\n(?: {10}\w+: .*\n)+ {8}/g, lines === '' ? '      - ' : `      - env:\n${lines}        `)
      .replaceAll(env, lines === '' ? '' : `        env:\n${lines}`)
      .replaceAll('--config pharos.yaml', `--config ${basename(file)}`)
  );
}

/** Only names of variables: Compose reads their values from .env or the shell. */
function compose({ file, variables, posts, source }: DeploymentOptions): string {
  const environment = variables.length === 0 ? '' : `    environment: [${variables.join(', ')}]\n`;
  const paths = [posts, source].filter((path) => path !== null);
  const mounted = paths.map((path) => `      - ${JSON.stringify(mount(path))}\n`).join('');
  const config = '      - ./pharos.yaml:/srv/pharos.yaml:ro\n';
  return template('init.compose.yaml')
    .replace('    environment: []\n', () => environment)
    .replace(config, () => config.replace('./pharos.yaml', () => `./${basename(file)}`) + mounted);
}

/** Mounts a path of the configuration at the place where the container expects it. */
function mount(path: string): string {
  const here = posix.isAbsolute(path) ? path : `./${posix.normalize(path)}`;
  return `${here}:${posix.resolve('/srv', path)}:ro`;
}

/**
 * The deployment given on the command line, or chosen by the user. Fails early if its files exist, so that nobody
 * answers questions in vain.
 *
 * @param file   path of the configuration
 * @param asker  null: there is nobody to ask
 * @throws UsageError if it is unknown, or its files exist
 */
export async function chooseDeployment(
  given: string | undefined,
  { file, asker }: { readonly file: string; readonly asker: Asker | null },
): Promise<Deployment> {
  const faultOf = (name: string): string | null =>
    isDeployment(name)
      ? faultOfTaken(plannedFiles({ file, deployment: name, posts: null, source: null, variables: [], siteUrl: '' }))
      : `Unknown template "${name}". Use one of: ${NAMES.join(', ')}.${didYouMean(name, NAMES)}`;
  const words = `How do you want to run it? Pharos creates the files for that (${NAMES.join(', ')})`;
  const answer = given ?? (await asker?.ask(words, 'none', faultOf)) ?? 'none';
  const fault = faultOf(answer);
  if (fault !== null || !isDeployment(answer)) throw new UsageError(`--deploy: ${fault}`);
  return answer;
}

function isDeployment(name: string): name is Deployment {
  return Object.hasOwn(WAYS, name);
}
