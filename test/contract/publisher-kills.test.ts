import { type ChildProcess, fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { SECOND_MS, toEpochMs } from '../../src/model/time.ts';
import { pageBadges, pageFiles } from '../../src/publish/files/files.ts';
import { RELEASES_KEPT } from '../../src/publish/releases/clean.ts';
import { poolFolder, releaseNumbers } from '../../src/publish/releases/folders.ts';
import {
  type Compression,
  currentManifest,
  type Manifest,
  readManifest,
  VARIANT_SUFFIXES,
} from '../../src/publish/releases/manifest.ts';
import type { PublishAnswer, PublishOrder } from '../helpers/publishing-process.ts';
import { servedTree } from '../helpers/release-inputs.ts';
import { createSmallSite, SITE_START, type SmallSite } from '../helpers/small-site.ts';

const CHILD = join(import.meta.dirname, '../helpers/publishing-process.ts');
/** Two hundred at 25 times the scale; each is a process that begins, publishes and dies. */
const KILLS = Math.max(2, Math.round(8 * Number(process.env['PHAROS_TEST_SCALE'] ?? 1)));
const LANES = 2;
/** Short, since each publisher that was killed is waited for. */
const LEASE_MS = 400;

/** The state in the `count`-th second: each other than the one before. */
const stateAt = (count: number) => (count % 2 === 0 ? 'operational' : 'major_outage');

/** Publishes once a second of the clock, as quickly as it can, until it is killed; the last second that it said was published. */
async function publishAndKill(folder: string, first: number, afterMs: number): Promise<number> {
  const child = fork(CHILD, [folder, 'acme', String(LEASE_MS)]);
  const exited = once(child, 'exit');
  await once(child, 'message');
  let published = first - 1;
  const next = () => {
    const count = published + 1;
    tell(child, { now: SITE_START + count * SECOND_MS, states: { acme: [stateAt(count), 'operational'] } });
  };
  child.on('message', (answer: PublishAnswer) => {
    expect('error' in answer ? answer.error : answer.pages.filter(({ kind }) => kind === 'failed')).toEqual([]);
    published += 1;
    next();
  });
  next();
  await new Promise((wait) => setTimeout(wait, afterMs));
  child.kill('SIGKILL');
  await exited;
  return published;
}

function tell(child: ChildProcess, order: PublishOrder): void {
  if (child.connected) child.send(order, () => undefined);
}

/** Every file that a visitor can reach is one of this release, whole; null: nothing was ever served. */
function expectWhole(site: SmallSite, slug: string): Manifest | null {
  const manifest = currentManifest(site.folders, slug);
  if (manifest === null) return null;
  const tree = servedTree(site.folders.publicSite, slug);
  const hashes = Object.fromEntries(
    Object.keys(manifest.files).map((path) => [
      path,
      createHash('sha256')
        .update(Buffer.from(tree[path] ?? '', 'base64'))
        .digest('hex'),
    ]),
  );
  expect(hashes).toEqual(
    Object.fromEntries(Object.entries(manifest.files).map(([path, { sha256 }]) => [path, sha256])),
  );
  // What a manifest names is there, also where the process was killed while variants were put beside the files.
  for (const [path, { variants }] of Object.entries(manifest.files))
    for (const encoding of variants ?? []) {
      const bytes = Buffer.from(tree[path + VARIANT_SUFFIXES[encoding]] ?? '', 'base64');
      expect([path, encoding, UNPACK[encoding](bytes).toString('base64')]).toEqual([path, encoding, tree[path]]);
    }
  return manifest;
}

const UNPACK: Readonly<Record<Compression, (bytes: Buffer) => Buffer>> = {
  br: brotliDecompressSync,
  gzip: gunzipSync,
  zstd: zstdDecompressSync,
};

describe('a publisher whose process is killed', () => {
  it(`serves the old page or the new one whole, at ${KILLS} random points, and goes on from there`, async () => {
    const lanes = Array.from({ length: LANES }, async (_, lane) => {
      const folder = mkdtempSync(join(tmpdir(), 'pharos-kill-'));
      let count = 0;
      let seed = 11 + lane;
      for (let kill = lane; kill < KILLS; kill += LANES) {
        seed = (seed * 48_271) % 2_147_483_647;
        const said = await publishAndKill(folder, count, seed % 120);
        const site = createSmallSite({ folder, pages: ['acme'] });
        const manifest = expectWhole(site, 'acme');
        // What was said to be published is; one more may be that could not be said any more.
        const served = manifest === null ? -1 : (manifest.asOf - SITE_START) / SECOND_MS;
        expect(served).toBeGreaterThanOrEqual(said);
        expect(served).toBeLessThanOrEqual(said + 1);

        count = said + 2;
        site.clock.now = toEpochMs(SITE_START + count * SECOND_MS);
        // Other than whatever was published last, be it by the one before it that was mended.
        site.upstream('acme').states = ['degraded', (kill - lane) % (2 * LANES) === 0 ? 'degraded' : 'major_outage'];
        await site.pass();
        // Without pictures, which take longer than all the rest.
        const { run, publisher } = site.publisher({
          filesOf: (model, page) =>
            pageFiles(model, { badge: pageBadges(page) }).filter(({ priority }) => priority !== 'background'),
        });
        expect((await run()).pages.filter(({ kind }) => kind === 'failed')).toEqual([]);
        expect(expectWhole(site, 'acme')?.asOf).toBe(site.clock.now);
        await publisher.close();
        expectTidy(site);
        await site.close();
        count += 1;
      }
      rmSync(folder, { recursive: true });
    });
    await Promise.all(lanes);
  }, 300_000);
});

/** Nothing that the killed process left half done outlives the next publish. */
function expectTidy(site: SmallSite): void {
  const numbers = releaseNumbers(site.folders, 'acme');
  expect(numbers.length).toBeLessThanOrEqual(RELEASES_KEPT);
  const manifests = numbers.map((number) => readManifest(site.folders, 'acme', number));
  expect(manifests).not.toContain(null);
  const needed = new Set(manifests.flatMap((manifest) => Object.values(manifest?.folders ?? {})));
  expect(readdirSync(poolFolder(site.folders, 'acme')).filter((id) => !needed.has(id))).toEqual([]);
  expect(readdirSync(site.folders.publicSite).toSorted()).toEqual(['_site', 'acme']);
}
