/** Random worlds: what really happens to monitors, what people write about it, and what of that each upstream answers when. */

import type { Incident, Maintenance } from '../../src/model/observation.ts';
import type { State } from '../../src/model/state.ts';
import { integerBelow, pickOne, randomOf } from '../unit/model/random-history.ts';
import { chance, DAY, type Frame, HOUR, MINUTE, type Random, type Told, type Trouble, tickIn } from './random-frame.ts';
import { outageStories, randomIncidents } from './random-incidents.ts';
import { randomMaintenances } from './random-maintenances.ts';
import { type Answer, type Step, TICK_MS, type World, type WorldComponent, type WorldUpstream } from './world.ts';

/** Zones, and a day of 2026 near which their clocks change. */
const ZONES: readonly (readonly [string, readonly string[]])[] = [
  ['UTC', ['2026-02-28', '2026-12-31']],
  ['Europe/Berlin', ['2026-03-29', '2026-10-25']],
  ['America/St_Johns', ['2026-03-08', '2026-11-01']],
  ['Australia/Lord_Howe', ['2026-04-05', '2026-10-04']],
  ['America/Santiago', ['2026-04-05', '2026-09-06']],
  ['Asia/Kathmandu', ['2026-01-01', '2026-06-30']],
  ['Pacific/Auckland', ['2026-04-05', '2026-09-27']],
];

export function randomWorld(seed: number): World {
  const random = randomOf(seed * 7_919 + 17);
  const isLong = chance(random, 0.4);
  const [zone, days] = pickOne(random, ZONES);
  const to = tickIn(random, Date.parse(pickOne(random, days)), Date.parse(pickOne(random, days)) + 4 * DAY) || 0;
  const from = to - (isLong ? 15 + integerBelow(random, 30) : 0) * DAY - (2 + integerBelow(random, 6)) * HOUR;
  const slug = `w${seed}`;
  const intervalOf = () =>
    (isLong ? 6 + integerBelow(random, 7) : 1) * (isLong ? HOUR : (3 + integerBelow(random, 9)) * MINUTE);
  const upstreams = ['a', 'b'].slice(0, 1 + integerBelow(random, 2)).map((letter): WorldUpstream => {
    const id = `w${seed}${letter}`;
    const monitors = Array.from({ length: 1 + integerBelow(random, 3) }, (_, index) => `${id}/m${index}`);
    return { id, intervalMs: intervalOf(), monitors };
  });
  if (chance(random, 0.6)) upstreams.push({ id: `w${seed}n`, intervalMs: intervalOf(), monitors: [] });
  const definitionId = chance(random, 0.5) ? `config/${slug}` : `${upstreams[0]?.id}/page`;
  const groups = ['g', 'h']
    .slice(0, integerBelow(random, 3))
    .map((id) => ({ id, name: `Group ${id}`, order: integerBelow(random, 6) }));
  const components = randomComponents(random, { upstreams, groups: groups.map(({ id }) => id) });
  const frame: Frame = { random, from, to, isLong, isCrowded: seed % 100 === 13, definitionId, slug, components };
  const answers = upstreams.flatMap((upstream) => answersOf(frame, upstream));
  const publishes = [to, ...Array.from({ length: integerBelow(random, 4) }, () => tickIn(random, from, to))].map(
    // Not on the grid, as real clocks are not.
    (at, index): Step => ({
      kind: 'publish',
      at: index === 0 && chance(random, 0.5) ? at : at + integerBelow(random, TICK_MS),
    }),
  );
  return {
    seed,
    slug,
    definitionId,
    zone,
    groups,
    components,
    upstreams,
    afterMs: chance(random, 0.1) ? null : pickOne(random, [90_000, 3 * MINUTE, 3 * MINUTE, 5 * MINUTE]),
    steps: withSteppedClock(
      randomOf(seed * 31 + 7),
      [...answers, ...publishes].sort(
        (a, b) => a.at - b.at || (a.kind === 'publish' ? 1 : 0) - (b.kind === 'publish' ? 1 : 0),
      ),
    ),
  };
}

const CLOCK_STEPS = [-2 * HOUR, -4 * MINUTE, -TICK_MS, TICK_MS, 4 * MINUTE, 2 * HOUR];

/** In some worlds the clock is set, and in some of these it is set right again later. Pages are looked at once all upstreams answered. */
function withSteppedClock(random: Random, steps: readonly Step[]): readonly Step[] {
  if (!chance(random, 0.2) || steps.length < 4) return steps;
  const byMs = pickOne(random, CLOCK_STEPS);
  const first = 1 + integerBelow(random, steps.length - 2);
  const second = chance(random, 0.5) ? first + 1 + integerBelow(random, steps.length - first - 1) : steps.length;
  const ahead = (index: number): number => (index >= first && index < second ? byMs : 0);
  const stepped = steps.map((step, index): Step => ({ ...step, at: step.at + ahead(index) }));
  const ids = new Set(steps.flatMap((step) => (step.kind === 'answer' ? [step.upstream] : [])));
  const isHeard = (from: number, until: number): boolean =>
    [...ids].every((id) => steps.slice(from, until).some((step) => step.kind === 'answer' && step.upstream === id));
  const isSettled = (index: number): boolean =>
    [first, second].every((at) => index < at || isHeard(at, index) || ahead(at) >= ahead(at - 1));
  return stepped.filter((step, index) => step.kind === 'answer' || isSettled(index));
}

function randomComponents(
  random: Random,
  { upstreams, groups }: { readonly upstreams: readonly WorldUpstream[]; readonly groups: readonly string[] },
): WorldComponent[] {
  const monitors = upstreams.flatMap((upstream) => upstream.monitors);
  const shown: (string | null)[] = monitors.filter((_, index) => index === 0 || chance(random, 0.9));
  if (chance(random, 0.1)) shown.push(pickOne(random, monitors));
  for (let count = integerBelow(random, 3); count > 0; count -= 1) shown.push(null);
  return shown.map((monitor, index) => ({
    id: `c${index}`,
    name: `Part ${'ABCDEFGHIJ'[index]}`,
    monitor,
    groupId: groups.length > 0 && chance(random, 0.5) ? pickOne(random, groups) : null,
    order: integerBelow(random, 6),
    groupOrder: integerBelow(random, 4),
    showsDetails: chance(random, 0.15),
  }));
}

const TROUBLES: readonly State[] = [
  'major_outage',
  'major_outage',
  'major_outage',
  'partial_outage',
  'degraded',
  'paused',
  'unknown',
  'maintenance',
];

function randomTroubles({ random, from, to, isLong }: Frame, { monitors, intervalMs }: WorldUpstream): Trouble[] {
  const troubles: Trouble[] = [];
  for (let count = integerBelow(random, 5); count > 0; count -= 1) {
    const start = tickIn(random, from - HOUR, to);
    const state = pickOne(random, TROUBLES);
    const hit = monitors.filter((_, index) => index === 0 || chance(random, 0.5));
    const lastsMax = isLong ? 3 * intervalMs : pickOne(random, [10 * MINUTE, HOUR]);
    for (const monitor of hit) {
      const begins = start + (chance(random, 0.5) ? 0 : tickIn(random, 0, 4 * MINUTE));
      const ends = chance(random, 0.2) ? to + DAY : begins + TICK_MS + tickIn(random, 0, lastsMax);
      troubles.push({ monitor, state, from: begins, to: ends });
      if (chance(random, 0.3)) {
        const again = ends + tickIn(random, 0, 15 * MINUTE);
        troubles.push({
          monitor,
          state: 'major_outage',
          from: again,
          to: again + TICK_MS + tickIn(random, 0, 20 * MINUTE),
        });
      }
    }
  }
  return troubles;
}

/** All that an upstream answers from the beginning to the end; some fall silent, some never say a word. */
function answersOf(frame: Frame, upstream: WorldUpstream): Answer[] {
  const { random, from, to } = frame;
  const { id, intervalMs, monitors } = upstream;
  const troubles = randomTroubles(frame, upstream);
  const incidents: Told<Incident>[] = [
    ...randomIncidents(frame, upstream),
    ...(chance(random, 0.6) ? outageStories(frame, upstream, troubles) : []),
  ];
  const maintenances = randomMaintenances(frame, upstream);
  const isWhole = chance(random, 0.7);
  const windowMs = chance(random, 0.3) ? (frame.isLong ? 5 * DAY : HOUR) : null;
  const silentFrom = chance(random, 0.2) ? tickIn(random, from, to) : Infinity;
  const gap = chance(random, 0.25) ? tickIn(random, from, to) : Infinity;
  const gapMs = intervalMs * (1 + integerBelow(random, 5));
  if (chance(random, 0.04) && !frame.definitionId.startsWith(`${id}/`)) return [];
  const instants: number[] = [];
  for (let at = tickIn(random, from, from + intervalMs); at <= to; at += intervalMs + tickIn(random, 0, 2 * TICK_MS))
    if (instants.length === 0 || (at < silentFrom && !(at > gap && at < gap + gapMs))) instants.push(at);
  const hidden = new Set<Told<unknown>>();
  const tell = <Item>(all: readonly Told<Item>[], at: number): Item[] =>
    all
      .filter((one) => one.from <= at && (one.deletedAt === null || at < one.deletedAt))
      .filter((one) => {
        if (one.hiddenAt === null || at < one.hiddenAt || hidden.has(one)) return true;
        hidden.add(one);
        return false;
      })
      .map((one) => one.at(at));
  return instants.map((at, index): Answer => {
    const since = windowMs === null ? null : at - windowMs;
    const told = tell(incidents, at).filter(({ startedAt }) => since === null || startedAt >= since);
    const planned = tell(maintenances, at).filter((one) => since === null || lastEnd(one) >= since);
    const unread = index > 0 && chance(random, 0.02) ? told.slice(0, 1) : [];
    return {
      kind: 'answer',
      at,
      upstream: id,
      states:
        index > 0 && chance(random, 0.03)
          ? null
          : Object.fromEntries(monitors.map((one) => [one, stateAt(troubles, one, at)])),
      incidents: index > 0 && chance(random, 0.03) ? null : told.filter((one) => !unread.includes(one)),
      maintenances: planned,
      whole: isWhole ? { since } : null,
      unreadable: unread.map((one) => one.id),
    };
  });
}

function lastEnd({ endsAt, repeats }: Maintenance): number {
  return Math.max(endsAt, ...(repeats?.windows.map(({ to }) => to) ?? []));
}

function stateAt(troubles: readonly Trouble[], monitor: string, at: number): State {
  return troubles.find((one) => one.monitor === monitor && one.from <= at && at < one.to)?.state ?? 'operational';
}
