/** Reads the stored past of monitors in few statements. */

import { StatusError } from '../errors.ts';
import type { MonitorId, ResponseTime, UpstreamUptime } from '../model/observation.ts';
import type { ReportedDay, Span } from '../model/overlap.ts';
import { STATES, type State } from '../model/state.ts';
import type { Day, EpochMs } from '../model/time.ts';
import { inParts, type Reader, type SqlValue, type Values } from './database.ts';
import { parseUpstreamUptime } from './rows.ts';

const STATE_BY_NAME: ReadonlyMap<string, State> = new Map(STATES.map((state) => [state, state]));

interface Draft {
  observed: Span[];
  reported: Span[];
  reportedDays: ReportedDay[];
  responseTimes: ResponseTime[];
  uptime: UpstreamUptime | null;
}

/**
 * Everything about `ids` that reaches past `from`; lists sorted by time; one entry per id, empty if nothing is known.
 */
export async function readPasts(reader: Reader, ids: readonly MonitorId[], from: EpochMs) {
  const drafts = new Map<MonitorId, Draft>();
  for (const id of ids)
    drafts.set(id, { observed: [], reported: [], reportedDays: [], responseTimes: [], uptime: null });
  for (const some of inParts(ids)) await readSome(reader, some, from, drafts);
  return drafts;
}

async function readSome(
  reader: Reader,
  ids: readonly MonitorId[],
  from: EpochMs,
  drafts: ReadonlyMap<MonitorId, Draft>,
): Promise<void> {
  const list = ids.map(() => '?').join(', ');
  const fromDay = new Date(from).toISOString().slice(0, 10);
  const each = async (sql: string, params: readonly SqlValue[], take: (draft: Draft, row: Values) => void) => {
    for (const row of await reader.lists(sql, params)) {
      const draft = drafts.get(String(row[0]) as MonitorId);
      if (draft !== undefined) take(draft, row);
    }
  };

  await each(
    `SELECT span.monitor, span.state, span.from_at, COALESCE(span.to_at, upstream.monitors_at)
     FROM span JOIN monitor ON monitor.id = span.monitor JOIN upstream ON upstream.id = monitor.upstream
     WHERE span.monitor IN (${list}) AND (span.to_at IS NULL OR span.to_at > ?) ORDER BY span.monitor, span.from_at`,
    [...ids, from],
    ({ observed }, row) => observed.push(toSpan(row)),
  );
  await each(
    `SELECT monitor, state, from_at, to_at FROM reported_span WHERE monitor IN (${list}) AND to_at > ? ORDER BY monitor, from_at`,
    [...ids, from],
    ({ reported }, row) => reported.push(toSpan(row)),
  );
  await each(
    `SELECT monitor, day, operational, degraded, major_outage FROM reported_day
     WHERE monitor IN (${list}) AND day >= ? ORDER BY monitor, day`,
    [...ids, fromDay],
    ({ reportedDays }, [, day, operational, degraded, majorOutage]) =>
      reportedDays.push({
        day: String(day) as Day,
        operational: Number(operational),
        degraded: Number(degraded),
        major_outage: Number(majorOutage),
      }),
  );
  await each(
    `SELECT monitor, at, ms FROM response_time WHERE monitor IN (${list}) AND at > ? ORDER BY monitor, at`,
    [...ids, from],
    ({ responseTimes }, [, at, ms]) => responseTimes.push({ at: Number(at) as EpochMs, ms: Number(ms) }),
  );
  await each(`SELECT monitor, uptime FROM detail WHERE monitor IN (${list})`, ids, (draft, [, uptime]) => {
    draft.uptime = parseUpstreamUptime(uptime ?? 'null');
  });
}

function toSpan([monitor, name, from, to]: Values): Span {
  // Shared strings: the row's own would stay in memory as long as the span.
  const state = STATE_BY_NAME.get(String(name));
  if (state === undefined) {
    throw new StatusError({
      code: 'STORE_CORRUPT',
      message: `A stored span of ${String(monitor)} has the unknown state ${String(name)}. Restore a backup, or move the database aside to rebuild it from the upstreams.`,
    });
  }
  return { state, from: Number(from) as EpochMs, to: Number(to) as EpochMs };
}
