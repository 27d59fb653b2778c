/**
 * What becomes of a client's socket, whatever the client does. Node times requests but only ends sockets, and one that
 * ignores that keeps its descriptor for ever.
 */

import type { Server } from 'node:http';
import type { Socket } from 'node:net';

export interface SocketLimits {
  /** After the last word to a client, in ms. */
  readonly lingerMs: number;
  /** The longest that a client may take for one answer, in ms; streams are kept apart. */
  readonly answerMs: number;
  /** Open sockets; beyond them those go that have said least for longest. */
  readonly socketsMax: number;
}

/** Most systems give a process 1,024 descriptors or more, and files need some. */
export const SOCKET_LIMITS: SocketLimits = { lingerMs: 1_000, answerMs: 120_000, socketsMax: 8_192 };

/** What is said to requests that never became one. */
const UNREADABLE: Readonly<Record<string, string>> = {
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
};

/** Watches over the sockets of a server. */
export function guardSockets(server: Server, limits: SocketLimits = SOCKET_LIMITS): void {
  /** Without a whole request yet, oldest first; and those that had one, longest ago first. */
  const silent = new Set<Socket>();
  const known = new Set<Socket>();

  function shed(): void {
    if (silent.size + known.size <= limits.socketsMax) return;
    const [quietest] = silent.size > 0 ? silent : known;
    quietest?.destroy();
  }

  server.on('connection', (socket: Socket) => {
    silent.add(socket);
    socket.once('close', () => {
      silent.delete(socket);
      known.delete(socket);
    });
    // A client that has ended its side may still be read to; one that ignores that we have ended ours is cut.
    socket.once('finish', () => destroyLater(socket, limits.lingerMs));
    shed();
  });
  server.on('request', ({ socket }) => {
    silent.delete(socket);
    known.delete(socket);
    known.add(socket);
  });
  server.on('clientError', ({ code }: NodeJS.ErrnoException, socket) => {
    const status = UNREADABLE[code ?? ''] ?? '400 Bad Request';
    if (socket.writable) socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nCache-Control: no-store\r\n\r\n`);
    destroyLater(socket as Socket, limits.lingerMs);
  });
}

/** Cuts a socket that is still there after a while. */
function destroyLater(socket: Socket, ms: number): void {
  const timer = setTimeout(() => socket.destroy(), ms).unref();
  socket.once('close', () => clearTimeout(timer));
}
