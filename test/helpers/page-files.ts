/** The files of a page together with its badges, which hosts without a server get as files too. */

import type { FileEntry } from '../../src/publish/files/file-entry.ts';
import { badgeFiles, pageFiles } from '../../src/publish/files/files.ts';
import { badgeSubjects } from '../../src/views/badges/badge-subjects.ts';

export function filesWithBadges(...[model, options = {}]: Parameters<typeof pageFiles>): FileEntry[] {
  const { badge = { options: { locale: model.settings.locale }, named: [] } } = options;
  return [...pageFiles(model, options), ...badgeFiles(badgeSubjects(model), badge)];
}
