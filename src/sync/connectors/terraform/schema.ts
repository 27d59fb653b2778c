/** Field rules of the resources and lookups, as the tables of the uptime service's document have them. */

import { z } from 'zod';
import { issueWords } from '../../../schema/issue-words.ts';
import { CHECK_FIELDS, COMPARATORS, PERIODS, RECORDS } from '../check.ts';
import { FlagSchema, NumberSchema } from '../wire.ts';

/** The words a notification can be sent by, each with the fields of its block. */
const HeadersSchema = z.array(z.looseObject({ key: z.string(), value: z.string() }));
const PROVIDER_BLOCKS = {
  discord: { webhook_url: z.string() },
  email: { email: z.string() },
  slack: { webhook_url: z.string() },
  pagerduty: { integration_key: z.string() },
  opsgenie: { api_key: z.string(), region: z.enum(['us', 'eu']) },
  webhook: { endpoint: z.string(), headers: HeadersSchema.optional() },
  telegram: { chat_id: z.string() },
  sms: { phone_number: z.string() },
  whatsapp: { phone_number: z.string() },
  google_chat: { webhook_url: z.string() },
  grafana_oncall: { webhook_url: z.string() },
  ntfy: { topic: z.string(), server_url: z.string().optional(), token: z.string().optional() },
  // Not in the document; the provider of openstatus has it.
  ms_teams: { webhook_url: z.string() },
} as const;
const PROVIDERS = Object.keys(PROVIDER_BLOCKS) as (keyof typeof PROVIDER_BLOCKS)[];

const REGIONS = new Set(
  [
    ...'ams arn bom cdg dfw ewr fra gru iad jnb lax lhr nrt ord sjc sin syd yyz'.split(' ').map((id) => `fly-${id}`),
    ...'fra par sfo sin tyo was'.split(' ').map((id) => `koyeb-${id}`),
    ...'us-west2 us-east4 europe-west4 asia-southeast1'.split(' ').map((id) => `railway-${id}`),
  ].flatMap((id) => (id.startsWith('fly-') ? [id, id.slice('fly-'.length)] : [id])),
);

const idField = z.string().min(1);
const nameField = z.string().max(256);
const descriptionField = z.string().max(1_024).optional();
const orderField = NumberSchema.optional();
const stringComparator = z.enum(COMPARATORS);

/** Fields whose words are a closed set and bear on what is shown. */
export const WORDS = {
  status: ['active', 'degraded', 'error', 'unknown'],
  periodicity: PERIODS,
  record: RECORDS,
  access_type: ['public', 'password', 'email-domain', 'ip', 'ip-restriction'],
  theme: ['system', 'light', 'dark'],
  type: ['monitor', 'static'],
} as const;

/** Fields with the rules of checks, whose defaults don't matter here. */
const { periodicity, timeout, degraded_at: degradedAt, retry, active, public: isPublic } = CHECK_FIELDS.tcp;
const { method, follow_redirects: followRedirects, status_code_assertions: statusAssertions } = CHECK_FIELDS.http;

const monitorFields = {
  id: idField.optional(),
  name: nameField,
  periodicity,
  timeout,
  degraded_at: degradedAt,
  retry,
  active,
  public: isPublic,
  description: descriptionField,
  regions: z
    .array(z.string().refine((region) => REGIONS.has(region), { error: 'unknown region', params: { isWord: true } }))
    .optional(),
  status: z.enum(WORDS.status).optional(),
};

const assertions = <Shape extends z.ZodRawShape>(shape: Shape) => z.array(z.looseObject(shape)).max(10).optional();

const HttpMonitorSchema = z.looseObject({
  ...monitorFields,
  url: z.string().max(2_048),
  method,
  body: z.string().optional(),
  follow_redirects: followRedirects,
  headers: HeadersSchema.max(20).optional(),
  status_code_assertions: statusAssertions,
  body_assertions: assertions({ target: z.string(), comparator: stringComparator }),
  header_assertions: assertions({ key: z.string(), target: z.string(), comparator: stringComparator }),
});

const TcpMonitorSchema = z.looseObject({
  ...monitorFields,
  uri: z
    .string()
    .max(2_048)
    .regex(/^(\[[0-9a-f:.]+\]|[^\s:]+):\d{1,5}$/i, 'expected host:port'),
});

/** A host or an address to ping. */
const IcmpMonitorSchema = z.looseObject({ ...monitorFields, uri: z.string().max(2_048) });

/** The provider's first resource type, from before there were kinds of monitors. */
const LegacyMonitorSchema = z.looseObject({
  id: z.union([idField, z.number()]).optional(),
  name: nameField,
  url: z.string().max(2_048),
  periodicity,
  active,
  public: isPublic,
  description: descriptionField,
});

const PrivateLocationSchema = z.looseObject({
  id: idField.optional(),
  name: z.string(),
  monitor_ids: z.array(z.string()).optional(),
});

const DnsMonitorSchema = z.looseObject({
  ...monitorFields,
  uri: z.string().max(2_048),
  record_assertions: CHECK_FIELDS.dns.record_assertions,
});

/** A block is a list of one in states, and may be an object. */
export const singleBlock = (value: unknown): unknown => (Array.isArray(value) && value.length === 1 ? value[0] : value);
const isBlock = (value: unknown): boolean => value !== undefined && !(Array.isArray(value) && value.length === 0);

const NotificationSchema = z
  .looseObject({
    id: idField.optional(),
    name: z.string().optional(),
    provider_type: z.enum(PROVIDERS),
    monitor_ids: z.array(z.string()).optional(),
  })
  .superRefine((notification, context) => {
    const blocks = PROVIDERS.filter((provider) => isBlock(notification[provider]));
    const { provider_type: provider } = notification;
    if (blocks.length !== 1 || blocks[0] !== provider)
      context.addIssue({
        code: 'custom',
        path: [provider],
        message: `expected exactly one provider block, ${provider}; found ${blocks.join(', ') || 'none'}`,
      });
    if (!blocks.includes(provider)) return;
    const block = z
      .looseObject(PROVIDER_BLOCKS[provider])
      .safeParse(singleBlock(notification[provider]), { error: issueWords() });
    for (const issue of block.error?.issues ?? [])
      context.addIssue({ code: 'custom', path: [provider, ...issue.path], message: issue.message });
  });

const StatusPageSchema = z.looseObject({
  id: idField.optional(),
  title: z.string().min(1).max(256),
  slug: z.string().min(1).max(256),
  description: descriptionField,
  homepage_url: z.string().optional(),
  contact_url: z.string().optional(),
  icon: z.string().optional(),
  custom_domain: z.string().optional(),
  access_type: z.enum(WORDS.access_type).optional(),
  password: z.string().optional(),
  auth_email_domains: z.array(z.string()).optional(),
  allowed_ip_ranges: z.string().optional(),
  allow_index: FlagSchema.optional(),
  default_locale: z.string().optional(),
  locales: z.array(z.string()).optional(),
  custom_theme: z.unknown().optional(),
  published: FlagSchema.optional(),
  theme: z.enum(WORDS.theme).optional(),
});

const ComponentSchema = z.looseObject({
  id: idField.optional(),
  page_id: z.string(),
  type: z.enum(WORDS.type),
  monitor_id: z.string().optional(),
  name: nameField.optional(),
  description: descriptionField,
  order: orderField,
  group_id: z.string().optional(),
  group_order: orderField,
});

const GroupSchema = z.looseObject({
  id: idField.optional(),
  page_id: z.string(),
  name: z.string().min(1).max(256),
  default_open: FlagSchema.optional(),
});

const byId = z.looseObject({ id: idField });
const listing = z.looseObject({
  limit: NumberSchema.pipe(z.int().min(1).max(100)).optional(),
  offset: NumberSchema.pipe(z.int().min(0)).optional(),
});

/** Rules of managed resources by their type without its brand. */
export const RESOURCE_RULES = {
  http_monitor: HttpMonitorSchema,
  tcp_monitor: TcpMonitorSchema,
  dns_monitor: DnsMonitorSchema,
  icmp_monitor: IcmpMonitorSchema,
  monitor: LegacyMonitorSchema,
  private_location: PrivateLocationSchema,
  notification: NotificationSchema,
  status_page: StatusPageSchema,
  status_page_component: ComponentSchema,
  status_page_component_group: GroupSchema,
} as const satisfies Record<string, z.ZodType>;

/** Rules of lookups (data sources). */
export const LOOKUP_RULES = {
  monitor: byId,
  monitors: listing,
  notification: byId,
  private_location: byId,
  private_locations: listing,
  status_page: byId,
} as const satisfies Record<string, z.ZodType>;

/** One rule: `field` must be there when `when` holds the word. `gate`: it decides who may see a page. */
export const CONDITIONAL_RULES = [
  { type: 'status_page', when: 'access_type', word: 'password', field: 'password', kind: 'gate' },
  { type: 'status_page', when: 'access_type', word: 'email-domain', field: 'auth_email_domains', kind: 'gate' },
  { type: 'status_page', when: 'access_type', word: 'ip', field: 'allowed_ip_ranges', kind: 'gate' },
  { type: 'status_page_component', when: 'type', word: 'monitor', field: 'monitor_id', kind: 'dropped' },
] as const;

/** Fields of a status page that decide who may see it: anything in them that cannot be understood closes the page. */
export const GATE_FIELDS: ReadonlySet<string> = new Set([
  'slug',
  'access_type',
  'password',
  'auth_email_domains',
  'allowed_ip_ranges',
  'published',
]);
