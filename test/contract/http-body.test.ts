import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import zlib from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { toEpochMs } from '../../src/model/time.ts';
import { createHttp, type Http, type HttpLimits } from '../../src/sync/http/http.ts';
import type { HttpQuestion } from '../../src/sync/http/http-faults.ts';
import { faultOf } from '../helpers/fault-of.ts';
import { type RawServer, type Respond, reply, startRawServer } from '../helpers/raw-server.ts';

const MIB = 1024 * 1024;
let server: RawServer | null = null;
let http: Http | null = null;

afterEach(async () => {
  await http?.close();
  await server?.close();
});

async function ask(respond: Respond, question: Partial<HttpQuestion> = {}, limits: Partial<HttpLimits> = {}) {
  server = await startRawServer(respond);
  http = createHttp({ limits });
  return http.request(
    { method: 'GET', url: `${server.origin}/list?page=1`, headers: {}, ...question },
    { now: () => toEpochMs(0) },
  );
}

const send =
  (bytes: Uint8Array): Respond =>
  (socket) =>
    socket.write(bytes);

describe('a body that is packed', () => {
  const value = { monitors: [{ id: 1, name: 'é' }] };
  const plain = Buffer.from(JSON.stringify(value));
  const packings = {
    gzip: zlib.gzipSync,
    'x-gzip': zlib.gzipSync,
    deflate: zlib.deflateSync,
    br: zlib.brotliCompressSync,
    zstd: zlib.zstdCompressSync,
  } as const;

  for (const [encoding, pack] of Object.entries(packings)) {
    it(`${encoding} is unpacked`, async () => {
      const answer = await ask(send(reply(pack(plain), { fields: { 'content-encoding': encoding } })));
      expect(answer.payload).toEqual(value);
    });

    it(`${encoding} that is cut off anywhere is refused, though its length is as announced`, async () => {
      const packed = pack(plain);
      server = await startRawServer((socket, { path }) =>
        socket.write(reply(packed.subarray(0, Number(path.slice(1))), { fields: { 'content-encoding': encoding } })),
      );
      http = createHttp();
      for (let length = 1; length < packed.length; length += 1) {
        const question = { method: 'GET', url: `${server.origin}/${length}`, headers: {} } as const;
        const fault = await faultOf(http.request(question, { now: () => toEpochMs(0) }));
        expect(fault.code).toBe('UPSTREAM_SHAPE');
      }
    });
  }

  it('deflate without its wrapper is unpacked', async () => {
    const answer = await ask(send(reply(zlib.deflateRawSync(plain), { fields: { 'content-encoding': 'deflate' } })));
    expect(answer.payload).toEqual(value);
  });

  it('twice, or by a name we do not know, is refused', async () => {
    const twice = zlib.gzipSync(zlib.gzipSync(plain));
    const fault = await faultOf(ask(send(reply(twice, { fields: { 'content-encoding': 'gzip, gzip' } }))));
    expect(fault.code).toBe('UPSTREAM_SHAPE');
    const other = await faultOf(ask(send(reply(plain, { fields: { 'content-encoding': 'toString' } }))));
    expect(other.code).toBe('UPSTREAM_SHAPE');
  });

  for (const [encoding, createPack] of Object.entries({
    gzip: zlib.createGzip,
    deflate: zlib.createDeflate,
    br: () => zlib.createBrotliCompress({ params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 5 } }),
    zstd: zlib.createZstdCompress,
  })) {
    it(`a ${encoding} bomb is given up before it takes memory`, async () => {
      // Packed piece by piece, so that this process never held what it unpacks to.
      const piece = Buffer.alloc(MIB, '[');
      const pieces = Readable.from(Array.from({ length: 300 }, () => piece));
      const bomb = reply(await buffer(pieces.pipe(createPack())), { fields: { 'content-encoding': encoding } });
      const before = process.memoryUsage.rss();
      const fault = await faultOf(ask(send(bomb)));
      expect(fault.code).toBe('UPSTREAM_SHAPE');
      expect(fault.message).toMatch(/decompress to more than/);
      expect(process.memoryUsage.rss() - before).toBeLessThan(64 * MIB);
    });
  }

  it('much alike monitors pack far below the bound and are taken', async () => {
    const monitors = Array.from({ length: 10_000 }, (_, id) => ({ id, name: `service ${id}`, status: 'up' }));
    const packed = zlib.brotliCompressSync(Buffer.from(JSON.stringify(monitors)));
    const answer = await ask(send(reply(packed, { fields: { 'content-encoding': 'br' } })));
    expect(answer.payload).toHaveLength(10_000);
  });
});

describe('a body that is too large', () => {
  it('is given up when it says so, and when it does not', async () => {
    const large = Buffer.alloc(17 * MIB, ' ');
    expect((await faultOf(ask(send(reply(large))))).code).toBe('UPSTREAM_SHAPE');
    const chunked = Buffer.concat([
      Buffer.from('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n'),
      Buffer.from(`${large.length.toString(16)}\r\n`),
      large,
    ]);
    expect((await faultOf(ask(send(chunked)))).code).toBe('UPSTREAM_SHAPE');
  });

  it('a string of 10 MB is cut, and its neighbours are kept', async () => {
    const { payload } = await ask(send(reply(JSON.stringify([{ id: 1, name: 'x'.repeat(10 * MIB) }, { id: 2 }]))));
    expect(payload).toEqual([{ id: 1, name: 'x'.repeat(65_536) }, { id: 2 }]);
  });
});

describe('a body that was cut off', () => {
  const body = JSON.stringify({ success: true, data: { monitors: [{ id: 1, status: 'up' }] } });
  const framings: Readonly<Record<string, (cut: number) => Buffer>> = {
    'of announced length': (cut) =>
      Buffer.concat([
        Buffer.from(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`),
        Buffer.from(body.slice(0, cut)),
      ]),
    'in chunks': (cut) =>
      Buffer.from(
        `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n${cut === 0 ? '' : `${cut.toString(16)}\r\n${body.slice(0, cut)}\r\n`}`,
      ),
    'that ends with its connection': (cut) =>
      Buffer.from(
        `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n${body.slice(0, cut)}`,
      ),
  };

  for (const [framing, bytesOf] of Object.entries(framings)) {
    it(`${framing} is refused at every byte`, async () => {
      server = await startRawServer((socket, { path }) => socket.end(bytesOf(Number(path.slice(1)))));
      http = createHttp();
      for (let cut = 0; cut < body.length; cut += 1) {
        const question = { method: 'GET', url: `${server.origin}/${cut}`, headers: {} } as const;
        const fault = await faultOf(http.request(question, { now: () => toEpochMs(0) }));
        expect(['UPSTREAM_SHAPE', 'UPSTREAM_UNREACHABLE']).toContain(fault.code);
      }
    });
  }

  it('whole and ending with its connection it is taken when only its end can close it', async () => {
    const whole = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n${body}`;
    expect((await ask((socket) => socket.end(whole))).payload).toEqual(JSON.parse(body));
  });

  it('a number or a text that ends with its connection is refused: 12 may have been 123', async () => {
    const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n';
    expect((await faultOf(ask((socket) => socket.end(`${head}12`)))).code).toBe('UPSTREAM_SHAPE');
    expect((await faultOf(ask((socket) => socket.end(`${head}ok`), { reads: 'text' }))).code).toBe('UPSTREAM_SHAPE');
  });
});

describe('a body that is no JSON', () => {
  it('HTML with status 200 is unreadable, whatever it says inside', async () => {
    const fault = await faultOf(ask(send(reply('{"ok":true}', { fields: { 'content-type': 'text/html' } }))));
    expect(fault.code).toBe('UPSTREAM_SHAPE');
    expect(fault.message).toContain('the response is text/html, not JSON');
  });

  it('HTML that claims to be JSON is unreadable, and nothing of it is quoted', async () => {
    const fault = await faultOf(ask(send(reply('<html>SECRET</html>'))));
    expect(fault.code).toBe('UPSTREAM_SHAPE');
    expect(fault.message).not.toContain('SECRET');
    expect(fault.message).not.toContain('html');
  });

  it('types of JSON are known by their suffix; without a type it is refused unless the question allows any', async () => {
    const problem = reply('{"a":1}', { fields: { 'content-type': 'Application/Problem+JSON; charset=utf-8' } });
    expect((await ask(send(problem))).payload).toEqual({ a: 1 });
    const untyped = reply('{"a":1}', { fields: { 'content-type': null } });
    expect((await faultOf(ask(send(untyped)))).code).toBe('UPSTREAM_SHAPE');
    expect((await ask(send(untyped), { acceptAnyType: true })).payload).toEqual({ a: 1 });
  });

  it('an empty answer is refused, unless the question allows it', async () => {
    expect((await faultOf(ask(send(reply(''))))).code).toBe('UPSTREAM_SHAPE');
    const nothing = reply('', { status: 204, fields: { 'content-type': null, 'content-length': null } });
    expect((await ask(send(nothing), { allowEmpty: true })).payload).toBeNull();
    const farewell = reply('bye', { fields: { 'content-type': 'text/plain' } });
    expect((await ask(send(farewell), { allowEmpty: true })).payload).toBeNull();
  });

  it('a byte order mark is passed over', async () => {
    expect((await ask(send(reply('\ufeff{"a":1}')))).payload).toEqual({ a: 1 });
  });

  it('text is given as it is, well formed', async () => {
    const bytes = Buffer.concat([Buffer.from('ok '), Buffer.from([0xff])]);
    expect((await ask(send(reply(bytes)), { reads: 'text' })).payload).toBe('ok \ufffd');
  });

  it('200,000 levels are refused without a stack overflow', async () => {
    const deep = '['.repeat(200_000) + ']'.repeat(200_000);
    const fault = await faultOf(ask(send(reply(deep))));
    expect(fault.code).toBe('UPSTREAM_SHAPE');
    expect(fault.message).toContain('nests deeper than 64');
  });

  it('headers that no HTTP has are unreadable', async () => {
    expect((await faultOf(ask((socket) => socket.end('GARBAGE\r\n\r\n')))).code).toBe('UPSTREAM_SHAPE');
    const wide = `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(70_000)}\r\n\r\n`;
    expect((await faultOf(ask((socket) => socket.end(wide)))).code).toBe('UPSTREAM_SHAPE');
  });
});
