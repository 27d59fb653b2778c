/** What the time line costs: 90 days of 1,000 components, and recording passes over 10,000 monitors. */

import { dayCells } from '../../src/model/days.ts';
import { type MonitorId, toMonitorId } from '../../src/model/observation.ts';
import type { History, Span, TimelineSpan } from '../../src/model/overlap.ts';
import { STATES, type State } from '../../src/model/state.ts';
import { DAY_MS, dayOf, daysUntil, type EpochMs, MINUTE_MS, toEpochMs } from '../../src/model/time.ts';
import { recordPass, type Sighting, timelineOf } from '../../src/model/timeline.ts';
import { uptimePeriods } from '../../src/model/uptime.ts';
import { judge } from './budget.ts';

const NOW = toEpochMs(Date.parse('2026-11-21T09:13:00Z'));
const ZONE = 'Europe/Berlin';
const RUNS = 7;

/** Prints the figures; each is the median of several runs in one process, in milliseconds of CPU. */
export async function run(): Promise<void> {
  for (const spansTotal of [30, 300]) benchViews(1_000, spansTotal);
  for (const changedTotal of [0, 100, 10_000]) benchPass(10_000, changedTotal);
}

function benchViews(componentsTotal: number, spansTotal: number): void {
  const window = { from: toEpochMs(NOW - 400 * DAY_MS), to: NOW };
  const histories = Array.from({ length: componentsTotal }, (_, index) => historyOf(index, spansTotal));
  const days = daysUntil(dayOf(NOW, ZONE), 90);
  let timelines: TimelineSpan[][] = [];
  const lines = cpuMs(() => {
    timelines = histories.map((history) => timelineOf(history, window));
  });
  const cells = cpuMs(() => {
    for (const timeline of timelines) dayCells(timeline, days, { zone: ZONE, now: NOW });
  });
  const periods = cpuMs(() => {
    for (const timeline of timelines) uptimePeriods(timeline, NOW);
  });
  const name = `${componentsTotal} components, ${spansTotal} spans each`;
  judge({ name: `${name}: time lines over 400 days`, figure: lines, unit: 'ms CPU' });
  judge({ name: `${name}: 90 day cells each`, figure: cells, unit: 'ms CPU' });
  judge({ name: `${name}: uptime over 5 periods each`, figure: periods, unit: 'ms CPU' });
}

/** Four hundred days of spans one after the other, every other one operational, and some incidents and windows. */
function historyOf(seed: number, spansTotal: number): History {
  const lengthMs = (400 * DAY_MS) / spansTotal;
  const start = NOW - 400 * DAY_MS + (seed % 1_000) * 1_000;
  const stretch = (index: number, offsetMs: number, ms: number) => {
    const from = Math.floor(start + index * lengthMs + offsetMs);
    return { from: toEpochMs(from), to: toEpochMs(from + ms) };
  };
  const observed = Array.from({ length: spansTotal }, (_, index): Span => {
    const state: State = index % 2 === 0 ? 'operational' : (STATES[(index + seed) % STATES.length] ?? 'unknown');
    return { state, ...stretch(index, 0, Math.floor(lengthMs)) };
  });
  const some = Array.from({ length: Math.ceil(spansTotal / 10) }, (_, index) => index * 10);
  return {
    observed,
    reported: [],
    outages: some.map((index) => stretch(index, 5_000, 10 * MINUTE_MS)),
    maintenances: some.map((index) => stretch(index, DAY_MS, 60 * MINUTE_MS)),
  };
}

function benchPass(monitorsTotal: number, changedTotal: number): void {
  const ids = Array.from({ length: monitorsTotal }, (_, index) => toMonitorId('edge', index));
  const lastStates = new Map<MonitorId, State>(ids.map((id) => [id, 'operational']));
  const seen = ids.map((id, index): Sighting => ({ id, state: index < changedTotal ? 'major_outage' : 'operational' }));
  const lastAt = (NOW - MINUTE_MS) as EpochMs;
  const figure = cpuMs(() => {
    recordPass({ at: NOW, lastAt, lastStates, seen, silenceMs: 2 * MINUTE_MS });
  });
  judge({
    name: `a pass over ${monitorsTotal} monitors, ${changedTotal} changed: what to write`,
    figure: figure,
    unit: 'ms CPU',
  });
}

/** Milliseconds of CPU that `task` takes: the median of `RUNS` after one to warm up. */
function cpuMs(task: () => void): number {
  task();
  const figures = Array.from({ length: RUNS }, () => {
    const before = process.cpuUsage();
    task();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  return figures.sort((a, b) => a - b)[Math.floor(RUNS / 2)] ?? Number.NaN;
}
