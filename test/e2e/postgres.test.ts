import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { startPostgres } from '../helpers/databases.ts';
import { configOverPostgres } from '../helpers/nodes.ts';
import type { PgliteServer } from '../helpers/pglite-server.ts';
import { eventually, type RunningPharos, temporaryFolder } from '../helpers/pharos.ts';
import { startUnlimitedSandbox } from '../helpers/sandbox.ts';
import { runWarm, startWarm } from '../helpers/warm.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';

const folder = temporaryFolder();
const nodes = new Map<string, RunningPharos>();
let server: PgliteServer;
let sandbox: Sandbox;
let env: Record<string, string>;

beforeAll(async () => {
  [server, sandbox] = await Promise.all([startPostgres(), startUnlimitedSandbox()]);
  env = { ...sandbox.environment(), DATABASE_URL: server.url };
});

afterAll(async () => {
  await Promise.all([...nodes.values()].map((node) => node.stop()));
  await sandbox?.stop();
  await server?.stop();
  folder.remove();
});

const cwdOf = (name: string): string => join(folder.path, name);

function configure(name: string): void {
  mkdirSync(cwdOf(name));
  writeFileSync(join(cwdOf(name), 'pharos.yaml'), configOverPostgres(sandbox, { everySeconds: 2 }));
}

async function begin(name: string): Promise<RunningPharos> {
  const node = await startWarm(['start', '--port', '0'], { cwd: cwdOf(name), env });
  nodes.set(name, node);
  return node;
}

const statusOf = async (node: RunningPharos, path: string): Promise<number> =>
  (await fetch(`${node.url}${path}`)).status;
const isReady = (node: RunningPharos): Promise<number> =>
  eventually(
    () => statusOf(node, '/-/fresh'),
    (status) => status === 200,
  );

async function tells(node: RunningPharos, words: string): Promise<boolean> {
  const read = async (): Promise<string> => (await fetch(`${node.url}/acme/api/v2/summary.json`)).text();
  return (await eventually(read, (text) => text.includes(words))).includes(words);
}

it('keeps two nodes with data folders of their own current, outlives its server, and tells no password', async () => {
  configure('a');
  configure('b');
  const [a, b] = await Promise.all([begin('a'), begin('b')]);
  expect(await Promise.all([isReady(a), isReady(b)])).toEqual([200, 200]);
  sandbox.world.force('website', 'down');
  expect(await Promise.all([tells(a, 'major_outage'), tells(b, 'major_outage')])).toEqual([true, true]);

  const backup = await runWarm(['backup', 'copy.db'], { cwd: cwdOf('a'), env });
  expect([backup.status, backup.stderr]).toEqual([2, expect.stringContaining('pg_dump')]);

  await server.goAway();
  expect(await statusOf(a, '/acme/')).toBe(200);
  expect(
    await eventually(
      () => statusOf(a, '/-/fresh'),
      (status) => status === 503,
    ),
  ).toBe(503);
  // It serves on, so a balancer goes on sending visitors to it.
  expect(await statusOf(a, '/-/ready')).toBe(200);
  expect(await b.stop()).toBe(0);
  const again = await begin('b');
  expect(await statusOf(again, '/acme/')).toBe(200);
  expect(await statusOf(again, '/partners/')).toBe(404);
  expect(await statusOf(again, '/-/ready')).toBe(503);
  // What needs the database and is done once says so and ends.
  const sync = await runWarm(['sync'], { cwd: cwdOf('a'), env });
  expect([sync.status, sync.stderr]).toEqual([1, expect.stringContaining('ECONNREFUSED')]);

  sandbox.world.force('website', null);
  await server.comeBack();
  expect(await Promise.all([isReady(a), isReady(again)])).toEqual([200, 200]);
  const isUp = async (node: RunningPharos): Promise<boolean> =>
    !(
      await eventually(
        async () => (await fetch(`${node.url}/acme/api/v2/summary.json`)).text(),
        (text) => !text.includes('major_outage'),
      )
    ).includes('major_outage');
  expect(await Promise.all([isUp(a), isUp(again)])).toEqual([true, true]);
  expect(await statusOf(again, '/partners/')).toBe(404);
  expect((await (await fetch(`${again.url}/partners/`)).text()).includes('password')).toBe(true);

  const said = [a, b, again].map((node) => node.stderr() + node.stdout()).join('');
  expect(said).not.toContain('secret-canary');
  expect(said).toContain('The last published pages stay online');
});

it('serves a home page in each language without its server, and closes what a reload makes private then', async () => {
  configure('c');
  const file = join(cwdOf('c'), 'pharos.yaml');
  const config = parse(readFileSync(file, 'utf8')) as { site: { locale: string }; pages: { slug: string }[] };
  const { locale, ...others } = config.site;
  const site = { ...others, home: 'acme', locales: [locale, 'de'] };
  writeFileSync(file, stringify({ ...config, site }));
  const first = await begin('c');
  expect(await isReady(first)).toBe(200);
  expect(await statusOf(first, '/de/history/')).toBe(200);
  await first.stop();
  await server.goAway();
  const node = await begin('c');
  const paths = ['/', '/de/', '/de/history/', '/de/badges/status.svg', '/acme/de/', '/nl/', '/partners/de/'];
  expect(await Promise.all(paths.map((path) => statusOf(node, path)))).toEqual([200, 200, 200, 200, 200, 404, 404]);

  const pages = config.pages.map((page) =>
    page.slug === 'acme' ? { ...page, password: '${PARTNERS_PASSWORD}' } : page,
  );
  writeFileSync(file, stringify({ ...config, site, pages }));
  process.kill(node.pid, 'SIGHUP');
  const closed = await eventually(
    () => statusOf(node, '/acme/'),
    (status) => status === 404,
  );
  expect([closed, await statusOf(node, '/de/')]).toEqual([404, 404]);
  const said = (): string => node.stderr() + node.stdout();
  expect(said()).not.toContain('the old one stays active');
  process.kill(node.pid, 'SIGHUP');
  await eventually(
    async () => said().split('Pharos tries again').length,
    (count) => count > 2,
  );
  await server.comeBack();
  const reloaded = await eventually(
    async () => said(),
    (text) => text.includes('configuration reloaded'),
  );
  expect(reloaded).toContain('configuration reloaded');
  expect(await statusOf(node, '/acme/')).toBe(404);
  // Another signal meanwhile takes the place of the first.
  await sleep(6_000);
  expect(said().split('configuration reloaded')).toHaveLength(2);
});
