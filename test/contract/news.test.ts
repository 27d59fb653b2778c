import { afterEach, describe, expect, it } from 'vitest';
import { DAY_MS, MINUTE_MS, toEpochMs } from '../../src/model/time.ts';
import { recordNews } from '../../src/notify/queue.ts';
import { createPublishControl } from '../../src/publish/publish-control.ts';
import { testPageLog } from '../helpers/page-log.ts';
import {
  closeSmallSites,
  createSmallSite,
  incidentOf,
  type RunningPublisher,
  type SmallSite,
} from '../helpers/small-site.ts';

afterEach(closeSmallSites);

function telling(): SmallSite {
  const site = createSmallSite({ pages: ['acme'] });
  Object.assign(site.inputs.site, { subscriptions: true });
  return site;
}

function publisherOf(site: SmallSite): RunningPublisher {
  return site.publisher({
    control: createPublishControl({
      database: site.store.database,
      folders: site.folders,
      now: () => site.clock.now,
      sleep: (ms) => new Promise((done) => setTimeout(done, ms)),
      mayServe: async () => true,
      log: testPageLog(site.store.database),
      tell: async (news) => void (await recordNews(site.store.database, news, site.clock.now)),
    }),
  });
}

/** What of it is to be sent, oldest first. */
async function told(site: SmallSite): Promise<string[]> {
  // Recording is not waited for by publishing.
  await new Promise((done) => setTimeout(done, 50));
  const rows = await site.store.database.all(`SELECT document FROM notice WHERE state = 'new' ORDER BY at, id`);
  return rows.map((row) => {
    const { notice } = JSON.parse(String(row['document']));
    return `${notice.event} ${notice.subject.title}`;
  });
}

describe('news of a page that is published', () => {
  it('tells of an outage that monitors saw as the page does: when it becomes an incident, and when it is over', async () => {
    const site = telling();
    const { run } = publisherOf(site);
    const pass = async (minutes: number, first: 'operational' | 'major_outage'): Promise<void> => {
      site.clock.now = toEpochMs(site.clock.now + minutes * MINUTE_MS);
      site.upstream('acme').states = [first, 'operational'];
      await site.pass();
      await run();
    };
    await pass(1, 'operational');
    await pass(1, 'major_outage');
    expect(await told(site)).toEqual([]);
    for (let minute = 0; minute < 4; minute += 1) await pass(1, 'major_outage');
    expect(await told(site)).toEqual(['incident_opened Outage: acme 0']);
    expect(site.served('acme', 'api/v2/incidents/unresolved.json')).toContain('Outage: acme 0');
    for (let minute = 0; minute < 12; minute += 1) await pass(1, 'operational');
    expect(await told(site)).toEqual(['incident_opened Outage: acme 0', 'incident_resolved Outage: acme 0']);
  });

  it('tells nothing of the first pass, nothing twice after a restart, and nothing that was withdrawn', async () => {
    const site = telling();
    const world = site.upstream('acme');
    world.incidents = [incidentOf('acme', { id: 'acme/old', title: 'Before us' })];
    await site.pass();
    await publisherOf(site).run();
    expect(await told(site)).toEqual([]);

    site.clock.now = toEpochMs(site.clock.now + MINUTE_MS);
    const { now } = site.clock;
    const updates = [{ id: 'u1', at: now, status: 'investigating', body: 'x' }];
    world.incidents = [
      ...world.incidents,
      incidentOf('acme', { id: 'acme/new', title: 'News', startedAt: now, updates }),
    ];
    await site.pass();
    await publisherOf(site).run();
    await publisherOf(site).run();
    expect(await told(site)).toEqual(['incident_opened News']);

    // It turns out to be about another page, and is taken back before anything was sent.
    world.incidents = world.incidents.map((one) =>
      one.id === 'acme/new' ? { ...one, monitors: [], pages: ['other'] } : one,
    );
    site.clock.now = toEpochMs(site.clock.now + MINUTE_MS);
    await site.pass();
    await publisherOf(site).run();
    expect(site.served('acme', 'api/v2/incidents.json')).not.toContain('News');
    expect(await told(site)).toEqual([]);
  });

  it('tells nothing of what is back-filled: dated before its day, or of a page that was renamed', async () => {
    const site = telling();
    const world = site.upstream('acme');
    await site.pass();
    await publisherOf(site).run();
    const old = toEpochMs(site.clock.now - 2 * DAY_MS);
    world.incidents = [
      incidentOf('acme', {
        startedAt: old,
        status: 'resolved',
        endedAt: toEpochMs(old + MINUTE_MS),
        updates: [{ id: 'u1', at: old, status: 'resolved', body: 'Was.' }],
      }),
    ];
    site.clock.now = toEpochMs(site.clock.now + MINUTE_MS);
    await site.pass();
    await publisherOf(site).run();
    expect(await told(site)).toEqual([]);
    const { now } = site.clock;
    world.incidents = [
      incidentOf('acme', { startedAt: now, updates: [{ id: 'u2', at: now, status: 'investigating', body: 'Is.' }] }),
    ];
    world.page = { id: 'acme/renamed', slug: 'renamed' };
    site.clock.now = toEpochMs(site.clock.now + MINUTE_MS);
    await site.pass();
    await publisherOf(site).run();
    expect(await told(site)).toEqual([]);
  });

  it('derives nothing for pages of which nobody is told', async () => {
    const site = createSmallSite({ pages: ['acme'] });
    await site.pass();
    await publisherOf(site).run();
    await told(site);
    expect(await site.store.database.all('SELECT * FROM notice_origin')).toEqual([]);
  });
});
