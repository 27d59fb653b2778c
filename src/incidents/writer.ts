/**
 * Writes operators' posts. The post, the idempotency record and the audit entry form one transaction. The pass that
 * follows publishes them.
 */

import { toSlug } from '../model/slugs.ts';
import { type EpochMs, toIso } from '../model/time.ts';
import type { ResolvedPage } from '../publish/definitions/definitions.ts';
import { insertAudit } from '../store/audit.ts';
import type { Database, Writer } from '../store/database.ts';
import {
  deleteWritten,
  findRequest,
  findWritten,
  keepRequest,
  saveWritten,
  type WrittenRow,
} from '../store/written/posts.ts';
import { parseWritten, type WrittenPost, writtenText } from '../sync/connectors/markdown/written.ts';
import { Refusal } from './requests.ts';

/** The page of an author. */
export function authorPage({ identity, definition }: ResolvedPage) {
  return { key: identity.key, slug: definition.slug, isPrivate: definition.access !== 'public' };
}

/** Who writes, on which page, and when. */
export interface Author {
  /** As in the audit log: `token:deploys/k3f9a0bq2c`, `operator`. */
  readonly actor: string;
  /** Keyed hash of the client's address; null: this machine. */
  readonly client: string | null;
  readonly now: EpochMs;
  readonly page: ReturnType<typeof authorPage>;
  /** Idempotency key and digest of the request; null: no key was sent. */
  readonly request: { readonly key: string; readonly digest: string } | null;
}

/** Writes within the transaction. Returns the id of the post. */
export type Write = (tx: Writer) => Promise<string>;

/**
 * Writes once, however often a request with the same key is sent. `isReplay`: it was handled before, so nothing was
 * written.
 *
 * @throws Refusal with nothing written
 */
export function writeOnce(database: Database, author: Author, write: Write) {
  return database.transaction(async (tx) => {
    const { request, actor, page, now } = author;
    const scope = `${actor} ${page.key}`;
    const known = request === null ? null : await findRequest(tx, { actor: scope, key: request.key });
    if (known !== null && known.digest !== request?.digest)
      throw new Refusal(422, 'This Idempotency-Key was already used for a different request. Use a new one.');
    if (known !== null) return { id: known.post, isReplay: true };
    const id = await write(tx);
    if (request !== null) await keepRequest(tx, { actor: scope, ...request, post: id }, now);
    return { id, isReplay: false };
  });
}

/** Stores a new post. */
export function createPost(
  tx: Writer,
  author: Author,
  { id, document, action }: { readonly id: string; readonly document: WrittenPost; readonly action: string },
): Promise<void> {
  const { key: page, isPrivate } = author.page;
  const row = { id, page, isPrivate, version: 0, createdAt: author.now };
  return savePost(tx, author, { ...row, document: writtenText(document) }, action);
}

interface Change {
  readonly id: string;
  readonly action: string;
  /** The version that the author saw; null: unknown. */
  readonly version: number | null;
}

/**
 * Changes the current version of a post.
 *
 * @throws Refusal 404 if it was deleted, 412 if it isn’t the version that the author saw
 */
export async function changePost(
  tx: Writer,
  author: Author,
  { change, ...init }: Change & { readonly change: (document: WrittenPost) => WrittenPost },
): Promise<void> {
  const { row, document } = await currentPost(tx, author, init);
  const next = writtenText(change(document));
  if (next === row.document) return;
  // Private once any part of it was written while the page was private.
  const isPrivate = row.isPrivate || author.page.isPrivate;
  await savePost(tx, author, { ...row, isPrivate, document: next }, init.action);
}

/** Shows a post that was written while its page was private. @throws Refusal like `changePost` */
export async function revealPost(tx: Writer, author: Author, init: Change): Promise<void> {
  const { row } = await currentPost(tx, author, init);
  if (author.page.isPrivate) throw new Refusal(409, 'The page is private by now. Nothing was published.');
  await savePost(tx, author, { ...row, isPrivate: false }, init.action);
}

/** Saves the next version of a post. */
async function savePost(tx: Writer, author: Author, row: Omit<WrittenRow, 'updatedAt' | 'actor'>, action: string) {
  const { now: updatedAt, actor } = author;
  await saveWritten(tx, { ...row, version: row.version + 1, updatedAt, actor });
  await writeAudit(tx, author, action, row.id);
}

/** Deletes a post. @throws Refusal like `changePost` */
export async function removePost(tx: Writer, author: Author, init: Change): Promise<void> {
  await currentPost(tx, author, init);
  await deleteWritten(tx, init.id, author.now, author.actor);
  await writeAudit(tx, author, init.action, init.id);
}

async function currentPost(tx: Writer, { page }: Author, { id, version }: Change) {
  const row = await findWritten(tx, id);
  if (row === null || row.page !== page.key) throw new Refusal(404, 'It has been deleted in the meantime.');
  if (version !== null && version !== row.version)
    throw new Refusal(412, 'Someone else changed it in the meantime. Review it, then send your change again.');
  const document = parseWritten(row.document);
  if (document === null) throw new Refusal(409, 'It is stored in a format this version can’t read.');
  return { row, document };
}

/** Writes an entry of the audit log. */
export function writeAudit(tx: Writer, { actor, client, now, page }: Author, action: string, outcome: string) {
  return insertAudit(tx, { at: now, actor, action, subject: page.slug, client, run: null, outcome });
}

/** Of the words in an id, which also has a date or a suffix. */
const WORDS_CHARS_MAX = 40;

/** A new id with readable words: `api-errors-k3f9a`, or `2026-11-21-api-errors-k3f9a` with a time. */
export function freshId(name: string, suffix: string, at?: EpochMs): string {
  const date = at === undefined ? '' : toIso(at).slice(0, 'YYYY-MM-DD'.length);
  return [date, toSlug(name, WORDS_CHARS_MAX), suffix].filter((part) => part !== '').join('-');
}
