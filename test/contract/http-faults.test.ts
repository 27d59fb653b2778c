import { inspect } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { type EpochMs, toEpochMs } from '../../src/model/time.ts';
import { createHttp, type Http, type HttpContext, type HttpLimits } from '../../src/sync/http/http.ts';
import type { HttpQuestion } from '../../src/sync/http/http-faults.ts';
import { faultOf } from '../helpers/fault-of.ts';
import { type RawServer, type Respond, reply, startRawServer } from '../helpers/raw-server.ts';

const NOW = toEpochMs(Date.UTC(2026, 10, 21, 9, 0, 0));
/** Tenths of a second where the product waits for seconds. */
const SHORT: Partial<HttpLimits> = { connectMs: 300, headersMs: 300, idleMs: 300, totalMs: 900 };
const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';

let servers: RawServer[] = [];
let clients: Http[] = [];

afterEach(async () => {
  for (const client of clients) await client.close();
  for (const server of servers) await server.close();
  servers = [];
  clients = [];
});

async function serve(respond: Respond): Promise<RawServer> {
  const server = await startRawServer(respond);
  servers.push(server);
  return server;
}

function client(limits: Partial<HttpLimits> = {}): Http {
  const http = createHttp({ limits });
  clients.push(http);
  return http;
}

function ask(http: Http, url: string, more: Partial<HttpQuestion & HttpContext> = {}) {
  const { permit, signal, totalMs, ...question } = more;
  return http.request(
    { method: 'GET', headers: {}, ...question, url },
    {
      now: () => NOW,
      ...(permit === undefined ? {} : { permit }),
      ...(signal === undefined ? {} : { signal }),
      ...(totalMs === undefined ? {} : { totalMs }),
    },
  );
}

/** Sends `text` one byte at a time. */
function drip(socket: Parameters<Respond>[0], text: string, everyMs: number): void {
  let index = 0;
  const timer = setInterval(() => {
    if (socket.destroyed || index === text.length) clearInterval(timer);
    else socket.write(text[index++] ?? '');
  }, everyMs);
}

describe('an answer that does not come', () => {
  const slow: Readonly<Record<string, Respond>> = {
    'no byte at all': () => undefined,
    'headers byte by byte': (socket) => drip(socket, `${HEAD}content-length: 2\r\n\r\n{}`, 50),
    'a body byte by byte': (socket) => {
      socket.write(`${HEAD}content-length: 500\r\n\r\n`);
      drip(socket, '{}'.padEnd(500), 50);
    },
    'a body that stalls': (socket) => socket.write(`${HEAD}content-length: 500\r\n\r\n{"a":`),
    'endless white space': (socket) => {
      socket.write(`${HEAD}transfer-encoding: chunked\r\n\r\n`);
      const timer = setInterval(() => (socket.destroyed ? clearInterval(timer) : socket.write('1\r\n \r\n')), 50);
    },
  };

  for (const [what, respond] of Object.entries(slow)) {
    it(`${what}: is given up in time, and its connection with it`, async () => {
      const server = await serve(respond);
      const startedAt = performance.now();
      const fault = await faultOf(ask(client(SHORT), server.origin));
      expect(fault.code).toBe('UPSTREAM_UNREACHABLE');
      expect(fault.context['fault']).toBe('timeout');
      // The total deadline, and the half second by which undici's own timers are late.
      expect(performance.now() - startedAt).toBeLessThan(900 + 700);
      await expect.poll(() => server.connections()).toBe(0);
    });
  }

  it('a hundred of them leave no connection behind', async () => {
    const server = await serve((socket) => drip(socket, HEAD, 20));
    const http = client({ ...SHORT, totalMs: 200, connectionsMax: 50 });
    const faults = await Promise.all(Array.from({ length: 100 }, () => faultOf(ask(http, server.origin))));
    expect(new Set(faults.map((fault) => fault.code))).toEqual(new Set(['UPSTREAM_UNREACHABLE']));
    await expect.poll(() => server.connections()).toBe(0);
  });

  it('an error page that drips does not keep its status waiting', async () => {
    const server = await serve((socket) => {
      socket.write('HTTP/1.1 401 No\r\ncontent-length: 1000\r\n\r\n');
      drip(socket, 'x'.repeat(1000), 50);
    });
    const startedAt = performance.now();
    const fault = await faultOf(ask(client({ ...SHORT, totalMs: 5000 }), server.origin));
    expect(fault.code).toBe('UPSTREAM_REFUSED');
    expect(performance.now() - startedAt).toBeLessThan(2500);
    await expect.poll(() => server.connections()).toBe(0);
  });

  it('the deadline of one request may be shorter than usual, never longer', async () => {
    const server = await serve(() => undefined);
    const fault = await faultOf(ask(client({ totalMs: 60_000 }), server.origin, { totalMs: 100 }));
    expect(fault.message).toContain('no complete response within 0.1 s');
    const longer = await faultOf(ask(client({ totalMs: 100 }), server.origin, { totalMs: 60_000 }));
    expect(longer.message).toContain('no complete response within 0.1 s');
  });

  it('a caller that stops waiting stops the request', async () => {
    const server = await serve(() => undefined);
    const stop = new AbortController();
    const answer = faultOf(ask(client(), server.origin, { signal: stop.signal }));
    await expect.poll(() => server.requests.length).toBe(1);
    stop.abort();
    expect((await answer).context['fault']).toBe('stopped');
    await expect.poll(() => server.connections()).toBe(0);
  });
});

describe('a connection that breaks', () => {
  it('refused, reset before or in the answer, or closed without one: unreachable', async () => {
    const closed = await serve(() => undefined);
    await closed.close();
    servers = [];
    expect((await faultOf(ask(client(), closed.origin))).context['fault']).toBe('connect');
    const breaks: readonly Respond[] = [
      (socket) => socket.resetAndDestroy(),
      (socket) => socket.end(),
      (socket) => socket.write(`${HEAD}content-length: 500\r\n\r\n{`, () => socket.resetAndDestroy()),
    ];
    for (const respond of breaks) {
      const server = await serve(respond);
      const fault = await faultOf(ask(client(), server.origin));
      expect(fault.code).toBe('UPSTREAM_UNREACHABLE');
      expect(fault.retryable).toBe(true);
      expect(server.requests).toHaveLength(1);
    }
  });

  it('each request is sent once, also when the server closes connections that it said to keep', async () => {
    const server = await serve((socket, { index }) => {
      if (index % 2 === 0) socket.write(reply('{}'));
      else socket.destroy();
    });
    const http = client();
    for (let turn = 0; turn < 5; turn += 1) {
      expect((await ask(http, `${server.origin}/${2 * turn}`)).payload).toEqual({});
      expect((await faultOf(ask(http, `${server.origin}/${2 * turn + 1}`))).code).toBe('UPSTREAM_UNREACHABLE');
    }
    expect(server.requests.map(({ path }) => path)).toEqual(Array.from({ length: 10 }, (_, index) => `/${index}`));
  });

  it('a name that DNS does not know is unreachable', async () => {
    const fault = await faultOf(ask(client(), 'http://nowhere.invalid/status'));
    expect(fault.code).toBe('UPSTREAM_UNREACHABLE');
    expect(fault.context['fault']).toBe('name');
  });
});

describe('a redirect', () => {
  const to = (location: string, status = 302): Buffer => reply('', { status, fields: { location } });

  it('inside the origin is followed three times, each hop asking for its permit', async () => {
    const server = await serve((socket, { path }) =>
      socket.write(path === '/3' ? reply('{"a":1}') : to(`/${Number(path[1]) + 1}`)),
    );
    let permits = 0;
    const permit = async (): Promise<void> => {
      permits += 1;
    };
    expect((await ask(client(), `${server.origin}/0`, { permit })).payload).toEqual({ a: 1 });
    expect(permits).toBe(4);
  });

  it('to an address in UTF-8 or Latin-1 without escapes is followed as browsers do', async () => {
    for (const encoding of ['utf8', 'latin1'] as const) {
      const server = await serve((socket, { path }) =>
        socket.write(path === '/' ? Buffer.from(to('/café').toString(), encoding) : reply('{"a":1}')),
      );
      expect((await ask(client(), `${server.origin}/`)).payload).toEqual({ a: 1 });
      expect(server.requests.map(({ path }) => path)).toEqual(['/', '/caf%C3%A9']);
    }
  });

  it('that never ends is given up after four requests', async () => {
    const server = await serve((socket) => socket.write(to('/again')));
    const fault = await faultOf(ask(client(), `${server.origin}/again`));
    expect(fault.code).toBe('UPSTREAM_REFUSED');
    expect(server.requests).toHaveLength(4);
  });

  it('to another origin, another scheme, a link-local address or with credentials is never followed', async () => {
    const other = await serve((socket) => socket.write(reply('{}')));
    const places = [
      `${other.origin}/status`,
      other.origin.replace('http:', ''),
      'https://HERE/status',
      'http://169.254.169.254/latest/meta-data/',
      'http://[fe80::1]/',
      'ftp://127.0.0.1/',
      'file:///etc/passwd',
      'http://user:secret@127.0.0.1/',
      'not an address://',
      '',
    ];
    for (const place of places) {
      const server = await serve((socket, { headers }) =>
        socket.write(to(place.replace('HERE', headers['host'] ?? ''))),
      );
      const fault = await faultOf(ask(client(), server.origin, { headers: { 'x-api-key': 'KEY' } }));
      expect(fault.code).toBe('UPSTREAM_REFUSED');
      expect(server.requests.length).toBeLessThanOrEqual(4);
      expect(fault.message).not.toContain('secret');
    }
    expect(other.requests).toHaveLength(0);
  });

  it('of a POST is not followed, so that nothing is sent twice', async () => {
    for (const status of [301, 302, 303, 307, 308]) {
      const server = await serve((socket) => socket.write(to('/elsewhere', status)));
      const fault = await faultOf(ask(client(), server.origin, { method: 'POST', body: { password: 'x' } }));
      expect(fault.code).toBe('UPSTREAM_REFUSED');
      expect(server.requests).toHaveLength(1);
    }
  });
});

describe('a status', () => {
  const EXPECTED = {
    UPSTREAM_REFUSED: [300, 304, 400, 401, 403, 404, 405, 410, 418, 422, 451],
    UPSTREAM_LIMITED: [429],
    UPSTREAM_FAILED: [408, 500, 501, 502, 503, 504, 529, 599],
  } as const;

  it('becomes one of our codes, and its body is not looked at', async () => {
    const server = await serve((socket, { path }) => {
      const status = Number(path.slice(1));
      socket.write(status === 304 ? `HTTP/1.1 304 X\r\n\r\n` : reply('<SECRET>', { status }));
    });
    const http = client();
    for (const [code, statuses] of Object.entries(EXPECTED)) {
      for (const status of statuses) {
        const fault = await faultOf(ask(http, `${server.origin}/${status}`));
        expect(`${status} ${fault.code}`).toBe(`${status} ${code}`);
        expect(fault.context['status']).toBe(status);
        expect(inspect(fault, { depth: 9 })).not.toContain('SECRET');
      }
    }
  });

  it('that the question accepts is read like any other', async () => {
    const server = await serve((socket) => socket.write(reply('{"error":"none"}', { status: 404 })));
    const answer = await ask(client(), server.origin, { acceptStatuses: [404] });
    expect(answer).toMatchObject({ status: 404, payload: { error: 'none' } });
  });

  it('429 and 503 carry the instant that they name, measured by their own clock', async () => {
    const server = await serve((socket, { path }) =>
      socket.write(
        reply('', {
          status: path === '/503' ? 503 : 429,
          fields:
            path === '/date'
              ? { date: 'Sat, 21 Nov 2026 08:00:00 GMT', 'retry-after': 'Sat, 21 Nov 2026 08:00:45 GMT' }
              : { 'retry-after': '120' },
        }),
      ),
    );
    const http = client();
    expect((await faultOf(ask(http, `${server.origin}/429`))).retryAt).toBe(NOW + 120_000);
    expect((await faultOf(ask(http, `${server.origin}/503`))).retryAt).toBe(NOW + 120_000);
    expect((await faultOf(ask(http, `${server.origin}/date`))).retryAt).toBe(NOW + 45_000);
  });
});

describe('what is sent and told', () => {
  it('a body goes as JSON, with what we can unpack and no more headers than needed', async () => {
    const server = await serve((socket) => socket.write(reply('{}')));
    await ask(client(), `${server.origin}/a?b=c`, {
      method: 'POST',
      body: { d: 1 },
      headers: { 'X-API-Key': 'KEY', Accept: 'text/x-own' },
    });
    const [request] = server.requests;
    expect(request).toMatchObject({ method: 'POST', path: '/a?b=c' });
    expect(request?.headers).toMatchObject({
      'content-type': 'application/json',
      'accept-encoding': 'gzip, br, zstd, deflate',
      'x-api-key': 'KEY',
      accept: 'text/x-own',
    });
    expect(Object.keys(request?.headers ?? {}).toSorted()).toEqual(
      [
        'accept',
        'accept-encoding',
        'connection',
        'content-length',
        'content-type',
        'host',
        'user-agent',
        'x-api-key',
      ].toSorted(),
    );
  });

  it("the upstream's clock is compared with ours", async () => {
    const server = await serve((socket) =>
      socket.write(reply('{}', { fields: { date: 'Sat, 21 Nov 2026 09:01:30 GMT' } })),
    );
    expect((await ask(client(), server.origin)).clockSkewMs).toBe(90_000);
  });

  it('how many more requests the upstream says that it takes', async () => {
    const server = await serve((socket) => socket.write(reply('{}', { fields: { 'X-RateLimit-Remaining': '17' } })));
    expect((await ask(client(), server.origin)).remaining).toBe(17);
    const silent = await serve((socket) => socket.write(reply('{}')));
    expect((await ask(client(), silent.origin)).remaining).toBe(null);
  });

  it('bytes come as they are, of whatever type', async () => {
    const server = await serve((socket) => socket.write(reply('a\0b', { fields: { 'content-type': 'image/png' } })));
    expect((await ask(client(), server.origin, { reads: 'bytes' })).payload).toEqual(Buffer.from('a\0b'));
  });

  it('only public addresses are asked where the operator did not write them', async () => {
    const server = await serve((socket) => socket.write(reply('{}')));
    const http = createHttp({ limits: {}, isPublicOnly: true });
    clients.push(http);
    const { port } = new URL(server.origin);
    for (const host of [
      '127.0.0.1',
      'localhost',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '0.0.0.0',
      '169.254.169.254',
      '10.1.2.3',
    ]) {
      const fault = await faultOf(ask(http, `http://${host}:${port}/`));
      expect([host, fault.code, fault.context['fault']]).toEqual([host, 'UPSTREAM_UNREACHABLE', 'address']);
    }
    expect(server.requests).toHaveLength(0);
  });

  it('without a permit nothing leaves, and its error comes out as it is', async () => {
    const server = await serve((socket) => socket.write(reply('{}')));
    const refusal = new Error('no');
    const permit = async (): Promise<void> => Promise.reject(refusal);
    await expect(ask(client(), server.origin, { permit })).rejects.toBe(refusal);
    expect(server.requests).toHaveLength(0);
  });

  it('addresses and headers that cannot be sent are faults of the configuration', async () => {
    const http = client();
    for (const url of ['nonsense', 'ftp://127.0.0.1/', 'http://user:secret@127.0.0.1/'])
      expect((await faultOf(ask(http, url))).code).toBe('CONFIG_INVALID');
    const server = await serve((socket) => socket.write(reply('{}')));
    const fault = await faultOf(ask(http, server.origin, { headers: { 'x-api-key': 'CANARY\r\nx: y' } }));
    expect(fault.code).toBe('CONFIG_INVALID');
    expect(inspect(fault, { depth: 9 })).not.toContain('CANARY');
    expect(server.requests).toHaveLength(0);
  });

  it('no fault tells a header, a query or a body', async () => {
    const faulty: readonly Respond[] = [
      (socket) => socket.resetAndDestroy(),
      (socket) => socket.end('GARBAGE\r\n\r\n'),
      (socket) => socket.write(reply('', { status: 401 })),
      (socket) => socket.write(reply('', { status: 302, fields: { location: '//other/' } })),
      (socket) => socket.write(reply('{"a')),
      () => undefined,
    ];
    for (const respond of faulty) {
      const server = await serve(respond);
      const fault = await faultOf(
        ask(client(SHORT), `${server.origin}/path?key=CANARY-1`, {
          method: 'POST',
          headers: { authorization: 'Bearer CANARY-2' },
          body: { password: 'CANARY-3' },
        }),
      );
      expect(inspect(fault, { depth: 9, showHidden: true })).not.toContain('CANARY');
      expect(fault.message).toContain(`POST ${server.origin}/path`);
    }
  });
});

describe('now', () => {
  it('is asked when the request leaves, not before it may', async () => {
    const server = await serve((socket) => socket.write(reply('{}')));
    let clock = 0;
    const now = (): EpochMs => toEpochMs(clock);
    const permit = async (): Promise<void> => {
      clock = 5_000;
    };
    const answer = await client().request({ method: 'GET', url: server.origin, headers: {} }, { now, permit });
    expect(answer.at).toBe(5_000);
  });
});
