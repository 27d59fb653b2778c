/** A page as its authors see it: the stored data with all posts, including drafts. And writing posts on it. */

import { WRITTEN_ID } from '../model/observation.ts';
import type { PageIncident, PageMaintenance } from '../model/page.ts';
import { toSlug } from '../model/slugs.ts';
import { type EpochMs, toIso } from '../model/time.ts';
import type { ResolvedPage } from '../publish/definitions/definitions.ts';
import type { SiteState } from '../publish/definitions/site-state.ts';
import { loadPageInputs, ownIncidents, ownMaintenances } from '../publish/page-inputs.ts';
import { insertAudit } from '../store/audit.ts';
import type { Store } from '../store/create-store.ts';
import type { Database, Writer } from '../store/database.ts';
import type { StoredMaintenance } from '../store/revisions.ts';
import {
  deleteWritten,
  findRequest,
  findWritten,
  keepRequest,
  readMade,
  readWritten,
  saveWritten,
  type WrittenRow,
} from '../store/written.ts';
import { parseWritten, projectWritten, type WrittenPost, writtenText } from '../sync/connectors/markdown/written.ts';
import { pageModel } from '../views/model/page-model.ts';
import { v2ComponentId, v2GroupId } from '../views/v2/components.ts';
import { v2IncidentId, v2MaintenanceId } from '../views/v2/incidents.ts';
import { faultAt, Refusal } from './requests.ts';

export type WritingPage = NonNullable<Awaited<ReturnType<typeof loadWritingPage>>>;

/** A stored post, and its parsed document. */
export interface WrittenStory {
  readonly row: WrittenRow;
  readonly document: WrittenPost;
}

export interface WritingPageInit {
  readonly state: SiteState;
  readonly slug: string;
  readonly now: EpochMs;
  /**
   * For a preview: a post to show as if it were published; other drafts are left out. Default: all posts, including
   * drafts.
   */
  readonly candidate?: { readonly id: string; readonly document: WrittenPost };
}

/** Reads a page; null: there is no such page. */
export async function loadWritingPage(store: Store, { state, slug, now, candidate }: WritingPageInit) {
  const page = state.resolved.pages.find(({ definition }) => definition.slug === slug);
  if (page === undefined) return null;
  const [inputs, known, made] = await Promise.all([
    loadPageInputs(store, { ...state, now }, page),
    readWritten(store.database, page.identity.key),
    readMade(store.database, page.identity.key),
  ]);
  const rows = candidate === undefined ? known : withCandidate(known, candidate, page, now);
  const projected = projectWritten(rows, { now, drafts: candidate === undefined });
  const createdAt = new Map(rows.map((row) => [`${WRITTEN_ID}/${row.id}`, row.createdAt]));
  const stored = new Map([...inputs.incidents, ...inputs.maintenances].map((one) => [one.id, one]));
  const isOther = ({ id }: { readonly id: string }): boolean => !id.startsWith(`${WRITTEN_ID}/`);
  /** With what the store adds to an incident or a maintenance. */
  const recorded = <One extends { readonly id: string }>(one: One) => {
    const known: Partial<Pick<StoredMaintenance, 'firstSeenAt' | 'changedAt' | 'sequence'>> = stored.get(one.id) ?? {};
    const { firstSeenAt = createdAt.get(one.id) ?? now, changedAt, sequence } = known;
    const later = {
      ...(changedAt === undefined ? {} : { changedAt }),
      ...(sequence === undefined ? {} : { sequence }),
    };
    return { firstSeenAt, ...later, ...one };
  };
  const model = pageModel({
    ...inputs,
    announcements: [
      ...inputs.announcements.filter((one) => isOther(one) || (one.pages?.includes(slug) ?? true) === false),
      ...projected.announcements,
    ],
    incidents: [
      ...inputs.incidents.filter(isOther),
      ...ownIncidents(page, projected.incidents).map((one) => recorded(one)),
    ],
    maintenances: [
      ...inputs.maintenances.filter(isOther),
      ...ownMaintenances(page, projected.maintenances).map((one) => recorded(one)),
    ],
    asOf: now,
  });
  return {
    page,
    /** Computed for now, whatever is published. */
    model,
    /** Incidents, maintenances and overrides that were written on this page. */
    written: storiesIn(rows),
    /** Components and groups created over the API, by their id in addresses. */
    made: new Map(made.map((one) => [one.id, one])),
  };
}

/** Replaces or adds the candidate's row. */
function withCandidate(
  rows: readonly WrittenRow[],
  { id, document }: NonNullable<WritingPageInit['candidate']>,
  page: ResolvedPage,
  now: EpochMs,
): readonly WrittenRow[] {
  const before = rows.find((row) => row.id === id);
  const text = writtenText({ ...document, post: { ...document.post, draft: false } });
  const { key, isPrivate } = authorPage(page);
  const facts = before ?? { id, page: key, isPrivate, version: 0, createdAt: now, actor: '' };
  return [...rows.filter((row) => row !== before), { ...facts, document: text, updatedAt: now }];
}

/** Parses the posts of rows; leaves out unreadable ones. */
export function storiesIn(rows: readonly WrittenRow[]): readonly WrittenStory[] {
  return rows.flatMap((row) => {
    const document = parseWritten(row.document);
    return document === null ? [] : [{ row, document }];
  });
}

/** The incident or maintenance that the page shows for a post; null: none, as for an override. */
export function storyOf({ model }: WritingPage, id: string): PageIncident | PageMaintenance | null {
  const slug = `${WRITTEN_ID}-${id}`;
  return (
    model.incidents.find((incident) => incident.slug === slug || incident.aliases.includes(slug)) ??
    model.maintenances.find((maintenance) => maintenance.id === `${WRITTEN_ID}/${id}`) ??
    null
  );
}

export function isMaintenance(story: PageIncident | PageMaintenance): story is PageMaintenance {
  return 'windows' in story;
}

/** Id of an incident or a maintenance in the page's v2 JSON. */
function publicId({ model }: WritingPage, story: PageIncident | PageMaintenance): string {
  return isMaintenance(story) ? v2MaintenanceId(model, story) : v2IncidentId(model, story);
}

/** Finds an incident or a maintenance by its id: one written here, one from elsewhere, or null. */
export function findStory(writing: WritingPage, id: string) {
  const { model, written } = writing;
  const stories = [...model.incidents, ...model.maintenances];
  const own = written.find(({ row, document }) => {
    if (document.post.type === 'override') return false;
    const story = storyOf(writing, row.id);
    const known = [row.id, v2IncidentId(model, { id: `${WRITTEN_ID}/${row.id}` })];
    return known.includes(id) || (story !== null && publicId(writing, story) === id);
  });
  if (own !== undefined) return own;
  const foreign = stories.find((story) => publicId(writing, story) === id);
  return foreign === undefined ? null : { foreign };
}

/** Finds a component by its id in the v2 JSON or in the configuration. */
export function findComponent({ model }: WritingPage, id: string): string | null {
  const found = model.components.find(
    ({ definition }) => definition.id === id || v2ComponentId(model, definition.id) === id,
  );
  return found?.definition.id ?? null;
}

/** Finds a group in the same way. */
export function findGroup({ model }: WritingPage, id: string): string | null {
  return model.groups.find((group) => group.id === id || v2GroupId(model, group.id) === id)?.id ?? null;
}

/** The same for what a request names. @throws Refusal 422 with the path of what is not on this page */
export function requireOnPage(kind: 'component' | 'group', writing: WritingPage, id: string, path: string): string {
  const isGroup = kind === 'group';
  const found = isGroup ? findGroup(writing, id) : findComponent(writing, id);
  if (found !== null) return found;
  throw faultAt(path, `No such ${kind} on this page. GET ${isGroup ? 'component-groups' : 'components'} lists them.`);
}

/**
 * Returns the name of a component in posts, `<definition id>/<component id>`. The error is the same whether it exists on
 * another page, behind a gate or nowhere.
 *
 * @throws Refusal 422 with the path of the first that is not on this page
 */
export function componentRef(writing: WritingPage, id: string, path: string): string {
  return `${writing.page.definition.id}/${requireOnPage('component', writing, id, path)}`;
}

// Writes operators' posts. The post, the idempotency record and the audit entry form one transaction. The pass that
// follows publishes them.

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
  // As it is read, because new posts are stored with their fields in another order.
  if (next === writtenText(document)) return;
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
