/**
 * What the uptime service answers, in the document's spelling and in the recorded one: words with or without their
 * prefix, numbers also as strings, defaults and empty lists left out. Passwords and notification secrets that a read
 * key gets to see are not named here, so they are dropped where the answer is parsed.
 */

import { z } from 'zod';
import {
  CountSchema,
  FlagSchema,
  IdSchema,
  InstantSchema,
  ListSchema,
  NameSchema,
  NumberSchema,
  TextSchema,
  toHost,
  toLink,
} from '../wire.ts';

/** Lists of monitors by kind, and how many there are in all; null: it does not say. */
export interface MonitorsAnswer {
  readonly lists: readonly { readonly kind: string; readonly place: string; readonly items: readonly unknown[] }[];
  readonly total: number | null;
}

/** `{ httpMonitors, tcpMonitors, dnsMonitors, totalSize }`; kinds to come are taken too. */
function monitorsAnswerSchema(required: readonly string[]): z.ZodType<MonitorsAnswer> {
  return z.record(z.string(), z.unknown()).transform((answer, context): MonitorsAnswer => {
    const places = Object.keys(answer).filter((key) => key.endsWith('Monitors'));
    for (const place of required.filter((name) => !places.includes(name)))
      context.addIssue({ code: 'custom', path: [place], message: 'missing' });
    const lists = places.toSorted().flatMap((place) => {
      const items = ListSchema.safeParse(answer[place]);
      if (!items.success) context.addIssue({ code: 'custom', path: [place], message: 'not a list' });
      const kind = place.slice(0, -'Monitors'.length).toLowerCase();
      return items.success ? [{ kind, place, items: items.data }] : [];
    });
    const total = CountSchema.nullish().safeParse(answer['totalSize']);
    if (!total.success) context.addIssue({ code: 'custom', path: ['totalSize'], message: 'not a count' });
    // An empty workspace answers {}; an object of something else is not a list of monitors.
    if (places.length === 0 && Object.keys(answer).some((key) => key !== 'totalSize'))
      context.addIssue({ code: 'custom', message: 'no list of monitors in it' });
    return { lists, total: total.success ? (total.data ?? null) : null };
  });
}

/** As the document has it: `httpMonitors` is always there. */
export const DocumentedMonitorsSchema = monitorsAnswerSchema(['httpMonitors']);
/** As recorded: lists are absent when they are empty. */
export const RecordedMonitorsSchema = monitorsAnswerSchema([]);

export const MonitorSchema = z.object({
  id: IdSchema,
  name: NameSchema,
  url: TextSchema,
  uri: TextSchema,
  description: TextSchema,
  active: z.unknown().optional(),
  public: z.unknown().optional(),
  status: z.unknown().optional(),
});

/** `prefix` off, lower case: `MONITOR_STATUS_ACTIVE` and `active` are one word. Anything but text stays as it is. */
export function stripPrefix(value: unknown, prefix: string): unknown {
  if (typeof value !== 'string') return value;
  return (value.startsWith(prefix) ? value.slice(prefix.length) : value).toLowerCase();
}

export const WhoamiSchema = z.object({
  name: NameSchema.nullish(),
  slug: z.string().nullish(),
  plan: z.string().nullish(),
  actor: z
    .object({ type: z.string().nullish(), keyId: IdSchema.nullish(), scopes: z.array(z.string()).nullish() })
    .nullish(),
});

export const PagesAnswerSchema = z.object({ statusPages: ListSchema, totalSize: CountSchema.nullish() });
export const PageSummarySchema = z.object({ id: IdSchema });

const LinkSchema = z.unknown().optional().transform(toLink);

const PageSchema = z
  .object({
    id: IdSchema,
    slug: z.string(),
    title: NameSchema,
    description: TextSchema,
    homepageUrl: LinkSchema,
    contactUrl: LinkSchema,
    icon: LinkSchema,
    customDomain: z.unknown().optional().transform(toHost),
    accessType: z.unknown().optional(),
    password: z.unknown().optional(),
    authEmailDomains: z.unknown().optional(),
    published: z.unknown().optional(),
    theme: z.unknown().optional(),
    allowIndex: z.unknown().optional(),
    defaultLocale: z.unknown().optional(),
    locales: ListSchema.catch([]),
    customTheme: z.unknown().optional(),
  })
  // Only whether there is a password is looked at; it is never kept. Whatever stands in its place is one.
  .transform(({ password, ...page }) => ({ ...page, hasPassword: (password ?? '') !== '' }));
export type Page = z.output<typeof PageSchema>;

export const PageAnswerSchema = z.object({ statusPage: PageSchema });

/** How the service draws a page. Only looks depend on it, so what cannot be read of it says nothing. */
const ConfigurationSchema = z
  .object({
    barType: z.unknown().optional(),
    showUptime: z.unknown().optional(),
    themeKey: z.unknown().optional(),
  })
  .nullish()
  .catch(null);

/** GetStatusPageOverview; GetStatusPageContent has the same lists and no configuration. */
export const OverviewSchema = z.object({
  statusPage: PageSchema,
  configuration: ConfigurationSchema,
  components: ListSchema,
  groups: ListSchema,
  statusReports: ListSchema,
  maintenances: ListSchema,
});
export type Overview = z.output<typeof OverviewSchema>;

const OrderSchema = NumberSchema.pipe(z.number().finite()).nullish().catch(null);

export const ComponentSchema = z.object({
  id: IdSchema,
  name: NameSchema.nullish(),
  description: TextSchema,
  type: z.unknown().optional(),
  monitorId: IdSchema.nullish(),
  order: OrderSchema,
  groupId: IdSchema.nullish(),
  groupOrder: OrderSchema,
});
export type Component = z.output<typeof ComponentSchema>;

export const GroupSchema = z.object({
  id: IdSchema,
  name: NameSchema,
  defaultOpen: FlagSchema.nullish().catch(null),
});

export const ReportSchema = z.object({
  id: IdSchema,
  status: z.unknown().optional(),
  title: NameSchema,
  pageComponentIds: z.array(IdSchema).nullish(),
  updates: ListSchema,
  createdAt: InstantSchema,
  updatedAt: InstantSchema.nullish(),
});
export type Report = z.output<typeof ReportSchema>;

export const UpdateSchema = z.object({
  id: IdSchema,
  status: z.unknown().optional(),
  date: InstantSchema,
  message: TextSchema,
  componentImpacts: z
    .array(z.object({ pageComponentId: IdSchema, impact: z.unknown().optional() }))
    .nullish()
    .transform((impacts) => impacts ?? []),
});
export type ReportUpdate = z.output<typeof UpdateSchema>;

export const ReportsAnswerSchema = z.object({ statusReports: ListSchema, totalSize: CountSchema.nullish() });
export const ReportAnswerSchema = z.object({ statusReport: z.unknown() });

/** REST `/v1/status_report`: the only answer that says the page of a report which names no component. */
export const ReportPagesAnswerSchema = z.array(z.unknown());
export const ReportPageSchema = z.object({ id: IdSchema, pageId: IdSchema.nullish() });

export const MaintenanceSchema = z.object({
  id: IdSchema,
  title: NameSchema,
  message: TextSchema,
  from: InstantSchema,
  to: InstantSchema,
  pageComponentIds: z.array(IdSchema).nullish(),
  createdAt: InstantSchema.nullish(),
});

export const DailySummarySchema = z.object({ components: ListSchema });
export const ComponentDaysSchema = z.object({ monitorId: IdSchema.nullish(), buckets: ListSchema });
const DayCountSchema = CountSchema.nullish().transform((count) => count ?? 0);
export const DayBucketSchema = z.object({
  day: z.string().regex(/^\d{4}-\d\d-\d\d(T00:00:00(\.0+)?Z)?$/),
  count: DayCountSchema,
  ok: DayCountSchema,
  degraded: DayCountSchema,
  error: DayCountSchema,
});

export const MonitorSummarySchema = z.object({
  id: IdSchema,
  totalSuccessful: DayCountSchema,
  totalDegraded: DayCountSchema,
  totalFailed: DayCountSchema,
});
export type MonitorSummary = z.output<typeof MonitorSummarySchema>;

export const ChannelsAnswerSchema = z.object({ notifications: ListSchema, totalSize: CountSchema.nullish() });
/** Of a channel its name, kind and what triggers it; where it leads stays out. */
export const ChannelSchema = z.object({
  id: IdSchema,
  name: NameSchema.nullish().catch(null),
  provider: z.unknown().optional(),
  monitorIds: z.array(IdSchema).nullish(),
});
export const ChannelAnswerSchema = z.object({ notification: ChannelSchema });
/** With where it leads, for whoever sends there: `{ slack: { webhookUrl } }`. */
export const ChannelSettingsAnswerSchema = z.object({
  notification: ChannelSchema.extend({
    data: z.record(z.string(), z.record(z.string(), z.unknown())).nullish().catch(null),
  }),
});

/** REST `/v1/incident`: the failed checks that the service itself recorded. */
export const OutagesAnswerSchema = z.array(z.unknown());
export const OutageSchema = z.object({
  id: IdSchema,
  /** Null: of a monitor that was deleted. */
  monitorId: IdSchema.nullish(),
  startedAt: InstantSchema,
  resolvedAt: InstantSchema.nullish(),
});
