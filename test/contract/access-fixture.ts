/** A site of three gates over a real database, asked the way the front door asks. */

import { argon2Sync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AccessPage, canView, type GateRequest, type GateResponse } from '../../src/access/access.ts';
import { type Access, createAccess } from '../../src/access/create-access.ts';
import { systemRandom } from '../../src/access/digest.ts';
import { plainLogin } from '../../src/access/login/login-documents.ts';
import { createIdentities } from '../../src/access/oidc/identities.ts';
import { createOidc, type Oidc } from '../../src/access/oidc/oidc.ts';
import type { OidcClient } from '../../src/access/oidc/provider.ts';
import type { AccessOptions } from '../../src/access/parts.ts';
import type { Mail } from '../../src/mail/mail.ts';
import { type PageKey, toPageKey } from '../../src/model/slugs.ts';
import { type EpochMs, toEpochMs } from '../../src/model/time.ts';
import { createDispatcher, createFetch } from '../../src/network/dispatcher.ts';
import { addSubscriber, createAddressSeal, newSubscriberId } from '../../src/notify/subscribers.ts';
import type { Database } from '../../src/store/database.ts';
import { loginMail } from '../../src/views/login/login.ts';
import { openEmptySqlite } from '../helpers/empty-sqlite.ts';

export const T0 = toEpochMs(Date.UTC(2026, 5, 1, 9));
export const KEY = { reveal: () => 'a key of hashes of addresses, of tests' };
export const PASSWORD = 'correct horse battery';
export const ORIGIN = 'http://127.0.0.1:4321';

export function page(slug: string, over: Partial<AccessPage> = {}): AccessPage {
  return {
    key: toPageKey(slug, 1),
    slug,
    title: `CANARY title of ${slug}`,
    locale: 'en',
    url: `${ORIGIN}/${slug}/`,
    access: 'public',
    password: null,
    emailDomains: [],
    ...over,
  };
}

export const passwordPage = (slug: string, password = PASSWORD): AccessPage =>
  page(slug, { access: 'password', password: { reveal: () => password } });
export const emailPage = (slug: string, emailDomains: readonly string[] = ['corp.example']): AccessPage =>
  page(slug, { access: 'email-domain', emailDomains });

export const PAGES: readonly AccessPage[] = [page('open'), passwordPage('vault'), emailPage('team')];

export interface Site {
  readonly access: Access;
  readonly database: Database;
  readonly mails: Mail[];
  readonly errors: unknown[];
  /** The model clock. */
  now: EpochMs;
  readonly close: () => Promise<void>;
}

export interface SiteFolder {
  /** @param watched  the database as the site has it */
  readonly open: (
    over?: Partial<AccessOptions>,
    visitors?: OidcClient,
    watched?: (database: Database) => Database,
  ) => Promise<Site>;
  readonly file: string;
  readonly remove: () => void;
}

/** As a running Pharos has it: undici's own, whose responses aren't those of Node's. */
export const PROVIDER_FETCH = createFetch(
  createDispatcher({ connectMs: 5_000, headersMs: 5_000, idleMs: 5_000, connectionsMax: 8, isEachAlone: true }),
);

interface TestOidcOptions {
  readonly visitors?: OidcClient | undefined;
  readonly operators?: OidcClient | undefined;
  readonly onError?: (error: unknown) => void;
}

/** Signing in by providers, as a running Pharos has it. */
export function testOidc(
  database: Database,
  { visitors, operators, onError = () => undefined }: TestOidcOptions = {},
): Oidc {
  const shared = { key: KEY, random: systemRandom, fetch: PROVIDER_FETCH as never };
  return createOidc({
    ...shared,
    clients: { visitors: () => visitors ?? null, operators: () => operators ?? null },
    identities: createIdentities({ ...shared, database, onError }),
  });
}

/** A folder with a database that several sites (processes, restarts) may open. */
export function siteFolder(): SiteFolder {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-access-'));
  const file = join(folder, 'pharos.db');
  return {
    file,
    open: async (over = {}, visitors, watched = (database) => database) => {
      const database = watched(openEmptySqlite(file, T0).database);
      const mails: Mail[] = [];
      const errors: unknown[] = [];
      const site: Site = {
        access: createAccess({
          database,
          key: KEY,
          now: () => site.now,
          sendMail: async (mail) => {
            mails.push(mail);
          },
          oidc: testOidc(database, { visitors, onError: (error) => errors.push(error) }),
          siteUrl: () => ORIGIN,
          sessionHours: 12,
          renderLogin: plainLogin,
          localeOf: (to) => (to.startsWith('de/') ? 'de' : null),
          writeMail: loginMail,
          onError: (error) => errors.push(error),
          tendIntervalMs: null,
          ...over,
        }),
        database,
        mails,
        errors,
        now: T0,
        close: async () => {
          await site.access.close();
          await database.close();
        },
      };
      return site;
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/**
 * The gate of `vault` with a hash of its password that costs next to nothing, as a database may have it from elsewhere: it says itself
 * what it costs. Where many tries are compared, a tenth of a second for each is all that they take.
 */
export async function storeCheapHash(database: Database): Promise<void> {
  const [memory, passes, salt] = [64, 1, Buffer.alloc(16, 7)];
  const tag = argon2Sync('argon2id', { message: PASSWORD, nonce: salt, parallelism: 1, tagLength: 32, memory, passes });
  const [saltText, tagText] = [salt, tag].map((bytes) => bytes.toString('base64').replace(/=+$/, ''));
  const secret = `$argon2id$v=19$m=${memory},t=${passes},p=1$${saltText}$${tagText}`;
  const { key } = passwordPage('vault');
  await database.transaction((tx) =>
    tx.run("INSERT INTO access_gate (page, kind, secret, version) VALUES (?, 'password', ?, 'cheap')", [key, secret]),
  );
}

/** Stores an active subscriber to the whole page, and returns its id. */
export async function storeSubscriber(
  { database, key, now }: { database: Database; key: Parameters<typeof createAddressSeal>[0]; now: EpochMs },
  page: PageKey,
  address: string,
): Promise<string> {
  const id = newSubscriberId(systemRandom);
  const choice = { components: [], locale: '', gate: '' };
  const seal = createAddressSeal(key, systemRandom);
  await database.transaction((tx) => addSubscriber(tx, seal, { id, page, address, state: 'active', ...choice, now }));
  return id;
}

/** A browser: remembers cookies, sends Origin with what it posts. */
export class Visitor {
  readonly #site: () => Site;
  readonly cookies = new Map<string, string>();
  readonly over: Partial<GateRequest>;

  constructor(site: Site | (() => Site), over: Partial<GateRequest> = {}) {
    this.#site = typeof site === 'function' ? site : () => site;
    this.over = over;
  }

  get cookie(): string | null {
    return this.cookies.size === 0 ? null : [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  async get(slug: string, path: string, over: Partial<GateRequest> = {}): Promise<GateResponse> {
    return this.#send({ method: 'GET', slug, path, ...over });
  }

  async post(
    slug: string,
    path: string,
    form: Readonly<Record<string, string>>,
    over: Partial<GateRequest> = {},
  ): Promise<GateResponse> {
    return this.#send({ method: 'POST', slug, path, form: new URLSearchParams(form), ...over });
  }

  async sees(slug: string): Promise<boolean> {
    const site = this.#site();
    const { clientAddress = '192.0.2.1' } = this.over;
    const request = { slug, cookie: this.cookie, clientAddress, now: site.now };
    return canView(await site.access.principalOf(request), site.access.pageOf(slug));
  }

  async #send(part: Pick<GateRequest, 'method' | 'slug' | 'path'> & Partial<GateRequest>): Promise<GateResponse> {
    const site = this.#site();
    const answer = await site.access.handle({
      query: new URLSearchParams(),
      form: new URLSearchParams(),
      cookie: this.cookie,
      origin: part.method === 'POST' ? ORIGIN : null,
      fetchSite: null,
      ownOrigin: ORIGIN,
      base: `/${part.slug}/`,
      isSecure: false,
      clientAddress: '192.0.2.1',
      now: site.now,
      ...this.over,
      ...part,
    });
    if (answer === null) throw new Error('the site has no gates');
    for (const cookie of setCookies(answer)) {
      const [name = '', value = ''] = cookie.split(';', 1)[0]?.split('=') ?? [];
      if (value === '') this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return answer;
  }
}

export function setCookies(answer: GateResponse): readonly string[] {
  const header = answer.headers['set-cookie'];
  if (header === undefined) return [];
  return typeof header === 'string' ? [header] : header;
}

/** Waits until `isDone`, for work that no answer waits for. */
export async function until(isDone: () => boolean): Promise<void> {
  for (let turn = 0; turn < 2_000; turn += 1) {
    if (isDone()) return;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  throw new Error('it did not happen within four seconds');
}

/** The token in the link of a mail. */
export function tokenIn(mail: Mail | undefined): string {
  return /[?&]token=([\w-]+)/.exec(mail?.text ?? '')?.[1] ?? '';
}

/** The code of a mail, as it is shown. */
export function codeIn(mail: Mail | undefined): string {
  return /\b(\d{4} \d{4})\b/.exec(mail?.text ?? '')?.[1] ?? '';
}
