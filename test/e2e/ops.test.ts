import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchBrowser } from '../helpers/browser.ts';
import { metricsText } from '../helpers/metrics.ts';
import { eventually, type RunningPharos, temporaryFolder, untilFresh } from '../helpers/pharos.ts';
import { startUnlimitedSandbox, unlimitedConfig } from '../helpers/sandbox.ts';
import { runWarm, startWarm } from '../helpers/warm.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const HOOK = 'hook-secret-000000000000';

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

describe('the operators’ page', () => {
  const folder = temporaryFolder();
  let sandbox: Sandbox;
  let pharos: RunningPharos;
  let browser: Browser;
  let env: Record<string, string>;
  let config: string;
  let clients = 0;

  beforeAll(async () => {
    sandbox = await startUnlimitedSandbox();
    env = { ...sandbox.environment(), HOOK, NEXT_TOKEN: 'another-operator-token-1234' };
    config = `${unlimitedConfig(sandbox)
      .replace('auth: x-api-key', 'auth: x-api-key\n    hook: { secrets: ["${HOOK}"] }')
      .replace('slug: acme', 'slug: acme\n    custom_domain: acme.example')}schedule: "0 0 1 * *"
server: { trustedProxyHops: 1 }
`;
    writeFileSync(join(folder.path, 'pharos.yaml'), config);
    [pharos, browser] = await Promise.all([
      startWarm(['start', '--port', '0'], { cwd: folder.path, env }),
      launchBrowser(),
    ]);
    await untilFresh(pharos);
  });
  afterAll(async () => {
    await browser?.close();
    await pharos?.stop();
    await sandbox?.stop();
    folder.remove();
  });

  const token = (): string => env['PHAROS_TOKEN'] ?? '';
  /** Every call may come from a client of its own, so that tries of one test do not count in another. */
  const newClient = (): string => {
    clients += 1;
    return `198.51.100.${clients}`;
  };
  async function send(path: string, init: RequestInit = {}, client = newClient()): Promise<Answer> {
    const answer = await fetch(`${pharos.url}/-/${path}`, {
      redirect: 'manual',
      ...init,
      headers: { 'x-forwarded-for': client, ...(init.headers as Record<string, string> | undefined) },
    });
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  }
  const post = (path: string, form: Record<string, string>, headers: Record<string, string> = {}, client?: string) =>
    send(path, { method: 'POST', body: new URLSearchParams(form), headers }, client);
  const cookieOf = ({ headers }: Answer): string => headers.getSetCookie()[0]?.split(';')[0] ?? '';
  async function signIn(): Promise<{ cookie: string; form: string }> {
    const answer = await post('ops/sign-in', { token: token() });
    const cookie = cookieOf(answer);
    const { text } = await send('ops', { headers: { cookie } });
    return { cookie, form: /name="form" value="([^"]+)"/.exec(text)?.[1] ?? '' };
  }
  const runsTotal = async (): Promise<number> => {
    const text = await metricsText(pharos.url, token());
    return [...text.matchAll(/^pharos_runs_total\{[^}]*\} (\d+)$/gm)].reduce(
      (sum, [, count]) => sum + Number(count),
      0,
    );
  };
  /** Runs so far, once their number has stood still for half a second. */
  async function quiet(): Promise<number> {
    let last = -1;
    let same = 0;
    return eventually(runsTotal, (count) => {
      same = count === last ? same + 1 : 0;
      last = count;
      return same === 5;
    });
  }

  it('asks to sign in within the first packets of a connection, and compresses nothing that a session is for', async () => {
    const asked = (init: RequestInit) =>
      send('ops', { ...init, headers: { 'accept-encoding': 'br', ...init.headers } });
    const asking = await asked({});
    expect([asking.status, asking.headers.get('content-encoding')]).toEqual([401, 'br']);
    expect(Number(asking.headers.get('content-length'))).toBeLessThan(14_600);
    expect(asking.text).toContain('Token');
    const plain = await asked({ headers: { 'accept-encoding': 'identity' } });
    expect([plain.headers.get('content-encoding'), plain.text]).toEqual([null, asking.text]);
    const { cookie } = await signIn();
    expect((await asked({ headers: { cookie } })).headers.get('content-encoding')).toBeNull();
  });

  it('shows nobody anything without a session, at none of its addresses', async () => {
    for (const path of ['ops', 'ops/events']) {
      const answer = await send(path);
      expect([path, answer.status]).toEqual([path, 401]);
      expect(answer.text).not.toMatch(/edge|acme|partners|server-monitor/i);
      expect(answer.headers.get('cache-control')).toBe('no-store');
    }
    const before = await quiet();
    for (const path of ['ops/pull', 'ops/rebuild', 'ops/rollback', 'ops/sign-out'])
      expect([path, (await post(path, { page: 'acme', form: 'x' })).status]).toEqual([path, 401]);
    expect((await send('ops/nothing')).status).toBe(404);
    expect((await send('ops/pull')).status).toBe(405);
    expect(await quiet()).toBe(before);
  });

  it('is not there by the domain of one page', async () => {
    const status = await new Promise((done) => {
      request(`${pharos.url}/-/ops`, { headers: { host: 'acme.example' } }, (answer) => {
        answer.resume();
        done(answer.statusCode);
      }).end();
    });
    expect(status).toBe(404);
  });

  it('exchanges the token for a session in a cookie that scripts and other sites do not get', async () => {
    const answer = await post('ops/sign-in', { token: token() });
    expect(answer.status).toBe(303);
    const [cookie = ''] = answer.headers.getSetCookie();
    expect(cookie).toMatch(/^pharos-operator=[\w-]{43}; Max-Age=28800; Path=\/; HttpOnly; SameSite=Strict$/);
    expect((await send('ops', { headers: { cookie: cookieOf(answer) } })).status).toBe(200);
    expect((await send('ops', { headers: { cookie: `__Host-${cookieOf(answer)}` } })).status).toBe(401);
  });

  it('lets no secret out, and says what there is', async () => {
    const { cookie } = await signIn();
    const { text, headers } = await send('ops', { headers: { cookie } });
    for (const word of ['edge', 'server-monitor', 'Partners', 'public', 'password', 'left this hour'])
      expect(text.toLowerCase()).toContain(word.toLowerCase());
    // The second one completes the first.
    expect(text).toMatch(/Release [12], as of/i);
    for (const secret of Object.values(env)) expect(text).not.toContain(secret);
    expect(headers.get('content-security-policy')).toMatch(/script-src 'sha256-.*frame-ancestors 'none'$/);
  });

  it('takes no form that another site could have sent', async () => {
    const { cookie, form } = await signIn();
    const before = await quiet();
    const forged: [Record<string, string>, Record<string, string>][] = [
      [{}, {}],
      [{ form: 'x'.repeat(43) }, {}],
      [{ form }, { origin: 'https://evil.example' }],
      [{ form }, { origin: 'null' }],
      [{ form }, { origin: pharos.url, 'sec-fetch-site': 'cross-site' }],
      [{ form }, { 'content-type': 'text/plain' }],
    ];
    for (const [fields, headers] of forged)
      expect((await post('ops/pull', fields, { cookie, ...headers })).status).toBe(403);
    const asJson = await send('ops/pull', {
      method: 'POST',
      body: JSON.stringify({ form }),
      headers: { cookie, 'content-type': 'application/json' },
    });
    expect(asJson.status).toBe(403);
    expect(await quiet()).toBe(before);
    expect((await post('ops/pull', { form }, { cookie, origin: pharos.url })).status).toBe(303);
  });

  it('keeps out a client that guesses, for the page and for the other addresses, and nobody else', async () => {
    const client = newClient();
    const statuses: number[] = [];
    for (let tries = 0; tries < 12; tries += 1)
      statuses.push((await post('ops/sign-in', { token: `guess-${tries}` }, {}, client)).status);
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 403), 429, 429]);
    const limited = await post('ops/sign-in', { token: token() }, {}, client);
    expect(limited.status).toBe(429);
    expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(60);
    const bearer = { method: 'POST', headers: { authorization: `Bearer ${token()}` } };
    expect((await send('rebuild', bearer, client)).status).toBe(429);
    expect((await send('rebuild', bearer)).status).toBe(202);
  });

  it('lets no credential do what it is not for, at any address that changes something', async () => {
    const before = await quiet();
    const addresses = [
      'rebuild',
      'hooks/edge',
      'hooks/nobody',
      'ops/pull',
      'ops/rebuild',
      'ops/rollback',
      'ops/sign-out',
    ];
    const { cookie } = await signIn();
    const credentials: Record<string, Record<string, string>> = {
      none: {},
      'wrong token': { authorization: 'Bearer wrong' },
      'token as basic': { authorization: `Basic ${Buffer.from(`operator:${token()}`).toString('base64')}` },
      'token in another header': { 'x-webhook-secret': token(), 'x-api-key': token() },
      'hook secret as token': { authorization: `Bearer ${HOOK}` },
      'session without its form': { cookie },
      'token twice': { authorization: `Bearer ${token()}, Bearer ${token()}` },
    };
    const seen: unknown[] = [];
    for (const path of addresses)
      for (const [name, headers] of Object.entries(credentials))
        for (const method of ['POST', 'GET', 'PUT', 'DELETE', 'PATCH']) {
          const { status } = await send(`${path}?token=${token()}`, { method, headers });
          if (status < 400 || status >= 500) seen.push([path, name, method, status]);
        }
    expect(seen).toEqual([]);
    expect(await quiet()).toBe(before);
  });

  it('answers bodies of any kind and size with 4xx, and does nothing for them', async () => {
    const headers = { authorization: `Bearer ${token()}` };
    const before = await quiet();
    const bodies: [BodyInit, Record<string, string>, number][] = [
      ['page=acme', { 'content-type': 'application/x-www-form-urlencoded' }, 400],
      [gzipSync('{}'), { 'content-encoding': 'gzip' }, 400],
      ['[]', {}, 400],
      ['{"page":["acme"]}', {}, 400],
      ['{"page":"acme","colour":"red"}', {}, 400],
      ['{"page":"../acme"}', {}, 404],
      ['x'.repeat(1024 * 1024), {}, 413],
    ];
    for (const [body, more, status] of bodies) {
      const answer = await send('rebuild', { method: 'POST', headers: { ...headers, ...more }, body }).catch(() => ({
        // The server may close before the whole of it has been sent.
        status: 413,
      }));
      expect([String(body).slice(0, 30), answer.status]).toEqual([String(body).slice(0, 30), status]);
    }
    expect(await quiet()).toBe(before);
  });

  it('pulls, rebuilds and signs out by buttons, without JavaScript, and says who did it', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await signedIn(await context.newPage());
    await page.getByRole('button', { name: 'Sync now: edge' }).click();
    expect(await page.locator('#notice').innerText()).toContain('Sync queued');
    await page.getByRole('button', { name: 'Rebuild acme' }).click();
    expect(await page.locator('#notice').innerText()).toContain('Rebuild of the page queued');
    const entries = await eventually(
      async () => {
        await page.goto(`${pharos.url}/-/ops`);
        return page.locator('#ops-audit tbody tr').allInnerTexts();
      },
      (rows) => !rows.slice(0, 2).join().includes('in progress'),
    );
    expect(entries[0]).toMatch(/operator\s+rebuild acme\s+[\w-]{12}\s+(no change|published)/);
    expect(entries[1]).toMatch(/operator\s+pull edge\s+[\w-]{12}\s+(no change|published)/);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Token').waitFor();
    await context.close();
  });

  it('shows what happens while it is open, and axe finds nothing', async () => {
    const context = await browser.newContext();
    const page = await signedIn(await context.newPage());
    await page.evaluate(AXE);
    const found = await page.evaluate(async () => {
      const { axe } = globalThis as unknown as {
        axe: { run: (options: object) => Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
      };
      return (await axe.run({ preload: false })).violations.map(({ id, nodes }) => [
        id,
        nodes.map((node) => node.html),
      ]);
    });
    expect(found).toEqual([]);
    const before = await page.locator('#ops-runs tbody tr').count();
    await page.evaluate(() => {
      (globalThis as unknown as { isSame: boolean }).isSame = true;
    });
    sandbox.world.force('website', 'down');
    const hooked = await send('hooks/edge', {
      method: 'POST',
      body: '{"status":"error"}',
      headers: { 'x-webhook-secret': HOOK },
    });
    expect(hooked.status).toBe(202);
    await page.locator('#ops-audit').getByText('hook:edge').first().waitFor();
    await page
      .locator('#ops-runs')
      .getByText(/changed: 1 monitor\b.*published/)
      .first()
      .waitFor();
    expect(await page.locator('#ops-runs tbody tr').count()).toBeGreaterThan(before);
    expect(await page.evaluate(() => (globalThis as unknown as { isSame?: boolean }).isSame)).toBe(true);
    sandbox.world.force('website', null);
    await context.close();
  });

  it('rolls a page back to a release that is on disk, and to no other', async () => {
    const { cookie, form } = await signIn();
    const { text } = await send('ops', { headers: { cookie } });
    const [, options = ''] = /aria-label="Release of acme to roll back to"[^>]*>([\s\S]*?)<\/select>/.exec(text) ?? [];
    const [, release = ''] = /value="(\d+)"/.exec(options) ?? [];
    expect(release).not.toBe('');
    const back = (fields: Record<string, string>) =>
      post('ops/rollback', { form, page: 'acme', ...fields }, { cookie }).then(({ headers }) =>
        headers.get('location'),
      );
    expect(await back({ release })).toBe('../ops?did=rolled-back');
    for (const wrong of ['999999', '0']) expect(await back({ release: wrong })).toBe('../ops?did=no-rollback');
    for (const wrong of ['', '-1', '1e3', '../1']) expect(await back({ release: wrong })).toBe('../ops?did=unknown');
    expect(await back({ release, page: '../acme' })).toBe('../ops?did=no-rollback');
    expect((await fetch(`${pharos.url}/acme/`)).status).toBe(200);
    const after = (await send('ops', { headers: { cookie } })).text;
    expect(after).toContain(`release ${release}`);
    expect(after).toMatch(/rollback acme/);
  });

  it('is there while a process only serves, and has no button that asks', async () => {
    const serving = await startWarm(['serve', '--port', '0'], { cwd: folder.path, env });
    try {
      const headers = { authorization: `Bearer ${token()}`, 'x-forwarded-for': newClient() };
      expect((await fetch(`${serving.url}/-/rebuild`, { method: 'POST', headers })).status).toBe(409);
      const hooked = await fetch(`${serving.url}/-/hooks/edge`, {
        method: 'POST',
        headers: { 'x-webhook-secret': HOOK },
      });
      expect(hooked.status).toBe(409);
      // Sessions are in the store, so that one of the other process is as good.
      const { cookie } = await signIn();
      const text = await (await fetch(`${serving.url}/-/ops`, { headers: { cookie } })).text();
      expect(text).toContain('This process only serves');
      expect(text).not.toContain('Sync now');
    } finally {
      expect(await serving.stop()).toBe(0);
    }
  });

  it('enters sign-ins at pages as sums, and shows the same to pharos audit', async () => {
    const at = (path: string, password: string) =>
      fetch(`${pharos.url}/${path}/login/`, {
        method: 'POST',
        redirect: 'manual',
        headers: { 'x-forwarded-for': newClient() },
        body: new URLSearchParams({ password }),
      });
    await at('partners', 'wrong');
    await at('partners', env['PARTNERS_PASSWORD'] ?? '');
    await at('nowhere', 'wrong');
    const result = await eventually(
      () => runWarm(['audit', '--json'], { cwd: folder.path, env }),
      ({ stdout }) => JSON.parse(stdout).signIns.length === 3,
    );
    const { entries, signIns } = JSON.parse(result.stdout) as {
      entries: { actor: string; action: string; client: string | null }[];
      signIns: { page: string; result: string; count: number }[];
    };
    const counts = Object.fromEntries(signIns.map(({ page, result: how, count }) => [`${page} ${how}`, count]));
    expect(counts).toEqual({ ' refused': 1, 'partners refused': 1, 'partners signed_in': 1 });
    expect(entries.map(({ action }) => action)).toContain('sign-in');
    expect(result.stdout).not.toMatch(/198\.51\.100|127\.0\.0\.1/);
  });

  it('takes a changed configuration at SIGHUP and keeps the old one when the new one is wrong', async () => {
    const { cookie } = await signIn();
    const hangUp = async (text: string, isDone: () => boolean): Promise<void> => {
      writeFileSync(join(folder.path, 'pharos.yaml'), text);
      process.kill(pharos.pid, 'SIGHUP');
      expect(
        await eventually(
          async () => isDone(),
          (done) => done,
        ),
      ).toBe(true);
    };
    const lines = (words: string) => pharos.stderr().split(words).length - 1;
    await hangUp('site: { url: 7 }\nupstreams: []\n', () => lines('the old one stays active') === 1);
    expect(pharos.stderr()).toContain('"path":"site.url"');
    expect((await send('ops', { headers: { cookie } })).status).toBe(200);

    const changed = config
      .replace('${PHAROS_TOKEN}', '${NEXT_TOKEN}')
      .replace(/title: Acme\b/, 'title: Acme renamed')
      .replace('- slug: partners', '- slug: friends');
    await hangUp(changed, () => lines('configuration reloaded') === 1);
    expect((await send('ops', { headers: { cookie } })).status).toBe(401);
    expect((await post('ops/sign-in', { token: token() })).status).toBe(403);
    expect((await post('ops/sign-in', { token: env['NEXT_TOKEN'] ?? '' })).status).toBe(303);
    const titled = await eventually(
      async () => (await fetch(`${pharos.url}/acme/`)).text(),
      (text) => text.includes('Acme renamed'),
    );
    expect(titled).toMatch(/<title>[^<]*Acme renamed<\/title>/);
    expect(pharos.stderr()).not.toContain(env['NEXT_TOKEN']);

    const bucket = `endpoint: "https://s3.example.com", bucket: rel, accessKeyId: "\${NEXT_TOKEN}", secretAccessKey: "\${NEXT_TOKEN}"`;
    const other = `${changed}data: ./elsewhere\nreleases: { s3: { ${bucket} } }\n`;
    await hangUp(other, () => lines('takes effect after a restart') === 2);
    expect(pharos.stderr()).toContain('"setting":"releases.s3"');
    expect((await fetch(`${pharos.url}/acme/`)).status).toBe(200);
  });

  async function signedIn(page: Page): Promise<Page> {
    await page.goto(`${pharos.url}/-/ops`);
    await page.getByLabel('Token').fill('not the token');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('Incorrect token.').waitFor();
    await page.getByLabel('Token').fill(token());
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Upstreams' }).waitFor();
    return page;
  }
});
