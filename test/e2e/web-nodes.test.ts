import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toEpochMs } from '../../src/model/time.ts';
import { createNode, isReady, type Node, saysDown, shownAt } from '../helpers/nodes.ts';
import { eventually, temporaryFolder } from '../helpers/pharos.ts';
import { S3_KEYS, type S3Server, startS3Server } from '../helpers/s3-server.ts';
import { runWarm } from '../helpers/warm.ts';
import { type Sandbox, startSandbox } from '../sandbox/sandbox.ts';

const KEY = 'a key of more than thirty-two characters';

describe('a node that has nothing but the bucket', () => {
  const folder = temporaryFolder();
  let sandbox: Sandbox;
  let bucket: S3Server;
  let drawing: Node;
  let web: Node;
  let config: string;
  let password: string;

  beforeAll(async () => {
    bucket = await startS3Server({});
    sandbox = await startSandbox({ port: 0, now: () => toEpochMs(Date.now()), isCalm: true });
    const releases = `releases: { s3: { endpoint: "${bucket.endpoint}", bucket: "${bucket.bucket}", region: "us-east-1", prefix: "pharos", accessKeyId: "\${KEY_ID}", secretAccessKey: "\${SECRET}" } }`;
    config = `${sandbox.configText({ include: ['server-monitor', 'uptime'] })}${releases}\nschedule: "*/2 * * * * *"\naccess: { key: "${KEY}" }\n`;
    const env = { ...sandbox.environment(), KEY_ID: S3_KEYS.accessKeyId, SECRET: S3_KEYS.secretAccessKey };
    password = sandbox.pagePassword;
    drawing = await createNode({ name: 'drawing', folder: folder.path, config, env, isWarm: true });
    web = await createNode({ name: 'web', folder: folder.path, config, env, args: ['--role', 'web'] });
    await drawing.start();
    await isReady(drawing, '/-/fresh');
    await eventually(
      async () => bucket.text('pharos/releases.json'),
      (text) => text?.includes('partners') === true,
    );
    await web.start();
  });

  afterAll(async () => {
    await Promise.all([drawing?.close(), web?.close()]);
    await sandbox?.stop();
    await bucket?.close();
    folder.remove();
  });

  const ask = (node: Node, path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`${node.url()}${path}`, { redirect: 'manual', ...init });

  /** Signs in to the page behind a password; the cookie, null when it was refused. */
  async function signIn(node: Node, word: string): Promise<string | null> {
    const answer = await ask(node, '/partners/login/', {
      method: 'POST',
      body: new URLSearchParams({ password: word }),
      headers: { origin: node.url() },
    });
    return answer.headers.get('set-cookie')?.split(';')[0] ?? null;
  }

  it('serves what was drawn elsewhere, byte for byte', async () => {
    expect(await isReady(web)).toBe(true);
    const paths = [
      ...['/acme/', '/acme/api/v2/summary.json', '/acme/api/v2/components.json', '/acme/history/', '/acme/feed.atom'],
      ...['/', '/sitemap.xml', '/acme/badge/acme.svg', '/acme/nothing', '/no-such-page'],
    ];
    for (const path of paths) {
      // What is drawn meanwhile is there a moment later.
      const [theirs, ours] = await eventually(
        () =>
          Promise.all(
            [drawing, web].map(async (node) => {
              const answer = await ask(node, path);
              return [answer.status, await answer.text()];
            }),
          ),
        ([one, other]) => isDeepStrictEqual(one, other),
      );
      expect([path, ours]).toEqual([path, theirs]);
    }
    const id = JSON.parse(await (await ask(web, '/acme/api/v2/components.json')).text()).components[0].id;
    expect((await ask(web, `/acme/api/v2/components/${id}.json`)).status).toBe(200);
    expect(JSON.parse(await (await ask(web, '/acme/api/now.json')).text()).checkedAt).toEqual(expect.any(String));
  });

  it('keeps gates: by what the bucket says, sealed, and by its own configuration', async () => {
    expect((await ask(web, '/partners/')).status).toBe(404);
    expect(await (await ask(web, '/partners/')).text()).toContain('password');
    expect(await signIn(web, 'wrong')).toBeNull();
    const cookie = await signIn(web, password);
    expect(cookie).not.toBeNull();
    expect((await ask(web, '/partners/', { headers: { cookie: cookie ?? '' } })).status).toBe(200);
    const index = bucket.text('pharos/releases.json') ?? '';
    const stored = [...bucket.objects.values()].map(({ body }) => body.toString('latin1')).join('');
    expect(index).toContain('partners');
    expect(stored).not.toContain(password);
    expect(stored).not.toContain('corp.example');
  });

  it('tells how fresh it is, and whoever has the token more, and lets nobody write', async () => {
    const headers = { authorization: `Bearer ${sandbox.environment()['PHAROS_TOKEN']}` };
    const incident = { name: 'Posted by an operator', status: 'investigating', body: 'Looking' };
    await ask(drawing, '/-/v1/pages/acme/incidents', {
      method: 'POST',
      body: JSON.stringify({ incident }),
      headers: { ...headers, 'content-type': 'application/json' },
    });
    await shownAt([web], '/acme/api/v2/summary.json', (text) => text.includes(incident.name));
    // Not in each moment, where the machine is busy.
    const isFresh = await eventually(
      () => isReady(web, '/-/fresh'),
      (found) => found,
    );
    expect(isFresh, web.said()).toBe(true);
    const { checkedAt } = (await (await ask(web, '/acme/api/now.json')).json()) as { checkedAt: string | null };
    expect(Date.parse(checkedAt ?? '')).toBeGreaterThan(Date.now() - 60_000);
    const metrics = await eventually(
      async () => (await ask(web, '/-/metrics', { headers })).text(),
      (text) => text.includes('pharos_fresh 1'),
    );
    expect(metrics).toMatch(/^pharos_fresh 1$/m);
    expect((await ask(web, '/-/metrics')).status).toBe(401);
    expect((await ask(web, '/-/rebuild', { method: 'POST', headers })).status).toBe(409);
    for (const path of ['/-/ops', '/-/ops/write', '/-/v1/pages', '/-/v1/openapi.json'])
      expect([path, (await ask(web, path, { headers })).status]).toEqual([path, 404]);
    // A port that nobody listens at.
    writeFileSync(join(web.cwd, 'away.yaml'), config.replace(/^server:.*$/m, '').concat('server: { port: 1 }\n'));
    const said = await runWarm(['incident', 'new', 'X', '--page', 'acme', '--config', 'away.yaml'], {
      cwd: web.cwd,
      env: { ...sandbox.environment(), KEY_ID: S3_KEYS.accessKeyId, SECRET: S3_KEYS.secretAccessKey },
    });
    expect([said.status, said.stdout, said.stderr]).toEqual([
      2,
      '',
      expect.stringContaining('Run the command on a node that publishes'),
    ]);
  });

  it('shows news within seconds, and asks no upstream', async () => {
    sandbox.world.force('website', 'down');
    const [theirs = 0, ours = 0] = await shownAt([drawing, web], '/acme/api/v2/summary.json', saysDown);
    expect(ours - theirs).toBeLessThan(5_000);
    sandbox.world.force('website', null);
    await shownAt([drawing, web], '/acme/api/v2/summary.json', (text) => !saysDown(text));
    await drawing.stop();
    sandbox.requests.clear();
    await new Promise((wait) => setTimeout(wait, 2_500));
    expect(sandbox.upstreams.map((name) => sandbox.requests.count(name)).filter((count) => count > 0)).toEqual([]);
  });

  it('serves on without the bucket, also after a restart, and nothing that was tampered with', async () => {
    const paths = Object.keys(JSON.parse(bucket.text('pharos/releases.json') ?? '{}').pages);
    expect(paths).toContain('acme');
    bucket.fault = () => ({ kind: 'cut' });
    await web.stop();
    await web.start();
    expect(await isReady(web)).toBe(true);
    expect((await ask(web, '/acme/')).status).toBe(200);
    expect((await ask(web, '/acme/history/')).status).toBe(200);
    expect(await (await ask(web, '/partners/')).text()).toContain('password');
    bucket.fault = () => null;

    // A fresh one, and a bucket in which somebody changed what pages say.
    for (const [key, object] of bucket.objects)
      if (key.includes('/objects/')) bucket.objects.set(key, { ...object, body: Buffer.from('<h1>defaced</h1>') });
    await web.stop();
    rmSync(join(web.cwd, 'data'), { recursive: true });
    await web.start();
    await new Promise((wait) => setTimeout(wait, 1_500));
    expect((await ask(web, '/acme/')).status).not.toBe(200);
    expect(await (await ask(web, '/acme/')).text()).not.toContain('defaced');
    expect(web.said()).toContain('does not match its name');
  });

  it('says what it lacks', async () => {
    const cwd = join(folder.path, 'lacking');
    await createNode({ name: 'lacking', folder: folder.path, config: config.replace(/^access:.*$/m, ''), env: {} });
    const env = { ...sandbox.environment(), KEY_ID: 'a', SECRET: 'b' };
    const keyless = await runWarm(['start', '--role', 'web'], { cwd, env });
    expect([keyless.status, keyless.stderr]).toEqual([2, expect.stringContaining('access.key')]);
    const other = await runWarm(['start', '--role', 'web', '--config', 'none.yaml'], { cwd, env });
    expect(other.status).not.toBe(0);
    const unknown = await runWarm(['start', '--role', 'dancer'], { cwd, env });
    expect([unknown.status, unknown.stderr]).toEqual([2, expect.stringContaining('all, sync, web')]);
  });
});
