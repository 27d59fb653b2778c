/** One file of a status page: its path, its kind, and its inputs. Nothing is computed before it is needed. */

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
  /** Digest of what of its inputs is in a language, where finding that out is cheaper than the whole. */
  readonly words?: (() => string) | undefined;
  draw(renderer: PageRenderer): Promise<Drawn>;
}

export interface FileEntryInit<Inputs> {
  /** Plain data that JSON can hold. */
  readonly inputs: () => Inputs;
  /** Default: `immediate`. */
  readonly priority?: Priority;
  /** As in the entry. Default: it is not cheaper. */
  readonly words?: () => string;
}

/** A class, because a page has thousands, and a literal with getters takes twice as long to make. */
class OwnEntry<Inputs extends object> implements FileEntry {
  readonly path: string;
  readonly kind: FileKind<Inputs>;
  private readonly init: FileEntryInit<Inputs>;
  private made: Inputs | null = null;
  private digest: string | null = null;

  constructor(kind: FileKind<Inputs>, path: string, init: FileEntryInit<Inputs>) {
    this.path = path;
    this.kind = kind;
    this.init = init;
  }

  get priority(): Priority {
    return this.init.priority ?? 'immediate';
  }

  get inputs(): Inputs {
    this.made ??= this.init.inputs();
    return this.made;
  }

  get fingerprint(): string {
    this.digest ??= partsFingerprint(this.inputs);
    return this.digest;
  }

  get words(): FileEntry['words'] {
    return this.init.words;
  }

  draw(renderer: PageRenderer): Promise<Drawn> {
    const { inputs } = this;
    // The inputs of a large page take hundreds of megabytes, and aren't needed once the file is rendered.
    this.made = null;
    return this.kind.draw(inputs, renderer);
  }
}

/** A file that can only show its inputs, because its kind gets nothing else. */
export function fileEntry<Inputs extends object>(
  kind: FileKind<Inputs>,
  path: string,
  init: FileEntryInit<Inputs>,
): FileEntry {
  return new OwnEntry(kind, path, init);
}

/** Characters of a digest, of six bits each: more than enough to tell two apart. */
const HALF = 22;

/**
 * A file of a page in another language, below a folder with a slash at its end.
 *
 * @param original  the same file in the default language, which shows the same but for words. Default: it isn't known
 */
export function inFolder(folder: string, entry: FileEntry, original?: FileEntry): FileEntry {
  return new MovedEntry(folder, entry, original);
}

class MovedEntry implements FileEntry {
  readonly path: string;
  readonly kind: FileEntry['kind'];
  readonly priority: Priority;
  private readonly entry: FileEntry;
  private readonly original: FileEntry | undefined;

  constructor(folder: string, entry: FileEntry, original: FileEntry | undefined) {
    this.path = folder + entry.path;
    this.kind = entry.kind;
    this.priority = entry.priority;
    this.entry = entry;
    this.original = original;
  }

  get inputs(): object {
    return this.entry.inputs;
  }

  get fingerprint(): string {
    const { entry, original } = this;
    if (entry.words === undefined || original === undefined) return entry.fingerprint;
    return original.fingerprint.slice(0, HALF) + entry.words().slice(0, HALF);
  }

  draw(renderer: PageRenderer): Promise<Drawn> {
    return this.entry.draw(renderer);
  }
}

const MARK_LENGTH = 16;

/** Returns a function for the key of a file: as long as it stays the same, so do the file's bytes. */
export function fileKeys(version: string): (entry: FileEntry) => string {
  const marks = new Map<string, string>();
  const markKind = (kind: string): string =>
    marks.getOrInsertComputed(kind, () => fingerprintOf([kind, version]).slice(0, MARK_LENGTH));
  return ({ kind, fingerprint }) => markKind(kind.name) + fingerprint;
}
