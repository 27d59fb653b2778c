/**
 * Finds the stored row of each incident or maintenance of an upstream, and detects those withdrawn there.
 *
 * An upstream id stands for one item as long as its creation time stays the same. If the upstream gives another
 * creation time, the id was reused: the old item was deleted, and the new one gets an id of its own here. An item
 * missing from a complete list twice in a row was withdrawn; one that merely left the period covered by lists stays.
 */

import type { CompleteList, Learned } from '../model/observation.ts';
import type { EpochMs } from '../model/time.ts';
import { insertAudit } from './audit.ts';
import { readIn, type Writer } from './database.ts';
import { parseInstant } from './rows.ts';
import type { PassCommit } from './store.ts';
import { instant, orNull, type RowOf, table, text } from './table.ts';

type StoryTable = 'incident' | 'maintenance';

/** The column that decides whether a list with `since` covers an item. */
const PLACE: Readonly<Record<StoryTable, string>> = { incident: 'started_at', maintenance: 'ends_at' };

/** The stored fields that identification depends on. */
const STORY = {
  /** Our id: that of the upstream, with a suffix if it was reused. */
  id: text(),
  externalId: text(),
  bornAt: orNull(instant()),
  document: text(),
  missingAt: orNull(instant()),
  withdrawnAt: orNull(instant()),
};
const STORIES = table('incident', STORY);
export const INCIDENTS = table('incident', { ...STORY, startedAt: instant(), endedAt: orNull(instant()) });
export const MAINTENANCES = table('maintenance', { ...STORY, startsAt: instant(), endsAt: instant() });
export type StoredStory = RowOf<typeof STORIES>;

/** An item of a list with its row. */
export interface Resolved<Item> {
  readonly item: Item;
  readonly id: string;
  /** Null: it is new. */
  readonly before: StoredStory | null;
  /** The item that had this upstream id until now. */
  readonly replaces: StoredStory | null;
}

/** Finds the rows of an upstream's items. */
export async function resolveStories<Item extends { readonly id: string; readonly bornAt?: EpochMs }>(
  tx: Writer,
  table: StoryTable,
  upstreamId: string,
  items: readonly Item[],
): Promise<readonly Resolved<Item>[]> {
  const rows = await readIn(
    tx,
    items.map(({ id }) => id),
    (list) => ({
      sql: `SELECT id, external_id, born_at, document, missing_at, withdrawn_at FROM ${table}
            WHERE upstream = ? AND external_id IN (${list}) ORDER BY first_seen_at, id`,
      before: [upstreamId],
    }),
  );
  // Long lists of ids are queried in padded batches, so a row may appear twice.
  const known = new Map(rows.map((row) => [String(row['id']), STORIES.read(row)]));
  const byExternalId = Map.groupBy(known.values(), ({ externalId }) => externalId);
  return items.map((item) => {
    const stories = byExternalId.get(item.id) ?? [];
    const before = stories.findLast(({ bornAt }) => isSameBirth(bornAt, item.bornAt)) ?? null;
    const last = stories.findLast(({ withdrawnAt }) => withdrawnAt === null) ?? null;
    const id = before?.id ?? (stories.length === 0 ? item.id : `${item.id}@${item.bornAt?.toString(36)}`);
    return { item, id, before, replaces: last === before ? null : last };
  });
}

/** If either has no creation time, the id decides. */
function isSameBirth(stored: EpochMs | null, told: EpochMs | undefined): boolean {
  return stored === null || told === undefined || stored === told;
}

/**
 * Withdraws items that are missing from a complete list, or listed as gone, in this pass and the previous one; and
 * those replaced. Each is recorded in the audit.
 *
 * @param replaced items whose upstream id now stands for another item
 * @returns ids of the withdrawn rows
 */
export async function withdrawStories(
  tx: Writer,
  table: StoryTable,
  learned: Pick<Learned, 'complete' | 'gone'>,
  { upstreamId, observedAt }: Pick<PassCommit, 'upstreamId' | 'observedAt'>,
  replaced: readonly StoredStory[],
): Promise<readonly string[]> {
  const lists = learned.complete.filter(({ part }) => part === `${table}s`);
  const gone = new Set(table === 'incident' ? learned.gone : []);
  const rows =
    lists.length + gone.size === 0
      ? []
      : await tx.all(
          `SELECT id, external_id, ${PLACE[table]} AS place, missing_at FROM ${table}
           WHERE upstream = ? AND withdrawn_at IS NULL`,
          [upstreamId],
        );
  const isAbsentFrom = absenceFrom(lists);
  const absences = rows.map((row) => {
    const externalId = String(row['external_id']);
    const isAbsent = gone.has(externalId) || isAbsentFrom(externalId, Number(row['place']));
    return { id: String(row['id']), isAbsent, missingAt: parseInstant(row['missing_at']) };
  });
  const absent = absences.filter(({ isAbsent }) => isAbsent);
  const isFinal = lists.length > 0 && lists.every((list) => list.isFinal === true);
  const isGone = ({ missingAt }: (typeof absent)[number]): boolean =>
    isFinal || (missingAt !== null && missingAt < observedAt);
  await tx.runMany(
    `UPDATE ${table} SET missing_at = ? WHERE id = ?`,
    absent.filter(({ missingAt }) => missingAt === null).map(({ id }) => [observedAt, id]),
  );
  await tx.runMany(
    `UPDATE ${table} SET missing_at = NULL WHERE id = ?`,
    absences.filter(({ isAbsent, missingAt }) => !isAbsent && missingAt !== null).map(({ id }) => [id]),
  );
  const withdrawn = [...absent.filter(isGone), ...replaced].map(({ id }) => id);
  await tx.runMany(
    `UPDATE ${table} SET withdrawn_at = ?, changed_at = ? WHERE id = ?`,
    withdrawn.map((id) => [observedAt, observedAt, id]),
  );
  for (const id of withdrawn)
    await insertAudit(tx, {
      at: observedAt,
      actor: `upstream:${upstreamId}`,
      action: 'withdraw',
      subject: upstreamId,
      client: null,
      run: null,
      outcome: `${table} ${JSON.stringify(id.slice(0, 120))} was withdrawn by the upstream and is no longer shown`,
    });
  return withdrawn;
}

/** A test whether an item is missing from all lists that should contain it. */
function absenceFrom(lists: readonly CompleteList[]): (externalId: string, place: number) => boolean {
  const known = lists.map((list) => ({ ...list, ids: new Set(list.ids) }));
  return (externalId, place) => {
    const covering = known.filter(
      ({ prefix, since }) => externalId.startsWith(prefix) && (since === null || place >= since),
    );
    return covering.length > 0 && covering.every(({ ids }) => !ids.has(externalId));
  };
}
