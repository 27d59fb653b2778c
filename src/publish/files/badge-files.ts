/**
 * The badges of a page: what a release keeps for drawing them on demand, so that they are never older or newer than the page, and
 * as files, for targets without a server.
 */

import { badgeInputs } from '../../badges/files.ts';
import { BADGE_KINDS, type BadgeKind, isCard, PART_KINDS } from '../../badges/kinds.ts';
import { BADGE_FORMATS, badgeFileName } from '../../badges/names.ts';
import { mergeBadgeOptions } from '../../badges/options.ts';
import type { PageModel } from '../../model/index.ts';
import { type BadgeSubject, type BadgeSubjects, badgeSubjects } from '../../views/badges/badge-subjects.ts';
import { BADGES_PATH, componentPath, groupPath } from '../../views/text/addresses.ts';
import type { ResolvedPage } from '../definitions/definitions.ts';
import type { BadgeData } from '../releases/release-data.ts';
import { type FileEntry, fileEntry } from './file-entry.ts';
import { KINDS } from './kinds.ts';

/** Options for the badges of a page, and the operator's custom badges, in addition to the standard ones. */
export type PageBadges = Pick<BadgeData, 'options' | 'named'>;

/** The options of a page's badges, from its settings and the configuration. */
export function pageBadges({ config, settings }: ResolvedPage): PageBadges {
  return { options: { locale: settings.locale, ...config?.badge }, named: config?.badges ?? [] };
}

/** The data for badges that is stored with a release. */
export function badgeData(model: PageModel, page: ResolvedPage): BadgeData {
  return { ...pageBadges(page), subjects: badgeSubjects(model), staleAfter: model.staleAfter };
}

/** Every kind and custom badge for the page, and a few for each group and component, in every format. */
export function badgeFiles({ page, groups, components }: BadgeSubjects, { options, named }: PageBadges): FileEntry[] {
  const files = (folder: string, name: string, kind: BadgeKind, subject: BadgeSubject, own = options) =>
    BADGE_FORMATS.map((format) =>
      fileEntry(KINDS.badges[format], `${folder}${BADGES_PATH}${badgeFileName(name, format)}`, {
        priority: format === '.png' || isCard(kind) ? 'background' : 'immediate',
        inputs: () => badgeInputs(subject, kind, own),
      }),
    );
  const parts = [
    ...groups.map(({ id, subject }) => [groupPath(id), subject] as const),
    ...components.map(({ id, subject }) => [componentPath(id), subject] as const),
  ];
  return [
    ...BADGE_KINDS.flatMap((kind) => files('', kind, kind, page)),
    ...named.flatMap(({ name, kind, ...own }) => files('', name, kind, page, mergeBadgeOptions(options, own))),
    ...parts.flatMap(([folder, subject]) => PART_KINDS.flatMap((kind) => files(folder, kind, kind, subject))),
  ];
}
