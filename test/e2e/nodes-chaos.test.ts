import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { configOverPostgres, createNode, isReady, type Node } from '../helpers/nodes.ts';
import { temporaryFolder } from '../helpers/pharos.ts';
import { postgresPrograms, type RealPostgres, startRealPostgres } from '../helpers/real-postgres.ts';
import { startUnlimitedSandbox } from '../helpers/sandbox.ts';
import { createVisitors, type Visitors } from '../helpers/visitors.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';

const PROGRAMS = postgresPrograms();
const SCALE = Number(process.env['PHAROS_TEST_SCALE'] ?? 1);
/** A few seconds, and ten minutes at ten times the scale. */
const LASTS_MS = SCALE >= 10 ? 60_000 * SCALE : 10_000 * Math.max(0.5, SCALE);
const PAUSE_MS_MAX = SCALE >= 10 ? 60_000 : 3_000;
const INTERVAL_MS = 3_000;
const PER_MINUTE = 140;
/** Twice as long as a lease lasts and the pass after it; the rest is for a machine that does much else. The figures tell. */
const SHOWN_WITHIN_MS = 2 * 10_000 + 2 * INTERVAL_MS + 15_000;
const SEED = Number(process.env['PHAROS_TEST_SEED'] ?? 20_261_122);

describe.skipIf(PROGRAMS === null)(
  'three nodes while machines die (skipped where initdb and postgres are not found)',
  () => {
    const folder = temporaryFolder();
    const nodes: Node[] = [];
    let server: RealPostgres;
    let database: pg.Client;
    let sandbox: Sandbox;
    let visitors: Visitors;
    /** What is being done to nodes, which may start one after the test has failed. */
    let pending: Promise<unknown> = Promise.resolve();
    let seed = SEED;
    const random = (): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed / 2_147_483_647;
    };
    const oneOf = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;

    beforeAll(async () => {
      server = await startRealPostgres(PROGRAMS ?? '');
      const url = await server.database();
      sandbox = await startUnlimitedSandbox();
      const config = configOverPostgres(sandbox, { everySeconds: INTERVAL_MS / 1_000, perMinute: PER_MINUTE });
      for (const name of ['a', 'b', 'c'])
        nodes.push(await createNode({ name, folder: folder.path, config, env: sandbox.environment(), database: url }));
      await nodes[0]?.start();
      // It makes the tables.
      await isReady(nodes[0] as Node, '/-/fresh');
      database = new pg.Client({ connectionString: url });
      await database.connect();
      await database.query(NOTES);
      await Promise.all(nodes.slice(1).map((node) => node.start()));
      for (const node of nodes) expect(await isReady(node)).toBe(true);
      visitors = createVisitors(nodes);
    });

    afterAll(async () => {
      await pending.catch(() => undefined);
      await visitors?.stop();
      await database?.end();
      await Promise.all(nodes.map((node) => node.close()));
      await sandbox?.stop();
      await server?.stop();
      folder.remove();
    });

    /** What happens to a node; resolves when it is over and the node can be reached again. */
    const DISTURBANCES: Readonly<Record<string, (node: Node) => Promise<void>>> = {
      kill: async (node) => {
        node.kill();
        await wait(500 + random() * 3_000);
        await node.start();
      },
      stop: async (node) => {
        await node.stop();
        await node.start();
      },
      pause: async (node) => {
        node.pause();
        await wait(500 + random() ** 2 * PAUSE_MS_MAX);
        node.resume();
      },
      cut: async (node) => {
        node.way?.cut();
        await wait(500 + random() ** 2 * PAUSE_MS_MAX);
        node.way?.heal();
      },
      jump: async (node) => node.jump(Math.round((random() - 0.5) * oneOf([4_000, 180_000, 7_200_000, 172_800_000]))),
    };

    it(
      'asks within its quota, loses nothing, goes back nowhere, and fails no visitor',
      async () => {
        const tally: Record<string, number> = {};
        const delays: number[] = [];
        await database.query('DELETE FROM note');
        const began = Date.now();
        let changes = 0;
        let slowest = '';
        while (Date.now() - began < LASTS_MS || changes < 3) {
          const kind = oneOf(Object.keys(DISTURBANCES));
          const victims = nodes.filter(() => random() < 0.4).slice(0, 2);
          if (victims.length === 0) victims.push(oneOf(nodes));
          tally[kind] = (tally[kind] ?? 0) + victims.length;
          const isHarmless = kind === 'jump';
          for (const node of victims) if (!isHarmless) visitors.leave(node);
          const over = Promise.all(victims.map((node) => DISTURBANCES[kind]?.(node)));
          pending = over;
          await wait(random() * 1_000);
          changes += 1;
          const isDown = changes % 2 === 1;
          const at = performance.now();
          sandbox.world.force('website', isDown ? 'down' : null);
          const healthy = nodes.filter((node) => isHarmless || !victims.includes(node));
          await Promise.all(healthy.map((node) => visitors.sees(node, isDown, SHOWN_WITHIN_MS)));
          const tookMs = performance.now() - at;
          delays.push(tookMs);
          if (tookMs >= Math.max(...delays)) slowest = `${kind} ${victims.map(({ name }) => name).join(' ')}`;
          await over;
          for (const node of victims) {
            if (!isHarmless)
              expect(await isReady(node), `${node.name} after ${kind}: ${node.said().slice(-2_000)}`).toBe(true);
            visitors.join(node);
          }
          // A node that was away shows what the others do.
          await Promise.all(nodes.map((node) => visitors.sees(node, isDown, SHOWN_WITHIN_MS)));
          expect(visitors.faults()).toEqual([]);
          expect(busiestMinute(sandbox)).toBeLessThanOrEqual(PER_MINUTE);
        }

        const { rows: passes } = await database.query(
          "SELECT before, after FROM note WHERE upstream = 'edge' ORDER BY id",
        );
        // No answer is taken twice, and none goes back behind a newer one.
        expect(passes.filter(({ before, after }) => Number(after) <= Number(before))).toEqual([]);
        const disturbances = Object.values(tally).reduce((sum, count) => sum + count, 0);
        const ticks = Math.ceil((Date.now() - began) / INTERVAL_MS);
        expect(passes.length).toBeLessThanOrEqual(ticks + disturbances + 3);
        // Every change that was shown is remembered, and once.
        const { rows: spans } = await database.query(
          "SELECT state FROM span WHERE monitor IN (SELECT monitor FROM span WHERE state = 'major_outage') ORDER BY monitor, from_at",
        );
        const states = spans.map(({ state }) => String(state)).filter((state, index, all) => state !== all[index - 1]);
        expect(states.filter((state) => state === 'major_outage')).toHaveLength(Math.ceil(changes / 2));
        if (SCALE >= 10) {
          delays.sort((a, b) => a - b);
          console.log(
            JSON.stringify({
              seconds: Math.round((Date.now() - began) / 1_000),
              changes,
              tally,
              passes: passes.length,
              ticks,
              requests: sandbox.requests.count('server-monitor'),
              busiestMinute: busiestMinute(sandbox),
              answers: visitors.answered(),
              shownMs: { p50: delays[Math.floor(delays.length / 2)], max: delays.at(-1), slowest },
            }),
          );
        }
      },
      LASTS_MS + 300_000,
    );
  },
);

/** Notes each commit of a pass that the database takes. */
const NOTES = `
  CREATE TABLE note (id BIGSERIAL PRIMARY KEY, upstream TEXT, before BIGINT, after BIGINT);
  CREATE FUNCTION take_note() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN INSERT INTO note (upstream, before, after) VALUES (NEW.id, OLD.monitors_at, NEW.monitors_at); RETURN NEW; END $$;
  CREATE TRIGGER note AFTER UPDATE OF monitors_at ON upstream FOR EACH ROW EXECUTE FUNCTION take_note();
`;

/** The most requests that came within any sixty seconds. */
function busiestMinute(sandbox: Sandbox): number {
  const at = sandbox.requests.of('server-monitor').map((request) => request.at);
  let first = 0;
  let most = 0;
  for (const [last, time] of at.entries()) {
    while ((at[first] ?? 0) <= time - 60_000) first += 1;
    most = Math.max(most, last - first + 1);
  }
  return most;
}
