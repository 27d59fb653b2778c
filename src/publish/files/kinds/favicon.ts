import { favicon } from '../../../looks/pictures.ts';
import type { FaviconView } from '../../../views/badges/social.ts';
import { fileKind } from '../file-kind.ts';

export const FAVICON = fileKind(
  import.meta.url,
  { name: 'favicon', contentType: 'image/svg+xml' },
  ({ state }: FaviconView) => favicon(state),
);
