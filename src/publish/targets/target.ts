/** Where a site is put that others serve. */

import type { StaticFile } from './static-file.ts';

/** What a kind of target can do; what is put there, and in which order, is the same for all. */
export interface TargetStore {
  readonly kind: 'folder' | 's3';
  /** For people: a path, or the address of a bucket. */
  readonly place: string;
  /** How files are stored, beside their bytes; another value has everything written again. */
  readonly settings: string;
  /** Files that are written at the same time. */
  readonly concurrency: number;
  /** Files between two notes of what is done, so that no more than these are written twice after a crash. */
  readonly checkpointFiles: number;
  /** A ledger with its version; null: there is none. */
  readonly readLedger: (path: string) => Promise<{ readonly text: string; readonly version: string } | null>;
  /**
   * Writes a ledger; with `version` only over that one (null: only where there is none), as far as the target can tell.
   *
   * @returns its version from now on
   * @throws TARGET_BUSY when somebody else wrote it
   */
  readonly writeLedger: (path: string, text: string, version?: string | null) => Promise<string>;
  /** Whole or not at all for a reader. @returns bytes written */
  readonly put: (file: StaticFile) => Promise<number>;
  /** Nothing there is no fault. */
  readonly remove: (path: string) => Promise<void>;
  /** Whether a file is there; absent: asking costs too much. */
  readonly has?: (path: string) => boolean;
  /** Puts and removes something that nobody looks at. @throws what keeps a site from being put there */
  readonly probe: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface TargetReport {
  readonly kind: TargetStore['kind'];
  readonly place: string;
  readonly result: 'current' | 'failed';
  readonly filesWritten: number;
  readonly filesKept: number;
  readonly filesRemoved: number;
  readonly bytesWritten: number;
  readonly durationMs: number;
  /** What went wrong, in words and with its remedy; the next run tries again. */
  readonly message: string | null;
  /** What is not as it should be although nothing failed. */
  readonly warnings: readonly string[];
}

/** Told how many of the pages that changed are there. */
export type OnPage = (done: number, total: number) => void;

export interface Target {
  readonly kind: TargetStore['kind'];
  readonly place: string;
  /** Reads what the target holds, ahead of the first update. */
  readonly open: () => Promise<void>;
  /** Updates the target to what is published. Never throws: what went wrong is in the report. One at a time. */
  readonly update: (onPage?: OnPage) => Promise<TargetReport>;
  /** Has the update that is under way begin anew, with what is to leave first. */
  readonly interrupt: () => void;
  readonly probe: TargetStore['probe'];
  readonly close: () => Promise<void>;
}
