import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DnsServer, startDnsServer } from '../helpers/dns-server.ts';
import { tryFields } from '../helpers/own-checks.ts';

let server: DnsServer;
beforeAll(async () => {
  server = await startDnsServer({
    'shop.test': {
      A: ['192.0.2.1', '192.0.2.2'],
      AAAA: ['2001:db8::1'],
      MX: ['10 mail.shop.test'],
      TXT: ['v=spf1 -all', 'Token=ABC'],
    },
    'www.shop.test': { CNAME: ['shop.test'] },
    'only-text.test': { TXT: ['hello'] },
    'long.test': { TXT: Array.from({ length: 8 }, (_, index) => `${index}`.repeat(200)) },
    'broken.test': { fails: 'SERVFAIL' },
    'closed.test': { fails: 'REFUSED' },
    'garbled.test': { fails: 'nonsense' },
    'silent.test': { fails: 'silent' },
  });
});
afterAll(() => server.stop());

async function faultOf(uri: string, assertions: readonly (readonly [string, string, string])[] = [], timeout = 20_000) {
  const record_assertions = assertions.map(([record, comparator, target]) => ({ record, comparator, target }));
  const tried = await tryFields({ type: 'dns', uri, record_assertions, timeout }, { resolver: [server.address] });
  return tried.fault;
}

describe('a DNS check', () => {
  it('without assertions wants an address', async () => {
    expect(await faultOf('shop.test')).toBeNull();
    expect(await faultOf('only-text.test')).toBe('it has no address');
  });

  it('compares the records of each type', async () => {
    expect(
      await faultOf('shop.test', [
        ['A', 'eq', '192.0.2.2'],
        ['AAAA', 'eq', '2001:DB8::1'],
        ['MX', 'eq', 'Mail.shop.test.'],
        ['MX', 'eq', '10 mail.shop.test'],
        ['TXT', 'contains', 'spf1'],
        ['TXT', 'not_contains', 'token=abc'],
        ['A', 'neq', '192.0.2.9'],
        ['CNAME', 'neq', 'other.test'],
      ]),
    ).toBeNull();
    expect(await faultOf('www.shop.test', [['CNAME', 'eq', 'shop.test']])).toBeNull();
  });

  it('fails at wrong records', async () => {
    expect(await faultOf('shop.test', [['A', 'eq', '192.0.2.9']])).toBe('expected a record A to be 192.0.2.9');
    expect(await faultOf('shop.test', [['A', 'neq', '192.0.2.2']])).toBe('expected a record A not to be 192.0.2.2');
    expect(await faultOf('shop.test', [['TXT', 'eq', 'token=ABC']])).toBe('expected a record TXT to be token=ABC');
    expect(await faultOf('only-text.test', [['A', 'contains', '1']])).toBe('expected a record A to contain 1');
  });

  it('fails at a name that does not exist, and where the server does', async () => {
    expect(await faultOf('nobody.test')).toBe('its name does not exist in DNS');
    expect(await faultOf('broken.test')).toBe('the name server failed (SERVFAIL)');
    expect(await faultOf('closed.test')).toBe('the name server refused the query');
    expect(await faultOf('silent.test', [], 500)).toBe('its name was not looked up within 0.5 s');
    expect(await faultOf('garbled.test', [], 20_000)).toMatch(/name server|looked up/);
  });

  it('asks again over TCP where an answer is cut', async () => {
    expect(await faultOf('long.test', [['TXT', 'contains', '77777']])).toBeNull();
    expect(server.asked).toEqual(expect.arrayContaining(['udp TXT long.test', 'tcp TXT long.test']));
  });
});
