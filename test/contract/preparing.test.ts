import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DISK } from '../../src/publish/releases/disk.ts';
import { releaseFolders } from '../../src/publish/releases/folders.ts';
import { switchTo } from '../../src/publish/releases/switch.ts';
import { writeRelease } from '../../src/publish/releases/write.ts';
import { createFrontDoor } from '../../src/server/front-door.ts';
import { createBadgeService } from '../../src/server/visitors/badge-service.ts';
import { createReleaseReader } from '../../src/server/visitors/release-reader.ts';
import { inputOf, releaseNumbersFrom, wholeFiles } from '../helpers/release-inputs.ts';
import { PAGES, type Site, type SiteFolder, siteFolder, T0 } from './access-fixture.ts';

describe('a page that was never published', () => {
  let folder: SiteFolder;
  let site: Site;
  let data: string;
  let door: ReturnType<typeof createFrontDoor>;
  let url: string;

  beforeEach(async () => {
    data = mkdtempSync(join(tmpdir(), 'pharos-preparing-'));
    folder = siteFolder();
    site = await folder.open();
    await site.access.setPages(PAGES);
    door = createFrontDoor({
      addresses: () => ({
        siteHost: 'status.example.com',
        basePath: '/',
        home: null,
        customDomains: new Map(),
        publicFiles: new Set(),
      }),
      reader: createReleaseReader(releaseFolders(data)),
      access: site.access,
      own: async () => null,
      badges: createBadgeService(),
      sources: () => [],
      locale: () => 'de',
      trustedProxyHops: 0,
      isHttpsSite: false,
      now: () => T0,
      onError: (error) => {
        throw error;
      },
    });
    door.listen(0, '127.0.0.1');
    await once(door, 'listening');
    url = `http://127.0.0.1:${(door.address() as AddressInfo).port}`;
  });
  afterEach(async () => {
    door.closeAllConnections();
    door.close();
    await site.close();
    folder.remove();
    rmSync(data, { recursive: true });
  });

  it('says in the language of the site that it is being prepared, and loads itself again', async () => {
    for (const path of ['/', '/open/', '/open/history/']) {
      const answer = await fetch(url + path);
      expect([path, answer.status, answer.headers.get('retry-after')]).toEqual([path, 503, '2']);
      expect(answer.headers.get('cache-control')).toBe('private, no-store');
      const html = await answer.text();
      expect(html).toContain('<html lang="de" dir="ltr">');
      expect(html).toContain('<meta http-equiv="refresh" content="2">');
      expect(html).toContain('Diese Seite wird vorbereitet');
    }
    const json = await fetch(`${url}/open/api/v2/summary.json`);
    expect([json.status, json.headers.get('content-type')]).toEqual([503, 'text/plain; charset=utf-8']);
  });

  it('is no other than one that does not exist for whoever may not see it', async () => {
    const texts = await Promise.all(
      ['vault', 'team', 'nobod'].map(async (slug) => {
        const answer = await fetch(`${url}/${slug}/`);
        return `${answer.status} ${(await answer.text()).replaceAll(slug, '')}`;
      }),
    );
    expect(texts[0]).toMatch(/^404 /);
    expect(new Set(texts).size).toBe(1);
  });

  it('is every page for as long as none is known, which tells nothing of any', async () => {
    await site.access.setPages([]);
    const texts = await Promise.all(
      ['/', '/open/', '/vault/', '/nobody/'].map(async (path) => {
        const answer = await fetch(url + path);
        return `${answer.status} ${answer.headers.get('retry-after')} ${await answer.text()}`;
      }),
    );
    expect(texts[0]).toMatch(/^503 2 .*Diese Seite wird vorbereitet/s);
    expect(new Set(texts).size).toBe(1);
    // A site that was published and has no pages any more is not about to have some.
    const folders = releaseFolders(data);
    const { number } = await writeRelease(
      { disk: DISK, folders, nextNumber: releaseNumbersFrom() },
      inputOf(wholeFiles('site'), { slug: '_site', access: 'public' }),
      null,
    );
    await switchTo({ disk: DISK, folders }, { slug: '_site', number, isPublic: true });
    expect((await fetch(`${url}/open/`)).status).toBe(404);
  });

  it('is shown as soon as it is there, and what it lacks is missing and not being prepared', async () => {
    const folders = releaseFolders(data);
    const input = inputOf(wholeFiles('one'), { slug: 'open', access: 'public' });
    const { number } = await writeRelease({ disk: DISK, folders, nextNumber: releaseNumbersFrom() }, input, null);
    await switchTo({ disk: DISK, folders }, { slug: 'open', number, isPublic: true });
    expect((await fetch(`${url}/open/`)).status).toBe(200);
    expect((await fetch(`${url}/open/nothing.json`)).status).toBe(404);
  });
});
