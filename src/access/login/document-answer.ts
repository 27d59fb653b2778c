/** A document of the gates as an answer: kept by nobody, framed by nobody, and told of to nobody where its address is secret. */

import { escapeMarkup } from '../../model/scalars.ts';
import type { GateResponse } from '../access.ts';
import type { LoginHtml } from './login-prompt.ts';

/** Headers of every answer of the gates. */
export const GATE_HEADERS: Readonly<Record<string, string>> = Object.freeze({
  'cache-control': 'private, no-store',
  vary: 'Cookie',
});

interface DocumentAnswer {
  readonly status: number;
  /** What stands in for what differs between requests, and what it is this time, as it came. */
  readonly values: Readonly<Record<string, string>>;
  /** Whether the address of the document carries a token. */
  readonly hasSecretAddress: boolean;
  readonly retryAfterSeconds?: number | undefined;
  readonly cookies?: readonly string[] | undefined;
  /** Where the browser goes on by itself. Default: nowhere. */
  readonly next?: string;
}

/** Fills a document in; every value is escaped. */
export function documentAnswer({ html, csp }: LoginHtml, answer: DocumentAnswer): GateResponse {
  const { status, values, hasSecretAddress, retryAfterSeconds, cookies, next = '' } = answer;
  const places = new RegExp(Object.keys(values).join('|'), 'g');
  return {
    status,
    headers: {
      ...GATE_HEADERS,
      'content-type': 'text/html; charset=utf-8',
      // A document cannot say itself who may frame it.
      'content-security-policy': `${csp.replace(/;?\s*frame-ancestors[^;]*/, '')};frame-ancestors 'none'`,
      'cross-origin-resource-policy': 'same-origin',
      // A form of a page without a referrer posts `Origin: null`; only the page with a token in its address hides it.
      'referrer-policy': hasSecretAddress ? 'no-referrer' : 'same-origin',
      'x-robots-tag': 'noindex',
      ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
      ...(next === '' ? {} : { refresh: `0; url=${next}` }),
      ...(cookies === undefined ? {} : { 'set-cookie': cookies }),
    },
    body: html.replace(places, (place) => escapeMarkup(values[place] ?? '')),
  };
}
