/** One update of a target: what it works with, and what it counts. */

import pLimit from 'p-limit';
import { messageOf } from '../../errors.ts';
import type { PageEntries } from './ledger.ts';
import type { SiteKey } from './sealed-entries.ts';
import { NoLongerPublicError, ReleaseGoneError } from './static-file.ts';
import type { StaticPage, StaticSite } from './static-listing.ts';
import type { TargetStore } from './target.ts';

/** What is known of the target between two runs. */
export interface TargetLedger {
  readonly pages: PageEntries;
  /** Of the site ledger; null: there is none. */
  version: string | null;
  /** Until the ledger is written: there is none, or none that can be understood, so gated pages may be there unlisted. */
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
  readonly store: TargetStore;
  readonly key: SiteKey;
  readonly site: StaticSite;
  readonly memory: TargetLedger;
  readonly tally: Tally;
  /** Every file is compared, also of pages that seem to be there. */
  readonly isThorough: boolean;
  /** True: something has to leave at once, so nothing more is begun. */
  readonly isInterrupted: () => boolean;
}

/** The update stops to begin anew. */
export class InterruptedError extends Error {
  constructor() {
    super('a page must be removed first');
    this.name = 'InterruptedError';
  }
}

/** The update began anew so often that it leaves the rest to the next one. */
export class RestlessError extends Error {
  constructor(times: number) {
    super(`Stopped part-way after starting over ${times} times, because pages became private. The next run continues.`);
    this.name = 'RestlessError';
  }
}

/** What the ledger says of a file: what it is, and how it is stored. */
export function contentStamp({ store }: TargetRun, identity: string): string {
  return `${identity.slice(0, 40)}${store.settings}`;
}

/** What a page's entry says of numbers once this release of it is there: they only grow. */
export function numberAfter({ memory }: TargetRun, { slug, number }: Pick<StaticPage, 'slug' | 'number'>): number {
  return Math.max(memory.pages.get(slug)?.number ?? 0, number);
}

/** Several at a time. After the first failure nothing more is begun, and what is under way is waited for. */
export async function eachOf<Item>(
  items: readonly Item[],
  concurrency: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = [];
  await pLimit(concurrency).map(items, async (item) => {
    if (failures.length === 0) await work(item).catch((error: unknown) => failures.push(error));
  });
  if (failures.length > 0) throw failures[0];
}

/** What went wrong, for the report. */
export function faultText(error: unknown): string {
  if (error instanceof NoLongerPublicError || error instanceof ReleaseGoneError)
    return `Stopped part-way because ${error.message}. The next run continues.`;
  return messageOf(error);
}
