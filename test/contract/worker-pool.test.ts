import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { drawingWith } from '../../src/app/workers/drawing.ts';
import { createWorkerPool } from '../../src/app/workers/worker-pool.ts';
import { toEpochMs } from '../../src/model/time.ts';
import { loadRenderer } from '../../src/publish/draw/renderer.ts';
import { POOL_PAGES_MIN } from '../../src/publish/page-release.ts';
import { createPublishControl } from '../../src/publish/publish-control.ts';
import type { PublishReport } from '../../src/publish/publisher.ts';
import { SITE_SLUG } from '../../src/publish/releases/folders.ts';
import { testPageLog } from '../helpers/page-log.ts';
import { closeSmallSites, createSmallSite, type SmallSite } from '../helpers/small-site.ts';

const PAGES = Array.from({ length: POOL_PAGES_MIN + 1 }, (_, index) => `page-${index + 10}`);
/** What a page has from its first release on. */
const FILES = ['index.html', 'components/c0/index.html', 'api/v2/summary.json', 'feed.atom'];

describe('pages that are prepared on threads', () => {
  afterEach(closeSmallSites);

  const outcomes = ({ pages }: PublishReport) =>
    pages.flatMap(({ slug, kind, message }) => (slug === SITE_SLUG ? [] : [[slug, kind, message]]));

  const poolOf = ({ folder, folders, store }: SmallSite, file = 'pharos.db') =>
    createWorkerPool(
      { store: { file: join(folder, file) }, folders, components: null },
      createPublishControl({
        database: store.database,
        folders,
        now: () => toEpochMs(0),
        sleep: async () => undefined,
        mayServe: async () => true,
        log: testPageLog(store.database),
      }),
    );

  it('are those that this thread would have made, byte for byte', async () => {
    const drawing = drawingWith(await loadRenderer());
    const served: string[][][] = [];
    for (const isOnThreads of [false, true]) {
      const site = createSmallSite({ pages: PAGES });
      await site.pass();
      const pool = poolOf(site);
      const { run } = site.publisher({ ...drawing, ...(isOnThreads ? { workers: pool } : {}) });
      expect(outcomes(await run())).toEqual(PAGES.map((slug) => [slug, 'published', null]));
      served.push(PAGES.map((slug) => FILES.map((path) => site.served(slug, path))));
    }
    expect(served[1]).toEqual(served[0]);
  });

  it('fail with their threads, and say so', async () => {
    const site = createSmallSite({ pages: PAGES });
    await site.pass();
    const pool = poolOf(site, 'nothing.db');
    const { run } = site.publisher({ ...drawingWith(await loadRenderer()), workers: pool });
    // The first is made in this thread.
    expect(outcomes(await run())).toEqual(
      PAGES.map((slug, index) =>
        index === 0
          ? [slug, 'published', null]
          : [slug, 'failed', expect.stringContaining(`The page ${slug} could not be published: unable to open`)],
      ),
    );
  });
});
