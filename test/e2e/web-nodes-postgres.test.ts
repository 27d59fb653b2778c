import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toEpochMs } from '../../src/model/time.ts';
import { type MailSink, type ReceivedMail, startMailSink } from '../helpers/mail-sink.ts';
import { createNode, isReady, type Node, saysDown, shownAt } from '../helpers/nodes.ts';
import { eventually, temporaryFolder } from '../helpers/pharos.ts';
import { postgresPrograms, type RealPostgres, startRealPostgres } from '../helpers/real-postgres.ts';
import { S3_KEYS, type S3Server, startS3Server } from '../helpers/s3-server.ts';
import { linkIn, pathOf, tokenOf } from '../helpers/subscribing-site.ts';
import { type Sandbox, startSandbox } from '../sandbox/sandbox.ts';

const PROGRAMS = postgresPrograms();
const KEY = 'a key of more than thirty-two characters';
/** Of docs/nodes.md. */
function documentedGrants(): string {
  const text = readFileSync(join(import.meta.dirname, '../../docs/nodes.md'), 'utf8');
  return /```sql\n([\s\S]*?)```/.exec(text)?.[1]?.replace(/ PASSWORD '[^']*'/, '') ?? '';
}

/** The in-process one has one session, and tells nobody of anything. */
describe.skipIf(PROGRAMS === null)(
  'a node that has Postgres and a bucket (skipped where initdb and postgres are not found)',
  () => {
    const folder = temporaryFolder();
    let server: RealPostgres;
    let bucket: S3Server;
    let sandbox: Sandbox;
    let sync: Node;
    let web: Node;
    let database: string;
    let sink: MailSink;
    let password: string;

    const query = async (sql: string): Promise<readonly Record<string, unknown>[]> => {
      const client = new pg.Client({ connectionString: database });
      await client.connect();
      try {
        return (await client.query(sql)).rows ?? [];
      } finally {
        await client.end();
      }
    };
    /** Of every page in the index. */
    const slugs = (): readonly string[] =>
      Object.keys(JSON.parse(bucket.text('releases.json') ?? '{"pages":{}}').pages);

    beforeAll(async () => {
      server = await startRealPostgres(PROGRAMS ?? '');
      database = await server.database();
      bucket = await startS3Server();
      sandbox = await startSandbox({ port: 0, now: () => toEpochMs(Date.now()), isCalm: true });
      password = sandbox.pagePassword;
      sink = await startMailSink();
      const access = `access: { key: "${KEY}", smtp: "\${SMTP}", from: "Status <status@pharos.example>" }\nsubscriptions: true\n`;
      const releases = `releases: { s3: { endpoint: "${bucket.endpoint}", bucket: "${bucket.bucket}", region: us-east-1, accessKeyId: "\${KEY_ID}", secretAccessKey: "\${SECRET}" } }\n`;
      const settings = `${access}store: { url: "\${DATABASE_URL}" }\n${releases}schedule: "*/2 * * * * *"\n`;
      const config = `${sandbox.configText({ include: ['server-monitor', 'uptime'] })}${settings}`;
      const common = {
        folder: folder.path,
        config,
        env: { ...sandbox.environment(), SMTP: sink.url, KEY_ID: S3_KEYS.accessKeyId, SECRET: S3_KEYS.secretAccessKey },
      };
      sync = await createNode({ ...common, database, name: 'sync', args: ['--role', 'sync'], isWarm: true });
      await sync.start();
      await eventually(
        async () => slugs(),
        (known) => known.includes('partners') && known.includes('_site'),
      );
      await query(documentedGrants());
      const ofWeb = database.replace('postgres@', 'pharos_web@');
      web = await createNode({ ...common, database: ofWeb, name: 'web', args: ['--role', 'web'] });
      await web.start();
    });

    afterAll(async () => {
      await Promise.all([sync?.close(), web?.close()]);
      await sandbox?.stop();
      await sink?.close();
      await server?.stop();
      await bucket?.close();
      folder.remove();
    });

    const ask = (node: Node, path: string, init: RequestInit = {}): Promise<Response> =>
      fetch(`${node.url()}${path}`, { redirect: 'manual', ...init });

    const textOf = async (node: Node, path: string): Promise<readonly [number, string]> => {
      const answer = await ask(node, path);
      return [answer.status, await answer.text()];
    };

    /** The answer of the page behind a password to whoever knows it. */
    async function signedIn(): Promise<readonly [number, string]> {
      const answer = await ask(web, '/partners/login/', {
        method: 'POST',
        body: new URLSearchParams({ password }),
        headers: { origin: web.url() },
      });
      const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? '';
      const page = await ask(web, '/partners/', { headers: { cookie } });
      return [page.status, await page.text()];
    }

    it('serves what was drawn elsewhere, byte for byte', async () => {
      expect(await isReady(web), web.said()).toBe(true);
      for (const path of [
        ...['/acme/', '/acme/api/v2/summary.json', '/acme/history/', '/acme/feed.atom', '/acme/nothing'],
        ...['/', '/sitemap.xml', '/acme/badge/acme.svg'],
      ]) {
        // What is drawn meanwhile is there a moment later.
        const [theirs, ours] = await eventually(
          () => Promise.all([sync, web].map((node) => textOf(node, path))),
          ([one, other]) => isDeepStrictEqual(one, other),
        );
        expect([path, ours]).toEqual([path, theirs]);
      }
      expect((await textOf(web, '/acme/'))[0]).toBe(200);
    });

    it('keeps gates, by its own part of the database', async () => {
      const [status, form] = await textOf(web, '/partners/');
      expect([status, form.includes('type="password"')]).toEqual([404, true]);
      const [opened, page] = await signedIn();
      expect([opened, page === form]).toEqual([200, false]);
      expect((await textOf(web, '/partners/api/v2/summary.json'))[0]).toBe(404);
    });

    it('shows news at once, asks no upstream and draws nothing', async () => {
      sandbox.world.force('website', 'down');
      const [theirs = 0, ours = 0] = await shownAt([sync, web], '/acme/api/v2/summary.json', saysDown);
      expect(ours - theirs).toBeLessThan(5_000);
      sandbox.world.force('website', null);
      await shownAt([sync, web], '/acme/api/v2/summary.json', (text) => !saysDown(text));
      expect(web.said()).toContain('releases fetched');
      expect(web.said()).not.toContain('published');
      expect(web.said()).not.toContain('permission denied');
    });

    it('takes subscriptions, and leaves sending to the others', async () => {
      const email = 'one@mail.example';
      const post = (path: string, fields: Record<string, string>): Promise<Response> =>
        ask(web, path, { method: 'POST', body: new URLSearchParams(fields), headers: { origin: web.url() } });
      expect((await post('/acme/subscribe/', { email })).status).toBe(303);
      const [mail] = await eventually(
        async () => sink.to(email),
        (mails) => mails.length > 0,
      );
      const link = linkIn(mail as ReceivedMail, 'confirm');
      expect((await post(pathOf(link), { token: tokenOf(link) })).status).toBe(200);
      expect(await query('SELECT state FROM subscriber')).toEqual([{ state: 'active' }]);
      expect(web.said()).not.toContain('permission denied');
    });

    it('adds to the audit log, and can neither change nor empty it', async () => {
      const asWeb = new pg.Client({ connectionString: database.replace('postgres@', 'pharos_web@') });
      await asWeb.connect();
      try {
        const entry = "INSERT INTO audit (id, at, actor, action) VALUES ('by-web', 0, 'operator', 'sign-in')";
        await asWeb.query(entry);
        for (const sql of [
          "UPDATE audit SET outcome = 'nothing' WHERE id = 'by-web'",
          'DELETE FROM audit',
          'TRUNCATE audit',
          'DROP TABLE audit',
          `${entry} ON CONFLICT (id) DO UPDATE SET actor = 'nobody'`,
        ])
          await expect(asWeb.query(sql), sql).rejects.toThrow(/permission denied|must be owner/);
      } finally {
        await asWeb.end();
      }
      expect(await query("SELECT actor, outcome FROM audit WHERE id = 'by-web'")).toEqual([
        { actor: 'operator', outcome: null },
      ]);
    });

    it('serves everything when the others died, also with an empty data folder, and on when Postgres is away', async () => {
      sync.kill();
      const before = await signedIn();
      expect(before[0]).toBe(200);
      await web.stop();
      rmSync(join(web.cwd, 'data'), { recursive: true });
      sandbox.requests.clear();
      await web.start();
      expect(await isReady(web), web.said()).toBe(true);
      const known = slugs();
      expect(known.length).toBeGreaterThan(3);
      for (const slug of known.filter((one) => one !== '_site')) {
        const path = `/${slug}/`;
        const [status, text] = await eventually(
          () => textOf(web, path),
          ([found]) => found !== 503,
        );
        const isGated = status === 404 && /type="(password|email)"/.test(text);
        expect([path, status === 200 || isGated]).toEqual([path, true]);
      }
      expect((await textOf(web, '/acme/'))[0]).toBe(200);
      expect((await textOf(web, '/partners/'))[0]).toBe(404);
      expect((await signedIn())[0]).toBe(200);
      expect(sandbox.upstreams.map((name) => sandbox.requests.count(name)).filter((count) => count > 0)).toEqual([]);
      web.way?.cut();
      expect((await textOf(web, '/acme/'))[0]).toBe(200);
      expect((await textOf(web, '/partners/'))[0]).not.toBe(200);
      web.way?.heal();
      expect(web.said()).not.toContain('permission denied');
    });
  },
);
