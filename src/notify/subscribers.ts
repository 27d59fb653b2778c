/** Subscribers in the database: an encrypted address, and its owner's choices. */

import { timingSafeEqual } from 'node:crypto';
import type { AccessPage, GatedPage } from '../access/access.ts';
import { createSeal, keyedDigest, type RandomBytes, type Revealing } from '../access/digest.ts';
import { domainsOf } from '../access/gate/stored-gate.ts';
import { type PageIdentity, type PageKey, readPageKey } from '../model/slugs.ts';
import { type EpochMs, toEpochMs } from '../model/time.ts';
import { type Translated, textIn } from '../model/translated.ts';
import type { Reader, Row, Writer } from '../store/database.ts';

const SUBSCRIBER_STATES = ['pending', 'active', 'paused'] as const;
type SubscriberState = (typeof SUBSCRIBER_STATES)[number];

export interface Subscriber {
  readonly id: string;
  readonly page: PageKey;
  /** Encrypted. */
  readonly address: string;
  readonly state: SubscriberState;
  /** Ids of components; empty: the whole page. */
  readonly components: readonly string[];
  /** Version of the password gate passed when subscribing; empty: none. */
  readonly gate: string;
  /** The language used when subscribing; absent: the page's. */
  readonly locale?: string;
  readonly createdAt: EpochMs;
}

export async function subscriberById(reader: Reader, id: string): Promise<Subscriber | null> {
  const [row] = await reader.all('SELECT * FROM subscriber WHERE id = ?', [id]);
  return row === undefined ? null : toSubscriber(row);
}

export async function readSubscribers(reader: Reader, page: PageKey | null): Promise<readonly Subscriber[]> {
  const rows =
    page === null
      ? await reader.all('SELECT * FROM subscriber ORDER BY page, created_at, id')
      : await reader.all('SELECT * FROM subscriber WHERE page = ? ORDER BY created_at, id', [page]);
  return rows.map((row) => toSubscriber(row));
}

function toSubscriber(row: Row): Subscriber {
  return {
    id: String(row['id']),
    page: String(row['page']) as PageKey,
    address: String(row['address']),
    state: toState(row),
    components: JSON.parse(String(row['components'])) as string[],
    gate: String(row['gate']),
    ...((row['locale'] ?? '') === '' ? {} : { locale: String(row['locale']) }),
    createdAt: toEpochMs(Number(row['created_at'])),
  };
}

/** Adds a subscriber with a plain address; false: it is already subscribed. */
export async function addSubscriber(
  tx: Writer,
  seal: AddressSeal,
  one: Omit<Subscriber, 'createdAt'> & { readonly now: EpochMs },
): Promise<boolean> {
  const { id, page, address, state, gate, locale = '', now } = one;
  const added = await tx.run(
    `INSERT INTO subscriber (id, page, address_hash, address, state, components, gate, locale, created_at, confirmed_at, asked_at, asked_count, quiet_until)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0) ON CONFLICT (page, address_hash) DO NOTHING`,
    [
      ...[id, page, seal.hash(page, address), seal.seal(address, id), state, JSON.stringify(one.components)],
      ...[gate, locale, now, state === 'pending' ? null : now, now],
    ],
  );
  return added === 1;
}

/** Confirms a subscription; false: it doesn't exist, or is already confirmed. */
export async function confirmSubscriber(tx: Writer, id: string, now: EpochMs): Promise<boolean> {
  const begun = await tx.run(
    `UPDATE subscriber SET state = 'active', confirmed_at = ?, asked_count = 0 WHERE id = ? AND state = 'pending'`,
    [now, id],
  );
  return begun === 1;
}

/** Changes what the owner chose; `gate`: version of the password gate that they passed. */
export async function changeSubscriber(tx: Writer, { id, state, components, gate }: Subscriber): Promise<void> {
  const values = [state, JSON.stringify(components), gate, id];
  await tx.run(`UPDATE subscriber SET state = ?, components = ?, gate = ? WHERE id = ? AND state <> 'pending'`, values);
}

/** Deletes a subscription and its queued messages. The caller also removes it from the write-ahead log. */
export async function eraseSubscriber(tx: Writer, id: string): Promise<boolean> {
  await tx.run(`DELETE FROM outbox WHERE channel = 'email' AND recipient = ?`, [id]);
  return (await tx.run('DELETE FROM subscriber WHERE id = ?', [id])) > 0;
}

/** Deletes subscriptions that were not confirmed; returns how many. */
export async function erasePending(tx: Writer, until: EpochMs): Promise<number> {
  const rows = await tx.all(`SELECT id FROM subscriber WHERE state = 'pending' AND asked_at <= ?`, [until]);
  for (const row of rows) await eraseSubscriber(tx, String(row['id']));
  return rows.length;
}

/** Counts subscribers by page (its slug, as of now) and state. */
export async function subscriberCounts(reader: Reader) {
  const rows = await reader.all(
    `SELECT COALESCE(page.slug, subscriber.page) AS name, state, COUNT(*) AS n FROM subscriber
     LEFT JOIN page ON page.key = subscriber.page WHERE ended_at IS NULL GROUP BY name, state ORDER BY name, state`,
  );
  return rows.map((row) => ({ slug: String(row['name']), state: toState(row), count: Number(row['n']) }));
}

function toState({ state }: Row): SubscriberState {
  return SUBSCRIBER_STATES.find((known) => known === state) ?? 'pending';
}

/** A page that people can subscribe to, and its gate. */
export interface SubscribablePage {
  readonly identity: PageIdentity;
  readonly page: AccessPage;
  readonly gated: GatedPage;
  readonly timezone: string;
  /** Translated titles; absent: none. */
  readonly titles?: Translated | undefined;
  /** Languages besides the default; absent: none. */
  readonly locales?: readonly string[];
}

/** A text of a page in one of its languages; empty: the default. */
export function textOn(
  { locale: usual }: Pick<AccessPage, 'locale'>,
  locale: string,
  text: string,
  names?: Translated,
) {
  return textIn({ locale: locale || usual, languages: { all: [usual] } }, text, names);
}

/** The gate version that a new subscriber has passed; empty: their access depends on their address. */
export function gateVersion({ gated: { gate } }: Pick<SubscribablePage, 'gated'>): string {
  return gate.kind === 'public' || gate.kind === 'email-domain' ? '' : gate.version;
}

/**
 * Whether the owner of an address may still see the page. With a password or ranges of addresses: if they passed the
 * current gate. With email domains: if the address has one of them. With an identity provider: if the page lists the
 * address or its domain, because groups are unknown here. Null: the page doesn't exist.
 */
export function mayReceive(page: SubscribablePage | null, address: string, gate: string): boolean {
  if (page === null) return false;
  const { kind } = page.gated.gate;
  if (kind === 'public') return true;
  const { oidc } = page.page;
  const domain = address.slice(address.lastIndexOf('@') + 1);
  const isOfDomains = domainsOf(page.page).includes(domain);
  if (kind === 'email-domain') return isOfDomains;
  if (gate !== gateVersion(page)) return false;
  if (kind !== 'oidc') return true;
  const isNamed =
    oidc?.domains.includes(domain) === true ||
    oidc?.emails.some((email) => email.toLowerCase() === address.toLowerCase()) === true;
  return isNamed && (page.page.emailDomains.length === 0 || isOfDomains);
}

// Tokens in the links of emails. Each is derived from the subscription's id and the key, so none is stored, and the
// links of a deleted subscription no longer work.

/** `confirm`: in the first email. `manage`: in every other one, to change, pause or end the subscription. */
type LinkPurpose = 'confirm' | 'manage';

const TOKEN = /^([A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{43})$/;

/** 128 random bits. */
export function newSubscriberId(random: RandomBytes): string {
  return Buffer.from(random(16)).toString('base64url');
}

export function linkToken(key: Revealing, purpose: LinkPurpose, id: string): string {
  return `${id}.${linkMac(key, purpose, id)}`;
}

/** The id of the subscription that a token belongs to; null: invalid. */
export function readLinkToken(key: Revealing, purpose: LinkPurpose, token: string): string | null {
  const [, id = '', mac = ''] = TOKEN.exec(token) ?? [];
  if (id === '') return null;
  return timingSafeEqual(Buffer.from(mac), Buffer.from(linkMac(key, purpose, id))) ? id : null;
}

function linkMac(key: Revealing, purpose: LinkPurpose, id: string): string {
  return keyedDigest(key, 'subscription link', purpose, id);
}

/** Encrypts subscribers' addresses for the database, and hashes them to find them again. Without the key, neither can be read. */
export type AddressSeal = ReturnType<typeof createAddressSeal>;

export function createAddressSeal(key: Revealing, random: RandomBytes) {
  return {
    ...createSeal(key, 'addresses of subscribers', random),
    /** The same for one address on one page, whatever its case. */
    hash: (page: PageKey, address: string): string =>
      keyedDigest(key, 'subscriber', readPageKey(page).slug, address.toLowerCase()),
  };
}
