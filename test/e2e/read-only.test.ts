/** `pharos serve` where the data folder cannot be written: really mounted so, and really of an ordinary user. */

import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually, type RunningPharos, startPharos, temporaryFolder, untilFresh } from '../helpers/pharos.ts';
import { declare } from '../helpers/subscribing-site.ts';
import { runWarm, startWarm } from '../helpers/warm.ts';
import { WRITING_ENV } from '../helpers/writing-site.ts';

const IS_ROOT = process.getuid?.() === 0;
const SOMEBODY = 65_534;

const PASSWORD = 'open sesame';
const ENV = { ...WRITING_ENV, PASSWORD };

const configOf = (data: string): string => `site: { url: "http://127.0.0.1:4321", name: Example }
data: ${data}
schedule: "0 0 1 * *"
operators: { token: "\${PHAROS_TOKEN}" }
pages:
  - { slug: acme, title: Acme, components: [{ id: api, type: static, name: API }] }
  - { slug: inner, title: Inner, password: "\${PASSWORD}", components: [{ id: vault, type: static, name: Vault }] }
`;

const ending: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end();
});

interface Place {
  readonly cwd: string;
  /** Where the folder can be written. */
  readonly data: string;
}

function newPlace(): Place {
  const folder = temporaryFolder();
  ending.push(folder.remove);
  const data = join(folder.path, 'data');
  mkdirSync(data);
  return { cwd: folder.path, data };
}

/** What a writer left that published both pages; somebody signed in to the second. */
const written = temporaryFolder();
let cookie = '';
beforeAll(async () => {
  const place = { cwd: written.path, data: join(written.path, 'data') };
  const writer = await begin(place);
  cookie = cookieOf(await signIn(writer.url));
  await writer.stop();
  ending.splice(0);
});
afterAll(written.remove);

/** A copy of it. */
function writtenPlace(): Place {
  const place = newPlace();
  execFileSync('cp', ['-a', `${join(written.path, 'data')}/.`, place.data]);
  return place;
}

async function run(place: Place, command: 'start' | 'serve', config: string, env = ENV): Promise<RunningPharos> {
  const file = join(place.cwd, `${command}.yaml`);
  writeFileSync(file, config);
  const pharos = await startWarm([command, '--port', '0', '--config', file], { cwd: place.cwd, env });
  ending.push(() => pharos.stop());
  return pharos;
}

async function begin(place: Place): Promise<RunningPharos> {
  const writer = await run(place, 'start', configOf(place.data));
  await untilFresh(writer);
  return writer;
}

const open = (url: string, path: string, cookie = ''): Promise<Response> =>
  fetch(url + path, { redirect: 'manual', headers: { cookie } });

function signIn(url: string, password = PASSWORD): Promise<Response> {
  return fetch(`${url}/inner/login/`, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ password }),
    headers: { origin: url },
  });
}

const cookieOf = (answer: Response): string => (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '';

/** Everything below a folder, with when it was changed. */
function listing(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((path) => `${path} ${lstatSync(join(folder, path)).ctimeMs}`)
    .toSorted();
}

/** The same folder at another path, at which it cannot be written; null: we may not mount. */
function mounted({ cwd, data }: Place): string | null {
  const path = join(cwd, 'mounted');
  mkdirSync(path);
  try {
    execFileSync('mount', ['--bind', data, path], { stdio: 'ignore' });
    ending.push(() => execFileSync('umount', [path]));
    execFileSync('mount', ['-o', 'remount,bind,ro', path], { stdio: 'ignore' });
    return path;
  } catch {
    return null;
  }
}

function mayMount(): boolean {
  const place = newPlace();
  const may = mounted(place) !== null;
  for (const end of ending.splice(0).reverse()) end();
  return may;
}

/** What a visitor finds there, before the gate and behind it. */
async function expectServed(reader: RunningPharos, cookie: string): Promise<void> {
  expect((await open(reader.url, '/-/ready')).status).toBe(200);
  expect(await (await open(reader.url, '/acme/')).text()).toContain('API');
  expect(await (await open(reader.url, '/acme/badges/status.svg')).text()).toContain('<svg');
  expect(await (await open(reader.url, '/acme/api/v2/summary.json')).json()).toMatchObject({ page: { name: 'Acme' } });
  expect(await (await open(reader.url, '/acme/api/now.json')).json()).toHaveProperty('state');
  expect((await open(reader.url, '/inner/')).status).toBe(404);
  const inside = await open(reader.url, '/inner/', cookie);
  expect([inside.status, (await inside.text()).includes('Vault')]).toEqual([200, true]);
  const refused = await signIn(reader.url);
  expect(refused.status).toBe(503);
  expect(await refused.text()).toContain('Sign-in is temporarily unavailable.');
  expect(refused.headers.get('set-cookie')).toBeNull();
}

const CAN_MOUNT = mayMount();

describe.skipIf(!CAN_MOUNT)(`a read-only mount${CAN_MOUNT ? '' : ' (skipped: nothing may be mounted here)'}`, () => {
  it('is served to visitors and to who signed in before, and nothing in it is changed', async () => {
    const place = writtenPlace();
    const before = listing(place.data);
    const reader = await run(place, 'serve', configOf(mounted(place) ?? ''));
    await expectServed(reader, cookie);
    await new Promise((wait) => setTimeout(wait, 1_500));
    expect(listing(place.data)).toEqual(before);
    const said = reader.stderr().split('\n').filter(Boolean);
    expect(said.filter((line) => line.includes('The data folder is read-only.'))).toHaveLength(1);
    // The refused sign-in, and nothing again and again.
    expect(said.length).toBeLessThan(4);
    expect(await reader.stop()).toBe(0);
  });

  it('follows whoever writes elsewhere, while they do, when they end and when they begin again', async () => {
    const place = writtenPlace();
    const reader = await run(place, 'serve', configOf(mounted(place) ?? ''));
    expect((await open(reader.url, '/-/ready')).status).toBe(200);
    let writer = await begin(place);
    const shows = (text: string) =>
      eventually(
        async () => (await open(reader.url, '/acme/')).text(),
        (page) => page.includes(text),
      );
    const now = cookieOf(await signIn(writer.url));
    await expectServed(reader, now);
    await declare(writer.url, 'acme', { name: 'First trouble', component_ids: ['api'], body: 'x' });
    expect(await shows('First trouble')).toContain('First trouble');
    await writer.stop();
    await expectServed(reader, now);

    writer = await begin(place);
    await declare(writer.url, 'acme', { name: 'Second trouble', component_ids: ['api'], body: 'x' });
    expect(await shows('Second trouble')).toContain('Second trouble');
    const later = cookieOf(await signIn(writer.url));
    await expectServed(reader, later);
    writer.kill();
    await expectServed(reader, later);
  });

  it('takes up a whole folder that is put in the place of another, with a page that is closed in it', async () => {
    const place = writtenPlace();
    const path = mounted(place) ?? '';
    const reader = await run(place, 'serve', configOf(path));
    await expectServed(reader, cookie);
    // As a copying program does it: aside, then renamed.
    const aside = join(place.cwd, 'aside');
    cpSync(place.data, aside, { recursive: true, verbatimSymlinks: true });
    const other = await run({ ...place, data: aside }, 'start', configOf(aside), { ...ENV, PASSWORD: 'another' });
    await untilFresh(other);
    await other.stop();
    renameSync(join(aside, 'pharos.db'), join(place.data, 'pharos.db'));
    const closed = await eventually(
      async () => (await open(reader.url, '/inner/', cookie)).status,
      (status) => status === 404,
    );
    expect(closed).toBe(404);
    expect((await open(reader.url, '/acme/')).status).toBe(200);
    expect((await open(reader.url, '/-/ready')).status).toBe(200);
  });

  it('says what to do where there is no key, and what is missing where there is no database', async () => {
    const place = writtenPlace();
    rmSync(join(place.data, 'secret.key'));
    const path = mounted(place) ?? '';
    const reader = await run(place, 'serve', configOf(path));
    expect((await open(reader.url, '/acme/')).status).toBe(200);
    expect(reader.stderr()).toContain(`${join(path, 'secret.key')} does not exist and can’t be created.`);
    await reader.stop();
    rmSync(join(place.data, 'pharos.db'));
    const bare = await run(place, 'serve', configOf(path));
    expect((await open(bare.url, '/acme/')).status).toBe(200);
    expect((await open(bare.url, '/inner/')).status).toBe(404);
    expect((await open(bare.url, '/-/ready')).status).toBe(503);
    expect(bare.stderr()).toContain(`Can’t read ${join(path, 'pharos.db')} while its folder is read-only`);
  });

  it('is refused by what has to write', async () => {
    const place = writtenPlace();
    writeFileSync(join(place.cwd, 'start.yaml'), configOf(mounted(place) ?? ''));
    const { status, stderr, stdout } = await runWarm(['build', '--config', 'start.yaml'], { cwd: place.cwd, env: ENV });
    expect(status).not.toBe(0);
    expect(stdout + stderr).toContain('Check that the data folder is writable');
  });
});

describe('a folder that an ordinary user may not write', () => {
  it('is served', async () => {
    const place = writtenPlace();
    // Modes mean nothing to root, so somebody else reads then.
    if (IS_ROOT) execFileSync('chown', ['-R', String(SOMEBODY), place.cwd]);
    chmodSync(place.data, 0o555);
    ending.push(() => chmodSync(place.data, 0o755));
    const file = join(place.cwd, 'serve.yaml');
    writeFileSync(file, configOf(place.data));
    const uid = IS_ROOT ? { uid: SOMEBODY } : {};
    const reader = await startPharos(['serve', '--port', '0', '--config', file], {
      cwd: place.cwd,
      env: ENV,
      ...uid,
    });
    ending.push(() => reader.stop());
    await expectServed(reader, cookie);
  });
});
