/** One run of a check: a failure is tried again before it counts. And what its result means after those before. Pure but for tries. */

import type { CheckResult, CheckState } from '../model/check-result.ts';
import { DAY_MS, type EpochMs, toEpochMs } from '../model/time.ts';
import { type Check, checkHeldMs } from '../sync/connectors/check.ts';
import type { Try } from './measure.ts';

export interface Verdict extends Try {
  readonly state: CheckState;
  /** When the last try began. */
  readonly at: EpochMs;
  /** When the first try began that showed this state. */
  readonly since: EpochMs;
}

interface RunDeps {
  readonly tryOnce: (check: Check) => Promise<Try>;
  readonly now: () => EpochMs;
  readonly sleep: (ms: number) => Promise<void>;
  /** Told when a try failed and another follows. */
  readonly onRetry?: () => void;
}

/** Three further tries take a second in all, unless they wait for their time-out. */
const FIRST_PAUSE_MS = 150;
const LONGEST_PAUSE_MS = 1_000;

/** @param slowMs  slower answers are degraded; null: none is too slow */
export async function runCheck(check: Check, slowMs: number | null, deps: RunDeps): Promise<Verdict> {
  let troubleAt: EpochMs | null = null;
  for (let tries = 0; ; tries += 1) {
    const at = deps.now();
    const tried = await deps.tryOnce(check);
    const { fault, phases } = tried;
    const isSlow = fault === null && slowMs !== null && phases.total > slowMs;
    // One slow answer says little, and a second one enough.
    const isAgain = fault === null ? isSlow && tries === 0 && check.retry > 0 : tries < check.retry;
    if (fault !== null || isSlow) troubleAt ??= at;
    if (isAgain) {
      deps.onRetry?.();
      await deps.sleep(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** tries));
      continue;
    }
    if (fault !== null) return { ...tried, at, state: 'major_outage', since: troubleAt ?? at };
    const slow = isSlow ? `slower than ${Math.round(slowMs ?? 0)} ms` : null;
    const trouble = slow ?? certificateFault(check, tried.certificateEndsAt, at);
    if (trouble === null) return { ...tried, at, state: 'operational', since: at };
    return { ...tried, at, state: 'degraded', since: slow === null ? at : (troubleAt ?? at), fault: trouble };
  }
}

function certificateFault(check: Check, endsAt: EpochMs | null, now: EpochMs): string | null {
  if (check.type !== 'http' || endsAt === null) return null;
  const days = Math.floor((endsAt - now) / DAY_MS);
  const left = ['less than a day', 'a day'][days] ?? `${days} days`;
  return days < check.certificate_days ? `its certificate expires in ${left}` : null;
}

/** As many of the last usual answers tell what is too slow … */
const USUAL_MAX = 20;
/** … and fewer tell nothing. */
const USUAL_MIN = 10;
const SLOW_FACTOR = 3;
const SLOW_MS_MIN = 500;
/** Kept for the next pass that reads them. */
const RECENT_MAX = 20;

/** From what a check counts as slow: as configured, else three times what is usual, and half a second more than that at least. */
export function slowMsOf(check: Check, before: Pick<CheckResult, 'usualMs'> | null): number | null {
  if (check.degraded_at !== undefined) return check.degraded_at;
  const usual = (before?.usualMs ?? []).toSorted((a, b) => a - b);
  if (usual.length < USUAL_MIN) return null;
  const median = usual[Math.floor(usual.length / 2)] ?? 0;
  return Math.max(SLOW_FACTOR * median, median + SLOW_MS_MIN);
}

/** The result after a run, from that before it. A gap between two ends the state in between. */
export function resultOf(
  check: Check,
  verdict: Verdict,
  { place, before, now }: { readonly place: string; readonly before: CheckResult | null; readonly now: EpochMs },
): CheckResult {
  const { state, at, since, fault, certificateEndsAt } = verdict;
  const goesOn = before !== null && before.state === state && since - before.at <= checkHeldMs(check);
  const totalMs = state === 'operational' || state === 'degraded' ? Math.round(verdict.phases.total) : null;
  const answer = totalMs === null ? [] : [{ at, ms: totalMs }];
  const usual = state === 'operational' ? answer.map(({ ms }) => ms) : [];
  return {
    ...{ place, at, state, fault, totalMs },
    since: goesOn ? toEpochMs(Math.min(before.since, since)) : since,
    foundAt: goesOn ? before.foundAt : now,
    certificateEndsAt: certificateEndsAt ?? (totalMs === null ? (before?.certificateEndsAt ?? null) : null),
    recent: [...(before?.recent ?? []), ...answer].slice(-RECENT_MAX),
    usualMs: [...(before?.usualMs ?? []), ...usual].slice(-USUAL_MAX),
  };
}
