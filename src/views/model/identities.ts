/**
 * Under which id and address a story is shown. An entry that was published keeps both, whatever becomes of it: it is
 * found again by the fall that opened it, and an incident that takes its story over takes them over too.
 */

import { type Entries, type EpochMs, type NewEntry, RELAPSE_MS, toIso } from '../../model/index.ts';
import { shortId } from '../text/addresses.ts';
import type { SeenIncident } from './known-incidents.ts';

/**
 * Small letters, digits and `-`. Where two ids become alike, the one that was asked for first keeps the plain slug, and
 * the other ends in a few characters that follow from its own id, whatever comes later.
 */
export function createSlugger(kind: 'incident' | 'maintenance'): (id: string) => string {
  const known = new Map<string, string>();
  const taken = new Set<string>();
  return (id) => {
    const found = known.get(id);
    if (found !== undefined) return found;
    const plain =
      id
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, '-')
        .replace(/^-+|-+$/g, '') || 'x';
    const slug = taken.has(plain) ? `${plain}-${shortId(kind, id)}` : plain;
    taken.add(slug);
    known.set(id, slug);
    return slug;
  };
}

/** An entry that was published before. */
export interface KnownEntry extends NewEntry {
  readonly firstSeenAt: EpochMs;
}

export interface Identity {
  readonly id: string;
  readonly slug: string;
  /** Slugs of what else it was known as. */
  readonly aliases: readonly string[];
}

interface Identities {
  readonly ofIncident: (incident: SeenIncident) => Identity;
  /** By the place of the entry among all. */
  readonly ofEntry: (index: number) => Identity;
  /** Entries that stand by themselves and were not known. */
  readonly newEntries: readonly NewEntry[];
}

/** The identities of all stories of a page. */
export function matchIdentities(
  incidents: readonly SeenIncident[],
  { entries, declared }: Entries,
  known: readonly KnownEntry[],
): Identities {
  const slugs = createSlugger('incident');
  const inOrder = known.toSorted((a, b) => a.firstSeenAt - b.firstSeenAt || (a.id < b.id ? -1 : 1));
  for (const { id } of inOrder) slugs(id);
  const asSeen = incidents.toSorted((a, b) => seenAt(a) - seenAt(b) || (a.id < b.id ? -1 : 1));
  for (const { id } of asSeen) slugs(id);

  const holders = [
    ...declared.map((fall) => ({ ...fall, holder: fall.declaredBy })),
    ...entries.flatMap(({ falls, adoptedBy }, index) =>
      falls.map((fall) => ({ ...fall, holder: adoptedBy ?? entryKey(index) })),
    ),
  ];
  /** Whose story the fall is now that an entry was opened by: one of that component, at that time or nearly. */
  const holderOf = ({ componentId, fellAt }: KnownEntry): string | undefined =>
    holders
      .filter(({ from, to, ...fall }) => {
        const isThen = from - RELAPSE_MS <= fellAt && (to === null || fellAt <= to);
        return fall.componentId === componentId && isThen;
      })
      .toSorted((a, b) => Math.abs(a.from - fellAt) - Math.abs(b.from - fellAt))
      .at(0)?.holder;
  const held = Map.groupBy(inOrder, holderOf);
  const taken = new Set(inOrder.map(({ id }) => id));

  const newEntries: NewEntry[] = [];
  const ids = entries.map(({ adoptedBy, falls: [{ componentId, from }] }, index): string | null => {
    if (adoptedBy !== null) return null;
    const [first] = held.get(entryKey(index)) ?? [];
    if (first !== undefined) return first.id;
    const id = freshId({ componentId, fellAt: from }, taken);
    taken.add(id);
    newEntries.push({ id, componentId, fellAt: from });
    return id;
  });
  return {
    ofIncident: (incident) => {
      const entriesHeld = held.get(incident.id) ?? [];
      const names = [incident.id, ...entriesHeld.map(({ id }) => id)];
      const [first] = entriesHeld;
      // Only what was published before the incident was there can have been taken over by it.
      const id = first !== undefined && first.firstSeenAt < seenAt(incident) ? first.id : incident.id;
      return { id, slug: slugs(id), aliases: names.filter((name) => name !== id).map(slugs) };
    },
    ofEntry: (index) => {
      const id = ids[index];
      if (id == null) throw new TypeError(`entry ${index} is the story of an incident`);
      const others = (held.get(entryKey(index)) ?? []).slice(1);
      return { id, slug: slugs(id), aliases: others.map((other) => slugs(other.id)) };
    },
    newEntries,
  };
}

function seenAt({ firstSeenAt }: SeenIncident): number {
  return firstSeenAt ?? 0;
}

/** No id of an incident begins so: those begin with the id of an upstream. */
function entryKey(index: number): string {
  return `/${index}`;
}

/** `auto/api-20261121-1000`; with the milliseconds where the minute is not enough. */
function freshId({ componentId, fellAt }: Omit<NewEntry, 'id'>, taken: ReadonlySet<string>): string {
  const stamp = toIso(fellAt)
    .replaceAll(/[-:.Z]/g, '')
    .replace('T', '-');
  const short = `auto/${componentId}-${stamp.slice(0, 'YYYYMMDD-HHMM'.length)}`;
  return taken.has(short) ? `auto/${componentId}-${stamp}` : short;
}
