/** The remembered past of some monitors, read in few statements. */

import { StatusError } from '../errors.ts';
import type { MonitorId, ResponseTime, UpstreamUptime } from '../model/observation.ts';
import type { MonitorPast } from '../model/reported.ts';
import type { ReportedDay, Span } from '../model/span.ts';
import { STATES, type State } from '../model/state.ts';
import type { Day, EpochMs } from '../model/time.ts';
import { padded, type Reader, type Row } from './database.ts';
import { parseUpstreamUptime } from './rows.ts';

/** Parameters of one statement; SQLite and Postgres both take far more. */
const IDS_PER_STATEMENT = 512;
const KNOWN_STATES: ReadonlySet<string> = new Set(STATES);

interface Draft {
  observed: Span[];
  reported: Span[];
  reportedDays: ReportedDay[];
  responseTimes: ResponseTime[];
  uptime: UpstreamUptime | null;
}

/** Everything about `ids` that reaches past `from`; lists sorted by time; one entry per id, empty where nothing is known. */
export async function readPasts(
  reader: Reader,
  ids: readonly MonitorId[],
  from: EpochMs,
): Promise<ReadonlyMap<MonitorId, MonitorPast>> {
  const drafts = new Map<MonitorId, Draft>();
  for (const id of ids)
    drafts.set(id, { observed: [], reported: [], reportedDays: [], responseTimes: [], uptime: null });
  for (let start = 0; start < ids.length; start += IDS_PER_STATEMENT) {
    await readSome(reader, { ids: padded(ids.slice(start, start + IDS_PER_STATEMENT)), from, drafts });
  }
  return drafts;
}

async function readSome(
  reader: Reader,
  { ids, from, drafts }: { ids: readonly MonitorId[]; from: EpochMs; drafts: Map<MonitorId, Draft> },
): Promise<void> {
  const list = ids.map(() => '?').join(', ');
  const draftOf = (row: Row): Draft | undefined => drafts.get(String(row['monitor']) as MonitorId);
  const fromDay = new Date(from).toISOString().slice(0, 10);

  const observed = await reader.all(
    `SELECT span.monitor, span.from_at, COALESCE(span.to_at, upstream.monitors_at) AS to_at, span.state
     FROM span JOIN monitor ON monitor.id = span.monitor JOIN upstream ON upstream.id = monitor.upstream
     WHERE span.monitor IN (${list}) AND (span.to_at IS NULL OR span.to_at > ?) ORDER BY span.monitor, span.from_at`,
    [...ids, from],
  );
  for (const row of observed) draftOf(row)?.observed.push(toSpan(row));

  const reported = await reader.all(
    `SELECT monitor, from_at, to_at, state FROM reported_span WHERE monitor IN (${list}) AND to_at > ? ORDER BY monitor, from_at`,
    [...ids, from],
  );
  for (const row of reported) draftOf(row)?.reported.push(toSpan(row));

  const days = await reader.all(
    `SELECT * FROM reported_day WHERE monitor IN (${list}) AND day >= ? ORDER BY monitor, day`,
    [...ids, fromDay],
  );
  for (const row of days) {
    draftOf(row)?.reportedDays.push({
      day: String(row['day']) as Day,
      operational: Number(row['operational']),
      degraded: Number(row['degraded']),
      major_outage: Number(row['major_outage']),
    });
  }

  const times = await reader.all(
    `SELECT monitor, at, ms FROM response_time WHERE monitor IN (${list}) AND at > ? ORDER BY monitor, at`,
    [...ids, from],
  );
  for (const row of times)
    draftOf(row)?.responseTimes.push({ at: Number(row['at']) as EpochMs, ms: Number(row['ms']) });

  const details = await reader.all(`SELECT monitor, uptime FROM detail WHERE monitor IN (${list})`, ids);
  for (const row of details) {
    const draft = draftOf(row);
    if (draft !== undefined) draft.uptime = parseUpstreamUptime(row['uptime'] ?? 'null');
  }
}

function toSpan(row: Row): Span {
  const state = String(row['state']);
  if (!KNOWN_STATES.has(state)) {
    throw new StatusError({
      code: 'STORE_CORRUPT',
      message: `A stored span of ${String(row['monitor'])} is in no state we know: ${state}.`,
    });
  }
  return { state: state as State, from: Number(row['from_at']) as EpochMs, to: Number(row['to_at']) as EpochMs };
}
