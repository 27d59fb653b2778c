/** A place where other servers serve the site: a folder or a bucket. */

import type { StaticFile } from './static-file.ts';

/** The file that a target is tried with. */
export const PROBE = {
  path: '.pharos-probe',
  bytes: Buffer.from('Written by Pharos to check that it can write here.\n'),
} as const;

/** Operations of one kind of target. What is written, and in which order, is the same for all kinds. */
export interface TargetStore {
  readonly kind: 'folder' | 's3';
  /** Shown to people: a path, or the address of a bucket. */
  readonly place: string;
  /** How files are stored. If this changes, everything is written again. */
  readonly settings: string;
  /** Number of files written in parallel. */
  readonly concurrency: number;
  /** The ledger is written after this many files, so that no more are written twice after a crash. */
  readonly checkpointFiles: number;
  /** A ledger with its version; null: there is none. */
  readonly readLedger: (path: string) => Promise<{ readonly text: string; readonly version: string } | null>;
  /**
   * Writes a ledger. With `version`, only replaces that version (null: only if there is none), if the target supports it.
   *
   * @returns the new version
   * @throws TARGET_BUSY when someone else has written it
   */
  readonly writeLedger: (path: string, text: string, version?: string | null) => Promise<string>;
  /**
   * Writes a file, which readers see completely or not at all.
   * @returns bytes written
   */
  readonly put: (file: StaticFile) => Promise<number>;
  /** Removes a file; no error if it doesn't exist. */
  readonly remove: (path: string) => Promise<void>;
  /** Whether a file exists; absent: checking costs too much. */
  readonly has?: (path: string) => boolean;
  /**
   * Writes and removes a test file.
   * @throws if the site can't be written there
   */
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
  /** What went wrong, and what to do; the next run tries again. */
  readonly message: string | null;
  /** Warnings, although nothing failed. */
  readonly warnings: readonly string[];
}

/** Called with the number of changed pages that are complete. */
export type OnPage = (done: number, total: number) => void;

export interface Target {
  readonly kind: TargetStore['kind'];
  readonly place: string;
  /** Reads the ledger before the first update. */
  readonly open: () => Promise<void>;
  /** Brings the target up to date. Never throws, because errors are in the report. One call at a time. */
  readonly update: (onPage?: OnPage) => Promise<TargetReport>;
  /** Restarts the current update, beginning with removals. */
  readonly interrupt: () => void;
  readonly probe: TargetStore['probe'];
  readonly close: () => Promise<void>;
}
