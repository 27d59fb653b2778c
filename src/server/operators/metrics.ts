/** Metrics for Prometheus. Names are stable and documented in docs/operating.md. */

import {
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  type Metric,
  type MetricValueWithName,
  Registry,
} from 'prom-client';
import type { TargetReport } from '../../publish/targets/create-target.ts';

/** Values that are read when metrics are requested. */
export interface Gauges {
  readonly upstreams: readonly {
    readonly id: string;
    /** Seconds since the last good answer; null: never. */
    readonly ageSeconds: number | null;
    readonly isStale: boolean;
    /** False: it is in back-off. */
    readonly isAsked: boolean;
    readonly quota: readonly { readonly window: string; readonly left: number }[];
  }[];
  /** Readiness. */
  readonly isReady: boolean;
  /** Whether the served pages are up to date. */
  readonly isFresh: boolean;
  readonly pagesDefined: number;
  readonly pagesPublished: number;
  readonly runsWaiting: number;
  readonly mailsWaiting: number;
  readonly exports: readonly { readonly id: string; readonly state: string; readonly count: number }[];
  /** On public pages only. */
  readonly components: readonly { readonly page: string; readonly component: string; readonly state: string }[];
}

export type Metrics = ReturnType<typeof createMetrics>;

/** What became of a webhook notification, by the status of the response. */
const HOOKED: Record<number, string> = { 200: 'known', 202: 'taken', 401: 'refused', 409: 'idle', 429: 'limited' };

/** Creates its own registry, so that two servers in one process don't mix. */
export function createMetrics(version: string) {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: 'pharos_' });
  // These are gauges whose names end like those of counters.
  for (const sum of ['handles', 'requests', 'resources'])
    registry.removeSingleMetric(`pharos_nodejs_active_${sum}_total`);
  const make = createMakers([registry]);
  make.gauge('pharos_build_info', 'Always 1; the version is a label.', ['version']).set({ version }, 1);
  const requests = createRequestTimes();
  registry.registerMetric(requests.metric);
  const counts = createCounts(make);
  const setGauges = createGauges(make);
  return {
    ...counts,
    requestAnswered: requests.count,
    /** Prometheus text. */
    text: (gauges: Gauges) => {
      setGauges(gauges);
      return registry.metrics();
    },
    contentType: registry.contentType,
  };
}

type Makers = ReturnType<typeof createMakers>;

function createMakers(registers: Registry[]) {
  return {
    counter: (name: string, help: string, labelNames: string[] = []) =>
      new Counter({ name, help, labelNames, registers }),
    gauge: (name: string, help: string, labelNames: string[] = []) => new Gauge({ name, help, labelNames, registers }),
    histogram: (name: string, help: string, buckets: number[]) => new Histogram({ name, help, buckets, registers }),
  };
}

/** Counters, incremented as things happen. */
function createCounts({ counter, gauge, histogram }: Makers) {
  const runs = counter('pharos_runs_total', 'Finished runs, by trigger and result.', ['trigger', 'result']);
  const runSeconds = histogram('pharos_run_seconds', 'Duration of runs.', [0.05, 0.25, 1, 5, 30, 120]);
  const passes = counter('pharos_upstream_passes_total', 'Syncs of an upstream, by result.', ['upstream', 'result']);
  const asked = counter('pharos_upstream_requests_total', 'Requests sent to an upstream.', ['upstream']);
  const dropped = counter('pharos_upstream_items_dropped_total', 'Unreadable items of an upstream.', ['upstream']);
  const pages = counter('pharos_pages_total', 'Pages checked for publishing, by result.', ['result']);
  const files = counter('pharos_files_drawn_total', 'Files drawn.');
  const hooks = counter('pharos_hooks_total', 'Webhook notifications from monitoring services, by result.', ['result']);
  const signIns = counter('pharos_sign_ins_total', 'Sign-in attempts for private pages, by result.', ['result']);
  const notices = counter(
    'pharos_notices_total',
    'Messages to subscribers (email) and channels, by result of each attempt.',
    ['channel', 'result'],
  );
  const isCurrent = '1: the target is up to date; 0: the last attempt failed.';
  const targetCurrent = gauge('pharos_target_current', isCurrent, ['target']);
  const targetFiles = counter('pharos_target_files_total', 'Files written to a target and removed from it.', [
    'target',
    'change',
  ]);
  return {
    runEnded: (run: { trigger: string; hasFailed: boolean; startedAt: number; endedAt: number }) => {
      runs.inc({ trigger: run.trigger, result: run.hasFailed ? 'failed' : 'ok' });
      runSeconds.observe((run.endedAt - run.startedAt) / 1_000);
    },
    upstreamAsked: (upstream: string, result: string, counts: { requests: number; dropped: number }) => {
      passes.inc({ upstream, result });
      asked.inc({ upstream }, counts.requests);
      dropped.inc({ upstream }, counts.dropped);
    },
    pagePublished: ({ kind, filesDrawn }: { readonly kind: string; readonly filesDrawn: number }) => {
      pages.inc({ result: kind });
      files.inc(filesDrawn);
    },
    /** @param status  of the response */
    hookTaken: (status: number) => hooks.inc({ result: HOOKED[status] ?? '' }),
    noticesSettled: (channel: string, result: string, count: number) => notices.inc({ channel, result }, count),
    signInTried: (result: string) => signIns.inc({ result }),
    targetUpdated: ({ kind: target, result, filesWritten, filesRemoved }: TargetReport) => {
      targetCurrent.set({ target }, Number(result === 'current'));
      targetFiles.inc({ target, change: 'written' }, filesWritten);
      targetFiles.inc({ target, change: 'removed' }, filesRemoved);
    },
  };
}

/** Gauges. A value that no longer exists disappears from the text. */
function createGauges({ gauge: make }: Makers): (gauges: Gauges) => void {
  const age = make('pharos_upstream_age_seconds', 'Seconds since the last good answer; absent if there was none.', [
    'upstream',
  ]);
  const stale = make('pharos_upstream_stale', '1: no answer for two intervals.', ['upstream']);
  const asked = make(
    'pharos_upstream_asked',
    '0: in back-off, because it failed, rejected the key or asked us to wait.',
    ['upstream'],
  );
  const quota = make('pharos_upstream_quota_left', 'Requests left in the rate limit window.', ['upstream', 'window']);
  const single = {
    isReady: make('pharos_ready', '1: this node can serve visitors.'),
    isFresh: make('pharos_fresh', '1: all pages are published and all upstreams answered in time.'),
    pagesDefined: make('pharos_pages_defined', 'Pages defined.'),
    pagesPublished: make('pharos_pages_published', 'Pages with a served release.'),
    runsWaiting: make('pharos_runs_waiting', 'Runs in the queue.'),
    mailsWaiting: make('pharos_mails_waiting', 'Sign-in emails waiting for the mail server.'),
  };
  const exported = make('pharos_export_events', 'Events of an export, by state.', ['export', 'state']);
  const states = make(
    'pharos_component_state',
    'Always 1; the current state of a component on a public page is a label.',
    ['page', 'component', 'state'],
  );
  return (gauges) => {
    for (const gauge of [age, stale, asked, quota, exported, states]) gauge.reset();
    for (const component of gauges.components) states.set({ ...component }, 1);
    for (const { id: upstream, ageSeconds, isStale, isAsked, quota: windows } of gauges.upstreams) {
      if (ageSeconds !== null) age.set({ upstream }, ageSeconds);
      stale.set({ upstream }, Number(isStale));
      asked.set({ upstream }, Number(isAsked));
      for (const { window, left } of windows) quota.set({ upstream, window }, left);
    }
    for (const { id, state, count } of gauges.exports) exported.set({ export: id, state }, count);
    for (const name of Object.keys(single) as (keyof typeof single)[]) single[name].set(Number(gauges[name]));
  };
}

/**
 * Response times by status class. Counted in plain numbers, because a busy server does this constantly, and converted
 * to a histogram on request.
 */
const NAME = 'pharos_http_request_seconds';
const BUCKETS_S = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5];
const CLASSES_MAX = 10;
/** Counts per class: one for each bucket, without those of smaller buckets, and one for longer times. */
const WIDTH = BUCKETS_S.length + 1;

function createRequestTimes() {
  const counts = new Float64Array(CLASSES_MAX * WIDTH);
  const sums = new Float64Array(CLASSES_MAX);

  function valuesOf(statusClass: number): MetricValueWithName<string>[] {
    const own = counts.subarray(statusClass * WIDTH, (statusClass + 1) * WIDTH);
    const upToBucket = (bucket: number): number => own.subarray(0, bucket + 1).reduce((sum, count) => sum + count, 0);
    const all = upToBucket(BUCKETS_S.length);
    if (all === 0) return [];
    const status = `${statusClass}xx`;
    const upTo = (le: number | string, value: number) => ({
      labels: { le, status },
      value,
      metricName: `${NAME}_bucket`,
    });
    return [
      ...BUCKETS_S.map((le, bucket) => upTo(le, upToBucket(bucket))),
      upTo('+Inf', all),
      { labels: { status }, value: sums[statusClass] ?? 0, metricName: `${NAME}_sum` },
      { labels: { status }, value: all, metricName: `${NAME}_count` },
    ];
  }

  const family = {
    name: NAME,
    help: 'Time to answer, by status class.',
    type: 'histogram',
    aggregator: 'sum',
  } as const;
  const get = async () => ({
    ...family,
    values: Array.from({ length: CLASSES_MAX }, (_, statusClass) => valuesOf(statusClass)).flat(),
  });
  return {
    count: (status: number, seconds: number) => {
      const statusClass = Math.min(CLASSES_MAX - 1, Math.floor(status / 100));
      let bucket = 0;
      while (seconds > (BUCKETS_S[bucket] ?? Number.POSITIVE_INFINITY)) bucket += 1;
      counts[statusClass * WIDTH + bucket] = (counts[statusClass * WIDTH + bucket] ?? 0) + 1;
      sums[statusClass] = (sums[statusClass] ?? 0) + seconds;
    },
    // To register: implements only what a registry calls.
    metric: { ...family, get } as unknown as Metric,
  };
}
