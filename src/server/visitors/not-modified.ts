/** Whether a client has already what would be sent: the one comparison, for files and badges. */

import fresh from 'fresh';

/**
 * @param ifNoneMatch  the header as it came
 * @param etag  of what would be sent; null: it has none, so that only `*` fits, which is anything there is (RFC 9110, 13.1.2)
 */
export function isNotModified(ifNoneMatch: string | undefined, etag: string | null): boolean {
  if (ifNoneMatch === '*') return true;
  return etag !== null && fresh({ 'if-none-match': ifNoneMatch }, { etag });
}
