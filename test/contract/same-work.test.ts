/**
 * At the addresses that carry tokens, a page that is private, one that was removed and one that never was are told apart by
 * nothing: the same bytes, and the same work for them. Work is counted, since time tells little on a busy machine.
 */

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { GateRequest } from '../../src/access/access.ts';
import { createAttempts } from '../../src/access/attempts.ts';
import { systemRandom } from '../../src/access/digest.ts';
import { createBadgeTokens } from '../../src/access/gate/badge-tokens.ts';
import { type PageKey, toPageKey } from '../../src/model/slugs.ts';
import { MINUTE_MS, toEpochMs } from '../../src/model/time.ts';
import { createAddressSeal, linkToken, type SubscribablePage } from '../../src/notify/subscribers.ts';
import { createSubscriptions, type Subscriptions } from '../../src/notify/subscriptions.ts';
import type { Database, Reader, Writer } from '../../src/store/database.ts';
import {
  emailPage,
  KEY,
  ORIGIN,
  PASSWORD,
  page,
  passwordPage,
  type Site,
  siteFolder,
  storeSubscriber,
  tokenIn,
  until,
  Visitor,
} from './access-fixture.ts';

/** Every statement that is run and every function of `node:crypto` that is called, in order. */
const { scope, note } = await vi.hoisted(async () => {
  const { AsyncLocalStorage } = await import('node:async_hooks');
  const scope = new AsyncLocalStorage<string[]>();
  return { scope, note: (what: string) => void scope.getStore()?.push(what) };
});

vi.mock('node:crypto', async (original) => {
  const real = await original<Record<string, unknown>>();
  const counted = Object.entries(real).map(([name, value]) => {
    if (typeof value !== 'function' || /^[A-Z]/.test(name)) return [name, value];
    const count = (...given: unknown[]): unknown => {
      note(name);
      return value(...given);
    };
    return [name, count];
  });
  return Object.fromEntries(counted);
});

const PRIVATE = 'vault';
const REMOVED = 'gone-';
const NEVER = 'nopag';
const PUBLIC = page('open-');
const SECRET = passwordPage(PRIVATE);
const FORMER = [passwordPage(REMOVED), emailPage('mails')];

let folder: ReturnType<typeof siteFolder>;
let site: Site;
let subscriptions: Subscriptions;
let tokens: Record<'badge' | 'link' | 'session' | 'subscription' | 'confirm', string>;

beforeEach(async () => {
  folder = siteFolder();
  site = await folder.open({}, undefined, counting);
  await site.access.setPages([PUBLIC, SECRET, ...FORMER]);
  tokens = await tokensOf(FORMER[0]?.key ?? toPageKey('', 0));
  await site.access.setPages([PUBLIC, SECRET]);
  subscriptions = createSubscriptions({
    ...{ database: site.database, key: KEY, seal: createAddressSeal(KEY, systemRandom), random: systemRandom },
    attempts: createAttempts(site.database, systemRandom, KEY),
    pageOf: (slug) => subscribable(slug),
    locale: () => 'en',
    render: async (view) => ({ html: JSON.stringify(view), csp: "default-src 'none'" }),
    onRequest: () => undefined,
    onErased: () => undefined,
  });
});
afterEach(async () => {
  await site.close();
  folder.remove();
});

function counting(database: Database): Database {
  const noting = <One extends Reader>(one: One): One => ({
    ...one,
    all: (sql, params) => {
      note(sql);
      return one.all(sql, params);
    },
  });
  const writing = (tx: Writer): Writer => ({
    ...noting(tx),
    run: (sql, params) => {
      note(sql);
      return tx.run(sql, params);
    },
    runMany: (sql, rows) => {
      note(sql);
      return tx.runMany(sql, rows);
    },
  });
  return {
    ...noting(database),
    transaction: (task, options) => database.transaction((tx) => task(writing(tx)), options),
  };
}

function subscribable(slug: string): SubscribablePage | null {
  const known = [PUBLIC, SECRET].find((one) => one.slug === slug);
  const gated = site.access.pageOf(slug);
  if (known === undefined || gated === null) return null;
  return { identity: { key: known.key, gate: 1 }, page: known, gated, timezone: 'UTC' };
}

/** What was given out for a page, and is still in the database. */
async function tokensOf(key: PageKey): Promise<typeof tokens> {
  const badge = await createBadgeTokens(site.database).create(key, site.now);
  const visitor = new Visitor(site);
  await visitor.post(REMOVED, 'login/', { password: PASSWORD });
  expect(await visitor.sees(REMOVED)).toBe(true);
  await new Visitor(site).post('mails', 'login/', { email: 'a@corp.example' });
  await site.access.tend();
  await until(() => site.mails.length > 0);
  const id = await storeSubscriber({ ...site, key: KEY }, key, 'b@mail.example');
  return {
    badge: badge.token,
    session: visitor.cookie ?? '',
    link: tokenIn(site.mails[0]),
    subscription: linkToken(KEY, 'manage', id),
    confirm: linkToken(KEY, 'confirm', id),
  };
}

const NO_TOKEN = 'A'.repeat(43);
const FORGED = `${'A'.repeat(22)}.${NO_TOKEN}`;

interface Asked {
  readonly name: string;
  readonly ask: (slug: string) => Promise<unknown>;
}

function visit(slug: string, over: Partial<GateRequest> & { readonly path: string }): GateRequest {
  return {
    method: 'GET',
    slug,
    query: new URLSearchParams(),
    form: new URLSearchParams(),
    cookie: null,
    origin: over.method === 'POST' ? ORIGIN : null,
    fetchSite: null,
    ownOrigin: ORIGIN,
    base: `/${slug}/`,
    isSecure: false,
    clientAddress: '198.51.100.1',
    now: site.now,
    ...over,
  };
}

function signingIn(path: string, form: Record<string, string> | null, cookie: string | null = null): Asked['ask'] {
  const posted = form === null ? {} : { method: 'POST' as const, form: new URLSearchParams(form) };
  return (slug) => site.access.handle(visit(slug, { path, cookie, ...posted }));
}

function subscribing(path: string, token: string, method: 'GET' | 'POST' = 'GET'): Asked['ask'] {
  const query = new URLSearchParams({ token });
  return (slug) => subscriptions.handle(visit(slug, { path, query, method }), false);
}

/** By what is presented; every address of a page at which a token decides. */
function questions(): Asked[] {
  const links = [NO_TOKEN, tokens.link].flatMap((token): Asked[] => [
    {
      name: 'a sign-in link, looked at',
      ask: (slug) => site.access.handle(visit(slug, { path: 'login/link/', query: new URLSearchParams({ token }) })),
    },
    { name: 'a sign-in link, pressed', ask: signingIn('login/link/', { token }) },
  ]);
  const subscribed = [FORGED, tokens.subscription, tokens.confirm, 'none'].flatMap((token) =>
    ['subscribe/', 'subscribe/sent/', 'subscribe/confirm/', 'subscribe/manage/', 'subscribe/leave/'].flatMap(
      (path): Asked[] => [
        { name: `GET ${path}`, ask: subscribing(path, token) },
        // Leaving erases, so that the next one would find nothing.
        ...(path === 'subscribe/leave/' && token === tokens.subscription
          ? []
          : [{ name: `POST ${path}`, ask: subscribing(path, token, 'POST') }]),
      ],
    ),
  );
  return [
    ...[NO_TOKEN, tokens.badge, 'none'].map((token) => ({
      name: 'a badge token',
      ask: (slug: string) => site.access.allowsBadge(slug, token),
    })),
    ...[NO_TOKEN, 'none'].map((session) => ({
      name: 'a session',
      ask: signingIn('login/', null, `pharos=${session}`),
    })),
    { name: 'a session of the page', ask: signingIn('login/', null, tokens.session) },
    { name: 'a password', ask: signingIn('login/', { password: 'wrong' }) },
    { name: 'an address', ask: signingIn('login/', { email: 'a@corp.example' }) },
    { name: 'a code', ask: signingIn('login/code/', { code: '12345678' }) },
    ...links,
    ...subscribed,
  ];
}

describe('a page that is private, one that was removed and one that never was', () => {
  it('are answered with the same bytes and the same work wherever a token decides', async () => {
    const all = questions();
    expect(all.length).toBeGreaterThan(40);
    let counted = 0;
    for (const { name, ask } of all) {
      const told: string[] = [];
      for (const slug of [PRIVATE, REMOVED, NEVER]) {
        // Each at a time of its own, so that no limit is reached.
        site.now = toEpochMs(site.now + 16 * MINUTE_MS);
        const work: string[] = [];
        const answer = JSON.stringify(await scope.run(work, () => ask(slug))) ?? '';
        told.push([answer.replaceAll(slug, 'SLUG').replaceAll(/=[\w-]{43};/g, '=CHANCE;'), ...work].join('\n'));
        counted += work.length;
      }
      expect(told[1], `${name}: removed`).toBe(told[0]);
      expect(told[2], `${name}: never been`).toBe(told[0]);
    }
    expect(counted).toBeGreaterThan(3 * all.length);
  });
});
