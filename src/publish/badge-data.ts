/** What badges are drawn from on demand, kept with each release so that they are never older or newer than the page. */

import type { PageModel } from '../model/page.ts';
import { type BadgeSubjects, badgeSubjects } from '../views/badge-subjects.ts';

export interface BadgeData {
  readonly subjects: BadgeSubjects;
}

/** Plain data for the manifest. */
export function badgeData(model: PageModel): BadgeData {
  return { subjects: badgeSubjects(model) };
}
