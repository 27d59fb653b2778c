/**
 * What answers have made known by an instant, replayed one after the other: how monitors were seen, which stories there
 * are and which were taken back, how old it all is. Written from the rules alone; nothing of `src` runs here.
 */

import type { Incident, Maintenance } from '../../src/model/observation.ts';
import type { State } from '../../src/model/state.ts';
import type { Interval } from '../../src/model/time.ts';
import { type Answer, upstreamOf, type World, type WorldUpstream } from './world.ts';

/** A story as it was last told, and when it was first heard of. */
export interface KnownStory<Item> {
  readonly item: Item;
  readonly firstSeenAt: number;
}

export interface Freshness {
  readonly monitorsAt: number | null;
  readonly incidentsAt: number | null;
  readonly intervalMs: number;
  readonly isMonitorsStale: boolean;
  readonly isIncidentsStale: boolean;
}

export interface SeenSpan {
  readonly state: State;
  readonly from: number;
  to: number;
}

export interface Known {
  readonly incidents: readonly KnownStory<Incident>[];
  readonly maintenances: readonly KnownStory<Maintenance>[];
  /** By monitor. A span that goes on, of an upstream that is heard in time, has no end. */
  readonly seen: ReadonlyMap<string, readonly SeenSpan[]>;
  readonly freshness: ReadonlyMap<string, Freshness>;
}

/** @param upTo index of the step that looks */
export function knownAt(world: World, now: number, upTo: number): Known {
  const answers = world.steps.slice(0, upTo).filter((step): step is Answer => step.kind === 'answer');
  const freshness = new Map(world.upstreams.map((one) => [one.id, freshnessOf(answers, one, now)]));
  return {
    freshness,
    seen: new Map(
      world.upstreams.flatMap((upstream) =>
        upstream.monitors.map((monitor) => [
          monitor,
          seenOf(answers, { upstream, monitor, isFresh: freshness.get(upstream.id)?.isMonitorsStale === false }),
        ]),
      ),
    ),
    incidents: storiesOf(answers, 'incidents', withKnownPages),
    maintenances: storiesOf(answers, 'maintenances', withPastWindows),
  };
}

/** Stale: older than two intervals, or never heard. */
function freshnessOf(answers: readonly Answer[], { id, intervalMs }: WorldUpstream, now: number): Freshness {
  const own = answers.filter(({ upstream }) => upstream === id);
  // After the clock was set back, nothing was heard later than now.
  const lastAt = (isRead: (answer: Answer) => boolean): number | null =>
    own.reduce<number | null>((at, one) => (isRead(one) ? one.at : at === null ? null : Math.min(at, one.at)), null);
  const monitorsAt = lastAt(({ states }) => states !== null);
  const incidentsAt = lastAt(({ incidents }) => incidents !== null);
  const isStale = (at: number | null): boolean => at === null || now - at > 2 * intervalMs;
  return {
    monitorsAt,
    incidentsAt,
    intervalMs,
    isMonitorsStale: isStale(monitorsAt),
    isIncidentsStale: isStale(incidentsAt),
  };
}

/** A state holds from the answer that told it to the next; silence of more than two intervals and a slow pass is a hole. */
function seenOf(
  answers: readonly Answer[],
  {
    upstream,
    monitor,
    isFresh,
  }: { readonly upstream: WorldUpstream; readonly monitor: string; readonly isFresh: boolean },
): SeenSpan[] {
  const silenceMs = 2 * upstream.intervalMs + Math.min(upstream.intervalMs / 2, 30_000);
  const spans: SeenSpan[] = [];
  for (const { at, states, upstream: id } of answers) {
    if (id !== upstream.id) continue;
    cutAt(spans, at);
    const state = states?.[monitor];
    if (state === undefined) continue;
    const last = spans.at(-1);
    const goesOn = last !== undefined && at - last.to <= silenceMs;
    if (goesOn) last.to = at;
    if (last?.from === at && last.state !== state) spans.pop();
    if (!goesOn || last.state !== state) spans.push({ state, from: at, to: at });
  }
  const last = spans.at(-1);
  if (last !== undefined && isFresh) last.to = Infinity;
  return spans;
}

/** The clock was set back: what was seen later than now was not, but the state that was seen last holds. */
function cutAt(spans: SeenSpan[], at: number): void {
  const last = spans.at(-1);
  if (last === undefined || last.to <= at) return;
  const kept = spans.slice(0, -1).filter(({ from }) => from < at);
  for (const span of kept) span.to = Math.min(span.to, at);
  spans.splice(0, spans.length, ...kept, { state: last.state, from: Math.min(last.from, at), to: at });
}

interface Row<Item> {
  item: Item;
  readonly firstSeenAt: number;
  missed: number;
  isWithdrawn: boolean;
}

/**
 * One id is one story as long as what it names is as old as before. What two whole lists in a row lack is withdrawn, and
 * so is what its id no longer names; what left the stretch that a list covers stays.
 */
function storiesOf<Item extends Incident | Maintenance>(
  answers: readonly Answer[],
  part: 'incidents' | 'maintenances',
  merged: (told: Item, before: Item | null, at: number) => Item,
): KnownStory<Item>[] {
  const rows: Row<Item>[] = [];
  for (const answer of answers) {
    const items = answer[part] as readonly Item[] | null;
    if (items === null) continue;
    for (const told of items) {
      const alike = rows.filter(({ item }) => item.id === told.id);
      const same = alike.findLast(({ item }) => item.bornAt === told.bornAt);
      for (const other of alike) if (other !== same) other.isWithdrawn = true;
      if (same === undefined)
        rows.push({ item: merged(told, null, answer.at), firstSeenAt: answer.at, missed: 0, isWithdrawn: false });
      else {
        same.item = merged(told, same.item, answer.at);
        same.isWithdrawn = false;
        same.missed = 0;
      }
    }
    if (answer.whole === null) continue;
    const { since } = answer.whole;
    const named = new Set([...items.map(({ id }) => id), ...answer.unreadable]);
    for (const row of rows) {
      if (row.isWithdrawn || upstreamOf(row.item.id) !== answer.upstream) continue;
      const isMissing = (since === null || placeOf(row.item) >= since) && !named.has(row.item.id);
      row.missed = isMissing ? row.missed + 1 : 0;
      row.isWithdrawn = row.missed >= 2;
    }
  }
  return rows.filter(({ isWithdrawn }) => !isWithdrawn).map(({ item, firstSeenAt }) => ({ item, firstSeenAt }));
}

/** What decides whether a list that goes back so far would have it: an incident's start, a maintenance's last end. */
function placeOf(item: Incident | Maintenance): number {
  if ('startedAt' in item) return item.startedAt;
  return Math.max(item.endsAt, ...windowsOf(item).map(({ to }) => to));
}

/** Where its upstream does not say this time on which pages it is, it stays where it was. */
function withKnownPages(told: Incident, before: Incident | null): Incident {
  return told.pages?.length === 0 && before !== null ? { ...told, pages: before.pages } : told;
}

export function windowsOf({ repeats, startsAt, endsAt }: Maintenance): readonly Interval[] {
  return repeats?.windows ?? [{ from: startsAt, to: endsAt }];
}

/** Windows that are over stay as they were when a rule is written anew. */
function withPastWindows(told: Maintenance, before: Maintenance | null, at: number): Maintenance {
  if (told.repeats === undefined || before === null) return told;
  const past = windowsOf(before).filter(({ to }) => to <= at);
  const windows = [...past, ...windowsOf(told).filter(({ to }) => to > at)];
  return { ...told, repeats: { ...told.repeats, windows } };
}
