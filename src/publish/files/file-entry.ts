/** One file of a status page: where it is, its kind, and what it is made from. Nothing is computed before it is asked for. */

import { once } from '../../once.ts';
import { fingerprintOf, partsFingerprint } from '../fingerprint.ts';
import type { Drawn, FileKind, KindFacts, PageRenderer } from './file-kind.ts';

export const PRIORITIES = ['immediate', 'deferred', 'background'] as const;
/**
 * When a file is drawn. `immediate`: with the news. `deferred`: figures over long periods, which stay as they were until
 * the news is out; a page that has none yet gets them at once. `background`: more than a few milliseconds, always later.
 */
export type Priority = (typeof PRIORITIES)[number];

export interface FileEntry {
  /** Below the page's own address, as a file: `api/v2/summary.json`, `incidents/x/index.html`. */
  readonly path: string;
  readonly kind: KindFacts;
  readonly priority: Priority;
  /** Everything that the file is made from. Plain data; kept from when it is first asked for until it is drawn. */
  readonly inputs: object;
  /** Digest of the inputs: as long as it and what draws the kind stay, the bytes do. */
  readonly fingerprint: string;
  draw(renderer: PageRenderer): Promise<Drawn>;
}

/** In hexadecimal digits: among a dozen kinds and their versions no two have the same. */
const MARK_LENGTH = 16;

export interface FileEntryInit<Inputs> {
  /** Plain data that JSON can hold. */
  readonly inputs: () => Inputs;
  /** Default: `immediate`. */
  readonly priority?: Priority;
}

/** A file that shows nothing but its inputs, since its kind is handed nothing else. */
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
      // Those of a large page take hundreds of megabytes together; nobody looks at them again once it is drawn.
      made = null;
      return kind.draw(drawn, renderer);
    },
  };
}

/** Tells what draws a kind, as one text: two with one version draw the same bytes from the same inputs. */
export type VersionOf = (kind: KindFacts) => string;

/** What a file's bytes follow from, as one text: what makes it, and what it is made from. */
export function keyOf({ kind, fingerprint }: FileEntry, versionOf: VersionOf): string {
  return markOf(kind, versionOf(kind)) + fingerprint;
}

interface Mark {
  readonly version: string;
  readonly mark: string;
}

/** A page has hundreds of files of a dozen kinds. */
const marks = new WeakMap<KindFacts, Mark>();

function markOf(kind: KindFacts, version: string): string {
  const known = marks.get(kind);
  if (known?.version === version) return known.mark;
  const mark = fingerprintOf([kind.name, version]).slice(0, MARK_LENGTH);
  marks.set(kind, { version, mark });
  return mark;
}
