/** Sign-in documents as responses: never cached or framed, and without a referrer if their address is secret. */

import type { LoginPrompt } from '../../model/access.ts';
import { escapeMarkup } from '../../model/scalars.ts';
import type { GateResponse } from '../access.ts';

/** A rendered document, with the content security policy for its inline styles and scripts. */
export interface LoginHtml {
  readonly html: string;
  readonly csp: string;
}

export type RenderLogin = (prompt: LoginPrompt) => Promise<LoginHtml>;

/** Headers of every response of the gates. */
export const GATE_HEADERS: Readonly<Record<string, string>> = Object.freeze({
  'cache-control': 'private, no-store',
  vary: 'Cookie',
});

interface DocumentAnswer {
  readonly status: number;
  /** Placeholders in the document, and the unescaped values to fill in. */
  readonly values: Readonly<Record<string, string>>;
  /** Whether the address of the document contains a token. */
  readonly hasSecretAddress: boolean;
  readonly retryAfterSeconds?: number | undefined;
  readonly cookies?: readonly string[] | undefined;
  /** Where the browser continues automatically. Default: nowhere. */
  readonly next?: string;
}

/** Fills in a document; every value is escaped. */
export function documentAnswer({ html, csp }: LoginHtml, answer: DocumentAnswer): GateResponse {
  const { status, values, hasSecretAddress, retryAfterSeconds, cookies, next = '' } = answer;
  const places = new RegExp(Object.keys(values).join('|'), 'g');
  return {
    status,
    headers: {
      ...GATE_HEADERS,
      'content-type': 'text/html; charset=utf-8',
      // frame-ancestors only works as a header, not inside a document.
      'content-security-policy': `${csp.replace(/;?\s*frame-ancestors[^;]*/, '')};frame-ancestors 'none'`,
      'cross-origin-resource-policy': 'same-origin',
      // Without a referrer, forms post `Origin: null`; so it is hidden only for pages with a token in their address.
      'referrer-policy': hasSecretAddress ? 'no-referrer' : 'same-origin',
      'x-robots-tag': 'noindex',
      ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
      ...(next === '' ? {} : { refresh: `0; url=${next}` }),
      ...(cookies === undefined ? {} : { 'set-cookie': cookies }),
    },
    body: html.replace(places, (place) => escapeMarkup(values[place] ?? '')),
  };
}
