/** Every file of one status page. */

import type { LogoFile } from '../../config/look.ts';
import type { PageModel } from '../../model/index.ts';
import { ICON_PATH, type PageIcon } from '../definitions/presentation.ts';
import { badgeFiles, type PageBadges } from './badge-files.ts';
import { type FileEntry, fileEntry } from './file-entry.ts';
import { htmlFiles } from './html-files.ts';
import { ICON } from './kinds/icon.ts';
import { LOGOS } from './kinds/own-files.ts';
import { machineFiles } from './machine-files.ts';
import { pageFacts } from './page-facts.ts';
import { redirectFiles } from './redirect-files.ts';

interface FilesOptions {
  /** Write badges as files, for targets with no server that draws them on demand. */
  readonly badges: boolean;
  /** How badges are drawn; default: as they come, with none of the operator's own. */
  readonly badge?: PageBadges;
  /** Addresses below the page and those that they lead to; default: none. */
  readonly redirects?: Readonly<Record<string, string>>;
  /** A picture that the page serves; default: none. */
  readonly icon?: PageIcon | null;
  /** Pictures of the header that the page serves, that for light grounds first; default: none. */
  readonly logo?: readonly LogoFile[];
}

/** All files of a page, each path once. Cheap: views, keys and bytes are made only when an entry is asked for them. */
export function pageFiles(model: PageModel, options: FilesOptions): FileEntry[] {
  const facts = pageFacts(model);
  const badge = options.badge ?? { options: { locale: model.settings.locale }, named: [] };
  const files = [
    ...htmlFiles(
      facts,
      badge.named.map(({ name }) => name),
    ),
    ...machineFiles(facts, options.logo),
    ...(options.badges ? badgeFiles(model, badge) : []),
    ...iconFiles(options.icon ?? null),
    ...logoFiles(options.logo ?? []),
  ];
  return [...files, ...redirectFiles(options.redirects ?? {}, { pageUrl: model.settings.url, files })];
}

function iconFiles(icon: PageIcon | null): FileEntry[] {
  if (icon === null) return [];
  return [fileEntry(ICON, ICON_PATH, { inputs: () => icon })];
}

/** @param prefix  before their names; default: none */
export function logoFiles(files: readonly LogoFile[], prefix = ''): FileEntry[] {
  return files.flatMap(({ path, contentType, base64 }) => {
    const kind = LOGOS[contentType];
    return kind === undefined ? [] : [fileEntry(kind, prefix + path, { inputs: () => ({ base64 }) })];
  });
}
