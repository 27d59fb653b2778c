import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { type Certificate, makeCertificate } from '../helpers/certificate.ts';
import { type DnsServer, startDnsServer } from '../helpers/dns-server.ts';
import { startForwardProxy } from '../helpers/forward-proxy.ts';
import { tryFields } from '../helpers/own-checks.ts';
import { type RawServer, type Respond, reply, startRawServer } from '../helpers/raw-server.ts';

let open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(open.map((close) => close()));
  open = [];
});

async function serve(respond: Respond, tls?: Certificate): Promise<RawServer> {
  const server = await startRawServer(respond, tls);
  open.push(server.close);
  return server;
}

async function names(zone: Parameters<typeof startDnsServer>[0]): Promise<DnsServer> {
  const server = await startDnsServer(zone);
  open.push(server.stop);
  return server;
}

/** A port that refuses. */
async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const VALID = { from: new Date(Date.UTC(2020, 0, 1)), to: new Date(Date.UTC(2100, 0, 1)) };
const PAST = { from: new Date(Date.UTC(2020, 0, 1)), to: new Date(Date.UTC(2021, 0, 1)) };
const ok: Respond = (socket) => void socket.write(reply('fine'));

describe('an answer', () => {
  it('of 2xx is a success without assertions, and nothing else is', async () => {
    const server = await serve((socket, { path }) => void socket.write(reply('', { status: Number(path.slice(1)) })));
    const fault = async (status: number) =>
      (await tryFields({ url: `${server.origin}/${status}`, follow_redirects: false })).fault;
    expect(await Promise.all([200, 204, 299, 301, 404, 500].map(fault))).toEqual([
      null,
      null,
      null,
      'status 301',
      'status 404',
      'status 500',
    ]);
  });

  it('is judged by its assertions alone where one is about the status', async () => {
    const server = await serve(
      (socket) =>
        void socket.write(reply('nothing here', { status: 404, fields: { 'x-build': '17', 'x-city': 'Zürich' } })),
    );
    const base = { url: server.origin };
    const status = (comparator: string, target: number) => ({ status_code_assertions: [{ comparator, target }] });
    expect(await tryFields({ ...base, ...status('eq', 404) })).toMatchObject({ fault: null, hasAnswered: true });
    expect((await tryFields({ ...base, ...status('lt', 400) })).fault).toBe(
      'status 404, expected the status to be below 400',
    );
    const expected = status('eq', 404);
    const body = (comparator: string, target?: string) =>
      tryFields({ ...base, ...expected, body_assertions: [{ comparator, target }] }).then(({ fault }) => fault);
    expect(await body('contains', 'nothing')).toBeNull();
    expect(await body('contains', 'hunter2')).toBe('expected the body to contain what is configured');
    expect(await body('empty')).toBe('expected the body to be empty');
    const header = (key: string, comparator: string, target?: string) =>
      tryFields({ ...base, ...expected, header_assertions: [{ key, comparator, target }] }).then(({ fault }) => fault);
    expect(await header('X-Build', 'gte', '9')).toBeNull();
    expect(await header('X-City', 'eq', 'Zürich')).toBeNull();
    expect(await header('X-Missing', 'not_empty')).toBe('expected the header X-Missing not to be empty');
    // Without one about the status, it has to be a success as well.
    expect((await tryFields({ ...base, body_assertions: [{ comparator: 'contains', target: 'nothing' }] })).fault).toBe(
      'status 404',
    );
  });

  it('may be packed, and its assertions see what is in it', async () => {
    const packed = gzipSync('all is well');
    const server = await serve((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${packed.length}\r\n\r\n`);
      socket.write(packed);
    });
    const { fault } = await tryFields({
      url: server.origin,
      body_assertions: [{ comparator: 'eq', target: 'all is well' }],
    });
    expect(fault).toBeNull();
  });

  it('with a huge body is read no further than a megabyte', async () => {
    let sent = 0;
    const server = await serve((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100000000000\r\n\r\n');
      const more = (): void => {
        while (!socket.destroyed && socket.write(Buffer.alloc(64 * 1024))) sent += 64 * 1024;
      };
      socket.on('drain', more);
      more();
    });
    expect((await tryFields({ url: server.origin })).fault).toBeNull();
    const judged = await tryFields({
      url: server.origin,
      body_assertions: [{ comparator: 'not_contains', target: 'x' }],
    });
    expect(judged.fault).toContain('larger than 1 MB');
    expect(sent).toBeLessThan(64 * 1024 * 1024);
  });
});

describe('a request', () => {
  it('has its method, headers, body and authentication', async () => {
    const server = await serve(ok);
    await tryFields({
      url: `${server.origin}/health?full=1`,
      method: 'POST',
      headers: [{ key: 'X-Key', value: 'secret' }],
      body: '{"a":1}',
      auth: { user: 'ann', password: 'pass word' },
    });
    await tryFields({ url: server.origin, auth: { token: 'abc' } });
    expect(server.requests[0]).toMatchObject({
      method: 'POST',
      path: '/health?full=1',
      body: '{"a":1}',
      headers: { 'x-key': 'secret', authorization: `Basic ${Buffer.from('ann:pass word').toString('base64')}` },
    });
    expect(server.requests[1]).toMatchObject({ method: 'GET', headers: { authorization: 'Bearer abc' } });
  });

  it('follows redirects, and takes no secret to another origin, not even back', async () => {
    const other = await serve(
      (socket) => void socket.write(reply('', { status: 302, fields: { location: `${first.origin}/back` } })),
    );
    const first = await serve((socket, { path }) => {
      if (path === '/back') socket.write(reply('fine'));
      else if (path === '/own') socket.write(reply('', { status: 301, fields: { location: other.origin } }));
      else socket.write(reply('', { status: 302, fields: { location: '/own' } }));
    });
    const secrets = { headers: [{ key: 'X-Key', value: 'secret' }], auth: { token: 'abc' } };
    expect((await tryFields({ url: first.origin, ...secrets })).fault).toBeNull();
    const sent = (server: RawServer) =>
      server.requests.map(({ path, headers }) => [path, headers['x-key'], headers['authorization']]);
    expect(sent(first)).toEqual([
      ['/', 'secret', 'Bearer abc'],
      ['/own', 'secret', 'Bearer abc'],
      ['/back', undefined, undefined],
    ]);
    expect(sent(other)).toEqual([['/', undefined, undefined]]);
    const kept = await serve(
      (socket) => void socket.write(reply('', { status: 307, fields: { location: other.origin } })),
    );
    expect((await tryFields({ url: kept.origin, method: 'POST', body: 'secret' })).fault).toBe(
      'it redirects the request to another origin, which does not get its body',
    );
    expect(other.requests).toHaveLength(1);
  });

  it('follows a redirect whose address is UTF-8 without escapes, as browsers do', async () => {
    const server = await serve(
      (socket, { path }) =>
        void socket.write(path === '/' ? reply('', { status: 302, fields: { location: '/café' } }) : reply('fine')),
    );
    expect((await tryFields({ url: server.origin })).fault).toBeNull();
    expect(server.requests.map(({ path }) => path)).toEqual(['/', '/caf%C3%A9']);
  });

  it('ends when it is sent in circles, or to what is no address', async () => {
    const server = await serve(
      (socket, { path }) =>
        void socket.write(
          reply('', { status: 302, fields: { location: path === '/file' ? 'file:///etc/passwd' : '/' } }),
        ),
    );
    expect((await tryFields({ url: server.origin })).fault).toBe('more than 10 redirects');
    expect(server.requests).toHaveLength(11);
    expect((await tryFields({ url: `${server.origin}/file` })).fault).toBe('it redirects to an address that is none');
  });

  it('goes through the configured proxy', async () => {
    const server = await serve(ok);
    const proxy = await startForwardProxy();
    open.push(proxy.close);
    const { port } = new URL(server.origin);
    const tried = await tryFields(
      { url: `http://shop.test:${port}/` },
      { proxy: { http: proxy.url, https: proxy.url, direct: '' } },
    );
    expect(tried).toMatchObject({ fault: null, certificateEndsAt: null });
    expect(proxy.asked).toHaveLength(1);
    expect(server.requests).toHaveLength(1);
  });
});

describe('a server that', () => {
  const stall = { timeout: 600 };

  it('refuses, resets, cuts short, lies about its length or speaks nonsense is told by its fault', async () => {
    const fault = async (respond: Respond) => (await tryFields({ url: (await serve(respond)).origin })).fault;
    expect(await tryFields({ url: `http://127.0.0.1:${await closedPort()}` })).toMatchObject({
      fault: 'the connection was refused',
      hasAnswered: false,
    });
    expect(await fault((socket) => void socket.resetAndDestroy())).toBe('the connection was reset');
    expect(await fault((socket) => void socket.end())).toBe(
      'the connection was closed before the response was complete',
    );
    expect(await fault((socket) => void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\nshort'))).toMatch(
      /^the (connection was closed before|response has another length)/,
    );
    expect(await fault((socket) => void socket.end('SSH-2.0-OpenSSH\r\n'))).toBe('the response is not valid HTTP');
    expect(
      await fault(
        (socket) => void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 7\r\n\r\nhello'),
      ),
    ).toMatch(/^the response (is not valid HTTP|has another length)/);
  });

  it('takes no connection is told so', async () => {
    // Its process is stopped, and its queue of connections full, so that the kernel answers no further ones.
    const script =
      "require('net').createServer().listen(0, '127.0.0.1', 1, function () { console.log(this.address().port) })";
    const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const port = Number(line.toString());
    child.kill('SIGSTOP');
    const fillers = Array.from({ length: 8 }, () => connect(port, '127.0.0.1').on('error', () => undefined));
    open.push(async () => {
      for (const filler of fillers) filler.destroy();
      child.kill('SIGKILL');
    });
    await once(fillers[0] as Socket, 'connect');
    await expect
      .poll(async () => (await tryFields({ type: 'tcp', uri: `127.0.0.1:${port}`, ...stall })).fault)
      .toBe('no connection within 0.6 s');
    expect(await tryFields({ url: `http://127.0.0.1:${port}/`, ...stall })).toMatchObject({
      fault: 'no connection within 0.6 s',
      hasAnswered: false,
    });
  });

  it('stalls is told by what it did not do in time', async () => {
    const silent = await serve(() => undefined);
    const half = await serve((socket) => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf'));
    const plain = await serve(() => undefined);
    const silentNames = await names({ 'shop.test': { fails: 'silent' } });
    const tries = await Promise.all([
      tryFields({ url: silent.origin, ...stall }),
      tryFields({ url: half.origin, ...stall }),
      // It waits for an HTTP request, which a TLS handshake is none of.
      tryFields({ url: plain.origin.replace('http:', 'https:'), ...stall }),
      tryFields({ url: 'http://shop.test/', ...stall }, { resolver: [silentNames.address] }),
    ]);
    expect(tries.map(({ fault }) => fault)).toEqual([
      'no response within 0.6 s',
      'the response was not complete within 0.6 s',
      'no TLS handshake within 0.6 s',
      'its name was not looked up within 0.6 s',
    ]);
    expect(tries.map(({ hasAnswered }) => hasAnswered)).toEqual([false, true, false, false]);
  });
});

describe('a certificate', () => {
  const visit = async (host: string, span: typeof VALID, { isTrusted = true } = {}) => {
    const certificate = makeCertificate(host, span);
    const server = await serve(ok, certificate);
    return tryFields({ url: server.origin }, { ca: isTrusted ? certificate.cert : null });
  };

  it('that is good tells when it ends', async () => {
    expect(await visit('127.0.0.1', VALID)).toMatchObject({
      fault: null,
      certificateEndsAt: VALID.to.getTime(),
      phases: { tls: expect.any(Number) },
    });
  });

  it('that is expired, of another name or of nobody is a failure of a target that is there', async () => {
    const tries = await Promise.all([
      visit('127.0.0.1', PAST),
      visit('shop.example', VALID),
      visit('127.0.0.1', VALID, { isTrusted: false }),
    ]);
    expect(tries.map(({ fault, hasAnswered }) => [fault, hasAnswered])).toEqual([
      ['its certificate has expired', true],
      ['its certificate is for another name', true],
      ['its certificate is self-signed', true],
    ]);
  });
});

describe('a name', () => {
  it('is looked up at the configured servers, for the wanted version of IP', async () => {
    const server = await serve(ok);
    const { port } = new URL(server.origin);
    const dns = await names({ 'shop.test': { A: ['127.0.0.1'] }, 'six.test': { AAAA: ['::1'] } });
    const visit = (host: string, fields = {}) =>
      tryFields({ url: `http://${host}:${port}/`, ...fields }, { resolver: [dns.address] });
    expect(await visit('shop.test')).toMatchObject({ fault: null, phases: { name: expect.any(Number) } });
    expect(server.requests[0]?.headers['host']).toBe(`shop.test:${port}`);
    expect((await visit('shop.test', { ip_version: 6 })).fault).toBe('its name has no such record in DNS');
    expect((await visit('missing.test')).fault).toBe('its name does not exist in DNS');
    expect((await visit('six.test', { ip_version: 4 })).fault).toBe('its name has no such record in DNS');
  });
});

describe('a TCP check', () => {
  it('is a success once it is connected', async () => {
    const server = await serve(() => undefined);
    const { host } = new URL(server.origin);
    expect(await tryFields({ type: 'tcp', uri: host })).toMatchObject({
      fault: null,
      phases: { connect: expect.any(Number) },
    });
    expect((await tryFields({ type: 'tcp', uri: `127.0.0.1:${await closedPort()}` })).fault).toBe(
      'the connection was refused',
    );
  });
});

describe('what is measured', () => {
  it('is the time of each part, and in all no less than the server takes', async () => {
    const server = await serve((socket) => void setTimeout(() => socket.write(reply('ok')), 120));
    const { phases } = await tryFields({ url: server.origin });
    expect(phases.firstByte).toBeGreaterThanOrEqual(115);
    expect(phases.total).toBeGreaterThanOrEqual((phases.firstByte ?? 0) + (phases.connect ?? 0) - 1);
    expect(phases.name).toBeUndefined();
    expect(phases.tls).toBeUndefined();
  });

  it('leaves no connection open', async () => {
    const server = await serve(ok);
    await tryFields({ url: server.origin });
    await expect.poll(() => server.connections()).toBe(0);
  });
});
