import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LOG_KEYS } from '../../src/model/slugs.ts';
import { type RunningPharos, startPharos } from '../helpers/pharos.ts';
import {
  freePort,
  programPath,
  type RunningProxy,
  readDeploy,
  replaced,
  skippedWithout,
  startCaddy,
  startDeployedNginx,
  startNginx,
} from '../helpers/proxies.ts';
import {
  type Answer,
  type Ask,
  CANARY,
  CUSTOM_HOST,
  cookieOf,
  formOf,
  type GatesSite,
  SECRETS,
  SLUG,
  send,
  startGatesSite,
} from './gates-site.ts';

const SITE_HOST = 'status.example.com';

/** deploy/Caddyfile as it is, but for names, ports, paths and certificates, which nobody would sign for a test. */
function caddyfileFor(folder: string, port: number): string {
  const text = readDeploy('Caddyfile').replaceAll(/^# (?=status\.customer|\t|\})/gm, '');
  return replaced(text, [
    ['{\n\tservers', `{\n\tadmin off\n\tauto_https off\n\tstorage file_system ${folder}\n\tservers`],
    ['\nstatus.example.com {', `\nhttp://${SITE_HOST}:${port} {`],
    ['status.customer.example {', `http://${CUSTOM_HOST}:${port} {`],
    ['/customer\n', `/${SLUG.password}\n`],
    ['/var/lib/pharos-static', join(site.cwd, 'out')],
    ['/var/lib/pharos', site.data],
    ['127.0.0.1:4321', `127.0.0.1:${new URL(site.pharos.url).port}`],
    // The test is on this machine, and wants to be kept out.
    [' 127.0.0.0/8', ''],
  ]);
}

const PROXIES = [
  {
    name: 'nginx.conf',
    program: 'nginx',
    guessedPage: SLUG.other,
    start: (folder: string): Promise<RunningProxy> =>
      startDeployedNginx({
        folder,
        pharosPort: Number(new URL(site.pharos.url).port),
        data: site.data,
        domains: { [CUSTOM_HOST]: `/${SLUG.password}` },
        // The test is on this machine, and wants to be kept out.
        changes: [['allow 127.0.0.0/8;', '']],
        output: join(site.cwd, 'out'),
      }),
  },
  {
    name: 'Caddyfile',
    program: 'caddy',
    // Tries at pages that do not exist are counted like all others.
    guessedPage: SLUG.unknown,
    start: async (folder: string): Promise<RunningProxy> => {
      const port = await freePort();
      return startCaddy({ caddyfile: caddyfileFor(folder, port), folder, port });
    },
  },
] as const;

/** One site behind them all, restarted where they left it. */
const isAnyThere = ['nginx', 'caddy'].some((program) => programPath(program) !== null);
let site: GatesSite;
let pharos: RunningPharos;

beforeAll(async () => {
  if (!isAnyThere) return;
  site = await startGatesSite({ withOut: true, siteUrl: `https://${SITE_HOST}` });
  pharos = site.pharos;
});
afterAll(async () => {
  await pharos?.stop();
  await site?.close();
});

describe.each(PROXIES)('deploy/$name', ({ name, program, guessedPage, start }) => {
  const isThere = programPath(program) !== null;
  const skipped = skippedWithout(program);
  let proxy: RunningProxy | undefined;

  beforeAll(async () => {
    if (isThere) proxy = await start(join(site.cwd, name));
  });
  afterAll(() => proxy?.stop());

  function ask(path: string, { headers = {}, ...rest }: Ask = {}): Promise<Answer> {
    return send(`${proxy?.url}${path}`, undefined, { ...rest, headers: { host: SITE_HOST, ...headers } });
  }
  function post(path: string, fields: Readonly<Record<string, string>>, headers: Ask['headers'] = {}): Promise<Answer> {
    const host = headers['host'] ?? SITE_HOST;
    const form = formOf(fields);
    return ask(path, { ...form, headers: { ...form.headers, origin: `https://${host}`, ...headers } });
  }

  it.skipIf(!isThere)(`shows public pages, badges and feeds with what Pharos says of them${skipped}`, async () => {
    for (const path of ['', 'feed.atom', 'badges/status.svg', 'api/v2/summary.json', 'history/']) {
      const address = `/${SLUG.public}/${path}`;
      const through = await ask(address, { headers: { 'accept-encoding': 'br' } });
      const direct = await site.ask(address, { headers: { 'accept-encoding': 'br' } });
      expect([through.status, through.body]).toEqual([200, direct.body]);
      const kept = ['content-type', 'content-security-policy', 'cache-control', 'etag', 'vary', 'content-encoding'];
      for (const header of [...kept, 'strict-transport-security', 'x-content-type-options', 'referrer-policy'])
        expect([address, header, through.headers[header]]).toEqual([address, header, direct.headers[header]]);
    }
    expect((await ask(`/${SLUG.public}/history`)).headers.location).toBe(`/${SLUG.public}/history/`);
  });

  it.skipIf(!isThere)(`lets people in to gated pages, also by a domain of their own${skipped}`, async () => {
    for (const [host, base] of [
      [SITE_HOST, `/${SLUG.password}/`],
      [CUSTOM_HOST, '/'],
    ] as const) {
      expect((await ask(base, { headers: { host } })).status).toBe(404);
      const signedIn = await post(`${base}login/`, { password: SECRETS.VAULT_PASSWORD }, { host });
      expect([host, signedIn.status, signedIn.headers.location]).toEqual([host, 303, base]);
      expect(signedIn.headers['set-cookie']?.[0]).toMatch(/^__Host-pharos=.*; Secure; SameSite=Lax$/);
      const inside = await ask(base, { headers: { host, cookie: cookieOf(signedIn) } });
      expect(inside.body).toContain(CANARY.password);
      expect(inside.headers['cache-control']).toBe('private, no-store');
    }
    expect((await ask('/', { headers: { host: 'evil.example' } }).catch(() => null))?.all ?? '').not.toContain('qx');
  });

  it.skipIf(!isThere)(`counts tries by who really sends them${skipped}`, async () => {
    const statuses: number[] = [];
    for (let guess = 0; guess < 12; guess += 1) {
      const answer = await post(
        `/${guessedPage}/login/`,
        { password: `guess ${guess}` },
        { 'x-forwarded-for': `203.0.113.${guess}`, forwarded: `for=203.0.113.${guess}` },
      );
      statuses.push(answer.status);
    }
    expect(statuses).toEqual([...Array<number>(10).fill(403), 429, 429]);
  });

  it.skipIf(!isThere)(
    `keeps the operators' side from strangers, however it is written, but hooks and identity providers${skipped}`,
    async () => {
      const paths = [
        '/-/health',
        '/-/ops',
        '/-/metrics',
        '/%2d/ops',
        '/-%2fops',
        '/%2D%2Fmetrics',
        '//-/ops',
        '/./-/ops',
        `/${SLUG.public}/../-/ops`,
        '/-/hooks/../ops',
        '/-/hooks/%2e%2e/ops',
        '/-/hooks/..%2fops',
        '/-/hooks%2f..%2fops',
        '/-/hooks/..;/ops',
        '/-/oidc/../ops',
        '/-/oidc/%2e%2e/ops',
        '/-//ops',
        '/-/./ops',
      ];
      for (const path of paths) {
        const answer = await ask(path);
        expect([400, 403, 404, 308], `${path}: ${answer.status}`).toContain(answer.status);
        expect(answer.body, path).not.toMatch(/pharos_|"status"|operator/i);
      }
      const hook = await ask('/-/hooks/edge', { method: 'POST', body: '{}' });
      expect([hook.status, hook.body]).toEqual([401, expect.stringContaining('hook')]);
      // From Pharos, which has no identity provider here.
      const returned = await ask('/-/oidc/callback?code=a');
      expect([returned.status, returned.body]).toEqual([404, expect.stringContaining('Not found.')]);
    },
  );

  it.skipIf(!isThere)(`takes no body larger than 64 kB${skipped}`, async () => {
    const answer = await post(`/${SLUG.other}/login/`, { password: 'x'.repeat(70_000) }).catch(() => null);
    // A server may hang up on who goes on sending.
    expect([413, undefined]).toContain(answer?.status);
    expect((await ask(`/${SLUG.public}/`)).status).toBe(200);
  });

  it.skipIf(!isThere)(
    `shows public pages from their files while Pharos is away, and nothing else${skipped}`,
    async () => {
      const signedIn = await post(`/${SLUG.email}/login/`, { email: 'someone@example.org' });
      expect(signedIn.status).toBe(303);
      const before = await site.ask(`/${SLUG.public}/`);
      const { port } = new URL(site.pharos.url);
      await pharos.stop();
      const shown: Readonly<Record<string, string>> = {
        [`/${SLUG.public}/`]: 'text/html',
        [`/${SLUG.public}/history/`]: 'text/html',
        [`/${SLUG.public}/feed.atom`]: 'application/atom+xml',
        [`/${SLUG.public}/api/v2/status.json`]: 'application/json',
        [`/${SLUG.public}/badges/`]: 'text/html',
        '/': 'text/html',
      };
      const log = [`/${SLUG.public}/log/checkpoint`, `/${SLUG.public}/log/SHA256SUMS`];
      for (const [path, type] of Object.entries(shown)) {
        const answer = await ask(path, { headers: { 'accept-encoding': 'gzip' } });
        expect([path, answer.status, answer.headers['content-type']?.split(';')[0]]).toEqual([path, 200, type]);
        expect([path, answer.body.includes(CANARY.public)]).toEqual([path, true]);
      }
      for (const path of log) {
        const answer = await ask(path);
        expect([path, answer.status, answer.headers['content-type']]).toEqual([path, 200, 'text/plain; charset=utf-8']);
      }
      expect((await ask(`/${SLUG.public}/`)).body).toBe(before.body);
      for (const [file, type] of [
        ['status.svg', 'image/svg+xml'],
        ['uptime-90d-dark.svg', 'image/svg+xml'],
        ['status.json', 'application/json'],
      ] as const) {
        const answer = await ask(`/${SLUG.public}/badges/${file}?style=pill`);
        expect([file, answer.status, answer.headers['content-type']?.split(';')[0]]).toEqual([file, 200, type]);
        expect(answer.body).toBe(readFileSync(join(site.cwd, 'out', SLUG.public, 'badges', file), 'utf8'));
      }
      for (const path of [
        `/${SLUG.password}/badges/status.svg`,
        `/${SLUG.public}/badges/no-such.svg`,
        `/${SLUG.public}/badges/..%2f..%2f_headers`,
        `/${SLUG.password}/`,
        `/${SLUG.password}/index.html`,
        `/${SLUG.unknown}/`,
        `/${SLUG.password}/login/`,
        '/-/ops',
      ]) {
        const answer = await ask(path);
        expect([400, 403, 404, 502], `${path}: ${answer.status}`).toContain(answer.status);
        expect(answer.all, path).not.toMatch(/qx|qh/);
      }
      const domain = await ask('/', { headers: { host: CUSTOM_HOST } });
      expect([domain.status, /qx/.test(domain.body)]).toEqual([502, false]);
      pharos = await startPharos(['start', '--port', port], { cwd: site.cwd, env: site.env });
      expect((await ask(`/${SLUG.password}/`)).status).toBe(404);
    },
  );
});

describe('deploy/nginx-static.conf', () => {
  const isThere = programPath('nginx') !== null;
  const skipped = skippedWithout('nginx');
  const servers: Record<string, RunningProxy> = {};

  beforeAll(async () => {
    if (!isThere) return;
    for (const [kind, root] of Object.entries({
      published: join(site.data, 'site', 'public'),
      built: join(site.cwd, 'out'),
    })) {
      const port = await freePort();
      const http = replaced(readDeploy('nginx-static.conf'), [
        ['listen 80;', `listen 127.0.0.1:${port};`],
        ['/srv/pharos/public', root],
      ]).replace(/^\s*listen \[::\].*$/m, '');
      servers[kind] = await startNginx({ http, folder: join(site.cwd, kind), port });
    }
  });
  afterAll(async () => {
    for (const server of Object.values(servers)) await server.stop();
  });

  const ask = (kind: string, path: string, headers: Ask['headers'] = {}): Promise<Answer> =>
    send(`${servers[kind]?.url}${path}`, undefined, { headers: { host: SITE_HOST, ...headers } });

  it.skipIf(!isThere)(
    `serves every public file as Pharos does: bytes, type, who may frame and read it${skipped}`,
    async () => {
      for (const file of site.files(SLUG.public)) {
        const address = `/${SLUG.public}/${file.replace(/(^|\/)index\.html$/, '$1')}`;
        const ours = await site.ask(address);
        const theirs = await ask('published', address);
        expect([address, theirs.status, theirs.body === ours.body]).toEqual([address, 200, true]);
        const plain = ({ headers }: Answer): readonly unknown[] => [
          headers['content-type']?.replace(/^(image\/\S+?);.*/, '$1'),
          headers['access-control-allow-origin'],
          headers['x-content-type-options'],
          headers['referrer-policy'],
          headers['cache-control'],
          /frame-ancestors [^;]+|sandbox/.exec(String(headers['content-security-policy']))?.[0],
        ];
        expect([address, ...plain(theirs)]).toEqual([address, ...plain(ours)]);
      }
    },
  );

  it.skipIf(!isThere)(`serves the keys of the logs, which stand at the root${skipped}`, async () => {
    for (const kind of ['published', 'built']) {
      const ours = await site.ask(`/${LOG_KEYS}`);
      const theirs = await ask(kind, `/${LOG_KEYS}`);
      expect([theirs.status, theirs.headers['content-type'], theirs.body]).toEqual([
        200,
        ours.headers['content-type'],
        ours.body,
      ]);
    }
  });

  it.skipIf(!isThere)(`sends the variants that Pharos compressed${skipped}`, async () => {
    const variant = await ask('published', `/${SLUG.public}/`, { 'accept-encoding': 'gzip' });
    expect([variant.headers['content-encoding'], variant.headers.vary]).toEqual(['gzip', 'Accept-Encoding']);
    const folder = join(site.data, 'site', 'public', SLUG.public);
    expect(readdirSync(folder)).toContain('index.html.gz');
    expect(variant.headers['content-length']).toBe(String(readFileSync(join(folder, 'index.html.gz')).length));
  });

  it.skipIf(!isThere)(`has badges where they were built${skipped}`, async () => {
    const badge = await ask('built', `/${SLUG.public}/badges/status.svg`);
    expect([badge.status, badge.headers['content-type']]).toEqual([200, 'image/svg+xml']);
    expect((await ask('published', `/${SLUG.public}/badges/status.svg`)).status).toBe(404);
  });

  it.skipIf(!isThere)(
    `knows nothing of gated pages, lists nothing, and shows no note of Pharos' own${skipped}`,
    async () => {
      for (const kind of ['published', 'built']) {
        expect((await ask(kind, '/')).body).toContain(CANARY.public);
        const missing = await ask(kind, '/nothing-there/');
        expect([missing.status, missing.headers['cache-control']]).toEqual([404, 'no-store']);
        const paths = [
          ...[SLUG.password, SLUG.email, SLUG.unpublished].flatMap((slug) => [`/${slug}/`, `/${slug}/feed.atom`]),
          `/${SLUG.public}/api/`,
          `/${SLUG.public}/components/`,
          '/_site/index.html',
          '/.pharos.json',
          '/.pharos/',
          '/_headers',
          '/_redirects',
          '/../private/zq-vault/index.html',
          '/%2e%2e/private/zq-vault/index.html',
        ];
        for (const path of paths) {
          const answer = await ask(kind, path);
          expect([400, 404], `${kind} ${path}: ${answer.status}`).toContain(answer.status);
          if (answer.status === 404) expect(answer.body, path).toBe(missing.body);
        }
        const redirect = await ask(kind, `/${SLUG.public}`);
        expect([redirect.status, redirect.headers.location]).toEqual([301, `/${SLUG.public}/`]);
      }
    },
  );
});
