/** What is taken over from another status page: components, groups, and everything that was written on it, as posts. */

import type { z } from 'zod';
import type { EpochMs } from '../model/time.ts';
import type { WrittenFile } from '../sync/connectors/markdown/files.ts';
import type { PostSchema } from '../sync/connectors/markdown/schema.ts';

/** What an importer is told beside what it reads. */
export interface ImportContext {
  /** Slug that the page has here. */
  readonly page: string;
  /** Time zone (IANA) of times without an offset. */
  readonly zone: string;
  readonly now: EpochMs;
  /** Whether Pharos is to make the checks itself, so that the other program isn't needed any more. */
  readonly makesChecks?: boolean;
}

export interface ImportedSite {
  /** Null: it has none. */
  readonly title: string | null;
  readonly description: string | null;
  /** Settings of the page by their names in the configuration. */
  readonly settings?: Readonly<Record<string, string | boolean>>;
  /** In the order of the page. */
  readonly groups: readonly ImportedGroup[];
  readonly components: readonly ImportedComponent[];
  /** What its components are watched by, as an entry of `upstreams`; null: it watches nothing that can be asked from here. */
  readonly upstream: (Readonly<Record<string, unknown>> & { readonly id: string; readonly kind: string }) | null;
  readonly posts: readonly ImportedPost[];
  /** Addresses of what is no post, and what they lead to here, both below the page. */
  readonly redirects: Readonly<Record<string, string>>;
  readonly notes: readonly ImportNote[];
}

export interface ImportedGroup {
  readonly id: string;
  readonly name: string;
  /** Undefined: it does not say. */
  readonly defaultOpen?: boolean;
}

export interface ImportedComponent {
  /** Unique on the page. */
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly groupId: string | null;
  /** `<upstream id>/<external id>`; null: nothing watches it. */
  readonly monitor: string | null;
}

export interface ImportedPost extends Pick<WrittenFile, 'opening' | 'updates'> {
  /** Of its file, without the ending: the same at every import. */
  readonly name: string;
  readonly post: z.input<typeof PostSchema>;
  /** Addresses that it had there, below the page. */
  readonly addresses: readonly string[];
}

/** What is not here as it was there. `dropped`: something is missing; `changed`: it is here in another form. */
export interface ImportNote {
  readonly kind: 'dropped' | 'changed';
  /** What it is about: a file, an item with its id. */
  readonly place: string;
  readonly message: string;
}

/** Says what is missing. */
export function dropped(place: string, message: string): ImportNote {
  return { kind: 'dropped', place, message };
}

/** Says what is here in another form. */
export function changed(place: string, message: string): ImportNote {
  return { kind: 'changed', place, message };
}
