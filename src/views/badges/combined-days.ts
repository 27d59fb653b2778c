/** The days of several components as one row of days. */

import {
  type ComponentModel,
  combinedState,
  type DayCell,
  type EpochMs,
  firstKnownAt,
  type State,
} from '../../model/index.ts';
import type { BadgeDay } from './badge.ts';

/** A component's time line with its day cells, the same days for all. */
export interface ComponentDays {
  readonly component: Pick<ComponentModel, 'timeline'>;
  readonly cells: readonly DayCell[];
}

/**
 * One entry for each day: the combined state and the mean coverage of the components that were there by then.
 *
 * A component that was never heard of before a day says nothing about it; silence after its first sighting does, so a
 * day on which one of two was not heard from is not green.
 */
export function combinedDays(members: readonly ComponentDays[], dayCount: number): BadgeDay[] {
  const joined = members.map(({ component, cells }) => ({ cells, since: firstKnownAt(component.timeline) }));
  const [only] = joined;
  return Array.from({ length: dayCount }, (_, index) => {
    if (only !== undefined && joined.length === 1) return dayOfOne(only, index);
    const states: State[] = [];
    let coverage = 0;
    for (const { cells, since } of joined) {
      const cell = cells[index];
      if (cell === undefined || since === null || cell.interval.to <= since) continue;
      states.push(cell.state);
      coverage += cell.coverageRatio;
    }
    return { state: combinedState(states), coverageRatio: states.length === 0 ? 0 : coverage / states.length };
  });
}

interface JoinedDays {
  readonly cells: readonly DayCell[];
  readonly since: EpochMs | null;
}

const NOBODY: BadgeDay = { state: combinedState([]), coverageRatio: 0 };

/** The same of one component, which most badges are about. */
function dayOfOne({ cells, since }: JoinedDays, index: number): BadgeDay {
  const cell = cells[index];
  if (cell === undefined || since === null || cell.interval.to <= since) return NOBODY;
  return { state: cell.state, coverageRatio: cell.coverageRatio };
}
