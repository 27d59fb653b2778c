/** Badges, importable as `pharos/badges`: light to load, pure and synchronous. */

export type { Logo } from './drawings.ts';
export { parsePathData } from './lettering/path-data.ts';
export { BADGE_SCHEMES, BADGE_STYLES, type BadgeScheme, type BadgeStyle } from './names.ts';
export { type BadgeFields, renderBadge } from './render.ts';
