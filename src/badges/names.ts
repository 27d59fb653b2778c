/** What badges are called: styles, schemes, formats, and their file names. */

/** `bars` and `spark` are flat badges with a drawing; without anything to draw they are flat. */
export const BADGE_STYLES = [
  ...(['flat', 'square', 'pill', 'tall', 'dot', 'bars', 'spark'] as const),
  // Set in the viewer's fonts, so that no outlines have to be sent.
  ...(['flat-text', 'square-text', 'pill-text', 'tall-text'] as const),
] as const;
export type BadgeStyle = (typeof BADGE_STYLES)[number];

/** `auto` follows the ground: the page's colour scheme where the viewer tells the picture, else the system's. */
export const BADGE_SCHEMES = ['auto', 'light', 'dark'] as const;
export type BadgeScheme = (typeof BADGE_SCHEMES)[number];

/** How the file name of each format ends. Those with a scheme come first, since `.svg` ends them too. */
export const BADGE_FORMATS = ['-light.svg', '-dark.svg', '.svg', '.json', '.png'] as const;
export type BadgeFormat = (typeof BADGE_FORMATS)[number];

const NAME = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;

/** Whether a badge may be called so: 1 to 64 of `a-z`, `0-9` and `-`, such that no file name means two badges. */
export function isBadgeName(name: string): boolean {
  return NAME.test(name) && !name.endsWith('-light') && !name.endsWith('-dark');
}

/** `uptime-90d-dark.svg` for `uptime-90d` and `-dark.svg`. */
export function badgeFileName(name: string, format: BadgeFormat): string {
  return `${name}${format}`;
}

/** The badge and the format that a file name asks for; null when it cannot be a badge's. The badge need not exist. */
export function parseBadgeFileName(fileName: string): { readonly name: string; readonly format: BadgeFormat } | null {
  const format = BADGE_FORMATS.find((ending) => fileName.endsWith(ending));
  if (format === undefined) return null;
  const name = fileName.slice(0, -format.length);
  return isBadgeName(name) ? { name, format } : null;
}
