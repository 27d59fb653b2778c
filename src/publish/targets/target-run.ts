/** The state of one update of a target. */

import { messageOf } from '../../errors.ts';
import type { ObjectStore } from '../stored/object-store.ts';
import type { SiteKey } from '../stored/sealed-entries.ts';
import type { PageEntries } from './site-ledger.ts';
import { type ContentEncoding, NoLongerPublicError, ReleaseGoneError } from './static-file.ts';
import type { StaticPage, StaticSite } from './static-listing.ts';

/** What is remembered about the target between updates. */
export interface TargetLedger {
  readonly pages: PageEntries;
  /** Version of the site ledger; null: there is none. */
  version: string | null;
  /** True until the ledger is written, if there was none that could be read. Private pages may then be there unlisted. */
  doubts: 'none' | 'missing' | 'unreadable';
}

export interface Tally {
  filesWritten: number;
  filesKept: number;
  filesRemoved: number;
  bytesWritten: number;
  readonly warnings: string[];
  readonly failures: string[];
}

export interface TargetRun {
  readonly store: ObjectStore;
  readonly encoding: ContentEncoding;
  /** Files written in parallel. */
  readonly concurrency: number;
  /** The ledger is written after this many files, so that no more are written twice after a crash. */
  readonly checkpointFiles: number;
  readonly key: SiteKey;
  readonly site: StaticSite;
  readonly memory: TargetLedger;
  readonly tally: Tally;
  /** Compare every file, even of pages that seem complete. */
  readonly isThorough: boolean;
  /** True: something must be removed at once, so no further write is started. */
  readonly isInterrupted: () => boolean;
}

/** Thrown to restart the update. */
export class InterruptedError extends Error {
  constructor() {
    super('a page must be removed first');
    this.name = 'InterruptedError';
  }
}

/** Thrown when the update was restarted too often, so that the rest is left to the next one. */
export class RestlessError extends Error {
  constructor(times: number) {
    super(`Stopped part-way after starting over ${times} times, because pages became private. The next run continues.`);
    this.name = 'RestlessError';
  }
}

/** How files are stored, in the ledger. If this changes, everything is written again. */
export function storageSettings(encoding: ContentEncoding): string {
  return encoding === 'identity' ? '' : ` ${encoding}`;
}

/** Stamp of a file in the ledger: its identity, and how it is stored. */
export function contentStamp({ encoding }: TargetRun, identity: string): string {
  return `${identity.slice(0, 40)}${storageSettings(encoding)}`;
}

/** Release numbers in a page's entry, which only grow. */
export function numberAfter({ memory }: TargetRun, { slug, number }: Pick<StaticPage, 'slug' | 'number'>): number {
  return Math.max(memory.pages.get(slug)?.number ?? 0, number);
}

/** What went wrong, for the report. */
export function faultText(error: unknown): string {
  if (error instanceof NoLongerPublicError || error instanceof ReleaseGoneError)
    return `Stopped part-way because ${error.message}. The next run continues.`;
  return messageOf(error);
}
