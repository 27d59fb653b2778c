/** Every badge of a page to look at and to copy, and the frame for other sites. */

import { escapeMarkup } from '../../model/scalars.ts';
import type { PageFrame } from '../frame/page-frame.ts';
import { buildShell, createContext, rootUrl, type ShellView, type ViewOptions } from '../frame/shell.ts';
import { absoluteUrl, BADGES_PATH, componentPath, EMBED_PATH, groupPath } from '../text/addresses.ts';
import { type BadgeSnippets, badgeSnippets } from './snippets.ts';

export interface BadgeGalleryView {
  readonly shell: ShellView;
  readonly builder: BadgeBuilderView;
  readonly badges: readonly GalleryBadgeView[];
  /** Of groups and components: the state of each. */
  readonly parts: readonly GalleryBadgeView[];
  readonly embedSnippet: string;
  readonly elementSnippet: string;
}

/** What a badge of one's own is chosen from. The first of each is what is shown at first. */
export interface BadgeBuilderView {
  /** Absolute address of the page, with a slash at the end. */
  readonly url: string;
  readonly subjects: readonly BadgeSubjectChoice[];
  readonly kinds: readonly BadgeKindChoice[];
  readonly styles: readonly NamedChoice[];
  readonly first: GalleryBadgeView;
}

/** A name as in addresses, and in the words of the page. */
export interface NamedChoice {
  readonly name: string;
  readonly text: string;
}

interface BadgeSubjectChoice {
  /** Below the page: empty, or ending in a slash. */
  readonly path: string;
  readonly name: string;
}

interface BadgeKindChoice extends NamedChoice {
  /** Whether groups and components have it as a file too. */
  readonly isForParts: boolean;
}

interface GalleryBadgeView extends BadgeSnippets {
  /** Page-relative address of the picture. */
  readonly src: string;
  readonly name: string;
}

interface GalleryInit extends ViewOptions {
  /** The page's badges. */
  readonly kinds: readonly NamedChoice[];
  /** Those that groups and components have as files. */
  readonly partKinds: readonly string[];
  readonly styles: readonly NamedChoice[];
}

export function badgeGalleryView(
  model: PageFrame,
  { kinds, partKinds, styles, ...options }: GalleryInit,
): BadgeGalleryView {
  const context = createContext(model, { base: '../', ...options });
  const { words, base } = context;
  const { title } = model.definition;
  const badgeOf = (path: string, kind: string, name: string): GalleryBadgeView => ({
    ...badgeSnippets({
      alt: name,
      address: absoluteUrl(model, `${path}badges/${kind}`),
      href: absoluteUrl(model, path.startsWith('groups/') ? '' : path),
    }),
    src: `${base}${path}badges/${kind}.svg`,
    name,
  });
  const groups = model.groups.filter(({ id }) => model.components.some((one) => one.definition.groupId === id));
  const parts: readonly BadgeSubjectChoice[] = [
    ...groups.map(({ id, name }) => ({ path: groupPath(id), name })),
    ...model.components.map(({ definition, name }) => ({ path: componentPath(definition.id), name })),
  ];
  const badges = kinds.map(({ name, text }) => badgeOf('', name, `${title}: ${text}`));
  return {
    shell: buildShell(context, {
      title: words.galleryTitle,
      description: words.galleryIntro,
      path: BADGES_PATH,
      section: 'badges',
      present: null,
    }),
    builder: {
      url: absoluteUrl(model, ''),
      subjects: [{ path: '', name: title }, ...parts],
      kinds: kinds.map((kind) => ({ ...kind, isForParts: partKinds.includes(kind.name) })),
      styles,
      first: badges[0] ?? badgeOf('', 'status', title),
    },
    badges,
    parts: parts.map(({ path, name }) => badgeOf(path, 'status', `${title}: ${name}`)),
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
