/** The schema of pharos.yaml. */

import emailAddresses from 'email-addresses';
import { z } from 'zod';
import { PayrollOptionsSchema } from '../exports/options.ts';
import {
  HttpUrlSchema,
  IdSchema,
  LinkSchema,
  LocaleSchema,
  OffSchema,
  OptionalTextSchema,
  SlugsSchema,
  TimezoneSchema,
  TitleSchema,
} from '../schema/scalars.ts';
import { Secret, SecretSchema, TOKEN_LENGTH_MIN } from '../schema/secret.ts';
import { HostPortSchema, PlaceSchema } from '../sync/connectors/check.ts';
import { IntakeSchema } from './intake.ts';
import { NotificationSchema } from './notifications.ts';
import { OutputSchema, ReleasesSchema } from './output.ts';
import {
  AllowOnPagesSchema,
  AllowSchema,
  type ConnectorOptions,
  LOCALE_TWICE,
  LOOK,
  LocalesSchema,
  OidcClientSchema,
  PageSchema,
  ScheduleSchema,
  upstreamSchema,
} from './schema.ts';

/** The address of a Postgres database. It contains a password, so it becomes a secret right away. */
const StoreUrlSchema = z
  .string()
  .refine(
    (text) => /^postgres(ql)?:$/.test(URL.parse(text)?.protocol ?? ''),
    'expected postgres://user:password@host:5432/database',
  )
  .transform((url) => new Secret(url));

/** Roles of operators. */
const ROLES = ['admin', 'writer', 'reader'] as const;

const SecuritySchema = z.strictObject({
  contact: z
    .array(LinkSchema)
    .min(1)
    .describe('Where to report vulnerabilities, in order of preference: mailto: or https:// addresses.'),
  expires: z
    .union([z.iso.date(), z.iso.datetime({ offset: true })], 'expected a date such as 2027-06-30, or a date and time')
    .transform((text) => new Date(text).toISOString())
    .describe('When the file expires; less than a year ahead is recommended.'),
  policy: LinkSchema.optional().describe('URL of your disclosure policy.'),
  encryption: LinkSchema.optional().describe('URL of a key for encrypting reports.'),
});

const SiteSchema = z
  .strictObject({
    url: HttpUrlSchema.describe('Public URL of the site; may include a path. All absolute links use it.'),
    name: TitleSchema.default('Status').describe('Site name, shown in titles and on the index of pages.'),
    home: z
      .string()
      .optional()
      .describe('Slug of the page shown at /. Default: the only page, or an index of public pages.'),
    timezone: TimezoneSchema.default('UTC').describe('IANA time zone for days and times.'),
    locale: LocaleSchema.optional().describe('Language of the site and its pages: en, de, pt-BR … Default: en.'),
    locales: LocalesSchema.optional().describe(
      'Languages of all pages, the default first: [en, de]. The others are at /<slug>/<language>/; docs/languages.md.',
    ),
    security: SecuritySchema.optional().describe('Publishes /.well-known/security.txt (RFC 9116). Default: none.'),
    ...LOOK,
    public: OptionalTextSchema.describe('Folder of files to serve as they are at the root of the site; docs/theme.md.'),
    components: OptionalTextSchema.describe(
      'Folder of .astro files that replace parts of the pages; docs/components.md.',
    ),
  })
  .refine(({ locale, locales }) => locale === undefined || locales === undefined, {
    path: ['locale'],
    error: LOCALE_TWICE,
  })
  .transform(({ locale = 'en', locales = [locale], ...site }) => ({ ...site, locale: locales[0] ?? locale, locales }));

const ServerSchema = z
  .strictObject({
    host: z.string().default('127.0.0.1').describe('Address to listen on; 0.0.0.0 or :: for all interfaces.'),
    port: z.int().min(0).max(65535).default(4321).describe('Port to listen on; 0 picks a free one.'),
    trustedProxyHops: z
      .int()
      .min(0)
      .max(8)
      .default(0)
      .describe('Number of proxies in front that add to X-Forwarded-For.'),
    accessLog: z
      .enum(['off', 'common', 'json'])
      .default('off')
      .describe('Access log on standard output: Common Log Format, or JSON; docs/operating.md.'),
    drainSeconds: z
      .number()
      .min(0)
      .max(300)
      .default(0)
      .describe('How long to keep serving after SIGTERM while /-/ready answers 503; docs/operating.md.'),
  })
  .prefault({});

const MAIL_SERVER_EXPECTED =
  'expected smtp:// or smtps:// with a host, such as smtp://user:password@mail.example.com:587';
const ADDRESS_EXPECTED = 'expected an email address, such as status@example.com or Status <status@example.com>';

function isMailServer(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && ['smtp:', 'smtps:'].includes(url.protocol) && url.hostname !== '';
}

const AccessSchema = z
  .strictObject({
    smtp: SecretSchema.refine((url) => isMailServer(url.reveal()), MAIL_SERVER_EXPECTED)
      .optional()
      .describe('smtp:// or smtps:// URL with user and password.'),
    from: z
      .string()
      .refine((text) => emailAddresses.parseOneAddress(text) !== null, ADDRESS_EXPECTED)
      .optional()
      .describe('Sender of emails, `status@example.com` or `Name <status@example.com>`.'),
    oidc: OidcClientSchema.optional().describe(
      'Identity provider that visitors sign in by. It sends them back to <site.url>/-/oidc/callback; docs/gates.md.',
    ),
    sessionHours: z
      .number()
      .positive()
      .max(168)
      .default(12)
      .describe('Hours without use after which a session ends. Every session ends after seven days.'),
    key: SecretSchema.optional()
      .refine((key) => key === undefined || key.reveal().length >= 32, 'expected at least 32 characters')
      .describe(
        'Key for hashing addresses when counting sign-in attempts and for encrypting subscribers’ addresses. Keep it safe, and use the same key on all nodes. Default: generated in data/secret.key.',
      ),
  })
  .prefault({});

const ChecksSchema = z
  .strictObject({
    place: PlaceSchema.optional().describe(
      'Name of the place that this node checks from, such as fra; `regions` of checks name it. Default: none, and all checks are made here.',
    ),
    reference: HostPortSchema.optional().describe(
      'host:port that can always be reached from here. While it can’t, checks that fail are unknown, not down. Default: the other targets of the checks tell.',
    ),
    resolver: z
      .array(
        z
          .string()
          .regex(
            /^(\d{1,3}(\.\d{1,3}){3}(:\d{1,5})?|[0-9a-f:]*:[0-9a-f:]+|\[[0-9a-f:]+\]:\d{1,5})$/i,
            'expected an address, such as 9.9.9.9 or 127.0.0.1:5353',
          ),
      )
      .max(3)
      .default([])
      .describe('Addresses of the name servers that checks ask. Default: those of the system.'),
  })
  .prefault({});

const OperatorsSchema = z
  .strictObject({
    token: SecretSchema.optional().describe(
      'Token of the operator, who may do everything: rebuild, metrics, API and /-/ops. Works also while an identity provider is down.',
    ),
    oidc: OidcClientSchema.optional().describe(
      'Identity provider that operators sign in by at /-/ops; roles says what they may do. docs/operating.md.',
    ),
    roles: z
      .strictObject({
        admin: AllowSchema.optional().describe('Who may do everything.'),
        writer: z
          .union([AllowOnPagesSchema, z.array(AllowOnPagesSchema)])
          .transform((writers) => [writers].flat())
          .optional()
          .describe('Who declares incidents on which pages, and sees nothing else; one entry or a list.'),
        reader: AllowSchema.optional().describe('Who sees /-/ops and the metrics, and changes nothing.'),
      })
      .prefault({})
      .describe('Who may do what, of those who sign in by operators.oidc.'),
    tokens: z
      .array(
        z.strictObject({
          name: IdSchema.describe('Name in the audit and in the history of incidents.'),
          token: SecretSchema.describe('The token: "${NAME}", at least 22 characters.').refine(
            (token) => token.reveal().length >= TOKEN_LENGTH_MIN,
            `expected at least ${TOKEN_LENGTH_MIN} characters: openssl rand -base64 32`,
          ),
          role: z.enum(ROLES).describe('What whoever has it may do.'),
          pages: SlugsSchema.optional().describe('Slugs of the pages that a writer writes on.'),
        }),
      )
      .default([])
      .describe('More tokens, each for one person or program.'),
  })
  .prefault({});

const toFolder = (url: string): string => (url.endsWith('/') ? url : `${url}/`);

const TransparencySchema = z
  .strictObject({
    key: SecretSchema.optional().describe(
      'Ed25519 private key (PEM) that signs the logs of pages, such as ${file:log.pem}; docs/verify.md. Default: one that Pharos makes and keeps in its database.',
    ),
    witness: z
      .array(
        z.strictObject({
          url: HttpUrlSchema.transform(toFolder).describe('Address of a page that Pharos publishes.'),
          compare: z
            .record(z.string(), z.string())
            .default({})
            .describe('Its component ids, and your monitors (`upstream/id`) of the same targets. Default: none.'),
        }),
      )
      .default([])
      .describe('Pages of other sites to verify every five minutes; docs/verify.md.'),
    witnesses: z
      .array(HttpUrlSchema.transform(toFolder))
      .default([])
      .describe('Sites that watch your pages; pages show what they say.'),
    previousKey: SecretSchema.optional().describe('The key before, to sign the change to `key`. Default: none.'),
  })
  .prefault({});

/** Validates each value on its own; `rules.ts` checks how they fit together. */
export function createFileSchema(connectors: readonly ConnectorOptions[]) {
  return z.strictObject({
    site: SiteSchema,
    server: ServerSchema,
    data: z.string().default('./data').describe('Data folder: the database and published files.'),
    store: z
      .strictObject({
        url: StoreUrlSchema.describe(
          'postgres://user:password@host:5432/database, to run several nodes (docs/postgres.md). Default: SQLite in the data folder.',
        ),
      })
      .optional(),
    schedule: ScheduleSchema.default('* * * * *').describe('When to sync upstreams, as cron in UTC.'),
    retentionDays: z.int().min(91).default(400).describe('Days of history to keep and show.'),
    upstreams: z.array(upstreamSchema(connectors)).default([]),
    checks: ChecksSchema,
    exports: z.array(PayrollOptionsSchema).default([]).describe('Data to send to other systems. Default: none.'),
    pages: z.array(PageSchema).default([]).describe('Default: one public page with every monitor.'),
    subscriptions: OffSchema.describe(
      'Whether visitors can subscribe to pages by email; needs access.smtp and access.from.',
    ),
    notifications: z
      .array(NotificationSchema)
      .default([])
      .describe('Channels to notify of incidents and maintenance; docs/notifications.md has every kind.'),
    intake: z
      .array(IntakeSchema)
      .default([])
      .describe('Webhooks from alerting systems that open and resolve incidents; docs/declaring.md.'),
    output: OutputSchema,
    releases: ReleasesSchema,
    access: AccessSchema,
    transparency: TransparencySchema,
    operators: OperatorsSchema,
  });
}

/** The configuration as in the file, before paths are resolved. */
export type ConfigFile = z.output<ReturnType<typeof createFileSchema>>;
