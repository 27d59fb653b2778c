/** What badges are drawn from on demand, kept with each release so that they are never older or newer than the page. */

import type { PageModel } from '../../model/page.ts';
import type { EpochMs } from '../../model/time.ts';
import { type BadgeSubjects, badgeSubjects } from '../../views/badges/badge-subjects.ts';
import type { ResolvedPage } from '../definitions/definitions.ts';
import type { PageBadges } from './badge-files.ts';

export interface BadgeData extends PageBadges {
  readonly subjects: BadgeSubjects;
  /** Drawn later than this, a badge says that its data is stale. */
  readonly staleAfter: EpochMs;
}

/** How a page's badges are drawn, by its settings and the operator's choices. */
export function pageBadges({ config, settings }: ResolvedPage): PageBadges {
  return { options: { locale: settings.locale, ...config?.badge }, named: config?.badges ?? [] };
}

/** Plain data, kept with a release. */
export function badgeData(model: PageModel, page: ResolvedPage): BadgeData {
  return { ...pageBadges(page), subjects: badgeSubjects(model), staleAfter: model.staleAfter };
}
