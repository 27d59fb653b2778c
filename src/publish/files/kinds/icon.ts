import { fileKind } from '../file-kind.ts';

/** A picture of the operator's, fetched and made small before it got here. */
export const ICON = fileKind(
  import.meta.url,
  { name: 'icon', contentType: 'image/png' },
  ({ png }: { readonly png: string }) => Buffer.from(png, 'base64'),
);
