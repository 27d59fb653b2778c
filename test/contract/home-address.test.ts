import { once } from 'node:events';
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DISK } from '../../src/publish/releases/disk.ts';
import { switchTo } from '../../src/publish/releases/switch.ts';
import { writeRelease } from '../../src/publish/releases/write.ts';
import { createFrontDoor } from '../../src/server/front-door.ts';
import { createBadgeService } from '../../src/server/visitors/badge-service.ts';
import { createReleaseReader } from '../../src/server/visitors/release-reader.ts';
import { inputOf, releaseNumbersFrom, type TestFolders, testFolders, wholeFiles } from '../helpers/release-inputs.ts';
import { PASSWORD, page, passwordPage, type Site, type SiteFolder, siteFolder, T0, Visitor } from './access-fixture.ts';

const OWN_HOST = 'status.acme.example';
/** By its slug, at the root of the site, and at the root of its own domain. */
const ADDRESSES = ['/acme/', '/', `//${OWN_HOST}/`];

describe('the root of a site with a home page, and that of a domain', () => {
  let folder: SiteFolder;
  let site: Site;
  let folders: TestFolders;
  let door: ReturnType<typeof createFrontDoor>;

  beforeEach(async () => {
    folders = testFolders();
    folder = siteFolder();
    site = await folder.open();
    door = createFrontDoor({
      addresses: () => ({
        siteHost: 'status.example.com',
        basePath: '/',
        home: 'acme',
        customDomains: new Map([[OWN_HOST, 'acme']]),
        publicFiles: new Set<string>(),
      }),
      sources: () => [],
      reader: createReleaseReader(folders),
      access: site.access,
      own: async () => null,
      badges: createBadgeService(),
      locale: () => 'en',
      trustedProxyHops: 0,
      isHttpsSite: false,
      now: () => T0,
      onError: (error) => {
        throw error;
      },
    });
    door.listen(0, '127.0.0.1');
    await once(door, 'listening');
    const input = inputOf(wholeFiles('CANARY'), { access: 'public' });
    const { number } = await writeRelease({ disk: DISK, folders, nextNumber: releaseNumbersFrom() }, input, null);
    await switchTo({ disk: DISK, folders }, { slug: 'acme', number, isPublic: true });
  });
  afterEach(async () => {
    door.closeAllConnections();
    door.close();
    await site.close();
    folder.remove();
    folders.remove();
  });

  async function shown(cookie = ''): Promise<string[]> {
    const { port } = door.address() as AddressInfo;
    const seen: string[] = [];
    for (const base of ADDRESSES)
      for (const path of ['', 'api/state.json', 'components/a/', 'favicon.svg']) {
        const host = base.startsWith('//') ? OWN_HOST : 'status.example.com';
        const asked = request({ host: '127.0.0.1', port, path: base.replace(`//${OWN_HOST}`, '') + path });
        asked.setHeader('host', host);
        if (cookie !== '') asked.setHeader('cookie', cookie);
        const [answer] = await once(asked.end(), 'response');
        if ((await text(answer)).includes('CANARY')) seen.push(base + path);
      }
    return seen;
  }

  it('are addresses of that page: they show all of it, and ask its gate', async () => {
    await site.access.setPages([page('acme')]);
    expect(await shown()).toHaveLength(12);
    const gated = [passwordPage('acme'), passwordPage('other', 'the password of another')];
    await site.access.setPages(gated);
    // Its public link is still there: gates come before files.
    expect(await shown()).toEqual([]);
    const input = inputOf(wholeFiles('CANARY'), { access: 'password' });
    const { number } = await writeRelease({ disk: DISK, folders, nextNumber: releaseNumbersFrom() }, input, null);
    await switchTo({ disk: DISK, folders }, { slug: 'acme', number, isPublic: false });
    await new Promise((turn) => setImmediate(turn));
    expect(await shown()).toEqual([]);
    const stranger = new Visitor(site);
    await stranger.post('other', 'login/', { password: 'the password of another' });
    expect(await shown(stranger.cookie ?? '')).toEqual([]);
    const insider = new Visitor(site);
    await insider.post('acme', 'login/', { password: PASSWORD });
    expect(await shown(insider.cookie ?? '')).toHaveLength(12);
  });
});
