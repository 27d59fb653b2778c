import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { isPrivateHost, lookupPublic } from '../../../src/sync/http/public-only.ts';

const look = promisify(lookupPublic) as unknown as (host: string, options: object) => Promise<unknown>;
const urlOf = (address: string): URL => new URL(`https://${address.includes(':') ? `[${address}]` : address}/`);

it.each([
  '0.0.0.1',
  '10.255.255.255',
  '100.64.0.0',
  '100.127.255.255',
  '127.255.255.254',
  '169.254.169.254',
  '172.16.0.0',
  '172.31.255.255',
  '192.168.0.1',
  '198.19.255.255',
  '239.1.1.1',
  '::',
  '::1',
  '::7f00:1',
  '::ffff:10.0.0.1',
  '::ffff:0:10.0.0.1',
  '64:ff9b::10.0.0.1',
  '64:ff9b:1::a00:1',
  '100::1',
  '2001:0:a00:1::1',
  '2002:a00:1::',
  'fc00::1',
  'fdff::1',
  'fe80::1',
  'febf::1',
  'fec0::1',
  'ff02::1',
])('%s is not public, as a number and as what a name leads to', async (address) => {
  expect(isPrivateHost(urlOf(address))).toBe(true);
  for (const all of [true, false]) await expect(look(address, { all })).rejects.toMatchObject({ code: 'EPRIVATE' });
});

it.each([
  ['8.8.8.8', 4],
  ['100.63.255.255', 4],
  ['100.128.0.0', 4],
  ['172.15.255.255', 4],
  ['172.32.0.0', 4],
  ['192.0.1.1', 4],
  ['198.20.0.0', 4],
  ['223.255.255.255', 4],
  ['2606:4700::1111', 6],
  ['2001:4860:4860::8888', 6],
  ['2001:1::1', 6],
  ['::ffff:8.8.8.8', 6],
] as const)('%s is', async (address, family) => {
  expect(isPrivateHost(urlOf(address))).toBe(false);
  expect(await look(address, { all: true })).toEqual([{ address, family }]);
});
