import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { toEpochMs } from '../../../src/model/time.ts';
import { type Answer, plain } from '../../../src/server/answer.ts';
import { finishHead, KEEP_ALIVE_MS, send } from '../../../src/server/send.ts';

const BODY = Buffer.from([0x3c, 0xff, 0x00, 0x80, 0x0d, 0x0a]);
const HEADERS = { 'content-type': 'image/svg+xml', etag: '"a"' };
const WHOLE = { ...HEADERS, 'content-length': BODY.length };
const ANSWERS: Readonly<Record<string, Answer>> = {
  '/bytes': { status: 200, headers: WHOLE, body: BODY },
  '/large': { status: 200, headers: { ...HEADERS, 'content-length': 100_000 }, body: Buffer.alloc(100_000, 0xe9) },
  '/same': { status: 304, headers: HEADERS, body: null },
  '/moved': { status: 301, headers: { location: '/bytes' }, body: null },
  '/part': { status: 206, headers: { ...WHOLE, 'content-range': 'bytes 0-5/9' }, body: BODY },
  '/missing': plain(404, 'Not found.'),
  '/broken': plain(500, 'Bröken.'),
};

const now = () => toEpochMs(Date.now());

let server: Server;
let isFinished = true;
let isLast = false;

beforeEach(async () => {
  [isFinished, isLast] = [true, false];
  server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, ({ method, url = '' }, response) => {
    const found = ANSWERS[url] ?? plain(200, 'The end.');
    const answer = method === 'HEAD' ? { ...found, body: null } : found;
    const head = finishHead(answer, true);
    // Without the text, Node writes the head.
    send(response, answer, { head: isFinished ? head : { ...head, text: null }, now, isLast });
  });
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
});

afterEach(() => new Promise((done) => void server.close(done)));

/** All that comes for these requests, which are sent at once; the last of them closes the connection. */
async function exchange(...requests: readonly string[]): Promise<string> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.setEncoding('latin1');
  const close = 'GET /end HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
  socket.write([...requests, close].join(''), 'latin1');
  return (await text(socket)).replaceAll(/^Date: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r$/gm, 'Date: then\r');
}

const get = (path: string, { method = 'GET', version = '1.1', more = '' } = {}): string =>
  `${method} ${path} HTTP/${version}\r\nHost: a\r\n${more}\r\n`;

describe('a finished head', () => {
  const KINDS: Readonly<Record<string, { method?: string; version?: string; more?: string }>> = {
    GET: {},
    HEAD: { method: 'HEAD' },
    'GET of HTTP/1.0': { version: '1.0' },
    'GET of HTTP/1.0 that keeps the connection': { version: '1.0', more: 'Connection: keep-alive\r\n' },
    'GET that closes the connection': { more: 'Connection: close\r\n' },
    'GET that waits to be told to go on': { more: 'Expect: 100-continue\r\n' },
  };
  for (const [kind, how] of Object.entries(KINDS)) {
    it(`gives the bytes that Node gives for the same headers: ${kind}`, async () => {
      for (const path of Object.keys(ANSWERS)) {
        isFinished = true;
        const ours = await exchange(get(path, how), get('/bytes'));
        isFinished = false;
        expect(ours).toBe(await exchange(get(path, how), get('/bytes')));
        expect(ours).toMatch(/^HTTP\/1\.1 \d{3} /);
      }
    });
  }

  it('stands before each of many answers that were asked for at once, bodies byte for byte', async () => {
    const all = await exchange(...Array.from({ length: 20 }, (_, index) => get(index % 2 ? '/bytes' : '/same')));
    expect(all.split('HTTP/1.1 304 Not Modified\r\n')).toHaveLength(11);
    expect(all.split(`\r\n\r\n${BODY.toString('latin1')}HTTP/1.1 `)).toHaveLength(11);
    expect(all.match(/^Date: then\r$/gm)).toHaveLength(21);
  });

  it('is not used for the last answer of a connection', async () => {
    isLast = true;
    expect(await exchange(get('/bytes'))).toMatch(/\r\nconnection: close\r\n[\s\S]*\r\n\r\n<ÿ/);
  });

  it('is made once for the same headers and status', () => {
    const answer = { status: 200, headers: { ...WHOLE } };
    expect(finishHead(answer, true)).toBe(finishHead(answer, true));
    expect(finishHead({ ...answer, status: 404 }, true).text).toMatch(/^HTTP\/1\.1 404 Not Found\r\n/);
    expect(finishHead(answer, true).text).toContain('\r\nstrict-transport-security: ');
    expect(finishHead(answer, false).text).not.toContain('strict-transport-security');
  });

  it('has no line that a value brings with it', () => {
    for (const value of ['a\r\nset-cookie: b', 'a\nb', 'a\u0000', '…'])
      expect(() => finishHead({ status: 200, headers: { location: value } }, false)).toThrow('Invalid character');
    expect(() => finishHead({ status: 200, headers: { 'a: b\r\nc': '1' } }, false)).toThrow(
      'must be a valid HTTP token',
    );
  });
});
