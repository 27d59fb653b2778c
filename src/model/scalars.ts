/** Small values that come from outside and go into addresses, pages and formats: what each of them may be. */

/** A page's place in addresses, but for names that are taken (`slugs.ts`). */

/** The one way by which text becomes part of HTML, XML and SVG. */

const SPECIAL = /[&<>"']/;
const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text for an element or a quoted attribute. What a format cannot hold at all is for others to take out. */
export function escapeMarkup(text: string): string {
  return SPECIAL.test(text) ? text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '') : text;
}

export const SLUG = /^[a-z0-9](?:[a-z0-9-]{0,254}[a-z0-9])?$/;

/** The name of a host (RFC 1123), with one label or several. */
export const HOST_NAME =
  /^(?=.{1,253}$)([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$/;

/** A colour as `#rrggbb`. */
export const HEX_COLOUR = /^#[0-9A-Fa-f]{6}$/;

/** Longest address that is linked to. */
export const LINK_LENGTH_MAX = 2_048;

/** `http:`, `https:` and `mailto:` addresses, normalised; anything else is null and is drawn as text or not at all. */
export function safeLink(address: string | null): string | null {
  if (address === null) return null;
  const trimmed = address.trim();
  // A browser drops these inside an address, which would make two different addresses of one text.
  if (trimmed.length > LINK_LENGTH_MAX || /[\t\n\r\\]/.test(trimmed) || !URL.canParse(trimmed)) return null;
  const url = new URL(trimmed);
  if (url.protocol === 'mailto:') return url.pathname === '' ? null : url.href;
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return null;
  // An address with a user in it is made to look like another host.
  return url.username === '' && url.password === '' ? url.href : null;
}

/** Whether a text names a time zone, such as `Europe/Berlin`. */
export function isTimezone(text: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: text });
    return true;
  } catch {
    return false;
  }
}

/** RFC 5646, 4.4.1: what anybody who reads tags must have room for. */
export const LOCALE_LENGTH_MAX = 35;

/** Whether a text is a language tag (BCP 47), such as `en` or `pt-BR`. */
export function isLocale(text: string): boolean {
  try {
    return Intl.getCanonicalLocales(text).length === 1;
  } catch {
    return false;
  }
}
