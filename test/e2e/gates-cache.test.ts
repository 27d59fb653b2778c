import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import {
  freePort,
  programPath,
  type Relay,
  type RunningProxy,
  skippedWithout,
  startDeployedNginx,
  startNginx,
  startRelay,
  startVarnish,
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
const SCALE = Number(process.env['PHAROS_TEST_SCALE'] ?? 1);
/** Of each proxy; 5,000 with PHAROS_TEST_SCALE 10. */
const MIXED_REQUESTS = 500 * SCALE;

/** A cache with nothing set but that it caches, told apart by host. */
const PLAIN_NGINX = (folder: string, port: number, pharosPort: number): string => `
proxy_cache_path ${folder}/cache keys_zone=plain:1m;
server {
  listen 127.0.0.1:${port};
  location / {
    proxy_pass http://127.0.0.1:${pharosPort};
    proxy_set_header Host $host;
    proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    proxy_cache plain;
    proxy_cache_key $scheme$host$request_uri;
  }
}`;

type StartProxy = (init: { folder: string; relay: Relay; site: GatesSite }) => Promise<RunningProxy>;

const DEPLOYED = 'nginx by deploy/nginx.conf';
const PROXIES: readonly { readonly name: string; readonly program: string; readonly start: StartProxy }[] = [
  {
    name: DEPLOYED,
    program: 'nginx',
    start: ({ folder, relay, site }) =>
      startDeployedNginx({
        folder,
        pharosPort: relay.port,
        data: site.data,
        domains: { [CUSTOM_HOST]: `/${SLUG.password}` },
      }),
  },
  {
    name: 'nginx with a plain cache',
    program: 'nginx',
    start: async ({ folder, relay }) => {
      const port = await freePort();
      return startNginx({ http: PLAIN_NGINX(folder, port, relay.port), folder, port });
    },
  },
  {
    name: 'Varnish with its built-in rules',
    program: 'varnishd',
    start: ({ folder, relay }) => startVarnish({ folder, pharosPort: relay.port }),
  },
];

/** Below a private page: its files, and ways to write them that a cache could take for a picture or a style. */
const GATED_PATHS = [
  '',
  'index.html',
  'history/',
  'feed.atom',
  'api/v2/summary.json',
  'badges/status.svg',
  'favicon.svg',
  'og.png',
  'embed/',
  'login/',
  '?x=1',
  '?x.css',
  'index.html?cache=/public/x.css',
  'x.css',
  'index.html/x.css',
  'api/v2/summary.json/x.js',
  ';a.js',
  'index.html;a.css',
  'index.html%3b.css',
  'index.html%2ex.css',
  'index.html%00.css',
  'index.html%0a.css',
  'index.html%23.css',
  'index.html%3f.css',
  '%2e%2e/y.svg',
  '%2e%2e%2fzq-vault%2findex.html',
  'x/%2e%2e/index.html',
  'static/..%2findex.html',
  '%69ndex.html',
  'INDEX.HTML',
  './index.html',
  '/index.html',
  'index.html.br',
];
const WAYS: readonly Ask[] = [
  {},
  { method: 'HEAD' },
  { headers: { range: 'bytes=0-2000' } },
  { headers: { 'if-none-match': '*' } },
  { headers: { 'if-modified-since': 'Fri, 31 Dec 2100 23:59:59 GMT' } },
  { headers: { 'accept-encoding': 'br' } },
  { headers: { 'accept-encoding': 'gzip' } },
  { headers: { 'accept-encoding': 'zstd, br, gzip' } },
  { headers: { accept: 'text/css', 'sec-fetch-dest': 'style' } },
];

interface Cache {
  readonly relay: Relay;
  readonly ask: (path: string, ask?: Ask) => Promise<Answer>;
  readonly stop: () => Promise<void>;
}

describe('behind caches', () => {
  const caches = new Map<string, Cache>();
  const isAnyThere = PROXIES.some(({ program }) => programPath(program) !== null);
  let site: GatesSite;
  let cookie = '';
  let otherCookie = '';

  beforeAll(async () => {
    if (!isAnyThere) return;
    site = await startGatesSite({ withOut: false, siteUrl: `https://${SITE_HOST}` });
    for (const { name, program, start } of PROXIES) {
      if (programPath(program) === null) continue;
      const relay = await startRelay(Number(new URL(site.pharos.url).port));
      const proxy = await start({ folder: join(site.cwd, name.replaceAll(/\W/g, '-')), relay, site });
      caches.set(name, {
        relay,
        ask: (path, { headers = {}, ...rest } = {}) =>
          send(`${proxy.url}${path}`, undefined, { ...rest, headers: { host: SITE_HOST, ...headers } }),
        stop: async () => {
          await proxy.stop();
          await relay.close();
        },
      });
    }
    cookie = await signIn(SLUG.password, SECRETS.VAULT_PASSWORD);
    otherCookie = await signIn(SLUG.other, SECRETS.OTHER_PASSWORD);
  });
  afterAll(async () => {
    for (const { stop } of caches.values()) await stop();
    await site?.close();
  });

  async function encodingAtPharos(address: string): Promise<string | undefined> {
    const headers = { host: SITE_HOST, 'accept-encoding': 'br' };
    return (await send(`${site.pharos.url}${address}`, undefined, { headers })).headers['content-encoding'];
  }

  function cacheOf(name: string): Cache {
    const cache = caches.get(name);
    if (cache === undefined) throw new Error(`${name} does not run`);
    return cache;
  }

  async function signIn(slug: string, password: string): Promise<string> {
    const form = formOf({ password });
    const [first] = caches.values();
    const answer = await first?.ask(`/${slug}/login/`, {
      ...form,
      headers: { ...form.headers, origin: `https://${SITE_HOST}` },
    });
    expect([slug, answer?.status]).toEqual([slug, 303]);
    return answer === undefined ? '' : cookieOf(answer);
  }

  const as = (who: string, { headers, ...rest }: Ask): Ask => ({
    ...rest,
    headers: { ...headers, ...(who === '' ? {} : { cookie: who }) },
  });

  describe.each(PROXIES)('$name', ({ name, program }) => {
    const isThere = programPath(program) !== null;
    const skipped = skippedWithout(program);

    it.skipIf(!isThere)(`keeps public files, each encoding for those who take it${skipped}`, async () => {
      const { ask, relay } = cacheOf(name);
      for (const path of ['', 'feed.atom', 'api/v2/summary.json']) {
        const address = `/${SLUG.public}/${path}`;
        // A moment after a file is published it is compressed, and a cache keeps what it got before.
        await expect.poll(() => encodingAtPharos(address), { timeout: 60_000 }).toBe('br');
        for (const encoding of ['br', 'gzip', 'identity', 'br', 'gzip', 'identity']) {
          const answer = await ask(address, { headers: { 'accept-encoding': encoding } });
          expect([answer.status, answer.headers['content-encoding'] ?? 'identity']).toEqual([
            200,
            // Varnish asks for gzip whatever its visitor takes, and unpacks it for who does not.
            program === 'varnishd' && encoding === 'br' ? 'identity' : encoding,
          ]);
          expect(answer.body, address).toContain(CANARY.public);
        }
        // Once for each encoding; nothing of the second round came through.
        expect(relay.seen.filter((seen) => seen === address).length, address).toBeLessThanOrEqual(3);
      }
    });

    it.skipIf(!isThere)(`never shows private files to the next one, however they are asked for${skipped}`, async () => {
      const { ask } = cacheOf(name);
      let shown = 0;
      for (const path of GATED_PATHS) {
        const address = `/${SLUG.password}/${path}`;
        for (const way of WAYS) {
          const inside = await ask(address, as(cookie, way));
          if (inside.body.includes(CANARY.password)) shown += 1;
          for (const who of ['', otherCookie, '']) {
            const outside = await ask(address, as(who, way));
            const cell = `${JSON.stringify(way)} ${address} by ${who === '' ? 'nobody' : 'somebody else'}`;
            expect(outside.all.includes(CANARY.password), cell).toBe(false);
            expect([200, 206, 304].includes(outside.status) && !path.startsWith('login'), cell).toBe(false);
          }
          // And nobody's refusal is not kept for who may.
          const again = await ask(address, as(cookie, way));
          expect([again.status, again.body], address).toEqual([inside.status, inside.body]);
        }
      }
      expect(shown).toBeGreaterThan(40);
    });

    it.skipIf(!isThere)(`asks Pharos for a private page every time${skipped}`, async () => {
      const { ask, relay } = cacheOf(name);
      const before = relay.seen.length;
      for (const who of [cookie, '', cookie, otherCookie, '', cookie]) await ask(`/${SLUG.password}/`, as(who, {}));
      expect(relay.seen.length - before).toBe(6);
    });

    it.skipIf(!isThere)(
      `mixes up nothing in ${MIXED_REQUESTS} requests of everybody for everything${skipped}`,
      async () => {
        const faults = await mixedRequests(cacheOf(name).ask, [
          { who: '', sees: null },
          { who: cookie, sees: CANARY.password },
          { who: otherCookie, sees: CANARY.other },
        ]);
        expect(faults).toEqual([]);
      },
    );
  });

  async function mixedRequests(
    ask: Cache['ask'],
    people: readonly { readonly who: string; readonly sees: string | null }[],
  ): Promise<readonly string[]> {
    const random = seeded(20_261_121);
    const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
    const work = Array.from({ length: MIXED_REQUESTS }, () => ({
      person: pick(people),
      address: `/${pick([SLUG.password, SLUG.other, SLUG.public, SLUG.email])}/${pick(GATED_PATHS)}`,
      way: pick(WAYS),
    })).values();
    const faults: string[] = [];
    const visitor = async (): Promise<void> => {
      for (const { person, address, way } of work) {
        const answer = await ask(address, as(person.who, way));
        const hidden = [CANARY.password, CANARY.other, CANARY.email].filter((word) => word !== person.sees);
        if (hidden.some((word) => answer.all.includes(word))) faults.push(address);
        if (answer.status >= 500) faults.push(`${answer.status} ${address}`);
      }
    };
    await Promise.all([visitor(), visitor(), visitor(), visitor()]);
    return faults;
  }

  it.skipIf(!isAnyThere)(
    `a page that turns private is gone within a second beside Pharos, elsewhere when it may be kept no longer${isAnyThere ? '' : ' (skipped: neither nginx nor Varnish is installed)'}`,
    async () => {
      const files = ['', 'history/', 'feed.atom', 'api/v2/summary.json', 'badges/status.svg', 'embed/'];
      const shownBy = async ({ ask }: Cache): Promise<readonly string[]> => {
        const answers = await Promise.all(files.map((path) => ask(`/${SLUG.public}/${path}`)));
        return files.filter((_, index) => answers[index]?.status === 200);
      };
      for (const cache of caches.values()) expect(await shownBy(cache)).toEqual(files);
      const file = join(site.cwd, 'pharos.yaml');
      const config = parse(readFileSync(file, 'utf8')) as { pages: Record<string, unknown>[] };
      for (const page of config.pages)
        if (page['slug'] === SLUG.public)
          Object.assign(page, { access_type: 'password', password: '${VAULT_PASSWORD}' });
      writeFileSync(file, stringify(config));
      process.kill(site.pharos.pid, 'SIGHUP');
      await sleep(1_000);
      const deployed = caches.get(DEPLOYED);
      if (deployed !== undefined) {
        expect(await shownBy(deployed)).toEqual([]);
        // Not when Pharos is away either.
        deployed.relay.isAway = true;
        const away = await deployed.ask(`/${SLUG.public}/`);
        expect([away.status, away.all.includes(CANARY.public)]).toEqual([502, false]);
      }
      // The relay makes seconds of half minutes: what a minute promises is over after two.
      await sleep(1_500);
      for (const [name, cache] of caches) {
        if (name === DEPLOYED) continue;
        // The first to ask may be given the old one while it is asked for anew.
        await shownBy(cache);
        expect([name, await shownBy(cache)]).toEqual([name, []]);
        expect((await cache.ask(`/${SLUG.public}/`)).all).not.toContain(CANARY.public);
      }
    },
  );
});

function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
