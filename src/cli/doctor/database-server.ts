/** Looks at the Postgres server that is configured: whether it can be used, and what time it has. */

import { messageOf } from '../../errors.ts';
import type { EpochMs } from '../../model/time.ts';
import { type PostgresFacts, probePostgres } from '../../store/postgres/probe.ts';
import { type Finding, fault, ok, warning } from './finding.ts';

/** Leases of nodes are told apart by their clocks, which should differ by far less than a lease lasts. */
const SKEW_WARN_MS = 5_000;

interface ServerFindings {
  readonly findings: readonly Finding[];
  /** Whether it may be opened: looking brings no table to another version. */
  readonly isCurrent: boolean;
}

export async function databaseServerFindings(url: string, now: () => EpochMs): Promise<ServerFindings> {
  let facts: PostgresFacts;
  const askedAt = now();
  try {
    facts = await probePostgres(url);
  } catch (error) {
    const remedy = 'See docs/postgres.md for the setup. Published pages are still served.';
    return { findings: [fault('database', messageOf(error), remedy)], isCurrent: false };
  }
  const words = facts.isCurrent ? '' : '; the next start upgrades its tables';
  // Somewhere between the question and the answer.
  const skewMs = Math.max(askedAt - facts.clockMs, facts.clockMs - now(), 0);
  return {
    findings: [ok('database', `PostgreSQL ${facts.version}${words}`), clockFinding(skewMs)],
    isCurrent: facts.isCurrent,
  };
}

function clockFinding(skewMs: number): Finding {
  const name = 'clock difference from the database';
  const seconds = Math.round(skewMs / 1_000);
  if (skewMs <= SKEW_WARN_MS) return ok(name, seconds === 0 ? 'in sync' : `${seconds} s apart`);
  return warning(
    name,
    `${seconds} s apart`,
    'Let NTP set the clocks of this machine and of the server (timedatectl set-ntp true): nodes rely on them to divide the work.',
  );
}
