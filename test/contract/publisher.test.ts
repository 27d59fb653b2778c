import {
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, toEpochMs } from '../../src/model/time.ts';
import { listSiteFiles } from '../../src/publish/files/site-files.ts';
import { createPublishControl } from '../../src/publish/publish-control.ts';
import type { PublishReport } from '../../src/publish/publisher.ts';
import { currentNumber, servedRelease } from '../../src/publish/releases/folders.ts';
import { currentManifest } from '../../src/publish/releases/manifest.ts';
import { HEARTBEAT_MS } from '../../src/views/model/page-model.ts';
import { testPageLog } from '../helpers/page-log.ts';
import { servedBodies } from '../helpers/release-inputs.ts';
import {
  closeSmallSites,
  createSmallSite,
  incidentOf,
  maintenanceOf,
  plainRenderer,
  publishedBy,
  SITE_START,
  type SmallSite,
} from '../helpers/small-site.ts';

const DEFAULT = ['acme', 'beta', 'gamma'];
/** As the configuration is read, with nothing said. */
const CONFIGURED = { blip_floor_seconds: 60, uptime_decimals: 2, css_variables: {}, allow_index: true, badges: [] };

function later(site: SmallSite, ms: number): void {
  site.clock.now = toEpochMs(site.clock.now + ms);
}

/** Slugs that a run so much as looked at. */
function lookedAt({ pages }: PublishReport): string[] {
  return pages.map(({ slug }) => slug).filter((slug) => slug !== '_site');
}

async function published(init: Parameters<typeof createSmallSite>[0] = {}) {
  const site = createSmallSite(init);
  await site.pass();
  const { run, publisher } = site.publisher();
  const first = await run();
  await publisher.settled();
  return { site, run, publisher, first };
}

/** Up to a minute at which no page is due, so that what happens is what the test does. */
async function passingBy(site: SmallSite, run: (slug?: string) => Promise<PublishReport>): Promise<void> {
  later(site, SECOND_MS);
  await site.pass();
  await run();
}

describe('publishing what changed', () => {
  afterEach(closeSmallSites);

  it('shows what a node learned whose clock is ahead, or since a look began that had to wait', async () => {
    const { site, run } = await published({ pages: ['acme'] });
    const stateServed = () => JSON.parse(site.served('acme', 'api/state.json')).state;
    for (const [aheadMs, state, shown] of [
      [300, 'major_outage', 'major_outage'],
      [90 * SECOND_MS, 'operational', 'operational'],
    ] as const) {
      later(site, MINUTE_MS);
      const mine = site.clock.now;
      later(site, aheadMs);
      site.upstream('acme').states = [state, state];
      await site.pass();
      site.clock.now = mine;
      await run();
      expect(stateServed()).toBe(shown);
    }
  });

  it('publishes everything at first, and the site itself', async () => {
    const { first } = await published();
    expect(first.pages.map(({ slug, kind }) => [slug, kind])).toEqual([
      ...DEFAULT.map((slug) => [slug, 'published']),
      ['_site', 'published'],
    ]);
  });

  it('counts the pages of a run as they are done', async () => {
    const site = createSmallSite();
    await site.pass();
    const counted: string[] = [];
    const { run, publisher } = site.publisher({ onPage: (done, total) => counted.push(`${done}/${total}`) });
    await run();
    await publisher.settled();
    expect(counted).toEqual(Array.from({ length: DEFAULT.length + 1 }, (_, done) => `${done}/${DEFAULT.length}`));
  });

  it('looks at nothing when nothing happened, however often it is asked', async () => {
    const { site, run } = await published();
    await passingBy(site, run);
    const before = DEFAULT.map((slug) => servedBodies(site.folders.publicSite, slug));
    for (let index = 0; index < 5; index += 1) {
      later(site, SECOND_MS);
      await site.pass();
      expect((await run()).pages).toEqual([]);
    }
    expect(DEFAULT.map((slug) => servedBodies(site.folders.publicSite, slug))).toEqual(before);
  });

  it('looks only at the page whose monitor changed', async () => {
    const { site, run, publisher } = await published();
    await passingBy(site, run);
    site.upstream('beta').states[0] = 'major_outage';
    later(site, SECOND_MS);
    await site.pass();
    const report = await run();
    expect(lookedAt(report)).toEqual(['beta']);
    expect(site.served('beta', 'api/v2/status.json')).toContain('"indicator":"major"');
    expect(site.served('acme', 'api/v2/status.json')).toContain('"indicator":"none"');
    // The list of pages says the same right after.
    await publisher.settled();
    expect(site.served('_site', 'index.html')).toContain('"state":"partial_outage"');
  });

  it('keeps news that comes in a burst waiting for no list of pages, which follows the last of it', async () => {
    const { site } = await published();
    const drawn: string[][] = [];
    const { run, publisher } = site.publisher({
      listSiteFiles: (listing) => {
        drawn.push(listing.pages.map(({ state }) => state));
        return listSiteFiles(listing);
      },
    });
    await run();
    drawn.length = 0;
    for (const slug of DEFAULT) {
      site.upstream(slug).states = ['major_outage', 'major_outage'];
      later(site, SECOND_MS);
      await site.pass(slug);
      expect(lookedAt(await run())).toEqual([slug]);
      expect(site.served(slug, 'api/v2/status.json')).toContain('"indicator":"critical"');
    }
    await publisher.settled();
    expect(drawn).toEqual([DEFAULT.map(() => 'major_outage')]);
  });

  it('never lists what was before a page went, however late the list follows', async () => {
    const { site, run, publisher } = await published();
    site.upstream('beta').states[0] = 'major_outage';
    later(site, SECOND_MS);
    await site.pass('beta');
    await run();
    site.upstream('beta').page = null;
    later(site, SECOND_MS);
    await site.pass('beta');
    await run();
    expect(site.served('_site', 'index.html')).not.toContain('BETA');
    await publisher.settled();
    expect(site.served('_site', 'index.html')).not.toContain('BETA');
  });

  it('shows at once what is no news, and publishes nothing where no file shows what changed', async () => {
    const { site, run } = await published({
      configured: [{ ...CONFIGURED, slug: 'acme', from: 'acme', show_targets: true }],
    });
    await passingBy(site, run);
    const world = site.upstream('acme');
    const number = currentNumber(site.folders, 'acme');
    const change = async (monitors: typeof world.monitors) => {
      world.monitors = monitors;
      later(site, SECOND_MS);
      await site.pass();
      return run();
    };
    expect((await change({ kind: 'tcp' })).pages).toMatchObject([{ slug: 'acme', kind: 'unchanged', filesDrawn: 0 }]);
    expect(currentNumber(site.folders, 'acme')).toBe(number);
    const report = await change({ kind: 'tcp', target: 'db.acme.example:5432' });
    expect(report.pages).toMatchObject([{ slug: 'acme', kind: 'published' }]);
    expect(site.served('acme', 'components/c0/index.html')).toContain('db.acme.example:5432');
  });

  it('sees what another process committed', async () => {
    const { site, run } = await published();
    await passingBy(site, run);
    const other = createSmallSite({ folder: site.folder });
    other.clock.now = toEpochMs(site.clock.now + SECOND_MS);
    await other.pass('beta');
    other.clock.now = toEpochMs(site.clock.now + 2 * SECOND_MS);
    other.upstream('gamma').states[1] = 'degraded';
    await other.pass('gamma');
    later(site, 3 * SECOND_MS);
    expect(lookedAt(await run())).toEqual(['gamma']);
  });

  it('follows an incident to the page that it is moved to, and clears it from the one it left', async () => {
    const { site, run } = await published();
    await passingBy(site, run);
    const world = site.upstream('acme');
    world.incidents = [incidentOf('acme', { pages: ['acme/page'] })];
    later(site, SECOND_MS);
    await site.pass();
    expect(publishedBy(await run())).toEqual(['acme']);
    world.incidents = [incidentOf('acme', { pages: ['beta/page'] })];
    later(site, SECOND_MS);
    await site.pass();
    expect(publishedBy(await run())).toEqual(['acme', 'beta']);
    expect(JSON.parse(site.served('acme', 'api/v2/incidents.json')).incidents).toEqual([]);
    expect(JSON.parse(site.served('beta', 'api/v2/incidents.json')).incidents).toHaveLength(1);
  });

  it('leaves nothing for later that leads to a domain which is not the page’s any more', async () => {
    const { site, run } = await published();
    site.upstream('acme').page = { customDomain: 'status.acme.example' };
    later(site, SECOND_MS);
    await site.pass();
    await run();
    await passingBy(site, run);
    expect(site.served('acme', 'llms.txt')).toContain('status.acme.example');
    site.upstream('acme').page = {};
    later(site, SECOND_MS);
    await site.pass();
    expect(publishedBy(await run())).toEqual(['acme']);
    expect(site.served('acme', 'llms.txt')).not.toContain('status.acme.example');
    expect(site.served('acme', 'sitemap.xml')).not.toContain('status.acme.example');
  });

  it('shows what names a page of an upstream, or a component of it, by the slug of the page', async () => {
    const { site, run } = await published();
    await passingBy(site, run);
    const world = site.upstream('acme');
    world.incidents = [
      incidentOf('acme', { monitors: [], components: [{ id: 'config/beta/c1', state: 'partial_outage' }] }),
      incidentOf('acme', { id: 'acme/i2', title: 'Two', monitors: [], pages: ['config/gamma'] }),
    ];
    world.maintenances = [
      {
        ...maintenanceOf('acme', toEpochMs(SITE_START + HOUR_MS), toEpochMs(SITE_START + 2 * HOUR_MS)),
        monitors: [],
        components: ['config/beta/c0'],
      },
    ];
    later(site, SECOND_MS);
    await site.pass();
    expect(publishedBy(await run())).toEqual(['beta', 'gamma']);
    const summary = JSON.parse(site.served('beta', 'api/v2/summary.json'));
    expect(summary.incidents[0]).toMatchObject({ name: 'Trouble at acme', components: [{ status: 'partial_outage' }] });
    expect(summary.scheduled_maintenances[0].components).toHaveLength(1);
    expect(JSON.parse(site.served('gamma', 'api/v2/incidents.json')).incidents).toMatchObject([{ name: 'Two' }]);
  });

  it.each([
    [400, '2025-10', '2024-02'],
    [4_000, '2024-02', '2015-11'],
  ])('goes back as far as %i days are kept', async (historyDays, from, before) => {
    const site = createSmallSite({ pages: ['acme'] });
    Object.assign(site.inputs.site, { historyDays });
    const at = (days: number) => toEpochMs(SITE_START - days * DAY_MS);
    site.upstream('acme').incidents = [395, 1_000, 4_015].map((days) =>
      incidentOf('acme', {
        id: `acme/${days}`,
        title: `It was ${days} days ago`,
        startedAt: at(days),
        endedAt: toEpochMs(at(days) + HOUR_MS),
        status: 'resolved',
      }),
    );
    await site.pass();
    const { run, publisher } = site.publisher();
    await run();
    await publisher.settled();
    expect(site.served('acme', `history/${from}/index.html`)).toContain('days ago');
    expect(() => site.served('acme', `history/${before}/index.html`)).toThrow('ENOENT');
  });

  it('begins and ends a maintenance by itself, when it is time', async () => {
    const { site, run } = await published();
    site.upstream('acme').maintenances = [
      maintenanceOf('acme', toEpochMs(SITE_START + 90 * SECOND_MS), toEpochMs(SITE_START + 150 * SECOND_MS)),
    ];
    const states: string[] = [];
    for (let second = 30; second <= 180; second += 30) {
      later(site, 30 * SECOND_MS);
      await site.pass();
      await run();
      states.push(JSON.parse(site.served('acme', 'api/state.json')).state);
    }
    expect(states).toEqual(['operational', 'operational', 'maintenance', 'maintenance', 'operational', 'operational']);
  });

  it('shows an announcement from its beginning to its end, on the pages it is for', async () => {
    const { site, run } = await published();
    const [from, to] = [toEpochMs(SITE_START + 60 * SECOND_MS), toEpochMs(SITE_START + 120 * SECOND_MS)];
    site.upstream('acme').announcements = [
      { id: 'n', title: 'Hello', body: '', level: 'info', from, to, pages: ['beta'] },
    ];
    const seen: boolean[] = [];
    for (let second = 0; second <= 120; second += 30) {
      later(site, 30 * SECOND_MS);
      await site.pass();
      expect(publishedBy(await run()).filter((slug) => slug !== 'beta')).toEqual([]);
      seen.push(site.served('beta', 'index.html').includes('Hello'));
    }
    expect(seen).toEqual([false, true, true, false, false]);
  });

  it('turns a page grey when its upstream is silent for two intervals, and no page of another', async () => {
    const { site, run } = await published();
    await passingBy(site, run);
    for (const [seconds, expected] of [
      [60, []],
      [59, []],
      [2, ['acme']],
      [30, []],
    ] as const) {
      later(site, seconds * SECOND_MS);
      for (const slug of ['beta', 'gamma']) await site.pass(slug);
      const report = await run();
      expect(report.pages.filter(({ kind }) => kind === 'failed')).toEqual([]);
      expect(publishedBy(report)).toEqual(expected);
    }
    expect(JSON.parse(site.served('acme', 'api/state.json')).state).toBe('unknown');
    await site.pass();
    expect(publishedBy(await run())).toEqual(['acme']);
    expect(JSON.parse(site.served('acme', 'api/state.json')).state).toBe('operational');
  });

  it('publishes a page that is defined otherwise, and withdraws one that is defined no more', async () => {
    const { site, run } = await published();
    await passingBy(site, run);
    site.upstream('acme').page = { title: 'New title' };
    site.upstream('beta').page = null;
    later(site, SECOND_MS);
    await site.pass();
    const report = await run();
    expect(publishedBy(report)).toEqual(['acme']);
    expect(report.pages.filter(({ kind }) => kind === 'withdrawn').map(({ slug }) => slug)).toEqual(['beta']);
    expect(readdirSync(site.folders.publicSite).toSorted()).toEqual(['_site', 'acme', 'gamma']);
    expect(existsSync(join(site.folders.releases, 'beta'))).toBe(false);
    expect(site.served('acme', 'index.html')).toContain('New title');
  });

  it('takes nothing back while an upstream that may define it was never heard', async () => {
    const { site } = await published();
    const fresh = createSmallSite({ pages: ['acme'] });
    const configured = createSmallSite({ folder: site.folder, pages: ['acme', 'unheard'] });
    configured.clock.now = toEpochMs(SITE_START + MINUTE_MS);
    const report = await configured.publisher().run();
    expect(report.pages.filter(({ kind }) => kind === 'withdrawn')).toEqual([]);
    expect(currentNumber(site.folders, 'beta')).not.toBeNull();
    expect(fresh.folder).not.toBe(site.folder);
  });
});

describe('the heartbeat of pages', () => {
  afterEach(closeSmallSites);

  it('draws each page anew once in the interval, and never all of them at once', async () => {
    const pages = Array.from({ length: 16 }, (_, index) => `page-${index}`);
    const { site, run } = await published({ pages });
    const perMinute: number[] = [];
    const counts = new Map<string, number>();
    for (let minute = 1; minute <= HEARTBEAT_MS / MINUTE_MS; minute += 1) {
      later(site, MINUTE_MS);
      await site.pass();
      const slugs = publishedBy(await run());
      perMinute.push(slugs.length);
      for (const slug of slugs) counts.set(slug, (counts.get(slug) ?? 0) + 1);
    }
    expect([...counts.values()].toSorted().at(0)).toBe(1);
    expect([...counts.values()].toSorted().at(-1)).toBe(1);
    expect(counts.size).toBe(pages.length);
    expect(Math.max(...perMinute)).toBeLessThan(pages.length / 4);
  });

  it('leaves a page that says until when it may be believed, and that is later than its next heartbeat', async () => {
    const { site } = await published();
    const manifest = currentManifest(site.folders, 'acme');
    const { stale_after: staleAfter } = JSON.parse(site.served('acme', 'api/uptime.json')) as { stale_after: string };
    expect(Date.parse(staleAfter)).toBeGreaterThanOrEqual((manifest?.asOf ?? 0) + HEARTBEAT_MS);
  });

  it('does not publish over and over when the clock was set back', async () => {
    const { site, run } = await published();
    await passingBy(site, run);
    site.clock.now = toEpochMs(SITE_START - HOUR_MS);
    const { run: restarted } = site.publisher();
    await restarted();
    later(site, SECOND_MS);
    expect(publishedBy(await restarted())).toEqual([]);
    // Nor does it wait for the hour to come round again.
    later(site, HEARTBEAT_MS);
    expect(publishedBy(await restarted())).toEqual(DEFAULT);
  });
});

describe('the same store and instant', () => {
  // Two seconds without news replace the quick variants by small ones; on this clock they never pass.
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
  afterEach(async () => {
    vi.useRealTimers();
    await closeSmallSites();
  });

  it('give the same bytes, wherever they are published', async () => {
    const trees = [];
    for (let round = 0; round < 2; round += 1) {
      const { site } = await published({ home: 'acme' });
      trees.push([...DEFAULT, '_site'].map((slug) => servedBodies(site.folders.publicSite, slug)));
    }
    expect(Object.keys(trees[0]?.[0] ?? {}).length).toBeGreaterThan(30);
    expect(trees[1]).toEqual(trees[0]);
  });

  it('give no new release after a restart, which looks at every page once', async () => {
    const { site } = await published();
    const before = DEFAULT.map((slug) => currentNumber(site.folders, slug));
    const renderer = plainRenderer();
    const { run } = site.publisher({ renderer });
    const report = await run();
    expect(report.pages.map(({ kind }) => kind)).toEqual(['unchanged', 'unchanged', 'unchanged', 'unchanged']);
    expect(renderer.drawn).toEqual([]);
    expect(DEFAULT.map((slug) => currentNumber(site.folders, slug))).toEqual(before);
    later(site, SECOND_MS);
    expect((await run()).pages).toEqual([]);
  });

  it('are drawn anew by another version of the pages, once, and nothing is written that comes out as it was', async () => {
    const { site } = await published();
    const folders = DEFAULT.map((slug) => currentManifest(site.folders, slug)?.folders);
    const before = DEFAULT.map((slug) => servedBodies(site.folders.publicSite, slug));
    const renderer = plainRenderer('plain-2');
    const report = await site.publisher({ renderer }).run();
    expect(publishedBy(report)).toEqual(DEFAULT);
    expect(renderer.drawn.length).toBeGreaterThan(10);
    expect(report.pages.map(({ filesDrawn }) => filesDrawn)).toEqual([0, 0, 0, 0]);
    expect(DEFAULT.map((slug) => servedBodies(site.folders.publicSite, slug))).toEqual(before);
    expect(DEFAULT.map((slug) => currentManifest(site.folders, slug)?.folders)).toEqual(folders);
    const restarted = plainRenderer('plain-2');
    const next = await site.publisher({ renderer: restarted }).run();
    expect([publishedBy(next), restarted.drawn]).toEqual([[], []]);
  });
});

describe('pictures', () => {
  afterEach(closeSmallSites);

  it('follow the page in a release of their own, and the last one stays until then', async () => {
    const site = createSmallSite({ pages: ['acme'] });
    await site.pass();
    const { run, publisher } = site.publisher();
    await run();
    const first = currentManifest(site.folders, 'acme');
    expect(first?.files['og.png']).toBeUndefined();
    expect(first?.files['index.html']).toBeDefined();
    await publisher.settled();
    const second = currentManifest(site.folders, 'acme');
    expect(second?.files['og.png']?.contentType).toBe('image/png');
    expect(second?.asOf).toBe(first?.asOf);
    expect(second?.files['index.html']?.key).toBe(first?.files['index.html']?.key);
    expect(second?.files['index.html']?.variants).toEqual(['br', 'zstd', 'gzip']);

    site.upstream('acme').states[0] = 'major_outage';
    later(site, SECOND_MS);
    await site.pass();
    await run();
    const third = currentManifest(site.folders, 'acme');
    expect(third?.files['index.html']?.sha256).not.toBe(second?.files['index.html']?.sha256);
    expect(third?.files['index.html']?.variants).toBeNull();
    expect(third?.files['og.png']).toEqual(second?.files['og.png']);
    await publisher.settled();
    expect(currentManifest(site.folders, 'acme')?.files['og.png']).not.toEqual(second?.files['og.png']);
  });
});

describe('compressed variants', () => {
  afterEach(closeSmallSites);

  it('follow the release, once, and stay with files that the next release keeps', async () => {
    const site = createSmallSite({ pages: ['acme'] });
    await site.pass();
    const { run, publisher } = site.publisher();
    await run();
    const file = (name: string) => join(site.folders.publicSite, 'acme', name);
    expect(currentManifest(site.folders, 'acme')?.files['index.html']?.variants).toBeNull();
    expect(existsSync(file('index.html.br'))).toBe(false);
    await publisher.settled();
    expect(currentManifest(site.folders, 'acme')?.files['index.html']?.variants).toEqual(['br', 'zstd', 'gzip']);
    expect(brotliDecompressSync(readFileSync(file('index.html.br'))).toString()).toBe(
      site.served('acme', 'index.html'),
    );
    expect(gunzipSync(readFileSync(file('index.html.gz'))).toString()).toBe(site.served('acme', 'index.html'));
    const first = currentManifest(site.folders, 'acme')?.files ?? {};
    const inodeOf = (path: string) => statSync(file(`${path}.br`)).ino;
    const compressed = Object.keys(first).filter((path) => first[path]?.variants?.includes('br'));
    const known = new Map(compressed.map((path) => [path, inodeOf(path)]));
    site.upstream('acme').states = ['major_outage', 'degraded'];
    later(site, SECOND_MS);
    await site.pass();
    await run();
    expect(existsSync(file('index.html.br'))).toBe(false);
    await publisher.settled();
    const second = currentManifest(site.folders, 'acme')?.files ?? {};
    const kept = compressed.filter((path) => second[path]?.sha256 === first[path]?.sha256);
    expect(kept.length).toBeGreaterThan(2);
    expect(kept.filter((path) => inodeOf(path) !== known.get(path))).toEqual([]);
    expect(brotliDecompressSync(readFileSync(file('index.html.br'))).toString()).toBe(
      site.served('acme', 'index.html'),
    );
  });
});

describe('figures over long periods', () => {
  afterEach(closeSmallSites);

  const FIGURES = ['uptime/index.html', 'api/uptime.json', 'sitemap.xml', 'reports/index.html'];
  const keysOf = (site: SmallSite, paths: readonly string[] = FIGURES) =>
    paths.map((path) => currentManifest(site.folders, 'acme')?.files[path]?.key);

  it('are there from the first release on, wait for nothing but news, and follow it', async () => {
    const site = createSmallSite({ pages: ['acme'] });
    await site.pass();
    const { run, publisher } = site.publisher();
    await run();
    const first = keysOf(site);
    expect(first).not.toContain(undefined);
    await publisher.settled();
    expect(keysOf(site)).toEqual(first);

    site.upstream('acme').states[0] = 'major_outage';
    later(site, SECOND_MS);
    await site.pass();
    await run();
    const news = currentManifest(site.folders, 'acme');
    expect(keysOf(site)).toEqual(first);
    expect(site.served('acme', 'index.html')).toContain('major_outage');
    await publisher.settled();
    const rest = currentManifest(site.folders, 'acme');
    expect(rest).toMatchObject({ completes: news?.number, asOf: news?.asOf, eventKey: news?.eventKey });
    expect(keysOf(site, FIGURES.slice(0, 2)).filter((key) => first.includes(key))).toEqual([]);
    expect(JSON.parse(site.served('acme', 'api/uptime.json')).as_of).toBe(new Date(site.clock.now).toISOString());
  });

  it('do not wait when something is taken away, so that nothing of it is served any more', async () => {
    const site = createSmallSite({ pages: ['acme'] });
    const secret = incidentOf('acme', { id: 'acme/i1', title: 'Codename Zebra', startedAt: SITE_START });
    site.upstream('acme').incidents = [secret];
    await site.pass();
    const { run, publisher } = site.publisher();
    await run();
    await publisher.settled();
    const naming = () =>
      Object.entries(servedBodies(site.folders.publicSite, 'acme'))
        .filter(([path, text]) => !/\.(br|gz|zst|png)$/.test(path) && Buffer.from(text, 'base64').includes('Zebra'))
        .map(([path]) => path);
    expect(naming()).toContain('uptime/index.html');
    site.upstream('acme').incidents = [{ ...secret, monitors: [], pages: ['elsewhere'] }];
    later(site, SECOND_MS);
    await site.pass();
    await run();
    expect(naming()).toEqual([]);
  });

  it('that could not follow are tried again with the next news', async () => {
    const site = createSmallSite({ pages: ['acme'] });
    await site.pass();
    const plain = plainRenderer();
    const faults: unknown[] = [];
    let isBroken = false;
    const { run, publisher } = site.publisher({
      renderer: {
        ...plain,
        render: (kind, view) =>
          isBroken && kind === 'uptime-calendar' ? Promise.reject(new Error('no')) : plain.render(kind, view),
      },
      onError: (fault) => faults.push(fault),
    });
    await run();
    await publisher.settled();
    const [first] = keysOf(site);
    const turn = async (state: 'major_outage' | 'degraded') => {
      site.upstream('acme').states[0] = state;
      later(site, SECOND_MS);
      await site.pass();
      await run();
      await publisher.settled();
    };
    isBroken = true;
    await turn('major_outage');
    expect(faults).toEqual([expect.objectContaining({ code: 'PUBLISH_FAILED' })]);
    expect(keysOf(site)[0]).toBe(first);
    expect(site.served('acme', 'index.html')).toContain('major_outage');
    isBroken = false;
    await turn('degraded');
    expect(keysOf(site)[0]).not.toBe(first);
  });
});

describe('a folder of what is served that is cleared while it is', () => {
  afterEach(async () => {
    vi.useRealTimers();
    await closeSmallSites();
  });

  it.each([
    ['all of it', (site: SmallSite) => rmSync(dirname(site.folders.publicSite), { recursive: true })],
    ['one page', (site: SmallSite) => rmSync(join(site.folders.publicSite, 'beta'))],
    ['the site’s own files', (site: SmallSite) => rmSync(join(site.folders.publicSite, '_site'))],
  ])('is there again with the next runs: %s', async (_what, clear) => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const { site, run, publisher } = await published();
    await passingBy(site, run);
    const filesServed = (): string[] =>
      [...DEFAULT, '_site'].flatMap((slug) =>
        Object.keys(servedBodies(site.folders.publicSite, slug)).map((path) => `${slug}/${path}`),
      );
    const before = filesServed();
    clear(site);
    vi.advanceTimersByTime(11_000);
    await run();
    await publisher.settled();
    expect(filesServed()).toEqual(before);
    // And it stays so.
    vi.advanceTimersByTime(11_000);
    expect(publishedBy(await run())).toEqual([]);
  });
});

describe('a page that goes behind a gate', () => {
  afterEach(closeSmallSites);

  it('brings nothing out from behind a gate that was drawn for those behind it', async () => {
    const site = createSmallSite({ pages: ['acme'] });
    const { run, publisher } = site.publisher();
    const behind = { access: 'email-domain', emailDomains: ['corp.example'] } as const;
    site.upstream('acme').page = { ...behind, title: 'CANARY of the inner circle' };
    await site.pass();
    await run();
    await publisher.settled();
    later(site, MINUTE_MS);
    site.upstream('acme').page = { title: 'For everybody' };
    await site.pass();
    await run();
    // At once, before anything that follows in the background.
    const paths = Object.keys(currentManifest(site.folders, 'acme')?.files ?? {});
    expect(paths).toContain('api/uptime.json');
    for (const path of paths) expect(site.served('acme', path), path).not.toContain('CANARY');
  });

  it('is unreachable on the public side even when it can’t be rendered', async () => {
    const { site } = await published();
    site.upstream('acme').page = { access: 'email-domain', emailDomains: ['corp.example'] };
    later(site, SECOND_MS);
    await site.pass();
    const broken = { version: 'broken', render: () => Promise.reject(new Error('no page can be drawn')) };
    const report = await site.publisher({ renderer: broken }).run();
    expect(report.pages.find(({ slug }) => slug === 'acme')).toMatchObject({ kind: 'failed' });
    expect(existsSync(join(site.folders.publicSite, 'acme'))).toBe(false);
    // Pages that nothing happened to are still served.
    expect(servedRelease(site.folders, 'beta')).toMatchObject({ isPublic: true });
    const repaired = await site.publisher().run();
    expect(publishedBy(repaired)).toEqual(['acme']);
    expect(servedRelease(site.folders, 'acme')).toMatchObject({ isPublic: false });
    expect(site.served('_site', 'index.html')).not.toContain('ACME');
  });

  it('is taken off the public side again after the next news, where another process with older rules put it', async () => {
    const { site, run, publisher } = await published();
    site.upstream('acme').page = { access: 'email-domain', emailDomains: ['corp.example'] };
    later(site, SECOND_MS);
    await site.pass();
    await run();
    await publisher.settled();
    const link = join(site.folders.publicSite, 'acme');
    symlinkSync(readlinkSync(join(site.folders.privateSite, 'acme')), link);
    site.upstream('beta').states[0] = 'major_outage';
    later(site, SECOND_MS);
    await site.pass('beta');
    expect(lookedAt(await run())).toEqual(['beta']);
    await publisher.settled();
    expect(existsSync(link)).toBe(false);
  });

  it.each([
    ['it is published no more', { published: false }],
    ['we do not know its kind of access', { access: 'closed' }],
    ['its password is nobody’s', { access: 'password' }],
  ] as const)('is unreachable when %s, also while an upstream was never heard', async (_reason, page) => {
    const { site } = await published();
    site.upstream('acme').page = page;
    later(site, SECOND_MS);
    await site.pass();
    const waiting = createSmallSite({ folder: site.folder, pages: [...DEFAULT, 'unheard'] });
    waiting.clock.now = site.clock.now;
    await waiting.publisher().run();
    expect(existsSync(join(site.folders.publicSite, 'acme'))).toBe(false);
  });
});

describe('what goes wrong', () => {
  afterEach(closeSmallSites);

  it('keeps the page that cannot be drawn as it was, publishes the others, and tries again', async () => {
    const { site } = await published();
    const renderer = plainRenderer();
    let isBroken = false;
    const { run } = site.publisher({
      renderer: {
        ...renderer,
        render: async (kind, view) => {
          if (isBroken && JSON.stringify(view).includes('BETA')) throw new Error('beta cannot be drawn');
          return renderer.render(kind, view);
        },
      },
    });
    await run();
    for (const slug of DEFAULT) site.upstream(slug).states[0] = 'degraded';
    later(site, SECOND_MS);
    await site.pass();
    isBroken = true;
    const before = servedBodies(site.folders.publicSite, 'beta');
    const report = await run();
    expect(publishedBy(report)).toEqual(['acme', 'gamma']);
    expect(report.pages.find(({ slug }) => slug === 'beta')?.message).toContain('beta cannot be drawn');
    expect(servedBodies(site.folders.publicSite, 'beta')).toEqual(before);
    later(site, SECOND_MS);
    isBroken = false;
    expect(publishedBy(await run())).toEqual(['beta']);
  });

  it('publishes a page anew whose manifest, or any of whose files, is gone or damaged', async () => {
    const { site } = await published();
    const damage: ((folder: string) => void)[] = [
      (folder) => writeFileSync(join(folder, 'manifest.json'), '{"format":2'),
      (folder) => rmSync(join(folder, 'manifest.json')),
      (folder) => writeFileSync(join(folder, 'manifest.json'), ''),
      (folder) => rmSync(join(folder, 'files', 'components', 'c1', 'index.html')),
      (folder) => rmSync(join(folder, 'files', 'history'), { recursive: true }),
    ];
    // Long enough after the first pass for components to be drawn at heartbeats only.
    later(site, 2 * HEARTBEAT_MS);
    await site.pass();
    await site.publisher().run();
    for (const [index, spoil] of damage.entries()) {
      const number = currentNumber(site.folders, 'acme');
      spoil(join(site.folders.releases, 'acme', String(number)));
      site.upstream('acme').states[0] = index % 2 === 0 ? 'degraded' : 'operational';
      later(site, SECOND_MS);
      await site.pass();
      const { run, publisher } = site.publisher();
      expect(publishedBy(await run())).toContain('acme');
      await publisher.settled();
      const manifest = currentManifest(site.folders, 'acme');
      expect(manifest?.number).toBeGreaterThan(number ?? 0);
      for (const path of Object.keys(manifest?.files ?? {}))
        expect(site.served('acme', path).length).toBeGreaterThan(0);
    }
  });

  it('changes nothing while another process publishes, and says so', async () => {
    const { site } = await published();
    let waited = 0;
    const control = createPublishControl({
      database: site.store.database,
      folders: site.folders,
      now: () => site.clock.now,
      sleep: async (ms) => {
        waited += ms;
        later(site, ms);
      },
      mayServe: async () => true,
      log: testPageLog(site.store.database),
    });
    const { run } = site.publisher({ control });
    const release = await holdLease(site);
    const report = await run();
    expect(waited).toBeGreaterThan(10 * SECOND_MS);
    expect(report.pages.map(({ kind }) => kind)).toEqual(['failed', 'failed', 'failed']);
    expect(report.pages[0]?.message).toContain('Another process is publishing');
    await release();
    expect((await run()).pages.map(({ kind }) => kind)).not.toContain('failed');
  });
});

async function holdLease(site: SmallSite): Promise<() => Promise<void>> {
  const { withPublishLease } = await import('../../src/publish/releases/switch.ts');
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const { promise: held, resolve: hold } = Promise.withResolvers<void>();
  const task = withPublishLease(
    { database: site.store.database, folders: site.folders, now: () => site.clock.now, sleep: async () => undefined },
    async () => {
      hold();
      await ended;
    },
  );
  await held;
  return async () => {
    end();
    await task;
  };
}
