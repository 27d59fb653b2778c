import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AddressRule } from '../../src/model/observation.ts';
import { toEpochMs } from '../../src/model/time.ts';
import {
  emailPage,
  PASSWORD,
  page,
  passwordPage,
  type Site,
  type SiteFolder,
  siteFolder,
  Visitor,
} from './access-fixture.ts';

let folder: SiteFolder;
let site: Site;
beforeEach(async () => {
  folder = siteFolder();
  site = await folder.open();
});
afterEach(async () => {
  await site.close();
  folder.remove();
});

const OFFICE = ['192.0.2.0/24', '2001:db8:1::/48', '198.51.100.7'];
const INSIDE = ['192.0.2.0', '192.0.2.255', '2001:db8:1::1', '2001:db8:1:ffff::', '198.51.100.7'];
/** Empty: a proxy that is not configured sent the request. */
const OUTSIDE = ['192.0.3.0', '191.255.255.255', '2001:db8:2::1', '::ffff:192.0.3.1', '198.51.100.8', '::1', ''];

const from = (clientAddress: string): Visitor => new Visitor(site, { clientAddress });
const rule = (isEnough: boolean, ranges: readonly string[] = OFFICE): AddressRule => ({ ranges, isEnough });

describe('allow_ips', () => {
  it('alone opens to its addresses and to no other, without a form', async () => {
    await site.access.setPages([page('office', { access: 'ip', addresses: rule(false) })]);
    for (const address of INSIDE) expect([address, await from(address).sees('office')]).toEqual([address, true]);
    for (const address of OUTSIDE) expect([address, await from(address).sees('office')]).toEqual([address, false]);
    expect(await site.access.denied({ base: '/office/', path: '' })).toBeNull();
  });

  it('beside a password asks for both', async () => {
    await site.access.setPages([{ ...passwordPage('vault'), addresses: rule(false) }]);
    const inside = from('192.0.2.9');
    expect(await inside.sees('vault')).toBe(false);
    expect((await inside.post('vault', 'login/', { password: PASSWORD })).status).toBe(303);
    expect(await inside.sees('vault')).toBe(true);
    const outside = from('203.0.113.1');
    outside.cookies.set(...([...inside.cookies][0] as [string, string]));
    expect(await outside.sees('vault')).toBe(false);
    const guess = await from('203.0.113.2').post('vault', 'login/', { password: PASSWORD });
    expect(guess).toEqual(await from('203.0.113.3').post('vault', 'login/', { password: 'another' }));
  });

  it('with access: any is enough, and so is the password', async () => {
    await site.access.setPages([{ ...passwordPage('vault'), addresses: rule(true) }]);
    expect(await from('192.0.2.9').sees('vault')).toBe(true);
    const outside = from('203.0.113.1');
    expect(await outside.sees('vault')).toBe(false);
    await outside.post('vault', 'login/', { password: PASSWORD });
    expect(await outside.sees('vault')).toBe(true);
  });

  it('beside domains sends no mail to whoever asks from elsewhere', async () => {
    await site.access.setPages([{ ...emailPage('team'), addresses: rule(false) }]);
    const answers = [];
    for (const address of ['203.0.113.1', '192.0.2.9'])
      answers.push(await from(address).post('team', 'login/', { email: `ada@corp.example` }));
    await site.access.tend();
    expect(answers.map(({ status }) => status)).toEqual([303, 303]);
    expect(site.mails).toHaveLength(1);
  });

  it('opens nothing that another process closed, and what it did while the store is away', async () => {
    const office = page('office', { access: 'ip', addresses: rule(false) });
    await site.access.setPages([office]);
    const other = await folder.open();
    await other.access.setPages([office]);
    expect(await from('192.0.2.9').sees('office')).toBe(true);
    await other.access.setPages([{ ...office, addresses: rule(false, ['203.0.113.0/24']) }]);
    expect(await from('192.0.2.9').sees('office')).toBe(false);
    await other.access.setPages([office]);
    await other.close();
    expect(await from('192.0.2.9').sees('office')).toBe(true);
    await site.database.transaction((tx) => tx.run('DELETE FROM access_gate'));
    expect(await from('192.0.2.9').sees('office')).toBe(false);
    site.now = toEpochMs(site.now + 6_000);
    expect(await from('192.0.2.9').sees('office')).toBe(true);
    await site.database.close();
    expect(await from('192.0.2.9').sees('office')).toBe(true);
    expect(await from('203.0.113.1').sees('office')).toBe(false);
    site = await folder.open();
  });

  it('ends sessions when it changes, and opens nothing meanwhile', async () => {
    const vault = passwordPage('vault');
    await site.access.setPages([vault]);
    const visitor = from('192.0.2.9');
    await visitor.post('vault', 'login/', { password: PASSWORD });
    expect(await visitor.sees('vault')).toBe(true);
    const settled = site.access.setPages([{ ...vault, addresses: rule(false) }]);
    expect(await visitor.sees('vault')).toBe(false);
    await settled;
    expect(await visitor.sees('vault')).toBe(false);
    await visitor.post('vault', 'login/', { password: PASSWORD });
    expect(await visitor.sees('vault')).toBe(true);
    await site.access.setPages([{ ...vault, addresses: rule(false, ['192.0.2.0/28']) }]);
    expect(await visitor.sees('vault')).toBe(false);
  });
});
