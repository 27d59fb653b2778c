import { readdirSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { guardSockets, type SocketLimits } from '../../src/server/send.ts';
import { eventually } from '../helpers/pharos.ts';

const SCALE = Number(process.env['PHAROS_TEST_SCALE'] ?? '1');
/** 5,000 at scale 10. */
const CLIENTS = Math.round(500 * SCALE);
const HEAD_MS = 1_000;

describe('sockets', () => {
  const open: { server: Server; sockets: Socket[] }[] = [];
  afterEach(async () => {
    for (const { server, sockets } of open.splice(0)) {
      for (const socket of sockets) socket.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  });

  async function listen(limits: Partial<SocketLimits> = {}) {
    const server = createServer(
      { headersTimeout: HEAD_MS, requestTimeout: HEAD_MS, connectionsCheckingInterval: 100, keepAliveTimeout: 500 },
      ({ socket }, response) => {
        heard(socket, performance.now());
        response.end('here');
      },
    );
    const heard = guardSockets(server, { lingerMs: 200, answerMs: 1_000, socketsMax: 100_000, ...limits });
    await new Promise<void>((resolve) => server.listen({ port: 0, host: '127.0.0.1', backlog: 10_000 }, resolve));
    const { port } = server.address() as AddressInfo;
    const sockets: Socket[] = [];
    open.push({ server, sockets });
    const count = (): Promise<number> =>
      new Promise((resolve, reject) =>
        server.getConnections((error, connections) => (error === null ? resolve(connections) : reject(error))),
      );
    /** A client that never ends its side, whatever we do. */
    const client = (text: string): Promise<Socket> =>
      new Promise((resolve) => {
        const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
        socket.on('error', () => undefined);
        socket.resume();
        sockets.push(socket);
        socket.once('connect', () => socket.write(text, () => resolve(socket)));
      });
    const visit = async (): Promise<number> => {
      const started = performance.now();
      expect(await (await fetch(`http://127.0.0.1:${port}/`, { headers: { connection: 'close' } })).text()).toBe(
        'here',
      );
      return performance.now() - started;
    };
    return { count, client, visit };
  }

  it(`of ${CLIENTS} half heads whose clients ignore the end are gone in time, and visitors are served meanwhile`, async () => {
    const { count, client, visit } = await listen();
    const before = readdirSync('/proc/self/fd').length;
    await Promise.all(Array.from({ length: CLIENTS }, () => client('GET / HTTP/1.1\r\nHost: x\r\nX-Half: ')));
    await eventually(count, (connected) => connected > CLIENTS / 2);
    for (let round = 0; round < 10; round += 1) await visit();
    await eventually(count, (left) => left === 0);
    await visit();
    // Of the test's own ends only what it holds is left.
    expect(readdirSync('/proc/self/fd').length - before).toBeLessThan(CLIENTS + 50);
  });

  it.each([
    ['nothing at all', ''],
    ['what is no request', 'NONSENSE\r\n\r\n'],
    ['a head that is too long', `GET / HTTP/1.1\r\nX: ${'y'.repeat(100_000)}\r\n\r\n`],
    ['a request to close after', 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'],
    ['one of many requests', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(200)],
    ['half a body', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf'],
  ])('of clients that send %s are gone in time', async (_, text) => {
    const { count, client } = await listen();
    await Promise.all(Array.from({ length: 20 }, () => client(text)));
    await eventually(count, (left) => left === 0);
  });

  it('beyond a number go, those first that have said nothing for longest, and never a visitor', async () => {
    const { count, client, visit } = await listen({ socketsMax: 50 });
    const silent = await client('');
    for (let index = 0; index < 200; index += 1) {
      await client('GET /half');
      if (index % 20 === 0) await visit();
    }
    expect(await count()).toBeLessThanOrEqual(50);
    await eventually(
      async () => silent.readableEnded || silent.destroyed,
      (isGone) => isGone,
    );
    await sleep(0);
    await visit();
  });
});
