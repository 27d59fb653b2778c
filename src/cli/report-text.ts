/** The report of a run in words, for a terminal. */

import { type PublishReport, SITE_SLUG } from '../publish/publisher.ts';
import type { UpstreamReport } from '../sync/report.ts';
import type { RunReport } from './engine.ts';
import { paint, plain } from './paint.ts';
import { table } from './table.ts';

/** What one run did: a table of upstreams, a table of pages that changed, and what needs a look. */
export function runText(report: RunReport): string {
  const parts: string[] = [];
  if (report.pass !== null) parts.push(upstreamTable(report.pass.upstreams));
  if (report.publish !== null) parts.push(pageTable(report.publish));
  return parts.join('\n\n');
}

/** What came of a run in one line: `3 monitors changed; published acme 12; edge failed (UPSTREAM_FAILED)`. */
export function outcomeText({ pass, publish }: Pick<RunReport, 'pass' | 'publish'>): string {
  const upstreams = pass?.upstreams ?? [];
  const changes = new Map<string, number>();
  for (const item of upstreams)
    if (item.kind === 'ok')
      for (const [what, ids] of Object.entries(item.changed)) changes.set(what, (changes.get(what) ?? 0) + ids.length);
  const changed = [...changes].filter(([, count]) => count > 0).map(([what, count]) => counted(count, what));
  const failed = upstreams.flatMap((item) =>
    item.kind === 'failed' ? [`${item.upstreamId} failed (${item.code})`] : [],
  );
  const skipped = upstreams.flatMap((item) =>
    item.kind === 'skipped' ? [`${item.upstreamId} left out: ${item.reason}`] : [],
  );
  const pages = publish?.pages ?? [];
  const named = (kind: string): string[] =>
    pages
      .filter((page) => page.kind === kind)
      .map(({ slug, release }) => (release === null ? nameOf(slug) : `${nameOf(slug)} ${release}`));
  const published = named('published');
  const broken = pages
    .filter((page) => page.kind === 'failed')
    .map(({ slug, message }) => `page ${nameOf(slug)} failed: ${message ?? ''}`);
  const parts = [
    ...(changed.length === 0 ? [] : [`changed: ${changed.join(', ')}`]),
    ...(published.length === 0 ? [] : [`published ${shortened(published)}`]),
    ...(named('withdrawn').length === 0 ? [] : [`withdrawn ${shortened(named('withdrawn'))}`]),
    ...failed,
    ...skipped,
    ...broken,
  ];
  return parts.length === 0 ? 'no change' : parts.join('; ');
}

/** `1 monitor`, `2 monitors`: the names of what changes are plurals. */
function counted(count: number, plural: string): string {
  return `${count} ${count === 1 ? plural.replace(/s$/, '') : plural}`;
}

/** The index of pages and the files at the root are a release like a page's. */
function nameOf(slug: string): string {
  return slug === SITE_SLUG ? '(site)' : slug;
}

const NAMES_SHOWN = 10;

function shortened(names: readonly string[]): string {
  const more = names.length - NAMES_SHOWN;
  return more <= 0 ? names.join(', ') : `${names.slice(0, NAMES_SHOWN).join(', ')} and ${more} more`;
}

function upstreamTable(upstreams: readonly UpstreamReport[]): string {
  if (upstreams.length === 0) return 'No upstream is configured.';
  const rows = upstreams.map((item) => [
    item.upstreamId,
    paint(UPSTREAM_TONES[item.kind], item.kind),
    String(item.monitorsTotal),
    String(item.requestsUsed),
    `${Math.round(item.durationMs)} ms`,
    outcomeWords(item),
  ]);
  const problems = upstreams.flatMap((item) =>
    item.problems.map((problem) => plain(`  ${item.upstreamId} ${problem.place}: ${problem.message}`)),
  );
  return [table(['upstream', 'result', 'monitors', 'requests', 'time', ''], rows), ...problems].join('\n');
}

/** One upstream in one line, as it answers. */
export function upstreamLine(item: UpstreamReport): string {
  return `${item.upstreamId} ${paint(UPSTREAM_TONES[item.kind], item.kind)} ${Math.round(item.durationMs)} ms: ${outcomeWords(item)}`;
}

const UPSTREAM_TONES = { ok: 'good', skipped: 'middling', failed: 'bad' } as const;
const PAGE_TONES = { published: 'good', unchanged: 'faint', failed: 'bad', withdrawn: 'middling' } as const;

function outcomeWords(item: UpstreamReport): string {
  if (item.kind === 'skipped') return plain(item.reason);
  if (item.kind === 'failed') return plain(`${item.code}: ${item.message}`);
  const changed = Object.entries(item.changed)
    .filter(([, ids]) => ids.length > 0)
    .map(([what, ids]) => counted(ids.length, what));
  const stale = item.stale.length === 0 ? '' : `; not read this time: ${item.stale.join(', ')}`;
  return (changed.length === 0 ? 'no change' : `changed: ${changed.join(', ')}`) + stale;
}

function pageTable({ pages, problems }: PublishReport): string {
  if (pages.length === 0 && problems.length === 0) return 'No page has news.';
  const rows = pages.map((page) => [
    nameOf(page.slug),
    paint(PAGE_TONES[page.kind], page.kind),
    page.release === null ? '–' : String(page.release),
    `${page.filesDrawn} of ${page.filesTotal}`,
    `${Math.round(page.durationMs)} ms`,
    plain(page.message ?? ''),
  ]);
  return [
    table(['page', 'result', 'release', 'files drawn', 'time', ''], rows),
    ...problems.map((problem) => plain(`  ${problem.slug}: ${problem.message}`)),
  ].join('\n');
}
