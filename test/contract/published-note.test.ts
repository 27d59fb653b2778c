/** A process that begins does not look again at pages that nothing happened to since the last one, and at all others. */

import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS, toEpochMs } from '../../src/model/time.ts';
import { pageBadges, pageFiles } from '../../src/publish/files/files.ts';
import { notedRevision } from '../../src/publish/published-note.ts';
import type { PublisherOptions, PublishReport } from '../../src/publish/publisher.ts';
import { closeSmallSites, createSmallSite, incidentOf, plainRenderer, type SmallSite } from '../helpers/small-site.ts';

const PAGES = ['acme', 'beta', 'gamma'];

async function begin(site: SmallSite, version = '1') {
  const renderer = plainRenderer();
  const since = await notedRevision(site.store, site.folders);
  // Without pictures, which take longer than all the rest.
  const filesOf: PublisherOptions['filesOf'] = (model, page) =>
    pageFiles(model, { badge: pageBadges(page) }).filter(({ priority }) => priority !== 'background');
  return { renderer, since, ...site.publisher({ renderer, filesOf, noting: { version, since } }) };
}

/** A site whose first process ended as it should. */
async function publishedSite(): Promise<SmallSite> {
  const site = createSmallSite({ pages: PAGES });
  await site.pass();
  const { run, publisher } = await begin(site);
  await run();
  // A second release of the first page.
  site.upstream('acme').states[1] = 'partial_outage';
  later(site, SECOND_MS);
  await site.pass();
  await run();
  await publisher.settled();
  await publisher.close();
  return site;
}

const lookedAt = ({ pages }: PublishReport): string[] =>
  pages.map(({ slug }) => slug).filter((slug) => slug !== '_site');

function later(site: SmallSite, ms: number): void {
  site.clock.now = toEpochMs(site.clock.now + ms);
}

describe('a process that begins', () => {
  afterEach(closeSmallSites);

  it('looks at no page that is as the last one left it, and publishes the next change', async () => {
    const site = await publishedSite();
    const { run, renderer } = await begin(site);
    expect(lookedAt(await run())).toEqual([]);
    expect(renderer.drawn).toEqual([]);
    site.upstream('beta').states[1] = 'major_outage';
    later(site, SECOND_MS);
    await site.pass();
    expect(lookedAt(await run())).toEqual(['beta']);
    expect(site.served('beta', 'index.html')).toContain('major_outage');
    later(site, 15 * MINUTE_MS);
    await site.pass();
    expect(lookedAt(await run())).toEqual(PAGES);
  });

  it('looks at pages that something happened to while nobody published', async () => {
    const site = await publishedSite();
    site.upstream('acme').states[0] = 'degraded';
    site.upstream('gamma').incidents = [incidentOf('gamma')];
    later(site, SECOND_MS);
    await site.pass();
    const { run } = await begin(site);
    expect(lookedAt(await run()).toSorted()).toEqual(['acme', 'gamma']);
    expect(site.served('acme', 'index.html')).toContain('degraded');
    expect(site.served('gamma', 'api/v2/incidents.json')).toContain('gamma');
  });

  it('looks at a page that is defined otherwise by now, and at one whose source went silent', async () => {
    const site = await publishedSite();
    site.upstream('beta').page = { title: 'Another title' };
    later(site, SECOND_MS);
    await site.pass();
    const first = await begin(site);
    expect(lookedAt(await first.run())).toEqual(['beta']);
    expect(site.served('beta', 'index.html')).toContain('Another title');
    await first.publisher.settled();
    await first.publisher.close();
    later(site, 3 * MINUTE_MS);
    const second = await begin(site);
    expect(lookedAt(await second.run())).toEqual(PAGES);
    expect(site.served('acme', 'api/state.json')).toContain('true');
  });

  it.each<[string, (site: SmallSite) => unknown, readonly string[]]>([
    ['the page was rolled back meanwhile', (site) => serve(site, 'acme', 1), ['acme']],
    ['its link is gone', (site) => rmSync(`${site.folders.publicSite}/acme`), ['acme']],
    ['the note is damaged', (site) => writeFileSync(site.folders.published, '{"format":1,'), PAGES],
    ['the note is gone', (site) => rmSync(site.folders.published), PAGES],
    [
      'the store was put back',
      (site) => edit(site, (note) => ({ ...note, revision: Number(note['revision']) + 1 })),
      PAGES,
    ],
    ['the store is another', (site) => edit(site, (note) => ({ ...note, store: Number(note['store']) + 1 })), PAGES],
  ])('looks where %s', async (_, happen, expected) => {
    const site = await publishedSite();
    await happen(site);
    const { run } = await begin(site);
    expect(lookedAt(await run())).toEqual(expected);
  });

  it('looks at all of them with another program', async () => {
    const site = await publishedSite();
    const { run } = await begin(site, '2');
    expect(lookedAt(await run())).toEqual(PAGES);
  });

  it('looks at what the last one had left for later when it ended, and at what it did not note', async () => {
    const site = createSmallSite({ pages: PAGES });
    await site.pass();
    const first = await begin(site);
    await first.run();
    await first.publisher.close();
    const second = await begin(site);
    expect(lookedAt(await second.run())).toEqual(PAGES);
    await second.publisher.settled();
    await second.publisher.close();
    const third = await begin(site);
    site.upstream('beta').states[0] = 'partial_outage';
    later(site, SECOND_MS);
    await site.pass();
    await third.run();
    // Killed: nothing is noted of this.
    const { run, renderer } = await begin(site);
    expect(lookedAt(await run())).toEqual(['beta']);
    expect(renderer.drawn).not.toContain('status-page');
  });
});

function serve({ folders }: SmallSite, slug: string, release: number): void {
  rmSync(`${folders.publicSite}/${slug}`);
  symlinkSync(`../../releases/${slug}/${release}/files`, `${folders.publicSite}/${slug}`);
}

function edit(site: SmallSite, change: (note: Record<string, unknown>) => object): void {
  const note = JSON.parse(readFileSync(site.folders.published, 'utf8')) as Record<string, unknown>;
  writeFileSync(site.folders.published, JSON.stringify(change(note)));
}
