import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/app/sandbox.ts';
import { toEpochMs } from '../../src/model/time.ts';
import { serverMonitorSandbox } from '../../src/sync/connectors/server-monitor/sandbox.ts';
import { createNode, isReady, type Node, shownAt } from '../helpers/nodes.ts';
import { temporaryFolder } from '../helpers/pharos.ts';
import { postgresPrograms, type RealPostgres, startRealPostgres } from '../helpers/real-postgres.ts';
import { S3_KEYS, type S3Server, startS3Server } from '../helpers/s3-server.ts';

const PROGRAMS = postgresPrograms();
const SCALE = Number(process.env['PHAROS_TEST_SCALE'] ?? 1);
const CHANGES = Math.round(6 * SCALE);
const INTERVAL_MS = 2_000;

/** The in-process one has one session, and tells nobody of anything. */
describe.skipIf(PROGRAMS === null)(
  'nodes over a Postgres server (skipped where initdb and postgres are not found)',
  () => {
    const folder = temporaryFolder();
    const nodes: Node[] = [];
    let server: RealPostgres;
    let sandbox: Sandbox;
    let bucket: S3Server;
    let web: Node;

    beforeAll(async () => {
      server = await startRealPostgres(PROGRAMS ?? '');
      const database = await server.database();
      sandbox = await startSandbox({
        port: 0,
        now: () => toEpochMs(Date.now()),
        isCalm: true,
        kinds: [serverMonitorSandbox({ limits: null })],
      });
      bucket = await startS3Server();
      const limited = 'auth: x-api-key\n    limits: { perMinute: 600, perHour: 20000 }';
      const config = `${sandbox.configText({ include: ['server-monitor'] }).replace('auth: x-api-key', limited)}store: { url: "\${DATABASE_URL}" }\nschedule: "*/2 * * * * *"\nreleases: { s3: { endpoint: "${bucket.endpoint}", bucket: "${bucket.bucket}", accessKeyId: "\${KEY_ID}", secretAccessKey: "\${SECRET}" } }\n`;
      const env = { ...sandbox.environment(), KEY_ID: S3_KEYS.accessKeyId, SECRET: S3_KEYS.secretAccessKey };
      const common = { folder: folder.path, config, env, database };
      for (const name of ['a', 'b', 'c']) nodes.push(await createNode({ ...common, name }));
      web = await createNode({ ...common, name: 'web', args: ['--role', 'web'] });
      await Promise.all(nodes.map((node) => node.start()));
      await Promise.all(nodes.map((node) => isReady(node, '/-/fresh')));
      await web.start();
    });

    afterAll(async () => {
      await Promise.all([...nodes, web].map((node) => node?.close()));
      await bucket?.close();
      await sandbox?.stop();
      await server?.stop();
      folder.remove();
    });

    /** When the list of monitors was asked for. */
    const askedAt = (from: number): readonly number[] =>
      sandbox.requests.of('server-monitor').flatMap(({ at, path }) => (at >= from && path === '/monitors' ? [at] : []));

    it('ask their upstream together as often as one of them would', async () => {
      const from = Date.now();
      await wait(5 * INTERVAL_MS);
      const asked = askedAt(from);
      // On a busy machine a pass may take longer than the interval, and then there is no other one. Ticks
      // come late by chance, so two may be close to each other; there are never more of them.
      expect(asked.length).toBeGreaterThanOrEqual(2);
      expect(asked.length).toBeLessThanOrEqual(6);
    });

    it(`show each of ${CHANGES} changes within 300 ms of each other`, async () => {
      const spreads: number[] = [];
      for (let change = 0; change < CHANGES; change += 1) {
        const isDown = change % 2 === 0;
        sandbox.world.force('website', isDown ? 'down' : null);
        const times = await shownAt(
          nodes,
          '/acme/api/v2/summary.json',
          (text) => text.includes('"status":"major_outage"') === isDown,
        );
        spreads.push(Math.max(...times) - Math.min(...times));
      }
      spreads.sort((a, b) => a - b);
      if (SCALE >= 10) console.log(`spreads, ms: ${spreads.map(Math.round).join(' ')}`);
      // Of few changes on a machine that does other things, too, the middle one says how it is meant to be.
      expect(spreads[Math.floor(spreads.length / 2)]).toBeLessThan(300);
    });

    it('have one of them upload, and show what it did where nothing is drawn, behind the gates of the database', async () => {
      expect(await isReady(web), [...nodes, web].map((node) => node.said().slice(-1_500)).join('')).toBe(true);
      bucket.forgetEvents();
      sandbox.world.force('website', 'down');
      await shownAt([...nodes, web], '/acme/api/v2/summary.json', (text) => text.includes('"status":"major_outage"'));
      sandbox.world.force('website', null);
      await shownAt([...nodes, web], '/acme/api/v2/summary.json', (text) => !text.includes('"status":"major_outage"'));
      const gated = await fetch(`${web.url()}/partners/`);
      expect([gated.status, (await gated.text()).includes('type="password"')]).toEqual([404, true]);
      expect(web.said()).not.toContain('published');
      // A release is uploaded once, whoever drew it too.
      const uploaders = nodes.filter((node) => node.said().includes('releases uploaded'));
      expect(uploaders).toHaveLength(1);
      const uploader = uploaders[0] as Node;
      // Another one goes on where it dies.
      uploader.kill();
      sandbox.world.force('website', 'down');
      await shownAt([web], '/acme/api/v2/summary.json', (text) => text.includes('"status":"major_outage"'), 60_000);
      // The database gone, too, it serves on.
      web.way?.cut();
      expect((await fetch(`${web.url()}/acme/`)).status).toBe(200);
      web.way?.heal();
    }, 180_000);
  },
);
