import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { toPageKey } from '../../src/model/slugs.ts';
import { HOUR_MS, MINUTE_MS, toEpochMs } from '../../src/model/time.ts';
import { createPublishControl } from '../../src/publish/publish-control.ts';
import { currentManifest } from '../../src/publish/releases/manifest.ts';
import { rollbackTo } from '../../src/publish/releases/rollback.ts';
import { copySqlite } from '../../src/store/sqlite/sqlite.ts';
import { formatKey, type SigningKey } from '../../src/transparency/note.ts';
import { createPageLog } from '../../src/transparency/page-log.ts';
import { type ReadFile, type SeenHead, type Verdict, verifyPage } from '../../src/transparency/verify.ts';
import { TEST_KEY, testKey, testPageLog } from '../helpers/page-log.ts';
import { closeSmallSites, createSmallSite, type RunningPublisher, type SmallSite } from '../helpers/small-site.ts';

afterEach(closeSmallSites);

const at = (site: SmallSite, slug = 'acme'): ReadFile => {
  return async (path) => {
    const file = join(site.folders.publicSite, slug, path);
    return existsSync(file) ? readFileSync(file) : null;
  };
};

const check = (site: SmallSite, seen: SeenHead | null = null, read = at(site)): Promise<Verdict> =>
  verifyPage({ read, seen, siteKeys: null, url: 'https://status.example/acme/', now: site.clock.now });

const settle = async ({ run, publisher }: RunningPublisher): Promise<void> => {
  await run();
  await publisher.settled();
};

/** The site after some hours with a pass every hour, or after days with one every five. */
async function live(site: SmallSite, running: RunningPublisher, hours: number): Promise<void> {
  const step = hours < 24 ? 1 : 5;
  for (let hour = 0; hour < hours; hour += step) {
    site.clock.now = toEpochMs(site.clock.now + step * HOUR_MS);
    await site.pass('acme');
    await settle(running);
  }
}

async function begin(): Promise<{ site: SmallSite; running: RunningPublisher }> {
  const site = createSmallSite({ pages: ['acme'] });
  await site.pass();
  const running = site.publisher();
  await settle(running);
  return { site, running };
}

const lines = (site: SmallSite): string[] => site.served('acme', 'log/entries/000000.jsonl').trimEnd().split('\n');
const kinds = (site: SmallSite): string[] => lines(site).map((line) => JSON.parse(line).kind);

const loseLog = (site: SmallSite): Promise<void> =>
  site.store.database.transaction(async (tx) => {
    for (const table of ['log_entry', 'page_log', 'log_day']) await tx.run(`DELETE FROM ${table}`);
  });

describe('the signed log of a page', () => {
  it('agrees with what is served: files, days, and a head that was seen before', async () => {
    const { site, running } = await begin();
    const first = await check(site);
    expect(first.faults).toEqual([]);
    expect(first.head?.key).toBe(formatKey(TEST_KEY));
    await live(site, running, 30);
    site.upstream('acme').states = ['major_outage', 'operational'];
    await live(site, running, 30);
    const later = await check(site, first.head);
    expect(later).toMatchObject({ faults: [], corrections: [] });
    expect(later.filesChecked).toBeGreaterThan(20);
    expect(later.daysChecked).toBeGreaterThan(0);
    expect(kinds(site)).toContain('days');
  });

  it('lists files that are about the whole site where it is read at its root, also at one below a path', async () => {
    const site = createSmallSite({ pages: ['acme'] });
    Object.assign(site.inputs.site, { url: 'https://status.example/status' });
    await site.pass();
    await settle(site.publisher());
    const own = at(site);
    const read: ReadFile = async (path) => (path === '404.html' ? Buffer.from('of the site') : own(path));
    const faultsAt = async (url: string) =>
      (await verifyPage({ read, seen: null, siteKeys: null, url, now: site.clock.now })).faults;
    expect(await faultsAt('https://status.example/status/')).toEqual([]);
    expect(await faultsAt('https://status.example/status/acme/')).toEqual(['404.html isn’t what was signed.']);
  });

  it('grows with news, not with heartbeats', async () => {
    const { site, running } = await begin();
    const size = lines(site).length;
    site.clock.now = toEpochMs(site.clock.now + 16 * MINUTE_MS);
    await site.pass();
    await settle(running);
    expect(lines(site)).toHaveLength(size);
    expect((await check(site)).faults).toEqual([]);
    site.upstream('acme').states = ['major_outage', 'operational'];
    await site.pass();
    await settle(running);
    expect(lines(site)).toHaveLength(size + 1);
    expect((await check(site)).faults).toEqual([]);
  });

  it('finds a file that was changed after it was signed, and one that is gone', async () => {
    const { site } = await begin();
    const read: ReadFile = async (path) => {
      const bytes = await at(site)(path);
      if (path === 'api/v2/summary.json') return Buffer.from(String(bytes).replace('Operational', 'operational!'));
      return path === 'feed.atom' ? null : bytes;
    };
    expect((await check(site, null, read)).faults).toEqual([
      'api/v2/summary.json isn’t what was signed.',
      'feed.atom is missing.',
    ]);
  });

  it.each([
    ['a truncated log', 'log/entries/000000.jsonl', (text: string) => text.slice(0, 40), /truncated/],
    [
      'another entry',
      'log/entries/000000.jsonl',
      (text: string) => text.replace('"release"', '"rollback"'),
      /aren’t those that were signed/,
    ],
    ['another list of files', 'log/SHA256SUMS', (text: string) => `${text}\n`, /isn’t the list that was signed/],
    ['a damaged checkpoint', 'log/checkpoint', () => 'x', /isn’t a checkpoint/],
    [
      'a checkpoint that nobody signed',
      'log/checkpoint',
      (text: string) => text.replace('acme', 'evil'),
      /isn’t signed/,
    ],
    ['another key', 'log/key.json', () => JSON.stringify({ keys: [formatKey(testKey())] }), /isn’t signed/],
  ])('names %s', async (_, changed, change, sentence) => {
    const { site } = await begin();
    const read: ReadFile = async (path) => {
      const bytes = await at(site)(path);
      return path === changed ? Buffer.from(change(String(bytes))) : bytes;
    };
    expect((await check(site, null, read)).faults.join(' ')).toMatch(sentence);
  });

  it('names an old copy, and a past that was signed again', async () => {
    const { site, running } = await begin();
    const old = new Map(
      await Promise.all(
        ['log/checkpoint', 'log/entries/000000.jsonl', 'log/SHA256SUMS', 'log/key.json', 'api/uptime.json'].map(
          async (path) => [path, await at(site)(path)] as const,
        ),
      ),
    );
    await live(site, running, 40);
    const { head } = await check(site);
    const replayed = await check(site, head, async (path) => old.get(path) ?? (await at(site)(path)));
    expect(replayed.faults[0]).toMatch(/shorter than when it was seen before/);
    const forged = { ...head, root: Buffer.alloc(32).toString('base64') } as SeenHead;
    expect((await check(site, forged)).faults[0]).toMatch(/past was rewritten/);
    expect((await check(site, { ...forged, origin: 'status.example/other' })).faults[0]).toMatch(/another page/);
  });

  it('says openly when a day is edited in the database, and cannot be edited itself', async () => {
    const { site, running } = await begin();
    site.upstream('acme').states = ['major_outage', 'operational'];
    await live(site, running, 4);
    site.upstream('acme').states = ['operational', 'operational'];
    await live(site, running, 40);
    const { head, faults } = await check(site);
    expect(faults).toEqual([]);
    await site.store.database.transaction((tx) => tx.run("UPDATE span SET state = 'operational'"));
    running.publisher.close();
    const next = site.publisher();
    await live(site, next, 1);
    const { faults: none, corrections } = await check(site, head);
    expect(none).toEqual([]);
    expect(corrections).toMatchObject([{ component: 'c0', day: '2026-11-21', why: 'history_changed' }]);
    expect(corrections[0]?.was).toMatch(/major_outage/);
    // The page says so itself, with its next heartbeat.
    await live(site, next, 1);
    const { utc_days, components } = JSON.parse(site.served('acme', 'api/uptime.json'));
    const corrected = components.map((one: { corrections: { day: number }[] }) =>
      one.corrections.map(({ day }) => utc_days[day]),
    );
    expect(corrected).toEqual([['2026-11-21'], []]);
    // The log itself, edited to hide it.
    await site.store.database.transaction((tx) =>
      tx.run("UPDATE log_entry SET line = REPLACE(line, 'major_outage', 'degraded')"),
    );
    await live(site, next, 1);
    expect((await check(site, head)).faults.join(' ')).toMatch(/aren’t those that were signed/);
  });

  it('takes a rollback as an entry, not as a rewrite', async () => {
    const { site, running } = await begin();
    site.upstream('acme').states = ['major_outage', 'operational'];
    await live(site, running, 1);
    const { head } = await check(site);
    await running.publisher.close();
    const log = testPageLog(site.store.database);
    await rollbackTo(
      {
        database: site.store.database,
        folders: site.folders,
        now: () => site.clock.now,
        sleep: async () => undefined,
        log,
      },
      { slug: 'acme', release: null },
    );
    const rolled = await check(site, head);
    expect(rolled.faults).toEqual([]);
    expect(kinds(site).at(-1)).toBe('rollback');
    const next = site.publisher();
    await live(site, next, 1);
    expect((await check(site, rolled.head)).faults).toEqual([]);
  });

  it('is of the page as it is: a rollback leaves its domain to whoever has it by now', async () => {
    const { site, running } = await begin();
    site.upstream('acme').page = { customDomain: 'status.acme.example' };
    await live(site, running, 1);
    site.upstream('acme').page = {};
    await live(site, running, 1);
    await running.publisher.close();
    const { database } = site.store;
    const deps = { database, folders: site.folders, now: () => site.clock.now, sleep: async () => undefined };
    await rollbackTo({ ...deps, log: testPageLog(database) }, { slug: 'acme', release: null });
    expect(site.served('acme', 'index.html')).toContain('status.acme.example');
    expect(currentManifest(site.folders, 'acme')?.customDomain).toBeNull();
  });

  it('has a name of its own also at a domain that another page had, such as the same one before it was renamed', async () => {
    const site = createSmallSite({ pages: ['acme'] });
    const customDomain = 'status.acme.example';
    site.upstream('acme').page = { customDomain };
    await site.pass();
    const running = site.publisher();
    await live(site, running, 30);
    const { head } = await check(site);
    site.upstream('acme').page = { customDomain, slug: 'shop' };
    await live(site, running, 1);
    const renamed = await check(site, head, at(site, 'shop'));
    expect(renamed.faults).toEqual([expect.stringMatching(/The address was given to another page/)]);
    expect((await check(site, renamed.head, at(site, 'shop'))).faults).toEqual([]);
  });

  it('goes on after a backup was restored, from what the last release shows', async () => {
    const { site, running } = await begin();
    await copySqlite(join(site.folder, 'pharos.db'), join(site.folder, 'before.db'));
    site.upstream('acme').states = ['major_outage', 'operational'];
    await live(site, running, 60);
    const { head } = await check(site);
    const { database } = site.store;
    // As a backup from before would have it.
    await database.transaction(async (tx) => {
      await tx.run('DELETE FROM log_entry WHERE n > 0');
      await tx.run('DELETE FROM log_day');
      const [line] = await tx.all('SELECT line FROM log_entry');
      expect(line).toBeDefined();
      const { growTree } = await import('../../src/transparency/entries.ts');
      await tx.run('UPDATE page_log SET size = 1, frontier = ?, event = ?, days = event, through = event', [
        JSON.stringify(growTree([], 0, [String(line?.['line'])])),
        '',
      ]);
    });
    await live(site, running, 1);
    const after = await check(site, head);
    expect(after.faults).toEqual([]);
    expect(kinds(site)).not.toContain('restart');
    expect(kinds(site)).not.toContain('corrections');
    await live(site, running, 30);
    expect((await check(site, head)).faults).toEqual([]);
  });

  it('goes on when the database was lost, from what the last release shows', async () => {
    const { site, running } = await begin();
    await live(site, running, 30);
    const { head } = await check(site);
    await loseLog(site);
    await live(site, running, 30);
    expect(await check(site, head)).toMatchObject({ faults: [], corrections: [] });
  });

  it('is found to have begun anew when that is gone too', async () => {
    const { site, running } = await begin();
    await live(site, running, 30);
    const { head } = await check(site);
    await loseLog(site);
    rmSync(join(site.folders.publicSite, 'acme/log/entries/000000.jsonl'));
    await live(site, running, 1);
    expect((await check(site, head)).faults.join(' ')).toMatch(/rewritten|shorter/);
  });

  it('changes its key by an entry that both keys sign; a key that nobody vouched for is named', async () => {
    const { site, running } = await begin();
    const { head } = await check(site);
    await running.publisher.close();
    const published = async (current: SigningKey, find: (verifier: string) => SigningKey | null): Promise<void> => {
      const log = createPageLog(site.store.database, async () => ({ current, find }));
      const control = createPublishControl({
        ...{ database: site.store.database, folders: site.folders, now: () => site.clock.now, log },
        sleep: async () => undefined,
        mayServe: async () => true,
      });
      const next = site.publisher({ control });
      await live(site, next, 1);
      await next.publisher.close();
    };
    const second = testKey();
    await published(second, () => TEST_KEY);
    const rotated = await check(site, head);
    expect(rotated.faults).toEqual([]);
    expect(kinds(site)).toContain('key');
    await published(testKey(), () => null);
    expect((await check(site, rotated.head)).faults.join(' ')).toMatch(/never agreed to it/);
  });

  it('is signed for a private page too, behind its gate, and goes on there when the page closes', async () => {
    const { site, running } = await begin();
    await live(site, running, 30);
    const { head } = await check(site);
    site.upstream('acme').page = { access: 'email-domain', emailDomains: ['corp.example'] };
    await live(site, running, 1);
    expect((await check(site)).faults.join(' ')).toMatch(/no log at this address/);
    const behind: ReadFile = async (path) => {
      const file = join(site.folders.privateSite, 'acme', path);
      return existsSync(file) ? readFileSync(file) : null;
    };
    const closed = await check(site, head, behind);
    expect(closed.faults).toEqual([]);
    expect(closed.head?.size).toBeGreaterThan(head?.size ?? 0);
  });

  it('keeps files of a bounded number of entries, and leaves full ones alone', async () => {
    const { site, running } = await begin();
    const log = testPageLog(site.store.database);
    const page = toPageKey('acme', 1);
    for (let n = lines(site).length; n < 255; n += 1)
      await log.commitRelease({
        ...{ page, origin: '', revision: 1_000_000, at: site.clock.now, seen: null },
        ...{ event: `event ${n}`, root: n.toString(16).padStart(64, '0'), isRollback: true },
      });
    for (const state of ['major_outage', 'operational', 'major_outage'] as const) {
      site.upstream('acme').states = [state, 'operational'];
      await live(site, running, 1);
    }
    expect(lines(site)).toHaveLength(256);
    expect((await check(site)).faults).toEqual([]);
  });
});
