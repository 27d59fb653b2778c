import { describe, expect, it } from 'vitest';
import { entriesOf, RELAPSE_MS, TOGETHER_MS } from '../../../src/model/entries.ts';
import type { DeclaredIncident, Entries, Entry, FallenComponent } from '../../../src/model/entry.ts';
import { fallsOf, impactChangesAt, impactOfEntry, type Sightings } from '../../../src/model/entry.ts';
import type { Span } from '../../../src/model/overlap.ts';
import { type EpochMs, type Interval, MINUTE_MS, SECOND_MS, toEpochMs } from '../../../src/model/time.ts';
import { type OracleIncident, type OracleWorld, oracleEntries } from './entries-oracle.ts';
import { integerBelow, pickOne, randomOf, TEST_SCALE } from './random-history.ts';

/** Ten o'clock; tests count in minutes from it. */
const T0 = Date.UTC(2026, 10, 21, 10);
const at = (minute: number): EpochMs => toEpochMs(T0 + minute * MINUTE_MS);
const minutesOf = (instant: EpochMs | null): number | null => (instant === null ? null : (instant - T0) / MINUTE_MS);

type Stretch = readonly [state: Span['state'], from: number, to: number];

function observed(...stretches: readonly Stretch[]): Span[] {
  return stretches.map(([state, from, to]) => ({ state, from: at(from), to: at(to) }));
}

function interval(from: number, to: number): Interval {
  return { from: at(from), to: at(to) };
}

function falls(sightings: Partial<Sightings>, asOf = 120): unknown[] {
  return fallsOf({ observed: [], outages: [], maintenances: [], ...sightings }, at(asOf)).map(({ from, to, down }) => [
    minutesOf(from),
    minutesOf(to),
    ...down.map((part) => `${minutesOf(part.from)}–${minutesOf(toEpochMs(Math.min(part.to, at(asOf))))}`),
  ]);
}

const UP = 'operational';
const DOWN = 'major_outage';

describe('a fall', () => {
  it('begins when a component is seen down and ends when it is seen well', () => {
    expect(falls({ observed: observed([UP, 0, 10], [DOWN, 10, 15], [UP, 15, 120]) })).toEqual([[10, 15, '10–15']]);
    expect(falls({ observed: observed([UP, 0, 10], [DOWN, 10, 15], ['degraded', 15, 120]) })).toEqual([
      [10, 15, '10–15'],
    ]);
    expect(falls({ observed: observed([DOWN, 10, 15], ['paused', 15, 120]) })).toEqual([[10, 15, '10–15']]);
    expect(falls({ observed: observed([UP, 0, 120]) })).toEqual([]);
  });

  it('goes on through silence, which is no recovery', () => {
    expect(falls({ observed: observed([DOWN, 10, 12], [DOWN, 30, 33], [UP, 33, 120]) })).toEqual([
      [10, 33, '10–12', '30–33'],
    ]);
    expect(falls({ observed: observed([DOWN, 10, 12]) })).toEqual([[10, null, '10–12']]);
    expect(falls({ observed: observed([DOWN, 10, 12], ['unknown', 12, 60]) })).toEqual([[10, null, '10–12']]);
  });

  it('is what an upstream recorded too, also where sampling missed it', () => {
    expect(falls({ observed: observed([UP, 0, 120]), outages: [interval(20, 24)] })).toEqual([[20, 24, '20–24']]);
    expect(falls({ outages: [interval(20, 24), interval(22, 121)] })).toEqual([[20, null, '20–120']]);
  });

  it('ends with the outage that an upstream recorded as over, where nobody has looked since', () => {
    expect(falls({ outages: [interval(20, 24), interval(22, 30)] })).toEqual([[20, 30, '20–30']]);
    expect(falls({ observed: observed([UP, 60, 120]), outages: [interval(20, 24)] })).toEqual([[20, 24, '20–24']]);
    // It was seen down still.
    expect(falls({ observed: observed([DOWN, 22, 26]), outages: [interval(20, 24)] })).toEqual([[20, null, '20–26']]);
  });

  it('does not begin inside a maintenance window, and begins when that ends', () => {
    const window = { maintenances: [interval(10, 30)] };
    expect(falls({ observed: observed([DOWN, 12, 20], [UP, 20, 120]), ...window })).toEqual([]);
    expect(falls({ observed: observed([DOWN, 12, 40], [UP, 40, 120]), ...window })).toEqual([[30, 40, '30–40']]);
    expect(falls({ observed: observed([DOWN, 5, 40], [UP, 40, 120]), ...window })).toEqual([[5, 40, '5–10', '30–40']]);
    expect(falls({ observed: observed([DOWN, 5, 20], [UP, 20, 120]), ...window })).toEqual([[5, 20, '5–10']]);
  });

  it('that begins at this very instant is known', () => {
    expect(falls({ observed: observed([UP, 0, 10], [DOWN, 10, 11]) }, 10)).toEqual([[10, null, '10–10']]);
  });
});

interface Scene {
  readonly [component: string]: readonly Stretch[];
}

function entries(scene: Scene, over: { incidents?: DeclaredIncident[]; after?: number; asOf?: number } = {}): Entries {
  const asOf = at(over.asOf ?? 240);
  const components = Object.entries(scene).map(([componentId, stretches]): FallenComponent => {
    const last = stretches.at(-1);
    const spans = observed(...stretches, ...(last === undefined ? [] : [[last[0], last[2], 1_000] as const]));
    return { componentId, falls: fallsOf({ observed: spans, outages: [], maintenances: [] }, asOf) };
  });
  return entriesOf({ components, incidents: over.incidents ?? [], afterMs: (over.after ?? 3) * MINUTE_MS, asOf });
}

/** An entry as text: `opened 13 api, closed 20; api`. */
function told({ events, falls: parts, adoptedBy }: Entry): string {
  const happened = events.map(({ kind, at: when, componentIds }) => [kind, minutesOf(when), ...componentIds].join(' '));
  const components = new Set(parts.map(({ componentId }) => componentId));
  return `${happened.join(', ')}; ${[...components].join(' ')}${adoptedBy === null ? '' : `; ${adoptedBy}`}`;
}

const texts = (found: Entries): string[] => found.entries.map(told);

function incident(id: string, from: number, to: number | null, ...componentIds: string[]): DeclaredIncident {
  return { id, startedAt: at(from), endedAt: to === null ? null : at(to), componentIds };
}

describe('an entry', () => {
  const fell: Scene = {
    api: [
      [UP, 0, 10],
      [DOWN, 10, 20],
      [UP, 20, 21],
    ],
  };

  it('opens once a component was down for so long, and closes when it is well', () => {
    expect(texts(entries(fell))).toEqual(['opened 13 api, closed 20; api']);
    expect(entries(fell).entries[0]).toMatchObject({ startedAt: at(10), endedAt: at(20) });
    expect(texts(entries(fell, { asOf: 12.9 }))).toEqual([]);
    expect(texts(entries(fell, { asOf: 13 }))).toEqual(['opened 13 api; api']);
    expect(texts(entries(fell, { after: 0 }))).toEqual(['opened 10 api, closed 20; api']);
    expect(texts(entries(fell, { after: 10 }))).toEqual([]);
  });

  it('says when it will open if nothing changes', () => {
    expect(minutesOf(entries(fell, { asOf: 11 }).nextAt)).toBe(13);
    expect(entries(fell, { asOf: 13 }).nextAt).toBeNull();
    expect(entries(fell, { asOf: 25 }).nextAt).toBeNull();
  });

  it('is one for what falls together, and two for what does not', () => {
    const two = (second: number): Scene => ({
      ...fell,
      web: [
        [UP, 0, second],
        [DOWN, second, 25],
        [UP, 25, 26],
      ],
    });
    expect(texts(entries(two(12)))).toEqual(['opened 13 api, joined 15 web, closed 25; api web']);
    expect(texts(entries(two(12.1)))).toEqual(['opened 13 api, closed 20; api', 'opened 15.1 web, closed 25; web']);
  });

  it('is opened again by a relapse, at once, and not by one that comes later', () => {
    const again = (second: number): Scene => ({
      api: [
        [UP, 0, 10],
        [DOWN, 10, 20],
        [UP, 20, second],
        [DOWN, second, second + 1],
        [UP, second + 1, 60],
      ],
    });
    expect(texts(entries(again(30)))).toEqual(['opened 13 api, closed 20, reopened 30 api, closed 31; api']);
    expect(texts(entries(again(30.1)))).toEqual(['opened 13 api, closed 20; api']);
  });

  it('is not opened by a component that keeps falling for less', () => {
    const flaps = Array.from({ length: 10 }, (_, index): Stretch[] => [
      [DOWN, index * 4, index * 4 + 2],
      [UP, index * 4 + 2, index * 4 + 4],
    ]);
    expect(texts(entries({ api: flaps.flat() }))).toEqual([]);
  });

  it('becomes the story of an incident that is declared while it is open or shortly after', () => {
    for (const start of [3, 10, 15, 29]) {
      const found = entries(fell, { incidents: [incident('post', start, null, 'api')] });
      expect(texts(found), `${start}`).toEqual(['opened 13 api, closed 20; api; post']);
    }
    for (const start of [30.1, 60])
      expect(texts(entries(fell, { incidents: [incident('post', start, null, 'api')] }))).toEqual([
        'opened 13 api, closed 20; api',
      ]);
    expect(texts(entries(fell, { incidents: [incident('post', 15, null, 'web')] }))).toEqual([
      'opened 13 api, closed 20; api',
    ]);
  });

  it('has nothing to do with an incident that lasted no time', () => {
    for (const start of [5, 10, 15])
      expect(texts(entries(fell, { incidents: [incident('post', start, start, 'api')] }))).toEqual([
        'opened 13 api, closed 20; api',
      ]);
  });

  it('never opens for what an incident tells that began well before', () => {
    const found = entries(fell, { incidents: [incident('post', -30, null, 'api')] });
    expect(found.entries).toEqual([]);
    expect(found.declared).toEqual([{ componentId: 'api', from: at(10), to: at(20), declaredBy: 'post' }]);
    const both: Scene = {
      ...fell,
      web: [
        [UP, 0, 10],
        [DOWN, 10, 20],
        [UP, 20, 21],
      ],
    };
    expect(texts(entries(both, { incidents: [incident('post', -30, null, 'api')] }))).toEqual([
      'opened 13 web, closed 20; web',
    ]);
  });

  it('opens anew when the incident ends and the component is still down', () => {
    for (const start of [-30, 12]) {
      const found = entries(fell, { incidents: [incident('post', start, 14, 'api')] });
      expect(texts(found).at(-1), `${start}`).toBe('opened 17 api, closed 20; api');
      expect(found.entries).toHaveLength(start < 0 ? 1 : 2);
    }
  });

  it('takes the components that fell with the one that the incident names', () => {
    const both: Scene = {
      ...fell,
      web: [
        [UP, 0, 11],
        [DOWN, 11, 22],
        [UP, 22, 23],
      ],
    };
    expect(texts(entries(both, { incidents: [incident('post', 16, null, 'web')] }))).toEqual([
      'opened 13 api, joined 14 web, closed 22; api web; post',
    ]);
  });
});

describe('the impact of an entry', () => {
  const entryOf = (count: number, minutes: number | null): Entry => {
    const [first = { componentId: '0', from: at(0), to: null }, ...others] = Array.from(
      { length: count },
      (_, index) => ({ componentId: `${index}`, from: at(0), to: null }),
    );
    return {
      falls: [first, ...others],
      events: [],
      startedAt: at(0),
      endedAt: minutes === null ? null : at(minutes),
      adoptedBy: null,
    };
  };

  it.each([
    [1, 1, 3, 'major'],
    [1, 1, 10, 'critical'],
    [1, 50, 1, 'minor'],
    [1, 50, 119, 'minor'],
    [1, 50, 120, 'major'],
    [5, 50, 9, 'minor'],
    [5, 50, 10, 'major'],
    [24, 50, 600, 'major'],
    [25, 50, 9, 'major'],
    [25, 50, 10, 'critical'],
  ] as const)('of %i of %i components for %i minutes is %s', (count, total, minutes, impact) => {
    expect(impactOfEntry(entryOf(count, minutes), total, at(1_000))).toBe(impact);
  });

  it('grows while it goes on, and says when', () => {
    const open = entryOf(1, null);
    expect(impactOfEntry(open, 5, at(9))).toBe('minor');
    expect(minutesOf(impactChangesAt(open, 5, at(9)))).toBe(10);
    expect(impactOfEntry(open, 5, at(10))).toBe('major');
    expect(impactChangesAt(open, 5, at(10))).toBeNull();
    expect(impactChangesAt(entryOf(1, 5), 5, at(9))).toBeNull();
  });
});

/** One tick of the random worlds. */
const TICK_MS = 30 * SECOND_MS;

function randomWorld(seed: number): OracleWorld {
  const random = randomOf(seed);
  const ticks = 40 + integerBelow(random, 160);
  const count = 1 + integerBelow(random, 4);
  const seen = Array.from({ length: count }, () => {
    const states: OracleWorld['seen'][number][number][] = [];
    while (states.length <= ticks) {
      const state = pickOne(random, ['up', 'up', 'down', 'down', 'silent', 'paused'] as const);
      const length = 1 + integerBelow(random, pickOne(random, [3, 8, 30]));
      for (let index = 0; index < length; index += 1) states.push(state);
    }
    return states.slice(0, ticks + 1);
  });
  // What falls together is rare by chance alone.
  if (count > 1 && random() < 0.5) {
    const from = integerBelow(random, ticks);
    for (const states of seen) {
      const start = from + integerBelow(random, 6);
      for (let tick = start; tick < Math.min(ticks + 1, start + 8 + integerBelow(random, 20)); tick += 1)
        states[tick] = 'down';
    }
  }
  const inMaintenance = seen.map((states) => {
    const from = random() < 0.3 ? integerBelow(random, ticks) : ticks + 1;
    const to = from + integerBelow(random, 30);
    return states.map((_, tick) => tick >= from && tick < to);
  });
  const incidents = Array.from({ length: integerBelow(random, 4) }, (_, index): OracleIncident => {
    const from = integerBelow(random, ticks + 20) - 30;
    const components = [...seen.keys()].filter(() => random() < 0.5);
    return { id: `i${index}`, from, to: random() < 0.3 ? null : from + 1 + integerBelow(random, 60), components };
  });
  return {
    ticks,
    seen,
    inMaintenance,
    incidents,
    after: pickOne(random, [0, 2, 6, 10]),
    together: TOGETHER_MS / TICK_MS,
    relapse: RELAPSE_MS / TICK_MS,
  };
}

const instantOf = (tick: number): EpochMs => toEpochMs(T0 + tick * TICK_MS);
const tickOf = (instant: EpochMs): number => (instant - T0) / TICK_MS;

function runsOf<T>(values: readonly T[]): { value: T; from: EpochMs; to: EpochMs }[] {
  const runs: { value: T; from: EpochMs; to: EpochMs }[] = [];
  for (const [tick, value] of values.entries()) {
    const last = runs.at(-1);
    if (last?.value === value) last.to = instantOf(tick + 1);
    else runs.push({ value, from: instantOf(tick), to: instantOf(tick + 1) });
  }
  return runs;
}

const STATES = { up: 'operational', down: 'major_outage', paused: 'paused', silent: 'unknown' } as const;

/** The same world as `src` takes it, as it is known at a tick. Some outages were only recorded, some silence is a gap. */
function derive(world: OracleWorld, ticks: number): Entries {
  const asOf = instantOf(ticks);
  const components = world.seen.map((states, index): FallenComponent => {
    const runs = runsOf(states.slice(0, ticks + 1));
    const isGap = ({ value, from }: (typeof runs)[number]): boolean => value === 'silent' && tickOf(from) % 2 === 0;
    // Before silence the end of a record would be a recovery, which the model has no word for.
    const isRecorded = ({ value, from, to }: (typeof runs)[number]): boolean =>
      value === 'down' && tickOf(from) % 3 === 0 && !runs.some((next) => next.from === to && next.value === 'silent');
    const windows = runsOf((world.inMaintenance[index] ?? []).slice(0, ticks + 1)).filter(({ value }) => value);
    const sightings: Sightings = {
      observed: runs
        .filter((run) => !isGap(run) && !isRecorded(run))
        .map(({ value, from, to }) => ({ state: STATES[value], from, to })),
      outages: runs.filter(isRecorded),
      maintenances: windows,
    };
    return { componentId: `${index}`, falls: fallsOf(sightings, asOf) };
  });
  const incidents = world.incidents.map(
    ({ id, from, to, components: about }): DeclaredIncident => ({
      id,
      startedAt: instantOf(from),
      endedAt: to === null ? null : instantOf(to),
      componentIds: about.map(String),
    }),
  );
  return entriesOf({ components, incidents, afterMs: world.after * TICK_MS, asOf });
}

function entryText({ events, falls: parts, endedAt, adoptedBy }: Entry): string {
  const happened = events
    .filter(({ kind }, index) => kind !== 'closed' || index < events.length - 1 || endedAt === null)
    .map(({ kind, at: when, componentIds }) => [kind, tickOf(when), ...componentIds].join(' '));
  const end = endedAt === null ? 'open' : `closed ${tickOf(endedAt)}`;
  const spans = parts.map(
    ({ componentId, from, to }) => `${componentId}:${tickOf(from)}-${to === null ? '' : tickOf(to)}`,
  );
  return `${happened.join(', ')}, ${end}; ${spans.join(' ')}; ${adoptedBy ?? 'own'}`;
}

describe('entries against an oracle that shares no code', () => {
  const count = Math.ceil(3_000 * TEST_SCALE);

  it(`agree over ${count} random histories`, () => {
    let entriesTotal = 0;
    let adoptedTotal = 0;
    let toldTotal = 0;
    for (let seed = 1; seed <= count; seed += 1) {
      const world = randomWorld(seed);
      const expected = oracleEntries(world);
      const found = derive(world, world.ticks);
      const told = found.declared
        .map(
          ({ componentId, from, to, declaredBy }) =>
            `${componentId}:${tickOf(from)}-${to === null ? '' : tickOf(to)} ${declaredBy}`,
        )
        .sort();
      expect({ entries: found.entries.map(entryText), told }, `seed ${seed}`).toEqual(expected);
      entriesTotal += found.entries.length;
      adoptedTotal += found.entries.filter(({ adoptedBy }) => adoptedBy !== null).length;
      toldTotal += told.length;
    }
    // The worlds hold what the rules are about.
    expect(entriesTotal).toBeGreaterThan(count);
    expect(adoptedTotal).toBeGreaterThan(count / 20);
    expect(toldTotal).toBeGreaterThan(count / 20);
  });

  it('never change when history goes on', () => {
    for (let seed = 1; seed <= Math.ceil(300 * TEST_SCALE); seed += 1) {
      const world = randomWorld(seed);
      const earlier = integerBelow(randomOf(seed + 1), world.ticks);
      const incidents = world.incidents.filter(({ from }) => from <= earlier);
      const before = derive({ ...world, incidents }, earlier).entries;
      const after = derive(world, world.ticks).entries;
      for (const [
        index,
        {
          events,
          startedAt,
          falls: [first],
          adoptedBy,
        },
      ] of before.entries()) {
        const later = after[index];
        const known = events.filter(({ kind }) => kind !== 'closed');
        expect(later?.events.filter(({ kind }) => kind !== 'closed').slice(0, known.length), `seed ${seed}`).toEqual(
          known,
        );
        expect([later?.startedAt, later?.falls[0].componentId, later?.falls[0].from]).toEqual([
          startedAt,
          first.componentId,
          first.from,
        ]);
        if (adoptedBy !== null) expect(later?.adoptedBy).toBe(adoptedBy);
      }
    }
  });

  it('open when they were expected to', () => {
    let expectedTotal = 0;
    for (let seed = 1; seed <= Math.ceil(300 * TEST_SCALE); seed += 1) {
      const world = randomWorld(seed);
      const tick = integerBelow(randomOf(seed + 2), world.ticks);
      const now = world.seen.map((states) => states.slice(0, tick + 1));
      const { nextAt } = derive(world, tick);
      // From here on everything stays as it is.
      const still: OracleWorld = {
        ...world,
        ticks: tick + 30,
        seen: now.map((states) => [...states, ...Array.from({ length: 30 }, () => states.at(-1) ?? 'up')]),
        inMaintenance: world.inMaintenance.map((flags) => [
          ...flags.slice(0, tick + 1),
          ...Array.from({ length: 30 }, () => flags[tick] === true),
        ]),
        incidents: world.incidents.filter(
          ({ from, to }) => from <= tick && (to === null || to > tick + 30 || to <= tick),
        ),
      };
      if (still.incidents.length < world.incidents.filter(({ from }) => from <= tick).length) continue;
      const opened = derive(still, tick + 30)
        .entries.flatMap(({ events }) => events)
        .filter(({ kind, at: when }) => kind !== 'closed' && tickOf(when) > tick);
      const first = opened.length === 0 ? null : Math.min(...opened.map(({ at: when }) => when));
      expect(nextAt, `seed ${seed}`).toBe(first);
      if (nextAt !== null) expectedTotal += 1;
    }
    expect(expectedTotal).toBeGreaterThan(20 * Math.min(1, TEST_SCALE));
  });
});
