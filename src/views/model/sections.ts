/** The order in which a page shows its groups and components. */

import { compareAll } from '../../model/entries.ts';
import type {
  ComponentDefinition,
  ComponentModel,
  GroupDefinition,
  PageDefinition,
  PageGroup,
  PageModel,
} from '../../model/index.ts';

/** A group with its components, or neighbours that are in none. */
interface Section {
  /** Null: no group. */
  readonly group: PageGroup | null;
  readonly members: readonly ComponentModel[];
}

/** The page's components as drawn; a group stands where the first of its components does. Empty groups are left out. */
export function listSections({ groups, components }: PageModel): Section[] {
  const byId = new Map(groups.map((group) => [group.id, group]));
  const sections: { group: PageGroup | null; members: ComponentModel[] }[] = [];
  for (const component of components) {
    const group = byId.get(component.definition.groupId ?? '') ?? null;
    const section = group === null ? sections.at(-1) : sections.find((known) => known.group === group);
    if (section !== undefined && section.group === group) section.members.push(component);
    else sections.push({ group, members: [component] });
  }
  return sections;
}

/** What is defined, in the order of the page: groups stand among the components that are in none, by their order. */
export function inPageOrder({ groups, components }: Pick<PageDefinition, 'groups' | 'components'>): {
  readonly groups: readonly GroupDefinition[];
  readonly components: readonly ComponentDefinition[];
} {
  const firsts = new Map<string | null, number>();
  for (const [index, { groupId }] of components.entries()) firsts.getOrInsert(groupId, index);
  const groupRanks = new Map(
    groups.map(({ id, order }, index) => [id, [order, firsts.get(id) ?? components.length, index]]),
  );
  return {
    groups: sortByRank(groups, ({ id }) => groupRanks.get(id) ?? []),
    components: sortByRank(components, ({ groupId, order, groupOrder }, index) => {
      const groupRank = groupRanks.get(groupId ?? '');
      return groupRank === undefined ? [order, index] : [...groupRank, groupOrder, order, index];
    }),
  };
}

/** Names that can be told apart wherever they stand: with the group where a name occurs twice, with the id where that isn't enough. */
export function withContext(
  components: readonly ComponentModel[],
  groups: readonly GroupDefinition[],
): readonly ComponentModel[] {
  const groupNames = new Map(groups.map(({ id, name }) => [id, name]));
  const inGroup = qualify(components, ({ plainName, definition: { groupId } }) => {
    const group = groupNames.get(groupId ?? '');
    return group === undefined ? plainName : `${plainName}, ${group}`;
  });
  return qualify(inGroup, ({ name, definition }) => `${name} (${definition.id})`);
}

/** Renames the components whose name another has too. */
function qualify(
  components: readonly ComponentModel[],
  rename: (component: ComponentModel) => string,
): readonly ComponentModel[] {
  const counts = Map.groupBy(components, ({ name }) => name.toLowerCase());
  return components.map((component) =>
    (counts.get(component.name.toLowerCase())?.length ?? 0) < 2 ? component : { ...component, name: rename(component) },
  );
}

/** Each rank is computed once: a comparison of lists is made several times for each of them. */
function sortByRank<Item>(items: readonly Item[], rankOf: (item: Item, index: number) => readonly number[]): Item[] {
  return items
    .map((item, index) => ({ item, rank: rankOf(item, index) }))
    .sort((a, b) => compareAll(a.rank, b.rank))
    .map(({ item }) => item);
}
