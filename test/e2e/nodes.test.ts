import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runHere } from '../helpers/in-process.ts';
import { configOverPostgres, createNode, isReady, type Node, saysDown, shownAt } from '../helpers/nodes.ts';
import { eventually, temporaryFolder } from '../helpers/pharos.ts';
import { postgresPrograms, type RealPostgres, startRealPostgres } from '../helpers/real-postgres.ts';
import { S3_KEYS, type S3Server, startS3Server } from '../helpers/s3-server.ts';
import { startUnlimitedSandbox } from '../helpers/sandbox.ts';
import { createVisitors } from '../helpers/visitors.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';

const PROGRAMS = postgresPrograms();
const SCALE = Number(process.env['PHAROS_TEST_SCALE'] ?? 1);
const CHANGES = Math.round(6 * SCALE);
const INTERVAL_MS = 1_000;
/** How soon is measured by `npm run bench -- nodes`; here it may take what a machine that does much else takes. */
const SHOWN_WITHIN_MS = 20_000;

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
      sandbox = await startUnlimitedSandbox();
      bucket = await startS3Server();
      const releases = `releases: { s3: { endpoint: "${bucket.endpoint}", bucket: "${bucket.bucket}", accessKeyId: "\${KEY_ID}", secretAccessKey: "\${SECRET}" } }\n`;
      const config = configOverPostgres(sandbox, { everySeconds: INTERVAL_MS / 1_000 }) + releases;
      const env = { ...sandbox.environment(), KEY_ID: S3_KEYS.accessKeyId, SECRET: S3_KEYS.secretAccessKey };
      const common = { folder: folder.path, config, env, database, isWarm: true };
      for (const name of ['a', 'b', 'c']) nodes.push(await createNode({ ...common, name }));
      web = await createNode({ ...common, name: 'web', args: ['--role', 'web'] });
      await Promise.all(nodes.map((node) => node.start()));
      expect(await Promise.all(nodes.map((node) => isReady(node, '/-/fresh')))).toEqual([true, true, true]);
      await web.start();
    });

    afterAll(async () => {
      await Promise.all([...nodes, web].map((node) => node?.close()));
      await bucket?.close();
      await sandbox?.stop();
      await server?.stop();
      folder.remove();
    });

    /** Verifies what a node serves, as a visitor who saw this head of the log; gives the head that it serves. */
    const head = async (node: Node, last: { readonly size: number } | null): Promise<{ readonly size: number }> => {
      const page = `${node.url()}/acme/`;
      const file = join(folder.path, 'seen.json');
      writeFileSync(file, JSON.stringify(last === null ? {} : { [page]: last }));
      // What another node has just entered is in the log that this one shows a moment before it is in its files.
      const verdict = await eventually(
        async () => {
          const { stdout } = await runHere(['verify', page, '--since', file, '--json'], { cwd: folder.path, env: {} });
          return JSON.parse(stdout);
        },
        ({ faults }) => faults.length === 0,
      );
      expect(verdict.faults).toEqual([]);
      return verdict.head;
    };

    /** When the list of monitors was asked for since then. */
    const askedAfter = (time: number): readonly number[] =>
      sandbox.requests.of('server-monitor').flatMap(({ at, path }) => (at > time && path === '/monitors' ? [at] : []));

    it(`show each of ${CHANGES} changes, go back behind none, and ask together as often as one of them would`, async () => {
      const visitors = createVisitors(nodes);
      const begun = Date.now();
      const [from = begun] = await eventually(
        async () => askedAfter(begun),
        ({ length }) => length > 0,
      );
      try {
        for (let change = 0; change < CHANGES; change += 1) {
          const isDown = change % 2 === 0;
          sandbox.world.force('website', isDown ? 'down' : null);
          await Promise.all(nodes.map((node) => visitors.sees(node, isDown, SHOWN_WITHIN_MS)));
        }
      } finally {
        await visitors.stop();
      }
      const to = Date.now();
      expect(visitors.faults()).toEqual([]);
      // Each tick is a whole second. On a busy machine a pass takes longer, and then there is no other one.
      const ticks = Math.floor(to / INTERVAL_MS) - Math.floor(from / INTERVAL_MS);
      expect(askedAfter(from).filter((at) => at <= to).length).toBeLessThanOrEqual(ticks);
    }, 180_000);

    it('have one of them upload, and show what it did where nothing is drawn, behind the gates of the database', async () => {
      expect(await isReady(web), [...nodes, web].map((node) => node.said().slice(-1_500)).join('')).toBe(true);
      bucket.forgetEvents();
      sandbox.world.force('website', 'down');
      await shownAt([...nodes, web], '/acme/api/v2/summary.json', saysDown);
      sandbox.world.force('website', null);
      await shownAt([...nodes, web], '/acme/api/v2/summary.json', (text) => !saysDown(text));
      const gated = await fetch(`${web.url()}/partners/`);
      expect([gated.status, (await gated.text()).includes('type="password"')]).toEqual([404, true]);
      expect(web.said()).not.toContain('published');
      // A release is uploaded once, whoever drew it too.
      const uploaders = nodes.filter((node) => node.said().includes('releases uploaded'));
      expect(uploaders).toHaveLength(1);
      const uploader = uploaders[0] as Node;
      const seen = await head(uploader, null);
      // Another one goes on where it dies.
      uploader.kill();
      sandbox.world.force('website', 'down');
      const others = [...nodes.filter((one) => one !== uploader), web];
      await shownAt(others, '/acme/api/v2/summary.json', saysDown, 60_000);
      // One log for all of them: what each serves continues what the dead one had signed.
      for (const node of others) expect((await head(node, seen)).size).toBeGreaterThan(seen.size);
      // The database gone, too, it serves on.
      web.way?.cut();
      expect((await fetch(`${web.url()}/acme/`)).status).toBe(200);
      web.way?.heal();
    }, 180_000);
  },
);
