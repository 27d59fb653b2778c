/**
 * statuspage: the public API (v2) of a Statuspage, or of any page that speaks it: vendors, another Pharos.
 *
 * Each pass asks `/api/v2/summary.json` (states, open incidents, maintenance to come). The two lists of the past, the 50
 * newest incidents and maintenances, are asked when an open incident is not open any more, and once an hour. Every question
 * is conditional. No key.
 */

import { z } from 'zod';
import { type CompleteList, type Learned, NOTHING_LEARNED, type Problem } from '../../../model/observation.ts';
import { type EpochMs, HOUR_MS, MINUTE_MS, toEpochMs } from '../../../model/time.ts';
import {
  type Answer,
  ask,
  attemptOne,
  type Connector,
  explainMissing,
  type Priority,
  type Pull,
  type PullContext,
  type Query,
  type Question,
} from '../../connector.ts';
import { endMissing } from '../entries.ts';
import { externalIdOf, idIn, losesOpen, note } from '../items.ts';
import { createDetail } from '../measurements.ts';
import { BaseUrlSchema, endpointAddress } from '../wire.ts';
import {
  EVENT_STATUSES,
  IMPACT_WORDS,
  projectComponents,
  projectIncidents,
  projectMaintenances,
  STATE_WORDS,
} from './project.ts';
import { IncidentsSchema, MaintenancesSchema, SummarySchema } from './schema.ts';

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
  const hasEnded = [...memory.openIncidents].some((id) => !open.has(id));
  const past = yield* readPast(options, context, { hasEnded });
  const problems: Problem[] = [];
  const monitors = projectComponents(
    summary.components,
    { upstreamId, wanted: options.components, incidents: summary.incidents },
    problems,
  );
  const about = { upstreamId, monitors: new Set(monitors.map(({ id }) => id)) };
  const incidents = projectIncidents(
    { incidents: summary.incidents, 'past incidents': past.incidents ?? [] },
    about,
    problems,
  );
  const maintenances = projectMaintenances(
    { scheduled_maintenances: summary.scheduled_maintenances, 'past maintenances': past.maintenances ?? [] },
    about,
    problems,
  );
  const taken = new Set(incidents.map(({ id }) => externalIdOf(id)));
  // Which one it is that has no id cannot be told; it may be any of those that were open.
  const ended = open.has(null) ? [] : endMissing(memory.openStories ?? new Map(), open.union(taken), context);
  const isOpenLost = losesOpen(summary.incidents, { taken, open: memory.openIncidents });
  const itemsOf = [summary.components, summary.incidents, summary.scheduled_maintenances];
  return {
    ...NOTHING_LEARNED,
    monitors,
    incidents: [...incidents, ...ended],
    maintenances,
    problems: [...problems, ...past.problems],
    itemsTotal: [...itemsOf, past.incidents ?? [], past.maintenances ?? []].reduce(
      (sum, { length }) => sum + length,
      0,
    ),
    stale: isOpenLost ? ['incidents'] : [],
    complete: [
      ...completeList('incidents', context, {
        items: past.incidents,
        known: summary.incidents,
        instants: incidents.map(({ id, startedAt }) => [externalIdOf(id), startedAt]),
      }),
      ...completeList('maintenances', context, {
        items: past.maintenances,
        known: summary.scheduled_maintenances,
        instants: maintenances.map(({ id, endsAt }) => [externalIdOf(id), endsAt]),
      }),
    ],
    details: past.isRead ? monitors.map(({ id }) => createDetail(id, context.now)) : [],
    isBackfilled: memory.isBackfilled || past.incidents !== null,
  };
}

const NO_PAST: Past = { incidents: null, maintenances: null, problems: [], isRead: false };

interface Past {
  /** Null: not asked for, or not answered. */
  readonly incidents: readonly unknown[] | null;
  readonly maintenances: readonly unknown[] | null;
  /** Both were asked for. One that failed is asked for again in an hour. */
  readonly isRead: boolean;
  readonly problems: readonly Problem[];
}

/** The newest of the past: at first, where an incident is open no more, and once an hour, as long as the quota allows it. */
function* readPast(
  options: Options,
  { memory, now }: PullContext,
  { hasEnded }: { readonly hasEnded: boolean },
): Pull<Past> {
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
    answer.kind === 'failed' ? [note(place, explainMissing(answer))] : [];
  return {
    incidents: incidents.kind === 'ok' ? incidents.payload.incidents : null,
    maintenances: maintenances.kind === 'ok' ? maintenances.payload.scheduled_maintenances : null,
    isRead: incidents.kind !== 'skipped' && maintenances.kind !== 'skipped',
    problems: [...reported('incidents', incidents), ...reported('scheduled-maintenances', maintenances)],
  };
}

/** How far a list of the past reaches: all there is, or as far back as its oldest where it is full. */
function completeList(
  part: CompleteList['part'],
  { upstreamId }: PullContext,
  {
    items,
    known,
    instants,
  }: {
    readonly items: readonly unknown[] | null;
    readonly known: readonly unknown[];
    readonly instants: readonly (readonly [string, EpochMs])[];
  },
): CompleteList[] {
  if (items === null) return [];
  const ids = [...items, ...known].map((item) => idIn(item));
  // Which one it is that has no id cannot be told, so that nothing can be missed.
  if (ids.includes(null)) return [];
  const listed = new Set(items.map((item) => idIn(item)));
  const oldest = Math.min(...instants.filter(([id]) => listed.has(id)).map(([, at]) => at));
  const since = items.length < LISTED_MAX ? null : Number.isFinite(oldest) ? toEpochMs(oldest + 1) : undefined;
  if (since === undefined) return [];
  return [{ part, prefix: `${upstreamId}/`, since, ids: ids.map((id) => `${upstreamId}/${id}`) }];
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
