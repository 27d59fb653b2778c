import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, toEpochMs } from '../../../src/model/time.ts';
import {
  claimDue,
  createSender,
  enqueue,
  type Handover,
  type Job,
  type Lane,
  type NewRow,
  type Sender,
} from '../../../src/outbox/outbox.ts';
import type { Database } from '../../../src/store/database.ts';
import { openEmptySqlite } from '../../helpers/empty-sqlite.ts';

const T0 = toEpochMs(Date.UTC(2026, 10, 22, 9));

describe('the sender', () => {
  let folder: string;
  let database: Database;
  let senders: Sender[];
  const clock = { now: T0 };
  const errors: string[] = [];
  const heard: string[] = [];
  let answer: (job: Job) => Handover | Promise<Handover>;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'pharos-sender-'));
    ({ database } = openEmptySqlite(join(folder, 'pharos.db'), T0));
    clock.now = T0;
    senders = [];
    answer = () => ({ outcome: 'delivered' });
    for (const list of [errors, heard]) list.length = 0;
  });
  afterEach(async () => {
    for (const sender of senders) await sender.close();
    await database.close();
    rmSync(folder, { recursive: true });
  });

  const lane = (id: string, over: Partial<Lane> = {}): Lane => ({
    ...{ id, atOnce: 1, itemsMax: 1, parkedAfterMs: null },
    retry: { firstMs: 10 * SECOND_MS, maxMs: HOUR_MS },
    send: async (job) => {
      heard.push(`${id} ${job.recipient} ${job.items.join('+')}`);
      return answer(job);
    },
    ...over,
  });
  const sending = (...lanes: Lane[]): Sender => {
    const onError = (error: unknown): void => void errors.push(String(error));
    const sender = createSender({ database, now: () => clock.now, random: () => 1, lanes: () => lanes, onError });
    senders.push(sender);
    return sender;
  };
  const queue = (...rows: (Pick<NewRow, 'channel' | 'item'> & Partial<NewRow>)[]): Promise<void> =>
    database.transaction((tx) =>
      enqueue(
        tx,
        rows.map((row) => ({ recipient: '', kind: 'event', ...row })),
        clock.now,
      ),
    );
  const states = async (): Promise<string[]> =>
    (await database.all('SELECT item, state FROM outbox ORDER BY item')).map(({ item, state }) => `${item} ${state}`);
  const dueInMs = async (): Promise<number> =>
    Number((await database.all('SELECT MAX(due_at) AS due FROM outbox'))[0]?.['due']) - clock.now;

  it('finds what is due by an index, however much waits', async () => {
    const plans: string[] = [];
    const read: Database['transaction'] = (task, init) =>
      database.transaction(
        (tx) =>
          task({
            ...tx,
            all: async (sql, values = []) => {
              const plan = await tx.all(`EXPLAIN QUERY PLAN ${sql}`, values);
              plans.push(
                ...plan.map(({ detail }) => String(detail)).filter((step) => /\b(one|other|outbox)\b/.test(step)),
              );
              return tx.all(sql, values);
            },
          }),
        init,
      );
    await queue({ channel: 'slow', item: 'a' }, { channel: 'slow', item: 'b', recipient: 'somebody' });
    const lane = { id: 'slow', itemsMax: 8 };
    const watched = { ...database, transaction: read };
    expect(await claimDue(watched, lane, clock.now, toEpochMs(clock.now + 1))).toHaveLength(2);
    expect(plans).toEqual([
      'SEARCH one USING INDEX outbox_due (channel=? AND due_at<?)',
      'SEARCH other USING INDEX sqlite_autoindex_outbox_1 (channel=? AND recipient=?)',
      'SEARCH outbox USING INDEX sqlite_autoindex_outbox_1 (channel=? AND recipient=?)',
    ]);
  });

  it('sends each item once, in order, and one lane waits for no other', async () => {
    await queue({ channel: 'slow', item: 'a' }, { channel: 'quick', item: 'b' }, { channel: 'quick', item: 'a' });
    let release: () => void = () => undefined;
    const slow = lane('slow', { send: () => new Promise((done) => (release = () => done({ outcome: 'delivered' }))) });
    const sender = sending(slow, lane('quick'));
    const first = sender.run();
    while (heard.length < 2) await new Promise((done) => setTimeout(done, 1));
    await queue({ channel: 'quick', item: 'c' });
    const second = sender.run();
    while (heard.length < 3) await new Promise((done) => setTimeout(done, 1));
    release();
    await Promise.all([first, second]);
    expect(heard).toEqual(['quick  a', 'quick  b', 'quick  c']);
    await queue({ channel: 'quick', item: 'c' });
    await sender.run();
    expect(heard).toHaveLength(3);
  });

  it('keeps what was sent together together, and what comes later waits behind it', async () => {
    await queue({ channel: 'x', item: 'a' }, { channel: 'x', item: 'b' });
    const together = lane('x', { itemsMax: 10 });
    answer = () => ({ outcome: 'postponed', reason: 'busy', afterMs: null });
    await sending(together).run();
    await queue({ channel: 'x', item: 'c' });
    await sending(together).run();
    clock.now = toEpochMs(T0 + HOUR_MS);
    answer = () => ({ outcome: 'delivered' });
    await sending(lane('x', { itemsMax: 1 })).run();
    expect(heard).toEqual(['x  a+b', 'x  a+b', 'x  c']);
  });

  it('waits longer each time, a quarter more at most, or as long as the other side says, but a second', async () => {
    await queue({ channel: 'x', item: 'a' });
    const sender = sending(lane('x'));
    const waits: number[] = [];
    for (const afterMs of [null, null, null, 7_000, 0]) {
      answer = () => ({ outcome: 'postponed', reason: 'busy', afterMs });
      await sender.run();
      waits.push((await dueInMs()) / SECOND_MS);
      clock.now = toEpochMs(clock.now + DAY_MS);
    }
    expect(waits).toEqual([12.5, 25, 50, 8.75, 1]);
  });

  it('sends at once what was to wait for hours before the clock was set back, and nothing that waits for an hour', async () => {
    const sender = sending(lane('x'));
    const postponedAt = async (now: number, afterMs: number): Promise<void> => {
      clock.now = toEpochMs(now);
      answer = () => ({ outcome: 'postponed', reason: 'busy', afterMs });
      await sender.run();
      answer = () => ({ outcome: 'delivered' });
      heard.length = 0;
      clock.now = T0;
      await sender.run();
    };
    await queue({ channel: 'x', item: 'a' });
    await postponedAt(T0 + 3 * HOUR_MS, SECOND_MS);
    expect(heard).toEqual(['x  a']);
    await queue({ channel: 'x', item: 'b' });
    await postponedAt(T0, DAY_MS);
    expect(heard).toEqual([]);
    clock.now = toEpochMs(T0 + 1.25 * HOUR_MS);
    await sender.run();
    expect(heard).toEqual(['x  b']);
  });

  it('waits for nobody who claimed messages, and for no channel, by a clock that was hours ahead', async () => {
    await queue({ channel: 'x', item: 'a' }, { channel: 'x', item: 'b' });
    clock.now = toEpochMs(T0 + 3 * HOUR_MS);
    const gone = { id: 'x', itemsMax: 1 };
    expect(await claimDue(database, gone, clock.now, toEpochMs(clock.now + MINUTE_MS))).toHaveLength(1);
    clock.now = toEpochMs(T0 + SECOND_MS);
    const sender = sending(lane('x'), lane('y'));
    await sender.run();
    expect(heard).toEqual(['x  a', 'x  b']);
    await queue({ channel: 'y', item: 'c' });
    clock.now = toEpochMs(T0 + 3 * HOUR_MS);
    answer = () => ({ outcome: 'unreachable', reason: 'no route' });
    await sender.run();
    clock.now = toEpochMs(T0 + MINUTE_MS);
    answer = () => ({ outcome: 'delivered' });
    await sender.run();
    expect(heard.slice(2)).toEqual(['y  c', 'y  c']);
    expect(await states()).toEqual(['a sent', 'b sent', 'c sent']);
  });

  it('leaves a channel that can’t be reached alone for 15 s at most, says so once, and counts no attempt', async () => {
    await queue({ channel: 'x', item: 'a' }, { channel: 'x', item: 'b', recipient: 'other' });
    const sender = sending(lane('x'));
    answer = () => ({ outcome: 'unreachable', reason: 'no mail server' });
    for (let second = 0; second < 300; second += 1) {
      clock.now = toEpochMs(T0 + second * SECOND_MS);
      await sender.run();
    }
    expect(heard.length).toBeLessThan(25);
    expect(errors).toEqual([
      'Error: Can’t deliver messages via x: no mail server. They are queued and will be retried.',
    ]);
    expect(await database.all('SELECT DISTINCT attempts FROM outbox')).toEqual([{ attempts: 0 }]);
    answer = () => ({ outcome: 'delivered' });
    clock.now = toEpochMs(clock.now + 15 * SECOND_MS);
    await sender.run();
    expect(await states()).toEqual(['a sent', 'b sent']);
  });

  it('parks what is too old, forgets what nobody is to be told, and keeps reasons by item', async () => {
    await queue({ channel: 'old', item: 'a' }, { channel: 'gone', item: 'b' });
    await queue({ channel: 'some', item: 'c' }, { channel: 'some', item: 'd' });
    const lanes = [
      lane('old', {
        parkedAfterMs: DAY_MS,
        send: async () => ({ outcome: 'postponed', reason: 'busy', afterMs: null }),
      }),
      lane('gone', { send: async () => ({ outcome: 'dropped' }) }),
      lane('some', { itemsMax: 2, send: async () => ({ outcome: 'delivered', refused: new Map([['d', 'unknown']]) }) }),
    ];
    clock.now = toEpochMs(T0 + DAY_MS);
    await sending(...lanes).run();
    expect(await states()).toEqual(['a parked', 'c sent', 'd rejected']);
    const reasons = await database.all('SELECT item, reason FROM outbox ORDER BY item');
    expect(reasons.map(({ reason }) => reason)).toEqual(['busy', null, 'unknown']);
  });

  it('retries what fails in a way that nobody foresaw', async () => {
    await queue({ channel: 'x', item: 'a' });
    answer = () => Promise.reject(new Error('a fault of ours'));
    await sending(lane('x')).run();
    expect(await states()).toEqual(['a queued']);
    expect(await dueInMs()).toBeGreaterThan(0);
  });
});
