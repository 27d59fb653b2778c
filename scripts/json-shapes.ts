/** The shapes of our own JSON documents; docs/schema/ is generated from them, and tests read the documents with them. */

import { z } from 'zod';
import { INCIDENT_IMPACTS, INCIDENT_STATUSES, MAINTENANCE_STATUSES, PROVENANCES, STATES } from '../src/model/index.ts';
import type { ReportDocument } from '../src/views/json/report-data.ts';
import type { stateDocument } from '../src/views/json/state-json.ts';
import type { uptimeDocument } from '../src/views/json/uptime-json.ts';

const V2IdSchema = z
  .string()
  .regex(/^[0-9a-hjkmnp-tv-z]{12}$/)
  .describe('Permanent; as in api/v2/.');
const InstantSchema = z.iso.datetime({ precision: 3 });
const RatioSchema = z.number().min(0).max(1);
const SecondsSchema = z.number().min(0);
const StateSchema = z.enum(STATES).describe('unknown: no data, or not recent enough.');
const SinceSchema = InstantSchema.nullable().describe('When it entered that state; null: nothing was known before.');
const PageSchema = z.strictObject({ id: V2IdSchema, name: z.string(), url: z.url() });
const ComponentIdSchema = z.string().describe('As in the page’s URLs.');
/** What `views/json/state-json.ts` gives. */
const COMPONENT_HEAD = { id: ComponentIdSchema, v2_id: V2IdSchema, name: z.string(), group: z.string().nullable() };
const EVENT_HEAD = {
  id: V2IdSchema,
  title: z.string(),
  url: z.url(),
  status: z.enum([...INCIDENT_STATUSES, ...MAINTENANCE_STATUSES]),
};

const FiguresSchema = z.strictObject({
  uptime_ratio: RatioSchema.nullable().describe(
    'Rounded down; 1 only when nothing was down; null: no time counts, or the page shows no uptime.',
  ),
  uptime_ratio_with_maintenance: RatioSchema.nullable().describe('The same with maintenance counted as up.'),
  coverage_ratio: RatioSchema.describe('Share of the period with a known state.'),
  seconds: z.record(z.enum(STATES), SecondsSchema).describe('Seconds in each state; they add up to the period.'),
  counted_seconds: z
    .record(z.enum(STATES), SecondsSchema)
    .describe('Basis of the ratios; differs from seconds only if an impact was declared not to count.'),
});
const PeriodsSchema = z.strictObject({
  '24h': FiguresSchema,
  '7d': FiguresSchema,
  '30d': FiguresSchema,
  '90d': FiguresSchema,
  '365d': FiguresSchema,
});

const StateEventSchema = z.strictObject({
  ...EVENT_HEAD,
  started_at: InstantSchema,
  ends_at: InstantSchema.nullable(),
});

export const StateDocumentSchema = z
  .strictObject({
    page: PageSchema,
    state: StateSchema,
    since: SinceSchema,
    sentence: z.string().describe('The sentence at the top of the page, in its language.'),
    locale: z.string(),
    as_of: InstantSchema,
    stale_after: InstantSchema.describe('A copy read after this time is out of date.'),
    stale: z.boolean().describe('A source of the page has not answered in time.'),
    components: z.array(
      z.strictObject({
        ...COMPONENT_HEAD,
        state: StateSchema,
        since: SinceSchema,
        state_text: z.string().describe('The state in the language of the page.'),
        stale: z.boolean(),
      }),
    ),
    open_incidents: z.array(StateEventSchema).describe('Newest first.'),
    maintenances: z.array(StateEventSchema).describe('Current or planned, soonest first.'),
  })
  .describe('api/state.json: the current state of a status page.') satisfies z.ZodType<
  ReturnType<typeof stateDocument>
>;

const SourceSchema = z.strictObject({
  id: V2IdSchema,
  monitors_at: InstantSchema.nullable().describe('Time of its last good answer, when this document was written.'),
  incidents_at: InstantSchema.nullable(),
  interval_seconds: SecondsSchema.describe('Sync interval; data older than two intervals is stale.'),
  monitors_stale: z.boolean(),
  incidents_stale: z.boolean(),
});

const UptimeComponentSchema = z.strictObject({
  ...COMPONENT_HEAD,
  state: StateSchema,
  stale: z.boolean(),
  source_id: V2IdSchema.nullable().describe('One of sources; null: a component without a monitor.'),
  uptime_basis: z
    .enum(['monitoring', 'reported_incidents'])
    .describe(
      'What the figures are counted from. A component without a monitor counts as up unless an incident says otherwise.',
    ),
  periods: PeriodsSchema,
  upstream: z
    .strictObject({
      period_days: z.number(),
      uptime_ratio: z.number().nullable(),
      response_time_average_ms: z.number().nullable(),
    })
    .nullable()
    .describe('Figures from the monitoring service itself.'),
  checks: z
    .strictObject({
      certificate_expires_at: InstantSchema.nullable().describe('The first of its certificates; null: it has none.'),
      places: z.array(
        z.strictObject({
          place: z.string(),
          at: InstantSchema,
          state: StateSchema,
          response_time_ms: z.number().nullable().describe('null: it did not answer.'),
        }),
      ),
    })
    .nullable()
    .describe('Last answer to each place that checks it; null: Pharos does not check it itself, or has not yet.'),
  days: z
    .strictObject({
      state: z.array(StateSchema).describe('The state that colours the day.'),
      seconds: z
        .record(z.enum(STATES), z.array(SecondsSchema))
        .describe('Seconds in each state; they add up to day_seconds.'),
      counted_seconds: z
        .record(z.enum(STATES), z.array(SecondsSchema))
        .nullable()
        .describe('The same, as counted in uptime; null: no day differs.'),
      coverage: z.array(RatioSchema),
      provenance: z.array(z.array(z.enum(PROVENANCES))).describe('Where the known time of the day comes from.'),
    })
    .describe('Each list corresponds to days.'),
  utc: z
    .array(
      z.strictObject({
        seconds: z.partialRecord(z.enum(STATES), SecondsSchema),
        counted: z.partialRecord(z.enum(STATES), SecondsSchema).exactOptional(),
        days: z.array(z.int()).describe('Places in utc_days.'),
      }),
    )
    .describe('What is said of days in utc_days, as the page’s log commits to it; nothing is known of others.'),
  corrections: z
    .array(z.strictObject({ day: z.int().describe('Place in utc_days.'), corrected_at: InstantSchema }))
    .describe('Days that say something else than they once did.'),
});

export const UptimeDocumentSchema = z
  .strictObject({
    page: PageSchema.extend({ updated_at: InstantSchema }),
    time_zone: z.string().describe('IANA time zone of the days.'),
    as_of: InstantSchema.describe('End of all periods in this document.'),
    stale_after: InstantSchema,
    stale: z.boolean(),
    state: StateSchema,
    formula: z.strictObject({ version: z.int(), text: z.string(), blip_floor_seconds: SecondsSchema }),
    sources: z.array(SourceSchema),
    periods: PeriodsSchema.describe('All components, weighted by the time that counts.'),
    days: z.array(z.iso.date()).describe('Oldest first; the last one is today.'),
    day_seconds: z
      .array(SecondsSchema)
      .describe('Length of each day up to as_of; 82800 or 90000 when daylight saving changes.'),
    utc_days: z.array(z.iso.date()).describe('UTC days that are over for good, oldest first.'),
    components: z.array(UptimeComponentSchema),
  })
  .describe('api/uptime.json: the data behind every uptime figure of a status page.') satisfies z.ZodType<
  ReturnType<typeof uptimeDocument>
>;

const ReportEventSchema = z.strictObject({
  ...EVENT_HEAD,
  impact: z.enum(INCIDENT_IMPACTS).nullable(),
  started_at: InstantSchema,
  ended_at: InstantSchema.nullable(),
  seconds: SecondsSchema.describe('Of its part inside the month.'),
  components: z.array(ComponentIdSchema),
});

export const ReportDocumentSchema = z
  .strictObject({
    page: PageSchema,
    month: z.string().regex(/^\d{4}-\d{2}$/),
    time_zone: z.string(),
    from: InstantSchema,
    to: InstantSchema.describe('End of the month, or the current time during the month.'),
    is_over: z.boolean(),
    formula_version: z.int(),
    uptime: FiguresSchema,
    components: z.array(
      z.strictObject({
        ...COMPONENT_HEAD,
        uptime: FiguresSchema,
        incident_count: z.int().min(0),
      }),
    ),
    incidents: z.array(ReportEventSchema).describe('Incidents within the month, oldest first.'),
    maintenances: z.array(ReportEventSchema),
  })
  .describe('reports/<month>/report.json: one month of a status page.') satisfies z.ZodType<ReportDocument>;

/** Each schema by the name of its file in docs/schema/. */
export const JSON_SCHEMAS = {
  'state.schema.json': StateDocumentSchema,
  'uptime.schema.json': UptimeDocumentSchema,
  'report.schema.json': ReportDocumentSchema,
} as const;

/** A schema as the text of its file. */
export function jsonSchemaText(name: keyof typeof JSON_SCHEMAS): string {
  return `${JSON.stringify(z.toJSONSchema(JSON_SCHEMAS[name], { io: 'output' }), null, 2)}\n`;
}
