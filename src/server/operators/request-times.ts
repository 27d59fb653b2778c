/**
 * How long answers took, by the class of their status. Counted in plain numbers, since a server under load does little else,
 * and made a histogram when somebody asks.
 */

import type { Metric, MetricValueWithName } from 'prom-client';

const NAME = 'pharos_http_request_seconds';
const BUCKETS_S = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5];
const CLASSES_MAX = 10;
/** Of each class: how many took at most as long as each bucket, then all of them. */
const WIDTH = BUCKETS_S.length + 1;

interface RequestTimes {
  readonly count: (status: number, seconds: number) => void;
  /** For a registry; it has what a registry asks for, and nothing else of a metric. */
  readonly metric: Metric;
}

export function createRequestTimes(): RequestTimes {
  const counts = new Float64Array(CLASSES_MAX * WIDTH);
  const sums = new Float64Array(CLASSES_MAX);

  function valuesOf(statusClass: number): MetricValueWithName<string>[] {
    const all = counts[statusClass * WIDTH + BUCKETS_S.length] ?? 0;
    if (all === 0) return [];
    const status = `${statusClass}xx`;
    const upTo = (le: number | string, value: number) => ({
      labels: { le, status },
      value,
      metricName: `${NAME}_bucket`,
    });
    return [
      ...BUCKETS_S.map((le, bucket) => upTo(le, counts[statusClass * WIDTH + bucket] ?? 0)),
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
    count: (status, seconds) => {
      const statusClass = Math.min(CLASSES_MAX - 1, Math.floor(status / 100));
      for (let bucket = BUCKETS_S.length - 1; bucket >= 0 && seconds <= (BUCKETS_S[bucket] ?? 0); bucket -= 1)
        counts[statusClass * WIDTH + bucket] = (counts[statusClass * WIDTH + bucket] ?? 0) + 1;
      counts[statusClass * WIDTH + BUCKETS_S.length] = (counts[statusClass * WIDTH + BUCKETS_S.length] ?? 0) + 1;
      sums[statusClass] = (sums[statusClass] ?? 0) + seconds;
    },
    metric: { ...family, get } as unknown as Metric,
  };
}
