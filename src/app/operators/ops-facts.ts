/** Collects the contents of the operators' page. Foreign texts have secrets removed, as in the log. */

import { LRUCache } from 'lru-cache';
import packageJson from '../../../package.json' with { type: 'json' };
import { mailsWaiting } from '../../access/sign-in-mail.ts';
import { countEvents, lastExportError } from '../../exports/deliver.ts';
import { DAY_MS, type EpochMs, HOUR_MS, toEpochMs } from '../../model/time.ts';
import { deliveryCounts } from '../../notify/queue.ts';
import { subscriberCounts } from '../../notify/subscribers.ts';
import type { ResolvedPage } from '../../publish/definitions/definitions.ts';
import type { SiteState } from '../../publish/definitions/site-state.ts';
import {
  currentNumber,
  type ReleaseFolders,
  releaseNumbers,
  unpublishedPaths,
} from '../../publish/releases/folders.ts';
import { type Manifest, readManifest } from '../../publish/releases/manifest.ts';
import { heldRelease } from '../../publish/releases/switch.ts';
import { createAudit } from '../../store/audit.ts';
import type { Store } from '../../store/create-store.ts';
import type { Reader } from '../../store/database.ts';
import { lastChecked } from '../../store/nodes/checks.ts';
import { readControl, requestsSince } from '../../store/upstream-control.ts';
import { readCircuit } from '../../sync/pass/pass.ts';
import { quotaWindows } from '../../sync/pass/quota.ts';
import type { Upstream } from '../../sync/upstream.ts';
import type { OpsFacts, OpsPageFacts, RunFacts, UpstreamFacts } from '../../views/operators/ops-facts.ts';
import type { StoreParts } from '../build-store.ts';
import type { Pharos } from '../compose.ts';
import type { Engine, RunReport } from '../run/engine.ts';
import { outcomeText } from '../run/outcome.ts';

/** Those that say the same become one row, and the last error of each upstream is looked for in them. */
const RUNS_LOOKED_AT = 60;
const AUDIT_SHOWN = 30;
/** What releases are made of is read from disk; a site of a thousand pages is looked through by address. */
const PAGES_SHOWN = 100;
/** All releases of the pages that are shown, and some. */
const SUMMARIES_MAX = 10 * PAGES_SHOWN;
const SIGN_IN_DAYS = 7;

/** What a release's manifest is shown of; manifests of large pages are long, and releases never change. */
type ReleaseSummary = ReturnType<typeof summaryOfManifest>;

/** Null: the release is not kept any more. */
function createSummaries(folders: ReleaseFolders): (slug: string, number: number) => ReleaseSummary | null {
  const summaries = new LRUCache<string, ReleaseSummary>({ max: SUMMARIES_MAX });
  return (slug, number) => {
    const key = `${slug}/${number}`;
    const manifest = summaries.has(key) ? null : readManifest(folders, slug, number);
    if (manifest !== null) summaries.set(key, summaryOfManifest(manifest));
    return summaries.get(key) ?? null;
  };
}

/** Makes the source; it remembers what releases are made of. */
export function createOpsFacts(pharos: Pharos, redact: (text: string) => string) {
  const releaseSummary = createSummaries(pharos.base.folders);

  function pageFacts({ definition, settings }: ResolvedPage): OpsPageFacts {
    const { slug, title, access } = definition;
    const current = currentNumber(pharos.base.folders, slug);
    const kept = releaseNumbers(pharos.base.folders, slug).flatMap((number) => releaseSummary(slug, number) ?? []);
    // A release without its figures and images isn't worth rolling back to.
    const completed = new Set(kept.map(({ completes }) => completes));
    const others = kept
      .filter((summary) => summary.number !== current && !completed.has(summary.number) && summary.access === access)
      .map(({ number, asOf }) => ({ number, asOf }))
      .toReversed();
    return {
      slug,
      title,
      url: settings.url,
      access: access === 'closed' ? 'password' : access,
      release: current === null ? null : releaseSummary(slug, current),
      others,
    };
  }

  return {
    facts: async (now: EpochMs): Promise<OpsFacts> => {
      const { store, live } = pharos.base;
      const config = live.config();
      const state = await pharos.serving.keeper.refresh(now);
      // One of another version shows as much as can be read.
      const reports = (await store.runs(RUNS_LOOKED_AT)).map(({ report }) => JSON.parse(report) as RunReport);
      const audit = createAudit(store.database);
      const { pages } = state.resolved;
      const slugs = pages.map(({ definition }) => definition.slug);
      const unpublished = new Set(unpublishedPaths(pharos.base.folders, slugs));
      const isPublished = ({ definition }: ResolvedPage): number => Number(!unpublished.has(definition.slug));
      const listed = pages.toSorted((a, b) => isPublished(a) - isPublished(b));
      return {
        now,
        version: packageJson.version,
        siteName: config.site.name,
        timezone: config.site.timezone,
        canRun: pharos.publishing.publisher !== null,
        upstreams: await Promise.all(
          live.upstreams().map((upstream) => upstreamFacts(pharos, upstream, state, reports, redact)),
        ),
        runs: [...underWay(pharos.publishing.engine.underWay()), ...reports.map((report) => runFacts(report, redact))],
        pages: listed.slice(0, PAGES_SHOWN).map((page) => pageFacts(page)),
        pagesTotal: pages.length,
        unpublishedTotal: unpublished.size,
        heldPages: pages.flatMap(({ definition: { slug } }) => {
          const release = heldRelease(pharos.base.folders, slug);
          return release === null ? [] : [{ slug, release }];
        }),
        problems: state.resolved.problems.map(({ slug, message }) => ({ slug, message: redact(message) })),
        exports: await exportFacts(pharos.base, redact),
        targets: pharos.publishing.targets
          .reports()
          .flatMap(({ place, message }) => (message === null ? [] : [{ place, message: redact(message) }])),
        mail: await mailFacts(pharos, pages, now),
        subscribers: await subscriberFacts(store),
        notices: (await deliveryCounts(store.database)).map((one) => ({
          ...one,
          lastError: one.lastError === null ? null : redact(one.lastError),
        })),
        audit: (await audit.entries(AUDIT_SHOWN)).map((entry) => ({
          ...entry,
          outcome: entry.outcome === null ? null : redact(entry.outcome),
        })),
        signIns: await signInFacts(store, now),
      };
    },
  };
}

function summaryOfManifest({ number, asOf, access, completes, files }: Manifest) {
  const records = Object.values(files);
  return {
    number,
    asOf: toEpochMs(asOf),
    access,
    completes,
    filesTotal: records.length,
    bytesTotal: records.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

function runFacts(report: RunReport, redact: (text: string) => string): RunFacts {
  const { id, trigger, startedAt, endedAt, hasFailed } = report;
  return { id, trigger, startedAt, endedAt, hasFailed, outcome: redact(outcomeText(report)) };
}

function underWay(runs: ReturnType<Engine['underWay']>): RunFacts[] {
  return runs.map((run) => ({ ...run, endedAt: null, hasFailed: false, outcome: '' })).toReversed();
}

async function upstreamFacts(
  { base: { store } }: Pharos,
  upstream: Upstream,
  { sources, now }: SiteState,
  reports: readonly RunReport[],
  redact: (text: string) => string,
): Promise<UpstreamFacts> {
  const { circuit, quota } = await readHealth(store.database, upstream, now);
  const source = sources.find(({ upstreamId }) => upstreamId === upstream.id);
  const passes = reports.flatMap((report) => {
    const item = report.pass?.upstreams.findLast(({ upstreamId }) => upstreamId === upstream.id);
    return item === undefined ? [] : [{ at: report.endedAt, item }];
  });
  const failed = passes.flatMap(({ at, item }) => (item.kind === 'failed' ? [{ at, ...item }] : [])).at(0);
  const read = passes.find((pass) => pass.item.kind === 'ok');
  return {
    id: upstream.id,
    kind: upstream.kind,
    heardAt: source?.monitorsAt ?? null,
    intervalMs: upstream.intervalMs,
    isStale: source?.isMonitorsStale ?? true,
    monitorsTotal: read?.item.monitorsTotal ?? null,
    quota,
    circuit,
    places: upstream.checks === undefined ? [] : await lastChecked(store.database, upstream.id),
    lastError: failed === undefined ? null : { at: failed.at, code: failed.code, message: redact(failed.message) },
    notes: (read?.item.problems ?? []).map(({ place, message }) => redact(`${place}: ${message}`)),
  };
}

async function exportFacts({ live, store }: StoreParts, redact: (text: string) => string) {
  const { database } = store;
  return Promise.all(
    live.config().exports.map(async ({ id }) => {
      const [counts, lastError] = await Promise.all([countEvents(database, id), lastExportError(database, id)]);
      return { id, ...counts, lastError: lastError === null ? null : redact(lastError) };
    }),
  );
}

async function mailFacts(
  { base: { live, store }, telling: { printsMail } }: Pharos,
  pages: readonly ResolvedPage[],
  now: EpochMs,
) {
  const { smtp, from } = live.config().access;
  return {
    isNeeded: pages.some(({ definition }) => definition.access === 'email-domain'),
    isConfigured: printsMail || (smtp !== undefined && from !== undefined),
    isPrinted: printsMail,
    waiting: await mailsWaiting(store.database, now),
  };
}

async function subscriberFacts(store: Store): Promise<OpsFacts['subscribers']> {
  const counts = await subscriberCounts(store.database);
  const of = (slug: string, wanted: string): number =>
    counts.find((one) => one.slug === slug && one.state === wanted)?.count ?? 0;
  return [...new Set(counts.map(({ slug }) => slug))].map((page) => ({
    page,
    active: of(page, 'active'),
    paused: of(page, 'paused'),
    pending: of(page, 'pending'),
  }));
}

async function signInFacts(store: Store, now: EpochMs): Promise<OpsFacts['signIns']> {
  const counts = await createAudit(store.database).signIns(toEpochMs(now - (SIGN_IN_DAYS - 1) * DAY_MS));
  const sum = (page: string, result: string): number =>
    counts.filter((one) => one.page === page && one.result === result).reduce((total, { count }) => total + count, 0);
  return [...new Set(counts.map(({ page }) => page))].toSorted().map((page) => ({
    page,
    signedIn: sum(page, 'signed_in'),
    refused: sum(page, 'refused'),
    limited: sum(page, 'limited'),
  }));
}

/** Health of an upstream, from the store: remaining quota in each window that limits it, and whether it is in back-off. */
export async function readHealth(reader: Reader, upstream: Upstream, now: EpochMs) {
  const control = await readControl(reader, upstream.id);
  const quota = await Promise.all(
    quotaWindows(upstream.limits).map(async ({ lengthMs, requestsMax }) => {
      const used = await requestsSince(reader, upstream.id, toEpochMs(now - lengthMs));
      return { lengthMs, max: requestsMax, left: Math.max(0, requestsMax - used) };
    }),
  );
  return { circuit: readCircuit(control, now, upstream.fingerprint), quota };
}

/** `minute` or `hour`: our windows are a little longer than the upstream's. */
export function windowName({ lengthMs }: { readonly lengthMs: number }): 'minute' | 'hour' {
  return lengthMs >= HOUR_MS ? 'hour' : 'minute';
}
