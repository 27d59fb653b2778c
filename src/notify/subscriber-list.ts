/** Imports and exports subscribers: CSV files, and rows of the database with decrypted addresses. */

import { parse } from 'csv-parse/sync';
import type { RandomBytes } from '../access/digest.ts';
import { type EmailAddress, parseEmailAddress } from '../mail/mail.ts';
import type { PageKey } from '../model/slugs.ts';
import { type EpochMs, toIso } from '../model/time.ts';
import type { Database, Reader, Writer } from '../store/database.ts';
import { queueLink } from './queue.ts';
import {
  type AddressSeal,
  addSubscriber,
  eraseSubscriber,
  newSubscriberId,
  readSubscribers,
  type Subscriber,
} from './subscribers.ts';

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
  const rows = listed.flatMap(({ page, address, state, components, locale = '', createdAt }) =>
    address === null ? [] : [[nameOf(page), address, state, components.join(';'), toIso(createdAt), locale]],
  );
  return [['page', 'email', 'state', 'components', 'created_at', 'language'], ...rows]
    .map((row) => `${row.map(quoted).join(',')}\r\n`)
    .join('');
}

function quoted(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
