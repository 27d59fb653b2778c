/**
 * Finds the client's address behind proxies. By hand: proxy-addr is configured with trusted addresses, but operators
 * know the number of proxies.
 */

import type { IncomingMessage } from 'node:http';
import { isIP, SocketAddress } from 'node:net';

/**
 * The address of the client, counted from the right of X-Forwarded-For by the number of our own proxies, because each
 * of them appends the address it received the request from. Anything further left can be forged. If an entry is not an
 * address, the nearest trusted address is returned.
 *
 * @param remoteAddress of the socket
 * @param xForwardedFor the header as node gives it; several lines count as one list
 * @param trustedHops number of our proxies that append to the header; 0: ignore the header
 * @returns an IP address in its shortest form, IPv4 if embedded in IPv6; '' if there is none
 */
export function clientAddressOf(
  remoteAddress: string | undefined,
  xForwardedFor: string | readonly string[] | undefined,
  trustedHops: number,
): string {
  let client = plainAddress(remoteAddress ?? '') ?? '';
  if (trustedHops === 0 || xForwardedFor === undefined) return client;
  const entries = (typeof xForwardedFor === 'string' ? xForwardedFor : xForwardedFor.join(',')).split(',');
  for (const entry of entries.reverse().slice(0, trustedHops)) {
    const address = plainAddress(entry.trim());
    if (address === null) return client;
    client = address;
  }
  return client;
}

/**
 * Whether a request seems to come from a proxy: it has a proxy's header, or it comes from this machine but for another
 * host.
 */
export function isForwarded({ headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>): boolean {
  if (FORWARDING.some((name) => headers[name] !== undefined)) return true;
  return LOOPBACK.test(socket.remoteAddress ?? '') && !LOOPBACK_HOST.test(headers.host ?? '');
}

const FORWARDING = ['x-forwarded-for', 'forwarded', 'via', 'x-real-ip'];
const LOOPBACK = /^(?:::ffff:)?127\.|^::1$/;
const LOOPBACK_HOST = /^(?:localhost|127\.[\d.]+|\[::1\])\.?(?::\d+)?$/i;

/** The network whose attempts are counted together: an IPv6 client usually controls a whole /64. */
export function clientNetwork(address: string): string {
  if (isIP(address) !== 6) return address;
  const [left = [], right = []] = address.split('::').map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0');
  return `${[...left, ...zeros, ...right].slice(0, 4).join(':')}::/64`;
}

function plainAddress(text: string): string | null {
  const bare = /^\[([0-9a-f:.]+)\](?::\d{1,5})?$/i.exec(text)?.[1] ?? /^([0-9.]+):\d{1,5}$/.exec(text)?.[1] ?? text;
  const family = isIP(bare);
  if (family === 4) return bare;
  // A zone (`%eth0`) is local to this machine, not part of the address.
  if (family !== 6 || bare.includes('%')) return null;
  const { address } = new SocketAddress({ address: bare, family: 'ipv6' });
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(address)?.[1] ?? address;
}
