/**
 * Gates that hold while everything changes: random histories of a site, and after every step every surface is read by
 * nobody, by every session that was ever given out, and by whoever may see it. What is said at one time has words of its
 * own, so that a byte of another time or another page is told by what stands in it.
 *
 * What it finds when it is taken out, by the first seed (S3: seed 5) and within so many steps:
 * - a password or domains as a gate without a type: `statedAccess` gives only `type` (step 0);
 * - a page withheld while what it builds on is not there: `collectDrafts` overlays nothing instead of `withhold` (21);
 * - one identity per release: `nextReleaseNumber` without the store, and `release-reader` keeping bytes by their place and
 *   not comparing them with the manifest (33; bytes of another time, shown to who may see the page: 30 of the first seed);
 * - one door: `pageAnswer` opens the home page at the root without asking (13); `closePages` leaves the site's own files
 *   that tell of a closed page (23); `compose` does not have targets withdraw it (13);
 * - a page that is more than its slug: `site-memory` gives every page of a slug the same key (6); `isOwn` shows a public page
 *   what was written while it was private (48); `readFormComponents` does not ask for the version of the gate (48);
 * - routes that carry tokens: `presented` takes the row of any page (3);
 * - doubt closes: `judge` leaves out `closeDoubtful` (14).
 *
 * `PHAROS_TEST_SEED` is the first seed, `PHAROS_GATES_STEPS` how many steps.
 */

import { afterEach, describe, expect, it, vi } from 'vitest';
import type * as Sqlite from '../../src/store/sqlite/sqlite.ts';
import { createSite, judge, pull, removeSite, type Site } from './gates-machine/machine.ts';
import { type Course, chanceOf, takeStep } from './gates-machine/steps.ts';
import { createVisitors } from './gates-machine/visitors.ts';

const SCALE = Number(process.env['PHAROS_TEST_SCALE'] ?? 1);
const STEPS = Number(process.env['PHAROS_GATES_STEPS'] ?? Math.round(25 * SCALE));
/** Of one history; then another site begins. */
const STEPS_OF_SITE = 100;
const FIRST_SEED = Number(process.env['PHAROS_TEST_SEED'] ?? 1);

const { mails } = vi.hoisted(() => ({ mails: [] as { to: string; text: string }[] }));

vi.mock('../../src/mail/mailer.ts', () => ({
  createPrintingMailer: () => async (mail: { to: string; text: string }) => {
    mails.push(mail);
  },
}));

// It takes a tenth of a second by intention; that it is argon2 is tested where it is.
vi.mock('../../src/access/gate/password-hash.ts', async () => {
  const { hash } = await import('node:crypto');
  const digest = (password: string): string => hash('sha256', password);
  return {
    DECOY_HASH: 'nothing hashes to this',
    hashPassword: async (password: string) => digest(password),
    verifyPassword: async (password: string, stored: string) => digest(password) === stored,
  };
});

// Most of the time of a step; what variants unpack to is compared where they are served.
vi.mock('../../src/publish/releases/manifest.ts', async (original) => ({
  ...(await original<object>()),
  compress: async () => [],
}));

// Processes wait for each other's transactions; in one thread the one that waits would keep the other from ending.
vi.mock('../../src/store/sqlite/sqlite.ts', async (original) => {
  const real = await original<typeof Sqlite>();
  const { default: pLimit } = await import('p-limit');
  const inTurn = pLimit(1);
  const openSqlite: typeof Sqlite.openSqlite = (...place) => {
    const { database, ...others } = real.openSqlite(...place);
    return {
      ...others,
      database: { ...database, transaction: (task, options) => inTurn(() => database.transaction(task, options)) },
    };
  };
  return { ...real, openSqlite };
});

// In this thread, and with a drawing that shows all that a view holds.
vi.mock('../../src/app/workers/publisher-client.ts', async () => {
  const { startPublisherHere } = await import('./gates-machine/publisher-here.ts');
  return { startPublisher: startPublisherHere };
});

describe('gates', () => {
  let site: Site | null = null;
  afterEach(async () => {
    vi.useRealTimers();
    if (site !== null) await removeSite(site);
  });

  it(`show nothing to whoever may not see it, in ${STEPS} steps of anything`, { timeout: 3_600_000 }, async () => {
    let shown = 0;
    for (let done = 0, seed = FIRST_SEED; done < STEPS; seed += 1) {
      vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-11-21T09:13:00Z') });
      site = await createSite();
      const visitors = createVisitors(site, mails);
      const history: string[] = [];
      const course: Course = {
        site,
        visitors,
        history,
        chance: chanceOf(seed),
        pass: (ms) => vi.setSystemTime(Date.now() + ms),
        isAway: false,
      };
      await pull(site);
      judge(site);
      visitors.note(site);
      for (let step = 0; step < STEPS_OF_SITE && done < STEPS; step += 1, done += 1)
        await takeStep(course).catch((error: unknown) => {
          const story = history.map((line, index) => `${index}: ${line}`).slice(-25);
          throw new Error(
            `seed ${seed}, step ${step}: ${error instanceof Error ? error.stack : error}\n${story.join('\n')}`,
          );
        });
      shown += visitors.shown();
      await removeSite(site);
      site = null;
    }
    // That much was there to be seen.
    expect(shown).toBeGreaterThan(50 * STEPS);
  });
});
