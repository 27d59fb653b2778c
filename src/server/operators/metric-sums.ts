/** Combines metrics of several processes: counters, and figures of the processes themselves, are added up. */

import { type Metric, Registry } from 'prom-client';

/** One family of figures as plain data. */
export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly values: readonly MetricValue[];
}

interface MetricValue {
  readonly value: number;
  readonly labels: Readonly<Record<string, string | number | undefined>>;
  readonly metricName?: string;
}

/** Metrics of requests, counted by the process that answers them. */
const COUNTED = new Set(['pharos_http_request_seconds', 'pharos_sign_ins_total']);
/** Resources of a process. After it ends, only its CPU time counts. */
const SPENT = new Set([
  'pharos_process_cpu_user_seconds_total',
  'pharos_process_cpu_system_seconds_total',
  'pharos_process_cpu_seconds_total',
]);
const TAKEN = new Set([
  'pharos_process_resident_memory_bytes',
  'pharos_process_virtual_memory_bytes',
  'pharos_process_heap_bytes',
  'pharos_process_open_fds',
  'pharos_nodejs_heap_size_total_bytes',
  'pharos_nodejs_heap_size_used_bytes',
  'pharos_nodejs_external_memory_bytes',
]);

/** Returns the metrics of a worker to add to those of the main process. */
export async function addedFamilies(registry: Registry): Promise<readonly MetricFamily[]> {
  const families = (await registry.getMetricsAsJSON()) as unknown as readonly MetricFamily[];
  return families.filter(({ name }) => COUNTED.has(name) || SPENT.has(name) || TAKEN.has(name));
}

/** Combines the counters of ended processes; the resources that they used are free again. */
export function lastingFamilies(ended: readonly (readonly MetricFamily[])[]): readonly MetricFamily[] {
  return sums(ended.flat().filter(({ name }) => !TAKEN.has(name)));
}

/** The text of a registry with figures of other processes added. */
export async function textWith(registry: Registry, others: readonly (readonly MetricFamily[])[]): Promise<string> {
  if (others.length === 0) return registry.metrics();
  const own = (await registry.getMetricsAsJSON()) as unknown as readonly MetricFamily[];
  const all = new Registry();
  for (const family of sums([...own, ...others.flat()]))
    all.registerMetric({ ...family, get: async () => family } as unknown as Metric);
  return all.metrics();
}

function sums(families: readonly MetricFamily[]): readonly MetricFamily[] {
  return [...Map.groupBy(families, ({ name }) => name).values()].flatMap((alike) =>
    alike[0] === undefined ? [] : [{ ...alike[0], values: summedValues(alike) }],
  );
}

function summedValues(families: readonly MetricFamily[]): readonly MetricValue[] {
  const found = new Map<string, MetricValue>();
  for (const one of families.flatMap(({ values }) => values)) {
    const labels = Object.entries(one.labels).toSorted(([a], [b]) => (a < b ? -1 : 1));
    const key = JSON.stringify([one.metricName ?? '', labels]);
    const known = found.get(key);
    found.set(key, known === undefined ? one : { ...known, value: known.value + one.value });
  }
  return [...found.values()];
}
