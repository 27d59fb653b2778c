import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Asked, startTestSandbox, type TestSandbox } from '../helpers/sandbox.ts';
import { FAULT_NAMES, type Fault, type FaultName } from '../sandbox/faults.ts';

let sandbox: TestSandbox;
beforeEach(async () => {
  sandbox = await startTestSandbox();
});
afterEach(() => sandbox.stop());

function ask(path = '/monitors'): Promise<Asked> {
  const headers = { 'x-api-key': sandbox.credentials.serverMonitor.apiKey };
  return sandbox.ask(`/server-monitor${path}`, { headers });
}

/** What the wire holds after a request, up to `ms` later or the end of the connection. */
function raw(path: string, ms: number): Promise<{ text: string; ended: boolean; error: string | null }> {
  const { promise, resolve } = Promise.withResolvers<{ text: string; ended: boolean; error: string | null }>();
  const socket = connect(sandbox.port, '127.0.0.1');
  let text = '';
  const timer = setTimeout(() => finish(false, null), ms);
  const finish = (ended: boolean, error: string | null): void => {
    clearTimeout(timer);
    socket.destroy();
    resolve({ text, ended, error });
  };
  socket.on('data', (chunk) => {
    text += chunk.toString('utf8');
  });
  socket.on('end', () => finish(true, null));
  socket.on('error', (error: NodeJS.ErrnoException) => finish(true, error.code ?? 'unknown'));
  const key = sandbox.credentials.serverMonitor.apiKey;
  socket.write(`GET /server-monitor${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nx-api-key: ${key}\r\n\r\n`);
  return promise;
}

function bodyOf(text: string): string {
  return text.slice(text.indexOf('\r\n\r\n') + 4);
}

function lengthOf(text: string): number {
  return Number(/content-length: (\d+)/i.exec(text)?.[1] ?? Number.NaN);
}

describe('faults of the connection', () => {
  it('down: resets without a byte', async () => {
    sandbox.faults.set('server-monitor', 'down');
    expect(await raw('/monitors', 2_000)).toEqual({ text: '', ended: true, error: 'ECONNRESET' });
  });

  it('slow: is silent for its time, then answers as if nothing were', async () => {
    sandbox.faults.set('server-monitor', { name: 'slow', delayMs: 200 });
    const [early, late] = await Promise.all([raw('/monitors', 100), ask()]);
    expect([early.text, early.ended, late.status]).toEqual(['', false, 200]);
  });

  it('drip: sends single bytes', async () => {
    sandbox.faults.set('server-monitor', { name: 'drip', delayMs: 100 });
    const { text, ended } = await raw('/test', 1_200);
    expect(ended).toBe(false);
    expect(bodyOf(text).length).toBeGreaterThan(2);
    expect(bodyOf(text).length).toBeLessThan(20);
    sandbox.faults.set('server-monitor', { name: 'drip', delayMs: 1 });
    expect((await ask('/test')).json).toMatchObject({ success: true });
  });

  it('stall: sends half of the body and then nothing', async () => {
    sandbox.faults.set('server-monitor', 'stall');
    const { text, ended } = await raw('/monitors', 250);
    expect(ended).toBe(false);
    expect(bodyOf(text).length).toBe(Math.ceil(lengthOf(text) / 2));
  });

  it('truncated: promises more than it sends', async () => {
    sandbox.faults.set('server-monitor', 'truncated');
    const { text, ended } = await raw('/monitors', 2_000);
    expect(ended).toBe(true);
    expect(bodyOf(text).length).toBeLessThan(lengthOf(text));
    await expect(ask()).rejects.toThrow();
  });

  it('truncated-close: ends in the middle, and nothing on the wire tells', async () => {
    sandbox.faults.set('server-monitor', 'truncated-close');
    const { text, ended } = await raw('/monitors', 2_000);
    expect(ended).toBe(true);
    expect(text).not.toMatch(/content-length|chunked/i);
    const { status, json, text: body } = await ask();
    expect([status, json]).toEqual([200, undefined]);
    expect(body.length).toBeGreaterThan(100);
  });

  it('redirect: sends elsewhere, by default to this server under another name', async () => {
    sandbox.faults.set('server-monitor', 'redirect');
    const { status, headers } = await ask('/status?x=1');
    const here = `http://localhost:${sandbox.port}/server-monitor/status?x=1`;
    expect([status, headers.get('location')]).toEqual([302, here]);
    sandbox.faults.set('server-monitor', { name: 'redirect', location: 'http://169.254.169.254/' });
    expect((await ask()).headers.get('location')).toBe('http://169.254.169.254/');
  });

  it('gzip-bomb: is small on the wire and large when unpacked, with the true answer at its end', async () => {
    sandbox.faults.set('server-monitor', { name: 'gzip-bomb', bytes: 8 * 1024 * 1024 });
    const wire = await raw('/test', 2_000);
    const { text, json } = await ask('/test');
    expect(wire.text.length).toBeLessThan(64 * 1024);
    expect(text.length).toBeGreaterThan(8 * 1024 * 1024);
    expect(json).toMatchObject({ success: true });
  });
});

describe('faults of the answer', () => {
  it.each(['400', '401', '403', '404', '405', '415', '422', '429', '500', '503'] as const)(
    '%s: is the status, for every upstream',
    async (name) => {
      for (const upstream of sandbox.upstreams) {
        sandbox.faults.set(upstream, name);
        expect((await sandbox.ask(`/${upstream}/`)).status).toBe(Number(name));
      }
    },
  );

  it.each([
    ['seconds', '7', '7'],
    ['a date', 'Sat, 21 Nov 2026 10:00:00 GMT', 'Sat, 21 Nov 2026 10:00:00 GMT'],
    ['nonsense', 'soon', 'soon'],
    ['far too long', '1000000000', '1000000000'],
    ['nothing', null, null],
  ])('429: says when to come back as %s', async (_, retryAfter, expected) => {
    sandbox.faults.set('server-monitor', { name: '429', retryAfter });
    expect((await ask()).headers.get('retry-after')).toBe(expected);
  });

  it.each([
    ['garbage', (answer: Asked) => answer.status === 200 && answer.text !== '' && answer.json === undefined],
    ['html', (answer: Asked) => answer.status === 200 && answer.text.startsWith('<!doctype html>')],
    ['empty', (answer: Asked) => answer.status === 200 && answer.text === ''],
    ['wrong-content-type', (answer: Asked) => answer.headers.get('content-type') === 'text/plain'],
    ['missing-arrays', (answer: Asked) => JSON.stringify(answer.json) === '{"success":true,"data":{"count":9}}'],
    ['empty-lists', (answer: Asked) => answer.text === '{"success":true,"data":{"monitors":[],"count":9}}'],
    ['duplicate-ids', (answer: Asked) => answer.text.match(/"id":1,/g)?.length === 2],
    ['unknown-words', (answer: Asked) => answer.text.match(/"status":"frobnicated"/g)?.length === 9],
    ['wrong-types', (answer: Asked) => answer.text.includes('"id":"not a number"')],
    ['numbers-as-strings', (answer: Asked) => answer.text.includes('"is_active":"1"')],
  ] as const)('%s: is as it says', async (name, isSo) => {
    sandbox.faults.set('server-monitor', name);
    expect(isSo(await ask())).toBe(true);
  });

  it('paging-shift: a reader of pages meets a record twice when one is inserted, and misses one when one is deleted', async () => {
    const read = async (fault: Fault): Promise<number[]> => {
      sandbox.faults.set('server-monitor', fault);
      const pages = [await ask('/incidents?per_page=2'), await ask('/incidents?per_page=2&page=2')];
      sandbox.faults.set('server-monitor', null);
      return pages.flatMap(({ json }) =>
        (json as { data: { incidents: { id: number }[] } }).data.incidents.map((one) => one.id),
      );
    };
    // Enough records that ten may be held back.
    for (const { key } of sandbox.world.services.slice(0, 8)) sandbox.world.force(key, 'down');
    const inserted = await read({ name: 'paging-shift', direction: 'insert' });
    const deleted = await read({ name: 'paging-shift', direction: 'delete' });
    const all = ((await ask('/incidents')).json as { data: { incidents: { id: number }[] } }).data.incidents.map(
      (one) => one.id,
    );
    expect(new Set(inserted).size).toBe(3);
    expect(inserted[2]).toBe(inserted[1]);
    expect(deleted).toEqual([all[0], all[1], all[3], all[4]]);
  });
});

describe('setting faults', () => {
  it('leaves other upstreams and other paths alone', async () => {
    sandbox.faults.set('server-monitor', { name: '500', path: '/incidents' });
    expect([(await ask('/incidents')).status, (await ask('/monitors')).status]).toEqual([500, 200]);
  });

  it('can last for a number of requests', async () => {
    sandbox.faults.set('server-monitor', { name: '503', times: 2 });
    const statuses = [(await ask()).status, (await ask()).status, (await ask()).status];
    expect(statuses).toEqual([503, 503, 200]);
  });

  it('is recorded in what was asked, with a null status for a cut connection', async () => {
    await ask('/status?x=1');
    sandbox.faults.set('server-monitor', 'down');
    await ask().catch(() => undefined);
    sandbox.faults.clear();
    await ask('/nothing');
    expect(sandbox.requests.of('server-monitor').map(({ path, status }) => [path, status])).toEqual([
      ['/status?x=1', 200],
      ['/monitors', null],
      ['/nothing', 404],
    ]);
    expect(sandbox.requests.of('server-monitor')[0]).toMatchObject({ at: sandbox.now(), method: 'GET' });
    expect([sandbox.requests.count('server-monitor'), sandbox.requests.count('uptime')]).toEqual([3, 0]);
    sandbox.requests.clear();
    expect(sandbox.requests.count('server-monitor')).toBe(0);
  });

  it('answers something for every name there is', async () => {
    const quick: Partial<Fault> = { delayMs: 1, bytes: 1_000 };
    const silent: readonly FaultName[] = ['stall', 'down', 'truncated'];
    for (const name of FAULT_NAMES.filter((one) => !silent.includes(one))) {
      sandbox.faults.set('server-monitor', { name, ...quick });
      expect((await ask('/test')).status).toBeGreaterThanOrEqual(200);
    }
  });
});

describe('the control addresses', () => {
  const post = (path: string, body: unknown): Promise<Asked> => sandbox.ask(`/-/${path}`, { method: 'POST', body });

  it('set and take back a fault', async () => {
    expect((await post('faults', { upstream: 'server-monitor', fault: '503' })).status).toBe(200);
    expect((await ask()).status).toBe(503);
    await post('faults', { upstream: 'server-monitor', fault: { name: '429', retryAfter: '5' } });
    expect((await ask()).headers.get('retry-after')).toBe('5');
    await post('faults', { upstream: 'server-monitor', fault: null });
    expect((await ask()).status).toBe(200);
  });

  it('force a service and give it back', async () => {
    await post('force', { monitor: 'edge/2', status: 'down' });
    expect((await ask('/monitors/2')).json).toMatchObject({ data: { monitor: { status: 'down' } } });
    await post('force', { monitor: 'api', status: null });
    expect((await ask('/monitors/2')).json).toMatchObject({ data: { monitor: { status: 'up' } } });
  });

  it('show the world', async () => {
    sandbox.world.force('api', 'degraded');
    const { json } = await sandbox.ask('/-/world');
    expect(json).toMatchObject({
      now: sandbox.now(),
      services: expect.arrayContaining([{ id: 2, key: 'api', status: 'degraded', since: sandbox.now() }]),
      incidents: expect.arrayContaining([expect.objectContaining({ service: 'database' })]),
    });
  });

  it.each([
    ['faults', { upstream: 'nobody', fault: 'down' }, 400],
    ['faults', { upstream: 'uptime', fault: 'sulking' }, 400],
    ['faults', { upstream: 'uptime', fault: { delayMs: 5 } }, 400],
    ['faults', [], 400],
    ['force', { monitor: 'edge/99', status: 'down' }, 404],
    ['force', { monitor: 'api', status: 'sulking' }, 400],
    ['nothing', {}, 404],
    ['world', {}, 405],
  ])('refuse POST %s %o with %i', async (path, body, status) => {
    expect((await post(path, body)).status).toBe(status);
  });

  it('take JSON only, so that a web page cannot post to them', async () => {
    const headers = { 'content-type': 'text/plain' };
    const body = JSON.stringify({ upstream: 'uptime', fault: 'down' });
    expect((await sandbox.ask('/-/faults', { method: 'POST', body, headers })).status).toBe(415);
    expect(sandbox.faults.get('uptime')).toBeNull();
  });
});

describe('the server', () => {
  it('answers 404 outside the upstreams and 413 to a body without end', async () => {
    const large = await sandbox.ask('/uptime/rpc/x', { method: 'POST', body: 'x'.repeat(5 * 1024 * 1024) });
    expect([(await sandbox.ask('/nobody')).status, large.status]).toEqual([404, 413]);
  });

  it('logs each request without its query or its secrets', async () => {
    const lines: string[] = [];
    const logged = await startTestSandbox({ log: (line) => lines.push(line) });
    const headers = { 'x-api-key': logged.credentials.serverMonitor.apiKey };
    await logged.ask('/server-monitor/status?key=secret', { headers });
    await logged.stop();
    expect(lines).toEqual(['GET /server-monitor/status 200']);
  });

  it('stops at once, whoever is still waiting', async () => {
    const waiting = await startTestSandbox();
    waiting.faults.set('server-monitor', 'stall');
    const asked = waiting.ask('/server-monitor/test').catch(() => 'cut');
    await expect.poll(() => waiting.requests.count('server-monitor')).toBe(1);
    await waiting.stop();
    expect(await asked).toBe('cut');
  });
});
