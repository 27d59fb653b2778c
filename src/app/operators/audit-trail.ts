/** Enters into the audit what is asked for and what came of it. What the audit cannot take goes to the log and no further. */

import { createHmac } from 'node:crypto';
import pLimit from 'p-limit';
import type { EpochMs } from '../../model/time.ts';
import { type Audit, type AuditEntry, type SignInCount, type SignInResult, utcDayOf } from '../../store/audit.ts';
import type { RunReport, RunRequest } from '../run/engine.ts';
import { outcomeText } from '../run/outcome.ts';

export interface AuditTrail {
  /** Somebody asked for a run; entered unless nobody did, as with the schedule. */
  readonly queued: (runId: string, request: RunRequest) => void;
  readonly ended: (report: RunReport) => void;
  readonly failed: (runId: string, message: string) => void;
  /** Something that is done at once. */
  readonly note: (entry: Pick<AuditEntry, 'actor' | 'action'> & Partial<AuditEntry>) => void;
  /** Counted, and written down after a while: a flood of tries is one row. */
  readonly signIn: (slug: string, result: SignInResult) => void;
  /** What stands for an address: the same for the same address and key, and nothing without the key. */
  readonly clientOf: (address: string) => string | null;
  /** Writes down what is not yet. */
  readonly close: () => Promise<void>;
}

export interface AuditTrailOptions {
  readonly audit: Audit;
  readonly now: () => EpochMs;
  /** The operator token, which is not in the store: whoever has only the store cannot try addresses. */
  readonly key: () => { readonly reveal: () => string } | null;
  readonly isPage: (slug: string) => boolean;
  readonly onError: (error: unknown) => void;
}

const COUNTS_KEPT_MS = 5_000;
const HASH_LENGTH = 12;

/** Makes the trail. Writes are made one after the other, so that a run's outcome is never written before its entry. */
export function createAuditTrail(options: AuditTrailOptions): AuditTrail {
  const { audit, now, onError } = options;
  const inTurn = pLimit(1);
  let counts = new Map<string, SignInCount>();
  let timer: NodeJS.Timeout | null = null;

  function write(task: () => Promise<void>): void {
    inTurn(task).catch(onError);
  }

  function flush(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    const taken = [...counts.values()];
    counts = new Map();
    if (taken.length > 0) write(() => audit.countSignIns(taken));
  }

  return {
    queued: (run, { actor, client, trigger, page, upstreams }) => {
      if (actor === undefined) return;
      const subject = page ?? (upstreams === undefined ? null : upstreams.join(', ')) ?? null;
      // An operator who names an upstream pulls it; the run is a rebuild like any other.
      const action = trigger === 'rebuild' && upstreams !== undefined ? 'pull' : trigger;
      const entry = { at: now(), actor, action, subject, client: client ?? null, run, outcome: null };
      write(() => audit.record(entry));
    },
    ended: (report) => write(() => audit.settle(report.id, outcomeText(report))),
    failed: (runId, message) => write(() => audit.settle(runId, `failed: ${message}`)),
    note: (entry) => {
      const complete = { at: now(), subject: null, client: null, run: null, outcome: 'done', ...entry };
      write(() => audit.record(complete));
    },
    signIn: (slug, result) => {
      const page = options.isPage(slug) ? slug : '';
      const day = utcDayOf(now());
      const key = `${day} ${page} ${result}`;
      counts.set(key, { day, page, result, count: (counts.get(key)?.count ?? 0) + 1 });
      timer ??= setTimeout(flush, COUNTS_KEPT_MS).unref();
    },
    clientOf: (address) => {
      const key = options.key();
      if (key === null || address === '') return null;
      return createHmac('sha256', key.reveal()).update(`client\0${address}`).digest('base64url').slice(0, HASH_LENGTH);
    },
    close: async () => {
      flush();
      await inTurn(() => undefined);
    },
  };
}
