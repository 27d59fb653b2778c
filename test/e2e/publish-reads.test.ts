import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { Pool } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import { SECOND_MS, toEpochMs } from '../../src/model/time.ts';
import { pageBadges, pageFiles } from '../../src/publish/files/files.ts';
import { currentManifest } from '../../src/publish/releases/manifest.ts';
import { temporaryFolder } from '../helpers/pharos.ts';
import { closeSmallSites, createSmallSite, publishedBy } from '../helpers/small-site.ts';
import { startWarm } from '../helpers/warm.ts';

const SCALE = Number(process.env['PHAROS_TEST_SCALE'] ?? 1);
/** A thousand and a hundred thousand at forty times the scale. */
const PUBLISHES = Math.ceil(25 * SCALE);
const READS_MIN = Math.ceil(2_500 * SCALE);
const READERS = 8;

/** All change with every publish. */
const PATHS = ['', 'api/state.json', 'api/v2/summary.json', 'api/uptime.json', 'components/c0/', 'history/'];
const FILES: Readonly<Record<string, string>> = {
  '': 'index.html',
  'components/c0/': 'components/c0/index.html',
  'history/': 'history/index.html',
};
const DECODERS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  identity: (bytes) => bytes,
  gzip: gunzipSync,
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
};

interface Read {
  readonly path: string;
  readonly status: number;
  readonly sha256: string;
}

describe('visitors who read while a page is published over and over', () => {
  afterEach(closeSmallSites);

  it(`get a whole file of one release, never an older one than before, in ${READS_MIN} reads during ${PUBLISHES} publishes`, async () => {
    const folder = temporaryFolder();
    const data = join(folder.path, 'data');
    const site = createSmallSite({ folder: data, pages: ['acme'] });
    writeFileSync(
      join(folder.path, 'pharos.yaml'),
      `site: { url: "https://status.example" }
data: ./data
upstreams: [{ id: acme, kind: server-monitor, baseUrl: "http://127.0.0.1:9", apiKey: "\${KEY}" }]
`,
    );
    const { run, publisher } = site.publisher({
      // Without pictures, which take longer than all the rest.
      filesOf: (model, page) =>
        pageFiles(model, { badge: pageBadges(page) }).filter(({ priority }) => priority !== 'background'),
    });
    /** Which releases had these bytes at that path. */
    const releasesOf = new Map<string, number[]>();
    const note = (): void => {
      const manifest = currentManifest(site.folders, 'acme');
      for (const [path, { sha256 }] of Object.entries(manifest?.files ?? {})) {
        const key = `${path} ${sha256}`;
        releasesOf.set(key, [...(releasesOf.get(key) ?? []), manifest?.number ?? 0]);
      }
    };
    const publish = async (count: number): Promise<void> => {
      site.clock.now = toEpochMs(site.clock.now + SECOND_MS);
      site.upstream('acme').states[0] = count % 2 === 0 ? 'operational' : 'major_outage';
      await site.pass();
      expect(publishedBy(await run())).toContain('acme');
      note();
      // The figures that the news left follow in a release of their own.
      await publisher.settled();
      note();
    };
    await publish(0);
    const pharos = await startWarm(['serve', '--port', '0'], { cwd: folder.path, env: { KEY: 'never-sent' } });
    const pool = new Pool(pharos.url, { connections: READERS });
    let isPublishing = true;
    let total = 0;
    const reader = async (index: number): Promise<Read[]> => {
      const reads: Read[] = [];
      for (let turn = index; isPublishing || total < READS_MIN; turn += 1) {
        const path = PATHS[turn % PATHS.length] ?? '';
        const [encoding = 'identity', decode = (bytes: Buffer) => bytes] =
          Object.entries(DECODERS)[Math.floor(turn / PATHS.length) % 4] ?? [];
        const { statusCode, headers, body } = await pool.request({
          path: `/acme/${path}`,
          method: 'GET',
          headers: { 'accept-encoding': encoding },
        });
        const bytes = Buffer.from(await body.arrayBuffer());
        const isEncoded = headers['content-encoding'] !== undefined;
        const sha256 = createHash('sha256')
          .update(isEncoded ? decode(bytes) : bytes)
          .digest('hex');
        reads.push({ path, status: statusCode, sha256 });
        total += 1;
      }
      return reads;
    };
    const reading = Promise.all(Array.from({ length: READERS }, (_, index) => reader(index)));
    for (let count = 1; count <= PUBLISHES; count += 1) {
      await publish(count);
      // Reads are spread over all of the publishes, however quick either is.
      while (total < (count / PUBLISHES) * READS_MIN) await new Promise((wait) => setTimeout(wait, 1));
    }
    isPublishing = false;
    const readers = await reading;
    await pool.close();
    expect(await pharos.stop()).toBe(0);

    expect(readers.flat().length).toBeGreaterThanOrEqual(READS_MIN);
    const seen = new Set<number>();
    for (const reads of readers) {
      const newest = new Map<string, number>();
      for (const { path, status, sha256 } of reads) {
        const releases = releasesOf.get(`${FILES[path] ?? path} ${sha256}`);
        if (status !== 200 || releases === undefined)
          throw new Error(`/acme/${path} answered ${status} with bytes of no release`);
        // The same bytes may come again: what was read is the first of them that is not older than what was read before.
        const since = newest.get(path) ?? 0;
        const release = releases.find((one) => one >= since);
        if (release === undefined) throw new Error(`/acme/${path} went back to release ${releases.at(-1)}`);
        newest.set(path, release);
        seen.add(release);
      }
    }
    // They did read while it changed.
    expect(seen.size).toBeGreaterThan(PUBLISHES / 2);
    folder.remove();
  }, 600_000);
});
