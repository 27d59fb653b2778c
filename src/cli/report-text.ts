/** The report of a run in words, for a terminal. */

import type { PublishReport } from '../publish/publisher.ts';
import type { UpstreamReport } from '../sync/report.ts';
import type { RunReport } from './engine.ts';
import { table } from './table.ts';

/** What one run did: a table of upstreams, a table of pages that changed, and what needs a look. */
export function runText(report: RunReport): string {
  const parts: string[] = [];
  if (report.pass !== null) parts.push(upstreamTable(report.pass.upstreams));
  if (report.publish !== null) parts.push(pageTable(report.publish));
  return parts.join('\n\n');
}

function upstreamTable(upstreams: readonly UpstreamReport[]): string {
  if (upstreams.length === 0) return 'No upstream is configured.';
  const rows = upstreams.map((item) => [
    item.upstreamId,
    item.kind,
    String(item.monitorsTotal),
    String(item.requestsUsed),
    `${Math.round(item.durationMs)} ms`,
    outcomeWords(item),
  ]);
  const problems = upstreams.flatMap((item) =>
    item.problems.map((problem) => `  ${item.upstreamId} ${problem.place}: ${problem.message}`),
  );
  return [table(['upstream', 'result', 'monitors', 'requests', 'time', ''], rows), ...problems].join('\n');
}

function outcomeWords(item: UpstreamReport): string {
  if (item.kind === 'skipped') return item.reason;
  if (item.kind === 'failed') return `${item.code}: ${item.message}`;
  const changed = Object.entries(item.changed)
    .filter(([, ids]) => ids.length > 0)
    .map(([what, ids]) => `${ids.length} ${what}`);
  const stale = item.stale.length === 0 ? '' : `; not read this time: ${item.stale.join(', ')}`;
  return (changed.length === 0 ? 'no change' : `changed: ${changed.join(', ')}`) + stale;
}

function pageTable({ pages, problems }: PublishReport): string {
  const rows = pages.map((page) => [
    page.slug,
    page.kind,
    page.release === null ? '–' : String(page.release),
    `${page.filesDrawn} of ${page.filesTotal}`,
    `${Math.round(page.durationMs)} ms`,
    page.message ?? '',
  ]);
  return [
    table(['page', 'result', 'release', 'files drawn', 'time', ''], rows),
    ...problems.map((problem) => `  ${problem.slug}: ${problem.message}`),
  ].join('\n');
}
