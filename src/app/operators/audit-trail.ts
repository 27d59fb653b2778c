/** Records requests and their results in the audit log. If that fails, the error is only logged. */

import pLimit from 'p-limit';
import { keyedDigest, type Revealing } from '../../access/digest.ts';
import type { EpochMs } from '../../model/time.ts';
import { type Audit, type AuditEntry, type SignInCount, type SignInResult, utcDay } from '../../store/audit.ts';
import type { RunReport, RunRequest } from '../run/engine.ts';
import { outcomeText } from '../run/outcome.ts';

interface AuditTrailOptions {
  readonly audit: Audit;
  readonly now: () => EpochMs;
  /** It isn't in the store, so nobody with only the store can test addresses. */
  readonly key: Revealing;
  readonly isPage: (slug: string) => boolean;
  readonly onError: (error: unknown) => void;
}

const COUNTS_KEPT_MS = 5_000;
const HASH_LENGTH = 12;

/** Creates the trail. Writes happen in order, so a run's result is never stored before its entry. */
export function createAuditTrail(options: AuditTrailOptions) {
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
    /** Records a request for a run, unless nobody asked, as with the schedule. */
    queued: (run: string, { actor, client, trigger, page, upstreams }: RunRequest) => {
      if (actor === undefined) return;
      const subject = page ?? (upstreams === undefined ? null : upstreams.join(', ')) ?? null;
      // With an upstream, the action is a pull; without, a rebuild.
      const action = trigger === 'rebuild' && upstreams !== undefined ? 'pull' : trigger;
      const entry = { at: now(), actor, action, subject, client: client ?? null, run, outcome: null };
      write(() => audit.record(entry));
    },
    ended: (report: RunReport) => write(() => audit.settle(report.id, outcomeText(report))),
    failed: (runId: string, message: string) => write(() => audit.settle(runId, `failed: ${message}`)),
    /** Records an action without a run. */
    note: (entry: Pick<AuditEntry, 'actor' | 'action'> & Partial<AuditEntry>) => {
      const complete = { at: now(), subject: null, client: null, run: null, outcome: 'done', ...entry };
      write(() => audit.record(complete));
    },
    /** Counts an attempt. Counts are stored now and then, so a flood of attempts is one row. */
    signIn: (slug: string, result: SignInResult) => {
      const page = options.isPage(slug) ? slug : '';
      const day = utcDay(now());
      const key = `${day} ${page} ${result}`;
      counts.set(key, { day, page, result, count: (counts.get(key)?.count ?? 0) + 1 });
      timer ??= setTimeout(flush, COUNTS_KEPT_MS).unref();
    },
    /** A keyed hash of an address. It reveals nothing without the key. */
    clientOf: (address: string): string | null =>
      address === '' ? null : keyedDigest(options.key, 'client in the audit', address).slice(0, HASH_LENGTH),
    /** Stores pending counts. */
    close: async () => {
      flush();
      await inTurn(() => undefined);
    },
  };
}
