import fs, { writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { compose, type Pharos } from '../../src/app/compose.ts';
import { createLog } from '../../src/app/log.ts';
import { type Door, listen } from '../../src/app/serving/listen.ts';
import { loadConfig } from '../../src/cli/common.ts';
import { StatusError } from '../../src/errors.ts';
import { temporaryFolder } from '../helpers/pharos.ts';
import { shareThreads } from '../helpers/warm-threads.ts';

const TOKEN = 'a-token-of-the-operator';
const ANSWER_MS_MAX = 5_000;
const FULL = new StatusError({ code: 'STORE_UNAVAILABLE', message: 'the disk is full' });

/** A node whose store or disk stops answering, or refuses everything, after its page was published. */
describe('while the database or the disk hangs or is full', () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let pharos: Pharos;
  let door: Door;
  /** Statements that hang end with the test, so that everything can be closed. */
  let ended: PromiseWithResolvers<never>;
  let restore = (): void => undefined;
  let ownThreads = (): void => undefined;

  beforeEach(async () => {
    ended = Promise.withResolvers();
    ended.promise.catch(() => undefined);
    folder = temporaryFolder();
    const file = join(folder.path, 'pharos.yaml');
    const pages = [{ slug: 'acme', title: 'Acme', components: [{ type: 'static', name: 'API' }] }];
    const config = {
      site: { url: 'http://127.0.0.1:4321', name: 'Example' },
      data: join(folder.path, 'data'),
      operators: { token: '${OPERATOR_TOKEN}' },
      access: { smtp: '${SMTP_URL}', from: 'status@example.com' },
      subscriptions: true,
      pages,
    };
    writeFileSync(file, JSON.stringify(config));
    process.env['OPERATOR_TOKEN'] = TOKEN;
    process.env['SMTP_URL'] = 'smtp://127.0.0.1:9';
    const loaded = loadConfig(file);
    if (loaded === null) throw new Error('no configuration');
    const log = createLog({ isQuiet: true, secrets: new Set() });
    ownThreads = shareThreads();
    pharos = await compose(loaded, { log, isPublishing: true, printsMail: false });
    await pharos.publishing.engine.submit({ trigger: 'start' }).report;
    door = await listen(pharos, { log, port: 0 });
  });
  afterEach(async () => {
    delete process.env['OPERATOR_TOKEN'];
    delete process.env['SMTP_URL'];
    restore();
    ended.reject(FULL);
    await door.close();
    await pharos[Symbol.asyncDispose]();
    ownThreads();
    folder.remove();
  });

  /** Every statement of this node behaves like `fault` from now on. */
  function breakStore(fault: () => Promise<never>): void {
    const { database } = pharos.base.store;
    const { all, transaction } = database;
    Object.assign(database, { all: fault, transaction: fault });
    restore = () => void Object.assign(database, { all, transaction });
  }

  /** From now on nothing read from the data folder comes back; returns what was read in a way that waits for it. */
  function hangDisk(): string[] {
    const waits: string[] = [];
    const data = join(folder.path, 'data');
    const restores: (() => void)[] = [];
    const replace = (
      target: object,
      name: string,
      made: (original: (...args: never[]) => unknown) => unknown,
    ): void => {
      const original = Reflect.get(target, name) as (...args: never[]) => unknown;
      if (typeof original !== 'function') return;
      Reflect.set(target, name, made(original));
      restores.push(() => void Reflect.set(target, name, original));
    };
    const isOurs = (path: unknown): boolean => String(path).startsWith(data);
    for (const name of Object.keys(fs).filter((one) => one.endsWith('Sync')))
      replace(fs, name, (original) => (...args: never[]) => {
        if (isOurs(args[0])) waits.push(`${name} ${String(args[0])}`);
        return original(...args);
      });
    for (const name of Object.keys(fs.promises))
      replace(
        fs.promises,
        name,
        (original) =>
          (...args: never[]) =>
            isOurs(args[0]) ? ended.promise : original(...args),
      );
    syncBuiltinESMExports();
    restore = () => {
      for (const one of restores) one();
      syncBuiltinESMExports();
    };
    return waits;
  }

  async function ask(name: string, token: string | null): Promise<{ status: number; text: string }> {
    const answer = await fetch(`${door.url}/-/${name}`, {
      headers: token === null ? {} : { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    });
    return { status: answer.status, text: await answer.text() };
  }

  it.each([
    ['hangs', () => ended.promise],
    ['refuses', () => Promise.reject(FULL)],
  ])('that %s, health, readiness, freshness and metrics are told', async (_, fault) => {
    expect((await ask('metrics', TOKEN)).text).toMatch(/^pharos_pages_published 1$/m);
    breakStore(fault);
    for (const token of [null, TOKEN, 'wrong']) {
      expect(await ask('health', token)).toMatchObject({ status: 200 });
      expect(await ask('ready', token)).toMatchObject({ status: 200 });
      const fresh = await ask('fresh', token);
      expect([200, 503]).toContain(fresh.status);
      if (fresh.status === 503) expect('reasons' in (JSON.parse(fresh.text) as object)).toBe(token === TOKEN);
    }
    expect((await ask('metrics', 'wrong')).status).toBe(401);
    const { status, text } = await ask('metrics', TOKEN);
    expect([status, text]).toEqual([200, expect.stringMatching(/^pharos_pages_published 1$/m)]);
    expect(text).toMatch(/^pharos_component_state\{page="acme",/m);
    expect((await fetch(`${door.url}/acme/`)).status).toBe(200);
  });

  it('that refuses, visitors who subscribe are told to try again', async () => {
    breakStore(() => Promise.reject(FULL));
    const page = `${door.url}/acme/subscribe/`;
    const body = new URLSearchParams({ email: 'ann@example.com' });
    for (const answer of [await fetch(page), await fetch(page, { method: 'POST', body })])
      expect([answer.status, answer.headers.get('retry-after'), await answer.text()]).toEqual([
        ...[503, '30'],
        'This is temporarily unavailable. Try again in a few minutes.\n',
      ]);
  });

  it('that refuses, operators get back what they wrote', async () => {
    const ops = (path: string, fields: Record<string, string>, headers: Record<string, string>) =>
      fetch(`${door.url}/-/ops/${path}`, {
        ...{ method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' as const },
        headers: { origin: door.url, ...headers },
      });
    const signedIn = await ops('sign-in', { token: TOKEN }, {});
    const [cookie = ''] = signedIn.headers.getSetCookie().map((line) => line.split(';', 1)[0] ?? '');
    breakStore(() => Promise.reject(FULL));
    const fields = { name: 'API slow', body: '<b>We</b> look at it.', token: 'unwritten' };
    const own = await ops('write', fields, { cookie });
    const foreign = await ops('write', fields, { cookie, origin: 'https://evil.example' });
    expect([signedIn.status, own.status, foreign.status]).toEqual([303, 503, 503]);
    const text = await own.text();
    expect(text).toContain('API slow\n\n&lt;b&gt;We&lt;/b&gt; look at it.');
    expect(text).not.toContain('unwritten');
    expect(await foreign.text()).not.toContain('API slow');
  });

  it.each([
    ['after it was read once', true],
    ['before it was ever read', false],
  ])('on a disk that hangs, they are told from memory: %s', async (_, isRead) => {
    if (isRead) await ask('metrics', TOKEN);
    const waits = hangDisk();
    for (const token of [TOKEN, null, 'wrong']) {
      expect(await ask('health', token)).toMatchObject({ status: 200 });
      expect(await ask('ready', token)).toMatchObject({ status: 200 });
      const fresh = await ask('fresh', token);
      // The upstream of operators' posts wasn't read in this test.
      expect(fresh.status).toBe(503);
      if (token === TOKEN) expect(fresh.text.includes('page acme is not published yet')).toBe(!isRead);
    }
    const { status, text } = await ask('metrics', TOKEN);
    expect([status, text]).toEqual([
      200,
      expect.stringMatching(new RegExp(`^pharos_pages_published ${Number(isRead)}$`, 'm')),
    ]);
    expect(text.includes('pharos_component_state{page="acme",')).toBe(isRead);
    expect(waits, 'nothing waits for the disk').toEqual([]);
  });
});
