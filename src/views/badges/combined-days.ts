/** The days of several components as one row of days. */

import { LOOKS } from '../../looks/states.ts';
import {
  type ComponentModel,
  combinedState,
  type DayCell,
  type EpochMs,
  firstKnownAt,
  type State,
} from '../../model/index.ts';

/** A component's time line with its day cells, the same days for all. */
export interface ComponentDays {
  readonly component: Pick<ComponentModel, 'timeline'>;
  readonly cells: readonly DayCell[];
}

/**
 * A letter for each day, as in bars: the combined state of the components that were there by then.
 *
 * A component that was never heard of before a day says nothing about it; silence after its first sighting does, so a
 * day on which one of two was not heard from is not green.
 */
export function combinedDays(members: readonly ComponentDays[], dayCount: number): string {
  const joined = members.map(({ component, cells }) => ({ cells, since: firstKnownAt(component.timeline) }));
  const [only] = joined;
  const stateAt =
    only !== undefined && joined.length === 1
      ? // Of most subjects there is one.
        (index: number) => stateOn(only, index) ?? 'unknown'
      : (index: number) => combinedState(statesOn(joined, index));
  const letters: string[] = [];
  for (let index = 0; index < dayCount; index += 1) letters.push(LOOKS[stateAt(index)].letter);
  return letters.join('');
}

function statesOn(joined: readonly JoinedDays[], index: number): readonly State[] {
  const states: State[] = [];
  for (const one of joined) {
    const state = stateOn(one, index);
    if (state !== null) states.push(state);
  }
  return states;
}

interface JoinedDays {
  readonly cells: readonly DayCell[];
  readonly since: EpochMs | null;
}

/** Null: nothing was known of it by then. */
function stateOn({ cells, since }: JoinedDays, index: number): State | null {
  const cell = cells[index];
  return cell === undefined || since === null || cell.interval.to <= since ? null : cell.state;
}
