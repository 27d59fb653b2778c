/** Words of status-page and monitor resources, shared by the uptime service and its Terraform files. */

import type {
  AccessType,
  ComponentDefinition,
  GroupDefinition,
  PagePresentation,
  Theme,
} from '../../model/observation.ts';
import { isLocale, SLUG } from '../../model/scalars.ts';
import { compareIds } from './items.ts';
import type { StateWords } from './wire.ts';

/** The read-only `status` of a monitor. */
export const MONITOR_WORDS: StateWords = {
  active: 'operational',
  degraded: 'degraded',
  error: 'major_outage',
  unknown: 'unknown',
  unspecified: 'unknown',
};

/** Who may see a page. */
export const ACCESS_WORDS: Readonly<Record<string, AccessType>> = {
  public: 'public',
  password: 'password',
  password_protected: 'password',
  'email-domain': 'email-domain',
  authenticated: 'email-domain',
  // Access by address isn't supported here, so nobody can see the page.
  ip: 'closed',
  'ip-restriction': 'closed',
  ip_restricted: 'closed',
};

export const THEME_WORDS: Readonly<Record<string, Theme>> = { system: 'system', light: 'light', dark: 'dark' };

/** The presentation of a page by its service; undefined if it says nothing. */
export function toPresentation(said: PagePresentation): PagePresentation | undefined {
  return Object.values(said).every((value) => value === undefined) ? undefined : said;
}

/** The canonical form of a language tag; undefined if it is invalid. */
export function toLocale(tag: unknown): string | undefined {
  return typeof tag === 'string' && isLocale(tag) ? Intl.getCanonicalLocales(tag)[0] : undefined;
}

/** The slug as used in URLs; null if it isn't valid. */
export function toSlug(slug: string): string | null {
  const lower = slug.toLowerCase();
  return SLUG.test(lower) ? lower : null;
}

/** Groups have no order of their own; each is placed at its first component. */
export function placeGroups(
  groups: readonly Omit<GroupDefinition, 'order'>[],
  components: readonly ComponentDefinition[],
): GroupDefinition[] {
  const first = new Map<string, number>();
  for (const { groupId, order } of components)
    if (groupId !== null) first.set(groupId, Math.min(order, first.get(groupId) ?? Number.MAX_SAFE_INTEGER));
  return groups
    .map((group) => ({ ...group, order: first.get(group.id) ?? Number.MAX_SAFE_INTEGER }))
    .toSorted((a, b) => a.order - b.order || compareIds(a.id, b.id));
}

/** Components in order, each in an existing group or in none. */
export function placeComponents(
  components: readonly ComponentDefinition[],
  groups: readonly { readonly id: string }[],
): ComponentDefinition[] {
  const known = new Set(groups.map((group) => group.id));
  return components
    .map((component) =>
      component.groupId === null || known.has(component.groupId) ? component : { ...component, groupId: null },
    )
    .toSorted((a, b) => a.order - b.order || compareIds(a.id, b.id));
}
