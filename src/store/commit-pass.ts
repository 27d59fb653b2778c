/**
 * The only write of a pass: stores a validated snapshot of one upstream, completely or not at all. First its incidents and
 * maintenances, then the rest.
 */

import type {
  CompleteList,
  Incident,
  Learned,
  Maintenance,
  MonitorDetail,
  MonitorId,
  SnapshotPart,
} from '../model/observation.ts';
import { type EpochMs, type Interval, toEpochMs } from '../model/time.ts';
import { insertAudit } from './audit.ts';
import { instant, orNull, type RowOf, readIn, table, text, type Writer } from './database.ts';
import { endPages } from './pages.ts';
import { type CommitResult, type PassCommit, recordChanges } from './revisions.ts';
import { parseIncident, parseInstant, parseMaintenance } from './rows.ts';

/** Writes changed incidents; returns the ids of those changed or withdrawn. */
async function writeIncidents(tx: Writer, { upstreamId, observedAt, learned }: PassCommit) {
  const stories = await resolveStories(tx, 'incident', upstreamId, learned.incidents);
  const changed = stories.flatMap((story) => {
    const incident = withKnownPages(story);
    const document = JSON.stringify(incident);
    return isChanged(story.before, document) ? [{ incident, document, externalId: story.item.id }] : [];
  });
  await INCIDENTS.save(
    tx,
    changed.map(({ incident, ...stored }) => ({
      ...toRow(incident, stored),
      ...{ startedAt: incident.startedAt, endedAt: incident.endedAt },
    })),
    { key: ['id'], kept: ['upstream', 'external_id', 'first_seen_at'] },
    { upstream: upstreamId, changed_at: observedAt, first_seen_at: observedAt },
  );
  await tx.runMany(
    'UPDATE incident SET read_at = ? WHERE upstream = ? AND external_id = ? AND withdrawn_at IS NULL',
    learned.readAgain.map((id) => [observedAt, upstreamId, id]),
  );
  const isUnsure = learned.stale.includes('incidents');
  const withdrawn = await withdrawStories(
    tx,
    'incident',
    isUnsure ? { complete: [], gone: [] } : learned,
    { upstreamId, observedAt },
    replacedIn(stories),
  );
  return [...changed.map(({ incident }) => incident.id), ...withdrawn];
}

/** The incident under the id of its row. If the upstream did not list its pages this time, it keeps the known ones. */
function withKnownPages({ item, id, before }: Resolved<Incident>): Incident {
  if (item.pages?.length !== 0 || before === null) return item.id === id ? item : { ...item, id };
  return { ...item, id, pages: parseIncident(before.document).pages };
}

/** Writes changed maintenances; returns the ids of those changed or withdrawn. */
async function writeMaintenances(tx: Writer, { upstreamId, observedAt, learned }: PassCommit) {
  const stories = await resolveStories(tx, 'maintenance', upstreamId, learned.maintenances);
  const written = stories.flatMap((story) => {
    const maintenance = withPastWindows({ ...story.item, id: story.id }, story.before, observedAt);
    const document = JSON.stringify(maintenance);
    if (!isChanged(story.before, document)) return [];
    return [{ maintenance, document, externalId: story.item.id, isNews: isNews(story, maintenance, observedAt) }];
  });
  await MAINTENANCES.save(
    tx,
    written.map(({ maintenance, ...stored }) => ({
      ...toRow(maintenance, stored),
      startsAt: toEpochMs(Math.min(...listWindows(maintenance).map(({ from }) => from))),
      endsAt: toEpochMs(Math.max(...listWindows(maintenance).map(({ to }) => to))),
    })),
    { key: ['id'], kept: ['upstream', 'external_id', 'changed_at', 'first_seen_at'] },
    { upstream: upstreamId, changed_at: observedAt, first_seen_at: observedAt },
  );
  const news = written.filter(({ isNews }) => isNews).map(({ maintenance }) => maintenance.id);
  await tx.runMany(
    'UPDATE maintenance SET changed_at = ?, sequence = sequence + 1 WHERE id = ? AND first_seen_at <> ?',
    news.map((id) => [observedAt, id, observedAt]),
  );
  const withdrawn = await withdrawStories(tx, 'maintenance', learned, { upstreamId, observedAt }, replacedIn(stories));
  return [...written.map(({ maintenance }) => maintenance.id), ...withdrawn];
}

/** What is listed now is neither missing nor withdrawn. */
function toRow(
  { id, bornAt = null }: { readonly id: string; readonly bornAt?: EpochMs | null },
  { document, externalId }: Pick<StoredStory, 'document' | 'externalId'>,
) {
  return { id, externalId, bornAt, document, missingAt: null, withdrawnAt: null };
}

function isChanged(before: StoredStory | null, document: string): boolean {
  return before?.document !== document || before.withdrawnAt !== null;
}

function replacedIn(stories: readonly Resolved<unknown>[]): readonly StoredStory[] {
  return stories.flatMap(({ replaces }) => replaces ?? []);
}

function listWindows({ repeats, startsAt, endsAt }: Maintenance): readonly Interval[] {
  return repeats === undefined || repeats.windows.length === 0 ? [{ from: startsAt, to: endsAt }] : repeats.windows;
}

/**
 * Keeps past windows of a repeating maintenance as stored, because a changed rule does not change what took place. A
 * maintenance seen for the first time has the past windows of its rule.
 */
function withPastWindows(told: Maintenance, before: StoredStory | null, now: EpochMs): Maintenance {
  if (told.repeats === undefined || before === null) return told;
  const known = parseMaintenance(before.document);
  const past = listWindows(known).filter(({ to }) => to <= now);
  const windows = [...past, ...told.repeats.windows.filter(({ to }) => to > now)];
  return { ...told, repeats: { ...told.repeats, windows } };
}

/** Whether calendars must be told. A further window that merely came within reach is not news. */
function isNews({ before }: Resolved<Maintenance>, told: Maintenance, now: EpochMs): boolean {
  if (before === null || before.withdrawnAt !== null || told.repeats === undefined) return true;
  const known = parseMaintenance(before.document);
  const until = toEpochMs(Math.min(lastStart(known), lastStart(told)));
  return lastingText(known, now, until) !== lastingText(told, now, until);
}

function lastStart(maintenance: Maintenance): EpochMs {
  return listWindows(maintenance).at(-1)?.from ?? maintenance.startsAt;
}

/** Its content for comparison, with the windows that are not over and begin by `until`. */
function lastingText({ startsAt: _, endsAt: __, repeats, ...said }: Maintenance, now: EpochMs, until: EpochMs): string {
  const windows = repeats?.windows.filter(({ from, to }) => to > now && from <= until);
  return JSON.stringify([said, { ...repeats, windows }]);
}

// Finds the stored row of each incident or maintenance of an upstream, and detects those withdrawn there. An upstream
// id stands for one item as long as its creation time stays the same. If the upstream gives another creation time,
// the id was reused: the old item was deleted, and the new one gets an id of its own here. An item missing from a
// complete list twice in a row was withdrawn; one that merely left the period covered by lists stays.

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
const INCIDENTS = table('incident', { ...STORY, startedAt: instant(), endedAt: orNull(instant()) });
const MAINTENANCES = table('maintenance', { ...STORY, startsAt: instant(), endsAt: instant() });
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
async function resolveStories<Item extends { readonly id: string; readonly bornAt?: EpochMs }>(
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
async function withdrawStories(
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

/**
 * Commits inside the caller's transaction. Writing the same snapshot twice changes only the time of the last good
 * answer. Answers older than the stored one are ignored. If the clock was set back, what was recorded for the future is
 * cut first (`cutFuture`).
 */
export async function commitPass(tx: Writer, commit: PassCommit): Promise<CommitResult> {
  const { upstreamId, observedAt, learned } = commit;
  await tx.run('INSERT INTO upstream (id) VALUES (?) ON CONFLICT (id) DO NOTHING', [upstreamId]);
  const isStale = (part: SnapshotPart): boolean => learned.stale.includes(part);
  // Null: as stored. That may be long, and stays where it is.
  const kept = commit.kept === undefined ? null : JSON.stringify(commit.kept);
  const definitions = isStale('pages') ? kept : JSON.stringify(learned.pages);
  const announcements = isStale('pages') ? null : JSON.stringify(learned.announcements);
  const [before] = await tx.all(
    `SELECT monitors_at, CASE WHEN definitions <> ? THEN 1 ELSE 0 END AS is_redefined,
       CASE WHEN announcements <> ? THEN 1 ELSE 0 END AS is_announced FROM upstream WHERE id = ?`,
    [definitions, announcements, upstreamId],
  );
  const isRedefined = Number(before?.['is_redefined']) === 1;
  const lastAt = parseInstant(before?.['monitors_at']);
  if (lastAt !== null && observedAt < lastAt)
    return { monitors: [], incidents: [], maintenances: [], hasNewDefinitions: false, isOutdated: true };

  const monitors = isStale('monitors') ? [] : await writeMonitors(tx, commit, lastAt);
  const incidents = await writeIncidents(tx, commit);
  const maintenances = isStale('maintenances') ? [] : await writeMaintenances(tx, commit);
  for (const detail of learned.details) await writeDetail(tx, detail);
  await tx.runMany(
    'UPDATE monitor SET is_backfilled = 1 WHERE id = ?',
    (learned.backfilled ?? []).map((id) => [id]),
  );

  const at = (part: SnapshotPart): EpochMs | null => (isStale(part) ? null : observedAt);
  await tx.run(
    `UPDATE upstream SET monitors_at = COALESCE(?, monitors_at), incidents_at = COALESCE(?, incidents_at),
       maintenances_at = COALESCE(?, maintenances_at), pages_at = COALESCE(?, pages_at),
       is_backfilled = CASE WHEN ? = 1 THEN 1 ELSE is_backfilled END,
       definitions = COALESCE(?, definitions), announcements = COALESCE(?, announcements),
       channels = COALESCE(?, channels), channels_at = COALESCE(?, channels_at), held_hash = NULL WHERE id = ?`,
    [
      at('monitors'),
      at('incidents'),
      at('maintenances'),
      at('pages'),
      learned.isBackfilled ? 1 : 0,
      definitions,
      announcements,
      learned.channels === undefined ? null : JSON.stringify(learned.channels),
      learned.channels === undefined ? null : observedAt,
      upstreamId,
    ],
  );
  const hasNewDefinitions = isRedefined || Number(before?.['is_announced']) === 1;
  if (isRedefined)
    await endPages(tx, upstreamId, { defined: new Set(learned.pages.map(({ id }) => id)), now: observedAt });
  const changes = { monitors, incidents, maintenances, hasNewDefinitions };
  await recordChanges(tx, upstreamId, changes);
  return changes;
}

async function writeMonitors(tx: Writer, commit: PassCommit, lastAt: EpochMs | null): Promise<readonly MonitorId[]> {
  const { upstreamId, observedAt, learned } = commit;
  const rows = await tx.lists('SELECT id, document FROM monitor WHERE upstream = ? AND gone_at IS NULL', [upstreamId]);
  const known = new Map<unknown, unknown>();
  for (const [id, document] of rows) known.set(id, document);
  const shown = new Set(learned.shownAtOnce);
  const changed: MonitorId[] = [];
  const writes: (string | number | null)[][] = [];
  for (const monitor of learned.monitors) {
    const document = JSON.stringify(monitor);
    const isSame = known.get(monitor.id) === document;
    known.delete(monitor.id);
    if (isSame && !shown.has(monitor.id)) continue;
    changed.push(monitor.id);
    writes.push([monitor.id, upstreamId, monitor.state, document, observedAt]);
  }
  await tx.runMany(
    `INSERT INTO monitor (id, upstream, state, document, first_seen_at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET state = excluded.state, document = excluded.document, gone_at = NULL`,
    writes,
  );
  const gone = [...known.keys()] as MonitorId[];
  await tx.runMany(
    'UPDATE monitor SET gone_at = ? WHERE id = ?',
    gone.map((id) => [observedAt, id]),
  );
  await writeSpans(tx, commit, lastAt, gone);
  return [...changed, ...gone];
}

async function writeSpans(tx: Writer, commit: PassCommit, lastAt: EpochMs | null, gone: readonly MonitorId[]) {
  const { upstreamId, observedAt, learned, continuity, spanChanges } = commit;
  const close = 'UPDATE span SET to_at = ? WHERE monitor = ? AND to_at IS NULL';
  const open =
    'INSERT INTO span (monitor, from_at, to_at, state) VALUES (?, ?, NULL, ?) ON CONFLICT (monitor, from_at) DO UPDATE SET state = excluded.state, to_at = NULL';
  if (continuity === 'broken') {
    await tx.run(
      'UPDATE span SET to_at = ? WHERE to_at IS NULL AND monitor IN (SELECT id FROM monitor WHERE upstream = ?)',
      [lastAt ?? observedAt, upstreamId],
    );
    await tx.runMany(
      open,
      learned.monitors.map((monitor) => [monitor.id, observedAt, monitor.state]),
    );
    return;
  }
  await tx.runMany(close, [
    ...gone.map((id) => [observedAt, id]),
    ...spanChanges.map((change) => [change.at, change.monitor]),
  ]);
  await tx.runMany(
    open,
    spanChanges.flatMap((change) => (change.state === null ? [] : [[change.monitor, change.at, change.state]])),
  );
}

async function writeDetail(tx: Writer, detail: MonitorDetail): Promise<void> {
  await tx.run(
    'INSERT INTO detail (monitor, fetched_at, uptime) VALUES (?, ?, ?) ON CONFLICT (monitor) DO UPDATE SET fetched_at = excluded.fetched_at, uptime = excluded.uptime',
    [detail.id, detail.fetchedAt, detail.uptime === null ? null : JSON.stringify(detail.uptime)],
  );
  await tx.runMany(
    'INSERT INTO response_time (monitor, at, ms) VALUES (?, ?, ?) ON CONFLICT (monitor, at) DO UPDATE SET ms = excluded.ms',
    detail.responseTimes.map((sample) => [detail.id, sample.at, sample.ms]),
  );
  await tx.runMany(
    'INSERT INTO reported_span (monitor, from_at, to_at, state) VALUES (?, ?, ?, ?) ON CONFLICT (monitor, from_at) DO UPDATE SET to_at = excluded.to_at, state = excluded.state',
    detail.reportedSpans.map((span) => [detail.id, span.from, span.to, span.state]),
  );
  await tx.runMany(
    `INSERT INTO reported_day (monitor, day, operational, degraded, major_outage) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (monitor, day) DO UPDATE SET operational = excluded.operational, degraded = excluded.degraded, major_outage = excluded.major_outage`,
    detail.reportedDays.map((day) => [detail.id, day.day, day.operational, day.degraded, day.major_outage]),
  );
}
