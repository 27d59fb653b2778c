/**
 * What operators write, and their API tokens. Posts come first. Writers pass their transaction in, so that a change and everything that belongs to it are
 * atomic.
 */

import type { PageKey } from '../model/slugs.ts';
import type { EpochMs } from '../model/time.ts';
import type { Translated } from '../model/translated.ts';
import {
  type Database,
  flag,
  instant,
  json,
  named,
  number,
  orNull,
  type Reader,
  type Row,
  type RowOf,
  table,
  text,
  type Writer,
  word,
} from './database.ts';
import { bumpRevision } from './revisions.ts';

const WRITTEN = table('written', {
  id: text(),
  /** The page it was written on, the only one that shows it. */
  page: text<PageKey>(),
  /** Whether the page was private at the time. If the page becomes public, such a post still stays hidden. */
  isPrivate: flag(),
  /** From 1; incremented with every change. */
  version: number(),
  /** The post as JSON. */
  document: text(),
  createdAt: instant(),
  updatedAt: instant(),
  /** Who changed it last, as in the audit log. */
  actor: text(),
});
export type WrittenRow = RowOf<typeof WRITTEN>;

/** Posts not deleted, of one page or of all; oldest first. */
export async function readWritten(reader: Reader, page?: PageKey): Promise<readonly WrittenRow[]> {
  const rows =
    page === undefined
      ? await reader.all('SELECT * FROM written WHERE deleted_at IS NULL ORDER BY created_at, id')
      : await reader.all('SELECT * FROM written WHERE deleted_at IS NULL AND page = ? ORDER BY created_at, id', [page]);
  return rows.map(WRITTEN.read);
}

/** A post by id; null: there is none, or it was deleted. */
export async function findWritten(reader: Reader, id: string): Promise<WrittenRow | null> {
  const [row] = await reader.all('SELECT * FROM written WHERE id = ? AND deleted_at IS NULL', [id]);
  return row === undefined ? null : WRITTEN.read(row);
}

/** Inserts a post, or updates the stored one. */
export function saveWritten(tx: Writer, row: WrittenRow): Promise<void> {
  return WRITTEN.save(tx, [row], { key: ['id'], kept: ['page', 'created_at'] });
}

/** Marks a post as deleted for good; its row is kept as long as history is. */
export async function deleteWritten(tx: Writer, id: string, at: EpochMs, actor: string): Promise<void> {
  await tx.run('UPDATE written SET deleted_at = ?, updated_at = ?, actor = ?, version = version + 1 WHERE id = ?', [
    at,
    at,
    actor,
    id,
  ]);
}

/** Number of posts of a page that were written while it was private. */
export async function countPrivate(reader: Reader, page: PageKey): Promise<number> {
  const [row] = await reader.all(
    'SELECT COUNT(*) AS n FROM written WHERE page = ? AND is_private = 1 AND deleted_at IS NULL',
    [page],
  );
  return Number(row?.['n'] ?? 0);
}

/** Requests with an idempotency key. */
const REQUESTS = table('written_request', {
  actor: text(),
  key: named('request_key', text()),
  /** Digest of the whole request. */
  digest: text(),
  /** Id of the resulting post. */
  post: text(),
});
type KnownRequest = RowOf<typeof REQUESTS>;

/** The earlier request with this key; null: none. */
export async function findRequest(reader: Reader, { actor, key }: Pick<KnownRequest, 'actor' | 'key'>) {
  const sql = 'SELECT * FROM written_request WHERE actor = ? AND request_key = ?';
  const [row] = await reader.all(sql, [actor, key]);
  return row === undefined ? null : REQUESTS.read(row);
}

export function keepRequest(tx: Writer, request: KnownRequest, at: EpochMs): Promise<void> {
  return REQUESTS.insert(tx, [request], { at });
}

// Alerts by their sender's key: the incident of each, and the latest state received.

const ALERTS = table('written_alert', {
  intake: text(),
  /** An alert is only known on its page. */
  page: text<PageKey>(),
  key: named('alert_key', text()),
  /** Id of the post; null: it was resolved before it was first received. */
  post: orNull(text()),
  state: word(['firing', 'resolved'], 'resolved'),
  /** When the alert began or was resolved, by the sender's clock; null: not given. */
  toldAt: orNull(instant()),
});
export type KnownAlert = RowOf<typeof ALERTS>;

/** The stored alert of a key; null: none. */
export async function findAlert(reader: Reader, { intake, page, key }: Pick<KnownAlert, 'intake' | 'page' | 'key'>) {
  const sql = 'SELECT * FROM written_alert WHERE intake = ? AND page = ? AND alert_key = ?';
  const [row] = await reader.all(sql, [intake, page, key]);
  return row === undefined ? null : ALERTS.read(row);
}

export function keepAlert(tx: Writer, alert: KnownAlert, at: EpochMs): Promise<void> {
  return ALERTS.save(tx, [alert], { key: ['intake', 'alert_key'] }, { changed_at: at });
}

// Components and groups that operators created over the API; each belongs to one page.

const COMPONENTS = table('component', {
  page: text<PageKey>(),
  /** As in addresses; never used before on the page. */
  id: text(),
  kind: word(['component', 'group'], 'component'),
  name: text(),
  description: orNull(text()),
  /** For components: their group, whoever defines it. */
  groupId: orNull(text()),
  /** This and the next two are returned to clients but have no effect. */
  showcase: flag(),
  onlyIfDegraded: flag(),
  /** `YYYY-MM-DD`; null: when it was first shown. */
  startDate: orNull(text()),
  createdAt: instant(),
});
export interface MadeComponent extends RowOf<typeof COMPONENTS> {
  /** Names in other languages, by tag; absent: none. */
  readonly names?: Translated;
}

/** A component with its page's identity in definitions. */
export interface PlacedComponent extends MadeComponent {
  readonly slug: string;
  /** Id of the page's definition. */
  readonly origin: string;
}

/** Components of all current pages; oldest first. */
export async function readPlaced(reader: Reader): Promise<readonly PlacedComponent[]> {
  const rows = await reader.all(
    `SELECT component.*, page.slug, page.origin FROM component JOIN page ON page.key = component.page
     WHERE page.ended_at IS NULL ORDER BY component.created_at, component.id`,
  );
  return rows.map((row) => ({ ...toMade(row), slug: String(row['slug']), origin: String(row['origin']) }));
}

/** Components of one page; oldest first. */
export async function readMade(reader: Reader, page: PageKey): Promise<readonly MadeComponent[]> {
  const rows = await reader.all('SELECT * FROM component WHERE page = ? ORDER BY created_at, id', [page]);
  return rows.map(toMade);
}

/** Inserts or updates a component. */
export async function saveMade(tx: Writer, one: MadeComponent): Promise<void> {
  const names = one.names === undefined ? null : JSON.stringify(one.names);
  await COMPONENTS.save(tx, [one], { key: ['page', 'id'], kept: ['kind', 'created_at'] }, { names });
  await redefine(tx, one.page);
}

/** Deletes a component for good. */
export async function deleteMade(tx: Writer, { page, id }: Pick<MadeComponent, 'page' | 'id'>): Promise<void> {
  await tx.run('DELETE FROM component WHERE page = ? AND id = ?', [page, id]);
  await redefine(tx, page);
}

/** Tells all processes that the page's definition changed. */
async function redefine(tx: Writer, page: PageKey): Promise<void> {
  await tx.run('UPDATE page SET revision = ? WHERE key = ?', [await bumpRevision(tx), page]);
  await tx.announce();
}

function toMade(row: Row): MadeComponent {
  const names = row['names'] === null ? {} : { names: JSON.parse(String(row['names'])) as Translated };
  return { ...COMPONENTS.read(row), ...names };
}

// API tokens, stored as hashes.

export const API_SCOPES = ['incidents', 'components', 'subscribers', 'read'] as const;
/**
 * What a token may do on its page: write incidents; create and override components; see and change subscribers. Every
 * token may read.
 */
export type ApiScope = (typeof API_SCOPES)[number];

const TOKENS = table('api_token', {
  id: text(),
  name: text(),
  scopes: json<readonly ApiScope[]>((stored) => {
    const scopes: unknown = JSON.parse(stored);
    return API_SCOPES.filter((scope) => Array.isArray(scopes) && scopes.includes(scope));
  }),
  page: text<PageKey>(),
  createdAt: instant(),
  /** Null: never. */
  expiresAt: orNull(instant()),
  /** Null: still valid. */
  revokedAt: orNull(instant()),
});
export type ApiToken = RowOf<typeof TOKENS>;

export type ApiTokens = ReturnType<typeof createApiTokens>;

export function createApiTokens(database: Database) {
  const findBy = async (column: 'hash' | 'id', value: string): Promise<ApiToken | null> => {
    const [row] = await database.all(`SELECT * FROM api_token WHERE ${column} = ?`, [value]);
    return row === undefined ? null : TOKENS.read(row);
  };
  return {
    create: (token: ApiToken, hash: string) => database.transaction((tx) => TOKENS.insert(tx, [token], { hash })),
    /** By hash, even if expired or revoked; null: there never was such a token. */
    find: (hash: string) => findBy('hash', hash),
    findById: (id: string) => findBy('id', id),
    /** Newest first. */
    list: async () => (await database.all('SELECT * FROM api_token ORDER BY created_at DESC, id')).map(TOKENS.read),
    /** False: no valid token has this id. */
    revoke: async (id: string, at: EpochMs) =>
      (await database.transaction((tx) =>
        tx.run('UPDATE api_token SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL', [at, id]),
      )) > 0,
  };
}

export function isInForce({ revokedAt, expiresAt }: ApiToken, now: EpochMs): boolean {
  return revokedAt === null && (expiresAt === null || expiresAt > now);
}
