/** Pre-compressed variants of published files. */

import { promisify } from 'node:util';
import {
  type BrotliOptions,
  brotliCompress,
  brotliCompressSync,
  constants,
  gzip,
  gzipSync,
  type ZlibOptions,
  type ZstdOptions,
  zstdCompress,
  zstdCompressSync,
} from 'node:zlib';
import { COMPRESSIONS, type Compression, isWorthCompressing, type Variant } from '../releases/compressions.ts';

/** Compressing a smaller body takes no longer than passing it to another thread and back. */
const OWN_THREAD_BYTES_MAX = 40 * 1_024;

/** About two milliseconds of one core for a page of 50 components. */
const QUICK = { br: 5, gzip: 6, zstd: 3 } as const;
/** Half the cost, for hundreds of files at once. The result is a tenth larger, until there is time for the best quality. */
const BULK = { br: 3, gzip: 1, zstd: 1 } as const;
/** The smallest, at a hundred times the cost. */
const BEST = { br: 11, gzip: 9, zstd: 19 } as const;
type Levels = Readonly<Record<Compression, number>>;

/** Makes variants quickly. Variants that are no smaller than the body are left out. */
export async function compressQuick(
  contentType: string,
  body: Uint8Array,
  { isOfMany }: { readonly isOfMany: boolean },
): Promise<readonly Variant[]> {
  if (!isWorthCompressing(contentType, body.length)) return [];
  const levels = isOfMany ? BULK : QUICK;
  const isOwn = body.length <= OWN_THREAD_BYTES_MAX;
  return isOwn ? compressHere(body, levels) : compressBeside(body, levels);
}

function compressHere(body: Uint8Array, levels: Levels): readonly Variant[] {
  return smaller(
    body,
    COMPRESSIONS.map((encoding) => ({ encoding, bytes: COMPRESSORS[encoding].now(body, levels[encoding]) })),
  );
}

async function compressBeside(body: Uint8Array, levels: Levels): Promise<readonly Variant[]> {
  return smaller(body, await Promise.all(COMPRESSIONS.map((encoding) => besideThis(body, encoding, levels))));
}

/**
 * Makes the smallest variants. That takes up to a second for a page. They are made one after the other, so that at most one
 * other thread is busy.
 */
export async function compressBest(contentType: string, body: Uint8Array): Promise<readonly Variant[]> {
  if (!isWorthCompressing(contentType, body.length)) return [];
  const variants: Variant[] = [];
  for (const encoding of COMPRESSIONS) variants.push(await besideThis(body, encoding, BEST));
  return smaller(body, variants);
}

/** In another thread. */
async function besideThis(body: Uint8Array, encoding: Compression, levels: Levels): Promise<Variant> {
  return { encoding, bytes: await COMPRESSORS[encoding].beside(body, levels[encoding]) };
}

interface Compressor {
  readonly now: (body: Uint8Array, level: number) => Buffer;
  readonly beside: (body: Uint8Array, level: number) => Promise<Buffer>;
}

const inBrotli = promisify<Uint8Array, BrotliOptions, Buffer>(brotliCompress);
const inZstd = promisify<Uint8Array, ZstdOptions, Buffer>(zstdCompress);
const inGzip = promisify<Uint8Array, ZlibOptions, Buffer>(gzip);

const COMPRESSORS: Readonly<Record<Compression, Compressor>> = {
  br: {
    now: (body, level) => brotliCompressSync(body, brotliOptions(body.length, level)),
    beside: (body, level) => inBrotli(body, brotliOptions(body.length, level)),
  },
  zstd: {
    now: (body, level) => zstdCompressSync(body, zstdOptions(level)),
    beside: (body, level) => inZstd(body, zstdOptions(level)),
  },
  gzip: {
    now: (body, level) => gzipSync(body, { level }),
    beside: (body, level) => inGzip(body, { level }),
  },
};

function smaller(body: Uint8Array, variants: readonly Variant[]): readonly Variant[] {
  return variants.filter(({ bytes }) => bytes.length < body.length).map(alone);
}

/** The compressor returns a part of a 16 kB block, which would stay in memory until the variant is written. A copy frees it. */
function alone({ encoding, bytes }: Variant): Variant {
  return bytes.length < bytes.buffer.byteLength / 2 ? { encoding, bytes: Uint8Array.from(bytes) } : { encoding, bytes };
}

function brotliOptions(bytes: number, quality: number): BrotliOptions {
  // A window larger than the file only costs memory that must be cleared.
  const window = Math.min(22, Math.max(16, Math.ceil(Math.log2(bytes + 1))));
  return {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: quality,
      [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes,
      [constants.BROTLI_PARAM_LGWIN]: window,
    },
  };
}

function zstdOptions(level: number): ZstdOptions {
  return { params: { [constants.ZSTD_c_compressionLevel]: level } };
}
