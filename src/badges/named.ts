/** Which badge a name stands for: a standard one is called by its kind, the operator's own as the configuration says. */

import { z } from 'zod';
import { BADGE_KINDS, type BadgeKind, isBadgeKind } from './kinds.ts';
import { isBadgeName } from './names.ts';
import { type BadgeOptions, BadgeOptionsSchema, mergeBadgeOptions } from './options.ts';

/** A badge of the operator's own beside the standard ones, under `badges/<name>.svg`. */
export const NamedBadgeSchema = BadgeOptionsSchema.extend({
  name: z
    .string()
    .refine(isBadgeName, 'expected at most 64 lower-case letters, digits and -, not ending in -light or -dark'),
  kind: z.enum(BADGE_KINDS),
});
export type NamedBadge = z.output<typeof NamedBadgeSchema>;

/** All of a page's own badges. */
export const NamedBadgesSchema = z
  .array(NamedBadgeSchema)
  .max(200)
  .refine((badges) => new Set(badges.map(({ name }) => name)).size === badges.length, 'two badges have the same name');

/** The badge that a name stands for: one of the operator's, else a standard one; null: there is none. */
export function resolveBadge(
  name: string,
  named: readonly NamedBadge[],
  page: BadgeOptions = {},
): { readonly kind: BadgeKind; readonly options: BadgeOptions } | null {
  const own = named.find((badge) => badge.name === name);
  if (own) {
    const { name: _, kind, ...options } = own;
    return { kind, options: mergeBadgeOptions(page, options) };
  }
  return isBadgeKind(name) ? { kind: name, options: page } : null;
}
