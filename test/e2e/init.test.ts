/** What `pharos init` asks and writes, and that what it writes works. */

import { execFile, spawn } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { chooseDeployment } from '../../src/cli/init/deployment.ts';
import { listVariables, writeDraft } from '../../src/cli/init/draft.ts';
import {
  type Asker,
  createSilentAsker,
  createTerminalAsker,
  type Gathering,
  gather,
} from '../../src/cli/init/gather.ts';
import { tryUpstream } from '../../src/cli/init/init.ts';
import { parseConfig } from '../../src/config/load.ts';
import { toEpochMs } from '../../src/model/time.ts';
import type { Introduction } from '../../src/sync/connector.ts';
import { CONNECTORS } from '../../src/sync/connectors/index.ts';
import { ROOT } from '../helpers/documents.ts';
import { runHere } from '../helpers/in-process.ts';
import { QUICK_PICTURES } from '../helpers/nodes.ts';
import { eventually, temporaryFolder } from '../helpers/pharos.ts';
import { programPath, skippedWithout } from '../helpers/proxies.ts';
import { startWarm } from '../helpers/warm.ts';
import { type Sandbox, startSandbox } from '../sandbox/sandbox.ts';

let sandbox: Sandbox;
let env: Record<string, string>;
let folder = temporaryFolder();

beforeAll(async () => {
  sandbox = await startSandbox({ port: 0, now: () => toEpochMs(Date.now()) });
  env = { ...sandbox.environment(), PHAROS_TOKEN: '0123456789abcdef'.repeat(3) };
});
afterAll(() => sandbox.stop());
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

const run = (...args: string[]): ReturnType<typeof runHere> => runHere(args, { cwd: folder.path, env });
const asked = (asker: Asker): Gathering => ({ asker, isSilent: true, before: null, folder: folder.path });
const read = (path: string): string => readFileSync(join(folder.path, path), 'utf8');
const written = (): readonly string[] =>
  readdirSync(folder.path, { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.path.length + 1))
    .toSorted();
/** The options of an upstream of the sandbox, as `--set`. */
const optionsOf = (id: string, keys: readonly string[], secrets: Readonly<Record<string, string>>): string[] => {
  const { upstreams } = parse(sandbox.configText()) as { upstreams: readonly Record<string, string>[] };
  const upstream = upstreams.find((one) => one['id'] === id);
  return [
    ...keys.flatMap((key) => ['--set', `${key}=${upstream?.[key]}`]),
    ...Object.entries(secrets).flatMap(([key, name]) => ['--set', `${key}=${name}`]),
  ];
};
const EDGE = (): string[] => ['--kind', 'server-monitor', ...optionsOf('edge', ['baseUrl'], { apiKey: 'EDGE_KEY' })];

/** Types an answer at each question of a real terminal. */
async function onTerminal(answers: readonly string[]): Promise<{ said: string; status: number | null }> {
  const command = `'${process.execPath}' '${join(ROOT, 'bin/pharos.js')}' init`;
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    cwd: folder.path,
    env: { ...process.env, ...env },
  });
  const left = [...answers];
  let said = '';
  let isAnswered = 0;
  let isTyped = false;
  let isChosen = false;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
    const news = stripVTControlCharacters(said.slice(isAnswered));
    // The list is filtered by what is typed; Enter takes what is left of it.
    if (!isChosen && news.includes('Which monitoring tool')) {
      const isFiltered = isTyped && news.includes('❯ server-monitor');
      if (!isTyped) child.stdin.write('server-m');
      if (isFiltered) child.stdin.write('\r');
      isTyped = true;
      isChosen = isFiltered;
      if (isFiltered) isAnswered = said.length;
      return;
    }
    const isAsked = news.endsWith(': ');
    if (!isAsked || left.length === 0) return;
    isAnswered = said.length;
    child.stdin.write(`${left.shift()}\n`);
  });
  const status = await new Promise<number | null>((done) => child.once('close', done));
  return { said: stripVTControlCharacters(said), status };
}

/** Asks on streams, and keeps what it says. */
function listening() {
  const input = new PassThrough();
  const output = new PassThrough();
  let said = '';
  output.on('data', (chunk: Buffer) => {
    said += chunk.toString('utf8');
  });
  return { input, asker: createTerminalAsker(input, output), said: () => said };
}

describe('questions', () => {
  it('are asked again with what is wrong, and no other answer is asked for twice', async () => {
    const { input, asker, said } = listening();
    const lines = [
      'server-monitr',
      'server-monitor',
      'ftp://monitor.example.com',
      'https://monitor.example.com/api',
      'sk-live-1234',
      'EDGE_KEY',
      'Example',
      'status.example.com',
      'https://status.example.com',
      '../outside',
      'notes.txt',
      '',
    ];
    writeFileSync(join(folder.path, 'notes.txt'), '');
    input.write(`${lines.join('\n')}\n`);
    const answers = await gather({ set: new Map() }, { ...asked(asker), isSilent: false });
    asker.close();
    expect(answers).toMatchObject({ siteName: 'Example', siteUrl: 'https://status.example.com', posts: 'posts' });
    expect([...(answers.upstream?.options ?? [])].slice(0, 2)).toEqual([
      ['baseUrl', 'https://monitor.example.com/api'],
      ['apiKey', 'EDGE_KEY'],
    ]);
    expect(said()).toContain('Did you mean server-monitor?');
    expect(said()).toContain('not the secret itself');
    expect(said()).toContain('notes.txt is a file');
    expect(said().split('Public address').length - 1).toBe(2);
    expect(said().split('Name of the site').length - 1).toBe(1);
  });

  it('suggest what was answered before when the upstream did not answer', async () => {
    const input = new PassThrough();
    const asker = createTerminalAsker(input, new PassThrough());
    const given = {
      set: new Map([['path', './a']]),
      name: 'One',
      url: 'https://one.example',
      kind: 'markdown',
      id: 'x',
    };
    const before = await gather(given, { ...asked(asker), isSilent: false });
    input.write(`./b\n`);
    const after = await gather(given, { ...asked(asker), isSilent: false, before });
    asker.close();
    expect(after).toMatchObject({ siteName: 'One', siteUrl: 'https://one.example', upstream: { id: 'x' } });
    expect([before, after].map(({ upstream }) => upstream?.options.get('path'))).toEqual(['./a', './b']);
  });

  const hasTerminal = programPath('script') !== null;
  it.skipIf(!hasTerminal)(
    `on a terminal keep their answers when the upstream does not respond${skippedWithout('script')}`,
    async () => {
      const [, , , right = ''] = EDGE();
      const dead = ['http://127.0.0.1:1/api', 'EDGE_KEY', 'Example', '', 'notes'];
      const changed = ['change', right.replace('baseUrl=', ''), '', ''];
      const { said, status } = await onTerminal([...dead, ...changed]);
      expect([status, said], said).toEqual([0, expect.stringContaining('Created ')]);
      expect(said).toMatch(/✗ edge: UPSTREAM_UNREACHABLE/);
      expect(said.split('Name of the site [Status]: ')).toHaveLength(2);
      expect(said).toContain('Your first page: http://127.0.0.1:4321/');
      expect(parse(read('pharos.yaml'))).toMatchObject({
        site: { name: 'Example', home: 'status' },
        upstreams: [
          { id: 'edge', baseUrl: right.replace('baseUrl=', '') },
          { id: 'posts', path: 'notes' },
        ],
      });
    },
  );

  it('end in one line where there is nobody to answer them any more', async () => {
    const input = new PassThrough();
    const asker = createTerminalAsker(input, new PassThrough());
    input.end('Example\n');
    await expect(gather({ set: new Map() }, { ...asked(asker), isSilent: false })).rejects.toThrow(
      /^No answer to "Kind"\.$/,
    );
    asker.close();
  });

  it('take nothing for an answer where nothing is needed', async () => {
    const given = { kind: 'uptime-kuma', set: new Map([['url', 'https://kuma.example.com']]) };
    const answers = await gather(given, asked(createSilentAsker()));
    expect(answers.upstream?.options.get('apiKey')).toBe('');
    expect(listVariables(answers)).toEqual(['PHAROS_TOKEN']);
    expect(writeDraft(answers, '')).not.toContain('KUMA_KEY');
  });

  it('about files are answered before all others, so that none is answered for nothing', async () => {
    writeFileSync(join(folder.path, 'compose.yaml'), 'mine');
    const { input, asker, said } = listening();
    input.write('compose\nsystemd\n');
    const file = join(folder.path, 'pharos.yaml');
    expect(await chooseDeployment(undefined, { file, asker })).toBe('systemd');
    expect(said()).toContain('compose.yaml already exists');
    asker.close();
  });

  it('that the command line answers wrongly are refused before anything is written', async () => {
    for (const [wrong, words] of [
      [['--url', 'status.example.com'], '--url status.example.com'],
      [['--kind', 'server-monitr'], 'Did you mean server-monitor?'],
      [['--deploy', 'compos'], 'Did you mean compose?'],
      [['--posts', '../elsewhere'], 'Give the name of a folder'],
      [['--set', 'apiKey=EDGE_KEY'], '--set need an upstream: choose its kind with --kind.'],
      [['--check', 'https://one.example,https://two.example'], '--check takes one address.'],
      [['--check', 'one.example, two.example/x'], '--check takes one address.'],
      [['--check', 'https://one.example/x https://two.example'], '--check takes one address.'],
      [['--kind', 'server-monitor', '--set', 'baseUrl=nowhere', '--set', 'apiKey=EDGE_KEY'], 'baseUrl='],
      [['--kind', 'uptime-service', '--set', 'preset=openstaus'], 'Did you mean openstatus?'],
    ] as const) {
      const { status, stderr } = await run('init', '--yes', ...wrong);
      expect([status, stderr]).toEqual([2, expect.stringContaining(words)]);
    }
    expect(written()).toEqual([]);
  });
});

describe('what is written', () => {
  it('has a page at the root, names its address, and passes the check', async () => {
    const made = await run('init', '--yes', '--url', 'https://status.example.com', ...EDGE());
    expect([made.status, made.stderr], made.stdout).toEqual([0, '']);
    expect(made.stdout).toContain(
      'Your first page: https://status.example.com/, on this machine http://127.0.0.1:4321/\n',
    );
    expect((parse(read('pharos.yaml')) as { site: { home: string } }).site.home).toBe('status');
    const checked = await run('check', '--json');
    expect([checked.status, JSON.parse(checked.stdout)]).toEqual([0, expect.objectContaining({ ok: true })]);
    const pharos = await startWarm(['start', '--port', '0'], { cwd: folder.path, env });
    const page = await eventually(
      async () => fetch(`${pharos.url}/`),
      (answer) => answer.status === 200,
    );
    // What is wrong with a monitor of the sandbox comes first.
    expect(await page.text()).toMatch(/<title>(?:[^<]* · )?Status</);
    await pharos.stop();
  });

  it('has ids of its own, also where the upstream has that of posts', async () => {
    const made = await run('init', '--yes', ...EDGE(), '--id', 'posts', '--posts', 'notes');
    expect([made.status, made.stderr], made.stdout).toEqual([0, '']);
    const { upstreams } = parse(read('pharos.yaml')) as { upstreams: readonly { id: string }[] };
    expect(upstreams.map(({ id }) => id)).toEqual(['posts', 'own-posts']);
  });

  it('has the preset that openstatus needs, which reads its pages', async () => {
    const { upstreams } = parse(sandbox.configText()) as { upstreams: readonly Record<string, string>[] };
    const { rpcUrl, restUrl } = upstreams.find(({ preset }) => preset === 'openstatus') ?? {};
    const pairs = [`rpcUrl=${rpcUrl}`, `restUrl=${restUrl}`, 'apiKey=SVC_KEY'];
    const made = await run('init', '--yes', '--kind', 'uptime-service', ...pairs.flatMap((pair) => ['--set', pair]));
    expect([made.status, made.stderr], made.stdout).toEqual([0, '']);
    const config = parse(read('pharos.yaml')) as { site: object; upstreams: readonly object[] };
    expect(config.upstreams).toEqual([expect.objectContaining({ preset: 'openstatus', rpcUrl })]);
    expect(config.site).toHaveProperty('home');
  });

  it('has the first public page of an upstream at the root where the upstream defines pages', async () => {
    const source = { text: sandbox.configText(), file: null, folder: folder.path };
    const config = { ...parseConfig(source, CONNECTORS, { ...process.env, ...env }), pages: [] };
    const introduction = CONNECTORS.find(({ kind }) => kind === 'uptime-service') as Introduction;
    const upstream = { id: 'svc', introduction, options: new Map([['apiKey', 'SVC_KEY']]) };
    const answers = {
      siteName: 'S',
      siteUrl: 'https://s.example',
      home: null,
      posts: null,
      upstream,
      tokenVariable: 'T',
    };
    expect((await tryUpstream(config, answers, folder.path)).home).toBeNull();
    process.env['SVC_KEY'] = String(env['SVC_KEY']);
    const probed = await tryUpstream(config, answers, folder.path);
    delete process.env['SVC_KEY'];
    expect([probed.isOk, probed.home]).toEqual([true, 'acme']);
  });

  it('never goes over a file', async () => {
    writeFileSync(join(folder.path, 'compose.yaml'), 'mine');
    const { status, stderr } = await run('init', '--yes', '--deploy', 'compose');
    expect([status, stderr]).toEqual([2, expect.stringContaining('compose.yaml already exists')]);
    expect([read('compose.yaml'), written()]).toEqual(['mine', ['compose.yaml']]);
  });

  it('is the unit of systemd as it is tested elsewhere', async () => {
    expect((await run('init', '--yes', '--deploy', 'systemd')).status).toBe(0);
    expect(written()).toEqual(['pharos.service', 'pharos.yaml']);
    expect(read('pharos.service')).toBe(readFileSync(join(ROOT, 'deploy/pharos.service'), 'utf8'));
  });

  it('is a container of the package with the variables by name', async () => {
    const made = await run('init', '--yes', ...EDGE(), '--deploy', 'compose', '--posts', 'posts');
    expect([made.status, made.stderr]).toEqual([0, '']);
    const { services } = parse(read('compose.yaml')) as { services: { pharos: Record<string, unknown> } };
    expect(services.pharos).toMatchObject({
      build: { context: '.', dockerfile: 'Containerfile' },
      read_only: true,
      environment: ['EDGE_KEY', 'PHAROS_TOKEN'],
      volumes: ['data:/srv/data', './pharos.yaml:/srv/pharos.yaml:ro', './posts:/srv/posts:ro'],
    });
    expect(read('Containerfile')).toMatch(/^COPY package\.json package-lock\.json \*\.tgz \.\/$/m);
    for (const path of written()) expect(read(path)).not.toContain(env['EDGE_KEY']);
  });

  it('is a container with the folder that the upstream is', async () => {
    const made = await run('init', '--yes', '--kind', 'markdown', '--set', 'path=notes/', '--deploy', 'compose');
    expect([made.status, made.stderr]).toEqual([0, '']);
    expect(written()).toContain('notes/.gitkeep');
    expect((await run('check')).stdout).toContain('0 incidents');
    const { services } = parse(read('compose.yaml')) as { services: { pharos: { volumes: readonly string[] } } };
    expect(services.pharos.volumes).toContain('./notes/:/srv/notes:ro');
  });

  it('is never to be committed with history, keys and variables, also where there is a .gitignore', async () => {
    writeFileSync(join(folder.path, '.gitignore'), '/node_modules\n');
    const made = await run('init', '--yes', '--deploy', 'github-pages');
    expect(made.stdout).toContain('Add to .gitignore, so that they are never committed: data/ _site/ .env\n');
    expect(made.stdout).toContain('set site.url to the address of your Pages');
    expect(read('.gitignore')).toBe('/node_modules\n');
  });

  it('is a repository that builds and publishes by itself, and keeps its history from run to run', async () => {
    const made = await run('init', '--yes', ...EDGE(), '--deploy', 'github-pages', '--posts', 'posts');
    expect([made.status, made.stderr]).toEqual([0, '']);
    expect(written()).toEqual(['.github/workflows/pharos.yml', '.gitignore', 'pharos.yaml', 'posts/.gitkeep']);
    expect(made.stdout).toContain('Add these secrets for Actions: EDGE_KEY, PHAROS_TOKEN');
    expect(made.stdout).not.toContain('.gitignore, so');
    interface Step {
      readonly run?: string;
      readonly env?: Readonly<Record<string, string>>;
      readonly if?: string;
    }
    const workflow = parse(read('.github/workflows/pharos.yml')) as { jobs: { build: { steps: readonly Step[] } } };
    const steps = workflow.jobs.build.steps.filter((step) => step.run?.includes('pharos') && step.if === undefined);
    expect(steps.length).toBe(2);
    for (const step of steps)
      expect(step.env).toEqual({ EDGE_KEY: '${{ secrets.EDGE_KEY }}', PHAROS_TOKEN: '${{ secrets.PHAROS_TOKEN }}' });
    const npx = `npx() { shift; "${process.execPath}" "${join(ROOT, 'bin/pharos.js')}" "$@"; }\n`;
    const firstSeen = (): unknown => {
      const database = new DatabaseSync(join(folder.path, 'data', 'pharos.db'), { readOnly: true });
      const rows = database.prepare('SELECT id, first_seen_at FROM monitor ORDER BY id').all();
      const runs = database.prepare('SELECT COUNT(*) AS count FROM run').get()?.['count'];
      database.close();
      return { rows, runs };
    };
    const job = async (): Promise<void> => {
      // Not in this thread: the sandbox answers here.
      for (const step of steps)
        await new Promise<void>((done, failed) => {
          const child = execFile(
            'bash',
            ['-e', '-c', npx + step.run],
            { cwd: folder.path, env: { ...process.env, ...env, NODE_OPTIONS: QUICK_PICTURES } },
            (error) => (error === null ? done() : failed(error)),
          );
          child.stdin?.end();
        });
    };
    await job();
    const first = firstSeen() as { rows: readonly unknown[]; runs: number };
    expect(first.rows.length).toBeGreaterThan(3);
    expect(read('_site/index.html')).toContain('<!DOCTYPE html>');
    await job();
    expect(firstSeen()).toEqual({ rows: first.rows, runs: first.runs + 1 });
  });
});
