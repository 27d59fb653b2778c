/** Which components there are in which order, and which of them something is about. */

import type { World, WorldComponent } from './world.ts';

/** Groups stand among the components that are in none, by order; a component of a group by its place there. */
export function inPageOrder({ components, groups }: World): readonly WorldComponent[] {
  const places = components.map((component, place) => {
    const group = groups.find(({ id }) => id === component.groupId);
    const first = components.findIndex(({ groupId }) => groupId === component.groupId);
    const rank =
      group === undefined
        ? [component.order, place, 0, 0, 0]
        : [group.order, first, component.groupOrder, component.order, place];
    return { component, rank };
  });
  return places
    .toSorted(
      (a, b) => a.rank.map((one, index) => one - (b.rank[index] ?? 0)).find((difference) => difference !== 0) ?? 0,
    )
    .map(({ component }) => component);
}

/** Components named by themselves or by their monitor, in the order of the page. */
export function namedComponents(world: World, monitors: readonly string[], names: readonly string[]): string[] {
  return inPageOrder(world)
    .filter(
      ({ id, monitor }) =>
        names.includes(`${world.definitionId}/${id}`) || (monitor !== null && monitors.includes(monitor)),
    )
    .map(({ id }) => id);
}
