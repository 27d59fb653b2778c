import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemRandom } from '../../src/access/digest.ts';
import { type Mail, parseEmailAddress } from '../../src/mail/mail.ts';
import { type PageKey, toPageKey } from '../../src/model/slugs.ts';
import { DAY_MS, type EpochMs, HOUR_MS, MINUTE_MS, SECOND_MS, toEpochMs } from '../../src/model/time.ts';
import { sendToSubscriber } from '../../src/notify/mails.ts';
import type { NoticeEvent, PageNews, PageNotice } from '../../src/notify/news.ts';
import {
  createNoticeSender,
  deliveryCounts,
  type NoticeChannel,
  type NoticeSenderOptions,
  recordNews,
} from '../../src/notify/queue.ts';
import { addSubscribers, createAddressSeal, type SubscribablePage } from '../../src/notify/subscribers.ts';
import type { Handover, Sender } from '../../src/outbox/outbox.ts';
import type { Database } from '../../src/store/database.ts';
import {
  BEGIN_TIMEOUT_MS,
  DATABASES,
  startDatabases,
  type TestDatabase,
  type TestDatabases,
} from '../helpers/databases.ts';
import { subscribablePage } from '../helpers/subscribable-page.ts';

const T0 = toEpochMs(Date.UTC(2026, 10, 22, 9));
const KEY = { reveal: () => 'a key of addresses of subscribers, of tests' };

interface NoticeInit {
  readonly subject?: string;
  readonly event?: NoticeEvent;
  readonly at?: EpochMs;
  readonly components?: readonly string[];
  readonly origin?: string | null;
  readonly isSilent?: boolean;
}

function notice(id: string, init: NoticeInit = {}): PageNotice {
  const { subject = 'outage', event = 'incident_opened', at = T0, components = ['api'] } = init;
  return {
    notice: {
      id,
      event,
      page: { slug: 'acme', title: 'Acme', url: 'https://status.example/acme/', language: 'en' },
      subject: {
        id: subject,
        title: `About ${subject}`,
        url: `https://status.example/acme/incidents/${subject}/`,
        impact: 'major',
        status: 'investigating',
        startedAt: at,
        endsAt: null,
      },
      components: [...components],
      text: `Text of ${id}`,
      at,
    },
    componentIds: components,
    monitors: [],
    origin: init.origin ?? null,
    isSilent: init.isSilent ?? false,
  };
}

const news = (notices: readonly PageNotice[], origins: readonly string[] = []): PageNews => ({
  page: { key: toPageKey('acme', 1), gate: 1 },
  components: [
    { id: 'api', name: 'API' },
    { id: 'web', name: 'Website' },
  ],
  origins: ['page:config/acme', ...origins],
  subjects: notices.map((one) => one.notice.subject.id),
  notices,
});

/** At once, where waiting for a lock does not hold up this very thread. */
async function together(kind: string, tasks: readonly (() => Promise<unknown>)[]): Promise<void> {
  if (kind === 'Postgres') await Promise.all(tasks.map((task) => task()));
  else for (const task of tasks) await task();
}

describe.each(DATABASES)('the outbox over %s', (kind) => {
  let databases: TestDatabases;
  let test: TestDatabase;
  let database: Database;
  const clock = { now: T0 };
  const mails: Mail[] = [];
  let failure: (mail: Mail) => unknown = () => null;
  const results: string[] = [];
  const errors: string[] = [];
  let channels: NoticeChannel[] = [];
  const seal = createAddressSeal(KEY, systemRandom);

  beforeAll(async () => {
    databases = await startDatabases(kind);
  }, BEGIN_TIMEOUT_MS);
  afterAll(() => databases?.stop());
  beforeEach(async () => {
    test = await databases.fresh();
    database = test.open();
    clock.now = T0;
    failure = () => null;
    channels = [];
    for (const list of [mails, results, errors]) list.length = 0;
    // The page and its list are known: what comes from now on is news.
    await recordNews(database, news([], ['incidents:up']), T0);
  });
  afterEach(() => test.drop());

  const deps = (pageOf: (page: PageKey) => SubscribablePage, of: Database = database) => ({
    reader: of,
    key: KEY,
    seal,
    now: () => clock.now,
    send: async (mail: Mail): Promise<void> => {
      const fault = failure(mail);
      if (fault !== null) throw fault;
      mails.push(mail);
    },
    pageOf,
  });

  function sender(over: Partial<NoticeSenderOptions> = {}, of: Database = database): Sender {
    return createNoticeSender({
      database: of,
      now: () => clock.now,
      random: () => 0,
      email: () => (job) => sendToSubscriber(deps(subscribablePage, of), job),
      channels: () => channels,
      prepare: async () => undefined,
      onResult: (channel, result, count) => results.push(`${channel} ${result} ${count}`),
      onError: (error) => errors.push(String(error)),
      ...over,
    });
  }

  async function subscribers(...list: readonly (readonly [string, readonly string[]])[]): Promise<void> {
    await addSubscribers(
      { database, seal, random: systemRandom, now: clock.now },
      list.map(([address, components]) => {
        const email = parseEmailAddress(address);
        if (email === null) throw new Error(address);
        return { page: toPageKey('acme', 1), email, components, gate: '', isConfirmed: true };
      }),
    );
  }

  const told = (address: string): string[] => mails.filter(({ to }) => to === address).map(({ subject }) => subject);

  it('tells of an update once, whoever records it and however many processes send', async () => {
    await subscribers(['a@mail.example', []], ['b@mail.example', ['web']], ['c@mail.example', ['api', 'web']]);
    const one = news([notice('n1', { components: ['api', 'web'] })]);
    const second = test.open();
    await together(kind, [() => recordNews(database, one, T0), () => recordNews(second, one, T0)]);
    await together(kind, [() => sender().run(), () => sender({}, second).run()]);
    expect(mails.map(({ to }) => to).toSorted()).toEqual(['a@mail.example', 'b@mail.example', 'c@mail.example']);
    clock.now = toEpochMs(T0 + HOUR_MS);
    await recordNews(database, one, clock.now);
    await sender().run();
    expect(mails).toHaveLength(3);
  });

  it('queues in steps with room for others between them; after a stop or a crash it goes on from the last one', async () => {
    const addresses = Array.from({ length: 650 }, (_, index) => `person${index}@mail.example`);
    await subscribers(...addresses.map((address) => [address, []] as const));
    await recordNews(database, news([notice('n1')]), T0);
    const queued: number[] = [];
    const giveWay = async (): Promise<void> => {
      const [counts] = await deliveryCounts(database);
      queued.push(counts?.queued ?? 0);
      if (queued.length === 2) throw new Error('ended between two steps');
      // Closing doesn't wait until all is queued.
      if (queued.length === 3) closed = stopping.close();
    };
    let closed = Promise.resolve();
    await expect(sender({ giveWay }).run()).rejects.toThrow('ended between two steps');
    const stopping = sender({ giveWay });
    await stopping.run();
    await closed;
    expect(queued).toEqual([200, 400, 600]);
    expect(mails).toEqual([]);
    await sender({}, test.open()).run();
    expect(mails.map(({ to }) => to).toSorted()).toEqual(addresses.toSorted());
  });

  it('tells nobody of what a first pass, a back-fill or an import brings, nor of what is older than a day', async () => {
    await subscribers(['a@mail.example', []]);
    const first: PageNews = { ...news([notice('n1')], ['incidents:new']), origins: ['page:config/other'] };
    await recordNews(database, first, T0);
    await recordNews(database, news([notice('n2', { origin: 'incidents:new' })], ['incidents:new']), T0);
    await recordNews(database, news([notice('n2'), notice('n3', { at: toEpochMs(T0 - DAY_MS) })]), T0);
    await recordNews(database, news([notice('n2'), notice('n4', { isSilent: true })]), T0);
    await sender().run();
    expect(mails).toEqual([]);
    await recordNews(database, news([notice('n2'), notice('n5', { origin: 'incidents:new' })]), T0);
    await sender().run();
    expect(mails).toHaveLength(1);
  });

  it('joins what comes within the quiet time into one digest, and keeps one thread', async () => {
    await subscribers(['a@mail.example', []]);
    const storm = Array.from({ length: 30 }, (_one, index) =>
      notice(`n${index}`, { subject: `s${index}`, at: toEpochMs(T0 + index) }),
    );
    await recordNews(database, news(storm.slice(0, 1)), clock.now);
    await sender().run();
    clock.now = toEpochMs(T0 + SECOND_MS);
    await recordNews(database, news(storm), clock.now);
    await sender().run();
    expect(told('a@mail.example')).toEqual(['[Acme] New incident: About s0']);
    clock.now = toEpochMs(T0 + 5 * MINUTE_MS);
    await sender().run();
    expect(told('a@mail.example')[1]).toBe('[Acme] 29 updates from Acme');
    expect(mails[1]?.text).toContain('Text of n29');
    clock.now = toEpochMs(T0 + 10 * MINUTE_MS);
    const last = notice('end', { subject: 's7', event: 'incident_resolved', at: clock.now });
    await recordNews(database, news([...storm, last]), clock.now);
    await sender().run();
    const [thread = ''] = mails[2]?.references ?? [];
    expect(mails[1]?.references).toContain(thread);
    expect(mails[0]?.references).not.toContain(thread);
    expect(new Set(mails.map(({ messageId }) => messageId)).size).toBe(3);
  });

  it('tells at once whoever confirmed, or was told something, before the clock was set back', async () => {
    clock.now = toEpochMs(T0 + HOUR_MS);
    await subscribers(['a@mail.example', []]);
    await recordNews(database, news([notice('n1', { at: clock.now })]), clock.now);
    await sender().run();
    await subscribers(['b@mail.example', []]);
    clock.now = toEpochMs(T0 + MINUTE_MS);
    await recordNews(database, news([notice('n2', { subject: 'other', at: clock.now })]), clock.now);
    await sender().run();
    expect([told('a@mail.example'), told('b@mail.example')]).toEqual([
      ['[Acme] New incident: About outage', '[Acme] New incident: About other'],
      ['[Acme] New incident: About other'],
    ]);
  });

  it('sends again under the same id what a process that ended had claimed, together with what was in it', async () => {
    await subscribers(['a@mail.example', []]);
    await recordNews(database, news([notice('n1'), notice('n2')]), T0);
    const ids: (string | undefined)[] = [];
    failure = (mail) => {
      ids.push(mail.messageId);
      return new Promise(() => undefined);
    };
    // Its mail server never answers, and then the process is killed.
    const hung = sender({ email: () => () => new Promise(() => undefined) });
    void hung.run();
    await new Promise((done) => setTimeout(done, 300));
    failure = () => null;
    await sender().run();
    expect(mails).toEqual([]);
    await recordNews(database, news([notice('n1'), notice('n2'), notice('n3')]), T0);
    clock.now = toEpochMs(T0 + 3 * MINUTE_MS);
    await sender().run();
    expect(told('a@mail.example')[0]).toBe('[Acme] 2 updates from Acme');
    const [first] = mails;
    expect(first?.text).not.toContain('Text of n3');
    clock.now = toEpochMs(T0 + 6 * MINUTE_MS);
    await sender().run();
    expect(told('a@mail.example')[1]).toBe('[Acme] New incident: About outage');
  });

  it('loses nothing and counts nothing while the mail server is away for an hour', async () => {
    await subscribers(...Array.from({ length: 60 }, (_one, index) => [`p${index}@mail.example`, []] as const));
    await recordNews(database, news([notice('n1')]), T0);
    failure = () => Object.assign(new Error('connect'), { code: 'ECONNECTION' });
    const one = sender();
    for (let minute = 0; minute < 60; minute += 4) {
      clock.now = toEpochMs(T0 + minute * MINUTE_MS);
      await one.run();
    }
    // The same trouble is said once.
    expect(errors).toEqual([
      'Error: Can’t deliver messages via email: can’t reach the mail server (ECONNECTION); check access.smtp. They are queued and will be retried.',
    ]);
    failure = () => null;
    clock.now = toEpochMs(T0 + 61 * MINUTE_MS);
    await one.run();
    expect(new Set(mails.map(({ to }) => to)).size).toBe(60);
    expect(mails).toHaveLength(60);
  });

  it('parks what could not be delivered for five days, and says so', async () => {
    await subscribers(['a@mail.example', []], ['b@mail.example', []]);
    await recordNews(database, news([notice('n1')]), T0);
    failure = ({ to }) =>
      to.startsWith('a@')
        ? Object.assign(new Error('busy'), { code: 'EENVELOPE', responseCode: 450, command: 'RCPT TO' })
        : Object.assign(new Error('no such user'), { code: 'EENVELOPE', responseCode: 550, command: 'RCPT TO' });
    const one = sender();
    for (let hour = 0; hour <= 5 * 24 + 1; hour += 1) {
      clock.now = toEpochMs(T0 + hour * HOUR_MS);
      await one.run();
    }
    const [counts] = await deliveryCounts(database);
    expect(counts).toMatchObject({ channel: 'email', queued: 0, rejected: 1, parked: 1 });
    expect(results).toContain('email rejected 1');
    expect(results.filter((result) => result === 'email parked 1')).toHaveLength(1);
    expect(errors.filter((error) => error.includes('five days'))).toHaveLength(1);
    expect(errors.join()).not.toContain('mail.example');
  });

  it('keeps mail for addresses of another key until that key is back', async () => {
    await subscribers(['a@mail.example', []]);
    await recordNews(database, news([notice('n1')]), T0);
    const lane = (key: typeof KEY): Partial<NoticeSenderOptions> => ({
      email: () => (job) =>
        sendToSubscriber(
          {
            reader: database,
            key,
            seal: createAddressSeal(key, systemRandom),
            now: () => clock.now,
            send: async (mail) => void mails.push(mail),
            pageOf: subscribablePage,
          },
          job,
        ),
    });
    const other = { reveal: () => 'another key, made without a word, of tests' };
    for (let hour = 0; hour < 24; hour += 1) {
      clock.now = toEpochMs(T0 + hour * HOUR_MS);
      await sender(lane(other)).run();
    }
    expect(await deliveryCounts(database)).toMatchObject([
      { queued: 1, rejected: 0, parked: 0, lastError: expect.stringContaining('another key') },
    ]);
    clock.now = toEpochMs(T0 + DAY_MS);
    await sender(lane(KEY)).run();
    expect(told('a@mail.example')).toEqual(['[Acme] New incident: About outage']);
  });

  it('sends nothing of an incident that was withdrawn before it was sent', async () => {
    await subscribers(['a@mail.example', []]);
    await recordNews(database, news([notice('n1'), notice('n2', { subject: 'other' })]), T0);
    await recordNews(database, news([notice('n2', { subject: 'other' })]), T0);
    await sender().run();
    expect(told('a@mail.example')).toEqual(['[Acme] New incident: About other']);
    // A draft by mistake: it comes back as it was.
    await recordNews(database, news([notice('n1'), notice('n2', { subject: 'other' })]), T0);
    clock.now = toEpochMs(T0 + HOUR_MS);
    await sender().run();
    expect(told('a@mail.example')).toEqual(['[Acme] New incident: About other', '[Acme] New incident: About outage']);
  });

  it('sends nothing that was written behind a gate to readers of the page as it is without it', async () => {
    await subscribers(['a@mail.example', []]);
    const { key, gate } = subscribablePage('acme').identity;
    const page = (version: number): SubscribablePage => ({
      ...subscribablePage('acme'),
      identity: { key, gate: gate + version },
    });
    const behindGate = { key, gate: { kind: 'email-domain', version: 'v1', addresses: null } } as const;
    const seen: { as: SubscribablePage } = { as: { ...page(1), gated: behindGate } };
    const sending = async (): Promise<void> => {
      clock.now = toEpochMs(clock.now + 2 * MINUTE_MS);
      await sender({
        email: () => (job) =>
          sendToSubscriber(
            deps(() => seen.as),
            job,
          ),
      }).run();
    };
    const behind = { ...news([notice('n1', { subject: 'secret' })]), page: page(1).identity };
    await recordNews(database, behind, clock.now);
    await sending();
    // Its gate is open, and it is not published yet.
    seen.as = page(2);
    await sending();
    expect(told('a@mail.example')).toEqual([]);
    await recordNews(database, { ...news([notice('n2', { at: clock.now })]), page: page(2).identity }, clock.now);
    // Another node that has not heard of it.
    await recordNews(database, behind, clock.now);
    await sending();
    expect(told('a@mail.example')).toEqual(['[Acme] New incident: About outage']);
  });

  it('closes the alerts of an incident that was deleted, in on-call services that were told of it', async () => {
    const heard: string[] = [];
    const answers: Handover[] = [];
    const deliver: NoticeChannel['deliver'] = async ({ event, subject: { id, status, endsAt } }) => {
      heard.push(`${event} ${id} ${status} ${endsAt === null ? 'open' : endsAt - T0}`);
      return answers.shift() ?? { outcome: 'delivered' };
    };
    const chat: string[] = [];
    channels = [
      { id: 'oncall', recipients: [''], deliver },
      {
        id: 'chat',
        recipients: [''],
        deliver: async ({ event }) => {
          chat.push(event);
          return { outcome: 'delivered' };
        },
      },
    ];
    const record = (one: PageNews) => recordNews(database, one, clock.now, ['oncall']);
    const kept = notice('n4', { subject: 'kept' });
    await record(news([notice('n1'), notice('n2', { event: 'incident_updated', at: toEpochMs(T0 + 1) }), kept]));
    await record(news([notice('n3', { subject: 'plan', event: 'maintenance_announced' }), notice('n1'), kept]));
    await sender().run();
    expect(heard.splice(0)).toEqual([
      'incident_opened outage investigating open',
      'maintenance_announced plan investigating open',
      'incident_opened kept investigating open',
    ]);
    // `kept` lost an update, but is on the page. The others are not.
    clock.now = toEpochMs(T0 + MINUTE_MS);
    const without: PageNews = { ...news([]), subjects: ['kept'] };
    answers.push({ outcome: 'postponed', reason: 'status 429', afterMs: MINUTE_MS });
    await record(without);
    await sender().run();
    await record(without);
    clock.now = toEpochMs(T0 + HOUR_MS);
    await sender().run();
    const end = `incident_resolved outage resolved ${MINUTE_MS}`;
    expect(heard.splice(0)).toEqual([end, end]);
    // It was withdrawn by mistake.
    await record(news([notice('n1')]));
    await sender().run();
    await record(without);
    await sender().run();
    expect(heard).toEqual([
      'incident_opened outage investigating open',
      `incident_resolved outage resolved ${HOUR_MS}`,
    ]);
    expect(chat).toEqual(['incident_opened', 'maintenance_announced', 'incident_opened']);
  });

  it('closes the alert of a deleted incident if the answer to its only attempt was lost', async () => {
    const heard: string[] = [];
    const answers: Handover[] = [{ outcome: 'unreachable', reason: 'no answer' }];
    const deliver: NoticeChannel['deliver'] = async ({ event }) => {
      heard.push(event);
      return answers.shift() ?? { outcome: 'delivered' };
    };
    channels = ['oncall', 'later'].map((id) => ({ id, recipients: [''], deliver }));
    await recordNews(database, news([notice('n1')]), clock.now, ['oncall', 'later']);
    // The second is only queued.
    await sender({ channels: () => channels.slice(0, 1) }).run();
    await database.transaction((tx) =>
      tx.run(`INSERT INTO outbox (channel, recipient, kind, item, state, batch, sort_at, created_at, due_at, claimed_until, attempts)
        SELECT 'later', recipient, kind, item, 'queued', batch, sort_at, created_at, due_at, 0, 0 FROM outbox WHERE channel = 'oncall'`),
    );
    clock.now = toEpochMs(T0 + HOUR_MS);
    await recordNews(database, news([]), clock.now, ['oncall', 'later']);
    await sender().run();
    expect(heard).toEqual(['incident_opened', 'incident_resolved']);
  });

  it('sends what an update says by now if it was corrected before it was sent', async () => {
    await subscribers(['a@mail.example', []]);
    const texts: string[] = [];
    const answers: Handover[] = [{ outcome: 'postponed', reason: 'status 429', afterMs: MINUTE_MS }];
    const deliver: NoticeChannel['deliver'] = async ({ text }) => {
      texts.push(text);
      return answers.shift() ?? { outcome: 'delivered' };
    };
    channels = [{ id: 'chat', recipients: [''], deliver }];
    failure = () => new Error('the mail server is away');
    await recordNews(database, news([notice('n1')]), T0);
    await sender().run();
    const { notice: wrong, ...rest } = notice('n1');
    await recordNews(database, news([{ ...rest, notice: { ...wrong, text: 'What we meant' } }]), T0);
    failure = () => null;
    clock.now = toEpochMs(T0 + HOUR_MS);
    await sender().run();
    await sender().run();
    expect(texts).toEqual(['Text of n1', 'What we meant']);
    expect(mails.map(({ text }) => [text.includes('What we meant'), text.includes('Text of n1')])).toEqual([
      [true, false],
    ]);
  });

  it('tries an email channel again for those addresses only that did not get the notice', async () => {
    const answers: Record<string, Handover> = {
      gone: { outcome: 'rejected', reason: 'the mail server answered 550 for this recipient' },
      full: { outcome: 'postponed', reason: 'the mail server answered 450 for this recipient', afterMs: null },
    };
    const heard: string[] = [];
    const recipients = ['ops', 'gone', 'full', 'desk'];
    const deliver: NoticeChannel['deliver'] = async ({ id }, recipient) => {
      heard.push(`${recipient} ${id}`);
      return answers[recipient] ?? { outcome: 'delivered' };
    };
    channels = [{ id: 'team', recipients, deliver }];
    const at = (index: number) => toEpochMs(T0 + index);
    await recordNews(database, news([notice('n1')]), T0);
    await sender().run();
    await recordNews(database, news([notice('n1'), notice('n2', { at: at(1) })]), T0);
    clock.now = at(1);
    await sender().run();
    for (let hour = 1; hour <= 12; hour += 1) {
      clock.now = toEpochMs(T0 + hour * HOUR_MS);
      await sender().run();
    }
    delete answers['full'];
    clock.now = toEpochMs(T0 + 13 * HOUR_MS);
    await sender().run();
    const of = (name: string): string[] => heard.filter((one) => one.startsWith(name)).map((one) => one.slice(-2));
    expect([of('ops'), of('desk'), of('gone')]).toEqual(Array(3).fill(['n1', 'n2']));
    // In order: the second waited until the first was taken.
    expect(of('full').slice(-2)).toEqual(['n1', 'n2']);
    expect(of('full').filter((id) => id === 'n2')).toHaveLength(1);
    const counts = (await deliveryCounts(database)).find(({ channel }) => channel === 'team');
    expect(counts).toMatchObject({ queued: 0, sent: 6, rejected: 2, parked: 0 });
  });

  it('tells channels of what they are tied to, in order, and waits as long as the other side says', async () => {
    const heard: string[] = [];
    let answer: Handover = { outcome: 'delivered' };
    const channel = (id: string, scope: Partial<NoticeChannel>): NoticeChannel => ({
      id,
      ...scope,
      recipients: [''],
      deliver: async ({ id: told }) => {
        heard.push(`${id} ${told}`);
        return answer;
      },
    });
    channels = [
      channel('all', {}),
      channel('page', { pages: ['acme'] }),
      channel('web', { components: ['acme/web'] }),
      channel('elsewhere', { pages: ['other'], monitors: ['up/1'] }),
    ];
    await recordNews(database, news([notice('n1')]), T0);
    answer = { outcome: 'postponed', reason: 'slow down', afterMs: 10 * MINUTE_MS };
    await sender().run();
    // One channel waits for no other: only what each hears is in order.
    expect(heard.toSorted()).toEqual(['all n1', 'page n1']);
    await recordNews(database, news([notice('n1'), notice('n2', { components: ['web'], at: toEpochMs(T0 + 1) })]), T0);
    answer = { outcome: 'delivered' };
    clock.now = toEpochMs(T0 + MINUTE_MS);
    await sender().run();
    clock.now = toEpochMs(T0 + 11 * MINUTE_MS);
    await sender().run();
    const of = (id: string): string[] => heard.filter((one) => one.startsWith(`${id} `));
    expect(of('all')).toEqual(['all n1', 'all n1', 'all n2']);
    expect(of('web')).toEqual(['web n2']);
    expect(of('elsewhere')).toEqual([]);
  });

  it('says which messages a channel rejected for good, once each, and not to which subscribers', async () => {
    const rejected: unknown[] = [];
    const reason = 'status 302: redirects are not followed; enter the new address';
    channels = [{ id: 'hook', recipients: [''], deliver: async () => ({ outcome: 'rejected', reason }) }];
    failure = () => Object.assign(new Error('550'), { responseCode: 550, command: 'RCPT TO' });
    await subscribers(['a@mail.example', []]);
    await recordNews(database, news([notice('n1')]), T0);
    const one = sender({ onRejected: (facts) => rejected.push(facts) });
    await one.run();
    await one.run();
    expect(rejected).toEqual([{ channel: 'hook', notice: 'n1', reason }]);
    expect(results.toSorted()).toEqual(['email rejected 1', 'hook rejected 1']);
  });

  it('tells channels and subscribers of the end of what they were told of, whatever it affects by then', async () => {
    const heard: string[] = [];
    const channel = (id: string, components?: string[]): NoticeChannel => ({
      id,
      ...(components === undefined ? {} : { components }),
      recipients: [''],
      deliver: async ({ id: told }) => {
        heard.push(`${id} ${told}`);
        return { outcome: 'delivered' };
      },
    });
    channels = [channel('all'), channel('api', ['acme/api']), channel('other', ['acme/other'])];
    await subscribers(['api@mail.example', ['api']], ['other@mail.example', ['other']]);
    const [begun, apart] = [notice('n1'), notice('n2', { subject: 'apart', components: ['web'] })];
    await recordNews(database, news([begun, apart]), T0);
    await sender().run();
    const moved = { at: toEpochMs(T0 + 1), components: ['web'] };
    const changed = notice('n3', { ...moved, event: 'incident_updated' });
    const ends = ['outage', 'apart'].map((subject) =>
      notice(`end of ${subject}`, { ...moved, subject, event: 'incident_resolved' }),
    );
    await recordNews(database, news([begun, apart, changed, ...ends]), T0);
    await sender().run();
    const of = (id: string) => heard.filter((one) => one.startsWith(`${id} `)).toSorted();
    expect(of('api')).toEqual(['api end of outage', 'api n1']);
    expect(of('other')).toEqual([]);
    clock.now = toEpochMs(T0 + HOUR_MS);
    await sender().run();
    expect([told('api@mail.example').length, told('other@mail.example').length]).toEqual([2, 0]);
    expect(mails.map(({ text }) => text).join()).not.toContain('apart');
    expect(of('all')).toEqual(['all end of apart', 'all end of outage', 'all n1', 'all n2', 'all n3']);
  });

  it('tells a channel of the end of what it was told of, also if an upstream renamed the page meanwhile', async () => {
    const heard: string[] = [];
    const deliver: NoticeChannel['deliver'] = async ({ id }) => {
      heard.push(id);
      return { outcome: 'delivered' };
    };
    channels = [{ id: 'oncall', pages: ['acme'], recipients: [''], deliver }];
    await recordNews(database, news([notice('n1')]), T0);
    await sender().run();
    const end = notice('end', { at: toEpochMs(T0 + 1), event: 'incident_resolved' });
    const renamed = { ...end, notice: { ...end.notice, page: { ...end.notice.page, slug: 'renamed' } } };
    const page = { key: toPageKey('renamed', 1), gate: 1 };
    await recordNews(database, { ...news([notice('n1'), renamed]), page }, T0);
    await sender().run();
    expect(heard).toEqual(['n1', 'end']);
  });
});
