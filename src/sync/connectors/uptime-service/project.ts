/** What monitors and figures of the uptime service mean. */

import { type MonitorDetail, type MonitorObservation, type Problem, toMonitorId } from '../../../model/observation.ts';
import type { ReportedDay } from '../../../model/overlap.ts';
import type { State } from '../../../model/state.ts';
import type { Day, EpochMs } from '../../../model/time.ts';
import { note, parseItems, projectMonitorLists, unknownMonitor } from '../items.ts';
import { createDetail } from '../measurements.ts';
import { MONITOR_WORDS } from '../page-words.ts';
import { FlagSchema, stateFromWord, unknownWord } from '../wire.ts';
import {
  ComponentDaysSchema,
  DayBucketSchema,
  ID_FIELD,
  type Monitor,
  MonitorSchema,
  type MonitorSummary,
  type MonitorsAnswer,
  wordOf,
} from './schema.ts';

/** Monitors of all kinds with their states, sorted by id; never throws. */
export function projectMonitors(
  answers: readonly MonitorsAnswer[],
  upstreamId: string,
): { monitors: MonitorObservation[]; problems: Problem[]; itemsTotal: number } {
  const lists = answers.flatMap((answer) => answer.lists);
  const projected = projectMonitorLists<Monitor>(
    lists.map(({ kind, place, items }) => ({
      place,
      items,
      schema: MonitorSchema,
      idField: ID_FIELD,
      project: (item, at) => projectMonitor(item, at, { upstreamId, kind }),
      placeholder: (externalId) => ({ ...unknownMonitor(upstreamId, externalId, kind), isPublic: false }),
    })),
  );
  const itemsTotal = lists.reduce((sum, list) => sum + list.items.length, 0);
  const total = answers[0]?.total ?? 0;
  const hidden =
    total > itemsTotal
      ? [
          note(
            'list monitors',
            `the service counts ${total} and lists ${itemsTotal}; its API leaves out ICMP, UDP and TLS monitors`,
          ),
        ]
      : [];
  return { ...projected, problems: [...projected.problems, ...hidden], itemsTotal };
}

function projectMonitor(
  item: Monitor,
  place: string,
  { upstreamId, kind }: { upstreamId: string; kind: string },
): { monitor: MonitorObservation; problems: Problem[] } {
  const problems: Problem[] = [];
  const isPublic = FlagSchema.nullish().safeParse(item.public);
  if (!isPublic.success) problems.push(unknownWord(`${place}.public`, item.public));
  const isActive = FlagSchema.optional().safeParse(item.active);
  if (!isActive.success) problems.push(unknownWord(`${place}.active`, item.active));
  // The service leaves the status out when it is not specified: that is an answer, not a word we do not know.
  const word = wordOf(item.status, 'MONITOR_STATUS_') ?? 'unspecified';
  const status = stateFromWord(MONITOR_WORDS, word, `${place}.status`);
  const state: State = !isActive.success ? 'unknown' : isActive.data === false ? 'paused' : status.state;
  return {
    monitor: {
      ...unknownMonitor(upstreamId, item.id, kind),
      name: item.name,
      description: item.description,
      target: item.url ?? item.uri,
      state,
      isPublic: isPublic.success && isPublic.data === true,
    },
    problems: [...problems, ...status.problems],
  };
}

/** Days of the past as the service counted its checks, by monitor; static components have none. */
export function projectDays(
  components: readonly unknown[],
  lastDay: Day,
): { days: Map<string, ReportedDay[]>; problems: Problem[] } {
  const parsed = parseItems(ComponentDaysSchema, components, 'dailySummary.components');
  const problems: Problem[] = parsed.problems.map((problem) => ({ ...problem, kind: 'note' }));
  const days = new Map<string, ReportedDay[]>();
  for (const component of parsed.items) {
    if (component.monitorId === undefined || component.monitorId === null) continue;
    const place = `dailySummary.${component.monitorId}`;
    const buckets = parseItems(DayBucketSchema, component.buckets, place);
    problems.push(...buckets.problems.map((problem): Problem => ({ ...problem, kind: 'note' })));
    const counted = buckets.items.flatMap((bucket): ReportedDay[] => {
      const day = bucket.day.slice(0, 10) as Day;
      const sum = bucket.ok + bucket.degraded + bucket.error;
      if (bucket.count === 0 || day > lastDay) return [];
      // Checks that are neither: nothing is said of such a day rather than something too good.
      if (sum !== bucket.count) {
        problems.push({ kind: 'note', place: `${place}.${day}`, message: 'its counts don’t add up' });
        return [];
      }
      return [{ day, operational: bucket.ok, degraded: bucket.degraded, major_outage: bucket.error }];
    });
    const known = days.get(component.monitorId) ?? [];
    const byDay = new Map([...known, ...counted].map((entry) => [entry.day, entry]));
    days.set(
      component.monitorId,
      [...byDay.values()].toSorted((a, b) => (a.day < b.day ? -1 : 1)),
    );
  }
  return { days, problems };
}

/** What one monitor's summary and days say. */
export function projectDetail(
  externalId: string,
  facts: {
    readonly upstreamId: string;
    readonly fetchedAt: EpochMs;
    readonly summary: MonitorSummary | null;
    readonly periodDays: number;
    readonly days: readonly ReportedDay[];
  },
): MonitorDetail {
  const { summary } = facts;
  const up = summary === null ? 0 : summary.totalSuccessful + summary.totalDegraded;
  const total = summary === null ? 0 : up + summary.totalFailed;
  return createDetail(toMonitorId(facts.upstreamId, externalId), facts.fetchedAt, {
    uptime:
      total === 0
        ? null
        : {
            periodDays: facts.periodDays,
            checksTotal: total,
            checksUp: up,
            uptimeRatio: null,
            responseTimeAverageMs: null,
          },
    reportedDays: facts.days,
  });
}
