/**
 * The shape of pharos.yaml. Each key has its sentence, which editors show and the reference in docs/ is made from.
 * Page fields keep the names of the status-page resource that upstreams use.
 */

import { resolve } from 'node:path';
import { z } from 'zod';
import { NamedBadgesSchema } from '../badges/named.ts';
import { BadgeOptionsSchema } from '../badges/options.ts';
import { PayrollOptionsSchema } from '../exports/options.ts';
import { THEMES } from '../model/observation.ts';
import {
  HexColourSchema,
  HostSchema,
  HttpUrlSchema,
  IdSchema,
  LinkSchema,
  LocaleSchema,
  SlugSchema,
  TimezoneSchema,
} from '../schema/scalars.ts';
import { type Limits, WRITTEN_ID } from '../sync/connector.ts';
import { isThemeVariable, THEME_VARIABLES } from '../views/frame/theme.ts';
import { IntakeSchema } from './intake.ts';
import { didYouMean } from './nearest.ts';
import { NotificationSchema, notificationFaults } from './notifications.ts';
import { OutputSchema } from './output.ts';
import { SecretSchema } from './secret.ts';
import { StoreUrlSchema } from './store-url.ts';

const ScheduleSchema = z
  .string()
  .regex(/^\s*(\S+\s+){4,5}\S+\s*$/, 'expected a cron expression of five fields, or six with seconds');
const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };
/** A length of time in milliseconds, or `off`. */
const AfterSchema = z.union([
  z.literal('off'),
  z
    .string()
    .regex(/^\d{1,4}\s*[smh]$/, 'expected a length of time such as 90s, 3m or 1h, or off')
    .transform((text) => Number.parseInt(text, 10) * (UNIT_MS[text.slice(-1)] ?? 0)),
]);
export const LimitsSchema = z.strictObject({
  perMinute: z.int().positive().nullable().default(null).describe('Requests in any 60 seconds; null: no limit.'),
  perHour: z.int().positive().nullable().default(null).describe('Requests in any 3,600 seconds; null: no limit.'),
});

const GroupSchema = z.strictObject({
  id: IdSchema.describe('Named by components in group_id.'),
  name: z.string().min(1).max(256).describe('Shown as the heading of the group.'),
  order: z
    .number()
    .optional()
    .describe(
      'Place among groups and components without one; default: that of its first component, in the order of the list.',
    ),
  default_open: z
    .boolean()
    .optional()
    .describe(
      'Whether it is unfolded at first; one in which something is wrong always is. Default: on pages of up to 60 components.',
    ),
  counts: z
    .boolean()
    .optional()
    .describe(
      "Whether trouble in it is trouble of the page. Default: of components that are ours, not of those on a vendor's page.",
    ),
});

const ComponentSchema = z
  .strictObject({
    id: IdSchema.optional().describe('Part of addresses; default: made from the monitor or the name.'),
    type: z.enum(['monitor', 'static']).default('monitor').describe('static: shown without a monitor behind it.'),
    monitor: z
      .string()
      .regex(/^[^/]+\/.+$/, 'expected <upstream id>/<external id>')
      .optional()
      .describe('<upstream id>/<external id>.'),
    name: z.string().max(256).optional().describe("Default: the monitor's name."),
    description: z.string().max(1024).optional().describe('A sentence below its name.'),
    show_details: z
      .boolean()
      .default(false)
      .describe('Publish what the upstream says of its monitor: the description, and words about outages.'),
    group_id: z.string().optional().describe('Id of one of the groups.'),
    order: z.number().optional().describe('Place on the page; default: as listed.'),
    group_order: z.number().optional().describe('Place inside its group.'),
  })
  .refine((component) => component.type === 'static' || component.monitor !== undefined, {
    path: ['monitor'],
    error: 'a component of type monitor names its monitor as <upstream id>/<external id>',
  })
  .refine((component) => component.type === 'monitor' || component.name !== undefined, {
    path: ['name'],
    error: 'a static component has a name',
  });

const PageSchema = z
  .strictObject({
    slug: SlugSchema.describe('Its address below the site.'),
    from: z
      .string()
      .regex(
        /^[a-z0-9][a-z0-9_-]{0,63}(\/[a-z0-9][a-z0-9-]{0,255})?$/i,
        'expected an upstream id, or <upstream id>/<slug>',
      )
      .optional()
      .describe(
        'The page of an upstream that it builds on: svc, or svc/other-slug where the slugs differ. Never more open than that page, and withheld while it is not there.',
      ),
    title: z.string().min(1).max(256).optional().describe('Its heading. Default: the slug.'),
    description: z
      .string()
      .max(1024)
      .nullish()
      .describe('A sentence below the heading and in search results; null: none, whatever its upstream says.'),
    homepage_url: LinkSchema.nullish().describe('Where its name leads to; null: nowhere.'),
    contact_url: LinkSchema.nullish().describe('Address of a form, or mailto:; null: none.'),
    icon: HttpUrlSchema.nullish().describe(
      'Address of the icon: PNG, JPEG, GIF, WebP or SVG. It is fetched once a day, checked, and served with the page; null: none.',
    ),
    custom_domain: HostSchema.nullable()
      .optional()
      .describe('Host name that serves this page at its root; null: none, also where the upstream has one.'),
    access_type: z
      .enum(['public', 'password', 'email-domain'])
      .optional()
      .describe('Who may see it. Default: what password or auth_email_domains say, else public.'),
    password: SecretSchema.optional().describe(
      'Closes the page to whoever does not know it, with or without access_type.',
    ),
    auth_email_domains: z
      .array(HostSchema)
      .min(1)
      .optional()
      .describe('Exact domains. Closes the page to other addresses, with or without access_type.'),
    published: z.boolean().optional().describe('False: nobody sees it, as if it did not exist.'),
    theme: z.enum(THEMES).optional().describe('Colours; system follows the visitor.'),
    groups: z.array(GroupSchema).optional().describe('Headings that components stand below.'),
    components: z.array(ComponentSchema).optional().describe('Default: every monitor of every upstream.'),
    timezone: TimezoneSchema.optional().describe('In which its days are cut. Default: that of the site.'),
    locale: LocaleSchema.optional().describe('Its language. Default: that of the site.'),
    show_targets: z
      .boolean()
      .default(false)
      .describe('Publish what monitors check (addresses). Off: they never leave the store.'),
    blip_floor_seconds: z.number().min(0).default(60).describe('A shorter outage does not colour a day.'),
    uptime_decimals: z.int().min(0).max(4).default(2).describe('Digits behind the point of uptime figures.'),
    accent_color: HexColourSchema.optional().describe('Colour of links and of what has the focus, #rrggbb.'),
    css_variables: z
      .record(z.string(), z.string())
      .default({})
      .describe('Checked custom properties of the theme; docs/theme.md lists them.'),
    allow_index: z
      .boolean()
      .optional()
      .describe('False: search engines are asked to leave it out. Default: as its upstream says, else true.'),
    show_uptime: z
      .boolean()
      .optional()
      .describe('False: no figure of uptime is shown. Default: as its upstream says, else true.'),
    incidents: z
      .strictObject({
        after: AfterSchema.optional().describe(
          'How long a monitor is down before an incident opens by itself: 90s, 3m (default), 1h; off: none does.',
        ),
      })
      .optional()
      .describe('Outages that monitors see, as incidents.'),
    templates: z
      .array(
        z.strictObject({
          name: z.string().min(1).max(60).describe('What operators choose it by.'),
          title: z.string().min(1).max(256).describe('Heading of the incident or the maintenance.'),
          body: z.string().max(10_000).default('').describe('Markdown of the first update.'),
          kind: z.enum(['incident', 'maintenance']).default('incident').describe('Which form it fills in.'),
          components: z
            .record(z.string(), z.enum(['degraded_performance', 'partial_outage', 'major_outage', 'under_maintenance']))
            .default({})
            .describe('States of components by their id.'),
        }),
      )
      .optional()
      .describe('What /-/ops fills its form in with.'),
    badge: BadgeOptionsSchema.optional().describe('How all badges of the page are drawn.'),
    badges: NamedBadgesSchema.default([]).describe('Named badges beside the standard ones.'),
  })
  .superRefine((page, context) => {
    for (const [name, value] of Object.entries(page.css_variables)) {
      if (isThemeVariable(name, value)) continue;
      const message = `expected one of ${THEME_VARIABLES.join(', ')}, with a plain value (no url(), no ; { } or <)`;
      context.addIssue({ code: 'custom', path: ['css_variables', name], message });
    }
    if (page.access_type === 'password' && page.password === undefined) {
      context.addIssue({
        code: 'custom',
        path: ['password'],
        message: 'a page with access_type password needs one: password: "${NAME}"',
      });
    }
    if (page.access_type === 'email-domain' && page.auth_email_domains === undefined && page.from === undefined) {
      context.addIssue({
        code: 'custom',
        path: ['auth_email_domains'],
        message: 'a page with access_type email-domain needs a list of domains',
      });
    }
    const groups = new Set(page.groups?.map((group) => group.id));
    for (const [index, component] of (page.components ?? []).entries()) {
      if (component.group_id !== undefined && page.groups !== undefined && !groups.has(component.group_id)) {
        context.addIssue({
          code: 'custom',
          path: ['components', index, 'group_id'],
          message: `there is no group ${component.group_id} on this page.${didYouMean(component.group_id, groups)}`,
        });
      }
    }
  });

/** One page of the configuration, defaults filled in, snake_case as in the file. */
export type PageConfig = z.output<typeof PageSchema>;

export const HookSchema = z.strictObject({
  header: z
    .string()
    .regex(/^[a-z0-9-]{1,64}$/i, 'expected a header name')
    .default('x-webhook-secret')
    .describe('Name of the header that carries the secret.'),
  secrets: z.array(SecretSchema).min(1).max(2).describe('One, or two while the secret is being changed.'),
});

/** One upstream of the configuration; `options` is what its connector's own schema made of the rest. */
export interface UpstreamConfig {
  readonly id: string;
  readonly kind: string;
  readonly schedule: string | null;
  readonly limits: Limits | null;
  /** Who may say over `/-/hooks/<id>` that it changed; null: nobody. */
  readonly hook: z.output<typeof HookSchema> | null;
  readonly options: unknown;
}

/** What the configuration needs to know of a connector. */
export interface ConnectorOptions {
  readonly kind: string;
  /** Of everything beside `id`, `kind`, `schedule` and `limits`. */
  readonly optionsSchema: z.ZodType<unknown>;
  /** The option that is a path relative to the configuration. */
  readonly fileOption?: string;
}

function upstreamSchema(connectors: readonly ConnectorOptions[]): z.ZodType<UpstreamConfig> {
  const common = {
    id: IdSchema,
    schedule: ScheduleSchema.optional(),
    limits: LimitsSchema.optional(),
    hook: HookSchema.optional(),
  };
  const kinds = connectors.map((connector) => connector.kind);
  const HeadSchema = z.looseObject({
    kind: z.string().refine((kind) => kinds.includes(kind), {
      error: ({ input }) => `expected one of ${kinds.join(', ')}.${didYouMean(String(input), kinds)}`,
    }),
    ...common,
  });
  return HeadSchema.transform((input, context): UpstreamConfig => {
    const { id, kind, schedule, limits, hook, ...rest } = input;
    const connector = connectors.find((candidate) => candidate.kind === kind);
    if (connector === undefined) return z.NEVER;
    const options = connector.optionsSchema.safeParse(rest);
    if (!options.success) {
      for (const issue of options.error.issues)
        context.issues.push({ ...issue, input: rest } as (typeof context.issues)[number]);
      return z.NEVER;
    }
    return { id, kind, schedule: schedule ?? null, limits: limits ?? null, hook: hook ?? null, options: options.data };
  });
}

/** The schema of the whole file, for the connectors there are. */
export function createConfigSchema(connectors: readonly ConnectorOptions[]) {
  return z
    .strictObject({
      site: z.strictObject({
        url: HttpUrlSchema.describe('The public address; the only source of absolute links. May have a path.'),
        name: z.string().min(1).max(256).default('Status').describe('Shown on the index of pages and in titles.'),
        home: z
          .string()
          .optional()
          .describe('Slug of the page shown at /. Default: the only page there is, or an index of the public pages.'),
        timezone: TimezoneSchema.default('UTC').describe('IANA zone in which days are cut and times are written.'),
        locale: LocaleSchema.default('en').describe('Language of the pages, as a tag: en, de, pt-BR …'),
      }),
      server: z
        .strictObject({
          host: z.string().default('127.0.0.1').describe('Address to listen on; 0.0.0.0 or :: for all.'),
          port: z.int().min(0).max(65535).default(4321).describe('Port to listen on; 0: any free one.'),
          trustedProxyHops: z
            .int()
            .min(0)
            .max(8)
            .default(0)
            .describe('How many proxies in front add to X-Forwarded-For.'),
        })
        .prefault({}),
      data: z.string().default('./data').describe('Folder of the database and the published files.'),
      store: z
        .strictObject({
          url: StoreUrlSchema.describe(
            'postgres://user:password@host:5432/database, for several nodes; docs/postgres.md. Default: a SQLite file in data.',
          ),
        })
        .optional(),
      schedule: ScheduleSchema.default('* * * * *').describe('When upstreams are asked: cron in UTC.'),
      retentionDays: z.int().min(91).default(400).describe('How long history is kept, and how far back pages go.'),
      upstreams: z.array(upstreamSchema(connectors)).default([]),
      exports: z.array(PayrollOptionsSchema).default([]).describe('What is sent out; nothing unless configured.'),
      pages: z.array(PageSchema).default([]).describe('Default: one public page with every monitor.'),
      notifications: z
        .array(NotificationSchema)
        .default([])
        .describe('Who is told of incidents and maintenance, and how; notifications.md has an entry of every kind.'),
      intake: z.array(IntakeSchema).default([]).describe('What alerting systems send becomes incidents.'),
      output: OutputSchema,
      access: z
        .strictObject({
          smtp: SecretSchema.optional().describe('smtp:// or smtps:// address with user and password.'),
          from: z
            .string()
            .optional()
            .describe('Sender of sign-in mails, `status@example.com` or `Name <status@example.com>`.'),
          sessionHours: z
            .number()
            .positive()
            .max(168)
            .default(12)
            .describe('A session that is not used for so long ends; each ends after seven days.'),
          key: SecretSchema.optional()
            .refine((key) => key === undefined || key.reveal().length >= 32, 'expected at least 32 characters')
            .describe(
              'Key of the hashes of addresses, by which tries to sign in are counted. Several nodes set the same. Default: one of its own in data/secret.key.',
            ),
        })
        .prefault({}),
      operators: z
        .strictObject({
          token: SecretSchema.optional().describe(
            'What operators show: to rebuild, to read metrics, to open /-/ops. Absent: nobody can.',
          ),
        })
        .prefault({}),
    })
    .superRefine((config, context) => {
      unique(
        config.upstreams,
        (upstream) => upstream.id,
        (index, id) =>
          context.addIssue({ code: 'custom', path: ['upstreams', index, 'id'], message: `the id ${id} is used twice` }),
      );
      const reserved = config.upstreams.findIndex((upstream) => upstream?.id === WRITTEN_ID);
      if (reserved !== -1) {
        const message = `the id ${WRITTEN_ID} is reserved for what operators write; choose another one`;
        context.addIssue({ code: 'custom', path: ['upstreams', reserved, 'id'], message });
      }
      unique(
        config.intake,
        (intake) => intake.id,
        (index, id) =>
          context.addIssue({ code: 'custom', path: ['intake', index, 'id'], message: `the id ${id} is used twice` }),
      );
      if (config.intake.length > 0 && config.operators.token === undefined) {
        const message = 'an intake needs operators.token: without one nothing is written over HTTP';
        context.addIssue({ code: 'custom', path: ['intake'], message });
      }
      unique(
        config.pages,
        (page) => page.slug,
        (index, slug) =>
          context.addIssue({
            code: 'custom',
            path: ['pages', index, 'slug'],
            message: `the slug ${slug} is used twice`,
          }),
      );
      unique(
        config.pages.filter((page) => typeof page.custom_domain === 'string'),
        (page) => page.custom_domain ?? '',
        (index, host) =>
          context.addIssue({
            code: 'custom',
            path: ['pages', index, 'custom_domain'],
            message: `the host ${host} is used twice`,
          }),
      );
      if (config.output.folder !== undefined && isSameOrWithin(config.output.folder, config.data)) {
        context.addIssue({
          code: 'custom',
          path: ['output', 'folder'],
          message: 'this is where Pharos keeps its data, private pages too; name another folder',
        });
      }
      const ids = new Set(config.upstreams.flatMap((upstream) => upstream?.id ?? []));
      unique(
        config.notifications,
        (entry) => entry.id,
        (index, id) =>
          context.addIssue({
            code: 'custom',
            path: ['notifications', index, 'id'],
            message: `the id ${id} is used twice`,
          }),
      );
      for (const { path, message } of notificationFaults(config.notifications, ids, config.access.smtp !== undefined))
        context.addIssue({ code: 'custom', path: ['notifications', ...path], message });
      for (const [page, { components, from }] of config.pages.entries()) {
        const base = from?.split('/')[0];
        if (base !== undefined && !ids.has(base)) {
          context.addIssue({
            code: 'custom',
            path: ['pages', page, 'from'],
            message: `there is no upstream ${base}.${didYouMean(base, ids)}`,
          });
        }
        for (const [index, component] of (components ?? []).entries()) {
          const upstream = component.monitor?.split('/')[0];
          if (upstream !== undefined && !ids.has(upstream)) {
            context.addIssue({
              code: 'custom',
              path: ['pages', page, 'components', index, 'monitor'],
              message: `there is no upstream ${upstream}.${didYouMean(upstream, ids)}`,
            });
          }
        }
      }
    });
}

/** The whole configuration as the file gives it, before paths are made absolute. */
export type ConfigFile = z.output<ReturnType<typeof createConfigSchema>>;

function unique<T>(
  items: readonly T[],
  keyOf: (item: T) => string,
  report: (index: number, key: string) => void,
): void {
  const seen = new Set<string>();
  for (const [index, item] of items.entries()) {
    if (item === undefined) continue;
    const key = keyOf(item);
    if (seen.has(key)) report(index, key);
    seen.add(key);
  }
}

/** Whether one of two folders, as written in the file, is the other or in it. */
function isSameOrWithin(one: string, other: string): boolean {
  const [a, b] = [one, other].map((path) => `${resolve('/configuration', path)}/`) as [string, string];
  return a.startsWith(b) || b.startsWith(a);
}
