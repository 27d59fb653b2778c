import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { toPageKey } from '../../../src/model/slugs.ts';
import { DAY_MS, type EpochMs, HOUR_MS, MINUTE_MS, toEpochMs } from '../../../src/model/time.ts';
import type { PageNews, PageNotice } from '../../../src/notify/news.ts';
import { recordNews } from '../../../src/notify/queue.ts';
import type { Database } from '../../../src/store/database.ts';
import { AT, noticeOf } from '../../helpers/channels.ts';
import { openEmptySqlite } from '../../helpers/empty-sqlite.ts';

const later = (ms: number): EpochMs => toEpochMs(AT + ms);
const told = (id: string, at: EpochMs = AT): PageNotice => ({
  notice: noticeOf({ id, at }),
  componentIds: [],
  monitors: [],
  origin: null,
  isSilent: false,
});
const news = (...notices: PageNotice[]): PageNews => ({
  page: { key: toPageKey('acme', 1), gate: 1 },
  components: [],
  origins: ['page:config/acme'],
  subjects: notices.map(({ notice }) => notice.subject.id),
  notices,
});

describe('what a page tells no more', () => {
  let folder: string;
  let database: Database;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'pharos-record-'));
    ({ database } = openEmptySqlite(join(folder, 'pharos.db'), AT));
    await recordNews(database, news(), AT);
    await recordNews(database, news(told('n-1')), AT);
  });
  afterEach(async () => {
    await database.close();
    rmSync(folder, { recursive: true });
  });
  const states = async (): Promise<unknown> =>
    (await database.all('SELECT id, state FROM notice ORDER BY id')).map(({ id, state }) => `${id} ${state}`);

  it('is withdrawn, since somebody took it back', async () => {
    await recordNews(database, news(), later(22 * HOUR_MS));
    expect(await states()).toEqual(['n-1 withdrawn']);
  });

  it('is not withdrawn when it only grew older than a page tells, whose time lies a little back', async () => {
    for (const age of [23 * HOUR_MS, DAY_MS - MINUTE_MS, DAY_MS, DAY_MS + HOUR_MS])
      await recordNews(database, news(), later(age));
    expect(await states()).toEqual(['n-1 new']);
  });

  it('is recorded once, and an hour late still told', async () => {
    expect(await recordNews(database, news(told('n-1'), told('n-2')), later(HOUR_MS))).toBe(1);
    expect(await recordNews(database, news(told('n-1'), told('n-2')), later(HOUR_MS))).toBe(0);
    expect(await states()).toEqual(['n-1 new', 'n-2 new']);
  });
});
