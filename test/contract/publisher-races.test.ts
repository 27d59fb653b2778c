import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { StatusError } from '../../src/errors.ts';
import { type EpochMs, HOUR_MS, MINUTE_MS, SECOND_MS, toEpochMs } from '../../src/model/time.ts';
import type { PublishReport } from '../../src/publish/publish-control.ts';
import { RELEASES_KEPT } from '../../src/publish/releases/clean.ts';
import { DISK, type Disk } from '../../src/publish/releases/disk.ts';
import { currentNumber, releaseNumbers } from '../../src/publish/releases/folders.ts';
import { currentManifest, type Manifest, readManifest } from '../../src/publish/releases/manifest.ts';
import { rollbackTo } from '../../src/publish/releases/rollback.ts';
import { heldRelease, letGo, withPublishLease } from '../../src/publish/releases/switch.ts';
import { openSqlite } from '../../src/store/sqlite/sqlite.ts';
import { isLogFile } from '../../src/transparency/entries.ts';
import { testPageLog } from '../helpers/page-log.ts';
import type { PublishAnswer, PublishOrder } from '../helpers/publishing-process.ts';
import { servedBodies } from '../helpers/release-inputs.ts';
import { closeSmallSites, createSmallSite, publishedBy, SITE_START, type SmallSite } from '../helpers/small-site.ts';

const RACES = Math.round(16 * Number(process.env['PHAROS_TEST_SCALE'] ?? 1));

/** Another process, as far as the store and the disk can tell: connections and memory of its own. */
function otherProcess(site: SmallSite): SmallSite {
  const other = createSmallSite({ folder: site.folder, pages: ['acme'] });
  other.clock.now = site.clock.now;
  return other;
}

/** A disk that stops after it wrote a file of that name until it is told to go on, as a process does that is paused. */
function pausingDisk(name: string): { disk: Disk; paused: Promise<void>; resume: () => void } {
  const { promise: paused, resolve: pause } = Promise.withResolvers<void>();
  const { promise: resumed, resolve: resume } = Promise.withResolvers<void>();
  return {
    paused,
    resume,
    disk: {
      ...DISK,
      batch: () => {
        const batch = DISK.batch();
        let isItsTurn = false;
        return {
          ...batch,
          write: (path, bytes) => {
            isItsTurn ||= path.endsWith(name);
            batch.write(path, bytes);
          },
          flush: async () => {
            await batch.flush();
            if (!isItsTurn) return;
            pause();
            await resumed;
          },
        };
      },
    },
  };
}

/** A real process that publishes when told to. */
async function publishingProcess(
  site: SmallSite,
): Promise<{ publish: (order: PublishOrder) => Promise<PublishReport> }> {
  const child = fork(join(import.meta.dirname, '../helpers/publishing-process.ts'), [site.folder]);
  children.push(child);
  await once(child, 'message');
  return {
    publish: async (order) => {
      child.send(order);
      const [answer] = (await once(child, 'message')) as [PublishAnswer];
      if ('error' in answer) throw new Error(answer.error);
      return answer;
    },
  };
}

const children: ChildProcess[] = [];

async function closeAll(): Promise<void> {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await closeSmallSites();
}

/** The lease was another process's while this one was paused, and ran out since. */
async function takeOver({ store }: SmallSite): Promise<void> {
  await store.database.transaction((tx) =>
    tx.run("UPDATE lease SET holder = 'another', fence = fence + 1, until_at = 1"),
  );
}

function later(site: SmallSite, ms: number): EpochMs {
  site.clock.now = toEpochMs(site.clock.now + ms);
  return site.clock.now;
}

describe('two publishers of one data folder', () => {
  afterEach(closeAll);

  it(`never serve an older state after a newer one, in ${RACES} races of two processes`, async () => {
    const site = createSmallSite({ pages: ['acme'] });
    await site.pass();
    const processes = [await publishingProcess(site), await publishingProcess(site)];
    let newest = 0;
    let won = 0;
    for (let race = 0; race < RACES; race += 1) {
      const now = later(site, SECOND_MS);
      site.upstream('acme').states[0] = race % 2 === 0 ? 'major_outage' : 'operational';
      await site.pass();
      const reports = await Promise.all(processes.map(({ publish }) => publish({ now })));
      const manifest = currentManifest(site.folders, 'acme');
      expect(manifest?.asOf).toBe(now);
      expect(manifest?.asOf).toBeGreaterThan(newest);
      newest = manifest?.asOf ?? 0;
      const { state } = JSON.parse(site.served('acme', 'api/state.json')) as { state: string };
      expect(state).toBe(race % 2 === 0 ? 'partial_outage' : 'operational');
      expect(reports.flatMap(({ pages }) => pages).filter(({ kind }) => kind === 'failed')).toEqual([]);
      won += reports.filter((report) => publishedBy(report).includes('acme')).length;
    }
    // The later of the two finds that it is done already.
    expect(won).toBe(RACES);
  });

  it('lets one that was paused and wakes up late change nothing, and try again with what is true then', async () => {
    const site = createSmallSite({ pages: ['acme'] });
    await site.pass();
    const early = site.publisher();
    await early.run();
    await early.publisher.settled();
    site.upstream('acme').states[0] = 'major_outage';
    later(site, SECOND_MS);
    await site.pass();
    const { disk, paused, resume } = pausingDisk('manifest.json');
    // Of its own background work, which may wait for its own lease when the clock leaps.
    const late: unknown[] = [];
    const sleeper = site.publisher({ disk, onError: (error) => late.push(error) });
    const sleeping = sleeper.run();
    await paused;

    await takeOver(site);
    const now = later(site, 2 * MINUTE_MS);
    const other = otherProcess(site);
    other.clock.now = now;
    other.upstream('acme').states[0] = 'degraded';
    await other.pass();
    const awake = other.publisher();
    expect(publishedBy(await awake.run())).toEqual(['acme']);
    await awake.publisher.settled();
    const tree = servedBodies(site.folders.publicSite, 'acme');
    const number = currentNumber(site.folders, 'acme');

    resume();
    const report = await sleeping;
    expect(report.pages.find(({ slug }) => slug === 'acme')).toMatchObject({ kind: 'failed' });
    expect(report.pages[0]?.message).toContain('Another process has taken over');
    expect(currentNumber(site.folders, 'acme')).toBe(number);
    expect(servedBodies(site.folders.publicSite, 'acme')).toEqual(tree);
    // Nothing of the late one is left.
    expect(releaseNumbers(site.folders, 'acme').filter((one) => one > (number ?? 0))).toEqual([]);
    later(site, SECOND_MS);
    expect((await sleeper.run()).pages.filter(({ kind }) => kind === 'failed')).toEqual([]);
    expect(JSON.parse(site.served('acme', 'api/state.json')).state).toBe('degraded');
    expect(late.filter((error) => !(error instanceof StatusError && error.code === 'PUBLISH_FAILED'))).toEqual([]);
  });

  it('does not let a picture that took long replace news that came meanwhile', async () => {
    const site = createSmallSite({ pages: ['acme'] });
    await site.pass();
    const { disk, paused, resume } = pausingDisk('og.png');
    const errors: unknown[] = [];
    const { run, publisher } = site.publisher({ disk, onError: (error) => errors.push(error) });
    await run();
    await paused;
    site.upstream('acme').states[0] = 'major_outage';
    later(site, SECOND_MS);
    await site.pass();
    await run();
    const news = currentNumber(site.folders, 'acme');
    resume();
    await publisher.settled();
    expect(JSON.parse(site.served('acme', 'api/state.json')).state).toBe('partial_outage');
    const manifest = currentManifest(site.folders, 'acme');
    expect(manifest?.number).toBeGreaterThanOrEqual(news ?? 0);
    expect(manifest?.files['og.png']).toBeDefined();
    // The late picture is gone, and that is no fault: the news had one drawn of its own.
    expect(releaseNumbers(site.folders, 'acme')).not.toContain((news ?? 0) - 1);
    expect(errors).toEqual([]);
  });

  it('fence each other: of two leases the later one alone switches', async () => {
    const site = createSmallSite({ pages: ['acme'] });
    const other = openSqlite(join(site.folder, 'pharos.db'), SITE_START).database;
    const deps = { folders: site.folders, now: () => SITE_START, sleep: async () => undefined };
    const done: string[] = [];
    await withPublishLease({ ...deps, database: site.store.database }, async (early) => {
      await early.pass(async () => void done.push('early'));
      await takeOver(site);
      await withPublishLease({ ...deps, database: other }, async (late) => {
        await late.pass(async () => void done.push('late'));
        await expect(early.pass(async () => void done.push('early again'))).rejects.toThrow('taken over');
      });
      await expect(early.pass(async () => void done.push('early at last'))).rejects.toThrow('taken over');
    });
    expect(done).toEqual(['early', 'late']);
    await other.close();
  });
});

describe('rolling back', () => {
  afterEach(closeAll);

  async function withReleases(count: number) {
    const site = createSmallSite({ pages: ['acme'] });
    const { run, publisher } = site.publisher();
    for (let index = 0; index < count; index += 1) {
      site.upstream('acme').states[0] = index % 2 === 0 ? 'operational' : 'degraded';
      await site.pass();
      await run();
      await publisher.settled();
      later(site, SECOND_MS);
    }
    const deps = {
      log: testPageLog(site.store.database),
      database: site.store.database,
      folders: site.folders,
      now: () => site.clock.now,
      sleep: async () => undefined,
    };
    return { site, run, deps, close: publisher.close };
  }

  it('serves each release that is kept again, byte for byte', async () => {
    const { site, deps, close } = await withReleases(6);
    await close();
    const numbers = releaseNumbers(site.folders, 'acme');
    expect(numbers).toHaveLength(5);
    for (const release of numbers.toReversed()) {
      const earlier = readManifest(site.folders, 'acme', release);
      const manifest = await rollbackTo(deps, { slug: 'acme', release });
      expect(currentNumber(site.folders, 'acme')).toBe(manifest.number);
      expect(manifest).toMatchObject({ restores: release, asOf: earlier?.asOf, dataSha256: earlier?.dataSha256 });
      const pageFiles = (of: Manifest | null) => Object.entries(of?.files ?? {}).filter(([path]) => !isLogFile(path));
      expect(pageFiles(manifest)).toEqual(pageFiles(earlier));
    }
  });

  it('goes to the one before by default, and the next news goes on from there', async () => {
    const { site, run, deps } = await withReleases(3);
    const last = currentNumber(site.folders, 'acme') ?? 0;
    const stateServed = () => JSON.parse(site.served('acme', 'api/state.json')).state;
    const pictureServed = () => site.served('acme', 'og.png');
    const [state, picture] = [stateServed(), pictureServed()];
    // The release before is the same news without its picture: no step back.
    expect(readManifest(site.folders, 'acme', last)?.completes).toBe(last - 1);
    expect((await rollbackTo(deps, { slug: 'acme', release: null })).restores).toBe(last - 2);
    expect(stateServed()).not.toBe(state);
    expect(pictureServed()).not.toBe(picture);
    site.upstream('acme').states[1] = 'major_outage';
    await site.pass();
    expect(publishedBy(await run())).toEqual(['acme']);
    expect(currentNumber(site.folders, 'acme')).toBeGreaterThan(last + 1);
    expect(stateServed()).toBe('partial_outage');
  });

  it('keeps releases that differ, not the halves of one', async () => {
    const { site, close } = await withReleases(7);
    // While things happen nothing is removed, which would slow down what follows.
    expect(releaseNumbers(site.folders, 'acme').length).toBeGreaterThan(RELEASES_KEPT);
    await close();
    const manifests = releaseNumbers(site.folders, 'acme').map((number) => readManifest(site.folders, 'acme', number));
    expect(manifests).toHaveLength(RELEASES_KEPT);
    // Of the news being served both halves stay, for whoever is just reading the first one.
    expect(new Set(manifests.map((manifest) => manifest?.eventKey)).size).toBe(2);
    expect(new Set(manifests.map((manifest) => manifest?.asOf)).size).toBe(4);
  });

  it('holds a page on a release whatever news there is, past a restart, until it is let go', async () => {
    const { site, run, deps } = await withReleases(3);
    const stateServed = () => JSON.parse(site.served('acme', 'api/state.json')).state;
    const before = stateServed();
    const { number } = await rollbackTo(deps, { slug: 'acme', release: null, isHeld: true });
    const held = stateServed();
    expect(held).not.toBe(before);
    const restarted = site.publisher();
    for (const [publishing, state] of [
      [run, 'major_outage'],
      [restarted.run, 'degraded'],
    ] as const) {
      later(site, 3 * HOUR_MS);
      site.upstream('acme').states[1] = state;
      await site.pass();
      const { pages } = await publishing();
      expect(pages.find(({ slug }) => slug === 'acme')).toMatchObject({ kind: 'held', release: number });
      expect([currentNumber(site.folders, 'acme'), stateServed()]).toEqual([number, held]);
    }
    const place = { disk: DISK, folders: site.folders };
    expect([letGo(place, 'acme'), letGo(place, 'acme')]).toEqual([true, false]);
    expect(publishedBy(await restarted.run())).toEqual(['acme']);
    expect(stateServed()).toBe('degraded');
  });

  it('stays held although pictures of the news before were still to follow', async () => {
    const { site, deps } = await withReleases(2);
    const faults: unknown[] = [];
    const { run, publisher } = site.publisher({ onError: (fault) => faults.push(fault) });
    await run();
    await publisher.settled();
    site.upstream('acme').states[1] = 'major_outage';
    await site.pass();
    await run();
    const { number } = await rollbackTo({ ...deps, sleep: wait }, { slug: 'acme', release: null, isHeld: true });
    await publisher.settled();
    expect([currentNumber(site.folders, 'acme'), heldRelease(site.folders, 'acme')]).toEqual([number, number]);
    expect(faults).toEqual([]);
  });

  it('ends a hold where the page is rolled back without one, and where its gate changes', async () => {
    const { site, run, deps } = await withReleases(3);
    const { restores = 0 } = await rollbackTo(deps, { slug: 'acme', release: null, isHeld: true });
    await rollbackTo(deps, { slug: 'acme', release: restores });
    expect(heldRelease(site.folders, 'acme')).toBeNull();
    const { number } = await rollbackTo(deps, { slug: 'acme', release: restores, isHeld: true });
    expect(heldRelease(site.folders, 'acme')).toBe(number);
    site.upstream('acme').page = { access: 'email-domain', emailDomains: ['corp.example'] };
    await site.pass();
    expect(publishedBy(await run())).toContain('acme');
    expect(heldRelease(site.folders, 'acme')).toBeNull();
  });

  it('refuses what is gone, damaged, not there, or drawn for everybody while the page has a gate', async () => {
    const { site, run, deps } = await withReleases(3);
    const [oldest = 0, before = 0, last = 0] = releaseNumbers(site.folders, 'acme').slice(-3);
    await expect(rollbackTo(deps, { slug: 'acme', release: 99 })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(rollbackTo(deps, { slug: 'nobody', release: null })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    DISK.remove(join(site.folders.releases, 'acme', String(before), 'files', 'index.html'));
    await expect(rollbackTo(deps, { slug: 'acme', release: before })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(currentNumber(site.folders, 'acme')).toBe(last);
    expect((await rollbackTo(deps, { slug: 'acme', release: null })).restores).toBe(oldest);
    site.upstream('acme').page = { access: 'email-domain', emailDomains: ['corp.example'] };
    await site.pass();
    await run();
    await expect(rollbackTo(deps, { slug: 'acme', release: last })).rejects.toThrow('different access rules');
    await expect(rollbackTo(deps, { slug: 'acme', release: null })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});
