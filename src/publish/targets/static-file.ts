/** One file for a static host. */

import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { isWorthCompressing, PUBLIC_CACHE } from '../releases/manifest.ts';
import type { ObjectHeaders } from './object-store.ts';

/** Order of writing: link targets come before the files that link to them. */
export const STAGES = ['data', 'html', 'index'] as const;

export interface StaticFile {
  /** Path below the root of the site, as in URLs. */
  readonly path: string;
  /** Identifies the bytes: the same identity means the same bytes. For files on disk, their SHA-256. */
  readonly identity: string;
  readonly contentType: string;
  /** Default: as for all public files. */
  readonly cacheControl?: string;
  /** Default: `data`. */
  readonly stage?: (typeof STAGES)[number];
  /** The bytes. @throws NoLongerPublicError, ReleaseGoneError */
  readonly read: () => Promise<Uint8Array>;
}

/** A file of text that stands in no release. */
export function textFile(path: string, text: string, contentType = 'text/plain; charset=utf-8'): StaticFile {
  return { path, identity: hash('sha256', text), contentType, read: async () => Buffer.from(text) };
}

/** A page became private or was removed after its files were listed. Nothing more of it may be written. */
export class NoLongerPublicError extends Error {
  constructor(slug: string) {
    super(`${slug} is no longer public`);
    this.name = 'NoLongerPublicError';
  }
}

/** A release was removed while its files were being read, because there are newer ones. */
export class ReleaseGoneError extends Error {
  constructor(slug: string) {
    super(`the release of ${slug} that was being written no longer exists`);
    this.name = 'ReleaseGoneError';
  }
}

/** Returns the stage of a file. The page's own `index.html` links to all its other files. */
export function writingStage(pathInPage: string, contentType: string): (typeof STAGES)[number] {
  if (pathInPage === 'index.html') return 'index';
  return contentType.startsWith('text/html') ? 'html' : 'data';
}

/** @throws ReleaseGoneError when the release was taken away meanwhile */
export function fileOfRelease(file: string, slug: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw new ReleaseGoneError(slug);
    throw error;
  }
}

/** Encoding of stored text files; clients of a bucket can't choose. */
export type ContentEncoding = 'identity' | 'gzip' | 'br';

const ENCODERS: Readonly<Record<ContentEncoding, (body: Uint8Array) => Promise<Uint8Array>>> = {
  identity: async (body) => body,
  gzip: (body) => promisify(gzip)(body, { level: 9 }),
  br: (body) => promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
};

/** A file as it is stored. */
export async function encodedFile(
  { contentType, cacheControl = PUBLIC_CACHE, read }: StaticFile,
  encoding: ContentEncoding,
): Promise<{ body: Uint8Array; headers: ObjectHeaders }> {
  const plain = await read();
  const isEncoded = encoding !== 'identity' && isWorthCompressing(contentType, plain.length);
  return {
    body: isEncoded ? await ENCODERS[encoding](plain) : plain,
    headers: {
      'content-type': contentType,
      'cache-control': cacheControl,
      ...(isEncoded ? { 'content-encoding': encoding } : {}),
    },
  };
}
