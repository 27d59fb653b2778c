/** The one line of each component, as the rules lay it: asked piece by piece which of all that is known holds there. */

import type { DeclaredSpan, History, Span } from '../../src/model/overlap.ts';
import type { State } from '../../src/model/state.ts';
import type { Interval } from '../../src/model/time.ts';
import { type OraclePiece, piecesOf } from '../unit/model/oracle.ts';
import type { Freshness, Known } from './known.ts';
import type { PageStory } from './story.ts';
import type { World, WorldComponent } from './world.ts';

const DAY_MS = 86_400_000;
const HISTORY_DAYS = 400;

export interface Line {
  readonly component: WorldComponent;
  /** What monitors and their upstreams saw, and when that was to be expected. */
  readonly history: History;
  /** From the first that is known up to the present and including it; the last piece is the present. */
  readonly pieces: readonly OraclePiece[];
  /** The first instant at which anything was known; null: never. */
  readonly knownFrom: number | null;
  readonly state: State;
  /** Start of its last run; null: nothing was known before. */
  readonly since: number | null;
  readonly isStale: boolean;
}

export interface LineInputs {
  readonly world: World;
  readonly known: Known;
  /** Those on the page, as they are known at `asOf`. */
  readonly stories: readonly PageStory[];
  readonly windows: ReadonlyMap<string, readonly Interval[]>;
  /** The sources that the page rests on. */
  readonly sources: readonly Freshness[];
  /** When the page was published for the first time: from then on people would have said what is wrong. */
  readonly definedAt: number;
  readonly asOf: number;
}

export function lineOf(component: WorldComponent, inputs: LineInputs): Line {
  const { known, asOf, sources } = inputs;
  const { monitor } = component;
  const history = historyOf(component, inputs);
  const { observed, outages, declared = [], watched = [], maintenances } = history;
  const told = [observed, outages, declared, watched, maintenances].flat();
  const first = Math.min(asOf, ...told.map(({ from }) => from as number));
  const window = { from: Math.max(first, asOf - HISTORY_DAYS * DAY_MS), to: asOf + 1 } as Interval;
  const pieces = piecesOf(history, window, window.to - window.from);
  const state = pieces.at(-1)?.state ?? 'unknown';
  const isKnown = (piece: OraclePiece): boolean =>
    piece.state !== 'unknown' || history.observed.some(({ from, to }) => from <= piece.from && piece.from < to);
  const [begin] = pieces;
  const run = runOf(pieces, history);
  return {
    component,
    history,
    pieces,
    knownFrom: pieces.find(isKnown)?.from ?? null,
    state,
    since: run === begin && begin !== undefined && !isKnown(begin) ? null : (run?.from ?? null),
    isStale:
      monitor === null
        ? sources.some(({ isIncidentsStale }) => isIncidentsStale)
        : known.freshness.get(monitor.split('/')[0] ?? '')?.isMonitorsStale !== false,
  };
}

/** The first piece of the last run: a gap, in which nothing is known, is part of it if the same was seen on both sides. */
function runOf(pieces: readonly OraclePiece[], history: History): OraclePiece | undefined {
  const state = pieces.at(-1)?.state;
  let run = pieces.at(-1);
  let hasGap = false;
  for (const piece of pieces.toReversed()) {
    if (piece.state === 'unknown' && state !== 'unknown') hasGap = true;
    else if (piece.state !== state || (hasGap && !(wasSeen(piece, history) && wasSeen(run, history)))) return run;
    else {
      run = piece;
      hasGap = false;
    }
  }
  return run;
}

/** Whether its state is what monitors saw, or that a component without one works. */
function wasSeen(
  piece: OraclePiece | undefined,
  { observed, outages, watched, declared, maintenances }: History,
): boolean {
  if (piece === undefined) return false;
  const holds = ({ from, to }: Interval): boolean => from <= piece.from && piece.from < to;
  if (maintenances.some(holds) || outages.some(holds)) return false;
  const worst = observed.find(holds);
  if (worst !== undefined)
    return worst.state === piece.state || !(declared ?? []).some((one) => holds(one) && one.state === piece.state);
  return piece.state === 'operational' && (watched ?? []).some(holds);
}

function historyOf(
  { id, monitor }: WorldComponent,
  { known, stories, windows, sources, definedAt, asOf }: LineInputs,
): History {
  const after = asOf + 1;
  const about = stories.filter(({ componentIds }) => componentIds.includes(id));
  const observed = monitor === null ? [] : (known.seen.get(monitor) ?? []);
  const heardUntil = Math.min(
    after,
    ...sources.filter(({ isIncidentsStale }) => isIncidentsStale).map(({ incidentsAt }) => incidentsAt ?? 0),
  );
  return {
    observed: observed.map(({ state, from, to }) => ({ state, from, to: Math.min(to, after) }) as Span),
    reported: [],
    outages: about
      .filter(({ item }) => item.isOutage)
      .map(({ item, endedAt }) => ({ from: item.startedAt, to: endedAt ?? after }) as Interval),
    maintenances: windows.get(id) ?? [],
    declared: about.filter(({ item }) => !item.isOutage).flatMap((story) => declaredOf(story, id, after)),
    watched: monitor === null ? [{ from: definedAt, to: Math.max(definedAt, heardUntil) } as Interval] : [],
  };
}

/**
 * What people say of a component while their incident lasts. Until an update names any component, what the incident as a
 * whole says holds; from then on updates are all that is said, each until another one speaks of the component. The first
 * update speaks from the start on.
 */
function declaredOf({ item, endedAt, definitionId }: PageStory, component: string, after: number): DeclaredSpan[] {
  const end = Math.min(endedAt ?? after, after);
  const id = `${definitionId}/${component}`;
  const edges = [item.startedAt, ...item.updates.slice(1).map(({ at }) => Math.max(at, item.startedAt)), end];
  return edges.slice(0, -1).flatMap((from, index) => {
    const to = Math.min(edges[index + 1] ?? end, end);
    const spoken = item.updates.slice(0, index + 1).filter(({ impacts }) => impacts !== undefined);
    const naming = spoken.findLast(({ impacts }) => impacts?.some((one) => one.id === id));
    const overall = item.components.find((one) => one.id === id)?.state ?? item.affectedState;
    const said = spoken.length === 0 ? overall : naming?.impacts?.find((one) => one.id === id)?.state;
    const isTrouble = said === 'degraded' || said === 'partial_outage' || said === 'major_outage';
    if (!isTrouble || from >= to) return [];
    return [{ state: said, from, to, isCounted: item.affectsUptime !== false } as DeclaredSpan];
  });
}

/** All down is an outage, some down a partial one; paused counts for nothing, maintenance for none of "all". */
export function combined(states: readonly State[]): State {
  const active: readonly State[] = states.filter((state) => state !== 'paused');
  if (active.length === 0) return states.length === 0 ? 'unknown' : 'paused';
  const down = active.filter((state) => state === 'major_outage').length;
  const others = active.filter((state) => state !== 'major_outage' && state !== 'maintenance').length;
  if (down > 0) return others === 0 ? 'major_outage' : 'partial_outage';
  const order: readonly State[] = ['partial_outage', 'degraded', 'unknown', 'maintenance'];
  return order.find((state) => active.includes(state)) ?? 'operational';
}

/**
 * Since when the page as a whole is as it is: at each change before, it is asked anew, without what was not known by then, and with
 * each component in its gaps as it was before and after.
 */
export function pageSince(lines: readonly Line[], state: State): number | null {
  const edges = [...new Set(lines.flatMap(({ pieces }) => pieces.map(({ from }) => from)))].sort((a, b) => b - a);
  let since: number | null = null;
  for (const at of edges) {
    const then = lines.flatMap(({ pieces, history, knownFrom }) => {
      if (knownFrom === null || at < knownFrom) return [];
      const there = pieces.find(({ from, to }) => from <= at && at < to);
      if (there?.state !== 'unknown') return there?.state ?? [];
      const before = pieces.findLast((piece) => piece.to <= at && piece.state !== 'unknown');
      const after = pieces.find((piece) => piece.from > at && piece.state !== 'unknown');
      const isGap = before?.state === after?.state && wasSeen(before, history) && wasSeen(after, history);
      return isGap ? (before?.state ?? there.state) : there.state;
    });
    if (then.length === 0 || combined(then) !== state) return since;
    since = at;
  }
  return since;
}
