/** Maintenance as the page must tell it: nothing before it was heard of, nothing of the future, and no way back. */

import type { Maintenance } from '../../src/model/observation.ts';
import type { Interval } from '../../src/model/time.ts';
import { type Known, type KnownStory, windowsOf } from './known.ts';
import { namedComponents } from './placing.ts';
import type { ExpectedUpdate } from './story.ts';
import type { World } from './world.ts';

export interface ExpectedPlan {
  readonly key: string;
  readonly title: string;
  readonly status: string;
  /** The window that runs or comes next, else the last. */
  readonly startsAt: number;
  readonly endsAt: number;
  readonly windows: readonly Interval[];
  readonly repeats: boolean;
  /** When it was first told of. */
  readonly announcedAt: number;
  readonly componentIds: readonly string[];
  /** Oldest first. */
  readonly updates: readonly ExpectedUpdate[];
}

const PHASES = ['scheduled', 'in_progress', 'verifying', 'completed'];

export function expectedPlans(world: World, known: Known, asOf: number): ExpectedPlan[] {
  return known.maintenances.flatMap((story) => planOf(world, story, asOf)).sort((a, b) => b.startsAt - a.startsAt);
}

function planOf(world: World, { item, firstSeenAt }: KnownStory<Maintenance>, asOf: number): ExpectedPlan[] {
  const componentIds = namedComponents(world, item.monitors, item.components);
  const { pages } = item;
  const isHere =
    pages === null ? componentIds.length > 0 : pages.includes(world.definitionId) || pages.includes(world.slug);
  if (!isHere) return [];
  const windows = windowsOf(item);
  const next = windows.findIndex(({ to }) => to > asOf);
  const index = next === -1 ? windows.length - 1 : next;
  const window = windows[index] as Interval;
  const announcedAt = Math.min(firstSeenAt, asOf, windows[0]?.from ?? asOf);
  // Each window of one that comes back is a plan from the end of the one before.
  const opensAt = Math.max(announcedAt, windows[index - 1]?.to ?? announcedAt);
  const said: { at: number; status: string | null }[] = [
    { at: opensAt, status: 'scheduled' },
    ...item.updates.filter(({ at }) => at <= asOf && (item.repeats === undefined || at >= opensAt)),
  ];
  const edges = [
    { at: window.from, status: 'in_progress' },
    { at: window.to, status: 'completed' },
  ];
  // What somebody says in that very instant, or goes beyond, is not said twice.
  const isSaid = (edge: { at: number; status: string }): boolean =>
    said.some(({ at, status }) => at === edge.at && PHASES.indexOf(status ?? '') >= PHASES.indexOf(edge.status));
  said.push(...edges.filter((edge) => edge.at <= asOf && !isSaid(edge)));
  said.sort((a, b) => a.at - b.at);
  let phase = 0;
  const updates = said.map(({ at, status }): ExpectedUpdate => {
    phase = Math.max(phase, PHASES.indexOf(status ?? ''));
    return { at, status: PHASES[phase] ?? '' };
  });
  return [
    {
      key: item.id,
      title: item.title,
      status: updates.at(-1)?.status ?? 'scheduled',
      startsAt: window.from,
      endsAt: window.to,
      windows,
      repeats: item.repeats !== undefined,
      announcedAt,
      componentIds,
      updates,
    },
  ];
}
