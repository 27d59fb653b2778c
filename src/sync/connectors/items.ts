/** Reads lists of items: each item on its own, identified by its id, and counted once. */

import type { z } from 'zod';
import {
  type CompleteList,
  type MonitorDetail,
  type MonitorId,
  type MonitorObservation,
  type Problem,
  toMonitorId,
} from '../../model/observation.ts';
import type { EpochMs } from '../../model/time.ts';
import { check } from '../../schema/issue-words.ts';
import type { PullContext } from '../connector.ts';
import { IdSchema, NameSchema } from './wire.ts';

/** Where observations come from, and what is wrong with the responses so far. */
export interface Origin extends Pick<PullContext, 'upstreamId' | 'now'> {
  readonly problems: Problem[];
}

/** Parses a list item by item. Invalid items are left out and added to the problems. Never throws. */
export function parseItems<T>(
  schema: z.ZodType<T>,
  items: readonly unknown[],
  place: string,
  problems: Problem[] = [],
): T[] {
  return items.flatMap((item, index) => parseItem(schema, item, `${place}[${index}]`, problems) ?? []);
}

/** Parses an item; undefined: it is invalid, and added to the problems. */
export function parseItem<T>(schema: z.ZodType<T>, item: unknown, place: string, problems: Problem[]): T | undefined {
  const checked = check(schema, item);
  if (checked.success) return checked.data;
  const [{ path, message }] = checked.faults;
  problems.push({ kind: 'dropped', place: path === '' ? place : `${place}.${path}`, message });
  return undefined;
}

/** The value of a field; undefined if there is none, or the item isn't an object. */
export function readField(item: unknown, field: string): unknown {
  return typeof item === 'object' && item !== null && Object.hasOwn(item, field)
    ? (item as Readonly<Record<string, unknown>>)[field]
    : undefined;
}

/** The id in `idField` of an item; null if it is missing or can't be read. */
export function idIn(item: unknown, idField = 'id'): string | null {
  return IdSchema.safeParse(readField(item, idField)).data ?? null;
}

/** The id of an item, or a unique substitute. */
export function itemKey(item: unknown, idField = 'id'): string {
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
  /** Of its monitors, unless `project` gives another. */
  readonly kind: string;
  /** The same; absent: not known. */
  readonly isPublic?: boolean;
  readonly schema: z.ZodType<T>;
  /** The connector's `idField`; absent: `id`. */
  readonly idField?: string;
  /** What an item says of its monitor. */
  readonly project: (item: T, place: string) => Partial<MonitorObservation>;
}

/**
 * The monitors of all lists, sorted by id, each once. One that cannot be read is unknown when at least its id can be
 * read, and left out otherwise; both are counted as dropped. Never throws.
 */
export function projectMonitorLists<T>(
  { upstreamId, problems }: Pick<Origin, 'upstreamId' | 'problems'>,
  lists: readonly MonitorList<T>[],
): MonitorObservation[] {
  const monitors = lists.flatMap(({ items, kind, isPublic = null, schema, idField, project, ...list }) =>
    items.flatMap((item, index) => {
      const place = `${list.place}[${index}]`;
      const parsed = parseItem(schema, item, place, problems);
      const id = idIn(item, idField);
      if (id === null) return [];
      const monitor = { ...unknownMonitor(upstreamId, id, kind), isPublic };
      return parsed === undefined
        ? { ...monitor, name: NameSchema.safeParse(readField(item, 'name')).data ?? id }
        : { ...monitor, ...project(parsed, place) };
    }),
  );
  return uniqueMonitors(monitors, problems);
}

/** Sorts by id, with numbers by value, and keeps each id once. If two variants differ, the monitor is `unknown`. */
export function uniqueMonitors(monitors: readonly MonitorObservation[], problems: Problem[]): MonitorObservation[] {
  return uniqueById(monitors, problems, (clash) => ({
    ...clash,
    state: 'unknown',
    isPublic: clash.isPublic === null ? null : false,
  }));
}

/**
 * Sorted by id, each id once. Equal variants are one; of variants that differ, `settle` makes one out of the first by its
 * own text, so that the order of the input does not matter. Both are added to the problems.
 */
export function uniqueById<T extends { readonly id: string }>(
  items: readonly T[],
  problems: Problem[] = [],
  settle: (first: T) => T = (first) => first,
): T[] {
  const sorted = [...Map.groupBy(items, ({ id }) => id)].toSorted(([a], [b]) => compareIds(a, b));
  return sorted.map(([id, variants]) => {
    if (variants.length === 1) return variants[0] as T;
    const texts = [...new Set(variants.map((variant) => JSON.stringify(variant)))].toSorted();
    const first = variants.find((variant) => JSON.stringify(variant) === texts[0]) as T;
    const message = `the id occurs ${variants.length} times`;
    problems.push({ kind: texts.length === 1 ? 'note' : 'dropped', place: id, message });
    return texts.length === 1 ? first : settle(first);
  });
}

/** The same for lists that overlap: an item that occurs twice in the same words is no problem. */
export function uniqueOverlapping<T extends { readonly id: string }>(items: readonly T[], problems: Problem[]): T[] {
  const found: Problem[] = [];
  const unique = uniqueById(items, found);
  problems.push(...found.filter(({ kind }) => kind !== 'note'));
  return unique;
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
  { taken, open }: { readonly taken: ReadonlySet<string>; readonly open: ReadonlySet<string> },
): boolean {
  return items.some((item) => {
    const id = idIn(item);
    return id === null || (!taken.has(id) && open.has(id));
  });
}

/**
 * That a list of incidents or maintenances has all its items from `since` on. Nothing if one of them has no readable id: it may be
 * any of those that are missing.
 *
 * @param prefix    what stands before the ids there
 * @param idsThere  null: not readable
 * @param since     null: all of them; undefined: it isn't complete
 */
export function completeList(
  part: CompleteList['part'],
  prefix: string,
  idsThere: Iterable<string | null>,
  since: EpochMs | null | undefined,
): CompleteList[] {
  const ids = [...idsThere];
  if (since === undefined || ids.includes(null)) return [];
  return [{ part, prefix, since, ids: ids.map((id) => `${prefix}${id}`) }];
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

/** Problems of something that no state depends on. */
export function asNotes(problems: readonly Problem[]): Problem[] {
  return problems.map(({ place, message }) => note(place, message));
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
