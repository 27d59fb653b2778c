/** Every badge of a page to look at and to copy, and the frame for other sites. */

import { escapeMarkup } from '../../model/markup.ts';
import type { PageFrame } from '../frame/page-frame.ts';
import { contextOf, type ShellView, shellOf, type ViewOptions } from '../frame/shell.ts';
import { absoluteUrl } from '../text/absolute-url.ts';
import { BADGES_PATH, componentPath, EMBED_PATH, groupPath } from '../text/addresses.ts';
import { type BadgeSnippets, badgeSnippets } from './snippets.ts';

export interface BadgeGalleryView {
  readonly shell: ShellView;
  readonly badges: readonly GalleryBadgeView[];
  /** Of groups and components: the state of each. */
  readonly parts: readonly GalleryBadgeView[];
  readonly embedSnippet: string;
  readonly elementSnippet: string;
}

export interface GalleryBadgeView extends BadgeSnippets {
  /** Page-relative address of the picture. */
  readonly src: string;
  readonly name: string;
}

export interface GalleryInit extends ViewOptions {
  /** Names of the page's badges, as in their addresses. */
  readonly kinds: readonly string[];
}

export function badgeGalleryView(model: PageFrame, { kinds, ...options }: GalleryInit): BadgeGalleryView {
  const context = contextOf(model, { base: '../', ...options });
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
  return {
    shell: shellOf(context, {
      title: words.galleryTitle,
      description: words.galleryIntro,
      path: BADGES_PATH,
      section: 'badges',
      present: null,
    }),
    badges: kinds.map((kind) => badgeOf('', kind, `${title}: ${kind}`)),
    parts: [
      ...groups.map(({ id, name }) => badgeOf(groupPath(id), 'status', `${title}: ${name}`)),
      ...model.components.map(({ definition, name }) =>
        badgeOf(componentPath(definition.id), 'status', `${title}: ${name}`),
      ),
    ],
    embedSnippet: embedSnippet(absoluteUrl(model, EMBED_PATH), title, new URL('/embed-resize.js', model.settings.url)),
    elementSnippet:
      `<script async src="${new URL('/embed.js', model.settings.url).href}"></script>\n` +
      `<pharos-status src="${model.settings.url}" details></pharos-status>`,
  };
}

function embedSnippet(address: string, title: string, script: URL): string {
  const name = escapeMarkup(title);
  return (
    `<iframe src="${address}" title="${name}" width="100%" height="120" style="border:0" loading="lazy"></iframe>\n` +
    `<script async src="${script.href}"></script>`
  );
}
