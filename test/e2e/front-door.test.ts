import { readdirSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../helpers/pharos.ts';
import {
  type Ask,
  CUSTOM_HOST,
  cookieOf,
  formOf,
  type GatesSite,
  SECRETS,
  SLUG,
  startGatesSite,
} from './gates-site.ts';

const SCALE = Number(process.env['PHAROS_TEST_SCALE'] ?? 1);
/** Sockets that send a byte now and then. */
const SLOW_SOCKETS = 200 * SCALE;
/** A head has 10 s, a request 15 s, a reader twice 10 s without a byte; they are looked at every 2 s, and machines are busy. */
const CUT_WITHIN_MS = 25_000;

interface SlowSocket {
  /** Milliseconds until it was cut off; null: it is still open when patience ends. */
  readonly cutAfter: Promise<number | null>;
  readonly said: () => string;
}

/** A client that sends or reads a byte now and then, or none at all. */
function slowSocket(port: number, act: (socket: Socket) => NodeJS.Timeout | undefined): SlowSocket {
  const socket = connect(port, '127.0.0.1');
  const startedAt = performance.now();
  let said = '';
  const cutAfter = new Promise<number | null>((settle) => {
    let beat: NodeJS.Timeout | undefined;
    const over = setTimeout(() => end(null), CUT_WITHIN_MS);
    const end = (ms: number | null): void => {
      clearTimeout(over);
      clearInterval(beat);
      socket.destroy();
      settle(ms);
    };
    socket.on('connect', () => {
      beat = act(socket);
    });
    socket.on('data', (chunk) => {
      said += chunk.toString('latin1');
    });
    socket.on('error', () => end(performance.now() - startedAt));
    socket.on('end', () => end(performance.now() - startedAt));
    socket.on('close', () => end(performance.now() - startedAt));
  });
  return { cutAfter, said: () => said };
}

describe('the front door', () => {
  let site: GatesSite;
  let plainSite: GatesSite;
  let slowHeads: readonly SlowSocket[] = [];
  let slowBodies: readonly SlowSocket[] = [];
  let stalledReader: SlowSocket;

  beforeAll(async () => {
    [site, plainSite] = await Promise.all([
      startGatesSite({ withOut: false, siteUrl: 'https://status.example.com' }),
      startGatesSite({ withOut: false }),
    ]);
    const port = Number(new URL(site.pharos.url).port);
    const trickle = (socket: Socket, first: string): NodeJS.Timeout => {
      socket.write(first);
      return setInterval(() => socket.write('x'), 500);
    };
    slowHeads = Array.from({ length: SLOW_SOCKETS }, () =>
      slowSocket(port, (socket) => trickle(socket, 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ')),
    );
    slowBodies = Array.from({ length: 20 }, () =>
      slowSocket(port, (socket) =>
        trickle(
          socket,
          `POST /${SLUG.password}/login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 60000\r\n\r\npassword=`,
        ),
      ),
    );
    stalledReader = slowSocket(port, (socket) => {
      socket.pause();
      const request = `GET /${SLUG.public}/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`;
      socket.write(request.repeat(2_000));
      // Ends are noticed by who reads or writes.
      return setInterval(() => socket.write(request), 1_000);
    });
  });
  afterAll(async () => {
    await site?.close();
    await plainSite?.close();
  });

  const post = (fields: Readonly<Record<string, string>>, headers: Ask['headers'] = {}): Ask => {
    const form = formOf(fields);
    return { ...form, headers: { ...form.headers, ...headers } };
  };

  it('serves everybody else while slow clients hold their sockets', async () => {
    for (let round = 0; round < 50; round += 1) expect((await site.ask(`/${SLUG.public}/`)).status).toBe(200);
  });

  const KINDS: Readonly<Record<string, [path: string, ask: Ask, status: number]>> = {
    'a page': [`/${SLUG.public}/`, {}, 200],
    'the index of pages': ['/', {}, 200],
    'an embedded page': [`/${SLUG.public}/embed/`, {}, 200],
    'a picture': [`/${SLUG.public}/favicon.svg`, {}, 200],
    data: [`/${SLUG.public}/api/v2/summary.json`, {}, 200],
    'when it was checked': [`/${SLUG.public}/api/now.json`, {}, 200],
    'a feed': [`/${SLUG.public}/feed.atom`, {}, 200],
    'a badge': [`/${SLUG.public}/badges/status.svg`, {}, 200],
    'no such badge': [`/${SLUG.unknown}/badges/status.svg`, {}, 404],
    'nothing new': [`/${SLUG.public}/`, { headers: { 'if-none-match': '*' } }, 304],
    'a part': [`/${SLUG.public}/feed.atom`, { headers: { range: 'bytes=0-9' } }, 206],
    'no such part': [`/${SLUG.public}/feed.atom`, { headers: { range: 'bytes=99999999-' } }, 416],
    'the way to a folder': [`/${SLUG.public}/history`, {}, 301],
    'nothing there': [`/${SLUG.public}/nothing`, {}, 404],
    'a gated page': [`/${SLUG.password}/`, {}, 404],
    'the way in': [`/${SLUG.password}/login/`, {}, 200],
    'a wrong password': [`/${SLUG.password}/login/`, post({ password: 'wrong' }), 403],
    'a right password': [`/${SLUG.password}/login/`, post({ password: SECRETS.VAULT_PASSWORD }), 303],
    'a method that is none': [`/${SLUG.public}/`, { method: 'DELETE' }, 405],
    'a host that is not ours': ['/', { headers: { host: 'evil.example' } }, 421],
    'a path that is none': ['/a/../b', {}, 400],
    'too large a body': [`/${SLUG.password}/login/`, post({ password: 'x'.repeat(66_000) }), 413],
    'what may be asked': ['/', { method: 'OPTIONS' }, 204],
    health: ['/-/health', {}, 200],
    'a rebuild by a stranger': ['/-/rebuild', { method: 'POST' }, 401],
    'nothing of the server': ['/-/nothing', {}, 404],
  };

  it.each(Object.entries(KINDS))(
    'sends %s with HSTS where the site is https, and with every other header of security',
    async (_kind, [path, ask, status]) => {
      const answer = await site.ask(path, ask);
      expect(answer.status).toBe(status);
      expect(answer.headers['strict-transport-security']).toBe('max-age=31536000');
      expect(answer.headers['x-content-type-options']).toBe('nosniff');
      expect(answer.headers['referrer-policy']).toMatch(/^(no-referrer|same-origin)$/);
      expect(answer.headers['x-powered-by'] ?? answer.headers['server']).toBeUndefined();
      const type = answer.headers['content-type'];
      if (
        status === 200 &&
        type !== undefined &&
        !type.startsWith('application/json; charset=utf-8') &&
        path !== '/-/health'
      )
        expect(answer.headers['content-security-policy']).toMatch(/^default-src 'none'/);
      if (type?.startsWith('text/html'))
        expect(answer.headers['content-security-policy']).toMatch(
          path.includes('embed') ? /frame-ancestors \*$/ : /frame-ancestors 'none'$/,
        );
      expect((await plainSite.ask(path, ask)).headers['strict-transport-security']).toBeUndefined();
    },
  );

  it('lets scripts of other sites read whatever is public, errors too, and nothing that is gated or not there', async () => {
    const origin = async (path: string, ask: Ask = {}): Promise<readonly [number, string | undefined]> => {
      const { status, headers } = await site.ask(path, {
        ...ask,
        headers: { ...ask.headers, origin: 'https://x.example' },
      });
      return [status, headers['access-control-allow-origin']];
    };
    const page = `/${SLUG.public}`;
    for (const [path, status] of [
      ['/api/v2/summary.json', 200],
      ['/api/v2/nothing.json', 404],
      ['//api/v2/summary.json', 200],
      ['/api/now.json', 200],
      ['/build.json', 200],
      ['/badges/nothing.svg', 404],
    ] as const)
      expect([path, ...(await origin(page + path))]).toEqual([path, status, '*']);
    expect(await origin(`${page}/api/state.json`, { method: 'POST' })).toEqual([405, '*']);
    expect(await origin(`${page}/api/state.json`, { headers: { range: 'bytes=99999999-' } })).toEqual([416, '*']);
    expect(await origin('/nothing.json')).toEqual([404, '*']);
    const inside = cookieOf(await site.ask(`/${SLUG.other}/login/`, formOf({ password: SECRETS.OTHER_PASSWORD })));
    for (const path of ['/api/v2/summary.json', '/api/v2/nothing.json', '/api/now.json']) {
      for (const slug of [SLUG.password, SLUG.email, SLUG.unknown])
        expect(await origin(`/${slug}${path}`)).toEqual([404, undefined]);
      const [, seen] = await origin(`/${SLUG.other}${path}`, { headers: { cookie: inside } });
      expect(seen).toBeUndefined();
      expect(await origin(`/${SLUG.password}${path}`, { method: 'DELETE' })).toEqual([405, undefined]);
    }
  });

  it('takes single components of a gated page out of its lists for whoever is in, and for nobody else', async () => {
    const cookie = cookieOf(await site.ask(`/${SLUG.other}/login/`, formOf({ password: SECRETS.OTHER_PASSWORD })));
    const inside = (path: string) => site.ask(`/${SLUG.other}/api/v2/${path}`, { headers: { cookie } });
    const { components } = JSON.parse((await inside('components.json')).body) as { components: { id: string }[] };
    expect(components.length).toBeGreaterThan(1);
    for (const component of components) {
      const path = `components/${component.id}.json`;
      const seen = await inside(path);
      expect(JSON.parse(seen.body)).toMatchObject({ component });
      expect(seen).toMatchObject({ status: 200, headers: { 'cache-control': 'private, no-store' } });
      expect([seen.headers.etag, seen.headers['access-control-allow-origin']]).toEqual([undefined, undefined]);
      // By nobody, and by whoever is in elsewhere.
      const [outside, elsewhere, missing] = await Promise.all([
        site.ask(`/${SLUG.other}/api/v2/${path}`),
        site.ask(`/${SLUG.password}/api/v2/${path}`, { headers: { cookie } }),
        site.ask(`/${SLUG.unknown}/api/v2/${path}`),
      ]);
      expect([outside.status, elsewhere.status, missing.status]).toEqual([404, 404, 404]);
      expect(outside.body.replaceAll(SLUG.other, '')).toBe(missing.body.replaceAll(SLUG.unknown, ''));
    }
  });

  it('answers preflights of what is public, and tells nothing by them of what is not', async () => {
    const preflight = (path: string) =>
      site.ask(path, {
        method: 'OPTIONS',
        headers: {
          origin: 'https://x.example',
          'access-control-request-method': 'GET',
          'access-control-request-headers': 'x-requested-with, cache-control',
        },
      });
    const open = await preflight(`/${SLUG.public}/api/v2/summary.json`);
    expect(open.status).toBe(204);
    expect(open.headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET, HEAD',
      'access-control-allow-headers': '*',
    });
    const [gated, unknown] = await Promise.all(
      [SLUG.password, SLUG.unknown].map((slug) => preflight(`/${slug}/api/v2/summary.json`)),
    );
    expect(Object.keys(gated?.headers ?? {}).filter((name) => name.startsWith('access-control'))).toEqual([]);
    const { date: _, ...headers } = unknown?.headers ?? {};
    expect(gated).toMatchObject({ status: 204, headers });
  });

  it.each(['https', 'http', undefined])('sets cookies by the site, not by a header that says %s', async (proto) => {
    const headers = proto === undefined ? {} : { 'x-forwarded-proto': proto, forwarded: `proto=${proto}` };
    const cookiesOf = async ({ ask }: GatesSite): Promise<string> =>
      String(
        (await ask(`/${SLUG.other}/login/`, post({ password: SECRETS.OTHER_PASSWORD }, headers))).headers['set-cookie'],
      );
    expect(await cookiesOf(site)).toMatch(/^__Host-pharos=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
    expect(await cookiesOf(plainSite)).toMatch(/^pharos=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/);
  });

  it('says from memory when a page was checked, newer than any of its files, and of a gated page to whoever is in', async () => {
    const now = async (): Promise<Record<string, unknown>> =>
      JSON.parse((await site.ask(`/${SLUG.public}/api/now.json`)).body) as Record<string, unknown>;
    const first = await now();
    const state = JSON.parse((await site.ask(`/${SLUG.public}/api/state.json`)).body) as Record<string, unknown>;
    expect(first).toMatchObject({ state: state['state'], staleAfter: state['stale_after'] });
    expect(site.files(SLUG.public)).not.toContain('api/now.json');
    await site.ask('/-/rebuild?wait=1', { method: 'POST', headers: { authorization: `Bearer ${SECRETS.OPERATOR}` } });
    const later = await eventually(now, ({ checkedAt }) => checkedAt !== first['checkedAt']);
    expect(Date.parse(String(later['checkedAt']))).toBeGreaterThan(Date.parse(String(first['checkedAt'])));
    const outside = await site.ask(`/${SLUG.other}/api/now.json`);
    expect(outside.status).toBe(404);
    const inside = cookieOf(await site.ask(`/${SLUG.other}/login/`, formOf({ password: SECRETS.OTHER_PASSWORD })));
    const gated = await site.ask(`/${SLUG.other}/api/now.json`, { headers: { cookie: inside } });
    expect(gated).toMatchObject({ status: 200, headers: { 'cache-control': 'private, no-store' } });
  });

  it('lets nobody choose a host or a scheme for what it says', async () => {
    const headers = {
      'x-forwarded-host': 'evil.example',
      'x-original-host': 'evil.example',
      'x-forwarded-proto': 'gopher',
      forwarded: 'host=evil.example;proto=gopher',
    };
    for (const path of [
      '/',
      `/${SLUG.public}`,
      `/${SLUG.public}/`,
      `/${SLUG.public}/history`,
      `/${SLUG.public}/feed.atom`,
      '/sitemap.xml',
      '/robots.txt',
      `/${SLUG.password}/login/`,
    ]) {
      const answer = await site.ask(path, { headers });
      expect(answer.all, path).not.toMatch(/evil\.example|gopher/);
      expect(answer.body, path).toBe((await site.ask(path)).body);
    }
    expect((await site.ask('/', { headers: { host: `evil.example@${CUSTOM_HOST}` } })).status).toBe(400);
  });

  it('takes 64 kB and not one byte more, whatever the body says of its length', async () => {
    const path = `/${SLUG.unknown}/login/`;
    const bodyOf = (bytes: number): string => `password=${'x'.repeat(bytes - 'password='.length)}`;
    const chunked = { 'transfer-encoding': 'chunked' };
    const statusOf = async (bytes: number, headers: Ask['headers']): Promise<number> =>
      (await site.ask(path, { ...post({}, headers), body: bodyOf(bytes) })).status;
    expect([await statusOf(65_536, {}), await statusOf(65_537, {})]).toEqual([403, 413]);
    expect([await statusOf(65_536, chunked), await statusOf(65_537, chunked)]).toEqual([403, 413]);
  });

  it('lists no folder and has no source maps', async () => {
    const folders = new Set(
      site
        .files(SLUG.public)
        .flatMap((file) => file.split('/').map((_, index, parts) => parts.slice(0, index).join('/')))
        .filter((folder) => folder !== '' && !site.files(SLUG.public).includes(`${folder}/index.html`)),
    );
    expect(folders).toContain('api');
    for (const folder of [...folders].flatMap((name) => [`${name}/`, name]))
      expect([folder, (await site.ask(`/${SLUG.public}/${folder}`)).status]).toEqual([folder, 404]);
    for (const file of site.files(SLUG.public).filter((name) => /\.(html|svg|js)$/.test(name)))
      expect((await site.ask(`/${SLUG.public}/${file}`)).body, file).not.toContain('sourceMappingURL');
    for (const path of ['/embed.js', '/embed-resize.js']) {
      expect((await site.ask(path)).body).not.toContain('sourceMappingURL');
      expect((await site.ask(`${path}.map`)).status).toBe(404);
    }
  });

  it('says of a fault of its own that there was one, and nothing else', async () => {
    const releases = join(site.data, 'releases', SLUG.public);
    for (const number of readdirSync(releases).filter((name) => /^\d+$/.test(name)))
      rmSync(join(releases, number, 'files', 'feed.rss'), { force: true });
    const answer = await site.ask(`/${SLUG.public}/feed.rss`, { headers: { 'accept-encoding': 'identity' } });
    expect([answer.status, answer.body]).toEqual([500, 'Something went wrong on our side.\n']);
    expect(answer.headers['cache-control']).toBe('private, no-store');
    // The answer may be here before what the process wrote of it.
    const log = await eventually(
      async () => site.pharos.stderr(),
      (text) => text.includes('feed.rss'),
    );
    expect(log).toContain('feed.rss');
    expect((await site.ask(`/${SLUG.public}/`)).status).toBe(200);
  });

  it('says nothing of itself to what is no request', async () => {
    const port = Number(new URL(site.pharos.url).port);
    const saidTo = async (request: string): Promise<string> => {
      const socket = slowSocket(port, (open) => {
        open.write(request);
        return undefined;
      });
      await socket.cutAfter;
      return socket.said();
    };
    const nothing = /^HTTP\/1\.1 \d{3} [\w ]+\r\nConnection: close\r\nCache-Control: no-store\r\n\r\n$/;
    const garbage = await saidTo('NONSENSE\r\n\r\n');
    expect(garbage).toMatch(nothing);
    expect(garbage).toContain(' 400 ');
    const large = await saidTo(`GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Large: ${'x'.repeat(64 * 1024)}\r\n\r\n`);
    expect(large).toMatch(nothing);
    expect(large).toContain(' 431 ');
  });

  it(`cuts off ${SLOW_SOCKETS} clients that take too long over a head, and who takes too long over a body`, async () => {
    const cuts = await Promise.all([...slowHeads, ...slowBodies].map(({ cutAfter }) => cutAfter));
    expect(cuts.filter((ms) => ms === null)).toEqual([]);
    for (const { said } of slowHeads) expect(said()).toMatch(/^(HTTP\/1\.1 408 Request Timeout\r\n.*)?$/s);
  });

  it('cuts off who asks for much and reads nothing', async () => {
    expect(await stalledReader.cutAfter).not.toBeNull();
  });
});
