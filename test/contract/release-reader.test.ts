import { readFileSync, writeFileSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { brotliDecompressSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DISK } from '../../src/publish/releases/disk.ts';
import { currentManifest, filePlaces, type Manifest } from '../../src/publish/releases/manifest.ts';
import { switchTo, withdraw } from '../../src/publish/releases/switch.ts';
import { type ReleaseInput, writeRelease } from '../../src/publish/releases/write.ts';
import { fileAnswer } from '../../src/server/visitors/file-answer.ts';
import { createReleaseReader, DamagedFileError } from '../../src/server/visitors/release-reader.ts';
import {
  addVariants,
  inputOf,
  releaseNumbersFrom,
  type TestFolders,
  testFolders,
  wholeFiles,
} from '../helpers/release-inputs.ts';

describe('the reader of releases', () => {
  let folders: TestFolders;
  beforeEach(() => {
    folders = testFolders();
  });
  afterEach(() => folders.remove());

  async function publish(
    name: string,
    { nextNumber = releaseNumbersFrom(), over = {} }: PublishInit = {},
  ): Promise<Manifest> {
    const place = { disk: DISK, folders, nextNumber };
    const manifest = await writeRelease(place, inputOf(wholeFiles(name), over), currentManifest(folders, 'acme'));
    await switchTo(place, { slug: 'acme', number: manifest.number, isPublic: manifest.access === 'public' });
    return addVariants(place, manifest);
  }
  interface PublishInit {
    readonly nextNumber?: ReturnType<typeof releaseNumbersFrom>;
    readonly over?: Partial<ReleaseInput>;
  }

  it('hands out nothing of another era of a page, even where a number came twice', async () => {
    const reader = createReleaseReader(folders);
    const seen: string[] = [];
    const digests = new Set<string>();
    for (const [era, access] of [
      ['spring', 'public'],
      ['summer', 'password'],
      ['autumn', 'public'],
    ] as const) {
      // Each with numbers that begin anew, as with a store that was lost.
      expect((await publish(era, { over: { access } })).number).toBe(1);
      await turn();
      const release = reader.open('acme');
      digests.add(release?.digest ?? '');
      seen.push(
        String(release?.read('index.html', null)),
        String(brotliDecompressSync(release?.read('index.html', 'br') ?? '')),
      );
      expect(seen.slice(-2).every((text) => text.includes(era))).toBe(true);
      await withdraw({ disk: DISK, folders }, 'acme');
      await turn();
      expect(reader.open('acme')).toBeNull();
    }
    expect(digests.size).toBe(3);
  });

  it('gives a page that was removed a number that it never had', async () => {
    const nextNumber = releaseNumbersFrom();
    expect((await publish('one', { nextNumber })).number).toBe(1);
    await withdraw({ disk: DISK, folders }, 'acme');
    expect((await publish('two', { nextNumber })).number).toBe(2);
  });

  it('hands out no bytes that the manifest does not name, and a file as it is where a variant is damaged', async () => {
    const manifest = await publish('one');
    const place = filePlaces(folders, manifest);
    const whole = readFileSync(place('index.html'));
    const release = createReleaseReader(folders).open('acme');
    if (release === null) throw new Error('nothing is served');
    writeFileSync(`${place('index.html')}.br`, 'of another file');
    const answer = fileAnswer(release, { path: 'index.html', isPublic: true, head: { acceptEncoding: 'br' } });
    expect(answer?.headers['content-encoding']).toBeUndefined();
    expect(answer?.body?.equals(whole)).toBe(true);
    writeFileSync(place('api/state.json'), '{"name":"another"}');
    expect(() => release.read('api/state.json', null)).toThrow(DamagedFileError);
    writeFileSync(`${folders.releases}/acme/1/data.json`, '{"secret":1}');
    expect(() => release.data()).toThrow('does not match its release');
  });
});
