/** The precompressed variants of a file: which there are, and what they are called on disk. */

/** Best first, in the order in which clients get them. */
export const COMPRESSIONS = ['br', 'zstd', 'gzip'] as const;
export type Compression = (typeof COMPRESSIONS)[number];

/** A compressed file. */
export interface Variant {
  readonly encoding: Compression;
  readonly bytes: Uint8Array;
}

/** The ending of a pre-compressed variant, as nginx and Caddy look for it. */
export function suffixOf(encoding: Compression): string {
  return SUFFIXES[encoding];
}

/** Below one packet there is nothing to gain. */
const BYTES_MIN = 1_024;
const TEXT =
  /^(text\/|image\/svg\+xml|application\/(json|feed\+json|atom\+xml|rss\+xml|xml|javascript|schema\+json|manifest\+json))/;

/** Whether compressing a file of this type and size is worthwhile. */
export function isWorthCompressing(contentType: string, bytes: number): boolean {
  return bytes >= BYTES_MIN && TEXT.test(contentType);
}

const SUFFIXES: Readonly<Record<Compression, string>> = { br: '.br', gzip: '.gz', zstd: '.zst' };
