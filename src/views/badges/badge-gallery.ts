/** Every badge of a page to look at and to copy, and the frame for other sites. */

import { escapeMarkup } from '../../model/scalars.ts';
import { joinPieces, type Pieces, toPiece } from '../../model/translated.ts';
import { buildShell, createContext, type PageFrame, rootUrl, type ViewContext } from '../frame/shell.ts';
import { absoluteUrl, BADGES_PATH, componentPath, EMBED_PATH, groupPath } from '../text/addresses.ts';
import { badgeSnippets } from './snippets.ts';

/** A name as in addresses, and in the words of the page. */
export type NamedChoice = Readonly<Record<'name' | 'text', string>>;

/** A badge below a page, by its address without the ending, with what it is of, and texts to copy it. */
export function badgeCopy(
  { model, base }: Pick<ViewContext<PageFrame>, 'model' | 'base'>,
  badge: string,
  { alt, href }: { readonly alt: Pieces; readonly href: string },
) {
  const { text, ...pieces } = joinPieces(alt);
  return {
    ...badgeSnippets({ alt: text, address: absoluteUrl(model, badge), href: absoluteUrl(model, href) }),
    ...pieces,
    // Page-relative address of the picture.
    src: `${base}${badge}.svg`,
  };
}

/** `kinds`: the page's badges; `partKinds`: those that groups and components have as files. */
type GalleryInit = Readonly<Record<'kinds' | 'styles', readonly NamedChoice[]>> & {
  readonly partKinds: readonly string[];
};

export type BadgeGalleryView = ReturnType<typeof badgeGalleryView>;

export function badgeGalleryView(model: PageFrame, { kinds, partKinds, styles }: GalleryInit) {
  const context = createContext(model, '../');
  const { words } = context;
  const { title } = model.definition;
  const badgeOf = (path: string, kind: string, ...alt: Pieces) =>
    badgeCopy(context, `${path}badges/${kind}`, { alt, href: path.startsWith('groups/') ? '' : path });
  const groups = model.groups.filter(({ id }) => model.components.some((one) => one.definition.groupId === id));
  // Their paths end in a slash.
  const parts = [
    ...groups.map(({ id, name, lang }) => ({ path: groupPath(id), name, lang })),
    ...model.components.map(({ definition, name, lang }) => ({ path: componentPath(definition.id), name, lang })),
  ];
  const page = { name: title, lang: model.titleLang };
  const badges = kinds.map(({ name, text }) => badgeOf('', name, toPiece(page), `: ${text}`));
  return {
    shell: buildShell(context, {
      ...{ title: words.galleryTitle, description: words.galleryIntro, path: BADGES_PATH },
      section: 'badges',
    }),
    // What a badge of one's own is chosen from. The first of each is what is shown at first.
    builder: {
      // With a slash at the end.
      url: absoluteUrl(model, ''),
      subjects: [{ path: '', ...page }, ...parts],
      // `isForParts`: groups and components have it as a file too.
      kinds: kinds.map((kind) => ({ ...kind, isForParts: partKinds.includes(kind.name) })),
      styles,
      first: badges[0] ?? badgeOf('', 'status', toPiece(page)),
    },
    badges,
    // Of groups and components: the state of each.
    parts: parts.map((part) => badgeOf(part.path, 'status', toPiece(page), ': ', toPiece(part))),
    embedSnippet: embedSnippet(absoluteUrl(model, EMBED_PATH), title, new URL('/embed-resize.js', model.settings.url)),
    elementSnippet:
      `<script async src="${new URL('/embed.js', model.settings.url).href}"></script>\n` +
      `<pharos-status src="${rootUrl(model.settings)}" details></pharos-status>`,
  };
}

function embedSnippet(address: string, title: string, script: URL): string {
  const name = escapeMarkup(title);
  return (
    `<iframe src="${address}" title="${name}" width="100%" height="120" style="border:0" loading="lazy"></iframe>\n` +
    `<script async src="${script.href}"></script>`
  );
}
