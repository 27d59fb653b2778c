/** Pre-compressed twins of published files. */

import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from 'node:zlib';

export const COMPRESSIONS = ['br', 'gzip', 'zstd'] as const;
export type Compression = (typeof COMPRESSIONS)[number];

/** Below one packet there is nothing to gain. */
const BYTES_MIN = 1_024;
const TEXT = /^(text\/|image\/svg\+xml|application\/(json|feed\+json|atom\+xml|rss\+xml|xml|javascript|schema\+json))/;

/** Whether twins of such a file pay. */
export function isWorthCompressing(contentType: string, bytes: number): boolean {
  return bytes >= BYTES_MIN && TEXT.test(contentType);
}

/** Twins at the level that keeps a change within its time budget: about a millisecond for a page. */
export function compressFast(body: Uint8Array): { encoding: Compression; bytes: Uint8Array }[] {
  return [
    {
      encoding: 'br',
      bytes: brotliCompressSync(body, {
        params: {
          [constants.BROTLI_PARAM_QUALITY]: 5,
          [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
          [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
        },
      }),
    },
    { encoding: 'gzip', bytes: gzipSync(body, { level: 6 }) },
    { encoding: 'zstd', bytes: zstdCompressSync(body, { params: { [constants.ZSTD_c_compressionLevel]: 6 } }) },
  ];
}
