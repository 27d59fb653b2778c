/** Components to choose from, grouped as on their page: in the form of subscribers and in that of operators. */

import type { Pieces } from '../model/translated.ts';

/** A box to tick or, with options, a choice of one. */
export interface PickerItem {
  readonly name: string;
  readonly label: Pieces;
  /** Of a box: what is sent when it is ticked. Of a choice: the option that is chosen. */
  readonly value: string;
  readonly isChosen: boolean;
  readonly options?: readonly { readonly value: string; readonly text: string }[];
}

export interface PickerGroup {
  readonly id: string;
  readonly name: string;
  /** Of its name, where that is not the page's. */
  readonly lang?: string | undefined;
}

interface PickerInit<Component> {
  readonly legend: string;
  readonly search: string;
  readonly itemFor: (component: Component) => PickerItem;
  readonly wholeFor: (group: PickerGroup) => PickerItem;
}

/** More than these are found by name, and their groups are folded. */
const SHORT_MAX = 12;

export type PickerView = ReturnType<typeof pickerView>;

/** @param components  in the order of the page, where a group's stand together */
export function pickerView<Component extends { readonly group?: PickerGroup | null }>(
  components: readonly Component[],
  { legend, search, itemFor, wholeFor }: PickerInit<Component>,
) {
  const isShort = components.length <= SHORT_MAX;
  const sections: { group: PickerGroup | null; items: PickerItem[] }[] = [];
  for (const component of components) {
    const group = component.group ?? null;
    const last = sections.at(-1);
    if (last !== undefined && last.group?.id === group?.id) last.items.push(itemFor(component));
    else sections.push({ group, items: [itemFor(component)] });
  }
  return {
    legend,
    // Label of the box that finds components by name; null: there are few.
    search: isShort ? null : search,
    sections: sections.map(({ group, items }) => ({
      // Null: components in no group.
      legend: group?.name ?? null,
      // Of the legend, where that is not the page's.
      lang: group?.lang,
      // For all of them at once: the server puts it in place of each. Null: there are no two.
      whole: group === null || items.length < 2 ? null : wholeFor(group),
      items,
      isOpen: isShort || items.some(({ isChosen }) => isChosen),
    })),
  };
}
