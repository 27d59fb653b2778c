import { afterEach, describe, expect, it } from 'vitest';
import { type EpochMs, HOUR_MS, MINUTE_MS, toEpochMs } from '../../src/model/time.ts';
import { createHttp, type Http } from '../../src/sync/http/http.ts';
import { faultOf } from '../helpers/fault-of.ts';
import { type RawRequest, type RawServer, startRawServer } from '../helpers/raw-server.ts';

let server: RawServer | null = null;
let http: Http | null = null;
let now: EpochMs = toEpochMs(Date.UTC(2026, 10, 21, 9));
let requests: RawRequest['headers'][] = [];

afterEach(async () => {
  await http?.close();
  await server?.close();
  requests = [];
});

/** Answers with what `say` gives for the head of a request; asks it over one client. */
async function upstream(say: (headers: RawRequest['headers']) => string) {
  server = await startRawServer((socket, { headers }) => {
    requests.push(headers);
    socket.end(say(headers), 'latin1');
  });
  http = createHttp();
  const { origin } = server;
  const client = http;
  return (more: { headers?: Record<string, string>; path?: string; isConditional?: boolean; maxAgeMs?: number } = {}) =>
    client.request(
      {
        method: 'GET',
        url: `${origin}${more.path ?? '/'}`,
        headers: more.headers ?? {},
        isConditional: more.isConditional ?? true,
        ...(more.maxAgeMs === undefined ? {} : { maxAgeMs: more.maxAgeMs }),
      },
      { now: () => now },
    );
}

const body = (text: string, head = ''): string =>
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n${head}content-length: ${text.length}\r\nconnection: close\r\n\r\n${text}`;
const SAME = 'HTTP/1.1 304 Not Modified\r\nconnection: close\r\n\r\n';
const asked = (): (string | undefined)[] => requests.map((headers) => headers['if-none-match']);

describe('a conditional question', () => {
  it('asks whether the answer changed, and takes the one before when it did not', async () => {
    let tag = '"1"';
    const ask = await upstream((headers) =>
      headers['if-none-match'] === tag ? SAME : body(`{"tag":${tag}}`, `etag: ${tag}\r\n`),
    );
    expect((await ask()).payload).toEqual({ tag: '1' });
    expect(await ask()).toMatchObject({ status: 200, payload: { tag: '1' } });
    tag = '"2"';
    expect((await ask()).payload).toEqual({ tag: '2' });
    expect((await ask()).payload).toEqual({ tag: '2' });
    expect(asked()).toEqual([undefined, '"1"', '"1"', '"2"']);
  });

  it('is not answered by what a cache kept for longer than it may, new or the same as before', async () => {
    let age = '';
    const ask = await upstream((headers) => {
      const head = `etag: "1"\r\n${age}`;
      return headers['if-none-match'] === '"1"'
        ? SAME.replace('connection', `${head}connection`)
        : body('{"is":"there"}', head);
    });
    const young = () => ask({ maxAgeMs: 15 * MINUTE_MS });
    for (const line of ['', 'age: 0\r\n', 'age: 900\r\n', 'age: -5\r\n', 'age: soon\r\n']) {
      age = line;
      expect((await young()).payload).toEqual({ is: 'there' });
    }
    age = 'age: 2520\r\n';
    const fault = await faultOf(young());
    expect(fault).toMatchObject({ code: 'UPSTREAM_FAILED' });
    expect(fault.message).toContain('42 minutes old');
    expect((await faultOf(ask({ maxAgeMs: 15 * MINUTE_MS, isConditional: false }))).code).toBe('UPSTREAM_FAILED');
    // Who does not ask for now takes it as it is.
    expect((await ask()).payload).toEqual({ is: 'there' });
    age = '';
    expect((await young()).payload).toEqual({ is: 'there' });
  });

  it('goes by the time of the last change where there is no tag', async () => {
    const stamp = 'Sat, 21 Nov 2026 08:00:00 GMT';
    const ask = await upstream((headers) =>
      headers['if-modified-since'] === stamp ? SAME : body('{"a":1}', `last-modified: ${stamp}\r\n`),
    );
    await ask();
    expect((await ask()).payload).toEqual({ a: 1 });
    expect(requests.length).toBe(2);
  });

  it('is not asked with what was answered to another key, to another address or to a question that is not', async () => {
    const ask = await upstream(() => body('{}', 'etag: "x"\r\n'));
    await ask({ headers: { authorization: 'one' } });
    await ask({ headers: { authorization: 'two' } });
    await ask({ path: '/other' });
    await ask({ isConditional: false });
    expect(asked()).toEqual([undefined, undefined, undefined, undefined]);
  });

  it('believes a tag for an hour, since some never change', async () => {
    const ask = await upstream((headers) => ('if-none-match' in headers ? SAME : body('{}', 'etag: "x"\r\n')));
    await ask();
    now = toEpochMs(now + HOUR_MS);
    await ask();
    now = toEpochMs(now + MINUTE_MS);
    await ask();
    expect(asked()).toEqual([undefined, '"x"', undefined]);
  });

  it('takes "nothing new" for no answer where it was not asked', async () => {
    const ask = await upstream(() => SAME);
    expect((await faultOf(ask())).code).toBe('UPSTREAM_REFUSED');
  });

  it('forgets the tag when an answer comes without one, and never sends back one that no header can hold', async () => {
    const tags = ['etag: "x"\r\n', '', 'etag: "\u00e9"\r\n', ''];
    const ask = await upstream(() => body('{}', tags[requests.length - 1]));
    for (const _ of tags) await ask();
    expect(asked()).toEqual([undefined, '"x"', undefined, undefined]);
  });
});
