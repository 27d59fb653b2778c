/** The state of several components as one, and since when it is that. */

import {
  type ComponentDefinition,
  type ComponentModel,
  combinedState,
  type EpochMs,
  fillGaps,
  later,
  type State,
  type TimelineSpan,
} from '../../model/index.ts';

/** The components whose state is part of the page's; all of them where none is. */
export function countedComponents<T extends { readonly definition: Pick<ComponentDefinition, 'counts'> }>(
  components: readonly T[],
): readonly T[] {
  const counted = components.filter(({ definition }) => definition.counts !== false);
  return counted.length === 0 ? components : counted;
}

/** The combined state now, and when the components together came into it; null: nothing was known before. */
export function combinedPresent(components: readonly ComponentModel[]): {
  readonly state: State;
  readonly since: EpochMs | null;
} {
  const state = combinedState(components.map((component) => component.state));
  return {
    state,
    since: stateBegan(
      components.map(({ timeline }) => fillGaps(timeline)),
      state,
    ),
  };
}

/** Walks back over all time lines at once, from one change to the one before; what was not known by then is left out. */
function stateBegan(timelines: readonly (readonly TimelineSpan[])[], state: State): EpochMs | null {
  const at = timelines.map(({ length }) => length - 1);
  let since: EpochMs | null = null;
  for (;;) {
    const known = timelines.flatMap((timeline, index) => {
      const place = at[index] ?? -1;
      const span = timeline[place];
      return span === undefined || (place === 0 && span.provenance === 'none') ? [] : [{ index, span }];
    });
    const [first, ...others] = known;
    if (first === undefined || combinedState(known.map(({ span }) => span.state)) !== state) return since;
    since = others.reduce((latest, { span }) => later(latest, span.from), first.span.from);
    for (const { index, span } of known) if (span.from === since) at[index] = (at[index] ?? 0) - 1;
  }
}
