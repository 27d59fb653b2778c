/** The body of an answer: read to its end or refused, never larger than allowed once it is unpacked. */

import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { shapeError } from './http-faults.ts';

/** A packed answer up to this size may have any ratio: 10,000 much alike monitors pack 65 to 1 into two megabytes. */
const RATIO_FREE_BYTES = 4 * 1024 * 1024;
/** Above it, more than this is no list of monitors but a bomb. */
const RATIO_MAX = 100;

interface Bound {
  readonly maxOutputLength: number;
}
type Unpack = (bytes: Buffer, bound: Bound) => Promise<Buffer>;

const gunzip: Unpack = promisify<Buffer, Bound, Buffer>(zlib.gunzip);
const inflate: Unpack = promisify<Buffer, Bound, Buffer>(zlib.inflate);
const inflateRaw: Unpack = promisify<Buffer, Bound, Buffer>(zlib.inflateRaw);
const UNPACK: Readonly<Record<string, Unpack>> = {
  gzip: gunzip,
  'x-gzip': gunzip,
  // Some servers send the bare stream where the standard asks for the zlib wrapper.
  deflate: (bytes, bound) => (hasZlibHeader(bytes) ? inflate(bytes, bound) : inflateRaw(bytes, bound)),
  br: promisify<Buffer, Bound, Buffer>(zlib.brotliDecompress),
  zstd: promisify<Buffer, Bound, Buffer>(zlib.zstdDecompress),
};

/** What we can unpack, for `Accept-Encoding`. */
export const ACCEPTED_ENCODINGS = 'gzip, br, zstd, deflate';

interface BodyBounds {
  /** The `Content-Encoding` header; at most one packing is undone. */
  readonly encoding: string | undefined;
  /** Bound of the bytes on the wire, and of the unpacked ones. */
  readonly bytesMax: number;
  /** What was asked, for messages. */
  readonly place: string;
}

/**
 * All bytes of `body`, unpacked.
 *
 * @throws UPSTREAM_SHAPE when it is too large or packed in another way, and whatever the stream fails with
 */
export async function readBody(body: Readable, { encoding, bytesMax, place }: BodyBounds): Promise<Buffer> {
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
    throw shapeError(
      place,
      isTooLarge(error)
        ? `${length} bytes decompress to more than ${maxOutputLength}`
        : `the compressed body is damaged or truncated`,
    );
  }
}

/** Closes the connection without reading on. */
export function dropBody(body: Readable): void {
  // A stream that is destroyed early tells so by an error event, which nobody waits for.
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

function isTooLarge(error: unknown): boolean {
  return error instanceof Error && (error as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE';
}
