import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DnsServer, startDnsServer } from '../helpers/dns-server.ts';
import { runHere } from '../helpers/in-process.ts';
import { createNode, isReady, type Node, SHORT_PERIOD_MS } from '../helpers/nodes.ts';
import { temporaryFolder } from '../helpers/pharos.ts';
import { postgresPrograms, type RealPostgres, startRealPostgres } from '../helpers/real-postgres.ts';

const PROGRAMS = postgresPrograms();
const OPERATOR = 'operator-token-of-22-characters';
/** A period, the retries, and what a machine that does much else takes. */
const PATIENCE_MS = 15 * SHORT_PERIOD_MS;
/** The shortest period of users: what no one checked is checked by another node within one. */
const TAKEN_OVER_MS = 30_000;
const UP = { A: ['127.0.0.1'] };
/** Nothing listens there. */
const DOWN = { A: ['127.0.0.2'] };

interface Seen {
  readonly state: string;
  readonly places: Readonly<Record<string, string>>;
}

/** Each place reaches the targets through a name server of its own, so that its network can fail alone. */
describe.skipIf(PROGRAMS === null)(
  'places over a Postgres server (skipped where initdb and postgres are not found)',
  () => {
    const folder = temporaryFolder();
    const names = new Map<string, DnsServer>();
    const nodes = new Map<string, Node>();
    let server: RealPostgres;
    let database: pg.Client;
    let target: Server;

    beforeAll(async () => {
      server = await startRealPostgres(PROGRAMS ?? '');
      const url = await server.database();
      target = createServer((_, response) => response.end('fine')).listen(0, '127.0.0.1');
      await once(target, 'listening');
      const { port } = target.address() as AddressInfo;
      const common = { type: 'http', periodicity: '30s', retry: 1, timeout: 3_000 };
      const config = JSON.stringify({
        site: { url: 'http://127.0.0.1:4321' },
        store: { url: '${DATABASE_URL}' },
        operators: { token: '${OPERATOR}' },
        checks: { place: '${PLACE}', resolver: ['${RESOLVER}'] },
        upstreams: [
          {
            id: 'checks',
            kind: 'checks',
            checks: [
              { ...common, name: 'Shop', url: `http://shop.test:${port}/` },
              { ...common, name: 'Other', url: `http://other.test:${port}/`, regions: ['ams', 'fra', 'iad', 'syd'] },
            ],
          },
        ],
        pages: [{ slug: 'status', title: 'Status', components: [{ id: 'shop', monitor: 'checks/shop' }] }],
      });
      for (const name of ['ams', 'fra', 'iad', 'fra-2']) {
        const resolver = await startDnsServer({ 'shop.test': UP, 'other.test': UP });
        names.set(name, resolver);
        const env = { PLACE: name.slice(0, 3), RESOLVER: resolver.address, OPERATOR };
        const init = { name, folder: folder.path, config, env, database: url, hasShortPeriods: true };
        nodes.set(name, await createNode(init));
      }
      database = new pg.Client({ connectionString: url });
      await database.connect();
      const [first, ...others] = ['ams', 'fra', 'iad'].map((name) => node(name));
      await first?.start();
      await Promise.all(others.map((one) => one.start()));
      await node('fra-2').start();
      expect(await Promise.all([...nodes.values()].map((one) => isReady(one)))).toEqual([true, true, true, true]);
    }, 180_000);

    afterAll(async () => {
      await Promise.all([...nodes.values()].map((one) => one.close()));
      await Promise.all([...names.values()].map((one) => one.stop()));
      target?.close();
      await database?.end();
      await server?.stop();
      folder.remove();
    });

    function node(name: string): Node {
      const one = nodes.get(name);
      if (one === undefined) throw new Error(`there is no node ${name}`);
      return one;
    }

    async function seenAt(name: string): Promise<Seen> {
      const answer = await fetch(`${node(name).url()}/status/api/uptime.json`).catch(() => null);
      if (answer?.ok !== true) return { state: `status ${answer?.status}`, places: {} };
      const { components } = (await answer.json()) as {
        components: { state: string; checks: { places: { place: string; state: string }[] } | null }[];
      };
      const [shop] = components;
      const places = shop?.checks?.places ?? [];
      return {
        state: shop?.state ?? 'missing',
        places: Object.fromEntries(places.map(({ place, state }) => [place, state])),
      };
    }

    /** Waits until every node that runs shows it. */
    async function expectSeen(wanted: Seen): Promise<void> {
      const running = [...nodes.values()].filter((one) => one.process() !== null);
      const deadline = performance.now() + PATIENCE_MS;
      for (;;) {
        const seen = await Promise.all(running.map(({ name }) => seenAt(name)));
        const isSeen = seen.every((one) => JSON.stringify(one) === JSON.stringify(wanted));
        if (isSeen || performance.now() > deadline) {
          expect(seen).toEqual(running.map(() => wanted));
          return;
        }
        await new Promise((wait) => setTimeout(wait, 200));
      }
    }

    const point = (name: string, shop: object): void => names.get(name)?.set({ 'shop.test': shop, 'other.test': UP });

    /** The place `fra` in the database: who makes its checks, and its last try of each. */
    async function placeOfTwo(): Promise<{ fence: number; lastTries: number[] }> {
      const lease = await database.query("SELECT fence FROM lease WHERE name = 'checks/fra'");
      const tries = await database.query("SELECT at FROM check_result WHERE place = 'fra' ORDER BY name");
      return {
        fence: Number((lease.rows[0] as { fence?: unknown } | undefined)?.fence),
        lastTries: (tries.rows as { at: unknown }[]).map(({ at }) => Number(at)),
      };
    }

    it('agree by majority, and one that is cut off says nothing', async () => {
      await expectSeen({
        state: 'operational',
        places: { ams: 'operational', fra: 'operational', iad: 'operational' },
      });
      // One node of each place makes the checks.
      expect(names.get('fra')?.asked.length).toBeGreaterThan(0);
      expect(names.get('fra-2')?.asked).toEqual([]);
      point('fra', DOWN);
      await expectSeen({ state: 'degraded', places: { ams: 'operational', fra: 'major_outage', iad: 'operational' } });
      // Of three, one has no network; of the two that answer, one is not more than half.
      names.get('ams')?.set({ 'shop.test': { fails: 'SERVFAIL' }, 'other.test': { fails: 'SERVFAIL' } });
      await expect
        .poll(
          () =>
            database
              .query("SELECT document FROM check_result WHERE place = 'ams' AND name = 'shop'")
              .then(({ rows }) => (JSON.parse((rows[0] as { document: string }).document) as { state: string }).state),
          { timeout: PATIENCE_MS },
        )
        .toBe('unknown');
      expect((await seenAt('iad')).state).toBe('degraded');
      point('iad', DOWN);
      await expectSeen({ state: 'major_outage', places: { ams: 'unknown', fra: 'major_outage', iad: 'major_outage' } });
      for (const name of ['ams', 'fra', 'iad']) point(name, UP);
      await expectSeen({
        state: 'operational',
        places: { ams: 'operational', fra: 'operational', iad: 'operational' },
      });
    }, 480_000);

    it('have another node go on where one dies, within half a minute', async () => {
      const before = await placeOfTwo();
      const killedAt = Date.now();
      node('fra').kill();
      await expect
        .poll(async () => (await placeOfTwo()).fence, { timeout: TAKEN_OVER_MS })
        .toBeGreaterThan(before.fence);
      expect(Date.now() - killedAt).toBeLessThanOrEqual(TAKEN_OVER_MS);
      await expect
        .poll(async () => (await placeOfTwo()).lastTries.every((at) => at > killedAt), { timeout: PATIENCE_MS })
        .toBe(true);
      expect(names.get('fra-2')?.asked.length).toBeGreaterThan(0);
      expect((await seenAt('fra-2')).state).toBe('operational');
    }, 180_000);

    it('are named to operators: those that check, and those that no node has', async () => {
      const message = 'regions syd: no running node has this place. Set checks.place on a node there';
      const iad = node('iad');
      const { NODE_OPTIONS: _, ...env } = iad.environment();
      const checked = await runHere(['check'], { cwd: iad.cwd, env });
      expect(checked.stdout + checked.stderr).toContain(message);
      const signedIn = await fetch(`${iad.url()}/-/ops/sign-in`, {
        method: 'POST',
        body: new URLSearchParams({ token: OPERATOR }),
        headers: { origin: iad.url() },
        redirect: 'manual',
      });
      const cookie = signedIn.headers.getSetCookie().map((line) => line.split(';')[0]);
      const ops = await (await fetch(`${iad.url()}/-/ops`, { headers: { cookie: cookie.join('; ') } })).text();
      expect(ops).toContain(message);
      expect(ops).toMatch(/Last checks: ams \([^)]+\), fra \([^)]+\), iad \([^)]+\)/);
    });
  },
);
