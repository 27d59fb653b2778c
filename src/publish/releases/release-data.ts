/**
 * `data.json` of a release: what the server creates answers from. It is never served as it is. A release may be of an older
 * version, so every reader gets it from here, and a part that is missing or has another shape is null: unknown until the page is
 * published again.
 */

import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { BADGE_KINDS } from '../../badges/kinds.ts';
import type { NamedBadge } from '../../badges/named.ts';
import type { BadgeOptions } from '../../badges/options.ts';
import { LOOKS } from '../../looks/states.ts';
import type { PageKey } from '../../model/slugs.ts';
import { STATES } from '../../model/state.ts';
import { type EpochMs, toEpochMs } from '../../model/time.ts';
import type { BadgeSubject } from '../../views/badges/badge-subjects.ts';
import { type ReleaseFolders, releaseFolder } from './folders.ts';
import type { Manifest, PageAtSlug } from './manifest.ts';

const StateSchema = z.enum(STATES);
const InstantSchema = z.number().transform((at): EpochMs => toEpochMs(at));
const RatioSchema = z.number().nullable();

const SubjectSchema: z.ZodType<BadgeSubject> = z.object({
  name: z.string(),
  names: z.record(z.string(), z.string()).exactOptional(),
  state: StateSchema,
  isStale: z.boolean(),
  uptime: z.object({
    '24h': RatioSchema,
    '7d': RatioSchema,
    '30d': RatioSchema,
    '90d': RatioSchema,
    '365d': RatioSchema,
  }),
  responseTime: z.object({ averageMs: z.number(), p95Ms: z.number().nullable() }).nullable(),
  responseSeries: z.array(z.number().nullable()),
  // Versions before 2026-11-22 wrote an object for each day.
  days: z
    .string()
    .or(
      z
        .array(z.object({ state: StateSchema }))
        .transform((days) => days.map(({ state }) => LOOKS[state].letter).join('')),
    ),
  openIncidents: z.number(),
  incidents30d: z.number(),
  lastIncidentEndedAt: InstantSchema.nullable(),
  nextMaintenanceAt: InstantSchema.nullable(),
  timezone: z.string(),
  now: InstantSchema,
});
const NamedSubjectsSchema = z.array(z.object({ id: z.string(), subject: SubjectSchema })).readonly();

/** What badges are drawn from on demand. */
const BadgeDataSchema = z.object({
  /** The operator's choices, which were checked when the configuration was read. */
  options: z.custom<BadgeOptions>((value) => z.looseObject({}).safeParse(value).success),
  /** The operator's own badges, beside the standard ones. */
  named: z
    .array(
      z.custom<NamedBadge>(
        (value) => z.looseObject({ name: z.string(), kind: z.enum(BADGE_KINDS) }).safeParse(value).success,
      ),
    )
    .readonly(),
  subjects: z.object({ page: SubjectSchema, groups: NamedSubjectsSchema, components: NamedSubjectsSchema }),
  /** Drawn later than this, a badge says that its data is stale. */
  staleAfter: InstantSchema,
});
export type BadgeData = z.output<typeof BadgeDataSchema>;

/** What the index of pages shows about a page, besides its definition. Versions before 2026-11-22 don't say since when. */
const SummarySchema = z.object({
  state: StateSchema,
  since: InstantSchema.nullable().default(null),
  asOf: InstantSchema,
});
export type PageSummary = z.output<typeof SummarySchema>;

/** What `api/now.json` says that stays the same as long as the release does. */
const NowSchema = z.object({
  state: StateSchema,
  staleAfter: InstantSchema,
  upstreams: z.array(z.string()).readonly(),
});

/** Versions before 2026-11-23 list slugs only. */
const ListedSchema = z
  .string()
  .transform((slug): PageAtSlug => ({ slug, page: null }))
  .or(z.object({ slug: z.string(), page: z.string().transform((page) => page as PageKey) }));

const ReleaseDataSchema = z.object({
  summary: SummarySchema.nullable().catch(null),
  now: NowSchema.nullable().catch(null),
  onDemand: BadgeDataSchema.nullable().catch(null),
  /** Of the site's own release: the pages that its files mention, in the index, sitemap and llms.txt. */
  listed: z.array(ListedSchema).readonly().nullable().catch(null),
});
export type ReleaseData = z.output<typeof ReleaseDataSchema>;

/** The text to write. */
export function releaseDataText(data: Partial<ReleaseData>): string {
  return JSON.stringify(data);
}

/** Null: it is missing, or no JSON. */
export function readReleaseData(folders: ReleaseFolders, slug: string, number: number): ReleaseData | null {
  try {
    return parse(readFileSync(dataFile(folders, slug, number)));
  } catch {
    return null;
  }
}

/** The same, for answers that must not wait for a disk that hangs. */
export async function loadReleaseData(folders: ReleaseFolders, slug: string, number: number) {
  try {
    return parse(await readFile(dataFile(folders, slug, number)));
  } catch {
    return null;
  }
}

/** The same for a release that is served; throws if it doesn't match the manifest. */
export function readNamedData(folders: ReleaseFolders, { slug, number, dataSha256 }: Manifest): ReleaseData {
  const bytes = readFileSync(dataFile(folders, slug, number));
  if (hash('sha256', bytes, 'hex') !== dataSha256) throw new Error(`data.json of ${slug} does not match its release`);
  return parse(bytes);
}

function parse(bytes: Buffer): ReleaseData {
  return ReleaseDataSchema.parse(JSON.parse(bytes.toString('utf8')));
}

function dataFile(folders: ReleaseFolders, slug: string, number: number): string {
  return join(releaseFolder(folders, slug, number), 'data.json');
}
