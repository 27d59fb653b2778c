/**
 * Pages and upstreams in pharos.yaml. Each key has a description, which editors show and the reference in docs/ is
 * generated from. Fields of pages are named as in the upstreams' status-page resource.
 */

import { z } from 'zod';
import { NamedBadgesSchema } from '../badges/named.ts';
import { BadgeOptionsSchema } from '../badges/options.ts';
import { INCIDENT_STATUSES, THEMES } from '../model/observation.ts';
import { PRESETS } from '../model/page.ts';
import { isOwnPath, isPagePath } from '../model/slugs.ts';
import { issueWords } from '../schema/issue-words.ts';
import { didYouMean } from '../schema/nearest.ts';
import {
  HeaderNameSchema,
  HexColourSchema,
  HostSchema,
  HttpUrlSchema,
  IdSchema,
  LinkSchema,
  LocaleSchema,
  OffSchema,
  OptionalFlagSchema,
  OptionalTextSchema,
  RangeSchema,
  SlugSchema,
  SlugsSchema,
  TimezoneSchema,
  TitleSchema,
  when,
} from '../schema/scalars.ts';
import { SecretSchema, SecretsSchema } from '../schema/secret.ts';
import { isThemeVariable, THEME_VARIABLES } from '../views/frame/theme.ts';
import { CATALOGUES, hasWords } from '../views/words/index.ts';
import { CaSchema } from './output.ts';

export const ScheduleSchema = z
  .string()
  .regex(/^\s*(\S+\s+){4,5}\S+\s*$/, 'expected a cron expression of five fields, or six with seconds');
const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };
const PATH_EXPECTED = 'expected a path below the page that starts with /, such as /issues/2024-api/';
const PathSchema = z.string().refine(isPagePath, PATH_EXPECTED);
/** A duration in milliseconds, or `off`. */
const AfterSchema = z.union(
  [
    z.literal('off'),
    z
      .string()
      .regex(/^\d{1,4}\s*[smh]$/)
      .transform((text) => Number.parseInt(text, 10) * (UNIT_MS[text.slice(-1)] ?? 0)),
  ],
  'expected a duration such as 90s, 3m or 1h, or off',
);
const LimitSchema = z.int().positive().nullable().default(null);
const LimitsSchema = z.strictObject({
  perMinute: LimitSchema.describe('Maximum requests in any 60 seconds; null for no limit.'),
  perHour: LimitSchema.describe('Maximum requests in any 3,600 seconds; null for no limit.'),
});

const NamesSchema = z.record(LocaleSchema, TitleSchema).optional().describe('Its name in other languages: { de: … }.');

const GroupSchema = z.strictObject({
  id: IdSchema.describe('Components refer to it in group_id.'),
  name: TitleSchema.describe('Heading of the group.'),
  names: NamesSchema,
  order: z
    .number()
    .optional()
    .describe('Position among groups and ungrouped components. Default: the position of its first component.'),
  default_open: OptionalFlagSchema.describe(
    'Whether the group starts expanded. Default: true on pages with up to 25 components, where a group with a problem is always expanded; false on longer pages.',
  ),
  counts: OptionalFlagSchema.describe(
    'Whether its problems affect the state of the page. Default: true for your own components, false for those on a vendor’s page.',
  ),
});

const ComponentSchema = z
  .strictObject({
    id: IdSchema.optional().describe('Part of URLs. Default: derived from the monitor or the name.'),
    type: z.enum(['monitor', 'static']).default('monitor').describe('static shows a component without a monitor.'),
    monitor: z
      .string()
      .regex(/^[^/]+\/.+$/, 'expected <upstream id>/<external id>')
      .optional()
      .describe('<upstream id>/<external id>.'),
    name: z.string().max(256).optional().describe("Default: the monitor's name."),
    names: NamesSchema,
    description: z.string().max(1024).optional().describe('Text below the name.'),
    show_details: OffSchema.describe('Publish the monitor’s description and outage messages from the upstream.'),
    group_id: z.string().optional().describe('Id of its group.'),
    order: z.number().optional().describe('Position on the page. Default: as listed.'),
    group_order: z.number().optional().describe('Position inside its group.'),
  })
  .refine((component) => component.type === 'static' || component.monitor !== undefined, {
    path: ['monitor'],
    error: 'missing; a component of type monitor needs <upstream id>/<external id>',
  })
  .refine((component) => component.type === 'monitor' || component.name !== undefined, {
    path: ['name'],
    error: 'missing; a static component needs a name',
  })
  .meta(when({ type: { const: 'static' } }, { required: ['name'] }, { required: ['monitor'] }));

/** The look of a page, or of the site for all its pages. Paths are relative to the file. */
export const LOOK = {
  preset: z
    .enum(PRESETS)
    .optional()
    .describe('Look to start from: background and text colours, fonts, corners. paper is the default look.'),
  accent_color: HexColourSchema.optional().describe(
    'Colour of a line at the top, links, selected controls, charts and focus rings, as #rrggbb; made darker or lighter where it would be hard to read.',
  ),
  logo: z
    .union([z.string().min(1), z.strictObject({ light: z.string().min(1), dark: z.string().min(1) })])
    .optional()
    .describe(
      'SVG or PNG that replaces the icon and the title in the header; { light: …, dark: … } for one per theme.',
    ),
  stylesheet: OptionalTextSchema.describe(
    'Your own style sheet, added after the built-in one; up to 16 KiB, and it can’t load anything from other hosts.',
  ),
};

const ALLOW = {
  emails: z.array(z.email()).default([]).describe('Addresses, if the provider has verified them.'),
  domains: z
    .array(HostSchema.transform((domain) => domain.toLowerCase()))
    .default([])
    .describe('Email domains (exact match), of addresses that the provider has verified.'),
  groups: z.array(z.string().min(1)).default([]).describe('Groups, as the provider names them in the claim groups.'),
};
const NOBODY_ALLOWED = 'names nobody; list emails, domains or groups';
const namesAnybody = (allow: z.output<z.ZodObject<typeof ALLOW>>): boolean =>
  [allow.emails, allow.domains, allow.groups].some((list) => list.length > 0);

/** Who can sign in by an identity provider: everyone on one of the lists. */
export const AllowSchema = z
  .strictObject(ALLOW)
  .refine(namesAnybody, NOBODY_ALLOWED)
  .describe('Who is let in: whoever is on one of the lists.');
/** The same, for some pages only. */
export const AllowOnPagesSchema = z
  .strictObject({ ...ALLOW, pages: SlugsSchema.describe('Slugs of the pages.') })
  .refine(namesAnybody, NOBODY_ALLOWED);
const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

function isIssuer(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.search !== '' || url.hash !== '') return false;
  // Everyone with an account of the service could sign in.
  if (
    /^login\.microsoftonline\.com$/.test(url.hostname) &&
    /^\/(?:common|organizations|consumers)\b/.test(url.pathname)
  )
    return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.includes(url.hostname));
}

/** The registration of Pharos at an identity provider. */
export const OidcClientSchema = z.strictObject({
  issuer: z
    .string()
    .refine(
      isIssuer,
      'expected the https: address of an issuer (http: only on this machine); for Microsoft Entra, that of your own tenant',
    )
    .describe('Address of the provider; <issuer>/.well-known/openid-configuration must answer.'),
  client_id: z.string().min(1).describe('Id of Pharos at the provider.'),
  client_secret: SecretSchema.describe('Its secret: "${NAME}".'),
  scopes: z
    .array(z.string().regex(/^[!#-[\]-~]+$/, 'expected a scope without spaces'))
    .default(['openid', 'email', 'profile'])
    .refine((scopes) => scopes.includes('openid'), 'must include openid')
    .describe('What to ask for. Most providers need offline_access or a scope of their own for groups; docs/gates.md.'),
});

/** Languages with a catalogue of words, spelled as in addresses. */
export const LocalesSchema = z
  .array(
    LocaleSchema.refine(hasWords, {
      error: ({ input }) =>
        `no translation for ${String(input)}; use one of ${Object.keys(CATALOGUES).join(', ')}.${didYouMean(String(input), Object.keys(CATALOGUES))}`,
    }).transform((tag) => Intl.getCanonicalLocales(tag)[0] ?? tag),
  )
  .min(1)
  .refine((tags) => new Set(tags).size === tags.length, 'lists a language twice; leave out one of them');
export const LOCALE_TWICE = 'remove locale; the first of locales is the default language';

const VARIABLE_EXPECTED = `expected one of ${THEME_VARIABLES.join(', ')}, with a plain value (no url(), no ; { } or <)`;

export const PageSchema = z
  .strictObject({
    slug: SlugSchema.describe('Path of the page below the site.'),
    from: z
      .string()
      .regex(
        /^[A-Za-z0-9][\w-]{0,63}(\/[A-Za-z0-9][A-Za-z0-9-]{0,255})?$/,
        'expected an upstream id, or <upstream id>/<slug>',
      )
      .optional()
      .describe(
        'Upstream page to build on: svc, or svc/other-slug if the slugs differ. This page is never more public than that page, and is withheld while that page is missing.',
      ),
    title: TitleSchema.optional().describe('Heading. Default: the slug.'),
    description: z
      .string()
      .max(1024)
      .nullish()
      .describe(
        'Markdown below the heading, plain text in lists and feeds; null for none, even if the upstream has one.',
      ),
    translations: z
      .record(
        LocaleSchema,
        z.strictObject({
          title: TitleSchema.optional().describe('Heading in that language.'),
          description: z.string().max(1024).optional().describe('Text below the heading in that language.'),
        }),
      )
      .optional()
      .describe('Title and description in other languages: { de: { title: …, description: … } }.'),
    homepage_url: LinkSchema.nullish().describe('Your website, linked in the footer; null for none.'),
    contact_url: LinkSchema.nullish().describe('Link to report a problem, https: or mailto:; null for none.'),
    icon: HttpUrlSchema.nullish().describe(
      'URL of the icon (PNG, JPEG, GIF or SVG). If it is on another host, it is fetched once a day and served with the page; null for none.',
    ),
    custom_domain: HostSchema.nullable()
      .optional()
      .describe('Host name that serves this page at its root; null for none, even if the upstream has one.'),
    access_type: z
      .enum(['public', 'ip', 'password', 'email-domain', 'oidc'])
      .optional()
      .describe('Who can see the page. Default: set by password, auth_email_domains, oidc or allow_ips, else public.'),
    password: SecretSchema.optional().describe('Password for the page. Makes it private even without access_type.'),
    auth_email_domains: z
      .array(HostSchema)
      .min(1)
      .optional()
      .describe(
        'Email domains whose addresses can sign in (exact match). Makes the page private even without access_type.',
      ),
    oidc: z
      .strictObject({ allow: AllowSchema })
      .optional()
      .describe('Whom the identity provider of access.oidc lets in. Makes the page private even without access_type.'),
    allow_ips: z
      .array(RangeSchema)
      .min(1)
      .optional()
      .describe(
        'Addresses and ranges from which the page can be seen. Makes the page private even without access_type.',
      ),
    access: z
      .enum(['all', 'any'])
      .optional()
      .describe(
        'With allow_ips beside another way in. all (default): visitors need an allowed address and must sign in. any: one of them is enough.',
      ),
    published: OptionalFlagSchema.describe('false hides the page from everyone.'),
    theme: z.enum(THEMES).optional().describe('Colour scheme; system follows the visitor’s setting.'),
    groups: z.array(GroupSchema).optional().describe('Groups of components.'),
    components: z.array(ComponentSchema).optional().describe('Default: every monitor of every upstream.'),
    timezone: TimezoneSchema.optional().describe('Time zone of its days. Default: that of the site.'),
    locale: LocaleSchema.optional().describe('Language of the page, if it has one. Default: those of the site.'),
    locales: LocalesSchema.optional().describe(
      'Languages of the page, the default first; the others are at /<slug>/<language>/. Default: those of the site.',
    ),
    show_targets: OffSchema.describe('Publish the addresses that monitors check.'),
    blip_floor_seconds: z.number().min(0).default(60).describe('Outages shorter than this don’t colour a day.'),
    uptime_decimals: z.int().min(0).max(4).default(2).describe('Decimal places of uptime percentages.'),
    ...LOOK,
    css_variables: z
      .record(z.string(), z.string())
      .default({})
      .describe('CSS variables of the theme; see docs/theme.md.')
      .meta({ propertyNames: { enum: THEME_VARIABLES } }),
    allow_index: OptionalFlagSchema.describe(
      'false asks search engines not to index the page. Default: as in the upstream, else true.',
    ),
    show_uptime: OptionalFlagSchema.describe('false hides uptime percentages. Default: as in the upstream, else true.'),
    incidents: z
      .strictObject({
        after: AfterSchema.optional().describe(
          'Open an incident automatically after a monitor has been down this long: 90s, 3m (default), 1h, or off.',
        ),
      })
      .optional()
      .describe('Automatic incidents.'),
    incident_templates: z
      .array(
        z.strictObject({
          name: z.string().min(1).max(60).describe('Name shown to operators.'),
          title: TitleSchema.describe('Title of the incident or maintenance.'),
          body: z.string().max(10_000).default('').describe('First update, in Markdown.'),
          kind: z.enum(['incident', 'maintenance']).default('incident').describe('Form that it fills in.'),
          status: z.enum(INCIDENT_STATUSES).default('investigating').describe('Status that an incident begins with.'),
          components: z
            .record(z.string(), z.enum(['degraded_performance', 'partial_outage', 'major_outage', 'under_maintenance']))
            .default({})
            .describe('Component states by component id.'),
        }),
      )
      .optional()
      .describe('Templates for frequent incidents, offered by the form at /-/ops/write and the API.'),
    publish_private_history: OptionalFlagSchema.describe(
      'Whether the page, now public, shows posts written while it was private. Default: false.',
    ),
    subscriptions: OptionalFlagSchema.describe(
      'Whether visitors can subscribe to this page by email. Default: the value for all pages.',
    ),
    badge: BadgeOptionsSchema.optional().describe('Options for all badges of the page.'),
    badges: NamedBadgesSchema.default([]).describe('Custom badges in addition to the standard ones.'),
    redirects: z
      .record(z.string(), PathSchema)
      .optional()
      .meta({ propertyNames: { pattern: '^/' } })
      .describe(
        'Redirects from old paths below the page, such as /issues/2024-api/ to /incidents/posts-2024-api/ after an import. Existing files of the page take precedence.',
      ),
  })
  .superRefine((page, context) => {
    const fault = (path: (string | number)[], message: string): void =>
      context.addIssue({ code: 'custom', path, message });
    if (page.locale !== undefined && page.locales !== undefined) fault(['locale'], LOCALE_TWICE);
    for (const [name, value] of Object.entries(page.css_variables))
      if (!isThemeVariable(name, value)) fault(['css_variables', name], VARIABLE_EXPECTED);
    for (const path of Object.keys(page.redirects ?? {}))
      if (isOwnPath(path)) fault(['redirects', path], 'the server uses this address itself');
      else if (!isPagePath(path)) fault(['redirects', path], PATH_EXPECTED);
    const hasNo = (field: keyof typeof page): boolean => page[field] === undefined;
    if (page.access_type === 'password' && hasNo('password'))
      fault(['password'], 'missing; access_type password needs a password: "${NAME}"');
    if (page.access_type === 'email-domain' && hasNo('auth_email_domains') && hasNo('from'))
      fault(['auth_email_domains'], 'missing; access_type email-domain needs a list of domains');
    if (page.access_type === 'ip' && hasNo('allow_ips'))
      fault(['allow_ips'], 'missing; access_type ip needs addresses or ranges such as 192.0.2.0/24');
    if (page.access_type === 'oidc' && hasNo('oidc'))
      fault(['oidc'], 'missing; access_type oidc needs { allow: { emails: […], domains: […], groups: […] } }');
    if (!hasNo('access') && hasNo('allow_ips'))
      fault(['access'], 'says what allow_ips means beside another way in, and there is no allow_ips');
    const groups = new Set(page.groups?.map((group) => group.id));
    for (const [index, { group_id: id }] of (page.components ?? []).entries())
      if (id !== undefined && page.groups !== undefined && !groups.has(id))
        fault(['components', index, 'group_id'], `there is no group ${id} on this page.${didYouMean(id, groups)}`);
  })
  .meta({
    allOf: [
      when({ access_type: { const: 'password' } }, { required: ['password'] }),
      when(
        { access_type: { const: 'email-domain' } },
        { anyOf: [{ required: ['auth_email_domains'] }, { required: ['from'] }] },
      ),
      when({ access_type: { const: 'ip' } }, { required: ['allow_ips'] }),
      when({ access: {} }, { required: ['allow_ips'] }),
    ],
  });

/** A page of the configuration with its defaults, in snake_case as in the file. */
export type PageConfig = z.output<typeof PageSchema>;
export type IncidentTemplate = NonNullable<PageConfig['incident_templates']>[number];

const HookSchema = z.strictObject({
  header: HeaderNameSchema.default('x-webhook-secret').describe('Header that carries the secret.'),
  secrets: SecretsSchema.describe('One secret, or two during rotation.'),
});

/** Keys of every upstream besides `kind`. */
export const UPSTREAM_COMMON = {
  id: IdSchema.describe('Id of the upstream. Its monitors are <id>/<external id>.'),
  schedule: ScheduleSchema.optional().describe('Cron in UTC. Default: the top-level schedule.'),
  limits: LimitsSchema.optional().describe('Rate limits. Default: the documented limits of this kind.'),
  ca: CaSchema.optional().describe('Certificates (PEM) trusted instead of those of the system: "${file:./ca.pem}".'),
  hook: HookSchema.optional().describe('Webhook at /-/hooks/<id> that triggers a sync.'),
};

/** The parts of a connector that the configuration needs. */
export interface ConnectorOptions {
  readonly kind: string;
  /** The schema of everything except the common keys. */
  readonly optionsSchema: z.ZodType<unknown>;
  /** The option that is a path, relative to the configuration. */
  readonly fileOption?: string;
}

/** Passes the issues of an inner parse on. */
export function failed(error: z.ZodError, input: unknown, context: z.core.ParsePayload<unknown>): never {
  for (const issue of error.issues) context.issues.push({ ...issue, input } as (typeof context.issues)[number]);
  return z.NEVER;
}

/** An upstream of the configuration. `options` is the output of its connector's schema. */
export type UpstreamConfig = z.output<ReturnType<typeof upstreamSchema>>;

export function upstreamSchema(connectors: readonly ConnectorOptions[]) {
  const kinds = connectors.map((connector) => connector.kind);
  const HeadSchema = z.looseObject({
    kind: z.string().refine((kind) => kinds.includes(kind), {
      error: ({ input }) => `unknown kind.${didYouMean(String(input), kinds)} Expected one of ${kinds.join(', ')}`,
    }),
    ...UPSTREAM_COMMON,
  });
  // Null: the top-level schedule, the documented limits, the certificates of the system, and no webhook.
  return HeadSchema.transform((input, context) => {
    const { id, kind, schedule = null, limits = null, ca = null, hook = null, ...rest } = input;
    const connector = connectors.find((candidate) => candidate.kind === kind);
    if (connector === undefined) return z.NEVER;
    const options = connector.optionsSchema.safeParse(rest, {
      error: issueWords(['kind', ...Object.keys(UPSTREAM_COMMON)]),
    });
    return options.success
      ? { id, kind, schedule, limits, ca, hook, options: options.data }
      : failed(options.error, rest, context);
  });
}
