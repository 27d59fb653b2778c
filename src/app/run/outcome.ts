/** Describes the result of a run: in one line, and in the log. */

import { SITE_SLUG } from '../../publish/releases/folders.ts';
import { counted } from '../../schema/counted.ts';
import type { UpstreamReport } from '../../sync/pass/pass.ts';
import { createNews, type Log } from '../log.ts';
import type { RunReport } from './engine.ts';

/** The result of a run in one line: `3 monitors changed; published acme 12; edge failed (UPSTREAM_FAILED)`. */
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
    item.kind === 'skipped' && item.cause !== 'elsewhere' ? [`${item.upstreamId} skipped: ${item.reason}`] : [],
  );
  const pages = publish?.pages ?? [];
  const named = (kind: string): string[] =>
    pages
      .filter((page) => page.kind === kind)
      .map(({ slug, release }) => (release === null ? pageName(slug) : `${pageName(slug)} ${release}`));
  const broken = pages
    .filter((page) => page.kind === 'failed')
    .map(({ slug, message }) => `page ${pageName(slug)} failed: ${message ?? ''}`);
  const done = ['published', 'held', 'withdrawn'].filter((kind) => named(kind).length > 0);
  const parts = [
    ...(changed.length === 0 ? [] : [`changed: ${changed.join(', ')}`]),
    ...done.map((kind) => `${kind} ${shortened(named(kind))}`),
    ...[...failed, ...skipped, ...broken],
  ];
  return parts.length === 0 ? 'no change' : parts.join('; ');
}

/** The index of pages and the files at the root are a release like a page's. */
export function pageName(slug: string): string {
  return slug === SITE_SLUG ? '(site)' : slug;
}

const NAMES_SHOWN = 10;

/** `a, b`, and where there are many how many more. */
export function shortened(names: readonly string[]): string {
  const more = names.length - NAMES_SHOWN;
  return more <= 0 ? names.join(', ') : `${names.slice(0, NAMES_SHOWN).join(', ')} and ${more} more`;
}

// Writes the report of a run to the log. Problems of an upstream are logged once, and again when they change.

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
