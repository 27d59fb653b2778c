import type { SocialView } from '../../../views/badges/social.ts';
import { fileKind } from '../file-kind.ts';
import { socialImage } from '../social-image.ts';

export const SOCIAL_IMAGE = fileKind(
  import.meta.url,
  { name: 'social-image', contentType: 'image/png' },
  (view: SocialView, renderer) => (renderer.socialImage ?? socialImage)(view),
);
