/** One file of a status page: where it is, what it shows, and how it is drawn. Nothing is computed before it is asked for. */

import { once } from '../../once.ts';
import { fingerprintOf } from '../fingerprint.ts';

/** Draws a view as HTML; the built pages behind it are compiled once. */
export interface PageRenderer {
  render(kind: string, view: unknown): Promise<Drawn>;
}

/** A file's bytes, and for HTML the content security policy that belongs to them. */
export interface Drawn {
  readonly body: string | Uint8Array;
  readonly csp: string | null;
}

export const PRIORITIES = ['immediate', 'deferred', 'background'] as const;
/**
 * When a file is drawn. `immediate`: with the news. `deferred`: figures over long periods, which stay as they were until
 * the news is out; a page that has none yet gets them at once. `background`: more than a few milliseconds, always later.
 */
export type Priority = (typeof PRIORITIES)[number];

export interface FileEntry {
  /** Below the page's own address, as a file: `api/v2/summary.json`, `incidents/x/index.html`. */
  readonly path: string;
  readonly contentType: string;
  /** What draws it: entries of one kind with one view have the same bytes. */
  readonly kind: string;
  /**
   * Digest of everything the view is computed from, or of the view itself: as long as it and `kind` stay, the bytes
   * do, whatever else changes in the model. Cheaper than the view where that is dear.
   */
  readonly key: string;
  /** Plain data that JSON can hold. Computed when first asked for, and kept until it is drawn. */
  readonly view: unknown;
  readonly priority: Priority;
  draw(renderer: PageRenderer): Promise<Drawn>;
}

export interface FileEntryInit<View> {
  readonly path: string;
  readonly contentType: string;
  readonly kind: string;
  /** Everything the view is computed from; by default the view itself. */
  readonly inputs?: () => unknown;
  readonly view: () => View;
  /** Default: `immediate`. */
  readonly priority?: Priority;
  readonly draw: (
    view: View,
    renderer: PageRenderer,
  ) => string | Uint8Array | Drawn | Promise<string | Uint8Array | Drawn>;
}

/** An entry whose view and key are computed when first asked for. */
export function fileEntry<View>(init: FileEntryInit<View>): FileEntry {
  let made: { readonly value: View } | null = null;
  const view = (): View => {
    made ??= { value: init.view() };
    return made.value;
  };
  const key = once(() => fingerprintOf((init.inputs ?? view)()));
  return {
    path: init.path,
    contentType: init.contentType,
    kind: init.kind,
    priority: init.priority ?? 'immediate',
    get key() {
      return key();
    },
    get view() {
      return view();
    },
    draw: async (renderer) => {
      const shown = view();
      // Views of a large page take hundreds of megabytes together; nobody looks at one again once it is drawn.
      made = null;
      const drawn = await init.draw(shown, renderer);
      return typeof drawn === 'string' || drawn instanceof Uint8Array ? { body: drawn, csp: null } : drawn;
    },
  };
}
