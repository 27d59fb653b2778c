/** A server on loopback that answers with whatever bytes a test wants, also those that no HTTP library would send. */

import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';

export interface RawRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** How many requests came before it, on any connection. */
  readonly index: number;
}

export interface RawServer {
  /** `http://127.0.0.1:<port>`, or https. */
  readonly origin: string;
  readonly requests: readonly RawRequest[];
  readonly connections: () => number;
  readonly close: () => Promise<void>;
}

export type Respond = (socket: Socket, request: RawRequest) => void;

/** Listens on a free port; `respond` is called once for each request. */
export async function startRawServer(respond: Respond, tls?: TlsOptions): Promise<RawServer> {
  const requests: RawRequest[] = [];
  const sockets = new Set<Socket>();
  const serve = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    let waiting = '';
    socket.on('data', (chunk) => {
      waiting += chunk.toString('latin1');
      for (let end = waiting.indexOf('\r\n\r\n'); end !== -1; end = waiting.indexOf('\r\n\r\n')) {
        const head = parseHead(waiting.slice(0, end));
        const next = end + 4 + Number(head.headers['content-length'] ?? 0);
        if (waiting.length < next) break;
        const request = { ...head, body: waiting.slice(end + 4, next), index: requests.length };
        waiting = waiting.slice(next);
        requests.push(request);
        respond(socket, request);
      }
    });
  };
  const server: Server = tls === undefined ? createServer(serve) : createTlsServer(tls, serve);
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    connections: () => sockets.size,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function parseHead(head: string): Pick<RawRequest, 'method' | 'path' | 'headers'> {
  const [first = '', ...lines] = head.split('\r\n');
  const [method = '', path = ''] = first.split(' ');
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const name = line.slice(0, line.indexOf(':')).toLowerCase();
    const value = line.slice(line.indexOf(':') + 1).trim();
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  return { method, path, headers };
}

/** A whole answer with its length; `fields` replace or add headers, null leaves one out. */
export function reply(
  body: string | Uint8Array,
  { status = 200, fields = {} }: { status?: number; fields?: Readonly<Record<string, string | null>> } = {},
): Buffer {
  const bytes = Buffer.from(body);
  const headers = { 'content-type': 'application/json', 'content-length': String(bytes.length), ...fields };
  const lines = Object.entries(headers).flatMap(([name, value]) => (value === null ? [] : [`${name}: ${value}`]));
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status} X\r\n${lines.join('\r\n')}\r\n\r\n`), bytes]);
}
