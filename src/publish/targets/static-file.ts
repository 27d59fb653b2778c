/** One file for a static host. */

import { readFileSync } from 'node:fs';

/** Order of writing: link targets come before the files that link to them. */
export const STAGES = ['data', 'html', 'index'] as const;
type Stage = (typeof STAGES)[number];

export interface StaticFile {
  /** Path below the root of the site, as in URLs. */
  readonly path: string;
  /** Identifies the bytes: the same identity means the same bytes. For files on disk, their SHA-256. */
  readonly identity: string;
  readonly contentType: string;
  readonly cacheControl: string;
  readonly stage: Stage;
  /** The bytes. @throws NoLongerPublicError, ReleaseGoneError */
  readonly read: () => Promise<Uint8Array>;
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
export function stageOf(pathInPage: string, contentType: string): Stage {
  if (pathInPage === 'index.html') return 'index';
  return contentType.startsWith('text/html') ? 'html' : 'data';
}

/** Whether a path stays below the root. Paths come from a ledger, which others may have changed. */
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
