/** The JSON behind a status page of Uptime Kuma, and the one metric that is read. None of it is documented. */

import { z } from 'zod';
import type { EpochMs } from '../../../model/time.ts';
import { IdSchema, ListSchema, NameSchema, NumberSchema, parseInstant, TextSchema, toLink } from '../wire.ts';

/** Its times are UTC and do not say so. */
const UtcSchema = z.string().transform((text, context): EpochMs => {
  const at = parseInstant(text, 'UTC');
  if (at !== null) return at;
  context.addIssue({ code: 'custom', message: 'not a date and time' });
  return z.NEVER;
});

export const PageSchema = z.object({
  publicGroupList: z.array(z.unknown()),
  /** Newer versions; before that one `incident`, which is null when there is none. */
  incidents: z.array(z.unknown()).nullish(),
  incident: z.unknown().optional(),
  maintenanceList: ListSchema,
});
export type Page = z.output<typeof PageSchema>;

export const GroupSchema = z.object({ monitorList: z.array(z.unknown()) });

export const MonitorSchema = z.object({
  id: IdSchema,
  name: NameSchema,
  type: z.string().max(60).nullish().catch(null),
  url: z.string().nullish().catch(null).transform(toLink),
});

export const HeartbeatsSchema = z.object({ heartbeatList: z.record(z.string(), z.unknown()) });

/** The number 0 stands for a stretch without any beat. */
export const BeatSchema = z.object({
  status: z.union([NumberSchema, z.unknown()]),
  time: UtcSchema,
  ping: NumberSchema.nullish().catch(null),
});

export const IncidentSchema = z.object({
  id: IdSchema,
  title: NameSchema,
  content: TextSchema,
  style: z.unknown().optional(),
  createdDate: UtcSchema,
  lastUpdatedDate: UtcSchema.nullish().catch(null),
});

/** Pinned incidents and those that were, the newest; since version 2. */
export const IncidentHistorySchema = z.object({ incidents: z.array(z.unknown()) });

const SlotSchema = z.object({ startDate: z.string(), endDate: z.string() });
export const MaintenanceSchema = z.object({
  id: IdSchema,
  title: NameSchema,
  description: TextSchema,
  timezone: z.string().nullish().catch(null),
  timeslotList: z.array(SlotSchema).nullish().catch(null),
});

/** A sample of the metric `monitor_status`. */
export interface Metric {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const SAMPLE = /^monitor_status\{(.*)\}\s+(\S+)/;
const LABEL = /([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)",?/g;
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', '"': '"', '\\': '\\' };

/** The samples of `monitor_status` in the Prometheus text format; a page that does not know that metric is no answer. */
export const MetricsSchema = z.string().transform((text, context): Metric[] => {
  const lines = text.split('\n');
  if (!lines.some((line) => line.startsWith('# HELP monitor_status '))) {
    context.addIssue({ code: 'custom', message: 'there is no metric monitor_status' });
    return z.NEVER;
  }
  return lines.flatMap((line) => {
    const [, inside = '', value] = SAMPLE.exec(line) ?? [];
    if (value === undefined) return [];
    const labels = [...inside.matchAll(LABEL)].map(([, name = '', quoted = '']) => [
      name,
      quoted.replaceAll(/\\(.)/g, (_, letter: string) => ESCAPES[letter] ?? letter),
    ]);
    return { labels: Object.fromEntries(labels), value: Number(value) };
  });
});
