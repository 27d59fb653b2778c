import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTargetKeeper } from '../../src/app/targets.ts';
import type { Config } from '../../src/config/load.ts';
import type { SourceFreshness } from '../../src/model/page.ts';
import { toPageKey } from '../../src/model/slugs.ts';
import { type EpochMs, toEpochMs } from '../../src/model/time.ts';
import { DISK } from '../../src/publish/releases/disk.ts';
import { releaseFolder } from '../../src/publish/releases/folders.ts';
import { hideFromPublic, switchTo, unlinkPage } from '../../src/publish/releases/switch.ts';
import { createTarget, type Target, type TargetReport } from '../../src/publish/targets/create-target.ts';
import { createFolder } from '../../src/publish/targets/object-store.ts';
import { createStaticListing } from '../../src/publish/targets/static-listing.ts';
import { InterruptedError } from '../../src/publish/targets/write-page.ts';
import { type TestFolders, testFolders } from '../helpers/release-inputs.ts';
import { closeSmallSites, createSmallSite, SITE_START } from '../helpers/small-site.ts';
import { closeGate, publishPage, publishSite, SITE_KEY, withdrawPage } from './targets-fixture.ts';

const sourceOf = (upstreamId: string, monitorsAt: EpochMs): SourceFreshness => ({
  upstreamId,
  monitorsAt,
  incidentsAt: monitorsAt,
  intervalMs: 60_000,
  isMonitorsStale: false,
  isIncidentsStale: false,
});

describe('a folder for static hosts', () => {
  let folders: TestFolders;
  let out: string;
  beforeEach(() => {
    folders = testFolders();
    out = join(mkdtempSync(join(tmpdir(), 'pharos-out-')), 'site');
  });
  afterEach(async () => {
    await closeSmallSites();
    folders.remove();
    rmSync(join(out, '..'), { recursive: true, force: true });
  });

  let found: ReadonlyMap<string, number>[] = [];
  type ListingOptions = Parameters<typeof createStaticListing>[0];
  const listingOf = (over: Partial<ListingOptions> = {}) =>
    createStaticListing({
      folders,
      home: () => null,
      sources: () => [],
      sealed: new Map(),
      hostFiles: { isHttps: true },
      version: 'v1',
      ...over,
    });
  const target = (over: Partial<ListingOptions> = {}, key = SITE_KEY): Target =>
    createTarget({
      key,
      onNumbers: async (numbers) => void found.push(numbers),
      store: createFolder(out),
      listing: listingOf(over),
    });
  const files = (): string[] =>
    readdirSync(out, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(out.length + 1))
      .filter((path) => !path.startsWith('.pharos'))
      .toSorted();
  const read = (path: string): string => readFileSync(join(out, path), 'utf8');
  const lock = (password: string) => ({ password: { reveal: () => password }, locale: 'en' });

  it('gives up for the time being where it is interrupted again and again, says so, and goes on with the next run', async () => {
    await publishPage(folders, 'one');
    await publishSite(folders, 'site', ['acme']);
    const store = createFolder(out);
    let isRestless = true;
    let puts = 0;
    const restless: Target = createTarget({
      key: SITE_KEY,
      onNumbers: async () => undefined,
      store: {
        ...store,
        put: async (...args) => {
          puts += 1;
          if (isRestless) restless.interrupt();
          // Each try begins with as much to do as the one before.
          return isRestless ? Promise.reject(new InterruptedError()) : store.put(...args);
        },
      },
      listing: listingOf(),
    });
    const report = await restless.update();
    expect(report.result).toBe('failed');
    expect(report.message).toMatch(
      /^Stopped part-way after starting over \d+ times, because pages became private or were published again\. The next run continues\.$/,
    );
    expect(puts).toBeLessThan(1_000);
    isRestless = false;
    expect(await restless.update()).toMatchObject({ result: 'current', message: null });
    expect(files()).toContain('acme/index.html');
  });

  it('takes the next release where the one that it was writing was removed, and fails where there is none', async () => {
    const { number: first } = await publishPage(folders, 'one');
    await publishSite(folders, 'site', ['acme']);
    const store = createFolder(out);
    let meanwhile: (() => Promise<unknown>) | null = async () => {
      await publishPage(folders, 'two');
      await publishPage(folders, 'three');
      rmSync(releaseFolder(folders, 'acme', first), { recursive: true });
    };
    const listing = listingOf();
    const put: typeof store.put = async (key, ...rest) => {
      const happens = key.startsWith('acme/') ? meanwhile : null;
      if (happens !== null) meanwhile = null;
      await happens?.();
      return store.put(key, ...rest);
    };
    const slow = createTarget({ key: SITE_KEY, onNumbers: async () => undefined, store: { ...store, put }, listing });
    expect(await slow.update()).toMatchObject({ result: 'current', message: null });
    for (const path of ['acme/index.html', 'acme/components/b/index.html', 'acme/api/v2/summary.json'])
      expect(read(path)).toContain('three');
    const { number: last } = await publishPage(folders, 'four');
    rmSync(join(releaseFolder(folders, 'acme', last), 'files/index.html'));
    expect(await slow.update()).toMatchObject({
      result: 'failed',
      message:
        'Stopped part-way because the release of acme that was being written no longer exists. The next run continues.',
    });
  });

  it('has one keeper at a time while its configuration changes again and again, and is complete in the end', async () => {
    for (const slug of ['acme', 'beta', 'gamma']) await publishPage(folders, slug, { slug });
    await publishSite(folders, 'site', ['acme', 'beta', 'gamma']);
    let made = 0;
    const writing: number[] = [];
    const beside: string[] = [];
    const reports: TargetReport[] = [];
    const make = (): Target[] => {
      made += 1;
      const number = made;
      const store = createFolder(out);
      const alone = async <Result>(task: () => Promise<Result>): Promise<Result> => {
        writing.push(number);
        if (new Set(writing).size > 1) beside.push(writing.join(' and '));
        await new Promise((turn) => setImmediate(turn));
        return task().finally(() => writing.splice(writing.indexOf(number), 1));
      };
      const watched = {
        ...store,
        put: (...args: Parameters<typeof store.put>) => alone(() => store.put(...args)),
        replace: (...args: Parameters<typeof store.replace>) => alone(() => store.replace(...args)),
        remove: (key: string) => alone(() => store.remove(key)),
      };
      const listing = listingOf();
      return [createTarget({ key: SITE_KEY, onNumbers: async () => undefined, store: watched, listing })];
    };
    let config = {} as Config;
    const keeper = createTargetKeeper({
      ...{ config: () => config, make, isOurs: () => true },
      onReport: (report) => reports.push(report),
    });
    for (let reload = 0; reload < 8; reload += 1) {
      keeper.follow(`run ${reload}`);
      // Somewhere in the middle of what it writes.
      for (let turn = 0; turn < 7 * reload; turn += 1) await new Promise((next) => setImmediate(next));
      config = {} as Config;
    }
    keeper.follow('last');
    while (!reports.some(({ result }) => result === 'current') || writing.length > 0)
      await new Promise((turn) => setImmediate(turn));
    await keeper.close();
    expect([made, beside]).toEqual([9, []]);
    expect(reports.filter(({ result }) => result === 'failed')).toEqual([]);
    for (const slug of ['acme', 'beta', 'gamma']) expect(files()).toContain(`${slug}/index.html`);
    expect(files().filter((path) => path.endsWith('.pharos-next'))).toEqual([]);
  });

  it('holds the public pages, the site, and what hosts read', async () => {
    await publishPage(folders, 'one', { parts: ['a'], customDomain: 'status.acme.example' });
    await publishPage(folders, 'hidden', { slug: 'vault', access: 'password' });
    await publishSite(folders, 'site', ['acme']);
    expect(await target().update()).toMatchObject({ result: 'current', place: out, filesWritten: 10 });
    expect(files()).toEqual([
      '404.html',
      '_headers',
      '_redirects',
      'acme/api/v2/summary.json',
      'acme/components/a/feed.json',
      'acme/components/a/index.html',
      'acme/favicon.svg',
      'acme/index.html',
      'index.html',
      'robots.txt',
    ]);
    expect(read('_redirects')).toContain('https://status.acme.example/*');
  });

  it('leads a domain to the page that has it by now, and not to one on hold that had it', async () => {
    const customDomain = 'status.acme.example';
    await publishPage(folders, 'held', { customDomain });
    await publishPage(folders, 'next', { slug: 'beta', customDomain, asOf: toEpochMs(2_000) });
    await publishSite(folders, 'site', ['acme', 'beta']);
    await target().update();
    expect(read('_redirects').match(/^https:.*$/gm)).toEqual([`https://${customDomain}/* /beta/:splat 200!`]);
  });

  it('gets only what changed, loses what is gone with its folders, and keeps what is of others', async () => {
    await publishPage(folders, 'one');
    await publishPage(folders, 'one', { slug: 'beta' });
    const kept = target();
    await kept.update();
    writeFileSync(join(out, 'acme', 'notes.txt'), 'theirs');
    await publishPage(folders, 'two', { parts: ['a'] });
    expect(await kept.update()).toMatchObject({ filesWritten: 5, filesRemoved: 2, filesKept: 7 });
    await withdrawPage(folders, 'beta');
    expect(await kept.update()).toMatchObject({ filesWritten: 0, filesRemoved: 7 });
    expect(existsSync(join(out, 'beta'))).toBe(false);
    expect(existsSync(join(out, 'acme', 'components', 'b'))).toBe(false);
    expect(read('acme/notes.txt')).toBe('theirs');
  });

  it('is mended by the next build when files were taken away', async () => {
    await publishPage(folders, 'one');
    await target().update();
    rmSync(join(out, 'acme', 'index.html'));
    expect(await target().update()).toMatchObject({ result: 'current', filesWritten: 1 });
    expect(read('acme/index.html')).toContain('one');
  });

  it('loses a page that turned private, also where the note of the site is gone', async () => {
    await publishPage(folders, 'one');
    await target().update();
    rmSync(join(out, '.pharos.json'));
    await closeGate(folders, 'acme');
    await publishPage(folders, 'secret', { access: 'password' });
    await target().update();
    expect(files()).toEqual([]);
  });

  it('holds the home page at the root too, and loses both when it closes', async () => {
    await publishPage(folders, 'CANARY', { parts: ['a'] });
    await publishSite(folders, 'the index of pages', ['acme']);
    const kept = target({ home: () => 'acme' });
    await kept.update();
    expect(files()).toEqual(expect.arrayContaining(['acme/components/a/index.html', 'components/a/index.html']));
    expect(read('index.html')).toContain('CANARY');
    expect(read('api/v2/summary.json')).toBe(read('acme/api/v2/summary.json'));
    await closeGate(folders, 'acme');
    expect(await kept.update()).toMatchObject({ result: 'current' });
    expect(read('index.html')).toContain('the index of pages');
    expect(files()).toEqual(['404.html', '_headers', 'index.html', 'robots.txt']);
  });

  it('loses the copy of the home page too when it closes, also where the note of the site is gone', async () => {
    await publishPage(folders, 'CANARY', { parts: ['a'], locales: ['de'] });
    await publishSite(folders, 'the index of pages', ['acme']);
    await target({ home: () => 'acme' }).update();
    rmSync(join(out, '.pharos.json'));
    await closeGate(folders, 'acme');
    expect(await target({ home: () => 'acme' }).update()).toMatchObject({ result: 'current', warnings: [] });
    expect(files()).toEqual(['404.html', '_headers', 'index.html', 'robots.txt']);
  });

  it('holds the home page in each of its languages, and writes again only what changed', async () => {
    const locales = ['de', 'zh-hans'];
    await publishPage(folders, 'one', { parts: ['a'], locales });
    await target({ home: () => 'acme' }).update();
    expect(files()).toEqual(expect.arrayContaining(['de/index.html', 'zh-hans/history/index.html']));
    expect(await target({ home: () => 'acme' }).update()).toMatchObject({ filesWritten: 0, warnings: [] });
    await publishPage(folders, 'two', { parts: ['a'], locales: ['de'] });
    await target({ home: () => 'acme' }).update();
    expect(files().filter((path) => path.includes('zh-hans'))).toEqual([]);
  });

  it('loses the home page in all of its languages when it closes', async () => {
    await publishPage(folders, 'CANARY', { parts: ['a'], locales: ['de'] });
    await target({ home: () => 'acme' }).update();
    await closeGate(folders, 'acme');
    await target({ home: () => 'acme' }).update();
    expect(files().filter((path) => read(path).includes('CANARY'))).toEqual([]);
  });

  it('loses what another page left at a slug, sealed or not, before it gets a file of the page that has it now', async () => {
    await publishPage(folders, 'CANARY', { parts: ['a', 'b'] });
    await publishSite(folders, 'site', []);
    const init = { home: () => 'acme', sealed: new Map([['acme', lock('open sesame')]]) };
    await target(init).update();
    expect(files()).toContain('components/b/index.html');
    await publishPage(folders, 'two', { parts: ['a'], page: toPageKey('acme', 2) });
    const kept = target(init);
    // Every file of the page differs or is gone: none of them is kept, at its slug or at the root.
    expect(await kept.update()).toMatchObject({ result: 'current', filesWritten: 10, filesRemoved: 14 });
    expect(files().filter((path) => read(path).includes('CANARY'))).toEqual([]);
    await publishPage(folders, 'CANARY', { access: 'password', page: toPageKey('acme', 2) });
    await kept.update();
    const sealed = read('acme/index.html');
    await publishPage(folders, 'three', { access: 'password', page: toPageKey('acme', 3) });
    expect(await kept.update()).toMatchObject({ filesRemoved: 1, filesWritten: 1 });
    expect(read('acme/index.html')).not.toBe(sealed);
    await unlinkPage({ disk: DISK, folders }, 'acme');
    await kept.update();
    expect(existsSync(join(out, 'acme'))).toBe(false);
  });

  it('tells nobody which slug a page had before', async () => {
    await publishPage(folders, 'one', { parts: ['a'], page: toPageKey('merger', 1) });
    const kept = target({ home: () => 'acme' });
    await kept.update();
    expect(files().filter((path) => read(path).includes('merger'))).toEqual([]);
    expect(read('.pharos.json')).not.toContain('merger');
    // What is kept of it is known again by the next process, here and at the root.
    expect(await target({ home: () => 'acme' }).update()).toMatchObject({ filesWritten: 0, filesRemoved: 0 });
  });

  it('holds a sealed page as one file that says nothing, and nothing of it in the clear from before', async () => {
    await publishPage(folders, 'CANARY public');
    await target().update();
    await closeGate(folders, 'acme');
    await publishPage(folders, 'CANARY private', { access: 'password' });
    const sealed = new Map([['acme', lock('open sesame')]]);
    const kept = target({ sealed, hostFiles: null });
    expect(await kept.update()).toMatchObject({ result: 'current', filesWritten: 1, filesRemoved: 7 });
    expect(files()).toEqual(['acme/index.html']);
    expect(read('acme/index.html')).not.toContain('CANARY');
    expect(read('.pharos.json')).not.toContain('acme');
    const first = read('acme/index.html');
    expect(await kept.update()).toMatchObject({ filesWritten: 0 });
    await publishPage(folders, 'CANARY next', { access: 'password' });
    expect(await kept.update()).toMatchObject({ filesWritten: 1 });
    expect(read('acme/index.html')).not.toBe(first);
    expect(await target({ hostFiles: null }).update()).toMatchObject({ filesRemoved: 1 });
    expect(files()).toEqual([]);
  });

  it('tells nobody whether there are sealed pages, nor how many, by the size of its ledger', async () => {
    await publishPage(folders, 'open', { slug: 'open' });
    const sealed = new Map(['a-partner', 'another-partner', 'x'].map((slug) => [slug, lock('open sesame')]));
    await target({ sealed, hostFiles: null }).update();
    const sizeOfNone = read('.pharos.json').length;
    for (const slug of sealed.keys()) {
      await publishPage(folders, 'private', { slug, access: 'password' });
      await target({ sealed, hostFiles: null }).update();
      expect(files()).toContain(`${slug}/index.html`);
      expect([slug, read('.pharos.json').length]).toEqual([slug, sizeOfNone]);
    }
  });

  it('takes a sealed page out also where another key wrote the ledger, as long as its release is here', async () => {
    await publishPage(folders, 'CANARY private', { access: 'password' });
    const sealed = new Map([['acme', lock('open sesame')]]);
    await target({ sealed, hostFiles: null }).update();
    const report = await target({ hostFiles: null }, lock('another key').password).update();
    expect(report).toMatchObject({ result: 'current', filesRemoved: 1 });
    expect(report.warnings.join()).toContain('access.key');
    expect(files()).toEqual([]);
  });

  it('tells which numbers of releases are taken, before and after its page changes', async () => {
    await publishPage(folders, 'one');
    await publishPage(folders, 'two');
    await publishSite(folders, 'site', ['acme']);
    await target().update();
    found = [];
    await target().open();
    expect(found.map((numbers) => Object.fromEntries(numbers))).toEqual([{ acme: 2, _site: 1 }]);
  });

  it('keeps what it has of a page whose release cannot be read here', async () => {
    const { number } = await publishPage(folders, 'one');
    const kept = target();
    await kept.update();
    writeFileSync(join(folders.releases, 'acme', String(number), 'manifest.json'), '{');
    const report = await kept.update();
    expect(report).toMatchObject({ result: 'current', filesRemoved: 0 });
    expect(report.warnings.join()).toContain('acme is unreadable on this machine');
    expect(read('acme/index.html')).toContain('one');
  });

  it('holds nothing of a release behind a gate, even where a link on this disk says that it is public', async () => {
    const { number } = await publishPage(folders, 'CANARY', { access: 'password' });
    await publishSite(folders, 'site', []);
    await switchTo({ disk: DISK, folders }, { slug: 'acme', number, isPublic: true });
    await target().update();
    expect(files().filter((path) => path.startsWith('acme/'))).toEqual([]);
  });

  it.skipIf(process.getuid?.() === 0)(
    'says which folder cannot be written (not as root, who can write all)',
    async () => {
      await publishPage(folders, 'one');
      await target().update();
      chmodSync(out, 0o500);
      await publishPage(folders, 'two');
      const report = await target().update();
      chmodSync(out, 0o700);
      expect(report).toMatchObject({ result: 'failed' });
      expect(report.message).toContain(out);
    },
  );

  it('says that a folder cannot be made where a file is', async () => {
    await publishPage(folders, 'one');
    writeFileSync(out, 'a file');
    const report = await target().update();
    expect(report).toMatchObject({ result: 'failed' });
    expect(report.message).toContain(`Can’t write to the folder ${out}`);
  });

  it('says once a minute when a page was checked, although nothing else of it changes', async () => {
    const site = createSmallSite({ pages: ['acme', 'beta'] });
    await site.pass();
    const { run, publisher } = site.publisher();
    await run();
    await publisher.settled();
    let checked = SITE_START;
    let elapsed = 0;
    const sources = () => ['acme', 'beta'].map((id) => sourceOf(id, checked));
    const kept = createTarget({
      key: SITE_KEY,
      onNumbers: async () => undefined,
      store: createFolder(out),
      listing: createStaticListing({
        folders: site.folders,
        home: () => 'acme',
        sources,
        sealed: new Map(),
        hostFiles: null,
        version: 'v1',
      }),
      elapsed: () => elapsed,
    });
    const checkedIn = (path: string): unknown => (JSON.parse(read(path)) as Record<string, unknown>)['checkedAt'];
    const all = () => ['acme/api/now.json', 'beta/api/now.json', 'api/now.json'].map(checkedIn);
    await kept.update();
    expect(all()).toEqual(Array(3).fill('2026-11-21T09:13:00.000Z'));
    checked = toEpochMs(SITE_START + 59_000);
    elapsed = 59_000;
    await kept.update();
    expect(all()).toEqual(Array(3).fill('2026-11-21T09:13:00.000Z'));
    checked = toEpochMs(SITE_START + 60_000);
    elapsed = 60_000;
    expect(await kept.update()).toMatchObject({ result: 'current', filesWritten: 0 });
    expect(all()).toEqual(Array(3).fill('2026-11-21T09:14:00.000Z'));
    await hideFromPublic({ disk: DISK, folders: site.folders }, 'beta');
    await kept.update();
    expect(files().filter((path) => path.startsWith('beta/'))).toEqual([]);
    expect(checkedIn('acme/api/now.json')).toBe('2026-11-21T09:14:00.000Z');
  });

  it('gets badges as files, and sends again only those that look different', async () => {
    const site = createSmallSite({ pages: ['acme'] });
    await site.pass();
    const { run, publisher } = site.publisher();
    await run();
    await publisher.settled();
    const kept = createTarget({
      key: SITE_KEY,
      onNumbers: async () => undefined,
      store: createFolder(out),
      listing: createStaticListing({
        folders: site.folders,
        home: () => null,
        sources: () => [],
        sealed: new Map(),
        hostFiles: null,
        version: 'v1',
      }),
    });
    expect(await kept.update()).toMatchObject({ result: 'current' });
    const badges = files().filter((path) => /badges\/[^/]+\.(svg|json|png)$/.test(path));
    expect(badges).toContain('acme/badges/status.svg');
    expect(badges).toContain('acme/components/c1/badges/uptime-90d.png');
    expect(read('acme/badges/status.svg')).toContain('operational');
    const before = new Map(files().map((path) => [path, readFileSync(join(out, path))]));
    site.upstream('acme').states[1] = 'degraded';
    site.clock.now = toEpochMs(site.clock.now + 1_000);
    await site.pass();
    await run();
    const report = await kept.update();
    const changed = files().filter((path) => before.get(path)?.equals(readFileSync(join(out, path))) !== true);
    expect(changed).toContain('acme/badges/status.svg');
    expect(changed).toContain('acme/components/c1/badges/status.png');
    expect(changed.filter((path) => /components\/c0\/badges\/status|badges\/incidents/.test(path))).toEqual([]);
    // The JSON of the badge with days is made from them, and doesn't show them.
    expect(report.filesWritten).toBe(changed.length + 1);
  });
});
