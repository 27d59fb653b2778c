/** Where a server listens, and why it cannot. */

import { StatusError } from '../../errors.ts';

interface Place {
  readonly port: number;
  readonly host: string;
}

/** Who listens on every address is asked at this machine's own. */
const EVERY_ADDRESS: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** The address of what listens there, for somebody on this machine, without a slash at the end. */
export function originOf({ port, host }: Place): string {
  const own = EVERY_ADDRESS[host] ?? host;
  return `http://${own.includes(':') ? `[${own}]` : own}:${port}`;
}

/** Why there is no listening there, in words and with the remedy. */
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
