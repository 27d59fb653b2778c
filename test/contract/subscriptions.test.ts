import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { GateRequest } from '../../src/access/access.ts';
import { createAttempts } from '../../src/access/attempts.ts';
import { systemRandom } from '../../src/access/digest.ts';
import { type Mail, parseEmailAddress } from '../../src/mail/mail.ts';
import { toPageKey } from '../../src/model/slugs.ts';
import { DAY_MS, type EpochMs, toEpochMs } from '../../src/model/time.ts';
import { sendToSubscriber } from '../../src/notify/mails.ts';
import {
  addSubscribers,
  createAddressSeal,
  erasePending,
  linkToken,
  mayReceive,
  newSubscriberId,
  readLinkToken,
  readSubscriberList,
  type SubscribablePage,
  subscriberCounts,
  subscriberCsv,
} from '../../src/notify/subscribers.ts';
import { createSubscriptions, decideRequests, type Subscriptions } from '../../src/notify/subscriptions.ts';
import type { Database, Writer } from '../../src/store/database.ts';
import { openEmptySqlite } from '../helpers/empty-sqlite.ts';

const T0 = toEpochMs(Date.UTC(2026, 10, 22, 9));
const KEY = { reveal: () => 'a key of addresses of subscribers, of tests' };
const ACME = toPageKey('acme', 1);
const ORIGIN = 'http://127.0.0.1:4321';

const pageWith = (access: 'public' | 'password' | 'email-domain', version = 'v1'): SubscribablePage => ({
  identity: { key: ACME, gate: 1 },
  page: {
    key: ACME,
    slug: 'acme',
    title: 'Acme',
    locale: 'en',
    url: `${ORIGIN}/acme/`,
    access,
    password: null,
    emailDomains: ['corp.example'],
  },
  gated: { key: ACME, gate: access === 'public' ? { kind: 'public' } : { kind: access, version, addresses: null } },
  timezone: 'UTC',
});

/** The database, and the statements that are run on it. */
function watched(database: Database): { readonly database: Database; readonly statements: string[] } {
  const statements: string[] = [];
  const noting = (writer: Writer): Writer => ({
    ...writer,
    all: (sql, params) => {
      statements.push(sql);
      return writer.all(sql, params);
    },
    run: (sql, params) => {
      statements.push(sql);
      return writer.run(sql, params);
    },
    runMany: (sql, rows) => {
      statements.push(`${rows.length} × ${sql}`);
      return writer.runMany(sql, rows);
    },
  });
  return {
    statements,
    database: {
      ...database,
      all: (sql, params) => {
        statements.push(sql);
        return database.all(sql, params);
      },
      transaction: (task, options) => database.transaction((tx) => task(noting(tx)), options),
    },
  };
}

let folder: string;
let database: Database;
let page: SubscribablePage | null;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pharos-subscriptions-'));
  database = openEmptySqlite(join(folder, 'pharos.db'), T0).database;
  page = pageWith('public');
});
afterEach(async () => {
  await database.close();
  rmSync(folder, { recursive: true });
});

const seal = createAddressSeal(KEY, systemRandom);
let clients = 0;

function subscriptionsOver(of: Database): Subscriptions {
  return createSubscriptions({
    database: of,
    key: KEY,
    seal,
    random: systemRandom,
    attempts: createAttempts(of, systemRandom, KEY),
    pageOf: (slug) => (slug === 'acme' ? page : null),
    locale: () => 'en',
    render: async (view) => ({ html: JSON.stringify(view), csp: "default-src 'none'" }),
    onRequest: () => undefined,
    onErased: () => undefined,
  });
}

function request(path: string, init: Partial<GateRequest> = {}): GateRequest {
  clients += 1;
  return {
    method: 'GET',
    path,
    slug: 'acme',
    query: new URLSearchParams(),
    form: new URLSearchParams(),
    cookie: null,
    origin: init.method === 'POST' ? ORIGIN : null,
    fetchSite: null,
    ownOrigin: ORIGIN,
    base: '/acme/',
    isSecure: false,
    clientAddress: `198.51.100.${clients % 250}`,
    now: T0,
    ...init,
  };
}

const ask = (over: Subscriptions, email: string) =>
  over.handle(request('subscribe/', { method: 'POST', form: new URLSearchParams({ email }) }), true);

const decide = (now: EpochMs = T0) =>
  decideRequests({ database, seal, newId: () => newSubscriberId(systemRandom), now });

async function subscribed(address: string, gate = ''): Promise<void> {
  const email = parseEmailAddress(address);
  if (email === null) throw new Error(address);
  const deps = { database, seal, random: systemRandom, now: T0 };
  await addSubscribers(deps, [{ page: ACME, email, components: [], gate, isConfirmed: true }]);
}

describe('the language in which somebody subscribes', () => {
  it('is that of the tree of the form, and of the mails and their links', async () => {
    page = { ...pageWith('public'), locales: ['de'] };
    const over = subscriptionsOver(database);
    const form = new URLSearchParams({ email: 'ada@mail.example' });
    expect(await over.handle(request('fr/subscribe/', { method: 'POST', form }), true)).toBe(null);
    const shown = await over.handle(request('de/subscribe/'), true);
    expect(JSON.parse(String(shown?.body))).toMatchObject({
      shell: { locale: 'de' },
      forms: [{ action: '/acme/de/subscribe/' }],
    });
    const answer = await over.handle(request('de/subscribe/', { method: 'POST', form }), true);
    expect(answer?.headers['location']).toBe('/acme/de/subscribe/sent/');
    await decide();
    const [row] = await database.all('SELECT id, locale FROM subscriber');
    expect(row?.['locale']).toBe('de');
    const job = {
      ...{ channel: 'email', recipient: String(row?.['id']), kind: 'confirm' as const, batch: 'b', items: [] },
      ...{ attempts: 0, createdAt: T0 },
    };
    const sentIn = async (locales: readonly string[]): Promise<Mail | undefined> => {
      const mails: Mail[] = [];
      await sendToSubscriber(
        {
          ...{ reader: database, key: KEY, seal, now: () => T0 },
          send: async (mail) => void mails.push(mail),
          pageOf: () => ({ ...pageWith('public'), locales }),
        },
        job,
      );
      return mails[0];
    };
    const german = await sentIn(['de']);
    expect(german?.subject).toBe('Abonnement bestätigen: Acme');
    expect(german?.text).toContain('/acme/de/subscribe/confirm/?token=');
    // The page has given the language up since.
    const english = await sentIn([]);
    expect(english?.subject).toBe('Confirm your subscription: Acme');
    expect(english?.text).toContain('/acme/subscribe/confirm/?token=');
  });

  it('may be given up by the page, or go with it, without its links', async () => {
    const over = subscriptionsOver(database);
    const linkOf = async (purpose: 'confirm' | 'manage', path: string, method: 'GET' | 'POST' = 'GET') => {
      const [row] = await database.all('SELECT id FROM subscriber');
      const query = new URLSearchParams({ token: linkToken(KEY, purpose, String(row?.['id'])) });
      return request(`de/subscribe/${path}/`, { method, query });
    };
    await subscribed('ada@mail.example');
    for (const [purpose, path] of [
      ['confirm', 'confirm'],
      ['manage', 'manage'],
      ['manage', 'leave'],
    ] as const) {
      const shown = await over.handle(await linkOf(purpose, path), true);
      expect(shown?.status, path).toBe(200);
      expect(JSON.parse(String(shown?.body)), path).toMatchObject({ shell: { locale: 'en' } });
      expect(shown?.body, path).not.toContain('/acme/de/');
    }
    page = null;
    expect(await over.handle(await linkOf('manage', 'leave', 'POST'), false)).toBeNull();
    expect(await database.all('SELECT * FROM subscriber')).toEqual([]);
  });
});

describe('the form', () => {
  it('runs the same statements whatever the address', async () => {
    await subscribed('known@corp.example');
    page = pageWith('email-domain');
    const { database: noted, statements } = watched(database);
    const over = subscriptionsOver(noted);
    const seen: string[] = [];
    for (const email of ['new@corp.example', 'known@corp.example', 'refused@other.example', 'no address']) {
      statements.length = 0;
      const answer = await ask(over, email);
      seen.push(JSON.stringify([answer, statements]));
      expect(statements.length).toBeGreaterThan(5);
    }
    expect(new Set(seen).size).toBe(1);
  });

  it('writes to one address three times while nobody confirms, and once a day to whoever is subscribed', async () => {
    const over = subscriptionsOver(database);
    await subscribed('known@mail.example');
    const owed = async (): Promise<number> =>
      (await database.all(`SELECT 1 FROM outbox WHERE kind <> 'notice'`)).length;
    for (let quarter = 0; quarter < 12; quarter += 1) {
      const now = toEpochMs(T0 + quarter * 16 * 60_000);
      for (const email of ['new@mail.example', 'known@mail.example'])
        await over.handle(request('subscribe/', { method: 'POST', form: new URLSearchParams({ email }), now }), true);
      await decide(now);
    }
    expect(await owed()).toBe(4);
    expect(await subscriberCounts(database)).toEqual([
      { slug: ACME, state: 'active', count: 1 },
      { slug: ACME, state: 'pending', count: 1 },
    ]);
    const day = toEpochMs(T0 + 2 * DAY_MS);
    await database.transaction((tx) => erasePending(tx, day));
    expect(await owed()).toBe(1);
  });

  it.each([
    ['paused', 'public', ''],
    ['active', 'password', 'v0'],
  ] as const)(
    'sends a link to a subscriber who is %s, at a gate of kind %s, and who subscribes again',
    async (state, access, gate) => {
      page = pageWith(access);
      await subscribed('again@mail.example', gate);
      await database.transaction((tx) => tx.run('UPDATE subscriber SET state = ?', [state]));
      await ask(subscriptionsOver(database), 'again@mail.example');
      await decide();
      const [row] = await database.all('SELECT * FROM outbox');
      const job = {
        ...{ channel: 'email', recipient: String(row?.['recipient']), kind: 'known' as const, batch: 'b', items: [] },
        ...{ attempts: 0, createdAt: T0 },
      };
      const mails: Mail[] = [];
      const deps = { reader: database, key: KEY, seal, now: () => T0, pageOf: () => page };
      await sendToSubscriber({ ...deps, send: async (mail) => void mails.push(mail) }, job);
      expect([row?.['kind'], mails.map(({ subject }) => subject)]).toEqual([
        'known',
        ['You’re already subscribed: Acme'],
      ]);
    },
  );

  it('answers nothing to whoever may not see the page, except to the owner of a link', async () => {
    const over = subscriptionsOver(database);
    await subscribed('gone@mail.example');
    const [row] = await database.all('SELECT id FROM subscriber');
    const token = linkToken(KEY, 'manage', String(row?.['id']));
    page = null;
    for (const path of ['subscribe/', 'subscribe/sent/', 'subscribe/confirm/', 'subscribe/manage/', 'subscribe/leave/'])
      expect(await over.handle(request(path), false)).toBeNull();
    // The page is gone, which the answer says as for any other; its subscribers go all the same.
    const left = await over.handle(
      request('subscribe/leave/', {
        method: 'POST',
        query: new URLSearchParams({ token }),
        origin: 'https://mail.example',
      }),
      false,
    );
    expect(left).toBeNull();
    expect(await database.all('SELECT * FROM subscriber')).toEqual([]);
  });
});

describe('what is kept of a subscriber', () => {
  it('opens with the key and for its own row only', () => {
    const sealed = seal.seal('person@mail.example', 'one');
    expect(seal.open(sealed, 'one')).toBe('person@mail.example');
    expect(seal.open(sealed, 'other')).toBeNull();
    const another = createAddressSeal({ reveal: () => 'another key of the same length, of tests' }, systemRandom);
    expect(another.open(sealed, 'one')).toBeNull();
    expect(another.hash(ACME, 'person@mail.example')).not.toBe(seal.hash(ACME, 'person@mail.example'));
    expect(seal.seal('person@mail.example', 'one')).not.toBe(sealed);
  });

  it('has links that open nothing else', () => {
    const id = newSubscriberId(systemRandom);
    const token = linkToken(KEY, 'confirm', id);
    expect(readLinkToken(KEY, 'confirm', token)).toBe(id);
    expect(readLinkToken(KEY, 'manage', token)).toBeNull();
    expect(readLinkToken(KEY, 'confirm', `${newSubscriberId(systemRandom)}${token.slice(22)}`)).toBeNull();
    for (const wrong of ['', '.', token.slice(1), `${token}x`]) expect(readLinkToken(KEY, 'confirm', wrong)).toBeNull();
  });

  it('goes by who may see the page now', () => {
    const [address, gate] = ['person@corp.example', 'v1'];
    expect(mayReceive(null, address, gate)).toBe(false);
    expect(mayReceive(pageWith('public'), address, '')).toBe(true);
    expect(mayReceive(pageWith('password'), address, gate)).toBe(true);
    expect(mayReceive(pageWith('password', 'v2'), address, gate)).toBe(false);
    expect(mayReceive(pageWith('password'), address, '')).toBe(false);
    expect(mayReceive(pageWith('email-domain', 'v9'), address, '')).toBe(true);
    expect(mayReceive(pageWith('email-domain'), 'person@not-corp.example', '')).toBe(false);
  });
});

describe('lists of subscribers', () => {
  it('are read with or without names of columns, whatever separates them', () => {
    const emails = (text: string): string[] => readSubscriberList(text).rows.map(({ email }) => email.address);
    expect(emails('Email;Components\na@mail.example;"API, Website"\n')).toEqual(['a@mail.example']);
    expect(readSubscriberList('Email;Components\na@mail.example;"API, Website"\n').rows[0]?.components).toEqual([
      'API',
      'Website',
    ]);
    expect(emails('email,a@mail.example,yes\nsms,+15550100,US\nemail,b@mail.example,no\n')).toEqual([
      'a@mail.example',
      'b@mail.example',
    ]);
    expect(emails('\ufeffa@mail.example\r\nb@mail.example\r\n')).toEqual(['a@mail.example', 'b@mail.example']);
    expect(readSubscriberList('name,phone\nx,1\n').problems).toHaveLength(1);
    expect(readSubscriberList('').rows).toEqual([]);
  });

  it('come back as they were taken', () => {
    const listed = {
      id: 'x',
      page: ACME,
      address: "o'neil+x@mail.example",
      state: 'active',
      components: ['api', 'web'],
      gate: '',
      locale: 'de',
      createdAt: T0,
    } as const;
    const { rows } = readSubscriberList(subscriberCsv([listed, { ...listed, address: null }], () => 'acme'));
    expect(rows).toMatchObject([
      { email: { address: "o'neil+x@mail.example" }, components: ['api', 'web'], locale: 'de' },
    ]);
  });
});
