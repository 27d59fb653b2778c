import { execFileSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ATTEMPT_LIMITS, ATTEMPT_WINDOW_MS, type Attempts, createAttempts } from '../../src/access/attempts.ts';
import { systemRandom } from '../../src/access/digest.ts';
import { HASHES_AT_ONCE } from '../../src/access/gate/gates.ts';
import { HASHES_WAITING_MAX } from '../../src/access/parts.ts';
import { MINUTE_MS, SECOND_MS, toEpochMs } from '../../src/model/time.ts';
import { eventually } from '../helpers/pharos.ts';
import {
  KEY,
  PAGES,
  PASSWORD,
  type Site,
  type SiteFolder,
  siteFolder,
  storeCheapHash,
  T0,
  Visitor,
} from './access-fixture.ts';

const SCALE = Number(process.env['PHAROS_TEST_SCALE'] ?? 1);
/** Counted in the store itself, with a model clock; 100,000 with PHAROS_TEST_SCALE 10. */
const GUESSES = Math.max(2_000, (SCALE >= 10 ? 10_000 : 4_000) * SCALE);
/** Through the whole gate, each right up to argon2 unless it is refused. */
const FULL_GUESSES = 200 * SCALE;
const { client, repeats, firsts, clientEverywhere } = ATTEMPT_LIMITS.password;

describe('guessing', () => {
  let folder: SiteFolder;
  let site: Site;
  let attempts: Attempts;

  beforeEach(async () => {
    folder = siteFolder();
    site = await folder.open();
    await storeCheapHash(site.database);
    await site.access.setPages(PAGES);
    attempts = createAttempts(site.database, systemRandom, KEY);
  });
  afterEach(async () => {
    await site.close();
    folder.remove();
  });

  const admit = async (clientAddress: string, ms: number, slug = 'vault'): Promise<boolean> =>
    (await attempts.admit({ kind: 'password', slug, clientAddress, now: toEpochMs(T0 + ms) })).isAdmitted;

  it(`${GUESSES} times from one client is evaluated ten times in any fifteen minutes`, async () => {
    const evaluated: number[] = [];
    const hours = 5;
    for (let guess = 0; guess < GUESSES; guess += 1) {
      const ms = Math.floor((guess * hours * 60 * MINUTE_MS) / GUESSES);
      if (await admit('198.51.100.1', ms)) evaluated.push(ms);
    }
    expect(mostIn(evaluated, ATTEMPT_WINDOW_MS)).toBe(client);
    expect(evaluated).toHaveLength((hours * 60 * client) / 15);
    expect(await admit('203.0.113.9', hours * 60 * MINUTE_MS)).toBe(true);
  });

  it(`${GUESSES} times from 1,000 clients is bounded overall, and somebody new is let in at once all the while`, async () => {
    const evaluated: number[] = [];
    const newcomers = 20;
    for (let guess = 0; guess < GUESSES; guess += 1) {
      const ms = Math.floor((guess * ATTEMPT_WINDOW_MS) / GUESSES);
      const from = guess % 1_000;
      if (await admit(`198.51.${Math.floor(from / 250)}.${from % 250}`, ms)) evaluated.push(ms);
      if (guess % Math.floor(GUESSES / newcomers) === 0)
        expect(await admit(`203.0.113.${guess % 251}`, ms), `newcomer after ${guess}`).toBe(true);
    }
    expect(mostIn(evaluated, ATTEMPT_WINDOW_MS)).toBeLessThanOrEqual(repeats + firsts);
    expect(evaluated).toHaveLength(1_000 + repeats);
  });

  it('from ever new addresses of one IPv6 network is guessing from one client', async () => {
    let evaluated = 0;
    for (let guess = 0; guess < 100; guess += 1)
      if (await admit(`2001:db8:1:2:${guess.toString(16)}::${guess}`, guess)) evaluated += 1;
    expect(evaluated).toBe(client);
  });

  it('at ever new pages, whether they exist or not, is bounded for one client', async () => {
    let evaluated = 0;
    for (let guess = 0; guess < 200; guess += 1)
      if (await admit('198.51.100.1', guess, `page-${guess}`)) evaluated += 1;
    expect(evaluated).toBe(clientEverywhere);
  });

  it('at one page leaves other pages and other kinds of tries alone', async () => {
    for (let guess = 0; guess < 20; guess += 1) await admit('198.51.100.1', guess);
    expect(await admit('198.51.100.1', 20)).toBe(false);
    expect(await admit('198.51.100.1', 20, 'other')).toBe(true);
    const asking = { kind: 'mail', slug: 'vault', clientAddress: '198.51.100.1', now: T0 } as const;
    expect((await attempts.admit(asking)).isAdmitted).toBe(true);
  });

  it('is told for how long to wait, and nobody waits longer than fifteen minutes', async () => {
    for (let guess = 0; guess < client; guess += 1) await admit('198.51.100.1', guess * MINUTE_MS);
    const now = toEpochMs(T0 + 10 * MINUTE_MS);
    const refused = await attempts.admit({ kind: 'password', slug: 'vault', clientAddress: '198.51.100.1', now });
    expect(refused).toEqual({ isAdmitted: false, retryAfterMs: 5 * MINUTE_MS });
    expect(await admit('198.51.100.1', 15 * MINUTE_MS - 1)).toBe(false);
    expect(await admit('198.51.100.1', 15 * MINUTE_MS)).toBe(true);
    expect(await admit('198.51.100.1', 15 * MINUTE_MS + 1)).toBe(false);
  });

  it('cannot be hurried by restarting: counts are in the store', async () => {
    for (let guess = 0; guess < client; guess += 1) await admit('198.51.100.1', guess);
    await site.close();
    site = await folder.open();
    attempts = createAttempts(site.database, systemRandom, KEY);
    expect(await admit('198.51.100.1', client)).toBe(false);
  });

  it('by clients that nobody can tell apart locks out no address, and not the newcomers', async () => {
    for (let guess = 0; guess < 1_000; guess += 1) expect(await admit('', guess)).toBe(true);
    expect(await admit('198.51.100.1', 1_000)).toBe(true);
    for (let guess = 0; guess < firsts; guess += 1) await admit('', 1_000);
    expect(await admit('', 1_000)).toBe(false);
    expect(await admit('203.0.113.9', 1_000)).toBe(true);
    expect(await admit('', 1_000, 'other')).toBe(true);
  });

  it('is not what an office does that signs in with the right password at once, beside nine wrong ones', async () => {
    const office = (password: string) =>
      new Visitor(site, { clientAddress: '198.51.100.1' }).post('vault', 'login/', { password });
    for (let guess = 0; guess < client - 1; guess += 1) expect((await office('guess')).status).toBe(403);
    const answers = await Promise.all(Array.from({ length: 20 }, () => office(PASSWORD)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 303));
    expect((await office('guess')).status).toBe(403);
    expect((await office(PASSWORD)).status).toBe(429);
  });

  it('is not what somebody does whose password waits in vain to be compared', async () => {
    const inVain = 3;
    let answered = 0;
    // No comparison ends before all of them have come.
    const release = holdThreads(join(dirname(folder.file), 'held'));
    const answers = Array.from({ length: HASHES_AT_ONCE + HASHES_WAITING_MAX + inVain }, async (_, from) => {
      const visitor = new Visitor(site, { clientAddress: `198.51.100.${from}` });
      const { status } = await visitor.post('vault', 'login/', { password: PASSWORD });
      answered += 1;
      return status;
    });
    await eventually(
      async () => answered,
      (count) => count >= inVain,
    );
    expect(answered).toBe(inVain);
    await release();
    const statuses = await Promise.all(answers);
    expect(statuses.filter((status) => status === 503)).toHaveLength(inVain);
    expect(await site.database.all('SELECT * FROM access_attempt')).toEqual([]);
  });

  it('at once does not get more tries than one after the other', async () => {
    const admitted = await Promise.all(Array.from({ length: 100 }, () => admit('198.51.100.1', 0)));
    expect(admitted.filter(Boolean)).toHaveLength(client);
  });

  it(`${FULL_GUESSES} times through the gate finds nothing, not even the right password among them`, async () => {
    const attacker = new Visitor(site, { clientAddress: '198.51.100.1' });
    const statuses = new Map<number, number>();
    for (let guess = 0; guess < FULL_GUESSES; guess += 1) {
      const password = guess >= client ? PASSWORD : `guess ${guess}`;
      const answer = await attacker.post('vault', 'login/', { password });
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      if (answer.status === 429) expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    }
    expect(Object.fromEntries(statuses)).toEqual({ 403: client, 429: FULL_GUESSES - client });
    expect(await attacker.sees('vault')).toBe(false);
    const rightful = new Visitor(site, { clientAddress: '203.0.113.9' });
    expect((await rightful.post('vault', 'login/', { password: PASSWORD })).status).toBe(303);
    site.now = toEpochMs(T0 + ATTEMPT_WINDOW_MS + SECOND_MS);
    expect((await attacker.post('vault', 'login/', { password: PASSWORD })).status).toBe(303);
  });

  it('is not what an office does that signs in from one address', async () => {
    for (let colleague = 0; colleague < client + 2; colleague += 1)
      expect((await new Visitor(site).post('vault', 'login/', { password: PASSWORD })).status).toBe(303);
  });

  it('a code is limited like a password, for one client and overall', async () => {
    const one = new Visitor(site);
    const statuses = [];
    for (let guess = 0; guess < 15; guess += 1)
      statuses.push((await one.post('team', 'login/code/', { code: String(10_000_000 + guess) })).status);
    expect(statuses).toEqual([...Array(10).fill(403), ...Array(5).fill(429)]);
    let evaluated = 0;
    for (let guess = 0; guess < 1_000; guess += 1) {
      const clientAddress = `198.51.${guess % 2}.${guess % 100}`;
      const answer = await new Visitor(site, { clientAddress }).post('team', 'login/code/', { code: '00000000' });
      if (answer.status === 403) evaluated += 1;
    }
    const limits = ATTEMPT_LIMITS.code;
    expect(evaluated).toBeLessThanOrEqual(limits.firsts + limits.repeats);
  });

  it('leaves nothing in the database from which an address could be told without the key', async () => {
    const countedWith = async (key: string): Promise<readonly unknown[]> => {
      const attempts = createAttempts(site.database, systemRandom, { reveal: () => key });
      await attempts.admit({ kind: 'password', slug: 'vault', clientAddress: '198.51.100.1', now: T0 });
      const rows = await site.database.all('SELECT bucket FROM access_attempt ORDER BY bucket');
      await site.database.transaction((tx) => tx.run('DELETE FROM access_attempt', []));
      return rows;
    };
    const one = await countedWith('one key of 32 characters or more');
    expect(one).toHaveLength(3);
    expect(await countedWith('one key of 32 characters or more')).toEqual(one);
    const other = new Set((await countedWith('another key of 32 characters too')).map((row) => JSON.stringify(row)));
    expect(one.filter((row) => other.has(JSON.stringify(row)))).toEqual([]);
  });
});

/** Keeps all threads that compute for Node waiting for somebody who writes into a pipe, until it is called. */
function holdThreads(pipe: string): () => Promise<void> {
  execFileSync('mkfifo', [pipe]);
  const opened = Array.from({ length: Number(process.env['UV_THREADPOOL_SIZE'] ?? 4) }, () => open(pipe));
  return async () => {
    const writer = openSync(pipe, 'w');
    for (const file of await Promise.all(opened)) await file.close();
    closeSync(writer);
  };
}

/** The most instants in any stretch of `windowMs`. */
function mostIn(instants: readonly number[], windowMs: number): number {
  let most = 0;
  let first = 0;
  for (const [last, at] of instants.entries()) {
    while ((instants[first] ?? at) <= at - windowMs) first += 1;
    most = Math.max(most, last - first + 1);
  }
  return most;
}
