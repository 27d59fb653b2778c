/** What a page must say at an instant, by the rules alone: components, stories, maintenance, freshness. */

import type { Incident } from '../../src/model/observation.ts';
import type { State } from '../../src/model/state.ts';
import type { Interval } from '../../src/model/time.ts';
import { automaticStories } from './expected-entries.ts';
import { type ExpectedPlan, expectedPlans } from './expected-plans.ts';
import { type Freshness, type Known, type KnownStory, knownAt } from './known.ts';
import { combined, type Line, lineOf, pageSince } from './lines.ts';
import { inPageOrder, namedComponents } from './placing.ts';
import type { ExpectedStory, ExpectedUpdate, PageStory } from './story.ts';
import { upstreamOf, type World } from './world.ts';

export interface Expected {
  readonly world: World;
  /** Index of the step that looks. */
  readonly upTo: number;
  readonly asOf: number;
  readonly known: Known;
  readonly state: State;
  readonly since: number | null;
  readonly isStale: boolean;
  readonly intervalMs: number;
  readonly definedAt: number;
  /** In the order of the page. */
  readonly lines: readonly Line[];
  readonly stories: readonly ExpectedStory[];
  readonly plans: readonly ExpectedPlan[];
}

export function expectedAt(
  world: World,
  { now, upTo, asOf, definedAt }: { now: number; upTo: number; asOf: number; definedAt: number },
): Expected {
  const known = knownAt(world, now, upTo);
  const stories = known.incidents.flatMap((story) => pageStory(world, story, asOf));
  const plans = expectedPlans(world, known, asOf);
  const sources = sourcesOf(world, known, stories);
  const windows = new Map(
    world.components.map(({ id }) => [
      id,
      plans
        .filter(({ componentIds }) => componentIds.includes(id))
        .flatMap((plan): readonly Interval[] => plan.windows),
    ]),
  );
  const inputs = { world, known, stories, windows, sources, definedAt, asOf };
  const lines = inPageOrder(world).map((component) => lineOf(component, inputs));
  const state = combined(lines.map((line) => line.state));
  return {
    world,
    upTo,
    asOf,
    known,
    state,
    since: pageSince(lines, state),
    isStale: sources.some(({ isMonitorsStale, isIncidentsStale }) => isMonitorsStale || isIncidentsStale),
    intervalMs: Math.max(0, ...sources.map(({ intervalMs }) => intervalMs)),
    definedAt,
    lines,
    stories: toldStories(world, { stories, lines, asOf }),
    plans,
  };
}

/** On the page where it names the page, or nothing of pages and a component of it; over when its status or its end says so. */
function pageStory(world: World, { item, firstSeenAt }: KnownStory<Incident>, asOf: number): PageStory[] {
  if (item.startedAt > asOf) return [];
  const componentIds = namedComponents(
    world,
    item.monitors,
    item.components.map(({ id }) => id),
  );
  const { pages, startedAt } = item;
  const isHere =
    pages === null
      ? componentIds.length > 0
      : pages.includes(world.definitionId as never) || pages.includes(world.slug);
  if (!isHere) return [];
  const updates = item.updates.filter(({ at }) => at <= asOf);
  const saysOver = item.status === 'resolved' || item.status === 'postmortem';
  const hasEnded = item.endedAt !== null && item.endedAt <= asOf;
  const lastSaid = Math.max(startedAt, updates.at(-1)?.at ?? startedAt);
  const end = Math.max(startedAt, Math.min(item.endedAt ?? lastSaid, asOf));
  const isOver = saysOver || hasEnded;
  return [
    {
      item: { ...item, updates },
      firstSeenAt,
      definitionId: world.definitionId,
      componentIds,
      endedAt: isOver ? end : item.endedAt !== null && item.endedAt <= asOf ? end : null,
      status: isOver && !saysOver ? 'resolved' : item.status,
    },
  ];
}

/** Upstreams of the page's monitors and of its definition, and of whoever says now that something is wrong. */
function sourcesOf(world: World, known: Known, stories: readonly PageStory[]): Freshness[] {
  const ids = new Set([
    upstreamOf(world.definitionId),
    ...world.components.flatMap(({ monitor }) => (monitor === null ? [] : [upstreamOf(monitor)])),
    ...stories.filter(({ endedAt }) => endedAt === null).map(({ item }) => upstreamOf(item.id)),
  ]);
  return [...ids].flatMap((id) => known.freshness.get(id) ?? []);
}

function toldStories(
  world: World,
  {
    stories,
    lines,
    asOf,
  }: { readonly stories: readonly PageStory[]; readonly lines: readonly Line[]; readonly asOf: number },
): ExpectedStory[] {
  const { automatic, adopted } = automaticStories(world, { stories, lines, asOf });
  const declared = stories
    .filter(({ item }) => !item.isOutage)
    .map((story): ExpectedStory => {
      const { item } = story;
      const entries = adopted.get(item.id + item.bornAt) ?? [];
      const written = writtenUpdates(story);
      const ids = new Set([...story.componentIds, ...entries.flatMap(({ componentIds }) => componentIds)]);
      const firstAt = written[0]?.at ?? 0;
      const found = entries.flatMap(({ updates }) => updates).filter(({ at }) => at < firstAt);
      return {
        key: `${item.id}@${item.bornAt}`,
        isAutomatic: false,
        falls: entries.flatMap(({ falls }) => falls),
        firstSeenAt: story.firstSeenAt,
        title: item.title,
        status: story.status,
        impact: item.impact,
        startedAt: Math.min(item.startedAt, ...entries.map(({ startedAt }) => startedAt)),
        endedAt: story.endedAt,
        componentIds: lines.map(({ component }) => component.id).filter((id) => ids.has(id)),
        updates: [...found.sort((a, b) => a.at - b.at), ...written],
      };
    });
  return [...declared, ...automatic].sort((a, b) => b.startedAt - a.startedAt || (a.key < b.key ? -1 : 1));
}

/** Each with the status it left the story in; at least one, and the last leaves it in its own. */
function writtenUpdates({ item, status, endedAt }: PageStory): ExpectedUpdate[] {
  let reached = 'investigating';
  const updates = item.updates.map(({ at, status: said }): ExpectedUpdate => {
    reached = said ?? reached;
    return { at, status: reached };
  });
  if (updates.length === 0) updates.push({ at: item.startedAt, status: 'investigating' });
  const last = updates.at(-1);
  if (last === undefined || last.status === status) return updates;
  if (status !== 'resolved') return [...updates.slice(0, -1), { at: last.at, status }];
  return [...updates, { at: Math.max(last.at, endedAt ?? last.at), status }];
}
