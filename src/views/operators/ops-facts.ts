/** What operators are shown, as plain facts. No secret is among them, and no address of a person. */

import type { EpochMs } from '../../model/index.ts';
import type { AccessType } from '../../model/observation.ts';

export interface OpsFacts {
  readonly now: EpochMs;
  readonly version: string;
  readonly siteName: string;
  readonly timezone: string;
  /** False: the process only serves, so nothing can be asked of it. */
  readonly canRun: boolean;
  readonly upstreams: readonly UpstreamFacts[];
  /** Under way and waiting ones included, newest first; more than are shown, since equal ones become one. */
  readonly runs: readonly RunFacts[];
  /** Those that are not published first, then as they are defined; not all of many. */
  readonly pages: readonly OpsPageFacts[];
  readonly pagesTotal: number;
  readonly unpublishedTotal: number;
  /** Pages that stay on a release whatever news there is. */
  readonly heldPages: readonly { readonly slug: string; readonly release: number }[];
  /** Pages that are defined and not published, in words. */
  readonly problems: readonly { readonly slug: string; readonly message: string }[];
  readonly exports: readonly (SentFacts & { readonly id: string })[];
  /** Folders (their paths) and buckets (their addresses) that are not up to date, with why not and what helps. */
  readonly targets: readonly { readonly place: string; readonly message: string }[];
  readonly mail: {
    /** Whether a page needs mails at all. */
    readonly isNeeded: boolean;
    readonly isConfigured: boolean;
    /** The sandbox sends none. */
    readonly isPrinted: boolean;
    readonly waiting: number;
  };
  /** Pages that have subscribers: how many there are; never who. */
  readonly subscribers: readonly ({ readonly page: string } & Counts<'active' | 'paused' | 'pending'>)[];
  /** What was owed to subscribers (`email`) and channels in the last days. */
  readonly notices: readonly (SentFacts & { readonly channel: string })[];
  /** Newest first. */
  readonly audit: readonly AuditFacts[];
  /** Of the last days. */
  readonly signIns: readonly ({ readonly page: string } & Counts<'signedIn' | 'refused' | 'limited'>)[];
}

export interface UpstreamFacts {
  readonly id: string;
  readonly kind: string;
  /** The last good answer; null: none yet. */
  readonly heardAt: EpochMs | null;
  readonly intervalMs: number;
  readonly isStale: boolean;
  /** Null: not known. */
  readonly monitorsTotal: number | null;
  readonly quota: readonly { readonly lengthMs: number; readonly max: number; readonly left: number }[];
  readonly circuit: CircuitFacts;
  /** Of the last pass over it that failed, since then or not answered; null: none that is remembered. */
  readonly lastError: { readonly at: EpochMs; readonly code: string; readonly message: string } | null;
  /** When each place last checked something of it; empty: Pharos makes none of its checks. */
  readonly places: readonly { readonly place: string; readonly at: EpochMs }[];
  /** What the last pass that read it left out or could not read, each with its place. */
  readonly notes: readonly string[];
}

export type CircuitFacts =
  | { readonly kind: 'closed' | 'half-open' }
  | { readonly kind: 'open'; readonly why: 'failing' | 'refused' | 'waiting'; readonly until: EpochMs };

export interface RunFacts {
  readonly id: string;
  readonly trigger: string;
  /** Null: it waits for its turn. */
  readonly startedAt: EpochMs | null;
  /** Null: it has not ended. */
  readonly endedAt: EpochMs | null;
  readonly hasFailed: boolean;
  /** What changed and what failed. */
  readonly outcome: string;
}

export interface OpsPageFacts {
  readonly slug: string;
  readonly title: string;
  /** Absolute. */
  readonly url: string;
  readonly access: Exclude<AccessType, 'closed'>;
  /** What is served; null: nothing yet. */
  readonly release: {
    readonly number: number;
    readonly asOf: EpochMs;
    readonly filesTotal: number;
    readonly bytesTotal: number;
  } | null;
  /** Older or newer ones that could be served instead, newest first. */
  readonly others: readonly { readonly number: number; readonly asOf: EpochMs }[];
}

type Counts<Name extends string> = Readonly<Record<Name, number>>;
type SentFacts = Counts<'queued' | 'sent' | 'rejected' | 'parked'> & { readonly lastError: string | null };

interface AuditFacts {
  readonly at: EpochMs;
  readonly actor: string;
  readonly action: string;
  readonly subject: string | null;
  readonly client: string | null;
  readonly outcome: string | null;
}
