import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { prune, RELEASES_KEPT, removeOrphans } from '../../src/publish/releases/clean.ts';
import { DISK, type Disk } from '../../src/publish/releases/disk.ts';
import { currentNumber, filesFolder, releaseNumbers, servedRelease } from '../../src/publish/releases/folders.ts';
import { currentManifest, type Manifest, readManifest } from '../../src/publish/releases/manifest.ts';
import { readReleaseData } from '../../src/publish/releases/release-data.ts';
import { hideFromPublic, switchTo, withdraw } from '../../src/publish/releases/switch.ts';
import {
  DamagedReleaseError,
  type ReleaseFile,
  type ReleaseInput,
  writeRelease,
} from '../../src/publish/releases/write.ts';
import {
  addVariants,
  drawn,
  failingDisk,
  htmlOf,
  inputOf,
  kept,
  releaseNumbersFrom,
  servedTree,
  type TestFolders,
  testFolders,
  treeOf,
  wholeFiles,
} from '../helpers/release-inputs.ts';

describe('releases', () => {
  let folders: TestFolders;
  let nextNumber: ReturnType<typeof releaseNumbersFrom>;
  beforeEach(() => {
    folders = testFolders();
    nextNumber = releaseNumbersFrom();
  });
  afterEach(() => folders.remove());

  const place = (disk: Disk = DISK) => ({ disk, folders, nextNumber });

  async function publish(
    files: readonly ReleaseFile[],
    { over = {}, disk = DISK }: { over?: Partial<ReleaseInput>; disk?: Disk } = {},
  ): Promise<Manifest> {
    const manifest = await writeRelease(place(disk), inputOf(files, over), currentManifest(folders, 'acme'));
    await switchTo(place(disk), { slug: 'acme', number: manifest.number, isPublic: manifest.access === 'public' });
    prune(place(disk), 'acme');
    return manifest;
  }

  const served = (path: string): string => readFileSync(join(folders.publicSite, 'acme', path), 'utf8');

  it('are read also as an older Pharos wrote them, with its word for the variants', async () => {
    const manifest = await addVariants(place(), await publish(wholeFiles('one')));
    const file = join(folders.releases, 'acme', String(manifest.number), 'manifest.json');
    const files = Object.entries(manifest.files).map(([path, { variants, ...record }]) => [
      path,
      { ...record, twins: variants },
    ]);
    writeFileSync(file, JSON.stringify({ ...manifest, format: 2, files: Object.fromEntries(files) }));
    expect(currentManifest(folders, 'acme')?.files).toEqual(manifest.files);
    expect(manifest.files['index.html']?.variants).toContain('br');
  });

  it('are served by following one link, each file with variants that unpack to it', async () => {
    const written = await publish(wholeFiles('one'));
    expect(written.files['index.html']?.variants).toBeNull();
    const manifest = await addVariants(place(), written);
    expect(currentManifest(folders, 'acme')).toEqual(manifest);
    expect(readlinkSync(join(folders.publicSite, 'acme'))).toBe('../../releases/acme/1/files');
    for (const [path, record] of Object.entries(manifest.files)) {
      const body = served(path);
      expect(Buffer.byteLength(body)).toBe(record.bytes);
      const unpacked = {
        br: () => brotliDecompressSync(readFileSync(join(folders.publicSite, 'acme', `${path}.br`))),
        gzip: () => gunzipSync(readFileSync(join(folders.publicSite, 'acme', `${path}.gz`))),
        zstd: () => zstdDecompressSync(readFileSync(join(folders.publicSite, 'acme', `${path}.zst`))),
      };
      for (const encoding of record.variants ?? [])
        expect([path, unpacked[encoding]().toString('utf8')]).toEqual([path, body]);
    }
    expect(manifest.files['index.html']?.variants).toEqual(['br', 'zstd', 'gzip']);
    expect(manifest.files['api/state.json']?.variants).toEqual([]);
  });

  it('share every folder in which nothing changed, and every file beside one that did', async () => {
    await publish(wholeFiles('one'));
    const changed = [
      drawn('index.html', htmlOf('two', 2_000)),
      kept('api/v2/summary.json'),
      drawn('api/state.json', '{"name":"two"}'),
      kept('components/a/index.html'),
      kept('components/b/index.html'),
      kept('favicon.svg'),
    ];
    const [before, after] = [currentManifest(folders, 'acme'), await publish(changed)];
    expect(after.folders['components']).toBe(before?.folders['components']);
    expect(after.folders['api/v2']).toBe(before?.folders['api/v2']);
    expect(after.folders['api']).not.toBe(before?.folders['api']);
    const inode = (number: number) => statSync(join(filesFolder(folders, 'acme', number), 'favicon.svg')).ino;
    expect(inode(2)).toBe(inode(1));
    expect(JSON.parse(served('api/state.json'))).toEqual({ name: 'two' });
    expect(served('index.html')).toContain('two');
    expect(served('components/a/index.html')).toContain('one a');
    // The one before is whole as well.
    expect(readFileSync(join(filesFolder(folders, 'acme', 1), 'api/state.json'), 'utf8')).toBe('{"name":"one"}');
  });

  it('leave out what is no longer in them, whole folders too', async () => {
    await publish(wholeFiles('one'));
    await publish([kept('index.html'), kept('api/v2/summary.json'), kept('components/b/index.html')]);
    expect(Object.keys(servedTree(folders.publicSite, 'acme')).filter((path) => !/\.(br|gz|zst)$/.test(path))).toEqual([
      'api/v2/summary.json',
      'components/b/index.html',
      'index.html',
    ]);
  });

  it('are the same bytes for the same files, whatever was published before', async () => {
    await publish(wholeFiles('zero'));
    await publish(wholeFiles('one'));
    await publish([drawn('index.html', htmlOf('two', 2_000)), ...wholeFiles('one').slice(1)]);
    const grown = servedTree(folders.publicSite, 'acme');
    await withdraw(place(), 'acme');
    await publish([drawn('index.html', htmlOf('two', 2_000)), ...wholeFiles('one').slice(1)]);
    expect(servedTree(folders.publicSite, 'acme')).toEqual(grown);
  });

  it('keep the last five and what they need, and nothing else', async () => {
    await publish(wholeFiles('0'));
    for (let round = 1; round <= 12; round += 1)
      await publish(
        [
          drawn('index.html', htmlOf(String(round), 2_000)),
          drawn('api/state.json', `{"round":${round}}`),
          kept('components/a/index.html'),
        ].filter(({ path }) => round > 1 || path !== 'components/b/index.html'),
      );
    expect(releaseNumbers(folders, 'acme')).toEqual([9, 10, 11, 12, 13]);
    expect(RELEASES_KEPT).toBe(5);
    for (const number of releaseNumbers(folders, 'acme')) {
      const state = readFileSync(join(filesFolder(folders, 'acme', number), 'api/state.json'), 'utf8');
      expect(JSON.parse(state)).toEqual({ round: number - 1 });
      expect(readFileSync(join(filesFolder(folders, 'acme', number), 'components/a/index.html'), 'utf8')).toContain(
        '0 a',
      );
    }
    const needed = new Set(
      releaseNumbers(folders, 'acme').flatMap((number) =>
        Object.values(readManifest(folders, 'acme', number)?.folders ?? {}),
      ),
    );
    expect(new Set(readdirSync(join(folders.releases, 'acme', 'folders')))).toEqual(needed);
  });

  it('take over the links to folders that stay, as the same inode where the system can', async () => {
    await publish(wholeFiles('one'));
    const linkOf = (name: string) => {
      const manifest = currentManifest(folders, 'acme');
      const place = join(folders.releases, 'acme', 'folders', manifest?.folders['components'] ?? '', name);
      return { inode: lstatSync(place).ino, target: readlinkSync(place) };
    };
    const [a, b] = [linkOf('a'), linkOf('b')];
    const changed = [
      ...wholeFiles('one')
        .slice(0, 3)
        .map(({ path }) => kept(path)),
      kept('favicon.svg'),
    ];
    await publish([
      ...changed,
      drawn('components/a/index.html', htmlOf('two a', 2_000)),
      kept('components/b/index.html'),
    ]);
    expect(linkOf('a').target).not.toBe(a.target);
    expect(linkOf('b').target).toBe(b.target);
    if (process.platform === 'linux') expect(linkOf('b').inode).toBe(b.inode);

    const refusing = {
      ...DISK,
      link: (from: string, to: string) => {
        if (lstatSync(from).isSymbolicLink()) throw Object.assign(new Error('EPERM'), { code: 'EPERM' });
        DISK.link(from, to);
      },
    };
    await publish(
      [...changed, drawn('components/a/index.html', htmlOf('three a', 2_000)), kept('components/b/index.html')],
      { disk: refusing },
    );
    expect(linkOf('b').target).toBe(b.target);
    expect(linkOf('b').inode).not.toBe(b.inode);
    expect(served('components/b/index.html')).toContain('one b');
    expect(served('components/a/index.html')).toContain('three a');
  });

  it('keep their data for drawing on demand', async () => {
    await publish(wholeFiles('one'), { over: { data: () => '{"listed":["acme"]}' } });
    expect(readReleaseData(folders, 'acme', 1)?.listed).toEqual([{ slug: 'acme', page: null }]);
  });

  it('are gone from the public side before they are served behind a gate, and come out of it again', async () => {
    await publish(wholeFiles('one'));
    const order: string[] = [];
    const noting: Disk = {
      ...DISK,
      unlink: (path) => {
        order.push(`unlink ${path.slice(folders.root.length)}`);
        DISK.unlink(path);
      },
      rename: (from, to) => {
        order.push(`rename ${to.slice(folders.root.length)}`);
        DISK.rename(from, to);
      },
    };
    await publish(wholeFiles('two'), { over: { access: 'password' }, disk: noting });
    expect(order).toEqual(['unlink /site/public/acme', 'rename /site/private/acme']);
    expect(servedRelease(folders, 'acme')).toEqual({ number: 2, isPublic: false });
    order.length = 0;
    await publish(wholeFiles('three'), { disk: noting });
    expect(order).toEqual(['rename /site/public/acme', 'unlink /site/private/acme']);
    expect(servedRelease(folders, 'acme')).toEqual({ number: 3, isPublic: true });
  });

  it('can be hidden without a new one', async () => {
    await publish(wholeFiles('one'));
    await hideFromPublic(place(), 'acme');
    expect(existsSync(join(folders.publicSite, 'acme'))).toBe(false);
    expect(currentNumber(folders, 'acme')).toBeNull();
  });

  const BROKEN: readonly (readonly [string, string, string])[] = [
    ['index.html', '', 'came out empty'],
    ['index.html', htmlOf('one').slice(0, -9), 'does not end'],
    ['index.html', `Internal error ${htmlOf('one')}`, 'does not start like'],
    ['index.html', '{"status":500}', 'does not start like'],
    ['api/state.json', '{"name":', 'is not JSON'],
    ['api/state.json', '', 'came out empty'],
    ['favicon.svg', '<svg xmlns="http://www.w3.org/2000/svg">', 'does not end'],
  ];
  it.each(BROKEN)('are not switched to when %s is %j', async (path, body, fault) => {
    await publish(wholeFiles('one'));
    const before = treeOf(folders.root);
    const files = wholeFiles('two').map((file) => (file.path === path ? drawn(path, body) : file));
    await expect(publish(files)).rejects.toThrow(fault);
    expect(treeOf(folders.root)).toEqual(before);
  });

  it('are not switched to without a home page', async () => {
    await publish(wholeFiles('one'));
    const before = treeOf(folders.root);
    await expect(publish(wholeFiles('two').slice(1))).rejects.toThrow('index.html');
    expect(treeOf(folders.root)).toEqual(before);
  });

  it('are not switched to when the disk holds something else than was written, whichever byte it is', async () => {
    const written: [string, Uint8Array][] = [];
    const noting = corrupting((path, bytes) => {
      written.push([path, bytes]);
      return bytes;
    });
    await publish(wholeFiles('two'), { disk: noting });
    await withdraw(place(), 'acme');
    const bodies = written.filter(([path]) => !/\.(br|gz|zst)$|manifest\.json$/.test(path));
    expect(bodies.length).toBeGreaterThan(5);
    let refused = 0;
    for (const [index, [, bytes]] of bodies.entries())
      for (const at of [0, Math.floor(bytes.length / 2), bytes.length - 1]) {
        let count = -1;
        const disk = corrupting((path, original) => {
          if (/\.(br|gz|zst)$|manifest\.json$/.test(path)) return original;
          count += 1;
          return count === index ? original.with(at, (original[at] ?? 0) ^ 1) : original;
        });
        await expect(publish(wholeFiles('two'), { disk })).rejects.toThrow('manifest');
        refused += 1;
        expect(currentNumber(folders, 'acme')).toBeNull();
      }
    expect(refused).toBe(bodies.length * 3);
  });

  function corrupting(change: (path: string, bytes: Uint8Array) => Uint8Array): Disk {
    return {
      ...DISK,
      batch: () => {
        const batch = DISK.batch();
        return { ...batch, write: (path, bytes) => batch.write(path, change(path, bytes)) };
      },
    };
  }

  it.each(['ENOSPC', 'EIO'])('survive a disk that refuses with %s at every single step', async (code) => {
    await publish(wholeFiles('one'));
    const home = servedTree(folders.publicSite, 'acme');
    const sound = failingDisk(DISK, Number.POSITIVE_INFINITY);
    await publish(
      [...wholeFiles('two').slice(0, 3), kept('components/a/index.html'), kept('components/b/index.html')],
      {
        disk: sound,
      },
    );
    await publish(wholeFiles('one'));
    const before = servedTree(folders.publicSite, 'acme');
    expect(before).toEqual(home);
    expect(sound.changes()).toBeGreaterThan(20);
    for (let step = 1; step <= sound.changes(); step += 1) {
      const disk = failingDisk(DISK, step, code);
      const files = [
        ...wholeFiles(`step ${step}`).slice(0, 3),
        kept('components/a/index.html'),
        kept('components/b/index.html'),
      ];
      await expect(publish(files, { disk })).rejects.toMatchObject({ code });
      const now = servedTree(folders.publicSite, 'acme');
      // Failing after the rename, the new one is served; before it, the old one. Never a mixture, never nothing.
      const isNew = Buffer.from(now['index.html'] ?? '', 'base64')
        .toString('utf8')
        .includes(`step ${step}`);
      if (!isNew) expect(now).toEqual(before);
      disk.heal();
      await publish(wholeFiles('one'));
      removeOrphans(place());
      expect(servedTree(folders.publicSite, 'acme')).toEqual(before);
    }
    const numbers = releaseNumbers(folders, 'acme');
    expect(numbers.length).toBeLessThanOrEqual(RELEASES_KEPT);
    expect(readdirSync(folders.publicSite)).toEqual(['acme']);
  });

  it('leave nothing behind when they fail, so that a full disk does not stay full', async () => {
    await publish(wholeFiles('one'));
    const before = treeOf(folders.root);
    for (let step = 2; step <= 12; step += 1) {
      await expect(publish(wholeFiles('two'), { disk: failingDisk(DISK, step) })).rejects.toThrow();
      expect(treeOf(folders.root)).toEqual(before);
    }
  });

  it('say so when the one before is damaged, and then stand on their own', async () => {
    const first = await publish(wholeFiles('one'));
    const gone = join(filesFolder(folders, 'acme', first.number), 'components/b/index.html');
    rmSync(gone);
    const files = wholeFiles('two').map((file) => (file.path.startsWith('components/') ? kept(file.path) : file));
    await expect(publish(files)).rejects.toBeInstanceOf(DamagedReleaseError);
    writeFileSync(gone, 'short');
    await expect(publish(files)).rejects.toBeInstanceOf(DamagedReleaseError);
    expect(currentNumber(folders, 'acme')).toBe(1);
    const manifest = await writeRelease(place(), inputOf(wholeFiles('two')), null);
    await switchTo(place(), { slug: 'acme', number: manifest.number, isPublic: true });
    expect(served('components/b/index.html')).toContain('two b');
  });

  it('leave folders that they share to the next look when they are urgent, and no file beside changed ones', async () => {
    const first = await publish(wholeFiles('one'));
    const shared = join(filesFolder(folders, 'acme', first.number), 'components/b/index.html');
    writeFileSync(shared, 'short');
    const files = wholeFiles('two').map((file) => (file.path.startsWith('components/') ? kept(file.path) : file));
    const urgent = await publish(files, { over: { isUrgent: true } });
    expect(served('index.html')).toContain('two');
    await expect(publish(files)).rejects.toBeInstanceOf(DamagedReleaseError);
    const next = wholeFiles('three').map((file) => (file.path === 'index.html' ? file : kept(file.path)));
    const beside = next.find(({ path, drawn }) => drawn === null && !path.includes('/'))?.path ?? '';
    writeFileSync(join(filesFolder(folders, 'acme', urgent.number), beside), 'short');
    await expect(publish(next, { over: { isUrgent: true } })).rejects.toBeInstanceOf(DamagedReleaseError);
  });

  it('have a number that only one of two writers can claim', async () => {
    await publish(wholeFiles('one'));
    const previous = currentManifest(folders, 'acme');
    const numbers = await Promise.all(
      Array.from(
        { length: 8 },
        async (_, index) => (await writeRelease(place(), inputOf(wholeFiles(`w${index}`)), previous)).number,
      ),
    );
    expect(new Set(numbers).size).toBe(8);
    expect(currentNumber(folders, 'acme')).toBe(1);
  });

  it('that a crash left half written go at the next start, and nothing that is served does', async () => {
    await publish(wholeFiles('one'));
    await publish(wholeFiles('two'));
    const before = servedTree(folders.publicSite, 'acme');
    const half = await writeRelease(place(), inputOf(wholeFiles('three')), currentManifest(folders, 'acme'));
    rmSync(join(folders.releases, 'acme', String(half.number), 'manifest.json'));
    DISK.makeFolder(join(folders.releases, 'never', '1', 'files'));
    DISK.symlink('nowhere', join(folders.publicSite, '.acme.next'));
    removeOrphans(place());
    expect(releaseNumbers(folders, 'acme')).toEqual([1, 2]);
    expect(existsSync(join(folders.releases, 'never'))).toBe(false);
    expect(readdirSync(folders.publicSite)).toEqual(['acme']);
    expect(servedTree(folders.publicSite, 'acme')).toEqual(before);
    // Folders that only the half release linked to go with the next that is published.
    await publish(wholeFiles('four'));
    const needed = releaseNumbers(folders, 'acme').flatMap((number) =>
      Object.values(readManifest(folders, 'acme', number)?.folders ?? {}),
    );
    const pool = readdirSync(join(folders.releases, 'acme', 'folders'));
    expect(pool.toSorted()).toEqual([...new Set(needed)].toSorted());
    for (const id of Object.values(half.folders)) expect(pool).not.toContain(id);
  });

  it('keep the folders of one that another thread has not finished yet', async () => {
    await publish(wholeFiles('one'));
    const half = await writeRelease(place(), inputOf(wholeFiles('half')), currentManifest(folders, 'acme'));
    rmSync(join(folders.releases, 'acme', String(half.number), 'manifest.json'));
    await publish(wholeFiles('two'));
    const pool = readdirSync(join(folders.releases, 'acme', 'folders'));
    for (const id of Object.values(half.folders)) expect(pool).toContain(id);
  });

  it('do not lose folders to the clean-up while another one is being written', async () => {
    await publish(wholeFiles('one'));
    const previous = currentManifest(folders, 'acme');
    const slow = {
      ...DISK,
      batch: () => ({ ...DISK.batch(), flush: () => new Promise<void>((done) => setTimeout(done, 60)) }),
    };
    const writing = writeRelease(place(slow), inputOf(wholeFiles('slow')), previous);
    await publish(wholeFiles('quick'));
    const manifest = await writing;
    expect(Object.keys(manifest.files)).toHaveLength(6);
    DISK.remove(join(folders.releases, manifest.slug, String(manifest.number)));
    expect(served('index.html')).toContain('quick');
  });

  it('are withdrawn with everything that belongs to them', async () => {
    await publish(wholeFiles('one'));
    await withdraw(place(), 'acme');
    expect(existsSync(join(folders.releases, 'acme'))).toBe(false);
    expect(() => lstatSync(join(folders.publicSite, 'acme'))).toThrow();
  });
});
