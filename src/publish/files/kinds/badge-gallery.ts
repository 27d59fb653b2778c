import { galleryChoices } from '../../../badges/kinds.ts';
import { badgeGalleryView } from '../../../views/badges/badge-gallery.ts';
import type { PageFrame } from '../../../views/frame/page-frame.ts';
import { htmlKind } from '../file-kind.ts';

interface GalleryInputs {
  readonly frame: PageFrame;
  /** Names of the page's badges, as in their addresses. */
  readonly badgeNames: readonly string[];
}

export const BADGE_GALLERY = htmlKind(import.meta.url, 'badge-gallery', ({ frame, badgeNames }: GalleryInputs) =>
  badgeGalleryView(frame, galleryChoices(badgeNames, frame.settings.locale)),
);
