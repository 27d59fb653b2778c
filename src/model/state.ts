/** The seven states, their order, and how to combine several into one. */

export const STATES = [
  'operational',
  'degraded',
  'partial_outage',
  'major_outage',
  'maintenance',
  'paused',
  'unknown',
] as const;
/** The state of a monitor, component, group or page. `unknown` is never green and never red. */
export type State = (typeof STATES)[number];

/** From worst to best. `unknown` is better than any known trouble, and worse than everything that looks fine. */
export const STATES_BY_IMPACT = [
  'major_outage',
  'partial_outage',
  'degraded',
  'unknown',
  'maintenance',
  'operational',
  'paused',
] as const satisfies readonly State[];

const RANK: Readonly<Record<State, number>> = Object.freeze(
  Object.fromEntries(STATES_BY_IMPACT.map((state, index) => [state, index])),
) as Readonly<Record<State, number>>;

/** Whether `a` is worse for a visitor than `b`. */
export function isWorse(a: State, b: State): boolean {
  return RANK[a] < RANK[b];
}

/** The worse of two states. */
export function worse(a: State, b: State): State {
  return isWorse(a, b) ? a : b;
}

/**
 * The state of a page or a group, from its components.
 *
 * All down is `major_outage`, some down is `partial_outage`; otherwise the worst by impact. `paused` is ignored unless
 * everything is paused. Components in maintenance are ignored when deciding between "some" and "all". Without
 * components: `unknown`.
 */
export function combinedState(states: readonly State[]): State {
  let active = 0;
  let down = 0;
  let inMaintenance = 0;
  let worst: State = 'operational';
  for (const state of states) {
    if (state === 'paused') continue;
    active += 1;
    if (state === 'major_outage') down += 1;
    if (state === 'maintenance') inMaintenance += 1;
    worst = worse(worst, state);
  }
  if (active === 0) return states.length === 0 ? 'unknown' : 'paused';
  if (down > 0) return down === active - inMaintenance ? 'major_outage' : 'partial_outage';
  return worst;
}
