/** Rules for small values from outside that are used in URLs, pages and formats. */

// The slug of a page. Some names are reserved (`slugs.ts`).

/** The only place that escapes text for HTML, XML and SVG. */

const SPECIAL = /[&<>"']/;
const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text for an element or a quoted attribute. Characters that a format doesn't allow must be removed before. */
export function escapeMarkup(text: string): string {
  return SPECIAL.test(text) ? text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '') : text;
}

export const SLUG = /^[a-z0-9](?:[a-z0-9-]{0,254}[a-z0-9])?$/;

/** A host name (RFC 1123), with one or more labels. */
export const HOST_NAME =
  /^(?=.{1,253}$)([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$/;

/** A colour as `#rrggbb`. */
export const HEX_COLOUR = /^#[0-9A-Fa-f]{6}$/;

/** Maximum length of a linked address. */
export const LINK_LENGTH_MAX = 2_048;

/** Normalises `http:`, `https:` and `mailto:` addresses. Null for anything else, which is shown as text or not at all. */
export function safeLink(address: string | null): string | null {
  if (address === null) return null;
  const trimmed = address.trim();
  // Browsers remove these characters from addresses, so the link would differ from the text.
  if (trimmed.length > LINK_LENGTH_MAX || /[\t\n\r\\]/.test(trimmed) || !URL.canParse(trimmed)) return null;
  const url = new URL(trimmed);
  if (url.protocol === 'mailto:') return url.pathname === '' ? null : url.href;
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return null;
  // Addresses with a user name can pretend to be another host.
  return url.username === '' && url.password === '' ? url.href : null;
}

/** Whether a text is a time zone, such as `Europe/Berlin`. */
export function isTimezone(text: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: text });
    return true;
  } catch {
    return false;
  }
}

/** The length that every implementation must support (RFC 5646, 4.4.1). */
export const LOCALE_LENGTH_MAX = 35;

/** Whether a text is a language tag (BCP 47), such as `en` or `pt-BR`. */
export function isLocale(text: string): boolean {
  try {
    return Intl.getCanonicalLocales(text).length === 1;
  } catch {
    return false;
  }
}
