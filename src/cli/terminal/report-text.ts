/** The report of a run in words, for a terminal. */

import type { RunProgress } from '../../app/build-publish.ts';
import type { RunReport } from '../../app/run/engine.ts';
import { pageName } from '../../app/run/outcome.ts';
import type { PublishReport } from '../../publish/publish-control.ts';
import { counted } from '../../schema/counted.ts';
import type { UpstreamReport } from '../../sync/pass/requester.ts';
import type { Progress } from './progress.ts';
import { paint, paragraph, plain, table } from './table.ts';

/** The report of a run: upstreams, changed pages, and what needs attention. */
export function runText(report: RunReport): string {
  const parts: string[] = [];
  if (report.pass !== null) parts.push(upstreamTable(report.pass.upstreams));
  if (report.publish !== null) parts.push(pageTable(report.publish));
  return parts.join('\n\n');
}

function upstreamTable(upstreams: readonly UpstreamReport[]): string {
  if (upstreams.length === 0) return 'No upstreams configured.';
  const rows = upstreams.map((item) => [
    item.upstreamId,
    paint(UPSTREAM_TONES[item.kind], item.kind),
    String(item.monitorsTotal),
    String(item.requestsUsed),
    `${Math.round(item.durationMs)} ms`,
    outcomeWords(item),
  ]);
  const problems = upstreams.flatMap((item) =>
    item.problems.map(({ place, message }) => paragraph(plain(`  ${item.upstreamId} ${place}: ${message}`), '    ')),
  );
  return [table(['upstream', 'result', 'monitors', 'requests', 'time', ''], rows), ...problems].join('\n');
}

/** Shows the progress of a run. */
export function runProgress(progress: Progress, now: () => number): RunProgress {
  return {
    ...upstreamProgress(progress, now),
    answered: (item) => {
      const result = paint(UPSTREAM_TONES[item.kind], item.kind);
      progress.did(`${item.upstreamId} ${result} ${Math.round(item.durationMs)} ms: ${outcomeWords(item)}`);
    },
    publishing: (published, total) => progress.doing(`published ${published} of ${counted(total, 'pages')}`),
  };
}

/** Shows how many upstreams have answered (or other `words`), and which ones wait for their quota. */
export function upstreamProgress(
  progress: Progress,
  now: () => number,
  words = (answered: number, total: number): string => `${answered} of ${counted(total, 'upstreams')} answered`,
): Pick<RunProgress, 'asking' | 'waiting'> {
  const waits = new Map<string, number>();
  let counts = '';
  const line = (): string => {
    const waiting = [...waits].filter(([, until]) => until > now());
    return [counts, ...waiting.map(([id, until]) => waitingText(id, until - now()))].join('; ');
  };
  return {
    asking: (answered, total) => {
      counts = words(answered, total);
      progress.doing(line);
    },
    waiting: (upstreamId, until) => {
      waits.set(upstreamId, until);
      progress.did(waitingText(upstreamId, until - now()));
      progress.doing(line);
    },
  };
}

/** The text for a request that waits for its quota. */
function waitingText(upstreamId: string, ms: number): string {
  return `${upstreamId}: waiting ${Math.max(1, Math.ceil(ms / 1_000))} s for its rate limit`;
}

const UPSTREAM_TONES = { ok: 'good', skipped: 'middling', failed: 'bad' } as const;
const PAGE_TONES = {
  published: 'good',
  unchanged: 'faint',
  held: 'middling',
  failed: 'bad',
  withdrawn: 'middling',
} as const;

function outcomeWords(item: UpstreamReport): string {
  if (item.kind === 'skipped') return plain(item.reason);
  if (item.kind === 'failed') return plain(`${item.code}: ${item.message}`);
  const changed = Object.entries(item.changed)
    .filter(([, ids]) => ids.length > 0)
    .map(([what, ids]) => counted(ids.length, what));
  const stale = item.stale.length === 0 ? '' : `; not read in this pass: ${item.stale.join(', ')}`;
  return (changed.length === 0 ? 'no change' : `changed: ${changed.join(', ')}`) + stale;
}

function pageTable({ pages, problems }: PublishReport): string {
  if (pages.length === 0 && problems.length === 0) return 'No page changed.';
  const rows = pages.map((page) => [
    pageName(page.slug),
    paint(PAGE_TONES[page.kind], page.kind),
    page.release === null ? '–' : String(page.release),
    `${page.filesDrawn} of ${page.filesTotal}`,
    `${Math.round(page.durationMs)} ms`,
    plain(page.message ?? ''),
  ]);
  return [
    table(['page', 'result', 'release', 'files drawn', 'time', ''], rows),
    ...problems.map(({ slug, message }) => paragraph(plain(`  ${slug}: ${message}`), '    ')),
  ].join('\n');
}
