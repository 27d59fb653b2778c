/** Validates where a visitor goes after signing in: only to an address inside the same page. */

const TO_LENGTH_MAX = 512;
/** Plain segments: excludes schemes, `//`, `\`, `%`, control characters and dot segments. */
const INSIDE = /^(?:[A-Za-z0-9_~-][A-Za-z0-9_.~-]*\/)*(?:[A-Za-z0-9_~-][A-Za-z0-9_.~-]*)?$/;

/** The path if it is inside the page; otherwise empty, the page itself. */
export function safeReturnTo(path: string | null): string {
  if (path === null || path.length > TO_LENGTH_MAX || !INSIDE.test(path)) return '';
  return /^log(?:in|out)(?:\/|$)/.test(path) ? '' : path.replace(/(^|\/)index\.html$/, '$1');
}

/** A path prefix that is safe in a Location header and a form; `/` for anything else. */
export function safeBase(base: string): string {
  return /^\/(?:[A-Za-z0-9_.~-]+\/)*$/.test(base) && !/\/\.{1,2}\//.test(base) ? base : '/';
}
