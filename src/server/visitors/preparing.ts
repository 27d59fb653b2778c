/** The placeholder for a page that was never published. It reloads itself until the page is there. */

import { hash } from 'node:crypto';
import { escapeMarkup } from '../../model/scalars.ts';
import { findWords, localeDirection } from '../../views/words/index.ts';
import { type Answer, NEVER_CACHED, plain, whole } from '../answer.ts';

const RETRY_SECONDS = 2;
/** In the typefaces of the page (`layouts/tokens.css`). */
const STYLE =
  'body{font:1rem/1.5 -apple-system,"Segoe UI",Roboto,Ubuntu,"Noto Sans","Helvetica Neue",Arial,sans-serif;max-width:32rem;margin:20vh auto;padding:0 1rem;color-scheme:light dark}h1{font-size:1.8rem;line-height:1.15;margin:0 0 .5rem}p{margin:0}';
const CSP = `default-src 'none'; style-src 'sha256-${hash('sha256', STYLE, 'base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** @param path below the page: only documents reload themselves */
export function preparing(path: string, locale: string): Answer {
  const words = findWords(locale);
  const headers = { 'retry-after': String(RETRY_SECONDS) };
  if (!path.endsWith('.html')) return plain(503, 'This page is being prepared. Try again in two seconds.', headers);
  const [title, text] = [words.preparingTitle, words.preparingBody].map(escapeMarkup);
  const body = `<!doctype html><html lang="${escapeMarkup(locale)}" dir="${localeDirection(locale)}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="noindex"><meta http-equiv="refresh" content="${RETRY_SECONDS}"><title>${title}</title><style>${STYLE}</style></head><body><main><h1>${title}</h1><p>${text}</p></main></body></html>\n`;
  return whole(503, body, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': CSP,
    'cache-control': NEVER_CACHED,
    ...headers,
  });
}
