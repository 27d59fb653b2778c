import { fileKind } from '../file-kind.ts';
import { jsonText } from '../serialise.ts';

export const WEB_MANIFEST = fileKind<object>(
  import.meta.url,
  { name: 'web-manifest', contentType: 'application/manifest+json; charset=utf-8' },
  jsonText,
);

/** A document: what it is made from is the document itself. */
export const JSON_FILE = fileKind<object>(
  import.meta.url,
  { name: 'json', contentType: 'application/json; charset=utf-8' },
  jsonText,
);
