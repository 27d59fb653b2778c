/** One file of a status page: its path, its kind, and its inputs. Nothing is computed before it is needed. */

import { once } from '../../once.ts';
import { fingerprintOf, partsFingerprint } from '../fingerprint.ts';
import type { Drawn, FileKind, PageRenderer } from './kinds.ts';

export const PRIORITIES = ['immediate', 'deferred', 'background'] as const;
/**
 * When a file is drawn. `immediate`: with the news. `deferred`: figures over long periods, which stay as they were until
 * the news is out; a page that has none yet gets them at once. `background`: more than a few milliseconds, always later.
 */
export type Priority = (typeof PRIORITIES)[number];

export interface FileEntry {
  /** Path below the page: `api/v2/summary.json`, `incidents/x/index.html`. */
  readonly path: string;
  readonly kind: Pick<FileKind<never>, 'name' | 'contentType'>;
  readonly priority: Priority;
  /** Everything that the file is made from. Plain data, kept from its first use until the file is rendered. */
  readonly inputs: object;
  /** Digest of the inputs. */
  readonly fingerprint: string;
  draw(renderer: PageRenderer): Promise<Drawn>;
}

export interface FileEntryInit<Inputs> {
  /** Plain data that JSON can hold. */
  readonly inputs: () => Inputs;
  /** Default: `immediate`. */
  readonly priority?: Priority;
}

/** The same entry below a folder, which ends with a slash. */
export function inFolder(folder: string, entry: FileEntry): FileEntry {
  const { kind, priority, draw } = entry;
  return {
    ...{ path: folder + entry.path, kind, priority, draw },
    get inputs() {
      return entry.inputs;
    },
    get fingerprint() {
      return entry.fingerprint;
    },
  };
}

/** A file that can only show its inputs, because its kind gets nothing else. */
export function fileEntry<Inputs extends object>(
  kind: FileKind<Inputs>,
  path: string,
  init: FileEntryInit<Inputs>,
): FileEntry {
  let made: Inputs | null = null;
  const inputs = (): Inputs => {
    made ??= init.inputs();
    return made;
  };
  const fingerprint = once(() => partsFingerprint(inputs()));
  return {
    path,
    kind,
    priority: init.priority ?? 'immediate',
    get inputs() {
      return inputs();
    },
    get fingerprint() {
      return fingerprint();
    },
    draw: (renderer) => {
      const drawn = inputs();
      // The inputs of a large page take hundreds of megabytes, and aren't needed once the file is rendered.
      made = null;
      return kind.draw(drawn, renderer);
    },
  };
}

const MARK_LENGTH = 16;

/** Returns a function for the key of a file: as long as it stays the same, so do the file's bytes. */
export function fileKeys(version: string): (entry: FileEntry) => string {
  const marks = new Map<string, string>();
  const markKind = (kind: string): string =>
    marks.getOrInsertComputed(kind, () => fingerprintOf([kind, version]).slice(0, MARK_LENGTH));
  return ({ kind, fingerprint }) => markKind(kind.name) + fingerprint;
}
