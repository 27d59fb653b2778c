/** Refuses addresses in private networks, unless they come from the configuration. */

import { type LookupAddress, lookup } from 'node:dns';
import { lookup as lookupAll } from 'node:dns/promises';
import { BlockList, isIP, type LookupFunction } from 'node:net';

const PRIVATE = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const)
  PRIVATE.addSubnet(network, prefix, 'ipv4');
// The first and the last four contain IPv4 addresses. Mapped ones (::ffff:0:0/96) are checked as IPv4.
for (const [network, prefix] of [
  ['::', 96],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
  ['100::', 64],
  ['::ffff:0:0:0', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['2001::', 32],
  ['2002::', 16],
] as const)
  PRIVATE.addSubnet(network, prefix, 'ipv6');

/** The error for a private address, in the form of network errors. */
export function privateAddress(): Error {
  return Object.assign(new Error('not a public address'), { code: 'EPRIVATE' });
}

function isPrivateAddress(address: string): boolean {
  return PRIVATE.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

/** Whether the host is a private IP address. Names have to be resolved first. */
export function isPrivateHost({ hostname }: URL): boolean {
  const bare = hostname.replace(/^\[|\]$/g, '');
  return isIP(bare) !== 0 && isPrivateAddress(bare);
}

/** Whether a name resolves to a private address here; for requests through a proxy, which resolves names itself. */
export async function leadsToPrivate({ hostname }: URL): Promise<boolean> {
  const found = await lookupAll(hostname.replace(/^\[|\]$/g, ''), { all: true });
  return found.some(({ address }) => isPrivateAddress(address));
}

/** Resolves a name, and refuses it if any of its addresses is private. */
export const lookupPublic: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, found) => {
    const addresses: readonly LookupAddress[] = found ?? [];
    const [first] = addresses;
    const refusal = error ?? (addresses.some(({ address }) => isPrivateAddress(address)) ? privateAddress() : null);
    if (refusal !== null || first === undefined) callback(refusal ?? privateAddress(), '', 0);
    else if (options.all === true) callback(null, [...addresses]);
    else callback(null, first.address, first.family);
  });
};
