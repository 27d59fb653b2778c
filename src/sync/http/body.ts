/** Reads the body of a response completely, with a limit for its decompressed size. */

import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { shapeError } from './http-faults.ts';

/** Up to this size, any compression ratio is accepted: 10,000 similar monitors compress 65 to 1. */
const RATIO_FREE_BYTES = 4 * 1024 * 1024;
/** Above that size, a higher ratio is taken for an attack. */
const RATIO_MAX = 100;

type Unpack = (bytes: Buffer, bound: { readonly maxOutputLength: number }) => Promise<Buffer>;

const gunzip: Unpack = promisify(zlib.gunzip);
const inflate: Unpack = promisify(zlib.inflate);
const inflateRaw: Unpack = promisify(zlib.inflateRaw);
const UNPACK: Readonly<Record<string, Unpack>> = {
  gzip: gunzip,
  'x-gzip': gunzip,
  // Some servers send the raw stream, although the standard requires the zlib wrapper.
  deflate: (bytes, bound) => (hasZlibHeader(bytes) ? inflate(bytes, bound) : inflateRaw(bytes, bound)),
  br: promisify(zlib.brotliDecompress),
  zstd: promisify(zlib.zstdDecompress),
};

/** Supported encodings, for `Accept-Encoding`. */
export const ACCEPTED_ENCODINGS = 'gzip, br, zstd, deflate';

/**
 * Returns all bytes of `body`, decompressed.
 *
 * @param encoding  the `Content-Encoding` header; only one encoding is undone
 * @param bytesMax  limit of the compressed and of the decompressed size
 * @param place     the request, for messages
 * @throws UPSTREAM_SHAPE if it is too large or has an unsupported encoding, and whatever the stream fails with
 */
export async function readBody(
  body: Readable,
  encoding: string | undefined,
  bytesMax: number,
  place = '',
): Promise<Buffer> {
  const unpack = chooseUnpack(encoding);
  if (unpack === 'unknown') {
    dropBody(body);
    throw shapeError(place, 'the body has an unsupported content encoding');
  }
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    length += chunk.length;
    // Leaving the loop destroys the stream, and with it the socket.
    if (length > bytesMax) throw shapeError(place, `the response is larger than ${bytesMax} bytes`);
    chunks.push(chunk);
  }
  const packed = Buffer.concat(chunks, length);
  if (unpack === null || length === 0) return packed;
  const maxOutputLength = Math.min(bytesMax, Math.max(RATIO_FREE_BYTES, length * RATIO_MAX));
  try {
    return await unpack(packed, { maxOutputLength });
  } catch (error) {
    const isTooLarge = (error as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE';
    const words = `${length} bytes decompress to more than ${maxOutputLength}`;
    throw shapeError(place, isTooLarge ? words : 'the compressed body is damaged or truncated');
  }
}

/** Closes the connection without reading on. */
export function dropBody(body: Readable): void {
  // Destroying a stream early emits an error event, which is expected here.
  body.on('error', () => undefined).destroy();
}

function chooseUnpack(encoding: string | undefined): Unpack | 'unknown' | null {
  const names = (encoding ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity');
  if (names.length === 0) return null;
  const [name = ''] = names;
  return names.length === 1 && Object.hasOwn(UNPACK, name) ? (UNPACK[name] ?? 'unknown') : 'unknown';
}

/** RFC 1950: method 8, and the first two bytes a multiple of 31. */
function hasZlibHeader(bytes: Buffer): boolean {
  return bytes.length >= 2 && ((bytes[0] ?? 0) & 0x0f) === 8 && bytes.readUInt16BE(0) % 31 === 0;
}
