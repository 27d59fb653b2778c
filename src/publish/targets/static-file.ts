/** One file of a site that no server of ours serves. */

import { readFileSync } from 'node:fs';

/** In this order: what is linked to is there before what links to it. */
export const STAGES = ['data', 'html', 'index'] as const;
export type Stage = (typeof STAGES)[number];

export interface StaticFile {
  /** Below the root of the site, as in addresses. */
  readonly path: string;
  /** What its bytes follow from: as long as it stays, they do. SHA-256 of the bytes where they are on disk. */
  readonly identity: string;
  readonly contentType: string;
  readonly cacheControl: string;
  readonly stage: Stage;
  /** The bytes. @throws NoLongerPublicError, ReleaseGoneError */
  readonly read: () => Promise<Uint8Array>;
}

/** A page went behind a gate, or was withdrawn, after its files were listed: nothing more of it may leave. */
export class NoLongerPublicError extends Error {
  constructor(slug: string) {
    super(`${slug} is no longer public`);
    this.name = 'NoLongerPublicError';
  }
}

/** A release was cleared away while its files were being read; there are newer ones. */
export class ReleaseGoneError extends Error {
  constructor(slug: string) {
    super(`the release of ${slug} that was being written no longer exists`);
    this.name = 'ReleaseGoneError';
  }
}

/** The stage of a file by what it is; `index.html` at the root of a page links to everything else of it. */
export function stageOf(pathInPage: string, contentType: string): Stage {
  if (pathInPage === 'index.html') return 'index';
  return contentType.startsWith('text/html') ? 'html' : 'data';
}

/** Whether a path from a ledger, which anybody who may write there can change, stays below the root. */
export function isInside(path: string): boolean {
  return (
    path !== '' &&
    !path.startsWith('/') &&
    !path.includes('\\') &&
    !path.split('/').some((part) => /^\.{0,2}$/.test(part))
  );
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
