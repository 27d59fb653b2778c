/** Where a visitor goes after signing in: only to an address inside the page that was signed in to. */

const TO_LENGTH_MAX = 512;
/** Plain segments: no scheme, no `//`, `\`, `%`, control characters or dot segments can be written with these. */
const INSIDE = /^(?:[A-Za-z0-9_~-][A-Za-z0-9_.~-]*\/)*(?:[A-Za-z0-9_~-][A-Za-z0-9_.~-]*)?$/;

/** The path inside the page when it is one, else the page itself (empty). */
export function safeReturnTo(path: string | null): string {
  if (path === null || path.length > TO_LENGTH_MAX || !INSIDE.test(path)) return '';
  return /^log(?:in|out)(?:\/|$)/.test(path) ? '' : path.replace(/(^|\/)index\.html$/, '$1');
}

/** A path prefix that may stand in a Location header and in a form; `/` for anything that is none. */
export function safeBase(base: string): string {
  return /^\/(?:[A-Za-z0-9_.~-]+\/)*$/.test(base) && !/\/\.{1,2}\//.test(base) ? base : '/';
}
