/** Writes the report of a run to the log. What is wrong with an upstream is said once, and again when it changes. */

import type { UpstreamReport } from '../../sync/pass/pass.ts';
import type { Log } from '../log.ts';
import type { RunReport } from './engine.ts';

/** @returns writes one report */
export function createReportLog(log: Log): (report: RunReport) => void {
  const failures = new Map<string, string>();
  const problems = new Map<string, ReadonlySet<string>>();

  function writeUpstream(run: object, item: UpstreamReport): void {
    const { upstreamId: upstream } = item;
    if (item.kind === 'skipped' && item.cause !== 'held') return;
    if (item.kind === 'skipped') {
      if (failures.get(upstream) !== item.reason) log.warn({ ...run, upstream }, printable(item.reason));
      failures.set(upstream, item.reason);
    } else if (item.kind === 'failed') {
      if (failures.get(upstream) !== item.message)
        log.warn({ ...run, upstream, code: item.code }, printable(item.message));
      failures.set(upstream, item.message);
    } else {
      if (failures.delete(upstream)) log.info({ ...run, upstream }, 'answers again');
      if (item.changed.monitors.length > 0)
        log.info({ ...run, upstream, monitors: item.changed.monitors.length }, 'monitors changed');
    }
    const said = problems.get(upstream);
    const lines = item.problems.map(({ place, message }) => `${place}: ${message}`);
    for (const line of new Set(lines)) if (said?.has(line) !== true) log.warn({ ...run, upstream }, printable(line));
    problems.set(upstream, new Set(lines));
  }

  return (report) => {
    const run = { run: report.id, ...(report.traces.length === 0 ? {} : { traces: report.traces }) };
    for (const item of report.pass?.upstreams ?? []) writeUpstream(run, item);
    for (const page of report.publish?.pages ?? []) {
      if (page.kind === 'failed') log.error({ ...run, page: page.slug }, page.message ?? 'failed');
      if (page.kind === 'published')
        log.info(
          {
            ...run,
            page: page.slug,
            release: page.release,
            drawn: page.filesDrawn,
            ms: Math.round(page.durationMs),
          },
          'published',
        );
    }
    for (const { slug, message } of report.publish?.problems ?? []) log.warn({ ...run, page: slug }, message);
  };
}

/** Upstreams' words may be among it: no control characters reach a terminal. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');
}
