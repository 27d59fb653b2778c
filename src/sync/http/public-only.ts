/** Keeps requests out of networks that are not public, for addresses that the operator did not write. */

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
// The first and the last four carry IPv4 addresses inside. Those that are mapped (::ffff:0:0/96) are looked up as IPv4.
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

/** What is thrown for an address that is not public, as the network layer throws. */
export function privateAddress(): Error {
  return Object.assign(new Error('not a public address'), { code: 'EPRIVATE' });
}

function isPrivateAddress(address: string): boolean {
  return PRIVATE.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

/** Whether the host of an address is a number that is not public; a name is known only once it is looked up. */
export function isPrivateHost({ hostname }: URL): boolean {
  const bare = hostname.replace(/^\[|\]$/g, '');
  return isIP(bare) !== 0 && isPrivateAddress(bare);
}

/** Whether a name leads, for us, to an address that is not public; for requests that a proxy looks names up for. */
export async function leadsToPrivate({ hostname }: URL): Promise<boolean> {
  const found = await lookupAll(hostname.replace(/^\[|\]$/g, ''), { all: true });
  return found.some(({ address }) => isPrivateAddress(address));
}

/** Looks a name up and refuses it when any of its addresses is not public. */
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
