/** Figures for Prometheus. Names are stable and documented in docs/operating.md. */

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export interface Metrics {
  readonly requestAnswered: (status: number, seconds: number) => void;
  readonly runEnded: (run: { readonly trigger: string; readonly hasFailed: boolean; readonly seconds: number }) => void;
  readonly upstreamAsked: (upstream: {
    readonly id: string;
    readonly kind: string;
    readonly requestsUsed: number;
    readonly itemsDropped: number;
  }) => void;
  readonly pagePublished: (page: { readonly kind: string; readonly filesDrawn: number }) => void;
  /** Prometheus text. `ages`: seconds since the last good answer, by upstream id; null: never. */
  readonly text: (ages: ReadonlyMap<string, number | null>) => Promise<string>;
  readonly contentType: string;
}

/** Makes a registry of its own, so that two servers in one process do not mix. */
export function createMetrics(version: string): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: 'pharos_' });
  const registers = [registry];
  const build = new Gauge({
    name: 'pharos_build_info',
    help: 'Always 1; the version is a label.',
    labelNames: ['version'],
    registers,
  });
  const requests = new Histogram({
    name: 'pharos_http_request_seconds',
    help: 'Time to answer, by status class.',
    labelNames: ['status'],
    buckets: [0.001, 0.005, 0.025, 0.1, 0.5, 2.5],
    registers,
  });
  const runs = new Counter({
    name: 'pharos_runs_total',
    help: 'Runs that ended, by trigger and result.',
    labelNames: ['trigger', 'result'],
    registers,
  });
  const runSeconds = new Histogram({
    name: 'pharos_run_seconds',
    help: 'Length of runs.',
    buckets: [0.05, 0.25, 1, 5, 30, 120],
    registers,
  });
  const passes = new Counter({
    name: 'pharos_upstream_passes_total',
    help: 'Passes over an upstream, by result.',
    labelNames: ['upstream', 'result'],
    registers,
  });
  const asked = new Counter({
    name: 'pharos_upstream_requests_total',
    help: 'Requests sent to an upstream.',
    labelNames: ['upstream'],
    registers,
  });
  const dropped = new Counter({
    name: 'pharos_upstream_items_dropped_total',
    help: 'Items of an upstream that could not be read.',
    labelNames: ['upstream'],
    registers,
  });
  const age = new Gauge({
    name: 'pharos_upstream_age_seconds',
    help: 'Since the last good answer; absent when there was none.',
    labelNames: ['upstream'],
    registers,
  });
  const pages = new Counter({
    name: 'pharos_pages_total',
    help: 'Pages looked at for publishing, by result.',
    labelNames: ['result'],
    registers,
  });
  const files = new Counter({ name: 'pharos_files_drawn_total', help: 'Files drawn.', registers });
  build.set({ version }, 1);
  return {
    requestAnswered: (status, seconds) => requests.observe({ status: `${Math.floor(status / 100)}xx` }, seconds),
    runEnded: ({ trigger, hasFailed, seconds }) => {
      runs.inc({ trigger, result: hasFailed ? 'failed' : 'ok' });
      runSeconds.observe(seconds);
    },
    upstreamAsked: ({ id, kind, requestsUsed, itemsDropped }) => {
      passes.inc({ upstream: id, result: kind });
      asked.inc({ upstream: id }, requestsUsed);
      dropped.inc({ upstream: id }, itemsDropped);
    },
    pagePublished: ({ kind, filesDrawn }) => {
      pages.inc({ result: kind });
      files.inc(filesDrawn);
    },
    text: (ages) => {
      age.reset();
      for (const [upstream, seconds] of ages) if (seconds !== null) age.set({ upstream }, seconds);
      return registry.metrics();
    },
    contentType: registry.contentType,
  };
}
