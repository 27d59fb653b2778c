/**
 * Cuts a time line into calendar days: how long each state lasted, the colour of the day, and the figures of days that are over,
 * as the signed log of a page records them.
 */

import { LRUCache } from 'lru-cache';
import { firstEndingAfter, PROVENANCES, type Provenance, type TimelineSpan } from './overlap.ts';
import type { ComponentModel } from './page.ts';
import { STATES, type State } from './state.ts';
import {
  addDays,
  type Day,
  dayOf,
  daysUntil,
  type EpochMs,
  earlier,
  HOUR_MS,
  type Interval,
  intervalOfDay,
  MINUTE_MS,
  toEpochMs,
} from './time.ts';
import { cutTimeline, stateAt } from './timeline.ts';
import { type MsByState, sumByState, sumCounted } from './uptime.ts';

/** A day is green or blue only if at least this share of its elapsed time was operational or in maintenance. */
export const MIN_GOOD_RATIO = 0.5;

/** Once trouble is over, it doesn't colour a day if it was no longer than this: one failed check at the usual interval of a minute. */
export const DEFAULT_BLIP_FLOOR_MS = MINUTE_MS;

export interface DayOptions {
  /** IANA time zone of the days. */
  readonly zone: string;
  readonly now: EpochMs;
  /** Trouble that is over and was no longer than this doesn't colour a day; 0: all trouble does. */
  readonly blipFloorMs?: number;
}

export interface DayCell {
  readonly day: Day;
  /** The whole day in its zone, even if it isn't over. */
  readonly interval: Interval;
  /** The part before now; 0 for future days. */
  readonly elapsedMs: number;
  /** Milliseconds in each state; they add up to `elapsedMs`. */
  readonly msByState: MsByState;
  /** The same as counted in uptime; the same object if nothing differs. */
  readonly countedMsByState: MsByState;
  /** Share of the elapsed part with a known state, 0 to 1; 0 for future days. */
  readonly coverageRatio: number;
  /** The colour. `unknown` is hatched. */
  readonly state: State;
  /** Whether there was an outage too short to colour the day. */
  readonly hadBlip: boolean;
  /** The sources of its known time, in the order of `PROVENANCES`. */
  readonly provenances: readonly Provenance[];
}

/** Bars, badges, images and JSON of a page all use the same days of the same time lines, with one set of options. */
const made = new WeakMap<
  readonly TimelineSpan[],
  { readonly options: DayOptions; readonly byDays: Map<readonly Day[], readonly DayCell[]> }
>();

/**
 * One cell for each of `days`, in the same order; today ends at `options.now`. Results are cached by identity: never
 * change a time line or a list of days after passing it in.
 */
export function dayCells(
  timeline: readonly TimelineSpan[],
  days: readonly Day[],
  options: DayOptions,
): readonly DayCell[] {
  const known = made.get(timeline);
  const { byDays } = known !== undefined && isAlike(known.options, options) ? known : { byDays: new Map() };
  if (known?.byDays !== byDays) made.set(timeline, { options, byDays });
  return byDays.getOrInsertComputed(days, () => listCells(timeline, days, options));
}

function isAlike(a: DayOptions, b: DayOptions): boolean {
  return a.now === b.now && a.zone === b.zone && a.blipFloorMs === b.blipFloorMs;
}

/** A day in one zone, with the cell for each state that can last all day. Most days of most components are like this. */
interface SteadyDay {
  readonly interval: Interval;
  /** By what lasted all day; `''`: nothing did yet, since it was first heard of later. */
  readonly cells: Map<string, DayCell>;
}

/** By zone and day; these cells are the same for all components. */
const steadyDays = new LRUCache<string, SteadyDay>({ max: 4_096 });
/** The same for whole lists of days, which all components of a page share. */
const steadyLists = new WeakMap<readonly Day[], { readonly zone: string; readonly list: readonly SteadyDay[] }>();

function listSteadyDays(days: readonly Day[], zone: string): readonly SteadyDay[] {
  const known = steadyLists.get(days);
  if (known?.zone === zone) return known.list;
  const list = days.map((day) => {
    const key = `${day} ${zone}`;
    const steady: SteadyDay = steadyDays.get(key) ?? { interval: intervalOfDay(day, zone), cells: new Map() };
    steadyDays.set(key, steady);
    return steady;
  });
  steadyLists.set(days, { zone, list });
  return list;
}

function listCells(timeline: readonly TimelineSpan[], days: readonly Day[], options: DayOptions): readonly DayCell[] {
  let span: TimelineSpan | undefined;
  let key = '';
  const list = listSteadyDays(days, options.zone);
  const begin = timeline[0]?.from ?? Number.POSITIVE_INFINITY;
  return days.map((day, index) => {
    const { interval, cells } = list[index] as SteadyDay;
    const isBefore = interval.to <= begin;
    // Spans that last for weeks are looked up only once.
    if (!isBefore && !holds(span, interval)) {
      span = timeline[firstEndingAfter(timeline, interval.from)];
      key = span === undefined ? '' : `${span.state} ${span.provenance} ${span.counted ?? ''}`;
    }
    if (interval.to > options.now || !(isBefore || holds(span, interval)))
      return dayCell(timeline, { day, interval }, options);
    // No function makes it if it is missing: making that for each of thousands of days takes longer than the rest.
    const known = cells.get(isBefore ? '' : key);
    if (known !== undefined) return known;
    const cell = dayCell(isBefore || span === undefined ? [] : [span], { day, interval }, options);
    cells.set(isBefore ? '' : key, cell);
    return cell;
  });
}

function holds(span: TimelineSpan | undefined, { from, to }: Interval): span is TimelineSpan {
  return span !== undefined && span.from <= from && span.to >= to;
}

function dayCell(
  timeline: readonly TimelineSpan[],
  { day, interval }: { readonly day: Day; readonly interval: Interval },
  { now, blipFloorMs = DEFAULT_BLIP_FLOOR_MS }: DayOptions,
): DayCell {
  const elapsed = { from: interval.from, to: earlier(interval.to, now) };
  const elapsedMs = Math.max(0, elapsed.to - elapsed.from);
  const pieces = cutTimeline(timeline, elapsed);
  const msByState = sumByState(pieces, elapsedMs);
  const running = now >= interval.from && now < interval.to ? stateAt(timeline, now) : null;
  const state = stateOfDay(msByState, { running, blipFloorMs });
  return {
    day,
    interval,
    elapsedMs,
    msByState,
    countedMsByState: sumCounted(pieces, msByState),
    coverageRatio: elapsedMs > 0 ? (elapsedMs - msByState.unknown) / elapsedMs : 0,
    state,
    hadBlip: msByState.major_outage + msByState.partial_outage > 0 && !isOutage(state),
    provenances: listProvenances(pieces),
  };
}

function isOutage(state: State): boolean {
  return state === 'major_outage' || state === 'partial_outage';
}

/** Most days have a single source, so these lists are shared. */
const ONE_PROVENANCE = new Map(PROVENANCES.map((provenance) => [provenance, Object.freeze([provenance])]));
const NO_PROVENANCE: readonly Provenance[] = Object.freeze([]);

function listProvenances(pieces: readonly TimelineSpan[]): readonly Provenance[] {
  const [first] = pieces;
  if (first === undefined) return NO_PROVENANCE;
  if (pieces.length === 1)
    return first.state === 'unknown' ? NO_PROVENANCE : (ONE_PROVENANCE.get(first.provenance) ?? NO_PROVENANCE);
  return PROVENANCES.filter((one) => pieces.some(({ state, provenance }) => provenance === one && state !== 'unknown'));
}

/**
 * The colour of a day, from the time in each state. Operational and maintenance time are good time.
 *
 * 1. The worst of major outage, partial outage and degraded that is still going on, or that lasted longer than the blip
 *    floor. Time in a worse state counts for the milder ones too: 40 s of one and 40 s of the other are 80 s of the
 *    milder. Trouble that outweighs the good time is never a blip.
 * 2. Otherwise, if less than `MIN_GOOD_RATIO` of the elapsed part was good: `paused` or `unknown`, whichever lasted
 *    longer.
 * 3. Otherwise `maintenance`, if it is going on, or lasted longer than the floor or than the operational time; else
 *    `operational`.
 *
 * Replacing any time with trouble never gives a better colour.
 *
 * @param running state at the end of the elapsed part; null: the day is over, or in the future
 */
function stateOfDay(
  ms: MsByState,
  { running, blipFloorMs }: { readonly running: State | null; readonly blipFloorMs: number },
): State {
  const goodMs = ms.operational + ms.maintenance;
  let troubleMs = 0;
  for (const state of TROUBLES) {
    troubleMs += ms[state];
    if (running === state || troubleMs > Math.min(blipFloorMs, goodMs)) return state;
  }
  const elapsedMs = troubleMs + goodMs + ms.paused + ms.unknown;
  if (goodMs === 0 || goodMs < elapsedMs * MIN_GOOD_RATIO) return ms.paused > ms.unknown ? 'paused' : 'unknown';
  const isMaintenance = running === 'maintenance' || ms.maintenance > Math.min(blipFloorMs, ms.operational);
  return isMaintenance ? 'maintenance' : 'operational';
}

const TROUBLES = ['major_outage', 'partial_outage', 'degraded'] as const;

/** The colour of the current day, and when it changes if nothing happens. */
export interface PresentColour {
  readonly state: State;
  readonly hadBlip: boolean;
  /** The time before the end of the day at which it changes; null if it doesn't. */
  readonly changesAt: EpochMs | null;
}

/** Both "is there news" and "when does the page change next" need this for the same time lines. */
const presents = new WeakMap<
  readonly TimelineSpan[],
  { readonly options: DayOptions; readonly colour: PresentColour }
>();

/**
 * Today's colour. A day that began badly turns green through good time alone, and an unknown day becomes known. Cached
 * by identity: never change a time line after passing it in.
 */
export function presentColour(timeline: readonly TimelineSpan[], options: DayOptions): PresentColour {
  const known = presents.get(timeline);
  if (known !== undefined && isAlike(known.options, options)) return known.colour;
  const colour = findPresentColour(timeline, options);
  presents.set(timeline, { options, colour });
  return colour;
}

function findPresentColour(
  timeline: readonly TimelineSpan[],
  { zone, now, blipFloorMs = DEFAULT_BLIP_FLOOR_MS }: DayOptions,
): PresentColour {
  const day = dayOf(now, zone);
  const interval = intervalOfDay(day, zone);
  const { state, hadBlip, msByState: ms } = dayCell(timeline, { day, interval }, { zone, now, blipFloorMs });
  const running = stateAt(timeline, now);
  // A day that has been in one state so far keeps its colour for as long as that goes on.
  if (now > interval.from && ms[running] === now - interval.from) return { state, hadBlip, changesAt: null };
  const goodMs = ms.operational + ms.maintenance;
  const elapsedMs = now - interval.from;
  const troubleMs = ms.major_outage + ms.partial_outage + ms.degraded;
  // Durations after which one side of a comparison above reaches the other.
  const edges = [
    0,
    ms.major_outage - goodMs,
    ms.major_outage + ms.partial_outage - goodMs,
    troubleMs - goodMs,
    Math.abs(elapsedMs - 2 * goodMs),
    Math.abs(ms.paused - ms.unknown),
    ms.maintenance - ms.operational,
  ];
  const change = edges
    .flatMap((edge) => [edge, edge + 1])
    .filter((after) => after > 0 && now + after < interval.to)
    .sort((a, b) => a - b)
    .find((after) => stateOfDay({ ...ms, [running]: ms[running] + after }, { running, blipFloorMs }) !== state);
  return { state, hadBlip, changesAt: change === undefined ? null : toEpochMs(now + change) };
}

/** The number of days that pages and `uptime.json` show. */
export const DAYS_COUNT = 90;
/** Upstreams may report on a day until shortly after midnight. */
const CLOSES_AFTER_MS = HOUR_MS;

/** Seconds in each state of the day. `counted` exists only if uptime counts them differently. */
export interface DayFigures {
  readonly seconds: Readonly<Partial<Record<State, number>>>;
  readonly counted?: Readonly<Partial<Record<State, number>>>;
}

/** The figures of one day of one component. */
export interface DayRecord {
  readonly component: string;
  readonly day: Day;
  /** `DayFigures` as JSON, for easy comparison. */
  readonly figures: string;
}

/** A change to the figures of a day. Null: nothing was known. */
export interface DayChange {
  readonly component: string;
  readonly day: Day;
  readonly was: string | null;
  readonly now: string | null;
}

/** Why the figures of a day changed. */
export const CORRECTION_REASONS = ['reported_later', 'counted_differently', 'history_changed'] as const;
type CorrectionReason = (typeof CORRECTION_REASONS)[number];

/** The last UTC day that is final at `asOf`. */
export function lastClosedDay(asOf: EpochMs): Day {
  return addDays(dayOf(toEpochMs(asOf - CLOSES_AFTER_MS), 'UTC'), -1);
}

/** The final figures of components by day; days without data are left out. */
export function closedDays(
  components: readonly Pick<ComponentModel, 'definition' | 'timeline'>[],
  asOf: EpochMs,
): DayRecord[] {
  const days = daysUntil(lastClosedDay(asOf), DAYS_COUNT);
  return components.flatMap(({ definition, timeline }) =>
    dayCells(timeline, days, { now: asOf, zone: 'UTC' }).flatMap((cell) =>
      cell.coverageRatio === 0
        ? []
        : [{ component: definition.id, day: cell.day, figures: written.getOrInsertComputed(cell, formatFigures) }],
    ),
  );
}

/** Most days are the same for many components. */
const written = new WeakMap<DayCell, string>();

/** As `JSON.stringify` writes `DayFigures`, in a quarter of the time: a page has thousands of them at each change. */
function formatFigures({ msByState: ms, countedMsByState: counted }: DayCell): string {
  return `{"seconds":${formatSeconds(ms)}${counted === ms ? '' : `,"counted":${formatSeconds(counted)}`}}`;
}

function formatSeconds(ms: MsByState): string {
  let all = '';
  for (const state of STATES) if (ms[state] !== 0) all += `${all === '' ? '' : ','}"${state}":${ms[state] / 1_000}`;
  return `{${all}}`;
}

/** What a log says about the days that are still shown. */
interface Committed {
  /** The last day in the log; null if there is none. */
  readonly through: Day | null;
  /** Null figures: they were withdrawn. */
  readonly days: readonly (Omit<DayRecord, 'figures'> & { readonly figures: string | null })[];
}

/**
 * Compares today's figures with those committed. A day is new if the log had not closed it, or if it lies before the
 * component's first committed day; any other difference is a change of history. Components no longer on the page are
 * ignored.
 *
 * @param shown  days with figures now, from `closedDays`
 * @param components  ids of the components on the page
 */
export function compareDays(
  { through, days: committed }: Committed,
  { shown, components, from }: { shown: readonly DayRecord[]; components: readonly string[]; from: Day },
): { readonly fresh: readonly DayRecord[]; readonly changes: readonly DayChange[] } {
  const known = committed.flatMap(({ figures, ...day }) => (figures === null ? [] : [{ ...day, figures }]));
  const remaining = new Map(known.map((record) => [dayKey(record), record.figures]));
  const firsts = new Map<string, Day>();
  for (const { component, day } of committed) if (day < (firsts.get(component) ?? '~')) firsts.set(component, day);
  const fresh: DayRecord[] = [];
  const changes: DayChange[] = [];
  for (const record of shown) {
    const was = remaining.get(dayKey(record)) ?? null;
    remaining.delete(dayKey(record));
    const { component, day, figures } = record;
    if (was === figures) continue;
    const isNew = was === null && (through === null || day > through || day < (firsts.get(component) ?? '~'));
    if (isNew) fresh.push(record);
    else changes.push({ component, day, was, now: figures });
  }
  const onPage = new Set(components);
  for (const { component, day, figures } of known)
    if (remaining.has(`${component} ${day}`) && day >= from && onPage.has(component))
      changes.push({ component, day, was: figures, now: null });
  return { fresh, changes };
}

function dayKey({ component, day }: Pick<DayRecord, 'component' | 'day'>): string {
  return `${component} ${day}`;
}

/** Why figures changed, as far as they show it. */
export function correctionReason({ was, now }: Pick<DayChange, 'was' | 'now'>): CorrectionReason {
  if (was === null) return 'reported_later';
  const [before, after] = [was, now ?? '{}'].map((text) => JSON.parse(text) as DayFigures);
  if (JSON.stringify(before?.seconds) === JSON.stringify(after?.seconds)) return 'counted_differently';
  const isFilledIn = STATES.every(
    (state) => state === 'unknown' || (before?.seconds[state] ?? 0) <= (after?.seconds?.[state] ?? 0),
  );
  return isFilledIn ? 'reported_later' : 'history_changed';
}
