import { fileKind } from '../file-kind.ts';

/** A script of ours, as it is. */
export const SCRIPT = fileKind(
  import.meta.url,
  { name: 'script', contentType: 'text/javascript; charset=utf-8' },
  ({ text }: { readonly text: string }) => text,
);
