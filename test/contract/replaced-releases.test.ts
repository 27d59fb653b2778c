import { rmSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { filesFolder } from '../../src/publish/releases/folders.ts';
import { readHead } from '../../src/server/answer.ts';
import { createBadgeService } from '../../src/server/visitors/badge-service.ts';
import { pageAnswer } from '../../src/server/visitors/page-answer.ts';
import { createReleaseReader, type ReleaseReader } from '../../src/server/visitors/release-reader.ts';
import { closeSmallSites, createSmallSite } from '../helpers/small-site.ts';
import { page, siteFolder } from './access-fixture.ts';

afterEach(closeSmallSites);

it('answers from the release that is served where the one it opened was cleared away meanwhile', async () => {
  const small = createSmallSite({ pages: ['acme'] });
  await small.pass();
  const { run, publisher } = small.publisher();
  await run();
  await publisher.settled();
  const folder = siteFolder();
  const site = await folder.open();
  await site.access.setPages([page('acme')]);

  const reader = createReleaseReader(small.folders);
  const replaced = reader.open('acme');
  if (replaced === null) throw new Error('nothing is served');
  await turn();
  small.upstream('acme').states[0] = 'major_outage';
  small.clock.now = (small.clock.now + 1_000) as typeof small.clock.now;
  await small.pass();
  await run();
  await publisher.settled();
  rmSync(filesFolder(small.folders, 'acme', replaced.manifest.number), { recursive: true, force: true });

  // As for a process that had to wait between its look at the link and its look at the file.
  let looks = 0;
  const late: ReleaseReader = {
    open: (slug) => {
      looks += 1;
      return looks === 1 ? replaced : reader.open(slug);
    },
  };
  const answer = await pageAnswer(
    {
      reader: late,
      access: site.access,
      badges: createBadgeService(),
      sources: () => [],
      locale: () => 'en',
      now: () => small.clock.now,
    },
    {
      address: { kind: 'page', slug: 'acme', path: 'index.html', base: '/acme/', form: null, badge: null },
      query: new URLSearchParams(),
      head: readHead({ headers: {}, rawHeaders: [] }),
      clientAddress: () => '',
    },
  );
  expect(answer.status).toBe(200);
  expect(String(answer.body)).toContain('major_outage');
  await site.close();
  folder.remove();
});
