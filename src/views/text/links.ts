/** Which addresses from outside may become a picture. */

const PICTURE_DATA = /^data:image\/(?:png|jpeg|gif|webp|avif|svg\+xml)[;,][\w+/=%.,:;!*'()~-]*$/i;
/** A picture inside the page counts against its weight. */
const PICTURE_DATA_LENGTH_MAX = 4_096;

/**
 * The address of a page's icon if a visitor's browser can have it from us: a small `data:` picture, or a file of the
 * page's own origin. A picture from anywhere else would send every visitor to a third party, so it is null.
 */
export function ownPicture(address: string | null, pageUrl: string): string | null {
  if (address === null) return null;
  const trimmed = address.trim();
  if (trimmed.startsWith('data:'))
    return trimmed.length <= PICTURE_DATA_LENGTH_MAX && PICTURE_DATA.test(trimmed) ? trimmed : null;
  if (/[\t\n\r\\]/.test(trimmed) || !URL.canParse(trimmed, pageUrl)) return null;
  const url = new URL(trimmed, pageUrl);
  return url.origin === new URL(pageUrl).origin && /^https?:$/.test(url.protocol) ? url.href : null;
}
