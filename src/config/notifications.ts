/**
 * Notification channels: who is notified of incidents and maintenance, and how. The settings of each kind are named as
 * in upstreams and Terraform, so that both can be parsed by the same schema.
 */

import { isIP } from 'node:net';
import { z } from 'zod';
import { HOST_NAME } from '../model/scalars.ts';
import { issueWords } from '../schema/issue-words.ts';
import { didYouMean } from '../schema/nearest.ts';
import { HeaderNameSchema, HttpUrlSchema, IdSchema, LocaleSchema, SlugsSchema } from '../schema/scalars.ts';
import { Secret, SecretSchema } from '../schema/secret.ts';
import { failed } from './schema.ts';

/** The URL of a webhook is a secret: anyone who knows it can post there. */
const WebhookUrlSchema = HttpUrlSchema.transform((url) => new Secret(url));
const PhoneNumberSchema = z
  .string()
  .regex(/^\+[1-9]\d{6,14}$/, 'expected a number in international format, such as +4930123456');
const MailboxSchema = z.email('expected an email address');
const HeaderValueSchema = z
  .string()
  .min(1)
  .max(4_096)
  .regex(/^[\t\x20-\x7e]*$/, 'expected printable ASCII on one line')
  .transform((value) => new Secret(value));
/** A map, or a list of `{ key, value }` as in Terraform. */
const HeadersSchema = z
  .union([
    z.record(HeaderNameSchema, HeaderValueSchema),
    z
      .array(z.strictObject({ key: HeaderNameSchema, value: HeaderValueSchema }))
      .transform((list) => Object.fromEntries(list.map(({ key, value }) => [key, value]))),
  ])
  .default({});
const SigningSecretSchema = SecretSchema.refine(
  (secret) => isSigningSecret(secret.reveal()),
  'expected whsec_ and 24 to 64 bytes in base64: echo "whsec_$(openssl rand -base64 32)"',
);
const SigningSecretsSchema = z.array(SigningSecretSchema).min(1).max(2);

const gateway = {
  phone_number: PhoneNumberSchema.describe('In international format: +4930123456.'),
  gateway: HttpUrlSchema.describe('URL of your gateway, which accepts { to, text, id } as JSON and sends the message.'),
  gateway_headers: HeadersSchema.describe('Headers of requests to the gateway, such as Authorization.'),
};
const chatWebhook = (what: string) => z.strictObject({ webhook_url: WebhookUrlSchema.describe(what) });

/** The settings of each kind, in addition to `id`, `kind` and the scope. */
export const CHANNEL_SETTINGS = {
  discord: chatWebhook('URL of the webhook: channel settings, Integrations, Webhooks.'),
  email: z.strictObject({
    email: z
      .union([MailboxSchema.transform((one) => [one]), z.array(MailboxSchema).min(1).max(20)])
      .describe('One recipient, or several. Sent through access.smtp.'),
  }),
  slack: chatWebhook('URL of the incoming webhook.'),
  pagerduty: z.strictObject({
    integration_key: SecretSchema.describe('Integration key of an Events API v2 integration.'),
    region: z.enum(['us', 'eu']).default('us').describe('Service region of the account.'),
  }),
  opsgenie: z.strictObject({
    api_key: SecretSchema.describe('Key of an API integration.'),
    region: z.enum(['us', 'eu']).default('us').describe('Region of the account.'),
    server_url: HttpUrlSchema.optional().describe(
      'Address of the API, if it is another one: https://api.atlassian.com/jsm/ops/integration after the move to Jira Service Management.',
    ),
  }),
  webhook: z.strictObject({
    endpoint: HttpUrlSchema.describe('URL that receives the JSON.'),
    headers: HeadersSchema.describe('Headers sent with each request.'),
    secrets: SigningSecretsSchema.describe('Secrets that sign requests; two during rotation.'),
  }),
  telegram: z.strictObject({
    chat_id: z
      .union([z.number(), z.string()])
      .transform(String)
      .refine((id) => /^(-?\d{1,20}|@\w{4,64})$/.test(id), 'expected a chat id such as -1001234567890, or @channel')
      .describe('Chat, group or @channel that the bot is a member of.'),
    bot_token: SecretSchema.refine(
      (token) => /^\d{3,20}:[\w-]{10,100}$/.test(token.reveal()),
      'expected the token that @BotFather gave you, such as 123456:ABC-DEF',
    ).describe('Token of your bot.'),
  }),
  sms: z.strictObject(gateway),
  whatsapp: z.strictObject(gateway),
  google_chat: chatWebhook('URL of a space’s webhook.'),
  grafana_oncall: chatWebhook('URL of a Formatted Webhook integration.'),
  ntfy: z.strictObject({
    topic: z
      .string()
      .regex(/^[-\w]{1,64}$/, 'expected at most 64 letters, digits, - and _')
      .describe('Name of the topic. Anyone who knows it can read it.'),
    server_url: HttpUrlSchema.default('https://ntfy.sh').describe('Address of the server.'),
    token: SecretSchema.optional().describe('Access token of the server.'),
  }),
  ms_teams: chatWebhook('URL of a workflow “When a Teams webhook request is received”.'),
} as const;

export type ChannelKindName = keyof typeof CHANNEL_SETTINGS;
export type ChannelSettings<K extends ChannelKindName> = z.output<(typeof CHANNEL_SETTINGS)[K]>;
export const CHANNEL_KINDS = Object.keys(CHANNEL_SETTINGS) as readonly ChannelKindName[];

/** Settings that contain the URL of a request. */
const ADDRESS_SETTINGS = ['webhook_url', 'endpoint', 'gateway', 'server_url'] as const;

const ties = {
  pages: SlugsSchema.optional().describe('Slugs of its pages. Default: all.'),
  components: z
    .array(z.string().regex(/^[A-Za-z0-9-]+\/[^/]+$/, 'expected <page slug>/<component id>'))
    .min(1)
    .optional()
    .describe('Only these components, as <page slug>/<component id>. Default: all on its pages.'),
  monitors: z
    .array(z.string().regex(/^[^/]+\/.+$/, 'expected <upstream id>/<external id>'))
    .min(1)
    .optional()
    .describe('Only the components of these monitors, as <upstream id>/<external id>. Adds to components.'),
  locale: LocaleSchema.optional().describe('Language of its messages. Default: the page’s.'),
  allow_private_hosts: z
    .array(z.string().refine(isHost, 'expected a host name or an IP address').toLowerCase())
    .default([])
    .describe('Hosts that are allowed despite a private address or without TLS.'),
};
const head = { id: IdSchema.describe('Identifies it in messages, metrics and `pharos notify test`.'), ...ties };

/** Keys of every entry, whatever its kind. */
export const ChannelHeadSchema = z.strictObject(head);

/** All channels that an upstream lists. */
export const ChannelSourceSchema = z.strictObject({
  ...head,
  from: IdSchema.describe('Upstream whose notification channels to use.'),
  bot_token: CHANNEL_SETTINGS.telegram.shape.bot_token.optional().describe('For its Telegram channels.'),
  gateway: gateway.gateway.optional().describe('For its SMS and WhatsApp channels.'),
  gateway_headers: gateway.gateway_headers,
  secrets: SigningSecretsSchema.optional().describe('For its webhooks, which are off without them.'),
});
export type ChannelSource = z.output<typeof ChannelSourceSchema>;

/** The scope of a channel. Default: everything. */
export type ChannelTies = z.output<z.ZodObject<typeof head>>;

/** One channel, whatever its kind; `id` is unique among all. */
export type Channel = {
  readonly [K in ChannelKindName]: ChannelTies & { readonly kind: K; readonly settings: ChannelSettings<K> };
}[ChannelKindName];

type NotificationEntry = Channel | ChannelSource;

export function isChannel(entry: NotificationEntry): entry is Channel {
  return 'kind' in entry;
}

/** An entry of `notifications`: `kind` with its settings, or `from`. */
export const NotificationSchema: z.ZodType<NotificationEntry> = z.looseObject({}).transform((input, context) => {
  const { kind } = input;
  if ('from' in input && kind === undefined) {
    const source = ChannelSourceSchema.safeParse(input, { error: issueWords() });
    return source.success ? source.data : failed(source.error, input, context);
  }
  const settings = typeof kind === 'string' ? channelSettings(kind) : null;
  if (settings === null) {
    const guess = typeof kind === 'string' ? didYouMean(kind, CHANNEL_KINDS) : '';
    const found = kind === undefined ? 'expected a kind, or from.' : `unknown kind.${guess}`;
    const message = `${found} Expected one of ${CHANNEL_KINDS.join(', ')}`;
    context.addIssue({ code: 'custom', path: ['kind'], message });
    return z.NEVER;
  }
  const ChannelSchema = z.strictObject({ ...head, kind: z.string(), ...settings.shape });
  const channel = ChannelSchema.safeParse(input, { error: issueWords() });
  if (!channel.success) return failed(channel.error, input, context);
  const { id, pages, components, monitors, locale, allow_private_hosts, kind: _, ...own } = channel.data;
  for (const [path, message] of openAddresses(own, allow_private_hosts))
    context.addIssue({ code: 'custom', path: [path], message });
  return { id, pages, components, monitors, locale, allow_private_hosts, kind, settings: own } as Channel;
});

/** References to things that the rest of the file doesn't define, by their path below `notifications`. */
export function notificationFaults(
  entries: readonly (NotificationEntry | undefined)[],
  upstreams: ReadonlySet<string>,
  hasMailServer: boolean,
): readonly { readonly path: readonly (string | number)[]; readonly message: string }[] {
  return entries.flatMap((entry, index) => {
    if (entry === undefined) return [];
    const unknown = (key: string, id: string) =>
      upstreams.has(id)
        ? []
        : [{ path: [index, key], message: `there is no upstream ${id}.${didYouMean(id, upstreams)}` }];
    const faults = (entry.monitors ?? []).flatMap((monitor) => unknown('monitors', monitor.split('/')[0] ?? ''));
    if (!isChannel(entry)) return [...faults, ...unknown('from', entry.from)];
    if (entry.kind !== 'email' || hasMailServer) return faults;
    const message = 'an email channel needs a mail server: set access.smtp and access.from';
    return [...faults, { path: [index, 'kind'], message }];
  });
}

/** The settings of a kind; null if there is no such kind. */
export function channelSettings(kind: string): (typeof CHANNEL_SETTINGS)[ChannelKindName] | null {
  return Object.hasOwn(CHANNEL_SETTINGS, kind) ? CHANNEL_SETTINGS[kind as ChannelKindName] : null;
}

/** Settings with addresses that aren't https, each with the remedy. */
export function openAddresses(settings: Readonly<Record<string, unknown>>, allowed: readonly string[]) {
  return ADDRESS_SETTINGS.flatMap((name) => {
    const value = settings[name];
    const url = URL.parse(value instanceof Secret ? value.reveal() : String(value ?? ''));
    if (url === null || url.protocol === 'https:' || allowed.includes(hostOf(url))) return [];
    return [[name, `expected an https address; to send without TLS, add its host to allow_private_hosts`] as const];
  });
}

function isHost(text: string): boolean {
  return HOST_NAME.test(text) || isIP(text) !== 0;
}

/** The host of an address as written in `allow_private_hosts`: IPv6 without brackets. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

function isSigningSecret(text: string): boolean {
  const [, encoded = ''] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? [];
  const bytes = Buffer.from(encoded, 'base64').length;
  return bytes >= 24 && bytes <= 64;
}
