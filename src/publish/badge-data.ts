/** What badges are drawn from on demand, kept with each release so that they are never older or newer than the page. */

import type { BadgeOptions, NamedBadge } from '../badges/options.ts';
import type { PageModel } from '../model/page.ts';
import type { EpochMs } from '../model/time.ts';
import { type BadgeSubjects, badgeSubjects } from '../views/badge-subjects.ts';
import type { ResolvedPage } from './definitions.ts';

export interface BadgeData {
  readonly subjects: BadgeSubjects;
  /** How all badges of the page are drawn. */
  readonly options: BadgeOptions;
  /** The operator's own badges. */
  readonly named: readonly NamedBadge[];
  /** Drawn later than this, a badge says that its data is stale. */
  readonly staleAfter: EpochMs;
}

/** Plain data for the manifest. */
export function badgeData(model: PageModel, { config, settings }: ResolvedPage): BadgeData {
  return {
    subjects: badgeSubjects(model),
    options: { locale: settings.locale, ...config?.badge },
    named: config?.badges ?? [],
    staleAfter: model.staleAfter,
  };
}
