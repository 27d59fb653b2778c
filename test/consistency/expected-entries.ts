/** The outages that monitors saw, as stories: the rules played tick by tick over the time in which anything happens. */

import type { State } from '../../src/model/state.ts';
import { closedTick, type OracleEntry, type OracleWorld, oracleStories } from '../unit/model/entries-oracle.ts';
import { stateAt } from '../unit/model/oracle.ts';

import type { Line } from './lines.ts';
import type { ExpectedStory, ExpectedUpdate, PageStory } from './story.ts';
import { TICK_MS, type World } from './world.ts';

interface EntryInputs {
  readonly stories: readonly PageStory[];
  readonly lines: readonly Line[];
  readonly asOf: number;
}

const TOGETHER_MS = 120_000;
const RELAPSE_MS = 600_000;
/** Nothing of the rules reaches further than this from one event to the next, in ticks. */
const REACH = 45;

export function automaticStories(
  world: World,
  inputs: EntryInputs,
): { readonly automatic: ExpectedStory[]; readonly adopted: ReadonlyMap<string, ExpectedStory[]> } {
  if (world.afterMs === null) return { automatic: [], adopted: new Map() };
  const { lines, asOf } = inputs;
  const declared = inputs.stories
    .filter(({ item, endedAt }) => !item.isOutage && (endedAt === null || endedAt > item.startedAt))
    .map((story) => ({ story, id: `${story.item.id}${story.item.bornAt}` }));
  const times = eventfulTicks(
    lines,
    declared.map(({ story }) => story),
    asOf,
  );
  const tickOf = (at: number): number => times.findIndex((time) => time >= at);
  const seenAt = (line: Line, at: number) => {
    const seen = seenWord(stateAt({ ...line.history, maintenances: [], declared: [], watched: [] }, at));
    // An upstream that records the end of an outage says that it is well again, if nobody says anything else.
    const isRecovery = line.history.outages.some(({ to }) => to === at && to <= asOf);
    return seen === 'silent' && isRecovery ? 'up' : seen;
  };
  const oracle: OracleWorld = {
    ticks: times.length - 1,
    seen: lines.map((line) => times.map((at) => (line.component.monitor === null ? 'silent' : seenAt(line, at)))),
    inMaintenance: lines.map(({ history }) =>
      times.map((at) => history.maintenances.some(({ from, to }) => from <= at && at < to)),
    ),
    incidents: declared.map(({ story: { item, endedAt, componentIds }, id }) => ({
      id,
      from: tickOf(item.startedAt),
      // One that an upstream of another clock ends later than now is open at every tick.
      to: endedAt === null || endedAt > (times.at(-1) ?? 0) ? null : tickOf(endedAt),
      components: componentIds.map((one) => lines.findIndex(({ component }) => component.id === one)),
    })),
    after: world.afterMs / TICK_MS,
    together: TOGETHER_MS / TICK_MS,
    relapse: RELAPSE_MS / TICK_MS,
  };
  const made = times.length === 0 ? [] : oracleStories(oracle).entries;
  const told = made.map((entry) => ({ entry, story: storyOf(entry, { ...inputs, times }) }));
  const adopters = Map.groupBy(told, ({ entry }) => entry.adopter?.id ?? '');
  return {
    automatic: (adopters.get('') ?? []).map(({ story }) => story),
    adopted: new Map([...adopters].filter(([id]) => id !== '').map(([id, all]) => [id, all.map(({ story }) => story)])),
  };
}

function seenWord(state: State): OracleWorld['seen'][number][number] {
  if (state === 'major_outage' || state === 'partial_outage') return 'down';
  if (state === 'operational' || state === 'degraded') return 'up';
  return state === 'paused' ? 'paused' : 'silent';
}

/** Every tick up to `asOf` that is near an event; the rest is as the tick before it. */
function eventfulTicks(lines: readonly Line[], stories: readonly PageStory[], asOf: number): number[] {
  const isFallen = lines.some(
    ({ history: { observed, outages } }) =>
      outages.length > 0 || observed.some(({ state }) => seenWord(state) === 'down'),
  );
  if (!isFallen) return [];
  const edges = [
    ...lines.flatMap(({ history }) => [...history.observed, ...history.outages, ...history.maintenances]),
    ...stories.map(({ item, endedAt }) => ({ from: item.startedAt, to: endedAt ?? item.startedAt })),
  ].flatMap(({ from, to }) => [from, to]);
  const last = Math.floor(asOf / TICK_MS);
  const ticks = new Set([last]);
  for (const edge of edges) {
    const tick = Math.floor(edge / TICK_MS);
    for (let at = tick - 1; at <= Math.min(tick + REACH, last); at += 1) ticks.add(at);
  }
  const times = [...ticks].sort((a, b) => a - b).map((tick) => tick * TICK_MS);
  // What an upstream of another clock ends later than now ends now, between two ticks.
  const isEnding = asOf % TICK_MS !== 0 && lines.some(({ history }) => history.outages.some(({ to }) => to === asOf));
  return isEnding ? [...times, asOf] : times;
}

function storyOf(
  entry: OracleEntry,
  { stories, lines, times, asOf }: EntryInputs & { readonly times: readonly number[] },
): ExpectedStory {
  const at = (tick: number): number => times[tick] ?? Number.NaN;
  const closed = closedTick(entry);
  const endedAt = closed === null ? null : at(closed);
  const indices = new Set(entry.falls.map(({ component }) => component));
  const about = lines.filter((_, index) => indices.has(index)).map(({ component }) => component);
  const startedAt = at(entry.falls[0]?.from ?? 0);
  const events = [...entry.events, ...(closed === null ? [] : [`closed ${closed}`])];
  const updates = events.map((event): ExpectedUpdate => {
    const [kind, tick] = event.split(' ');
    return { at: at(Number(tick)), status: kind === 'closed' ? 'resolved' : 'investigating' };
  });
  const words = upstreamWords(entry, { stories, lines, at, endedAt });
  return {
    key: `auto ${startedAt} ${about.map(({ id }) => id).join('+')}`,
    isAutomatic: true,
    falls: entry.falls.map(({ component, from }) => `${lines[component]?.component.id}@${at(from)}`),
    firstSeenAt: Infinity,
    title: `Outage: ${namesText(about.map(({ name }) => name))}`,
    status: endedAt === null ? 'investigating' : 'resolved',
    impact: impactOf(
      about.length / lines.filter(({ component }) => component.monitor !== null).length,
      (endedAt ?? asOf) - startedAt,
    ),
    startedAt,
    endedAt,
    componentIds: about.map(({ id }) => id),
    updates: entry.adopter === null ? [...updates, ...words].sort((a, b) => a.at - b.at) : updates,
  };
}

/** What an upstream says of its record shows only where a component shows such details. */
function upstreamWords(
  { falls }: OracleEntry,
  {
    stories,
    lines,
    at,
    endedAt,
  }: Pick<EntryInputs, 'stories' | 'lines'> & {
    readonly at: (tick: number) => number;
    readonly endedAt: number | null;
  },
): ExpectedUpdate[] {
  const shown = new Set(
    falls.flatMap(({ component }) => {
      const known = lines[component]?.component;
      return known?.showsDetails === true && known.monitor !== null ? [known.monitor] : [];
    }),
  );
  return stories
    .filter(({ item }) => item.isOutage && item.monitors.some((monitor) => shown.has(monitor)))
    .filter(({ item, endedAt: over }) =>
      falls.some(
        (fall) =>
          item.startedAt < (fall.over === null ? Infinity : at(fall.over)) && (over ?? Infinity) > at(fall.from),
      ),
    )
    .flatMap(({ item }) =>
      item.updates
        .filter((update) => endedAt === null || update.at < endedAt)
        .map((update) => ({ at: update.at, status: 'investigating' })),
    );
}

/** By how much of what is watched is down, and for how long. */
function impactOf(share: number, lastsMs: number): string {
  if (share >= 0.5) return lastsMs >= 600_000 ? 'critical' : 'major';
  if (share >= 0.1) return lastsMs >= 600_000 ? 'major' : 'minor';
  return lastsMs >= 7_200_000 ? 'major' : 'minor';
}

/** Up to four by name, of more the first three. */
export function namesText(names: readonly string[]): string {
  const listed = names.length > 4 ? [...names.slice(0, 3), `${names.length - 3} others`] : [...names];
  const last = listed.pop() ?? '';
  if (listed.length === 0) return last;
  return listed.length === 1 ? `${listed[0]} and ${last}` : `${listed.join(', ')}, and ${last}`;
}
