import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemRandom } from '../../src/access/digest.ts';
import { parseEmailAddress } from '../../src/mail/mail.ts';
import { toPageKey } from '../../src/model/slugs.ts';
import { toEpochMs } from '../../src/model/time.ts';
import type { PageNews } from '../../src/notify/news.ts';
import { recordNews } from '../../src/notify/queue.ts';
import { addSubscribers, createAddressSeal } from '../../src/notify/subscribers.ts';
import { openSqlite } from '../../src/store/sqlite/sqlite.ts';
import { type MailSink, startMailSink } from '../helpers/mail-sink.ts';

/** 200 points of a thousand messages each with a scale of 100. */
const SCALE = Number(process.env['PHAROS_TEST_SCALE'] ?? 1);
const POINTS = Math.max(3, Math.min(200, 2 * SCALE));
const MESSAGES = SCALE >= 10 ? 1_000 : 200;
const CHILD = resolve(import.meta.dirname, '../helpers/notice-child.ts');
const KEY = { reveal: () => 'a key of addresses of subscribers, of tests' };

let folder: string;
let sink: MailSink;
const children = new Set<ChildProcess>();
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pharos-notices-'));
  sink = await startMailSink();
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await sink.close();
  rmSync(folder, { recursive: true });
});

function send(): { readonly child: ChildProcess; readonly ended: Promise<unknown> } {
  const child = spawn(process.execPath, [CHILD, join(folder, 'pharos.db'), sink.url], { stdio: 'inherit' });
  children.add(child);
  return { child, ended: once(child, 'exit').finally(() => children.delete(child)) };
}

function newsOf(id: string, at: number): PageNews {
  return {
    page: { key: toPageKey('acme', 1), gate: 1 },
    components: [],
    origins: ['page:config/acme'],
    subjects: [id],
    notices: [
      {
        notice: {
          id,
          event: 'incident_opened',
          page: { slug: 'acme', title: 'Acme', url: 'https://status.example/acme/', language: 'en' },
          subject: {
            id,
            title: id,
            url: 'https://status.example/acme/incidents/x/',
            impact: 'major',
            status: 'investigating',
            startedAt: toEpochMs(at),
            endsAt: null,
          },
          components: [],
          text: id,
          at: toEpochMs(at),
        },
        componentIds: [],
        monitors: [],
        origin: null,
        isSilent: false,
      },
    ],
  };
}

describe('a sender that is killed', () => {
  it('leaves no message out, and sends at most one of a thousand twice, with the same id', async () => {
    const seal = createAddressSeal(KEY, systemRandom);
    {
      const { database } = openSqlite(join(folder, 'pharos.db'), toEpochMs(Date.now()));
      await recordNews(database, { ...newsOf('', 0), notices: [] }, toEpochMs(Date.now()));
      const added = Array.from({ length: MESSAGES }, (_one, index) => {
        const email = parseEmailAddress(`p${index}@mail.example`);
        if (email === null) throw new Error('no address');
        return { page: toPageKey('acme', 1), email, components: [], gate: '', isConfirmed: true };
      });
      await addSubscribers({ database, seal, random: systemRandom, now: toEpochMs(Date.now()) }, added);
      await database.close();
    }
    let twice = 0;
    for (let point = 0; point < POINTS; point += 1) {
      const before = sink.mails.length;
      const { database } = openSqlite(join(folder, 'pharos.db'), toEpochMs(Date.now()));
      await recordNews(database, newsOf(`n${point}`, Date.now()), toEpochMs(Date.now()));
      await database.close();
      const killAt = before + Math.floor(((point + 0.5) / POINTS) * MESSAGES);
      const first = send();
      while (sink.mails.length < killAt && first.child.exitCode === null)
        await new Promise((done) => setTimeout(done, 1));
      // At any moment of what goes on, not at the one in which the mail server has just taken a mail.
      await new Promise((done) => setTimeout(done, Math.random() * 20));
      first.child.kill('SIGKILL');
      await first.ended;
      await send().ended;
      const sent = sink.mails.slice(before);
      const to = Map.groupBy(sent, (mail) => mail.to);
      expect([...to.keys()].length).toBe(MESSAGES);
      for (const mails of to.values()) {
        twice += mails.length - 1;
        expect(new Set(mails.map(({ headers }) => headers.get('message-id'))).size).toBe(1);
      }
      sink.mails.splice(0);
      if (SCALE >= 10) console.log(`${point + 1} kills, ${(point + 1) * MESSAGES} messages, ${twice} sent twice`);
    }
    const share = twice / (POINTS * MESSAGES);
    // Where few are sent, one more is a large share.
    expect(share).toBeLessThanOrEqual(SCALE >= 10 ? 0.001 : 0.01);
  }, 3_600_000);
});
