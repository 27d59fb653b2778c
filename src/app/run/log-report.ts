/** Writes the report of a run to the log. Problems of an upstream are logged once, and again when they change. */

import type { UpstreamReport } from '../../sync/pass/pass.ts';
import { createNews, type Log } from '../log.ts';
import type { RunReport } from './engine.ts';

/** @returns writes one report */
export function createReportLog(log: Log): (report: RunReport) => void {
  const failures = new Map<string, string>();
  const newsOf = createNews();
  let pagesLogged: readonly string[] = [];

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
    const lines = item.problems.map(({ place, message }) => `${place}: ${message}`);
    for (const line of newsOf(`upstream ${upstream}`, lines)) log.warn({ ...run, upstream }, printable(line));
  }

  return (report) => {
    const run = { run: report.id, ...(report.traces.length === 0 ? {} : { traces: report.traces }) };
    for (const item of report.pass?.upstreams ?? []) writeUpstream(run, item);
    for (const page of report.publish?.pages ?? []) {
      const failed = page.kind === 'failed' ? [page.message ?? 'failed'] : [];
      for (const line of newsOf(`failed ${page.slug}`, failed)) log.error({ ...run, page: page.slug }, line);
      if (page.kind === 'published')
        log.info(
          { ...run, page: page.slug, release: page.release, drawn: page.filesDrawn, ms: Math.round(page.durationMs) },
          'published',
        );
    }
    if (report.publish === null) return;
    const found = Map.groupBy(report.publish.problems, ({ slug }) => slug);
    for (const slug of new Set([...pagesLogged, ...found.keys()])) {
      const lines = (found.get(slug) ?? []).map(({ message }) => message);
      for (const line of newsOf(`page ${slug}`, lines)) log.warn({ ...run, page: slug }, line);
    }
    pagesLogged = [...found.keys()];
  };
}

/** Upstreams' words may be among it: no control characters reach a terminal. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');
}
