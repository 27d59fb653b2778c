/**
 * Which row an incident or a maintenance of an upstream is, and which were taken back there.
 *
 * An upstream id names one story as long as the item is as old as before; where it says when items came into being and
 * that instant is another, the id was given again: the old story was deleted and this is a new one, with an id of its own
 * here. What a whole list lacks twice in a row was taken back; what only left the stretch that lists cover stays.
 */

import type { CompleteList, Learned } from '../model/observation.ts';
import type { EpochMs } from '../model/time.ts';
import { insertAudit } from './audit.ts';
import { type Row, readIn, type Writer } from './database.ts';
import { parseInstant } from './rows.ts';

type StoryTable = 'incident' | 'maintenance';

/** The instant by which lists cover a stretch of time. */
const PLACE: Readonly<Record<StoryTable, string>> = { incident: 'started_at', maintenance: 'ends_at' };

/** What is stored of a story, as far as it is decided by. */
export interface StoredStory {
  /** Ours; that of its upstream, and more where that was given again. */
  readonly id: string;
  readonly externalId: string;
  readonly bornAt: EpochMs | null;
  readonly document: string;
  readonly missingAt: EpochMs | null;
  readonly withdrawnAt: EpochMs | null;
}

/** An item of a list, with the row that it is. */
export interface Resolved<Item> {
  readonly item: Item;
  readonly id: string;
  /** Null: it is new. */
  readonly before: StoredStory | null;
  /** What its upstream id stood for until now. */
  readonly replaces: StoredStory | null;
}

/** The rows that items of one upstream are. */
export async function resolveStories<Item extends { readonly id: string; readonly bornAt?: EpochMs }>(
  tx: Writer,
  table: StoryTable,
  { upstreamId, items }: { readonly upstreamId: string; readonly items: readonly Item[] },
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
  // A list of ids is asked in parts, and padded: a row may come twice.
  const known = new Map(rows.map((row) => [String(row['id']), toStory(row)]));
  const byExternalId = Map.groupBy(known.values(), ({ externalId }) => externalId);
  return items.map((item) => {
    const stories = byExternalId.get(item.id) ?? [];
    const before = stories.findLast(({ bornAt }) => isSameBirth(bornAt, item.bornAt)) ?? null;
    const last = stories.findLast(({ withdrawnAt }) => withdrawnAt === null) ?? null;
    const id = before?.id ?? (stories.length === 0 ? item.id : `${item.id}@${item.bornAt?.toString(36)}`);
    return { item, id, before, replaces: last === before ? null : last };
  });
}

/** As long as one of the two says nothing of its birth, the id decides. */
function isSameBirth(stored: EpochMs | null, told: EpochMs | undefined): boolean {
  return stored === null || told === undefined || stored === told;
}

function toStory(row: Row): StoredStory {
  return {
    id: String(row['id']),
    externalId: String(row['external_id']),
    bornAt: parseInstant(row['born_at']),
    document: String(row['document']),
    missingAt: parseInstant(row['missing_at']),
    withdrawnAt: parseInstant(row['withdrawn_at']),
  };
}

/** What a pass says of stories that it does not tell. */
interface Absences {
  readonly upstreamId: string;
  readonly observedAt: EpochMs;
  /** Where the row of an id was given to another story. */
  readonly replaced: readonly StoredStory[];
}

/**
 * Withdraws what was taken back: missing from a whole list, or said to be no more, by this pass and the one before; or
 * replaced. Each is named in the audit.
 *
 * @returns ids of the rows that were withdrawn
 */
export async function withdrawStories(
  tx: Writer,
  table: StoryTable,
  learned: Pick<Learned, 'complete' | 'gone'>,
  { upstreamId, observedAt, replaced }: Absences,
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
  await withdraw(tx, table, { upstreamId, observedAt, ids: withdrawn });
  return withdrawn;
}

/** Whether a list that would hold an item does not. */
function absenceFrom(lists: readonly CompleteList[]): (externalId: string, place: number) => boolean {
  const known = lists.map((list) => ({ ...list, ids: new Set(list.ids) }));
  return (externalId, place) => {
    const covering = known.filter(
      ({ prefix, since }) => externalId.startsWith(prefix) && (since === null || place >= since),
    );
    return covering.length > 0 && covering.every(({ ids }) => !ids.has(externalId));
  };
}

async function withdraw(
  tx: Writer,
  table: StoryTable,
  { upstreamId, observedAt, ids }: { upstreamId: string; observedAt: EpochMs; ids: readonly string[] },
): Promise<void> {
  if (ids.length === 0) return;
  await tx.runMany(
    `UPDATE ${table} SET withdrawn_at = ?, changed_at = ? WHERE id = ?`,
    ids.map((id) => [observedAt, observedAt, id]),
  );
  for (const id of ids)
    await insertAudit(tx, {
      at: observedAt,
      actor: `upstream:${upstreamId}`,
      action: 'withdraw',
      subject: upstreamId,
      client: null,
      run: null,
      outcome: `${table} ${JSON.stringify(id.slice(0, 120))} was withdrawn by the upstream and is no longer shown`,
    });
}
