/**
 * Closes clients' sockets in time. Node has time limits for requests but only ends sockets, and a client that ignores this
 * keeps its file descriptor open forever.
 */

import type { Server } from 'node:http';
import type { Socket } from 'node:net';

export type SocketLimits = typeof SOCKET_LIMITS;

export const SOCKET_LIMITS = {
  /** Time in ms between ending a connection and cutting it. */
  lingerMs: 1_000,
  /** Maximum time in ms for a client to receive one response; streams are exempt. */
  answerMs: 120_000,
  /**
   * Maximum number of open sockets. Above it, those that have been silent longest are closed. Most systems give a process
   * 1,024 descriptors or more, and files need some.
   */
  socketsMax: 8_192,
};

/** Responses to unreadable requests. */
const UNREADABLE: Readonly<Record<string, string>> = {
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
};

/** Requests within this time count as simultaneous, because the order of sockets is kept only roughly. */
const HEARD_AGAIN_MS = 1_000;

/**
 * Guards the sockets of a server.
 *
 * @returns a function to call with the socket of every request, and the milliseconds of the process
 */
export function guardSockets(
  server: Server,
  limits: SocketLimits = SOCKET_LIMITS,
): (socket: Socket, now: number) => void {
  /**
   * `silent`: sockets without a complete request, oldest first. `known`: other sockets with the time of their last request,
   * oldest first.
   */
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
    // A client that has ended its side can still receive data. One that ignores that we have ended ours is cut.
    socket.once('finish', () => destroyLater(socket, limits.lingerMs));
    shed();
  });
  server.on('clientError', ({ code }: NodeJS.ErrnoException, socket) => {
    const status = UNREADABLE[code ?? ''] ?? '400 Bad Request';
    if (socket.writable) socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nCache-Control: no-store\r\n\r\n`);
    destroyLater(socket as Socket, limits.lingerMs);
  });
  return (socket, now) => {
    const before = known.get(socket);
    if (before !== undefined && now - before < HEARD_AGAIN_MS) return;
    silent.delete(socket);
    known.delete(socket);
    known.set(socket, now);
  };
}

/** Destroys a socket that is still open after a while. */
function destroyLater(socket: Socket, ms: number): void {
  const timer = setTimeout(() => socket.destroy(), ms).unref();
  socket.once('close', () => clearTimeout(timer));
}
