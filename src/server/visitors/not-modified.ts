/** Whether a client has already what would be sent: the one comparison, for files and badges. */

import fresh from 'fresh';

/**
 * @param ifNoneMatch  the header as it came
 * @param etag  of what would be sent; null: it is private and never stored anywhere, so nobody has it already
 */
export function isNotModified(ifNoneMatch: string | undefined, etag: string | null): boolean {
  return etag !== null && (ifNoneMatch === '*' || fresh({ 'if-none-match': ifNoneMatch }, { etag }));
}
