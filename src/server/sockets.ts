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

/** Who said something within this is taken to have said it at once: the order of those that have is kept as roughly. */
const HEARD_AGAIN_MS = 1_000;

/**
 * Watches over the sockets of a server.
 *
 * @returns what is to be told of every request, by its socket
 */
export function guardSockets(server: Server, limits: SocketLimits = SOCKET_LIMITS): (socket: Socket) => void {
  /** Without a whole request yet, oldest first; and those that had one, longest ago first, with when that was. */
  const silent = new Set<Socket>();
  const known = new Map<Socket, number>();

  function shed(): void {
    if (silent.size + known.size <= limits.socketsMax) return;
    const [quietest] = silent.size > 0 ? silent : known.keys();
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
  server.on('clientError', ({ code }: NodeJS.ErrnoException, socket) => {
    const status = UNREADABLE[code ?? ''] ?? '400 Bad Request';
    if (socket.writable) socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nCache-Control: no-store\r\n\r\n`);
    destroyLater(socket as Socket, limits.lingerMs);
  });
  return (socket) => {
    const now = performance.now();
    const before = known.get(socket);
    if (before !== undefined && now - before < HEARD_AGAIN_MS) return;
    silent.delete(socket);
    known.delete(socket);
    known.set(socket, now);
  };
}

/** Cuts a socket that is still there after a while. */
function destroyLater(socket: Socket, ms: number): void {
  const timer = setTimeout(() => socket.destroy(), ms).unref();
  socket.once('close', () => clearTimeout(timer));
}
