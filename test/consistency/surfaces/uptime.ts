/** Uptime and reports, figure by figure. */

import { STATES } from '../../../src/model/state.ts';
import { type Check, compareStories, iso, jsonOf, same } from '../check.ts';
import {
  added,
  dayStates,
  daysUpTo,
  monthWindow,
  periodWindow,
  ratioText,
  type Sums,
  shareText,
  stateIn,
  sumsIn,
} from '../figures.ts';
import { type JsonEvent, readEvent } from './json.ts';

interface Figures {
  readonly uptime_ratio: number | null;
  readonly uptime_ratio_with_maintenance: number | null;
  readonly coverage_ratio: number;
  readonly seconds: Readonly<Record<string, number>>;
  readonly counted_seconds: Readonly<Record<string, number>>;
}

interface UptimeJson {
  readonly as_of: string;
  readonly state: string;
  readonly stale: boolean;
  readonly periods: Readonly<Record<string, Figures>>;
  readonly days: readonly string[];
  readonly day_seconds: readonly number[];
  readonly components: readonly {
    readonly id: string;
    readonly state: string;
    readonly periods: Readonly<Record<string, Figures>>;
    readonly days: { readonly state: readonly string[]; readonly seconds: Readonly<Record<string, readonly number[]>> };
  }[];
}

const PERIODS: Readonly<Record<string, number>> = { '24h': 1, '7d': 7, '30d': 30, '90d': 90, '365d': 365 };

export function checkUptimeJson(check: Check): void {
  const { expected } = check;
  const json = jsonOf<UptimeJson>(check, 'api/uptime.json');
  same(check, 'uptime.json: as_of', json.as_of, iso(expected.asOf));
  same(check, 'uptime.json: state', json.state, expected.state);
  same(check, 'uptime.json: stale', json.stale, expected.isStale);
  const days = daysUpTo(expected.asOf, expected.world.zone, 90);
  same(
    check,
    'uptime.json: days',
    json.days,
    days.map(({ date }) => date),
  );
  same(
    check,
    'uptime.json: day_seconds',
    json.day_seconds,
    days.map(({ from, to }) => (to - from) / 1_000),
  );
  for (const [period, length] of Object.entries(PERIODS)) {
    const { from, to } = periodWindow(expected.asOf, length);
    const each = expected.lines.map(
      ({ pieces }) => [sumsIn(pieces, from, to), sumsIn(pieces, from, to, 'counted')] as const,
    );
    checkFigures(check, `uptime.json: ${period}`, {
      read: json.periods[period],
      shown: added(each.map(([shown]) => shown)),
      counted: added(each.map(([, counted]) => counted)),
    });
    for (const [index, [shown, counted]] of each.entries())
      checkFigures(check, `uptime.json: ${expected.lines[index]?.component.name} ${period}`, {
        read: json.components[index]?.periods[period],
        shown,
        counted,
      });
  }
  for (const [index, { component, state, pieces }] of expected.lines.entries()) {
    const read = json.components[index];
    const sums = days.map(({ from, to }) => sumsIn(pieces, from, to));
    same(check, `uptime.json: ${component.name}: state`, [read?.id, read?.state], [component.id, state]);
    same(
      check,
      `uptime.json: ${component.name}: days`,
      read?.days.state,
      dayStates(sums, stateIn(pieces, expected.asOf)),
    );
    for (const one of STATES)
      same(
        check,
        `uptime.json: ${component.name}: ${one}`,
        read?.days.seconds[one],
        sums.map((sum) => sum[one] / 1_000),
      );
  }
}

function checkFigures(
  check: Check,
  where: string,
  { read, shown, counted }: { readonly read: Figures | undefined; readonly shown: Sums; readonly counted: Sums },
): void {
  const text = (value: number | null | undefined): string | null => (value == null ? null : String(value));
  same(check, `${where}: uptime_ratio`, text(read?.uptime_ratio), ratioText(counted, 6));
  const withMaintenance = { ...counted, operational: counted.operational + counted.maintenance, maintenance: 0 };
  same(
    check,
    `${where}: uptime_ratio_with_maintenance`,
    text(read?.uptime_ratio_with_maintenance),
    ratioText(withMaintenance, 6),
  );
  const all = STATES.reduce((sum, state) => sum + shown[state], 0);
  same(
    check,
    `${where}: coverage_ratio`,
    text(read?.coverage_ratio),
    all === 0 ? '0' : shareText(BigInt(all - shown.unknown), BigInt(all), 4),
  );
  const seconds = (sums: Sums) => STATES.map((state) => sums[state] / 1_000);
  same(
    check,
    `${where}: seconds`,
    STATES.map((state) => read?.seconds[state]),
    seconds(shown),
  );
  same(
    check,
    `${where}: counted_seconds`,
    STATES.map((state) => read?.counted_seconds[state]),
    seconds(counted),
  );
}

interface ReportJson {
  readonly from: string;
  readonly to: string;
  readonly is_over: boolean;
  readonly uptime: Figures;
  readonly components: readonly { readonly id: string; readonly uptime: Figures; readonly incident_count: number }[];
  readonly incidents: readonly (JsonEvent & { readonly seconds: number })[];
}

/** What reports are counted to: the last heartbeat, as the newest one says. */
export function heartbeatOf(files: ReadonlyMap<string, string>): number {
  const newest =
    [...files.keys()]
      .filter((path) => /^reports\/\d{4}-\d\d\/report.json$/.test(path))
      .sort()
      .at(-1) ?? '';
  return Date.parse((JSON.parse(files.get(newest) ?? '{}') as ReportJson).to);
}

export function checkReportJson(check: Check): void {
  const { expected, atHeartbeat } = check;
  for (const path of check.files.keys()) {
    const month = /^reports\/(\d{4}-\d\d)\/report.json$/.exec(path)?.[1];
    if (month === undefined) continue;
    const json = jsonOf<ReportJson>(check, path);
    const { from, to, end } = monthWindow(month, expected.world.zone, atHeartbeat.asOf);
    const where = `report.json ${month}`;
    same(check, `${where}: window`, [json.from, json.to, json.is_over], [iso(from), iso(to), atHeartbeat.asOf >= end]);
    const touching = expected.stories.filter(
      ({ startedAt, endedAt }) => startedAt < to && (endedAt === null || endedAt > from || startedAt >= from),
    );
    const each = expected.lines.map(
      ({ pieces }) => [sumsIn(pieces, from, to), sumsIn(pieces, from, to, 'counted')] as const,
    );
    checkFigures(check, where, {
      read: json.uptime,
      shown: added(each.map(([shown]) => shown)),
      counted: added(each.map(([, counted]) => counted)),
    });
    for (const [index, [shown, counted]] of each.entries()) {
      const id = expected.lines[index]?.component.id ?? '';
      const read = json.components[index];
      checkFigures(check, `${where}: ${id}`, { read: read?.uptime, shown, counted });
      same(
        check,
        `${where}: ${id}: incidents`,
        read?.incident_count,
        touching.filter(({ componentIds }) => componentIds.includes(id)).length,
      );
    }
    compareStories(
      check,
      json.incidents.map((one) => readEvent(check, one)),
      touching,
      { where },
    );
  }
}
