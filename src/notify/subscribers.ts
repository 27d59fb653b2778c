/** Subscribers in the database: an encrypted address, and its owner's choices. Adding and listing them. */

import { timingSafeEqual } from 'node:crypto';
import { parse } from 'csv-parse/sync';
import type { AccessPage, GatedPage } from '../access/access.ts';
import { createSeal, keyedDigest, type RandomBytes, type Revealing } from '../access/digest.ts';
import { domainsOf } from '../access/gate/stored-gate.ts';
import { type EmailAddress, parseEmailAddress } from '../mail/mail.ts';
import { type PageIdentity, type PageKey, readPageKey } from '../model/slugs.ts';
import { type EpochMs, toIso } from '../model/time.ts';
import { type Translated, textIn } from '../model/translated.ts';
import {
  type Database,
  instant,
  json,
  type Reader,
  type RowOf,
  table,
  text,
  type Writer,
  word,
} from '../store/database.ts';
import { queueLink } from './queue.ts';

const STATE = word(['pending', 'active', 'paused'], 'pending');

const SUBSCRIBERS = table('subscriber', {
  id: text(),
  page: text<PageKey>(),
  /** Encrypted. */
  address: text(),
  state: STATE,
  /** Ids of components; empty: the whole page. */
  components: json<readonly string[]>(JSON.parse),
  /** Version of the password gate passed when subscribing; empty: none. */
  gate: text(),
  /** The language used when subscribing; empty: the page's. */
  locale: text(),
  createdAt: instant(),
});
export type Subscriber = RowOf<typeof SUBSCRIBERS>;

export async function subscriberById(reader: Reader, id: string): Promise<Subscriber | null> {
  const [row] = await reader.all('SELECT * FROM subscriber WHERE id = ?', [id]);
  return row === undefined ? null : SUBSCRIBERS.read(row);
}

async function readSubscribers(reader: Reader, page: PageKey | null): Promise<readonly Subscriber[]> {
  const rows =
    page === null
      ? await reader.all('SELECT * FROM subscriber ORDER BY page, created_at, id')
      : await reader.all('SELECT * FROM subscriber WHERE page = ? ORDER BY created_at, id', [page]);
  return rows.map(SUBSCRIBERS.read);
}

/** Adds a subscriber with a plain address; false: it is already subscribed. */
export async function addSubscriber(
  tx: Writer,
  seal: AddressSeal,
  one: Omit<Subscriber, 'createdAt'> & { readonly now: EpochMs },
): Promise<boolean> {
  const { id, page, address, state, gate, locale, now } = one;
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
  return rows.map((row) => ({
    slug: String(row['name']),
    state: STATE.fromSql(row['state']),
    count: Number(row['n']),
  }));
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

/** The gate version that a new subscriber has passed; empty: their access depends on their address, or there is no page. */
export function gateVersion(page: GatedPage | null): string {
  const gate = page?.gate;
  return gate === undefined || gate.kind === 'public' || gate.kind === 'email-domain' ? '' : gate.version;
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
  if (gate !== gateVersion(page.gated)) return false;
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

// Imports and exports subscribers: CSV files, and rows of the database with decrypted addresses.

export interface ListedSubscriber extends Omit<Subscriber, 'address'> {
  /** Null: it was encrypted with another key. */
  readonly address: string | null;
}

export async function listSubscribers(database: Reader, seal: AddressSeal, page: PageKey | null) {
  return (await readSubscribers(database, page)).map((one) => ({ ...one, address: seal.open(one.address, one.id) }));
}

interface AddedSubscriber extends Pick<Subscriber, 'page' | 'components' | 'gate'> {
  readonly email: EmailAddress;
  /** Absent: the page's. */
  readonly locale?: string | undefined;
  /** True: they agreed elsewhere. False: they get only an email with a link to confirm, until they do. */
  readonly isConfirmed: boolean;
}

interface ListDeps {
  readonly database: Database;
  readonly seal: AddressSeal;
  readonly random: RandomBytes;
  readonly now: EpochMs;
}

/** Adds subscribers in one transaction; returns how many are new. */
export function addSubscribers(deps: ListDeps, added: readonly AddedSubscriber[]): Promise<number> {
  return deps.database.transaction(async (tx) => {
    let count = 0;
    for (const one of added) count += (await addOne(tx, deps, one)) === null ? 0 : 1;
    return count;
  });
}

/** Adds a subscriber; returns the new id, or null where the address is subscribed already. */
export async function addOne(
  tx: Writer,
  { seal, random, now }: Omit<ListDeps, 'database'>,
  { email: { address }, locale = '', isConfirmed, ...choice }: AddedSubscriber,
): Promise<string | null> {
  const id = newSubscriberId(random);
  const state = isConfirmed ? 'active' : 'pending';
  if (!(await addSubscriber(tx, seal, { id, address, state, locale, now, ...choice }))) return null;
  if (!isConfirmed) await queueLink(tx, id, 'confirm', newSubscriberId(random), now);
  return id;
}

/** Deletes an address from one page or from all; returns how many subscriptions it had. */
export async function removeAddress({ database, seal }: ListDeps, address: string, page: PageKey | null) {
  const found = (await listSubscribers(database, seal, page)).filter(
    (one) => one.address?.toLowerCase() === address.toLowerCase(),
  );
  await database.transaction(async (tx) => {
    for (const { id } of found) await eraseSubscriber(tx, id);
  });
  if (found.length > 0) await database.truncateLog();
  return found.length;
}

const EMAIL_COLUMNS = ['email', 'email address', 'e-mail', 'address', 'subscriber', 'endpoint'];
const KIND_COLUMNS = ['type', 'mode', 'subscriber type', 'channel', 'kind'];
const LANGUAGE_COLUMNS = ['language', 'locale'];
const COMPONENT_COLUMNS = ['components', 'component', 'component names', 'subscribed components'];

/**
 * Reads a list exported from Statuspage or Instatus, or any CSV with a column of addresses. Without a header, the columns are
 * kind and address (Statuspage's import template), or only the address. Lines that aren't about email are skipped and reported.
 */
export function readSubscriberList(text: string) {
  const records = parse(text, {
    bom: true,
    trim: true,
    skip_empty_lines: true,
    relax_column_count: true,
    delimiter: findDelimiter(text),
  }) as string[][];
  const names = (records[0] ?? []).map((name) => name.toLowerCase().replaceAll('_', ' '));
  const addressAt = (records[0] ?? []).findIndex((cell) => parseEmailAddress(cell) !== null);
  const hasNames = addressAt === -1;
  const findColumn = (wanted: readonly string[]): number =>
    hasNames ? (wanted.map((name) => names.indexOf(name)).find((at) => at !== -1) ?? -1) : -1;
  const columns = {
    email: hasNames ? findColumn(EMAIL_COLUMNS) : addressAt,
    kind: hasNames ? findColumn(KIND_COLUMNS) : addressAt === 0 ? -1 : 0,
    components: findColumn(COMPONENT_COLUMNS),
    locale: findColumn(LANGUAGE_COLUMNS),
  };
  if (columns.email === -1)
    return { rows: [], problems: ['there is no column of addresses; name one "email" in the first line'] };
  const problems: string[] = [];
  const rows = records.flatMap((record, index) => {
    if (hasNames && index === 0) return [];
    const kind = (record[columns.kind] ?? '').toLowerCase();
    const email = parseEmailAddress(record[columns.email] ?? '');
    const isOther = kind !== '' && kind !== 'email';
    if (isOther) problems.push(`line ${index + 1}: ${kind} is not supported; only email is`);
    else if (email === null) problems.push(`line ${index + 1}: no email address`);
    if (isOther || email === null) return [];
    /** Names or ids, as written in the file. */
    const components = (record[columns.components] ?? '').split(/[,;|]/).map((name) => name.trim());
    // An empty language is the page's.
    return { email, components: components.filter((name) => name !== ''), locale: record[columns.locale] ?? '' };
  });
  return { rows, problems };
}

/** The delimiter that is most frequent in the first line. */
function findDelimiter(text: string): string {
  const [first = ''] = text.split(/\r?\n/, 1);
  const fields = (delimiter: string): number => first.split(delimiter).length;
  return [',', ';', '\t'].reduce((best, one) => (fields(one) > fields(best) ? one : best));
}

/** Writes a list as CSV (RFC 4180), which `readSubscriberList` can read. */
export function subscriberCsv(listed: readonly ListedSubscriber[], nameOf: (page: PageKey) => string): string {
  const rows = listed.flatMap(({ page, address, state, components, locale, createdAt }) =>
    address === null ? [] : [[nameOf(page), address, state, components.join(';'), toIso(createdAt), locale]],
  );
  return [['page', 'email', 'state', 'components', 'created_at', 'language'], ...rows]
    .map((row) => `${row.map(quoted).join(',')}\r\n`)
    .join('');
}

function quoted(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
