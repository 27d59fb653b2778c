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
  readonly exports: readonly ExportFacts[];
  /** Folders and buckets that are not up to date; those that are well are not listed. */
  readonly targets: readonly TargetFacts[];
  readonly mail: MailFacts;
  /** Pages that have subscribers. */
  readonly subscribers: readonly SubscriberFacts[];
  /** What was owed to subscribers (`email`) and channels in the last days. */
  readonly notices: readonly NoticeFacts[];
  /** Newest first. */
  readonly audit: readonly AuditFacts[];
  /** Of the last days. */
  readonly signIns: readonly SignInFacts[];
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

interface SentFacts {
  readonly queued: number;
  readonly sent: number;
  readonly rejected: number;
  readonly parked: number;
  readonly lastError: string | null;
}

interface ExportFacts extends SentFacts {
  readonly id: string;
}

interface TargetFacts {
  /** A path, or the address of a bucket. */
  readonly place: string;
  /** Why not, with what helps. */
  readonly message: string;
}

interface MailFacts {
  /** Whether a page needs mails at all. */
  readonly isNeeded: boolean;
  readonly isConfigured: boolean;
  /** The sandbox sends none. */
  readonly isPrinted: boolean;
  readonly waiting: number;
}

/** How many there are; never who. */
interface SubscriberFacts {
  readonly page: string;
  readonly active: number;
  readonly paused: number;
  readonly pending: number;
}

interface NoticeFacts extends SentFacts {
  readonly channel: string;
}

interface AuditFacts {
  readonly at: EpochMs;
  readonly actor: string;
  readonly action: string;
  readonly subject: string | null;
  readonly client: string | null;
  readonly outcome: string | null;
}

interface SignInFacts {
  readonly page: string;
  readonly signedIn: number;
  readonly refused: number;
  readonly limited: number;
}
