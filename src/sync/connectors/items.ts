/** Reads lists of items: each item on its own, identified by its id, and counted once. */

import type { z } from 'zod';
import {
  type MonitorDetail,
  type MonitorId,
  type MonitorObservation,
  type Problem,
  toMonitorId,
} from '../../model/observation.ts';
import { check } from '../../schema/issue-words.ts';
import type { PullContext } from '../connector.ts';
import { IdSchema, NameSchema } from './wire.ts';

/** Parses a list item by item. Invalid items are left out and reported as problems. Never throws. */
export function parseItems<T>(
  schema: z.ZodType<T>,
  items: readonly unknown[],
  place: string,
): { readonly items: readonly T[]; readonly problems: readonly Problem[] } {
  const parsed = items.map((item, index) => parseItem(schema, item, `${place}[${index}]`));
  return {
    items: parsed.flatMap((one) => ('item' in one ? [one.item] : [])),
    problems: parsed.flatMap((one) => ('problem' in one ? [one.problem] : [])),
  };
}

/** Parses an item. Returns the item, or the problem. */
export function parseItem<T>(
  schema: z.ZodType<T>,
  item: unknown,
  place: string,
): { readonly item: T } | { readonly problem: Problem } {
  const checked = check(schema, item);
  if (checked.success) return { item: checked.data };
  const [{ path, message }] = checked.faults;
  return { problem: { kind: 'dropped', place: path === '' ? place : `${place}.${path}`, message } };
}

/** The value of a field; undefined if there is none, or the item isn't an object. */
function readField(item: unknown, field: string): unknown {
  return typeof item === 'object' && item !== null && Object.hasOwn(item, field)
    ? (item as Readonly<Record<string, unknown>>)[field]
    : undefined;
}

/** The id in `idField` of an item; null if it is missing or can't be read. */
export function idIn(item: unknown, idField: string): string | null {
  return IdSchema.safeParse(readField(item, idField)).data ?? null;
}

/** The id of an item, or a unique substitute. */
export function itemKey(item: unknown, idField: string): string {
  return idIn(item, idField) ?? JSON.stringify(item);
}

/** A monitor of which nothing is known except that it exists. */
export function unknownMonitor(upstreamId: string, externalId: string, kind: string): MonitorObservation {
  return {
    id: toMonitorId(upstreamId, externalId),
    name: externalId,
    description: null,
    kind,
    target: null,
    state: 'unknown',
    isPublic: null,
    createdAt: null,
  };
}

/** A list of monitors as received. */
interface MonitorList<T> {
  readonly place: string;
  readonly items: readonly unknown[];
  readonly schema: z.ZodType<T>;
  /** The connector's `idField`. */
  readonly idField: string;
  readonly project: (
    item: T,
    place: string,
  ) => { readonly monitor: MonitorObservation; readonly problems: readonly Problem[] };
  /** Makes a placeholder for an unreadable item with an id. Its name is added if that can be read. */
  readonly placeholder: (externalId: string) => MonitorObservation;
}

/**
 * The monitors of all lists, sorted by id, each once. One that cannot be read is its placeholder when at least its id
 * can, and left out otherwise; both are counted as dropped. Never throws.
 */
export function projectMonitorLists<T>(lists: readonly MonitorList<T>[]): {
  monitors: MonitorObservation[];
  problems: Problem[];
} {
  const problems: Problem[] = [];
  const monitors = lists.flatMap((list) =>
    list.items.flatMap((item, index) => {
      const place = `${list.place}[${index}]`;
      const parsed = parseItem(list.schema, item, place);
      if ('problem' in parsed) {
        problems.push(parsed.problem);
        return salvage(item, list) ?? [];
      }
      const projected = list.project(parsed.item, place);
      problems.push(...projected.problems);
      return projected.monitor;
    }),
  );
  const unique = uniqueMonitors(monitors);
  return { monitors: unique.monitors, problems: [...problems, ...unique.problems] };
}

function salvage<T>(item: unknown, { idField, placeholder }: MonitorList<T>): MonitorObservation | null {
  const id = idIn(item, idField);
  if (id === null) return null;
  return { ...placeholder(id), name: NameSchema.safeParse(readField(item, 'name')).data ?? id };
}

/** Sorts by id, with numbers by value, and keeps each id once. If two variants differ, the monitor is `unknown`. */
export function uniqueMonitors(monitors: readonly MonitorObservation[]): {
  monitors: MonitorObservation[];
  problems: Problem[];
} {
  const { items, problems } = uniqueById<MonitorObservation>(monitors, (clash) => ({
    ...clash,
    state: 'unknown',
    isPublic: clash.isPublic === null ? null : false,
  }));
  return { monitors: items, problems };
}

/**
 * Sorted by id, each id once. Equal variants are one; of variants that differ, `settle` makes one out of the first by its
 * own text, so that the order of the input does not matter, and a problem tells.
 */
export function uniqueById<T extends { readonly id: string }>(
  items: readonly T[],
  settle: (first: T) => T = (first) => first,
): { items: T[]; problems: Problem[] } {
  const byId = Map.groupBy(items, (item) => item.id);
  const problems: Problem[] = [];
  const unique = [...byId].map(([id, variants]) => {
    const texts = [...new Set(variants.map((variant) => JSON.stringify(variant)))].toSorted();
    const first = variants.find((variant) => JSON.stringify(variant) === texts[0]) as T;
    if (variants.length === 1) return first;
    problems.push({
      kind: texts.length === 1 ? 'note' : 'dropped',
      place: id,
      message: `the id occurs ${variants.length} times`,
    });
    return texts.length === 1 ? first : settle(first);
  });
  unique.sort((a, b) => compareIds(a.id, b.id));
  problems.sort((a, b) => compareIds(a.place, b.place));
  return { items: unique, problems };
}

/**
 * Whether an incident that is known to be open may be among the items that could not be read: then a list is not whole,
 * and what it does not name has not ended.
 *
 * @param taken  ids there of the items that were read
 * @param open   ids there of the incidents known to be open
 */
export function losesOpen(
  items: readonly unknown[],
  {
    idField,
    taken,
    open,
  }: { readonly idField: string; readonly taken: ReadonlySet<string>; readonly open: ReadonlySet<string> },
): boolean {
  return items.some((item) => {
    const id = idIn(item, idField);
    return id === null || (!taken.has(id) && open.has(id));
  });
}

/** Ids there of the monitors whose details are older than `ageMinMs`, the oldest first. */
export function detailsDue(
  monitors: readonly Pick<MonitorObservation, 'id'>[],
  { now, memory }: PullContext,
  ageMinMs: number,
): string[] {
  const fetchedAt = (id: string): number => memory.detailFetchedAt.get(id) ?? 0;
  return monitors
    .map((monitor) => externalIdOf(monitor.id))
    .filter((id) => now - fetchedAt(id) >= ageMinMs)
    .toSorted((a, b) => fetchedAt(a) - fetchedAt(b));
}

/**
 * Details that come with a list anyway, of the monitors whose last are older than `ageMinMs`: the past only the first
 * time, response times those since.
 */
export function newDetails(details: readonly MonitorDetail[], context: PullContext, ageMinMs: number): MonitorDetail[] {
  const due = new Set(detailsDue(details, context, ageMinMs));
  return details
    .filter(({ id }) => due.has(externalIdOf(id)))
    .map((detail) => {
      const last = context.memory.detailFetchedAt.get(externalIdOf(detail.id));
      if (last === undefined) return detail;
      return { ...detail, reportedSpans: [], responseTimes: detail.responseTimes.filter(({ at }) => at > last) };
    });
}

/** A remark about something that isn't an error. */
export function note(place: string, message: string): Problem {
  return { kind: 'note', place, message };
}

/** Problems as warnings for `pharos check`. */
export function toWarnings(problems: readonly Problem[]): string[] {
  return problems.map(({ place, message }) => `${place}: ${message}`);
}

/** Order of ids: numbers inside them by value (`a/2` before `a/10`), then by code unit. */
export function compareIds(a: string, b: string): number {
  const left = a.split(/(\d+)/);
  const right = b.split(/(\d+)/);
  for (const [index, piece] of left.entries()) {
    const other = right[index];
    if (other === undefined) return 1;
    if (piece === other) continue;
    const isNumber = index % 2 === 1;
    if (isNumber && BigInt(piece) !== BigInt(other)) return BigInt(piece) < BigInt(other) ? -1 : 1;
    return piece < other ? -1 : 1;
  }
  return left.length - right.length;
}

/** The part of a monitor's name after the upstream's. */
export function externalIdOf(id: MonitorId | string): string {
  return id.slice(id.indexOf('/') + 1);
}
