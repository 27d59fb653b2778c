import { once } from 'node:events';
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DISK } from '../../src/publish/releases/disk.ts';
import { switchTo } from '../../src/publish/releases/switch.ts';
import { type DrawnFile, writeRelease } from '../../src/publish/releases/write.ts';
import { createFrontDoor } from '../../src/server/front-door.ts';
import { createBadgeService } from '../../src/server/visitors/badge-service.ts';
import { createReleaseReader } from '../../src/server/visitors/release-reader.ts';
import {
  drawn,
  inputOf,
  releaseNumbersFrom,
  type TestFolders,
  testFolders,
  wholeFiles,
} from '../helpers/release-inputs.ts';
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

  it('lead on from addresses that the page had before, behind its gate only', async () => {
    const html = '<!DOCTYPE html><html lang="en"><a href="../../incidents/x/">x</a></html>';
    const files = wholeFiles('CANARY').concat(
      [drawn('issues/old/index.html', html), drawn('index.xml', html)].map((file) => ({
        path: file.path,
        drawn: { ...(file.drawn as DrawnFile), location: file.path === 'index.xml' ? 'feed.rss' : 'incidents/x/' },
      })),
    );
    const publish = async (access: 'public' | 'password'): Promise<void> => {
      const input = inputOf(files, { access });
      const { number } = await writeRelease({ disk: DISK, folders, nextNumber: releaseNumbersFrom() }, input, null);
      await switchTo({ disk: DISK, folders }, { slug: 'acme', number, isPublic: access === 'public' });
      await new Promise((turn) => setImmediate(turn));
    };
    const leads = async (path: string, host = 'status.example.com', cookie = ''): Promise<unknown[]> => {
      const { port } = door.address() as AddressInfo;
      const asked = request({ host: '127.0.0.1', port, path, headers: { host, ...(cookie === '' ? {} : { cookie }) } });
      const [answer] = await once(asked.end(), 'response');
      answer.resume();
      return [answer.statusCode, answer.headers.location];
    };
    await site.access.setPages([page('acme'), page('issues')]);
    await publish('public');
    expect(await leads('/acme/issues/old/')).toEqual([301, '/acme/incidents/x/']);
    expect(await leads('/acme/issues/old')).toEqual([301, '/acme/issues/old/']);
    expect(await leads('/acme/index.xml')).toEqual([301, '/acme/feed.rss']);
    expect(await leads('/issues/old/', OWN_HOST)).toEqual([301, '/incidents/x/']);
    expect(await leads('/issues/old', OWN_HOST)).toEqual([301, '/issues/old/']);
    expect(await leads('/index.xml')).toEqual([301, '/feed.rss']);
    // A page of that slug that was never published is being prepared, and comes first.
    expect(await leads('/issues/old/')).toEqual([503, undefined]);
    await site.access.setPages([page('acme')]);
    expect(await leads('/issues/old/')).toEqual([301, '/incidents/x/']);
    expect(await leads('/issues/old')).toEqual([301, '/issues/old/']);
    expect(await leads('/issues/other/')).toEqual([404, undefined]);
    await site.access.setPages([passwordPage('acme')]);
    expect((await leads('/issues/old/'))[0]).toBe(404);
    await publish('password');
    expect((await leads('/issues/old/'))[0]).toBe(404);
    const insider = new Visitor(site);
    await insider.post('acme', 'login/', { password: PASSWORD });
    expect(await leads('/issues/old/', 'status.example.com', insider.cookie ?? '')).toEqual([301, '/incidents/x/']);
  });
});
