/** Files that a first configuration goes with: how it is run, and a folder for posts. */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { UsageError } from '../terminal/exit.ts';

/** Ways to run Pharos that there is a template for. */
export const DEPLOYMENTS = ['none', 'github-pages', 'compose', 'systemd'] as const;
export type Deployment = (typeof DEPLOYMENTS)[number];

/** `deploy/` of the package or the checkout: its files are templates, and tested as they are. */
const TEMPLATES = join(import.meta.dirname, '../../../deploy');

export interface DeploymentOptions {
  /** Path of the configuration. */
  readonly file: string;
  readonly deployment: Deployment;
  /** Relative to the configuration; null: none. */
  readonly posts: string | null;
  /** Names of environment variables that the configuration takes. */
  readonly variables: readonly string[];
}

/** A file to write. */
export interface PlannedFile {
  readonly path: string;
  readonly text: string;
}

/** What is to be written besides the configuration. Nothing is written yet. */
export function plannedFiles({ file, deployment, posts, variables }: DeploymentOptions): readonly PlannedFile[] {
  const folder = dirname(file);
  const config = basename(file);
  const planned: PlannedFile[] = [];
  const add = (path: string, text: string): void => void planned.push({ path: join(folder, path), text });
  // Git keeps no folder that is empty.
  if (posts !== null && !existsSync(join(folder, posts))) add(join(posts, '.gitkeep'), '');
  if (deployment === 'github-pages') add('.github/workflows/pharos.yml', workflow(config, variables));
  if (deployment === 'compose') {
    add('compose.yaml', compose(config, variables, posts));
    add('Containerfile', CONTAINERFILE);
    add('.dockerignore', '*\n!package.json\n!package-lock.json\n!*.tgz\n');
  }
  if (deployment === 'systemd') add('pharos.service', template('pharos.service'));
  if (deployment !== 'none' && deployment !== 'systemd' && !existsSync(join(folder, '.gitignore')))
    add('.gitignore', 'node_modules/\ndata/\n_site/\n.env\n');
  return planned;
}

/** @throws UsageError before anything is written when one of them is there already */
export function requireFree(files: readonly { readonly path: string }[]): void {
  const taken = files.map(({ path }) => path).filter((path) => existsSync(path));
  if (taken.length > 0)
    throw new UsageError(
      `${taken.join(', ')} already ${taken.length === 1 ? 'exists' : 'exist'}; init never overwrites a file. Move it away, or choose another path with --out.`,
    );
}

/** Makes their folders too. */
export function writeFiles(files: readonly PlannedFile[]): void {
  for (const { path, text } of files) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { flag: 'wx' });
  }
}

/** What is left to do for a way to run it, a line each. */
export function deploymentSteps({ file, deployment, variables }: DeploymentOptions): readonly string[] {
  const package_ = existsSync(join(dirname(file), 'package.json'))
    ? []
    : ['Add the package here: npm install ./pharos-<version>.tgz'];
  if (deployment === 'github-pages')
    return [
      ...package_,
      'In the settings of the repository, choose "GitHub Actions" as the source of Pages.',
      ...(variables.length === 0 ? [] : [`Add these secrets for Actions: ${variables.join(', ')}`]),
      'Commit everything, including the package and package-lock.json, and push.',
    ];
  if (deployment === 'compose') return [...package_, 'Put the variables into .env, then: docker compose up -d --build'];
  if (deployment === 'systemd')
    return ['Follow the comments in pharos.service; it expects the configuration at /etc/pharos/pharos.yaml.'];
  return [];
}

/** How files are named to whoever asked for them. */
export function shownPaths(files: readonly PlannedFile[], folder: string): readonly string[] {
  return files.map(({ path }) => relative(folder, path));
}

function template(name: string): string {
  return readFileSync(join(TEMPLATES, name), 'utf8');
}

/** The workflow with the variables of this configuration instead of those of the example. */
function workflow(config: string, variables: readonly string[]): string {
  const lines = variables.map((name) => `          ${name}: \${{ secrets.${name} }}\n`).join('');
  return template('github-actions.yml')
    .replaceAll(/^ {10}\w+: \$\{\{ secrets\.\w+ \}\}\n(?: {10}\w+: \$\{\{ secrets\.\w+ \}\}\n)*/gm, lines)
    .replaceAll('--config pharos.yaml', `--config ${config}`);
}

/** Names of variables alone: Compose takes their values from .env or the shell. */
function compose(config: string, variables: readonly string[], posts: string | null): string {
  const environment = variables.length === 0 ? '' : `    environment: [${variables.join(', ')}]\n`;
  const mounted = posts === null ? '' : `      - ./${posts}:/srv/${posts}:ro\n`;
  return `# Pharos in a container: docker compose up -d --build. Values of the variables go into .env beside this file.
name: pharos

services:
  pharos:
    build:
      context: .
      dockerfile: Containerfile
    restart: unless-stopped
    read_only: true
    tmpfs:
      - /tmp
    cap_drop: [ALL]
    security_opt:
      - no-new-privileges:true
    stop_grace_period: 30s
    # For a proxy on this machine.
    ports:
      - "127.0.0.1:4321:4321"
${environment}    volumes:
      - data:/srv/data
      - ./${config}:/srv/pharos.yaml:ro
${mounted}
volumes:
  data:
`;
}

const CONTAINERFILE = `# Pharos from the package beside this file. The image brings Node, so the one among the packages is deleted.
FROM docker.io/library/node:26-slim AS build
WORKDIR /opt/pharos
COPY package.json package-lock.json *.tgz ./
RUN npm ci --omit=dev --no-audit --no-fund && rm -rf node_modules/node-linux-* node_modules/.bin/node

FROM docker.io/library/node:26-slim
ENV NODE_ENV=production
COPY --from=build /opt/pharos /opt/pharos
WORKDIR /srv
RUN install -d -o 1000 -g 1000 /srv/data
USER 1000:1000
VOLUME /srv/data
EXPOSE 4321
ENTRYPOINT ["node", "/opt/pharos/node_modules/pharos/bin/pharos.js"]
CMD ["start", "--host", "0.0.0.0", "--port", "4321"]
`;
