import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { clientAddressOf, clientNetwork, isForwarded } from '../../../src/access/client-address.ts';

describe('a request', () => {
  const sent = (headers: Readonly<Record<string, string>>, remoteAddress = '198.51.100.7') =>
    isForwarded({ headers: { host: 'status.example', ...headers }, socket: { remoteAddress } as Socket });

  it('was forwarded if a proxy says so', () => {
    expect(sent({})).toBe(false);
    for (const name of ['x-forwarded-for', 'forwarded', 'via', 'x-real-ip']) expect(sent({ [name]: '' })).toBe(true);
  });

  it('was forwarded if this machine asks for a host that is not this machine', () => {
    for (const remote of ['127.0.0.1', '127.8.9.1', '::1', '::ffff:127.0.0.1']) {
      expect(sent({}, remote)).toBe(true);
      for (const host of ['localhost', 'LOCALHOST:4321', '127.0.0.1:80', '[::1]:4321'])
        expect(sent({ host }, remote)).toBe(false);
    }
  });
});

describe('the address of a client', () => {
  it.each([
    ['the socket without proxies', '198.51.100.7', '6.6.6.6', 0, '198.51.100.7'],
    ['what the one proxy heard', '10.0.0.1', '6.6.6.6, 198.51.100.7', 1, '198.51.100.7'],
    ['what the outer of two heard', '10.0.0.1', '6.6.6.6, 198.51.100.7, 10.0.0.2', 2, '198.51.100.7'],
    ['the socket when a proxy adds nothing', '10.0.0.1', undefined, 1, '10.0.0.1'],
    ['the leftmost when there are fewer entries than proxies', '10.0.0.1', '198.51.100.7', 2, '198.51.100.7'],
    ['the proxy when what it heard is no address', '10.0.0.1', '198.51.100.7, nonsense', 2, '10.0.0.1'],
    ['the last good one when a further entry is no address', '10.0.0.1', 'nonsense, 10.0.0.2', 2, '10.0.0.2'],
    ['without the port', '10.0.0.1', '198.51.100.7:4711', 1, '198.51.100.7'],
    ['without brackets and port', '10.0.0.1', '[2001:DB8::1]:443', 1, '2001:db8::1'],
    ['IPv4 where it is inside IPv6', '::ffff:198.51.100.7', undefined, 0, '198.51.100.7'],
    ['the same for another spelling of it', '::FFFF:c633:6407', undefined, 0, '198.51.100.7'],
    ['nothing for a socket that is gone', undefined, '6.6.6.6', 0, ''],
  ])('is %s', (_claim, remote, header, hops, expected) => {
    expect(clientAddressOf(remote, header, hops)).toBe(expected);
  });

  it('reads several header lines as one list', () => {
    expect(clientAddressOf('10.0.0.1', ['6.6.6.6', '198.51.100.7'], 1)).toBe('198.51.100.7');
  });

  it('agrees with an oracle for 5,000 chains of proxies behind 0, 1 or 2 trusted ones', () => {
    const random = seeded(0x5eed);
    const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
    const address = (): string =>
      `${1 + Math.floor(random() * 223)}.${Math.floor(random() * 256)}.0.${Math.floor(random() * 256)}`;
    const junk = [
      '',
      'unknown',
      '_hidden',
      '1.2.3',
      '256.1.1.1',
      'localhost',
      '::g',
      'fe80::1%eth0',
      '1.2.3.4 5.6.7.8',
      '\u0000',
    ];
    for (let round = 0; round < 5_000; round += 1) {
      const hops = round % 3;
      const remote = address();
      const forged = Array.from({ length: Math.floor(random() * 4) }, () => (random() < 0.5 ? address() : pick(junk)));
      // What our own proxies appended, nearest last; the first of them is the client.
      const appended = Array.from({ length: hops }, address);
      const isBroken = random() < 0.2;
      if (isBroken && hops > 0) appended[Math.floor(random() * hops)] = pick(junk);
      const header = [...forged, ...appended].join(pick([',', ', ', ' ,  ']));
      expect(clientAddressOf(remote, header, hops), `${remote} <${header}> ${hops}`).toBe(oracle(remote, appended));
    }
  });
});

describe('the network that tries are counted for', () => {
  it.each([
    ['198.51.100.7', '198.51.100.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['', ''],
  ])('of %j is %j', (address, network) => expect(clientNetwork(address)).toBe(network));
});

/** Walks from the nearest proxy outwards until an entry is no IPv4 address. */
function oracle(remote: string, appended: readonly string[]): string {
  let client = remote;
  for (const entry of [...appended].reverse()) {
    const parts = entry.split('.');
    if (parts.length !== 4 || !parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) < 256)) return client;
    client = entry;
  }
  return client;
}

function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
