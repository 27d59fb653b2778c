/** Which fetched icon is that of which page. */

import type { ResolvedPage } from './definitions.ts';
import type { DefinitionProblem } from './inputs.ts';
import { ICON_PATH } from './presentation.ts';

/** Result of fetching an icon. */
export type IconPicture =
  | { readonly kind: 'picture'; readonly png: string }
  | { readonly kind: 'refused'; readonly reason: string };

/** The page with its external icon as a file, if that was fetched. */
export function withIcon(page: ResolvedPage, icons: Icons): ResolvedPage {
  const found = pictureOf(page, icons);
  if (found?.kind !== 'picture') return page;
  const definition = { ...page.definition, icon: page.settings.url + ICON_PATH };
  return { ...page, definition, icon: { png: found.png } };
}

/** Says of icons that pages go without them. */
export function refusedIcons(pages: readonly IconPage[], icons: Icons): readonly DefinitionProblem[] {
  return pages.flatMap((page) => {
    const found = pictureOf(page, icons);
    const { slug } = page.definition;
    return found?.kind === 'refused' ? [{ slug, message: `its icon is left out: ${found.reason}` }] : [];
  });
}

type Icons = ReadonlyMap<string, IconPicture>;
type IconPage = Pick<ResolvedPage, 'definition' | 'identity' | 'iconAddress'>;

function pictureOf({ identity, iconAddress }: IconPage, icons: Icons): IconPicture | undefined {
  return iconAddress === null ? undefined : icons.get(iconKey(identity.key, iconAddress));
}

/** What the icon of a page is kept under: also with the same address, that of another page is not its own. */
export function iconKey(page: string, address: string): string {
  return `${page} ${address}`;
}
