/** Everything Pharos stores, over either database. The one big write is in commit-pass.ts. */

import type { Announcement, MonitorId, NotificationChannel, PageDefinition } from '../model/observation.ts';
import type { EpochMs } from '../model/time.ts';
import { createAudit } from './audit.ts';
import { commitPass } from './commit-pass.ts';
import {
  type Database,
  flag,
  instant,
  json,
  named,
  orNull,
  type Row,
  type RowOf,
  readIn,
  type TransactionOptions,
  table,
  text,
  type Writer,
} from './database.ts';
import { readEntries, readFirstPublished, readFirstSeen } from './identities.ts';
import { isHeld, type Lease, superseded } from './nodes/leases.ts';
import {
  type CommitResult,
  forgetSubjects,
  INCIDENT_STAMPS,
  MAINTENANCE_STAMPS,
  type PassCommit,
  readChanges,
  recordChanges,
  type StoredIncident,
  type StoredMaintenance,
  type Subject,
  TIMES,
  type UpstreamTimes,
} from './revisions.ts';
import {
  parseAnnouncements,
  parseChannels,
  parseDefinitions,
  parseIncident,
  parseInstant,
  parseMaintenance,
  parseMonitor,
  readPasts,
} from './rows.ts';

/** Rows deleted in one transaction, so that retention never holds the lock for long. */
const RETAIN_ROWS_MAX = 5_000;

export type Store = ReturnType<typeof createStore>;

/** Creates the store over an open database; closing the store closes the database. */
export function createStore(database: Database) {
  /** Of the last pass. What follows from it, such as a release, is only written to disk after it. */
  let flushed = Promise.resolve();
  /**
   * Writes while the lease is held.
   *
   * @throws STORE_UNAVAILABLE with `superseded` in its context, and changes nothing, if another process has the lease
   */
  const write = <R>(lease: Lease | undefined, work: (tx: Writer) => Promise<R>, options?: TransactionOptions) =>
    database.transaction(async (tx) => {
      if (lease !== undefined && !(await isHeld(tx, lease))) throw superseded(lease);
      return work(tx);
    }, options);
  return {
    /** For other stores (access, quota, outbox) over the same database. */
    database,
    ...upstreamReads(database),
    ...passReads(database),
    ...storyReads(database),
    /** @throws as `write` */
    commitPass: async (commit: PassCommit): Promise<CommitResult> => {
      const before = flushed;
      flushed = Promise.resolve();
      await before;
      const result = await write(commit.lease, (tx) => commitPass(tx, commit), { isDurable: 'flushed' });
      flushed = database.flush();
      // Reported to the next pass.
      flushed.catch(() => undefined);
      return result;
    },
    /**
     * After the clock was set back: cuts what was recorded for times after `now`. Returns how far ahead the last answer
     * was recorded, in ms; 0: nothing was.
     *
     * @throws as `write`
     */
    cutFuture: (upstreamId: string, now: EpochMs, lease?: Lease) =>
      write(lease, (tx) => cutFuture(tx, upstreamId, now)),
    /**
     * Stores the hash of a snapshot that lost more than half of its monitors, so that an identical next one is accepted.
     *
     * @throws as `write`
     */
    holdVanished: (upstreamId: string, hash: string | null, lease?: Lease) =>
      write(lease, async (tx) => {
        await tx.run(
          'INSERT INTO upstream (id, held_hash) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET held_hash = excluded.held_hash',
          [upstreamId, hash],
        );
      }),
    /**
     * Replaces the page definitions of an upstream, without a pass.
     *
     * @throws as `write`
     */
    keepPages: (upstreamId: string, pages: readonly PageDefinition[], lease?: Lease) =>
      write(lease, async (tx) => {
        await tx.run('UPDATE upstream SET definitions = ? WHERE id = ?', [JSON.stringify(pages), upstreamId]);
        await recordChanges(tx, upstreamId, { hasNewDefinitions: true });
      }),
    /** Everything about these monitors since `from`; one entry per id. */
    pasts: (ids: readonly MonitorId[], from: EpochMs) => readPasts(database, ids, from),
    /** When pages and components were first defined, if known. */
    firstSeenAt: (about: readonly Subject[]) => readFirstSeen(database, about),
    /** Automatic incidents of a page, by its definition's id. */
    entries: (page: string) => readEntries(database, page),
    /** Changes after `revision`; 0: everything. Cost is proportional to the changes. */
    changesSince: (revision: number) => readChanges(database, revision),
    /** When this store first published anything, which identifies it; null: never. */
    firstPublishedAt: () => readFirstPublished(database),
    recordRun: (run: RowOf<typeof RUNS>) => database.transaction((tx) => RUNS.insert(tx, [run])),
    runs: async (limit: number) =>
      (await database.all('SELECT * FROM run ORDER BY started_at DESC, id DESC LIMIT ?', [limit])).map(RUNS.read),
    /**
     * Deletes what ended before `before`, at most a batch at a time; returns the number of rows deleted.
     *
     * @param runsBefore for reports of runs, which are many. Default: `before`
     */
    retain: (before: EpochMs, runsBefore = before) => retain(database, before, runsBefore),
    close: () => database.close(),
  };
}

const RUNS = table('run', {
  id: text(),
  startedAt: instant(),
  endedAt: instant(),
  trigger: named('trigger_name', text()),
  /** JSON of the pass report, as the command line prints it. */
  report: text(),
});

const UPSTREAMS = table('upstream', {
  id: text(),
  ...TIMES,
  isBackfilled: flag(),
  definitions: json<readonly PageDefinition[]>(parseDefinitions),
  announcements: json<readonly Announcement[]>(parseAnnouncements),
  /** Channels of the upstream's own notifications. */
  channels: json<readonly NotificationChannel[]>(parseChannels),
  /** When they were last requested; null: never. */
  channelsAt: orNull(instant()),
  heldHash: orNull(text()),
});
export type UpstreamRecord = RowOf<typeof UPSTREAMS>;

/** Reads the stored state of upstreams and their monitors. */
function upstreamReads(database: Database) {
  const byId = (rows: readonly Row[]) =>
    new Map(rows.map((row) => parseMonitor(row['document'])).map((monitor) => [monitor.id, monitor]));
  return {
    upstreams: async () => {
      const rows = await database.all('SELECT * FROM upstream');
      return new Map(rows.map(UPSTREAMS.read).map((record) => [record.id, record]));
    },
    /** Age of each upstream's data, for those that have answered. */
    upstreamTimes: async (): Promise<ReadonlyMap<string, UpstreamTimes>> => {
      // A large site has hundreds, and reads them at each change.
      const rows = await database.lists(
        `SELECT id, monitors_at, incidents_at, pages_at, list_calls
         FROM upstream LEFT JOIN upstream_control ON upstream_control.upstream = upstream.id`,
      );
      return new Map(
        rows.map(([id, monitorsAt, incidentsAt, pagesAt, listCalls]) => [
          String(id),
          {
            monitorsAt: parseInstant(monitorsAt),
            incidentsAt: parseInstant(incidentsAt),
            pagesAt: parseInstant(pagesAt),
            listCalls: Number(listCalls),
          },
        ]),
      );
    },
    /** The last known monitors of an upstream, without those gone. */
    monitors: async (upstreamId?: string) => {
      const sql = 'SELECT document FROM monitor WHERE gone_at IS NULL';
      return byId(
        upstreamId === undefined
          ? await database.all(sql)
          : await database.all(`${sql} AND upstream = ?`, [upstreamId]),
      );
    },
    /** The same for these ids. */
    monitorsById: async (ids: readonly MonitorId[]) =>
      byId(
        await readIn(database, ids, (list) => ({
          sql: `SELECT document FROM monitor WHERE gone_at IS NULL AND id IN (${list})`,
        })),
      ),
  };
}

/** Reads what a pass needs to know of earlier passes. */
function passReads(database: Database) {
  /** A map by the id that the upstream gives. */
  const byOwnId = <T>(upstreamId: string, rows: readonly Row[], read: (row: Row) => T) =>
    new Map(rows.map((row) => [String(row['id']).slice(upstreamId.length + 1), read(row)]));
  const at = (row: Row): EpochMs => Number(row['at']) as EpochMs;
  return {
    /** When each monitor's detail was last fetched, by its id there. */
    detailFetchedAt: async (upstreamId: string) => {
      // All ids with this prefix; `0` is the character after `/`.
      const sql = 'SELECT monitor AS id, fetched_at AS at FROM detail WHERE monitor >= ? AND monitor < ?';
      return byOwnId(upstreamId, await database.all(sql, [`${upstreamId}/`, `${upstreamId}0`]), at);
    },
    /** Monitors whose history was requested (`Learned.backfilled`), by their id there. */
    backfilledMonitors: async (upstreamId: string) => {
      const rows = await database.all('SELECT id FROM monitor WHERE upstream = ? AND is_backfilled = 1', [upstreamId]);
      return new Set(rows.map(({ id }) => String(id).slice(upstreamId.length + 1)));
    },
    /** Open incidents of an upstream, by their id there. */
    openStories: async (upstreamId: string) => {
      const rows = await database.all(
        'SELECT external_id AS id, document FROM incident WHERE upstream = ? AND ended_at IS NULL AND withdrawn_at IS NULL',
        [upstreamId],
      );
      return byOwnId(upstreamId, rows, (row) => parseIncident(row['document']));
    },
    /** Subjects of an upstream's open incidents. */
    openSubjects: async (upstreamId: string) => {
      const rows = await database.all(
        `SELECT DISTINCT subject FROM event_subject WHERE event IN
           (SELECT id FROM incident WHERE upstream = ? AND ended_at IS NULL AND withdrawn_at IS NULL)`,
        [upstreamId],
      );
      return rows.map((row) => String(row['subject']) as Subject);
    },
    /** Incidents of an upstream whose full text is requested, least recently requested first, by their id there. */
    incidentsReadAt: async (upstreamId: string, limit: number) => {
      const rows = await database.all(
        `SELECT external_id AS id, read_at AS at FROM incident
         WHERE upstream = ? AND read_at IS NOT NULL AND withdrawn_at IS NULL ORDER BY read_at, incident.id LIMIT ?`,
        [upstreamId, limit],
      );
      return byOwnId(upstreamId, rows, at);
    },
  };
}

function storyReads(database: Database) {
  return {
    /** Incidents that are open or ended after `from`, newest start first. Withdrawn ones are left out here and below. */
    incidents: async (from: EpochMs) =>
      (await database.all(`${INCIDENTS} ORDER BY started_at DESC, id`, [from])).map(toIncident),
    /** Maintenances that end after `from`, newest start first. */
    maintenances: async (from: EpochMs) =>
      (await database.all(`${MAINTENANCES} ORDER BY starts_at DESC, id`, [from])).map(toMaintenance),
    /** The same, about any of `subjects`. */
    incidentsAbout: async (about: readonly Subject[], from: EpochMs) =>
      (await readAbout(database, INCIDENTS, about, from))
        .map(toIncident)
        .sort((a, b) => b.startedAt - a.startedAt || byId(a, b)),
    /** The same, about any of `subjects`. */
    maintenancesAbout: async (about: readonly Subject[], from: EpochMs) =>
      (await readAbout(database, MAINTENANCES, about, from))
        .map(toMaintenance)
        .sort((a, b) => b.startsAt - a.startsAt || byId(a, b)),
  };
}

const INCIDENTS = `SELECT id, document, changed_at, first_seen_at FROM incident
  WHERE withdrawn_at IS NULL AND (ended_at IS NULL OR ended_at > ?)`;
const MAINTENANCES = `SELECT id, document, sequence, changed_at, first_seen_at FROM maintenance
  WHERE withdrawn_at IS NULL AND ends_at > ?`;

/** Rows of `sql` about any of the given subjects, without duplicates. */
async function readAbout(database: Database, sql: string, about: readonly Subject[], from: EpochMs) {
  const rows = await readIn(database, about, (list) => ({
    sql: `${sql} AND id IN (SELECT event FROM event_subject WHERE subject IN (${list}))`,
    before: [from],
  }));
  return [...new Map(rows.map((row) => [row['id'], row])).values()];
}

function toIncident(row: Row): StoredIncident {
  return { ...parseIncident(row['document']), ...INCIDENT_STAMPS.read(row) };
}

function toMaintenance(row: Row): StoredMaintenance {
  return { ...parseMaintenance(row['document']), ...MAINTENANCE_STAMPS.read(row) };
}

function byId(a: { readonly id: string }, b: { readonly id: string }): number {
  return a.id < b.id ? -1 : 1;
}

/** By table: the column with the time that decides, and the columns of the key. */
const RETAINED: readonly (readonly [table: string, column: string, key: string])[] = [
  ['span', 'to_at', 'monitor, from_at'],
  ['reported_span', 'to_at', 'monitor, from_at'],
  ['response_time', 'at', 'monitor, at'],
  ['incident', 'ended_at', 'id'],
  ['incident', 'withdrawn_at', 'id'],
  ['maintenance', 'ends_at', 'id'],
  ['written', 'deleted_at', 'id'],
  ['written_request', 'at', 'actor, request_key'],
  ['written_alert', 'changed_at', 'intake, alert_key'],
  ['entry', 'fell_at', 'page, id'],
  ['failed_question', 'at', 'upstream, question'],
  ['check_result', 'at', 'upstream, name, place'],
  ['run', 'started_at', 'id'],
];

async function retain(database: Database, before: EpochMs, runsBefore: EpochMs): Promise<number> {
  let total = 0;
  for (const [name, column, key] of RETAINED) {
    const sql = `DELETE FROM ${name} WHERE (${key}) IN (SELECT ${key} FROM ${name} WHERE ${column} IS NOT NULL AND ${column} < ? LIMIT ${RETAIN_ROWS_MAX})`;
    let gone = RETAIN_ROWS_MAX;
    while (gone === RETAIN_ROWS_MAX) {
      gone = await database.transaction((tx) => tx.run(sql, [name === 'run' ? runsBefore : before]));
      total += gone;
    }
  }
  await createAudit(database).forgetBefore(before);
  await database.transaction(forgetSubjects);
  return total;
}

// After the clock was set back: cuts what an upstream's passes recorded for the future.

const READ_AT = ['monitors_at', 'incidents_at', 'maintenances_at', 'pages_at', 'channels_at'] as const;

/**
 * Cuts what is recorded for an upstream after `now`, inside the caller's transaction: later spans are deleted, and each
 * monitor's last state begins now. Returns how far ahead of `now` the last answer was recorded, in ms; 0: nothing was.
 */
async function cutFuture(tx: Writer, upstreamId: string, now: EpochMs): Promise<number> {
  const [row] = await tx.all(`SELECT ${READ_AT.join(', ')} FROM upstream WHERE id = ?`, [upstreamId]);
  const aheadMs = Math.max(0, ...READ_AT.map((name) => (parseInstant(row?.[name]) ?? now) - now));
  if (aheadMs === 0) return 0;
  for (const name of READ_AT)
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
