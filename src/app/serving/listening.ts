/** The address of a server, and errors of listening. */

import { StatusError } from '../../errors.ts';

interface Place {
  readonly port: number;
  readonly host: string;
}

/** A server that listens on all addresses is reached at the loopback address. */
const EVERY_ADDRESS: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** The address of a server for this machine, without a slash at the end. */
export function originOf({ port, host }: Place): string {
  const own = EVERY_ADDRESS[host] ?? host;
  return `http://${own.includes(':') ? `[${own}]` : own}:${port}`;
}

/** The error if a server can't listen, with the remedy. */
export function cannotListen(error: NodeJS.ErrnoException, { port, host }: Place): StatusError {
  return new StatusError({
    code: 'CONFIG_INVALID',
    message: messageOf(error, { port, host }),
    issues: [{ path: 'server.port', message: error.message }],
  });
}

function messageOf({ code, message }: NodeJS.ErrnoException, { port, host }: Place): string {
  if (code === 'EADDRINUSE')
    return `Port ${port} on ${host} is already in use. Stop the other program, or choose another port with --port (0 picks a free one).`;
  return `Cannot listen on ${host}:${port}: ${message}`;
}
