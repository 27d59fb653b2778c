/**
 * statuspage: the public API (v2) of a Statuspage, or of any page that speaks it: vendors, another Pharos.
 *
 * Each pass asks `/api/v2/summary.json` (states, open incidents, maintenance to come). The two lists of the past, the 50
 * newest incidents and maintenances, are asked when an open incident is not open any more, and once an hour. Every question
 * is conditional. No key.
 */

import { z } from 'zod';
import { type Learned, NOTHING_LEARNED, type Problem } from '../../../model/observation.ts';
import { type EpochMs, HOUR_MS, MINUTE_MS, toEpochMs } from '../../../model/time.ts';
import {
  type Answer,
  ask,
  attemptOne,
  type Connector,
  type Priority,
  type Pull,
  type PullContext,
  type Query,
  type Question,
} from '../../connector.ts';
import { endMissing } from '../entries.ts';
import { completeList, externalIdOf, idIn, losesOpen, note } from '../items.ts';
import { createDetail } from '../measurements.ts';
import { BaseUrlSchema, endpointAddress } from '../wire.ts';
import {
  EVENT_STATUSES,
  IMPACT_WORDS,
  IncidentsSchema,
  MaintenancesSchema,
  projectComponents,
  projectIncidents,
  projectMaintenances,
  STATE_WORDS,
  SummarySchema,
} from './project.ts';

const OptionsSchema = z.strictObject({
  url: BaseUrlSchema.describe('Address of the page, without /api/v2.'),
  components: z
    .array(z.string().min(1))
    .min(1)
    .optional()
    .describe('Components to read: ids, or names, alone or as "Group - Name". Default: all.'),
});
type Options = z.output<typeof OptionsSchema>;

/** How often the lists of the past are read again, where there is nothing new in them. */
const PAST_AGE_MIN_MS = HOUR_MS;
/** Caches keep such pages for a minute or so, and for hours while what is behind them does not answer. */
const SUMMARY_AGE_MAX_MS = 15 * MINUTE_MS;
/** What a list of the past holds at most. */
const LISTED_MAX = 50;

function query<T>(options: Options, path: string, rest: Pick<Question<T>, 'name' | 'schema' | 'priority'>): Query<T> {
  return { ...rest, url: endpointAddress(options.url, `/api/v2/${path}`), isConditional: true };
}

function* pull(options: Options, context: PullContext): Pull<Learned> {
  const { payload: summary } = yield* ask({
    ...query(options, 'summary.json', { name: 'summary', priority: 'list', schema: SummarySchema }),
    maxAgeMs: SUMMARY_AGE_MAX_MS,
  });
  const { upstreamId, memory } = context;
  const open = new Set(summary.incidents.map((item) => idIn(item)));
  const past = yield* readPast(
    options,
    context,
    [...memory.openIncidents].some((id) => !open.has(id)),
  );
  const origin = { ...context, problems: [] as Problem[] };
  const about = { wanted: options.components, incidents: summary.incidents };
  const monitors = projectComponents(summary.components, about, origin);
  const page = { ...origin, monitors: new Set(monitors.map(({ id }) => id)) };
  const incidents = projectIncidents({ incidents: summary.incidents, 'past incidents': past.incidents ?? [] }, page);
  const planned = summary.scheduled_maintenances;
  const maintenances = projectMaintenances(
    { scheduled_maintenances: planned, 'past maintenances': past.maintenances ?? [] },
    page,
  );
  const taken = new Set(incidents.map(({ id }) => externalIdOf(id)));
  // Which one it is that has no id cannot be told; it may be any of those that were open.
  const ended = open.has(null) ? [] : endMissing(memory.openStories ?? new Map(), open.union(taken), context);
  const isOpenLost = losesOpen(summary.incidents, { taken, open: memory.openIncidents });
  const lists = [summary.components, summary.incidents, planned, past.incidents ?? [], past.maintenances ?? []];
  const prefix = `${upstreamId}/`;
  const starts = new Map(incidents.map(({ id, startedAt }) => [externalIdOf(id), startedAt]));
  const ends = new Map(maintenances.map(({ id, endsAt }) => [externalIdOf(id), endsAt]));
  return {
    ...NOTHING_LEARNED,
    monitors,
    incidents: [...incidents, ...ended],
    maintenances,
    problems: [...origin.problems, ...past.problems],
    itemsTotal: lists.flat().length,
    stale: isOpenLost ? ['incidents'] : [],
    complete: [
      ...completeList('incidents', prefix, idsIn(past.incidents, summary.incidents), reachOf(past.incidents, starts)),
      ...completeList('maintenances', prefix, idsIn(past.maintenances, planned), reachOf(past.maintenances, ends)),
    ],
    details: past.isRead ? monitors.map(({ id }) => createDetail(id, context.now)) : [],
    isBackfilled: memory.isBackfilled || past.incidents !== null,
  };
}

function idsIn(past: readonly unknown[] | null, known: readonly unknown[]): (string | null)[] {
  return [...(past ?? []), ...known].map((item) => idIn(item));
}

/**
 * How far a list of the past reaches: all there is (null), or as far back as its oldest where it is full. Undefined: it was not read, or
 * that cannot be told.
 */
function reachOf(items: readonly unknown[] | null, instants: ReadonlyMap<string, EpochMs>): EpochMs | null | undefined {
  if (items === null) return undefined;
  if (items.length < LISTED_MAX) return null;
  const oldest = Math.min(...items.flatMap((item) => instants.get(idIn(item) ?? '') ?? []));
  return Number.isFinite(oldest) ? toEpochMs(oldest + 1) : undefined;
}

const NO_PAST = { incidents: null, maintenances: null, problems: [], isRead: false };

/** The newest of the past: at first, where an incident is open no more, and once an hour, as long as the quota allows it. */
function* readPast(options: Options, { memory, now }: PullContext, hasEnded: boolean) {
  const lastReadAt = Math.max(0, ...memory.detailFetchedAt.values());
  if (memory.isBackfilled && !hasEnded && now - lastReadAt < PAST_AGE_MIN_MS) return NO_PAST;
  const priority: Priority = memory.isBackfilled ? 'detail' : 'backfill';
  const incidents = yield* attemptOne(
    query(options, 'incidents.json', { name: 'list incidents', priority, schema: IncidentsSchema }),
  );
  const maintenances = yield* attemptOne(
    query(options, 'scheduled-maintenances.json', { name: 'list maintenances', priority, schema: MaintenancesSchema }),
  );
  const reported = (place: string, answer: Answer<unknown>): Problem[] =>
    answer.kind === 'failed' ? [note(place, answer.error.message)] : [];
  return {
    // Null: not asked for, or not answered.
    incidents: incidents.kind === 'ok' ? incidents.payload.incidents : null,
    maintenances: maintenances.kind === 'ok' ? maintenances.payload.scheduled_maintenances : null,
    // Both were asked for. One that failed is asked for again in an hour.
    isRead: incidents.kind !== 'skipped' && maintenances.kind !== 'skipped',
    problems: [...reported('incidents', incidents), ...reported('scheduled-maintenances', maintenances)],
  };
}

export const statuspage: Connector<Options> = {
  kind: 'statuspage',
  title: 'any page with the Statuspage v2 API: a vendor you depend on, or another Pharos',
  example: { id: 'vendor', kind: 'statuspage', url: 'https://status.example.com' },
  questions: [{ key: 'url', words: 'Address of the status page' }],
  optionsSchema: OptionsSchema,
  // None are documented. A pass asks once, and at most twice more where something is over.
  limits: { perMinute: 5, perHour: 130 },
  idField: 'id',
  vendorPage: ({ url }) => url,
  words: { status: [...Object.keys(STATE_WORDS), ...EVENT_STATUSES], impact: IMPACT_WORDS },
  pull,
};
