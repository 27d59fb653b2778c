/** Days and uptime of a line, counted piece by piece in whole milliseconds and written down without floating point. */

import { STATES, type State } from '../../src/model/state.ts';
import type { OraclePiece } from '../unit/model/oracle.ts';

const DAY_MS = 86_400_000;
const BLIP_MS = 60_000;

/** Milliseconds in each state; and how much of them somebody looked at. */
export type Sums = Readonly<Record<State, number>> & { readonly seen: number };

/** Milliseconds in each state inside a window; what no piece covers is unknown. */
export function sumsIn(
  pieces: readonly OraclePiece[],
  from: number,
  to: number,
  reading: 'state' | 'counted' = 'state',
): Sums {
  const sums = Object.fromEntries(STATES.map((state) => [state, 0])) as Record<State, number>;
  let covered = 0;
  let seen = 0;
  for (const piece of pieces) {
    const ms = Math.max(0, Math.min(piece.to, to) - Math.max(piece.from, from));
    sums[piece[reading]] += ms;
    covered += ms;
    if (piece.isSeen) seen += ms;
  }
  sums.unknown += Math.max(0, to - from - covered);
  return { ...sums, seen };
}

export function added(all: readonly Sums[]): Sums {
  const keys = [...STATES, 'seen'] as const;
  return Object.fromEntries(keys.map((key) => [key, all.reduce((sum, one) => sum + one[key], 0)])) as unknown as Sums;
}

/**
 * Up and all that counts, in tenths of milliseconds: a partial outage is three tenths down. Nothing counts where less than a
 * hundredth was seen.
 */
function tenths(sums: Sums): { readonly up: bigint; readonly all: bigint } {
  const length = STATES.reduce((sum, state) => sum + sums[state], 0);
  if (sums.seen * 100 < length) return { up: 0n, all: 0n };
  const counted = sums.operational + sums.degraded + sums.partial_outage + sums.major_outage;
  return {
    all: BigInt(counted) * 10n,
    up: BigInt(counted) * 10n - BigInt(sums.major_outage) * 10n - BigInt(sums.partial_outage) * 3n,
  };
}

/** `0.998765`: as many digits, rounded down; null: nothing counts. */
export function ratioText(sums: Sums, digits: number): string | null {
  const { up, all } = tenths(sums);
  return all === 0n ? null : shareText(up, all, digits);
}

export function shareText(part: bigint, all: bigint, digits: number): string {
  const scaled = (part * 10n ** BigInt(digits)) / all;
  const text = scaled.toString().padStart(digits + 1, '0');
  return String(Number(`${text.slice(0, -digits)}.${text.slice(-digits)}`));
}

/** `99.87%`, `100%` only where nothing was down, `–` where nothing counts. */
export function percentText(sums: Sums): string {
  const { up, all } = tenths(sums);
  if (all === 0n) return '–';
  if (up === all) return '100%';
  const scaled = ((up * 10_000n) / all).toString().padStart(3, '0');
  return `${scaled.slice(0, -2)}.${scaled.slice(-2)}%`;
}

export interface Day {
  /** `2026-11-21` in the zone of the page. */
  readonly date: string;
  readonly from: number;
  /** Its end, or the present. */
  readonly to: number;
}

/** Calendar days up to the one of `asOf`, oldest first; the last one ends at `asOf`. */
export function daysUpTo(asOf: number, zone: string, count: number): Day[] {
  const today = Temporal.Instant.fromEpochMilliseconds(asOf).toZonedDateTimeISO(zone).toPlainDate();
  const days = dayLists.getOrInsertComputed(`${today} ${zone} ${count}`, () => wholeDays(today, zone, count));
  return days.map((day) => ({ ...day, to: Math.min(asOf, day.to) }));
}

/** By the last day: a page is looked at many times in a day. */
const dayLists = new Map<string, readonly Day[]>();

function wholeDays(last: Temporal.PlainDate, zone: string, count: number): Day[] {
  return Array.from({ length: count }, (_, index) => {
    const day = last.subtract({ days: count - 1 - index });
    const from = day.toZonedDateTime(zone).epochMilliseconds;
    return { date: day.toString(), from, to: day.add({ days: 1 }).toZonedDateTime(zone).epochMilliseconds };
  });
}

export function dateOf(at: number, zone: string): string {
  return Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone).toPlainDate().toString();
}

/** A calendar month up to `asOf`. */
export function monthWindow(
  month: string,
  zone: string,
  asOf: number,
): { readonly from: number; readonly to: number; readonly end: number } {
  const first = Temporal.PlainDate.from(`${month}-01`);
  const from = first.toZonedDateTime(zone).epochMilliseconds;
  const end = first.add({ months: 1 }).toZonedDateTime(zone).epochMilliseconds;
  return { from, to: Math.max(from, Math.min(end, asOf)), end };
}

/**
 * The colour of a day: its worst trouble that goes on or was longer than a minute, else grey where less than half of it was good,
 * else what it was.
 */
export function dayState(sums: Sums, running: State | null): State {
  const good = sums.operational + sums.maintenance;
  const floor = Math.min(BLIP_MS, good);
  const { major_outage: major, partial_outage: partial } = sums;
  if (major > floor || running === 'major_outage') return 'major_outage';
  if (major + partial > floor || running === 'partial_outage') return 'partial_outage';
  if (major + partial + sums.degraded > floor || running === 'degraded') return 'degraded';
  const all = STATES.reduce((sum, state) => sum + sums[state], 0);
  if (good === 0 || good * 2 < all) return sums.paused > sums.unknown ? 'paused' : 'unknown';
  const isPlanned = running === 'maintenance' || sums.maintenance > Math.min(BLIP_MS, sums.operational);
  return isPlanned ? 'maintenance' : 'operational';
}

export function stateIn(pieces: readonly OraclePiece[], at: number): State {
  return pieces.find(({ from, to }) => from <= at && at < to)?.state ?? 'unknown';
}

/** The colours of days up to the present, of which the last goes on. */
export function dayStates(sums: readonly Sums[], running: State): State[] {
  return sums.map((sum, index) => dayState(sum, index === sums.length - 1 ? running : null));
}

/** The last so many days of 24 hours. */
export function periodWindow(asOf: number, days: number): { readonly from: number; readonly to: number } {
  return { from: asOf - days * DAY_MS, to: asOf };
}
