import type { Question } from '../connector.ts';

/** The part of a question that goes over the wire. */
export type HttpQuestion = Pick<
  Question<unknown>,
  | 'method'
  | 'url'
  | 'headers'
  | 'body'
  | 'acceptStatuses'
  | 'allowEmpty'
  | 'acceptAnyType'
  | 'isConditional'
  | 'maxAgeMs'
> & { readonly reads?: 'json' | 'text' | 'folder' | 'bytes' };
