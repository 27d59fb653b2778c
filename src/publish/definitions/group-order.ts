/** Where configured groups stand among the components that are in none. */

import type { ComponentDefinition, GroupDefinition } from '../../model/observation.ts';

interface ConfiguredGroup {
  readonly id: string;
  readonly name: string;
  readonly order?: number | undefined;
  readonly default_open?: boolean | undefined;
  readonly counts?: boolean | undefined;
}

/** Between two places of the list, however many groups come to stand there. */
const STEP = 2 ** -20;

/**
 * A group stands where its own `order` says; without one where its first component does, and never before a group that is
 * listed before it.
 */
export function placedGroups(
  groups: readonly ConfiguredGroup[],
  components: readonly ComponentDefinition[],
): GroupDefinition[] {
  let last = Number.NEGATIVE_INFINITY;
  return groups.map(({ id, name, order: own, default_open: defaultOpen, counts }) => {
    const first = components.filter(({ groupId }) => groupId === id).map(({ order }) => order);
    const order = own ?? Math.max(last + STEP, Math.min(...first));
    // One without components is not drawn, and moves nothing.
    if (Number.isFinite(order)) last = order;
    return { id, name, order: Number.isFinite(order) ? order : Number.MAX_SAFE_INTEGER, defaultOpen, counts };
  });
}
