/** Orders configured groups among components without a group. */

import type { ComponentDefinition, GroupDefinition } from '../../model/observation.ts';

interface ConfiguredGroup {
  readonly id: string;
  readonly name: string;
  readonly order?: number | undefined;
  readonly default_open?: boolean | undefined;
  readonly counts?: boolean | undefined;
}

/** A position between two entries of the list. */
const STEP = 2 ** -20;

/**
 * A group is placed by its own `order`. Without one, it is placed where its first component is, and never before a group that
 * is listed earlier.
 */
export function placedGroups(
  groups: readonly ConfiguredGroup[],
  components: readonly ComponentDefinition[],
): GroupDefinition[] {
  let last = Number.NEGATIVE_INFINITY;
  return groups.map(({ id, name, order: own, default_open: defaultOpen, counts }) => {
    const first = components.filter(({ groupId }) => groupId === id).map(({ order }) => order);
    const order = own ?? Math.max(last + STEP, Math.min(...first));
    // A group without components isn't shown, and moves nothing.
    if (Number.isFinite(order)) last = order;
    return { id, name, order: Number.isFinite(order) ? order : Number.MAX_SAFE_INTEGER, defaultOpen, counts };
  });
}
