/**
 * The badges of a page: what a release keeps for drawing them on demand, so that they are never older or newer than the page, and
 * as files, for targets without a server.
 */

import { badgeInputs } from '../../badges/files.ts';
import { BADGE_KINDS, type BadgeKind, isCard, PART_KINDS } from '../../badges/kinds.ts';
import type { NamedBadge } from '../../badges/named.ts';
import { BADGE_FORMATS, badgeFileName } from '../../badges/names.ts';
import { type BadgeOptions, mergeBadgeOptions } from '../../badges/options.ts';
import type { PageModel } from '../../model/index.ts';
import { once } from '../../once.ts';
import type { BadgeSubject } from '../../views/badges/badge.ts';
import { type BadgeSubjects, badgeSubjects } from '../../views/badges/badge-subjects.ts';
import { BADGES_PATH, componentPath, groupPath } from '../../views/text/addresses.ts';
import type { ResolvedPage } from '../definitions/definitions.ts';
import type { BadgeData } from '../releases/release-data.ts';
import { type FileEntry, fileEntry } from './file-entry.ts';
import { KINDS } from './kinds.ts';

/** Options for the badges of a page. */
export interface PageBadges {
  readonly options: BadgeOptions;
  /** The operator's custom badges, in addition to the standard ones. */
  readonly named: readonly NamedBadge[];
}

/** The options of a page's badges, from its settings and the configuration. */
export function pageBadges({ config, settings }: ResolvedPage): PageBadges {
  return { options: { locale: settings.locale, ...config?.badge }, named: config?.badges ?? [] };
}

/** The data for badges that is stored with a release. */
export function badgeData(model: PageModel, page: ResolvedPage): BadgeData {
  return { ...pageBadges(page), subjects: badgeSubjects(model), staleAfter: model.staleAfter };
}

/** Every kind and custom badge for the page, and a few for each group and component, in every format. */
export function badgeFiles(model: PageModel, badges: PageBadges): FileEntry[] {
  const groups = model.groups.filter(({ id }) => model.components.some(({ definition }) => definition.groupId === id));
  const components = model.components.map(({ definition }) => definition);
  return filesOfBadges(badges, { groups, components, subjects: once(() => badgeSubjects(model)) });
}

/** The same from the data of a release. */
export function badgeFilesOfSubjects(subjects: BadgeSubjects, badges: PageBadges): FileEntry[] {
  const { groups, components } = subjects;
  return filesOfBadges(badges, { groups, components, subjects: () => subjects });
}

interface Badged extends Record<'groups' | 'components', readonly { readonly id: string }[]> {
  readonly subjects: () => BadgeSubjects;
}

function filesOfBadges({ options, named }: PageBadges, { groups, components, subjects }: Badged): FileEntry[] {
  const files = (folder: string, name: string, kind: BadgeKind, subject: () => BadgeSubject, own = options) =>
    BADGE_FORMATS.map((format) =>
      fileEntry(KINDS.badges[format], `${folder}${BADGES_PATH}${badgeFileName(name, format)}`, {
        priority: format === '.png' || isCard(kind) ? 'background' : 'immediate',
        inputs: () => badgeInputs(subject(), kind, own),
      }),
    );
  const pageSubject = () => subjects().page;
  const partFiles = (folder: string, subject: () => BadgeSubject) =>
    PART_KINDS.flatMap((kind) => files(folder, kind, kind, subject));
  return [
    ...BADGE_KINDS.flatMap((kind) => files('', kind, kind, pageSubject)),
    ...named.flatMap(({ name, kind, ...own }) => files('', name, kind, pageSubject, mergeBadgeOptions(options, own))),
    ...groups.flatMap(({ id }) => partFiles(groupPath(id), () => subjectById(subjects().groups, id))),
    ...components.flatMap(({ id }) => partFiles(componentPath(id), () => subjectById(subjects().components, id))),
  ];
}

function subjectById(named: BadgeSubjects['groups'], id: string): BadgeSubject {
  const found = named.find((one) => one.id === id);
  if (found === undefined) throw new TypeError(`There is no badge subject for ${id}, which is on the page`);
  return found.subject;
}
