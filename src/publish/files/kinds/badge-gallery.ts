import { PART_KINDS } from '../../../badges/kinds.ts';
import { BADGE_STYLES } from '../../../badges/names.ts';
import { badgeGalleryView } from '../../../views/badges/badge-gallery.ts';
import type { PageFrame } from '../../../views/frame/page-frame.ts';
import { htmlKind } from '../file-kind.ts';

export interface GalleryInputs {
  readonly frame: PageFrame;
  /** Names of the page's badges, as in their addresses. */
  readonly badgeNames: readonly string[];
}

export const BADGE_GALLERY = htmlKind(import.meta.url, 'badge-gallery', ({ frame, badgeNames }: GalleryInputs) =>
  badgeGalleryView(frame, { kinds: badgeNames, partKinds: PART_KINDS, styles: BADGE_STYLES }),
);
