/** Imports and exports subscribers: CSV files, and rows of the database with decrypted addresses. */

import { parse } from 'csv-parse/sync';
import type { RandomBytes } from '../access/digest.ts';
import type { EmailAddress } from '../mail/mail.ts';
import { parseEmailAddress } from '../mail/mail.ts';
import type { PageKey } from '../model/slugs.ts';
import type { EpochMs } from '../model/time.ts';
import { toIso } from '../model/time.ts';
import type { Database, Reader, Writer } from '../store/database.ts';
import { queueLink } from './queue.ts';
import type { AddressSeal } from './subscribers.ts';
import { addSubscriber, eraseSubscriber, newSubscriberId, readSubscribers, type Subscriber } from './subscribers.ts';

export interface ListedSubscriber extends Omit<Subscriber, 'address'> {
  /** Null: it was encrypted with another key. */
  readonly address: string | null;
}

export async function listSubscribers(
  database: Reader,
  seal: AddressSeal,
  page: PageKey | null,
): Promise<readonly ListedSubscriber[]> {
  return (await readSubscribers(database, page)).map((one) => ({ ...one, address: seal.open(one.address, one.id) }));
}

interface AddedSubscriber {
  readonly page: PageKey;
  readonly email: EmailAddress;
  /** Ids; empty: the whole page. */
  readonly components: readonly string[];
  readonly gate: string;
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
  { page, email, components, gate, locale = '', isConfirmed }: AddedSubscriber,
): Promise<string | null> {
  const id = newSubscriberId(random);
  const isNew = await addSubscriber(tx, {
    id,
    page,
    addressHash: seal.hash(page, email.address),
    address: seal.seal(email.address, id),
    state: isConfirmed ? 'active' : 'pending',
    components,
    gate,
    locale,
    now,
  });
  if (!isNew) return null;
  if (!isConfirmed) await queueLink(tx, { subscriber: id, kind: 'confirm', request: newSubscriberId(random), now });
  return id;
}

/** Deletes an address from one page or from all; returns how many subscriptions it had. */
export async function removeAddress(
  { database, seal }: Pick<ListDeps, 'database' | 'seal'>,
  address: string,
  page: PageKey | null,
): Promise<number> {
  const found = (await listSubscribers(database, seal, page)).filter(
    (one) => one.address?.toLowerCase() === address.toLowerCase(),
  );
  await database.transaction(async (tx) => {
    for (const { id } of found) await eraseSubscriber(tx, id);
  });
  if (found.length > 0) await database.truncateLog();
  return found.length;
}

/** A line of an imported list. */
interface ReadRow {
  readonly email: EmailAddress;
  /** Names or ids, as written in the file. */
  readonly components: readonly string[];
  /** Empty: the page's. */
  readonly locale: string;
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
  const hasNames = !(records[0] ?? []).some((cell) => parseEmailAddress(cell) !== null);
  const findColumn = (wanted: readonly string[]): number =>
    wanted.map((name) => names.indexOf(name)).find((at) => at !== -1) ?? -1;
  const columns = hasNames
    ? {
        email: findColumn(EMAIL_COLUMNS),
        kind: findColumn(KIND_COLUMNS),
        components: findColumn(COMPONENT_COLUMNS),
        locale: findColumn(LANGUAGE_COLUMNS),
      }
    : {
        email: names.findIndex((_name, at) => isAddress(records[0]?.[at])),
        kind: isAddress(records[0]?.[0]) ? -1 : 0,
        components: -1,
        locale: -1,
      };
  if (columns.email === -1)
    return { rows: [], problems: ['there is no column of addresses; name one "email" in the first line'] };
  const rows: ReadRow[] = [];
  const problems: string[] = [];
  for (const [index, record] of records.entries()) {
    if (hasNames && index === 0) continue;
    const kind = columns.kind === -1 ? 'email' : (record[columns.kind] ?? '').toLowerCase();
    const email = parseEmailAddress(record[columns.email] ?? '');
    if (kind !== '' && kind !== 'email') problems.push(`line ${index + 1}: ${kind} is not supported; only email is`);
    else if (email === null) problems.push(`line ${index + 1}: no email address`);
    else
      rows.push({
        email,
        components: (columns.components === -1 ? '' : (record[columns.components] ?? ''))
          .split(/[,;|]/)
          .map((name) => name.trim())
          .filter((name) => name !== ''),
        locale: record[columns.locale] ?? '',
      });
  }
  return { rows, problems };
}

/** The delimiter that is most frequent in the first line. */
function findDelimiter(text: string): string {
  const [first = ''] = text.split(/\r?\n/, 1);
  const fields = (delimiter: string): number => first.split(delimiter).length;
  return [',', ';', '\t'].reduce((best, one) => (fields(one) > fields(best) ? one : best));
}

function isAddress(cell: string | undefined): boolean {
  return parseEmailAddress(cell ?? '') !== null;
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
