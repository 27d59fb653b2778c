import { fileKind } from '../file-kind.ts';
import { socialImage } from '../social-image.ts';

export const SOCIAL_IMAGE = fileKind(import.meta.url, { name: 'social-image', contentType: 'image/png' }, socialImage);
