/** The precompressed variants of a file: which there are, and what they are called on disk. */

/** Best first: what a client that takes several is sent. */
export const COMPRESSIONS = ['br', 'zstd', 'gzip'] as const;
export type Compression = (typeof COMPRESSIONS)[number];

/** The ending of a pre-compressed variant, as nginx and Caddy look for it. */
export function suffixOf(encoding: Compression): string {
  return SUFFIXES[encoding];
}

const SUFFIXES: Readonly<Record<Compression, string>> = { br: '.br', gzip: '.gz', zstd: '.zst' };
