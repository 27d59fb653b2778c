/** The store over either database: its reads. The one big write is in commit-pass.ts. */

import type { MonitorId } from '../model/observation.ts';
import type { EpochMs } from '../model/time.ts';
import { createAudit } from './audit.ts';
import { commitPass } from './commit-pass.ts';
import { type Database, type Row, readIn, type TransactionOptions, type Writer } from './database.ts';
import { readEntries, readFirstPublished, readFirstSeen } from './identities.ts';
import { isHeld, type Lease, superseded } from './nodes/leases.ts';
import { readPasts } from './pasts.ts';
import { forgetSubjects, readChanges, recordChanges } from './revisions.ts';
import {
  parseAnnouncements,
  parseChannels,
  parseDefinitions,
  parseIncident,
  parseInstant,
  parseMaintenance,
  parseMonitor,
} from './rows.ts';
import type { Store, StoredIncident, StoredMaintenance, Subject, UpstreamRecord } from './store.ts';

/** Rows deleted in one transaction, so that retention never holds the lock for long. */
const RETAIN_ROWS_MAX = 5_000;

/** Creates the store over an open database; closing the store closes the database. */
export function createStore(database: Database): Store {
  /** Of the last pass. What follows from it, such as a release, is only written to disk after it. */
  let flushed = Promise.resolve();
  /** Writes while the lease is held. */
  const write = <R>(lease: Lease | undefined, work: (tx: Writer) => Promise<R>, options?: TransactionOptions) =>
    database.transaction(async (tx) => {
      if (lease !== undefined && !(await isHeld(tx, lease))) throw superseded(lease);
      return work(tx);
    }, options);
  return {
    database,
    ...upstreamReads(database),
    ...passReads(database),
    ...storyReads(database),
    ...runRecords(database),
    commitPass: async (commit) => {
      const before = flushed;
      flushed = Promise.resolve();
      await before;
      const result = await write(commit.lease, (tx) => commitPass(tx, commit), { isDurable: 'flushed' });
      flushed = database.flush();
      // Reported to the next pass.
      flushed.catch(() => undefined);
      return result;
    },
    cutFuture: (upstreamId, now, lease) => write(lease, (tx) => cutFuture(tx, upstreamId, now)),
    holdVanished: (upstreamId, hash, lease) =>
      write(lease, async (tx) => {
        await tx.run(
          'INSERT INTO upstream (id, held_hash) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET held_hash = excluded.held_hash',
          [upstreamId, hash],
        );
      }),
    keepPages: (upstreamId, pages, lease) =>
      write(lease, async (tx) => {
        await tx.run('UPDATE upstream SET definitions = ? WHERE id = ?', [JSON.stringify(pages), upstreamId]);
        await recordChanges(tx, upstreamId, { hasNewDefinitions: true });
      }),
    pasts: (ids: readonly MonitorId[], from: EpochMs) => readPasts(database, ids, from),
    firstSeenAt: (about) => readFirstSeen(database, about),
    entries: (page) => readEntries(database, page),
    changesSince: (revision) => readChanges(database, revision),
    firstPublishedAt: () => readFirstPublished(database),
    retain: (before, runsBefore = before) => retain(database, before, runsBefore),
    close: () => database.close(),
  };
}

/** Reads the stored state of upstreams and their monitors. */
function upstreamReads(database: Database): Pick<Store, 'upstreams' | 'upstreamTimes' | 'monitors' | 'monitorsById'> {
  return {
    upstreams: async () =>
      new Map((await database.all('SELECT * FROM upstream')).map((row) => [String(row['id']), toUpstream(row)])),
    upstreamTimes: async () => {
      const rows = await database.all(
        `SELECT id, monitors_at, incidents_at, pages_at, list_calls
         FROM upstream LEFT JOIN upstream_control ON upstream_control.upstream = upstream.id`,
      );
      return new Map(
        rows.map((row) => [
          String(row['id']),
          {
            monitorsAt: parseInstant(row['monitors_at']),
            incidentsAt: parseInstant(row['incidents_at']),
            pagesAt: parseInstant(row['pages_at']),
            listCalls: Number(row['list_calls'] ?? 0),
          },
        ]),
      );
    },
    monitors: async (upstreamId) => {
      const rows =
        upstreamId === undefined
          ? await database.all('SELECT document FROM monitor WHERE gone_at IS NULL')
          : await database.all('SELECT document FROM monitor WHERE gone_at IS NULL AND upstream = ?', [upstreamId]);
      return new Map(rows.map((row) => parseMonitor(row['document'])).map((monitor) => [monitor.id, monitor]));
    },
    monitorsById: async (ids) => {
      const rows = await readIn(database, ids, (list) => ({
        sql: `SELECT document FROM monitor WHERE gone_at IS NULL AND id IN (${list})`,
      }));
      return new Map(rows.map((row) => parseMonitor(row['document'])).map((monitor) => [monitor.id, monitor]));
    },
  };
}

/** Reads what a pass needs to know of earlier passes. */
function passReads(
  database: Database,
): Pick<Store, 'detailFetchedAt' | 'backfilledMonitors' | 'openStories' | 'openSubjects' | 'incidentsReadAt'> {
  return {
    detailFetchedAt: async (upstreamId) => {
      // All ids with this prefix; `0` is the character after `/`.
      const rows = await database.all('SELECT monitor, fetched_at FROM detail WHERE monitor >= ? AND monitor < ?', [
        `${upstreamId}/`,
        `${upstreamId}0`,
      ]);
      return new Map(
        rows.map((row) => [String(row['monitor']).slice(upstreamId.length + 1), Number(row['fetched_at']) as EpochMs]),
      );
    },
    backfilledMonitors: async (upstreamId) => {
      const rows = await database.all('SELECT id FROM monitor WHERE upstream = ? AND is_backfilled = 1', [upstreamId]);
      return new Set(rows.map(({ id }) => String(id).slice(upstreamId.length + 1)));
    },
    openStories: async (upstreamId) => {
      const rows = await database.all(
        'SELECT external_id, document FROM incident WHERE upstream = ? AND ended_at IS NULL AND withdrawn_at IS NULL',
        [upstreamId],
      );
      return new Map(
        rows.map((row) => [String(row['external_id']).slice(upstreamId.length + 1), parseIncident(row['document'])]),
      );
    },
    openSubjects: async (upstreamId) => {
      const rows = await database.all(
        `SELECT DISTINCT subject FROM event_subject WHERE event IN
           (SELECT id FROM incident WHERE upstream = ? AND ended_at IS NULL AND withdrawn_at IS NULL)`,
        [upstreamId],
      );
      return rows.map((row) => String(row['subject']) as Subject);
    },
    incidentsReadAt: async (upstreamId, limit) => {
      const rows = await database.all(
        `SELECT external_id, read_at FROM incident
         WHERE upstream = ? AND read_at IS NOT NULL AND withdrawn_at IS NULL ORDER BY read_at, id LIMIT ?`,
        [upstreamId, limit],
      );
      return new Map(
        rows.map((row) => [String(row['external_id']).slice(upstreamId.length + 1), Number(row['read_at']) as EpochMs]),
      );
    },
  };
}

function storyReads(
  database: Database,
): Pick<Store, 'incidents' | 'maintenances' | 'incidentsAbout' | 'maintenancesAbout'> {
  return {
    incidents: async (from) =>
      (await database.all(`${INCIDENTS} ORDER BY started_at DESC, id`, [from])).map(toIncident),
    maintenances: async (from) =>
      (await database.all(`${MAINTENANCES} ORDER BY starts_at DESC, id`, [from])).map(toMaintenance),
    incidentsAbout: async (about, from) =>
      (await readAbout(database, about, { sql: INCIDENTS, from }))
        .map(toIncident)
        .sort((a, b) => b.startedAt - a.startedAt || byId(a, b)),
    maintenancesAbout: async (about, from) =>
      (await readAbout(database, about, { sql: MAINTENANCES, from }))
        .map(toMaintenance)
        .sort((a, b) => b.startsAt - a.startsAt || byId(a, b)),
  };
}

function runRecords(database: Database): Pick<Store, 'recordRun' | 'runs'> {
  return {
    recordRun: (run) =>
      database.transaction(async (tx) => {
        await tx.run('INSERT INTO run (id, started_at, ended_at, trigger_name, report) VALUES (?, ?, ?, ?, ?)', [
          run.id,
          run.startedAt,
          run.endedAt,
          run.trigger,
          run.report,
        ]);
      }),
    runs: async (limit) => {
      const rows = await database.all('SELECT * FROM run ORDER BY started_at DESC, id DESC LIMIT ?', [limit]);
      return rows.map((row) => ({
        id: String(row['id']),
        startedAt: Number(row['started_at']) as EpochMs,
        endedAt: Number(row['ended_at']) as EpochMs,
        trigger: String(row['trigger_name']),
        report: String(row['report']),
      }));
    },
  };
}

const INCIDENTS = `SELECT id, document, changed_at, first_seen_at FROM incident
  WHERE withdrawn_at IS NULL AND (ended_at IS NULL OR ended_at > ?)`;
const MAINTENANCES = `SELECT id, document, sequence, changed_at, first_seen_at FROM maintenance
  WHERE withdrawn_at IS NULL AND ends_at > ?`;

/** Rows of `sql` about any of the given subjects, without duplicates. */
async function readAbout(
  database: Database,
  about: readonly Subject[],
  { sql, from }: { readonly sql: string; readonly from: EpochMs },
): Promise<readonly Row[]> {
  const rows = await readIn(database, about, (list) => ({
    sql: `${sql} AND id IN (SELECT event FROM event_subject WHERE subject IN (${list}))`,
    before: [from],
  }));
  return [...new Map(rows.map((row) => [row['id'], row])).values()];
}

function toIncident(row: Row): StoredIncident {
  return {
    ...parseIncident(row['document']),
    changedAt: Number(row['changed_at']) as EpochMs,
    firstSeenAt: Number(row['first_seen_at']) as EpochMs,
  };
}

function toMaintenance(row: Row): StoredMaintenance {
  return {
    ...parseMaintenance(row['document']),
    sequence: Number(row['sequence']),
    changedAt: Number(row['changed_at']) as EpochMs,
    firstSeenAt: Number(row['first_seen_at']) as EpochMs,
  };
}

function byId(a: { readonly id: string }, b: { readonly id: string }): number {
  return a.id < b.id ? -1 : 1;
}

const RETAINED: readonly { readonly table: string; readonly column: string; readonly key: readonly string[] }[] = [
  { table: 'span', column: 'to_at', key: ['monitor', 'from_at'] },
  { table: 'reported_span', column: 'to_at', key: ['monitor', 'from_at'] },
  { table: 'response_time', column: 'at', key: ['monitor', 'at'] },
  { table: 'incident', column: 'ended_at', key: ['id'] },
  { table: 'incident', column: 'withdrawn_at', key: ['id'] },
  { table: 'maintenance', column: 'ends_at', key: ['id'] },
  { table: 'written', column: 'deleted_at', key: ['id'] },
  { table: 'written_request', column: 'at', key: ['actor', 'request_key'] },
  { table: 'written_alert', column: 'changed_at', key: ['intake', 'alert_key'] },
  { table: 'entry', column: 'fell_at', key: ['page', 'id'] },
  { table: 'failed_question', column: 'at', key: ['upstream', 'question'] },
  { table: 'check_result', column: 'at', key: ['upstream', 'name', 'place'] },
  { table: 'run', column: 'started_at', key: ['id'] },
];

async function retain(database: Database, before: EpochMs, runsBefore: EpochMs): Promise<number> {
  let total = 0;
  for (const { table, column, key } of RETAINED) {
    const columns = key.join(', ');
    const sql = `DELETE FROM ${table} WHERE (${columns}) IN (SELECT ${columns} FROM ${table} WHERE ${column} IS NOT NULL AND ${column} < ? LIMIT ${RETAIN_ROWS_MAX})`;
    let gone = RETAIN_ROWS_MAX;
    while (gone === RETAIN_ROWS_MAX) {
      gone = await database.transaction((tx) => tx.run(sql, [table === 'run' ? runsBefore : before]));
      total += gone;
    }
  }
  await createAudit(database).forgetBefore(before);
  await database.transaction(forgetSubjects);
  return total;
}

function toUpstream(row: Row): UpstreamRecord {
  return {
    id: String(row['id']),
    monitorsAt: parseInstant(row['monitors_at']),
    incidentsAt: parseInstant(row['incidents_at']),
    pagesAt: parseInstant(row['pages_at']),
    isBackfilled: Number(row['is_backfilled']) === 1,
    definitions: parseDefinitions(row['definitions']),
    announcements: parseAnnouncements(row['announcements']),
    channels: parseChannels(row['channels']),
    channelsAt: parseInstant(row['channels_at']),
    heldHash: row['held_hash'] === null ? null : String(row['held_hash']),
  };
}

// After the clock was set back: cuts what an upstream's passes recorded for the future.

const TIMES = ['monitors_at', 'incidents_at', 'maintenances_at', 'pages_at', 'channels_at'] as const;

/**
 * Cuts what is recorded for an upstream after `now`, inside the caller's transaction: later spans are deleted, and each
 * monitor's last state begins now. Returns how far ahead of `now` the last answer was recorded, in ms; 0: nothing was.
 */
async function cutFuture(tx: Writer, upstreamId: string, now: EpochMs): Promise<number> {
  const [row] = await tx.all(`SELECT ${TIMES.join(', ')} FROM upstream WHERE id = ?`, [upstreamId]);
  const aheadMs = Math.max(0, ...TIMES.map((name) => (parseInstant(row?.[name]) ?? now) - now));
  if (aheadMs === 0) return 0;
  for (const name of TIMES)
    await tx.run(`UPDATE upstream SET ${name} = ? WHERE id = ? AND ${name} > ?`, [now, upstreamId, now]);
  const own = 'monitor IN (SELECT id FROM monitor WHERE upstream = ?)';
  const cut = await tx.all(`SELECT DISTINCT monitor FROM span WHERE (from_at >= ? OR to_at > ?) AND ${own}`, [
    now,
    now,
    upstreamId,
  ]);
  await tx.run(`DELETE FROM span WHERE from_at >= ? AND to_at IS NOT NULL AND ${own}`, [now, upstreamId]);
  await tx.run(`UPDATE span SET from_at = ? WHERE from_at > ? AND ${own}`, [now, now, upstreamId]);
  await tx.run(`UPDATE span SET to_at = ? WHERE to_at > ? AND ${own}`, [now, now, upstreamId]);
  // Otherwise they would not be fetched again until the clock has caught up.
  await tx.run(`UPDATE detail SET fetched_at = ? WHERE fetched_at > ? AND ${own}`, [now, now, upstreamId]);
  await tx.run(`DELETE FROM response_time WHERE at > ? AND ${own}`, [now, upstreamId]);
  await tx.run('UPDATE incident SET read_at = ? WHERE read_at > ? AND upstream = ?', [now, now, upstreamId]);
  await recordChanges(tx, upstreamId, { monitors: cut.map(({ monitor }) => String(monitor) as MonitorId) });
  return aheadMs;
}
