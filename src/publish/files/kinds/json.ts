import { fileKind } from '../file-kind.ts';
import { jsonText } from '../serialise.ts';

/** A document: what it is made from is the document itself. */
export const JSON_FILE = fileKind<object>(
  import.meta.url,
  { name: 'json', contentType: 'application/json; charset=utf-8' },
  jsonText,
);
