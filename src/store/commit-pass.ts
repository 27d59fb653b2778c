/** The only write of a pass: stores a validated snapshot of one upstream, completely or not at all. */

import type { MonitorDetail, MonitorId, SnapshotPart } from '../model/observation.ts';
import type { EpochMs } from '../model/time.ts';
import type { Writer } from './database.ts';
import { endPages } from './pages.ts';
import { recordChanges } from './revisions.ts';
import { parseInstant } from './rows.ts';
import type { CommitResult, PassCommit } from './store.ts';
import { writeIncidents, writeMaintenances } from './write-events.ts';

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
