/** Who sends a request, where proxies stand in front. By hand: proxy-addr trusts addresses, and operators know a number. */

import type { IncomingMessage } from 'node:http';
import { isIP, SocketAddress } from 'node:net';

/**
 * The address of the client, counted from the right of X-Forwarded-For by the number of proxies that are ours: each of
 * them appends whom it heard from. What stands further left was written by whoever likes to. An entry that is no
 * address makes the nearest address we can trust the answer.
 *
 * @param remoteAddress of the socket
 * @param xForwardedFor the header as node gives it; several lines count as one list
 * @param trustedHops how many proxies in front append to the header; 0: the header is not looked at
 * @returns an IP address in its shortest form, IPv4 where it is one inside IPv6; '' when there is none
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

/** Whether a proxy sent a request, as far as can be told: it says so, or somebody on this machine asks for another host. */
export function isForwarded({ headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>): boolean {
  if (FORWARDING.some((name) => headers[name] !== undefined)) return true;
  return LOOPBACK.test(socket.remoteAddress ?? '') && !LOOPBACK_HOST.test(headers.host ?? '');
}

const FORWARDING = ['x-forwarded-for', 'forwarded', 'via', 'x-real-ip'];
const LOOPBACK = /^(?:::ffff:)?127\.|^::1$/;
const LOOPBACK_HOST = /^(?:localhost|127\.[\d.]+|\[::1\])\.?(?::\d+)?$/i;

/** The network that tries are counted for: an IPv6 client commands at least a /64 of addresses. */
export function clientNetwork(address: string): string {
  if (isIP(address) !== 6) return address;
  return `${splitGroups(address).slice(0, 4).join(':')}::/64`;
}

function plainAddress(text: string): string | null {
  const bare = /^\[([0-9a-f:.]+)\](?::\d{1,5})?$/i.exec(text)?.[1] ?? /^([0-9.]+):\d{1,5}$/.exec(text)?.[1] ?? text;
  const family = isIP(bare);
  if (family === 4) return bare;
  // A zone (`%eth0`) is a name of this machine's, not part of the address.
  if (family !== 6 || bare.includes('%')) return null;
  const { address } = new SocketAddress({ address: bare, family: 'ipv6' });
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(address)?.[1] ?? address;
}

/** The eight groups of a full IPv6 address. */
function splitGroups(address: string): readonly string[] {
  const [head = '', tail] = address.split('::');
  const split = (part: string): string[] => (part === '' ? [] : part.split(':'));
  if (tail === undefined) return split(head);
  const [left, right] = [split(head), split(tail)];
  return [...left, ...Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0'), ...right];
}
