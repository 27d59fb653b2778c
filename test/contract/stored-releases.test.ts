import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { SECOND_MS, toEpochMs } from '../../src/model/time.ts';
import { DISK, type Disk } from '../../src/publish/releases/disk.ts';
import {
  currentNumber,
  releaseFolder,
  releaseFolders,
  releaseNumbers,
  servedRelease,
} from '../../src/publish/releases/folders.ts';
import { currentManifest } from '../../src/publish/releases/manifest.ts';
import { rollbackTo } from '../../src/publish/releases/rollback.ts';
import { switchTo } from '../../src/publish/releases/switch.ts';
import { type ReleaseFile, writeRelease } from '../../src/publish/releases/write.ts';
import { objectKey, RELEASE_INDEX } from '../../src/publish/targets/ledger.ts';
import { objectDigest } from '../../src/publish/targets/object-store.ts';
import { createTaker, type Taker } from '../../src/publish/targets/take.ts';
import { createUploader } from '../../src/publish/targets/upload.ts';
import { createReleaseReader } from '../../src/server/visitors/release-reader.ts';
import { testPageLog } from '../helpers/page-log.ts';
import { drawn, htmlOf, inputOf, releaseNumbersFrom, testFolders } from '../helpers/release-inputs.ts';
import { type ReleasePlace, startReleasePlace } from '../helpers/release-places.ts';
import { closeSmallSites, createSmallSite, type SmallSite } from '../helpers/small-site.ts';

const SCALE = Number(process.env['PHAROS_TEST_SCALE'] ?? 1);
/** A thousand at ten times the scale. */
const PAGES = Math.round(100 * SCALE);

type UploadDeps = Parameters<typeof createUploader>[0];
type TakeDeps = Parameters<typeof createTaker>[0];

const ends: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
  await closeSmallSites();
});

function uploaderOf(
  site: Pick<SmallSite, 'folders'>,
  { open }: Pick<ReleasePlace, 'open'>,
  over: Partial<UploadDeps> = {},
) {
  const store = open();
  ends.push(store.close);
  return createUploader({
    store,
    folders: site.folders,
    mayUpload: async () => true,
    isShown: () => true,
    site: async () => null,
    times: async () => ({}),
    onNumbers: async () => undefined,
    ...over,
  });
}

function webNode({ open }: Pick<ReleasePlace, 'open'>, over: Partial<TakeDeps> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-web-'));
  ends.push(() => rmSync(folder, { recursive: true }));
  const folders = releaseFolders(folder);
  const errors: string[] = [];
  const begin = () => {
    const taker = createTaker({
      store: open(),
      folders,
      mayServe: async () => true,
      onError: (error) => errors.push(String(error)),
      ...over,
    });
    ends.push(taker.close);
    return taker;
  };
  const takeAll = async (): Promise<Taker> => {
    const taker = begin();
    await taker.refresh();
    await taker.filled();
    return taker;
  };
  const read = (slug: string, path: string): string =>
    createReleaseReader(folders).open(slug)?.read(path, null).toString('utf8') ?? '';
  return { folders, errors, begin, takeAll, read };
}

/** News on a page, published. */
async function publish(
  site: SmallSite,
  run: () => Promise<unknown>,
  state: 'operational' | 'degraded' | 'major_outage',
) {
  site.clock.now = toEpochMs(site.clock.now + SECOND_MS);
  site.upstream('acme').states[0] = state;
  await site.pass();
  await run();
}

async function publishedSite(pages: readonly string[] = ['acme', 'beta']) {
  const site = createSmallSite({ pages });
  await site.pass();
  const { run, publisher } = site.publisher();
  await run();
  await publisher.settled();
  return { site, run: async () => void (await run().then(() => publisher.settled())) };
}

/** An empty bucket for a test, which removes it again. */
async function startPlace(): Promise<ReleasePlace> {
  const place = await startReleasePlace();
  ends.push(place.close);
  return place;
}

describe('releases in a bucket', () => {
  it('are uploaded once each, the index last, and only what changed after', async () => {
    const place = await startPlace();
    const { site, run } = await publishedSite();
    const uploader = uploaderOf(site, place);
    const first = await uploader.update();
    expect(first.releases).toBe(3);
    const keys = place.puts();
    expect(keys.at(-1)).toBe(RELEASE_INDEX.key);
    expect(keys.slice(0, -1).every((key) => /^objects\/[0-9a-f]{64}(\.br)?$/.test(key))).toBe(true);
    expect(Object.keys((await place.index()).pages).toSorted()).toEqual(['_site', 'acme', 'beta']);
    expect(await uploader.update()).toMatchObject({ releases: 0, objects: 0, isIndexWritten: false });
    expect(place.puts()).toEqual([]);
    await publish(site, run, 'major_outage');
    const second = await uploader.update();
    expect(second.releases).toBe(2);
    expect(second.objects).toBeLessThan(first.objects / 2);
    // What two releases of a page ago only had is gone, and all that the index names is there.
    await publish(site, run, 'degraded');
    await uploader.update();
    const node = webNode(place);
    await node.takeAll();
    expect(node.errors).toEqual([]);
    const before = (await place.keys()).length;
    for (const state of ['operational', 'degraded', 'operational', 'degraded'] as const) {
      await publish(site, run, state);
      await uploader.update();
    }
    expect((await place.keys()).length).toBeLessThan(before + first.objects / 2);
  });

  it('are whole although manifests are replaced by others of the same releases meanwhile', async () => {
    const place = await startPlace();
    const { site } = await publishedSite();
    const store = place.open();
    let files = ['_site', 'acme', 'beta'].map((slug) =>
      join(releaseFolder(site.folders, slug, currentNumber(site.folders, slug) ?? 0), 'manifest.json'),
    );
    const put: typeof store.put = (...args) => {
      for (const file of files) writeFileSync(file, ` ${readFileSync(file, 'utf8')}`);
      files = [];
      return store.put(...args);
    };
    await uploaderOf(site, place, { store: { ...store, put } }).update();
    const node = webNode(place);
    await node.takeAll();
    expect(node.errors).toEqual([]);
  });

  it('are left alone by a node that is not the one, and never set back by one that is behind', async () => {
    const place = await startPlace();
    const { site, run } = await publishedSite();
    let isElected = false;
    const uploader = uploaderOf(site, place, { mayUpload: async () => isElected });
    await uploader.update();
    expect(place.puts()).toEqual([]);
    isElected = true;
    await publish(site, run, 'major_outage');
    await uploader.update();
    const number = (await place.index()).pages['acme']?.number ?? 0;
    // Another node with a folder of its own, which has not published the news yet.
    const other = createSmallSite({ pages: ['acme', 'beta'] });
    await other.pass();
    const behind = other.publisher();
    await behind.run();
    await behind.publisher.settled();
    expect(currentNumber(other.folders, 'acme')).toBeLessThan(number);
    await uploaderOf(other, place).update();
    expect((await place.index()).pages['acme']?.number).toBe(number);
    // Rolling back is a newer release of earlier files.
    const deps = {
      log: testPageLog(site.store.database),
      database: site.store.database,
      folders: site.folders,
      now: () => site.clock.now,
      sleep: async () => undefined,
    };
    const back = await rollbackTo(deps, { slug: 'acme', release: null });
    await uploader.update();
    expect((await place.index()).pages['acme']?.number).toBe(back.number);
    expect(back.restores).toBeLessThan(number);
    expect(back.number).toBeGreaterThan(number);
  });

  it('leave the index as soon as who may see a page changes, whatever else is to be done', async () => {
    const place = await startPlace();
    const { site, run } = await publishedSite();
    let hidden = '';
    const uploader = uploaderOf(site, place, { isShown: ({ slug }) => slug !== hidden });
    await uploader.update();
    const node = webNode(place);
    const taker = await node.takeAll();
    expect(node.read('acme', 'index.html')).toBe(site.served('acme', 'index.html'));
    hidden = 'acme';
    await publish(site, run, 'major_outage');
    await uploader.update();
    expect(Object.keys((await place.index()).pages)).not.toContain('acme');
    await taker.refresh();
    expect([currentNumber(node.folders, 'acme'), releaseNumbers(node.folders, 'acme')]).toEqual([null, []]);
  });

  it('are written over by nobody who did not see what is there', async () => {
    const place = await startPlace();
    const { site, run } = await publishedSite();
    const [one, other] = [uploaderOf(site, place), uploaderOf(site, place)];
    await one.update();
    await other.update();
    await publish(site, run, 'major_outage');
    await one.update();
    await publish(site, run, 'degraded');
    await expect(other.update()).rejects.toMatchObject({ code: 'TARGET_BUSY' });
    await other.update();
    expect((await place.index()).pages['acme']?.number).toBe(currentNumber(site.folders, 'acme'));
  });
});

describe('what is left of releases in a bucket', () => {
  /** Two pages, each of a file of its own and one that may be that of the other. */
  async function releasing(place: ReleasePlace) {
    const folders = testFolders();
    ends.push(folders.remove);
    const deps = { disk: UNHURRIED, folders, nextNumber: releaseNumbersFrom() };
    let count = 0;
    const release = async (badges: Readonly<Record<string, string>>) => {
      count += 1;
      for (const [slug, badge] of Object.entries(badges)) {
        const files = [drawn('index.html', htmlOf(`${slug} ${count}`)), drawn('badge.svg', `<svg>${badge}</svg>`)];
        const { number } = await writeRelease(deps, inputOf(files, { slug }), null);
        await switchTo({ disk: UNHURRIED, folders }, { slug, number, isPublic: true });
      }
    };
    return { release, folders, begin: (over: Partial<UploadDeps> = {}) => uploaderOf({ folders }, place, over) };
  }

  it('is whatever any page needs, also what another one has just left', async () => {
    const place = await startPlace();
    const { release, begin } = await releasing(place);
    const uploader = begin();
    for (const badges of [
      { acme: 'up', beta: 'down' },
      { acme: 'down', beta: 'down' },
      { acme: 'down', beta: 'up' },
    ]) {
      await release(badges);
      await uploader.update();
    }
    const node = webNode(place);
    await node.takeAll();
    expect(node.errors).toEqual([]);
    expect([node.read('acme', 'badge.svg'), node.read('beta', 'badge.svg')]).toEqual([
      '<svg>down</svg>',
      '<svg>up</svg>',
    ]);
  });

  it('does not add up where another node uploads from now on, nor by copies of what the database says', async () => {
    const place = await startPlace();
    const { release, begin } = await releasing(place);
    let copies = 0;
    const site: UploadDeps['site'] = async () => {
      copies += 1;
      return { digest: String(copies), sealed: () => Buffer.from(`copy ${copies}`) };
    };
    const counts: number[] = [];
    for (let node = 0; node < 4; node += 1) {
      const uploader = begin({ site });
      for (let news = 0; news < 3; news += 1) {
        await release({ acme: `${node} ${news}`, beta: 'up' });
        await uploader.update();
      }
      counts.push((await place.keys()).length);
    }
    const [first = 0, ...others] = counts;
    // Nobody lists the bucket, so what the node before knew of stays: two releases of a page at most.
    for (const [index, count] of others.entries()) expect(count).toBeLessThanOrEqual(first + 12 * (index + 1));
  });

  it('is taken away by nobody but the node that uploads', async () => {
    const place = await startPlace();
    const { release, begin } = await releasing(place);
    let isElected = true;
    const uploader = begin({
      mayUpload: async () => isElected,
      times: async () => {
        // Asked for before the index is written: the node is paused after that.
        setImmediate(() => {
          isElected = false;
        });
        return {};
      },
    });
    const before: string[] = [];
    for (const badge of ['one', 'two', 'three']) {
      isElected = true;
      await release({ acme: badge });
      before.push(...(await place.keys()));
      await uploader.update();
    }
    const keys = await place.keys();
    expect(before.filter((key) => !keys.includes(key))).toEqual([]);
  });
});

describe('objects in a bucket', () => {
  it('are read as they were written, one or many at a time', async () => {
    const place = await startPlace();
    const store = place.open();
    ends.push(store.close);
    const bodies = [
      Buffer.alloc(0),
      Buffer.from([0, 255, 92, 120, 0]),
      Buffer.alloc(300_000, '\0\\x41'),
      Buffer.from('é'),
    ];
    const many = Array.from({ length: 100 }, (_, index) => Buffer.from(`object ${index}`));
    const objects = [...bodies, ...many].map((bytes) => [objectKey(objectDigest(bytes)), bytes] as const);
    await Promise.all(objects.map(([key, bytes]) => store.put(key, bytes)));
    const [again] = objects;
    if (again !== undefined) await store.put(...again);
    const found = await Promise.all([...objects, ...objects].map(([key]) => store.get(key)));
    for (const [index, [, bytes]] of [...objects, ...objects].entries()) expect(found[index]).toEqual(bytes);
    expect(await store.get(objectKey('none'))).toBeNull();
    await Promise.all(objects.slice(0, 50).map(([key]) => store.remove(key)));
    await store.remove(objectKey('none'));
    expect((await place.keys()).toSorted()).toEqual(
      objects
        .slice(50)
        .map(([key]) => key)
        .toSorted(),
    );
  });

  it('are replaced only over the version that was seen, by one of those who try together', async () => {
    const place = await startPlace();
    const [one, other] = [place.open(), place.open()];
    for (const store of [one, other]) ends.push(store.close);
    expect(await one.getIfOther(RELEASE_INDEX.key, null)).toEqual({ bytes: null, version: null });
    const settled = async (tries: readonly Promise<string>[]) => {
      const all = await Promise.allSettled(tries);
      const refused = all.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
      expect(refused).toEqual([expect.objectContaining({ code: 'TARGET_BUSY' })]);
      return all.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))[0] ?? '';
    };
    const first = await settled([
      one.replace(RELEASE_INDEX.key, Buffer.from('1'), null),
      other.replace(RELEASE_INDEX.key, Buffer.from('2'), null),
    ]);
    expect(await other.getIfOther(RELEASE_INDEX.key, first)).toBeNull();
    const second = await settled([
      one.replace(RELEASE_INDEX.key, Buffer.from('3'), first),
      other.replace(RELEASE_INDEX.key, Buffer.from('4'), first),
    ]);
    const found = await one.getIfOther(RELEASE_INDEX.key, first);
    expect([found?.version, ['3', '4'].includes(found?.bytes?.toString() ?? '')]).toEqual([second, true]);
    await expect(other.replace(RELEASE_INDEX.key, Buffer.from('5'), first)).rejects.toMatchObject({
      code: 'TARGET_BUSY',
    });
  });

  it('are not taken where they are larger than any release needs', async () => {
    const place = await startPlace();
    const store = place.open();
    ends.push(store.close);
    await place.write(RELEASE_INDEX.key, Buffer.alloc(33 * 1024 * 1024));
    const message = expect.stringMatching(/larger than 33554432 bytes\. Check that releases\.s3\.endpoint/);
    await expect(store.get(RELEASE_INDEX.key)).rejects.toMatchObject({ message });
    await expect(store.getIfOther(RELEASE_INDEX.key, 'other')).rejects.toMatchObject({ message });
  });

  it('are not asked for once it is closed', async () => {
    const place = await startPlace();
    const store = place.open();
    await store.put('objects/a', Buffer.from('a'));
    await store.close();
    await expect(store.get('objects/a')).rejects.toThrow();
    await expect(store.put('objects/b', Buffer.from('b'))).rejects.toThrow();
    expect(await place.keys()).toEqual(['objects/a']);
  });
});

describe('a node that takes releases out of a bucket', () => {
  it('serves each file from when it is first asked for, byte for byte, with what badges are drawn from', async () => {
    const place = await startPlace();
    const { site } = await publishedSite();
    await uploaderOf(site, place).update();
    const node = webNode(place);
    const taker = node.begin();
    await taker.refresh();
    place.slow(50);
    // The address that browsers ask for by themselves, and what they get there.
    await taker.ensure('acme', 'favicon.ico');
    expect(node.read('acme', 'favicon.svg')).toBe(site.served('acme', 'favicon.svg'));
    const manifest = currentManifest(site.folders, 'acme');
    for (const path of Object.keys(manifest?.files ?? {}).slice(0, 6)) {
      await taker.ensure('acme', path);
      expect(node.read('acme', path)).toBe(site.served('acme', path));
    }
    await taker.filled();
    expect(taker.ensure('acme', 'index.html')).toBeNull();
    expect(createReleaseReader(node.folders).open('acme')?.data()).toEqual(
      createReleaseReader(site.folders).open('acme')?.data(),
    );
    expect(node.errors).toEqual([]);
  });

  it('switches to news only once all of it is here, and never to what a gate has overtaken', async () => {
    const place = await startPlace();
    const { site, run } = await publishedSite();
    const uploader = uploaderOf(site, place);
    await uploader.update();
    let isOpen = true;
    const node = webNode(place, { mayServe: async ({ slug }) => isOpen || slug !== 'acme' });
    const taker = await node.takeAll();
    const before = currentNumber(node.folders, 'acme');
    place.puts();
    await publish(site, run, 'major_outage');
    await uploader.update();
    const late = new Map<string, Buffer>();
    for (const key of place.puts().filter((one) => one.endsWith('.br'))) late.set(key, await place.read(key));
    for (const key of late.keys()) await place.write(key, null);
    await taker.refresh();
    expect(currentNumber(node.folders, 'acme')).toBe(before);
    expect(node.errors.length).toBeGreaterThan(0);
    for (const [key, bytes] of late) await place.write(key, bytes);
    isOpen = false;
    await taker.refresh();
    expect(currentNumber(node.folders, 'acme')).toBe(before);
    isOpen = true;
    await taker.refresh();
    expect(currentNumber(node.folders, 'acme')).toBe(currentNumber(site.folders, 'acme'));
    expect(node.read('acme', 'index.html')).toBe(site.served('acme', 'index.html'));
  });

  it('follows a page that opens, and one that closes, whatever folders it has', async () => {
    const place = await startReleasePlace();
    ends.push(place.close);
    const folders = testFolders();
    ends.push(folders.remove);
    const uploader = uploaderOf({ folders }, place);
    const node = webNode(place);
    for (const access of ['password', 'public', 'password', 'public'] as const) {
      // Nothing stands directly in `components`.
      const files = [drawn('index.html', htmlOf(access)), drawn('components/a/index.html', htmlOf(access))];
      const input = inputOf(files, { access });
      const release = { disk: DISK, folders, nextNumber: releaseNumbersFrom() };
      const { number } = await writeRelease(release, input, currentManifest(folders, 'acme'));
      await switchTo({ disk: DISK, folders }, { slug: 'acme', number, isPublic: access === 'public' });
      await uploader.update();
      await node.takeAll();
      expect(node.read('acme', 'components/a/index.html')).toContain(access);
    }
  });

  it.each(['an older configuration', 'another key'])(
    'closes what is private by the index, also with %s',
    async (what) => {
      const place = await startPlace();
      const { site, run } = await publishedSite();
      const uploader = uploaderOf(site, place);
      await uploader.update();
      let isOther = false;
      const node = webNode(place, {
        mayServe: async ({ access }) => access === 'public',
        onIndex: async () => {
          if (isOther && what === 'another key') throw new Error('encrypted with another key');
        },
      });
      const taker = await node.takeAll();
      expect(node.read('acme', 'index.html')).toBe(site.served('acme', 'index.html'));
      isOther = true;
      await publish(site, run, 'degraded');
      const index = await place.index();
      const acme = { ...index.pages['acme'], access: 'password' };
      await place.write(RELEASE_INDEX.key, Buffer.from(JSON.stringify({ ...index, pages: { ...index.pages, acme } })));
      await taker.refresh().catch(() => undefined);
      expect(servedRelease(node.folders, 'acme')).toBeNull();
      expect(servedRelease(node.folders, 'beta')).toMatchObject({ isPublic: true });
    },
  );

  it('follows what is published after a backup was restored, whose numbers are smaller', async () => {
    const place = await startReleasePlace();
    ends.push(place.close);
    const told: ReadonlyMap<string, number>[] = [];
    const node = webNode(place);
    for (const [number, access] of [
      [7, 'password'],
      [3, 'public'],
    ] as const) {
      const folders = testFolders();
      ends.push(folders.remove);
      const input = inputOf([drawn('index.html', htmlOf(access))], { access });
      await writeRelease({ disk: DISK, folders, nextNumber: async () => number }, input, null);
      await switchTo({ disk: DISK, folders }, { slug: 'acme', number, isPublic: access === 'public' });
      const isShown = (release: { readonly access: string }) => release.access === access;
      const onNumbers = async (numbers: ReadonlyMap<string, number>) => void told.push(numbers);
      await uploaderOf({ folders }, place, { isShown, onNumbers }).update();
      await node.takeAll();
      expect(node.read('acme', 'index.html')).toContain(access);
    }
    expect(told).toEqual([new Map(), new Map([['acme', 7]])]);
    const learnt: ReadonlyMap<string, number>[] = [];
    const folders = testFolders();
    ends.push(folders.remove);
    await uploaderOf({ folders }, place, { onNumbers: async (numbers) => void learnt.push(numbers) }).learnNumbers();
    expect(learnt).toEqual([new Map([['acme', 3]])]);
  });

  it('goes on without it, and after a restart with what it has', async () => {
    const place = await startPlace();
    const { site } = await publishedSite();
    await uploaderOf(site, place).update();
    const node = webNode(place);
    await node.takeAll();
    const fault = await place.cut();
    const again = node.begin();
    await expect(again.refresh()).rejects.toMatchObject(fault);
    await again.ensure('acme', 'index.html');
    expect(again.hasReleases()).toBe(true);
    expect(node.read('acme', 'index.html')).toBe(site.served('acme', 'index.html'));
  });

  it('serves nothing that was changed there', async () => {
    const place = await startPlace();
    const { site } = await publishedSite();
    await uploaderOf(site, place).update();
    const manifest = currentManifest(site.folders, 'acme');
    const digest = manifest?.files['index.html']?.sha256 ?? 'none';
    const keys = await place.keys();
    const key = keys.find((one) => one.includes(digest)) ?? '';
    const whole = await place.read(key);
    const other = await place.read(keys.find((one) => one.endsWith('.br') && one !== key) ?? '');
    const node = webNode(place);
    const taker = node.begin();
    for (const bytes of [Buffer.from('defaced'), other, Buffer.alloc(0)]) {
      await place.write(key, bytes);
      await taker.refresh();
      await taker.ensure('acme', 'index.html');
      await taker.filled();
      expect(node.read.bind(null, 'acme', 'index.html')).toThrow();
    }
    await place.write(key, whole);
    await taker.ensure('acme', 'index.html');
    expect(node.read('acme', 'index.html')).toBe(site.served('acme', 'index.html'));
    // A manifest of another page under this one's name.
    const index = await place.index();
    const forged = { ...index, pages: { ...index.pages, acme: index.pages['beta'] } };
    await place.write(RELEASE_INDEX.key, Buffer.from(JSON.stringify(forged)));
    await taker.refresh();
    expect(node.errors.at(-1)).toContain('does not match the index');
    expect(node.read('acme', 'index.html')).toBe(site.served('acme', 'index.html'));
  });

  it(`serves ${PAGES} pages soon after it began with nothing`, async () => {
    const place = await startPlace();
    const folders = testFolders();
    ends.push(folders.remove);
    const slugs = Array.from({ length: PAGES }, (_, index) => `page-${index}`);
    const deps = { disk: UNHURRIED, folders, nextNumber: releaseNumbersFrom() };
    for (const slug of slugs) {
      const { number } = await writeRelease(deps, inputOf(filesOf(slug), { slug }), null);
      await switchTo({ disk: UNHURRIED, folders }, { slug, number, isPublic: true });
    }
    await uploaderOf({ folders }, place).update();
    const node = webNode(place);
    const taker = node.begin();
    const began = performance.now();
    await taker.refresh();
    const manifestsMs = performance.now() - began;
    const reader = createReleaseReader(node.folders);
    await Promise.all(slugs.map((slug) => taker.ensure(slug, 'index.html')));
    for (const slug of slugs) expect(reader.open(slug)?.read('index.html', null).toString()).toContain(slug);
    const servedMs = performance.now() - began;
    await taker.filled();
    const wholeMs = performance.now() - began;
    if (SCALE >= 10)
      console.log(JSON.stringify({ pages: PAGES, files: filesOf('').length, manifestsMs, servedMs, wholeMs }));
    expect(servedMs).toBeLessThan(10_000);
    expect(node.errors).toEqual([]);
  }, 600_000);
});

/** A page as large as one with twenty components, and a few files that all pages have alike. */
function filesOf(slug: string): readonly ReleaseFile[] {
  const rows = Array.from({ length: 200 }, (_, row) => `<li>${row * 7_919} ${slug}</li>`).join('');
  return [drawn('index.html', htmlOf(`${slug} ${rows}`, 8_000)), ...ALIKE];
}

const ALIKE = ['summary', 'status', 'components'].map((name) =>
  drawn(`api/v2/${name}.json`, JSON.stringify({ name, padding: 'y'.repeat(2_000) })),
);

/** Nothing of this has to outlive the machine. */
const UNHURRIED: Disk = {
  ...DISK,
  syncFolder: async () => undefined,
  batch: () => {
    const batch = DISK.batch();
    return { ...batch, flush: async () => batch.close() };
  },
};
