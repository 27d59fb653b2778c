/** An HTTP proxy on loopback. It alone knows where the names of a test lead, so that what reaches a server came through it. */

import { createServer, request, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

export interface ForwardProxy {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string;
  /** What it was asked for: `GET http://…` or `CONNECT host:port`. */
  readonly asked: readonly string[];
  readonly close: () => Promise<void>;
}

/** @param login  `user:password` that it asks for; default: none */
export async function startForwardProxy({
  login,
  refuses = false,
}: {
  readonly login?: string;
  readonly refuses?: boolean;
} = {}): Promise<ForwardProxy> {
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  const wanted = login === undefined ? null : `Basic ${Buffer.from(login).toString('base64')}`;
  const mayPass = (given: string | undefined): boolean => !refuses && (wanted === null || given === wanted);

  const server: Server = createServer((incoming, response) => {
    asked.push(`${incoming.method} ${incoming.url}`);
    if (!mayPass(incoming.headers['proxy-authorization'])) {
      response.writeHead(407, { 'proxy-authenticate': 'Basic' }).end();
      return;
    }
    const target = new URL(incoming.url ?? '');
    const { 'proxy-authorization': _, ...headers } = incoming.headers;
    const onward = request(
      { host: '127.0.0.1', port: target.port, path: target.pathname, method: incoming.method, headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    onward.on('error', () => response.writeHead(502).end());
    incoming.pipe(onward);
  });
  server.on('connect', (incoming, socket: Socket) => {
    asked.push(`CONNECT ${incoming.url}`);
    if (!mayPass(incoming.headers['proxy-authorization'])) {
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
      return;
    }
    const onward = connect(Number(incoming.url?.split(':').at(-1)), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      onward.pipe(socket).pipe(onward);
    });
    sockets.add(onward);
    onward.on('error', () => socket.destroy());
    socket.on('error', () => onward.destroy());
  });
  server.on('connection', (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
    },
  };
}
