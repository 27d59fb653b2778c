import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { SECOND_MS, toEpochMs } from '../../src/model/time.ts';
import { DISK, type Disk } from '../../src/publish/releases/disk.ts';
import { currentNumber, releaseFolders, releaseNumbers } from '../../src/publish/releases/folders.ts';
import { currentManifest } from '../../src/publish/releases/manifest.ts';
import { rollbackTo } from '../../src/publish/releases/rollback.ts';
import { switchTo } from '../../src/publish/releases/switch.ts';
import { type ReleaseFile, writeRelease } from '../../src/publish/releases/write.ts';
import { createBucketStore } from '../../src/publish/stored/bucket.ts';
import { parseIndex, type ReleaseIndex } from '../../src/publish/stored/release-store.ts';
import { createTaker, type TakeDeps } from '../../src/publish/stored/take.ts';
import { createUploader, type UploadDeps } from '../../src/publish/stored/upload.ts';
import { createReleaseReader } from '../../src/server/visitors/release-reader.ts';
import { drawn, htmlOf, inputOf, releaseNumbersFrom, testFolders } from '../helpers/release-inputs.ts';
import { S3_KEYS, startS3Server } from '../helpers/s3-server.ts';
import { closeSmallSites, createSmallSite, type SmallSite } from '../helpers/small-site.ts';

const SCALE = Number(process.env['PHAROS_TEST_SCALE'] ?? 1);
/** A thousand at ten times the scale. */
const PAGES = Math.round(100 * SCALE);

const ends: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
  await closeSmallSites();
});

async function startBucket() {
  const bucket = await startS3Server();
  ends.push(bucket.close);
  const revealed = (text: string) => ({ reveal: () => text });
  const open = () => {
    const store = createBucketStore(
      {
        endpoint: bucket.endpoint,
        bucket: bucket.bucket,
        region: 'us-east-1',
        prefix: 'p/',
        addressing: 'path',
        accessKeyId: revealed(S3_KEYS.accessKeyId),
        secretAccessKey: revealed(S3_KEYS.secretAccessKey),
      },
      { now: () => toEpochMs(Date.now()), random: Math.random, limits: { attempts: 1 } },
    );
    ends.push(store.close);
    return store;
  };
  const index = (): ReleaseIndex => parseIndex(Buffer.from(bucket.text('p/releases.json') ?? '')) as ReleaseIndex;
  const puts = (): string[] => {
    const keys = bucket.events.filter(({ method }) => method === 'PUT').map(({ key }) => key);
    bucket.forgetEvents();
    return keys;
  };
  return { bucket, open, index, puts };
}

type Bucket = Awaited<ReturnType<typeof startBucket>>;

function uploaderOf(site: Pick<SmallSite, 'folders'>, { open }: Pick<Bucket, 'open'>, over: Partial<UploadDeps> = {}) {
  return createUploader({
    store: open(),
    folders: site.folders,
    mayUpload: async () => true,
    isShown: () => true,
    site: async () => null,
    times: async () => ({}),
    ...over,
  });
}

function webNode({ open }: Pick<Bucket, 'open'>, over: Partial<TakeDeps> = {}) {
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
  const read = (slug: string, path: string): string =>
    createReleaseReader(folders).open(slug)?.read(path, null).toString('utf8') ?? '';
  return { folders, errors, begin, read };
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

describe('releases in a bucket', () => {
  it('are uploaded once each, the index last, and only what changed after', async () => {
    const bucket = await startBucket();
    const { site, run } = await publishedSite();
    const uploader = uploaderOf(site, bucket);
    const first = await uploader.update();
    expect(first.releases).toBe(3);
    const keys = bucket.puts();
    expect(keys.at(-1)).toBe('p/releases.json');
    expect(keys.slice(0, -1).every((key) => /^p\/objects\/[0-9a-f]{64}(\.br)?$/.test(key))).toBe(true);
    expect(Object.keys(bucket.index().pages).toSorted()).toEqual(['_site', 'acme', 'beta']);
    expect(await uploader.update()).toMatchObject({ releases: 0, objects: 0, isIndexWritten: false });
    expect(bucket.puts()).toEqual([]);
    await publish(site, run, 'major_outage');
    const second = await uploader.update();
    expect(second.releases).toBe(2);
    expect(second.objects).toBeLessThan(first.objects / 2);
    // What two releases of a page ago only had is gone, and all that the index names is there.
    await publish(site, run, 'degraded');
    await uploader.update();
    const node = webNode(bucket);
    const taker = node.begin();
    await taker.refresh();
    await taker.filled();
    expect(node.errors).toEqual([]);
    const before = bucket.bucket.keys().length;
    for (const state of ['operational', 'degraded', 'operational', 'degraded'] as const) {
      await publish(site, run, state);
      await uploader.update();
    }
    expect(bucket.bucket.keys().length).toBeLessThan(before + first.objects / 2);
  });

  it('are left alone by a node that is not the one, and never set back by one that is behind', async () => {
    const bucket = await startBucket();
    const { site, run } = await publishedSite();
    let isElected = false;
    const uploader = uploaderOf(site, bucket, { mayUpload: async () => isElected });
    await uploader.update();
    expect(bucket.puts()).toEqual([]);
    isElected = true;
    await publish(site, run, 'major_outage');
    await uploader.update();
    const number = bucket.index().pages['acme']?.number ?? 0;
    // Another node with a folder of its own, which has not published the news yet.
    const other = createSmallSite({ pages: ['acme', 'beta'] });
    await other.pass();
    const behind = other.publisher();
    await behind.run();
    await behind.publisher.settled();
    expect(currentNumber(other.folders, 'acme')).toBeLessThan(number);
    await uploaderOf(other, bucket).update();
    expect(bucket.index().pages['acme']?.number).toBe(number);
    // The one that published them goes back when an operator says so.
    const deps = {
      database: site.store.database,
      folders: site.folders,
      now: () => site.clock.now,
      sleep: async () => undefined,
    };
    const back = await rollbackTo(deps, { slug: 'acme', release: null });
    await uploader.update();
    expect(bucket.index().pages['acme']?.number).toBe(back.number);
    expect(back.number).toBeLessThan(number);
  });

  it('leave the index as soon as who may see a page changes, whatever else is to be done', async () => {
    const bucket = await startBucket();
    const { site, run } = await publishedSite();
    let hidden = '';
    const uploader = uploaderOf(site, bucket, { isShown: (slug) => slug !== hidden });
    await uploader.update();
    const node = webNode(bucket);
    const taker = node.begin();
    await taker.refresh();
    await taker.filled();
    expect(node.read('acme', 'index.html')).toBe(site.served('acme', 'index.html'));
    hidden = 'acme';
    await publish(site, run, 'major_outage');
    await uploader.update();
    expect(Object.keys(bucket.index().pages)).not.toContain('acme');
    await taker.refresh();
    expect([currentNumber(node.folders, 'acme'), releaseNumbers(node.folders, 'acme')]).toEqual([null, []]);
  });

  it('are written over by nobody who did not see what is there', async () => {
    const bucket = await startBucket();
    const { site, run } = await publishedSite();
    const [one, other] = [uploaderOf(site, bucket), uploaderOf(site, bucket)];
    await one.update();
    await other.update();
    await publish(site, run, 'major_outage');
    await one.update();
    await publish(site, run, 'degraded');
    await expect(other.update()).rejects.toMatchObject({ code: 'TARGET_BUSY' });
    await other.update();
    expect(bucket.index().pages['acme']?.number).toBe(currentNumber(site.folders, 'acme'));
  });
});

describe('a node that takes releases', () => {
  it('serves each file from when it is first asked for, byte for byte, with what badges are drawn from', async () => {
    const bucket = await startBucket();
    const { site } = await publishedSite();
    await uploaderOf(site, bucket).update();
    let isHeld = true;
    const gate = Promise.withResolvers<void>();
    bucket.bucket.fault = () => (isHeld ? null : { kind: 'slow', ms: 50 });
    const node = webNode(bucket);
    const taker = node.begin();
    await taker.refresh();
    isHeld = false;
    gate.resolve();
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
    const bucket = await startBucket();
    const { site, run } = await publishedSite();
    const uploader = uploaderOf(site, bucket);
    await uploader.update();
    let isOpen = true;
    const node = webNode(bucket, { mayServe: async ({ slug }) => isOpen || slug !== 'acme' });
    const taker = node.begin();
    await taker.refresh();
    await taker.filled();
    const before = currentNumber(node.folders, 'acme');
    await publish(site, run, 'major_outage');
    await uploader.update();
    bucket.bucket.fault = ({ key }) => (key.endsWith('.br') ? { kind: 'cut' } : null);
    await taker.refresh();
    expect(currentNumber(node.folders, 'acme')).toBe(before);
    expect(node.errors.length).toBeGreaterThan(0);
    bucket.bucket.fault = () => null;
    isOpen = false;
    await taker.refresh();
    expect(currentNumber(node.folders, 'acme')).toBe(before);
    isOpen = true;
    await taker.refresh();
    expect(currentNumber(node.folders, 'acme')).toBe(currentNumber(site.folders, 'acme'));
    expect(node.read('acme', 'index.html')).toBe(site.served('acme', 'index.html'));
  });

  it('goes on without the bucket, and after a restart with what it has', async () => {
    const bucket = await startBucket();
    const { site } = await publishedSite();
    await uploaderOf(site, bucket).update();
    const node = webNode(bucket);
    const taker = node.begin();
    await taker.refresh();
    await taker.filled();
    bucket.bucket.fault = () => ({ kind: 'cut' });
    const again = node.begin();
    await expect(again.refresh()).rejects.toMatchObject({ code: 'TARGET_UNREACHABLE' });
    await again.ensure('acme', 'index.html');
    expect(again.hasReleases()).toBe(true);
    expect(node.read('acme', 'index.html')).toBe(site.served('acme', 'index.html'));
  });

  it('serves nothing that was changed in the bucket', async () => {
    const bucket = await startBucket();
    const { site } = await publishedSite();
    await uploaderOf(site, bucket).update();
    const { objects } = bucket.bucket;
    const manifest = currentManifest(site.folders, 'acme');
    const index = manifest?.files['index.html'];
    const key = [...objects.keys()].find((one) => one.includes(index?.sha256 ?? 'none')) ?? '';
    const whole = objects.get(key);
    const other = [...objects].find(([one]) => one.endsWith('.br') && one !== key)?.[1];
    const node = webNode(bucket);
    const taker = node.begin();
    for (const body of [Buffer.from('defaced'), other?.body ?? Buffer.alloc(0), Buffer.alloc(0)]) {
      objects.set(key, { ...whole, body } as NonNullable<typeof whole>);
      await taker.refresh();
      await taker.ensure('acme', 'index.html');
      await taker.filled();
      expect(node.read.bind(null, 'acme', 'index.html')).toThrow();
    }
    objects.set(key, whole as NonNullable<typeof whole>);
    await taker.ensure('acme', 'index.html');
    expect(node.read('acme', 'index.html')).toBe(site.served('acme', 'index.html'));
    // A manifest of another page under this one's name.
    const pages = bucket.index().pages;
    const forged = { ...bucket.index(), pages: { ...pages, acme: pages['beta'] } };
    objects.set('p/releases.json', { ...whole, etag: '"forged"', body: Buffer.from(JSON.stringify(forged)) } as never);
    await taker.refresh();
    expect(node.errors.at(-1)).toContain('is not what the index names');
    expect(node.read('acme', 'index.html')).toBe(site.served('acme', 'index.html'));
  });

  it(`serves ${PAGES} pages soon after it began with nothing`, async () => {
    const bucket = await startBucket();
    const folders = testFolders();
    ends.push(folders.remove);
    const slugs = Array.from({ length: PAGES }, (_, index) => `page-${index}`);
    const deps = { disk: UNHURRIED, folders, nextNumber: releaseNumbersFrom() };
    for (const slug of slugs) {
      const { number } = await writeRelease(deps, inputOf(filesOf(slug), { slug }), null);
      await switchTo({ disk: UNHURRIED, folders }, { slug, number, isPublic: true });
    }
    await uploaderOf({ folders }, bucket).update();
    const node = webNode(bucket);
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
