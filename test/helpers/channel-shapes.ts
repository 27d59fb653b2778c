/// <reference types="@maxim_mazurok/gapi.client.chat-v1" />
/**
 * What each program documents that it takes, and what it answers: the checks of a server that refuses everything else. The
 * compiler compares the schemas with the types that Slack publishes, and with those that are generated from the documents of
 * Discord, of Telegram's Bot API and of Google Chat; where there is an OpenAPI document only, its facts are a type here.
 */

import { createHmac, timingSafeEqual } from 'node:crypto';
import type { ApiMethods } from '@grammyjs/types';
import type { KnownBlock } from '@slack/types';
import type { RESTPostAPIWebhookWithTokenJSONBody } from 'discord-api-types/v10';
import MarkdownIt from 'markdown-it';
import { z } from 'zod';
import type { HttpKindName } from '../../src/notify/deliver.ts';

export interface SeenRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** Names in small letters. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

export interface Program {
  readonly faults: (request: SeenRequest) => readonly string[];
  /** Its documented answer to what it takes. */
  readonly answer: { readonly status: number; readonly body: string };
}

type KeyOf<Type> = Type extends Type ? keyof Type : never;
type ValueOf<Type, Key> = Type extends Type ? (Key extends keyof Type ? NonNullable<Type[Key]> : never) : never;
type PartOf<Type> = Type extends readonly (infer Part)[] ? Part : never;
/** Names in ours that are not in theirs, at any depth. */
type UnknownIn<Ours, Theirs> = Ours extends readonly (infer Part)[]
  ? UnknownIn<Part, PartOf<Theirs>>
  : Ours extends object
    ? string extends keyof Ours
      ? never
      : {
          [Key in keyof Ours & string]: Key extends KeyOf<Theirs> ? UnknownIn<Ours[Key], ValueOf<Theirs, Key>> : Key;
        }[keyof Ours & string]
    : never;

/** A schema of what `Theirs` allows: a wrong name in it, or a wrong type, is a fault that the compiler finds. */
function documentedBy<Theirs>() {
  return <Schema extends z.ZodType<Theirs>>(
    schema: Schema,
    ..._wrong: [UnknownIn<z.output<Schema>, Theirs>] extends [never] ? [] : [UnknownIn<z.output<Schema>, Theirs>]
  ): Schema => schema;
}

const SITE = 'https://status.example.com/';
/** Only addresses of the site stand where an address is meant. */
const OurUrl = z.string().refine((url) => url.startsWith(SITE), 'an address that is not ours');
const text = (max: number) => z.string().min(1).max(max);

/** Every `<` and `>` belongs to a tag that the format has; returns what is left. */
function htmlFaults(html: string, tags: RegExp): string[] {
  const rest = html.replace(tags, '');
  const bare = rest.match(/[<>]|&(?!amp;|lt;|gt;|quot;|#39;)/g) ?? [];
  return bare.map((found) => `${found} in ${JSON.stringify(rest.slice(0, 80))}`);
}

/** Characters after entities are read. */
function lengthOfHtml(html: string): number {
  return html.replace(/<[^>]*>/g, '').replace(/&(?:amp|lt|gt|quot|#39);/g, '.').length;
}

const EscapedMrkdwn = (max: number) =>
  text(max).refine((value) => !/[<>]|&(?!amp;|lt;|gt;)/.test(value), 'a control character of mrkdwn');
/** What the document of incoming webhooks adds to the blocks. */
interface SlackMessage {
  readonly text: string;
  readonly blocks: KnownBlock[];
  readonly unfurl_links?: boolean;
  readonly unfurl_media?: boolean;
}
const SlackPlain = (max: number) =>
  z.strictObject({ type: z.literal('plain_text'), text: EscapedMrkdwn(max), emoji: z.literal(false) });
const SlackSchema = documentedBy<SlackMessage>()(
  z.strictObject({
    text: EscapedMrkdwn(4_000),
    blocks: z
      .array(
        z.discriminatedUnion('type', [
          z.strictObject({ type: z.literal('header'), text: SlackPlain(150) }),
          z.strictObject({ type: z.literal('section'), text: SlackPlain(3_000) }),
          z.strictObject({
            type: z.literal('context'),
            elements: z
              .array(
                z.union([
                  SlackPlain(3_000),
                  z.strictObject({
                    type: z.literal('mrkdwn'),
                    verbatim: z.literal(true),
                    text: text(3_000).regex(/^(<https:\/\/status\.example\.com\/[^\s<>|]*\|[^<>]*>|[^<>]*)$/),
                  }),
                ]),
              )
              .min(1)
              .max(10),
          }),
        ]),
      )
      .min(1)
      .max(50),
    unfurl_links: z.literal(false),
    unfurl_media: z.literal(false),
  }),
);

/**
 * Reads text as Discord does: an address goes up to a space or `<`, a backslash takes the meaning of the punctuation after
 * it. Null: something else in it has a meaning.
 */
export function readDiscord(wire: string): { readonly text: string; readonly links: readonly string[] } | null {
  const links: string[] = [];
  let read = '';
  for (let rest = wire; rest !== ''; ) {
    const link = /^https?:\/\/[^\s<]+[^<.,:; "'\]\s]/.exec(rest)?.[0];
    const escaped = /^\\[^0-9A-Za-z\s]/u.exec(rest)?.[0];
    if (link !== undefined) links.push(link);
    else if (escaped === undefined && /^[\\*_~`|[<@]|^[#>+-]/.test(rest)) return null;
    else if (/(^|\n) *$/.test(read) && /^\d+\. /.test(rest)) return null;
    const taken = link ?? escaped ?? [...rest][0] ?? '';
    read += escaped === undefined ? taken : escaped.slice(1);
    rest = rest.slice(taken.length);
  }
  return { text: read, links };
}

const DiscordText = (max: number) =>
  text(max).refine((value) => readDiscord(value)?.links.every((link) => !link.endsWith('\\')), 'Markdown of Discord');
const DiscordSchema = documentedBy<RESTPostAPIWebhookWithTokenJSONBody>()(
  z.strictObject({
    allowed_mentions: z.strictObject({ parse: z.array(z.never()) }),
    embeds: z
      .array(
        z
          .strictObject({
            title: DiscordText(256),
            description: DiscordText(4_096).exactOptional(),
            url: OurUrl.exactOptional(),
            footer: z.strictObject({ text: text(2_048) }),
            timestamp: z.iso.datetime(),
          })
          .refine(
            ({ title, description = '', footer }) => title.length + description.length + footer.text.length <= 6_000,
            'more than 6,000 characters',
          ),
      )
      .length(1),
  }),
);

/** Of the OpenAPI document of the Events API: PagerDuty/api-schema 5cd58ff, `reference/events-v2/openapiv3.json`. */
interface PagerdutyEvent {
  readonly routing_key: string;
  readonly event_action: 'trigger' | 'acknowledge' | 'resolve';
  readonly dedup_key?: string;
  readonly client?: string;
  readonly client_url?: string | undefined;
  readonly links?: { readonly href: string; readonly text?: string }[] | undefined;
  readonly payload?: {
    readonly summary: string;
    readonly severity: 'critical' | 'warning' | 'error' | 'info';
    readonly source: string;
    readonly timestamp?: string;
    readonly component?: string;
    readonly group?: string;
    readonly class?: string;
    readonly custom_details?: object;
  };
}
const PagerdutyHead = { routing_key: text(100), dedup_key: text(255) };
const PagerdutySchema = documentedBy<PagerdutyEvent>()(
  z.discriminatedUnion('event_action', [
    z.strictObject({ event_action: z.literal('resolve'), ...PagerdutyHead }),
    z.strictObject({
      event_action: z.literal('trigger'),
      ...PagerdutyHead,
      client: z.string(),
      client_url: OurUrl.optional(),
      links: z.array(z.strictObject({ href: OurUrl, text: z.string() })).optional(),
      payload: z.strictObject({
        summary: text(1_024),
        source: text(1_024),
        severity: z.enum(['critical', 'error', 'warning', 'info']),
        timestamp: z.iso.datetime(),
        group: z.string(),
        custom_details: z.record(z.string(), z.unknown()),
      }),
    }),
  ]),
);

/** Of the OpenAPI document of the Alert API: opsgenie/opsgenie-oas 2497a78, `definitions/alert.yaml`. Limits are of its text. */
interface OpsgenieAlert {
  readonly message: string;
  readonly alias?: string;
  readonly description?: string;
  readonly entity?: string;
  readonly source?: string;
  readonly priority?: 'P1' | 'P2' | 'P3' | 'P4' | 'P5';
  readonly note?: string;
}
const OpsgenieSchema = documentedBy<OpsgenieAlert>()(
  z.strictObject({
    message: text(130),
    alias: text(512),
    description: text(15_000),
    entity: text(512),
    source: text(100),
    priority: z.enum(['P1', 'P2', 'P3', 'P4', 'P5']),
    note: text(25_000),
  }),
);
const OpsgenieCloseSchema = OpsgenieSchema.pick({ source: true, note: true });
const OpsgenieChangeSchemas = {
  message: OpsgenieSchema.pick({ message: true }),
  description: OpsgenieSchema.pick({ description: true }),
  priority: OpsgenieSchema.pick({ priority: true }),
} as const;

const TelegramSchema = documentedBy<Parameters<ApiMethods<unknown>['sendMessage']>[0]>()(
  z.strictObject({
    chat_id: z.string().regex(/^(-?\d+|@\w+)$/),
    text: z
      .string()
      .min(1)
      .superRefine((html, context) => {
        const tags = /<\/?b>|<a href="https:\/\/status\.example\.com\/[^"<>]*">|<\/a>/g;
        for (const message of htmlFaults(html, tags)) context.addIssue({ code: 'custom', message });
        if (/(?<![\w.+-])@\w/.test(html)) context.addIssue({ code: 'custom', message: 'a mention' });
        if (lengthOfHtml(html) > 4_096) context.addIssue({ code: 'custom', message: 'longer than 4,096 characters' });
      }),
    parse_mode: z.literal('HTML'),
    link_preview_options: z.strictObject({ is_disabled: z.literal(true) }),
  }),
);

const GoogleWidget = z.union([
  z.strictObject({
    textParagraph: z.strictObject({
      text: z
        .string()
        .min(1)
        .superRefine((html, context) => {
          for (const message of htmlFaults(html, /<br>/g)) context.addIssue({ code: 'custom', message });
        }),
    }),
  }),
  z.strictObject({
    buttonList: z.strictObject({
      buttons: z
        .array(
          z.strictObject({
            text: z.string(),
            onClick: z.strictObject({ openLink: z.strictObject({ url: OurUrl }) }),
          }),
        )
        .length(1),
    }),
  }),
]);
const GoogleSchema = documentedBy<gapi.client.chat.Message>()(
  z.strictObject({
    thread: z.strictObject({ threadKey: text(4_000) }),
    fallbackText: z.string().refine((value) => !/[<>]/.test(value), 'a mention'),
    cardsV2: z
      .array(
        z.strictObject({
          cardId: text(64),
          card: z.strictObject({
            header: z.strictObject({ title: text(200), subtitle: z.string() }),
            sections: z.array(z.strictObject({ widgets: z.array(GoogleWidget).min(1).max(100) })).exactOptional(),
          }),
        }),
      )
      .length(1),
  }),
);

const MARKDOWN = new MarkdownIt({ html: true, linkify: true });
/** Text that is shown through a Markdown parser on some screens and as it is on others: every link shows its own address. */
const OncallText = (max: number) =>
  text(max).superRefine((value, context) => {
    if (/[<>]/.test(value)) context.addIssue({ code: 'custom', message: 'HTML' });
    for (const { children } of MARKDOWN.parse(value, {}))
      for (const [index, token] of (children ?? []).entries()) {
        const isMasked = token.type === 'link_open' && token.markup !== 'linkify' && token.markup !== 'autolink';
        if (isMasked || token.type === 'image')
          context.addIssue({ code: 'custom', message: `a masked link, ${children?.[index + 1]?.content}` });
      }
  });
const OncallSchema = z.strictObject({
  alert_uid: text(255),
  title: OncallText(1_024),
  state: z.enum(['ok', 'alerting']),
  message: OncallText(15_000).or(z.literal('')),
  link_to_upstream_details: OurUrl.optional(),
});

const bytesAtMost = (max: number) => (value: string) => Buffer.byteLength(value) <= max;
const NtfySchema = z.strictObject({
  topic: z.string().regex(/^[-_A-Za-z0-9]{1,64}$/),
  title: text(250).refine(bytesAtMost(250), 'a title of more than 250 bytes'),
  message: text(4_096).refine(bytesAtMost(4_096), 'a message of more than 4,096 bytes becomes an attachment'),
  priority: z.int().min(1).max(5),
  tags: z.array(z.string()),
  click: OurUrl.optional(),
});

const TeamsBlock = z.strictObject({
  type: z.literal('RichTextBlock'),
  inlines: z
    .array(
      z.strictObject({
        type: z.literal('TextRun'),
        text: z.string().refine((value) => !value.includes('\n'), 'a line break in a run'),
        size: z.literal('Large').optional(),
        weight: z.literal('Bolder').optional(),
        isSubtle: z.literal(true).optional(),
      }),
    )
    .length(1),
});
const TeamsSchema = z.strictObject({
  type: z.literal('message'),
  summary: text(750),
  attachments: z
    .array(
      z.strictObject({
        contentType: z.literal('application/vnd.microsoft.card.adaptive'),
        contentUrl: z.null(),
        content: z.strictObject({
          $schema: z.literal('http://adaptivecards.io/schemas/adaptive-card.json'),
          type: z.literal('AdaptiveCard'),
          version: z.enum(['1.2', '1.5']),
          rtl: z.literal(true).optional(),
          body: z.array(TeamsBlock).min(1),
          actions: z
            .array(z.strictObject({ type: z.literal('Action.OpenUrl'), title: z.string(), url: OurUrl }))
            .length(1)
            .optional(),
          msteams: z.strictObject({ width: z.literal('Full') }),
        }),
      }),
    )
    .length(1),
});

const GatewaySchema = (channel: 'sms' | 'whatsapp', max: number) =>
  z.strictObject({
    channel: z.literal(channel),
    to: z.string().regex(/^\+[1-9]\d{6,14}$/),
    text: text(max),
    id: text(200),
  });

const WebhookSchema = z.strictObject({
  type: z.enum([
    'incident.opened',
    'incident.updated',
    'incident.resolved',
    'maintenance.announced',
    'maintenance.started',
    'maintenance.completed',
  ]),
  timestamp: z.iso.datetime(),
  data: z.strictObject({
    page: z.strictObject({ slug: z.string(), title: z.string(), url: OurUrl.nullable(), language: z.string() }),
    subject: z.strictObject({
      id: z.string(),
      title: z.string(),
      url: OurUrl.nullable(),
      impact: z.enum(['none', 'minor', 'major', 'critical']).nullable(),
      status: z.string(),
      startedAt: z.iso.datetime(),
      endsAt: z.iso.datetime().nullable(),
    }),
    components: z.array(z.string()),
    text: z.string(),
  }),
});

interface Rules {
  readonly schema: z.ZodType;
  readonly method?: 'POST' | 'PUT';
  readonly path: RegExp;
  readonly bytesMax?: number;
  readonly headers?: (request: SeenRequest) => readonly string[];
  readonly answer: Program['answer'];
}

function jsonBody(value: unknown): string {
  return JSON.stringify(value);
}

function programOf({
  schema,
  method = 'POST',
  path,
  bytesMax = 64 * 1024,
  headers = () => [],
  answer,
}: Rules): Program {
  return {
    answer,
    faults: (request) => {
      const faults: string[] = [...headers(request)];
      if (request.method !== method) faults.push(`method ${request.method}`);
      if (!path.test(request.path)) faults.push(`path ${request.path}`);
      if (!/^application\/json(;|$)/.test(request.headers['content-type'] ?? '')) faults.push('content-type');
      if (Buffer.byteLength(request.body) > bytesMax) faults.push(`more than ${bytesMax} bytes`);
      const parsed = schema.safeParse(JSON.parse(request.body));
      return [...faults, ...(parsed.error?.issues ?? []).map(({ path: at, message }) => `${at.join('.')}: ${message}`)];
    },
  };
}

/** What a receiver does by the specification of Standard Webhooks. */
export function signatureFaults({ headers, body }: SeenRequest, secret: string, nowMs: number): readonly string[] {
  const [id = '', timestamp = '', signatures = ''] = ['id', 'timestamp', 'signature'].map(
    (name) => headers[`webhook-${name}`],
  );
  if (!/^[\x21-\x7e]+$/.test(id) || id.includes('.')) return ['webhook-id'];
  if (!/^\d+$/.test(timestamp) || Math.abs(Number(timestamp) * 1_000 - nowMs) > 300_000) return ['webhook-timestamp'];
  const expected = createHmac('sha256', Buffer.from(secret.replace('whsec_', ''), 'base64'))
    .update(`${id}.${timestamp}.${body}`)
    .digest();
  const isSigned = signatures.split(' ').some((part) => {
    const [version, encoded = ''] = part.split(',');
    const given = Buffer.from(encoded, 'base64');
    return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected);
  });
  return isSigned ? [] : ['webhook-signature'];
}

export const PROGRAMS: Readonly<Record<HttpKindName, Program>> = {
  slack: programOf({ schema: SlackSchema, path: /^\/services\/T0\/B0\/key$/, answer: { status: 200, body: 'ok' } }),
  discord: programOf({
    schema: DiscordSchema,
    path: /^\/api\/webhooks\/1\/key$/,
    answer: { status: 204, body: '' },
  }),
  pagerduty: programOf({
    schema: PagerdutySchema,
    path: /^\/v2\/enqueue$/,
    bytesMax: 512_000,
    answer: { status: 202, body: jsonBody({ status: 'success', message: 'Event processed', dedup_key: 'k' }) },
  }),
  opsgenie: {
    answer: { status: 202, body: jsonBody({ result: 'Request will be processed', took: 0.1, requestId: '1' }) },
    faults: (request) => {
      const action = /\/(close|message|description|priority)\?/.exec(request.path)?.[1];
      const change = OpsgenieChangeSchemas[action as keyof typeof OpsgenieChangeSchemas];
      const { faults } = programOf({
        schema: change ?? (action === 'close' ? OpsgenieCloseSchema : OpsgenieSchema),
        method: change === undefined ? 'POST' : 'PUT',
        bytesMax: 96 * 1024,
        path:
          action === undefined
            ? /^(\/jsm\/ops\/integration)?\/v2\/alerts$/
            : /^(\/jsm\/ops\/integration)?\/v2\/alerts\/[^/?]+\/\w+\?identifierType=alias$/,
        headers: ({ headers }) => (/^GenieKey \S+$/.test(headers['authorization'] ?? '') ? [] : ['authorization']),
        answer: { status: 202, body: '' },
      });
      return faults(request);
    },
  },
  webhook: programOf({ schema: WebhookSchema, path: /^\/hook$/, answer: { status: 200, body: '' } }),
  telegram: programOf({
    schema: TelegramSchema,
    path: /^\/bot\d+:[\w-]+\/sendMessage$/,
    answer: { status: 200, body: jsonBody({ ok: true, result: { message_id: 1 } }) },
  }),
  sms: programOf({ schema: GatewaySchema('sms', 268), path: /^\/send$/, answer: { status: 200, body: '' } }),
  whatsapp: programOf({
    schema: GatewaySchema('whatsapp', 4_096),
    path: /^\/send$/,
    answer: { status: 200, body: '' },
  }),
  google_chat: programOf({
    schema: GoogleSchema,
    path: /^\/v1\/spaces\/S\/messages\?key=k&token=t&messageReplyOption=REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD$/,
    bytesMax: 32_000,
    answer: { status: 200, body: jsonBody({ name: 'spaces/S/messages/1' }) },
  }),
  grafana_oncall: programOf({
    schema: OncallSchema,
    path: /^\/integrations\/v1\/formatted_webhook\/key\/$/,
    answer: { status: 200, body: 'Ok.' },
  }),
  ntfy: programOf({
    schema: NtfySchema,
    path: /^\/$/,
    bytesMax: 8_192,
    headers: ({ headers }) => (headers['authorization'] === 'Bearer tk_token' ? [] : ['authorization']),
    answer: { status: 200, body: jsonBody({ id: 'abc', event: 'message' }) },
  }),
  ms_teams: programOf({
    schema: TeamsSchema,
    path: /^\/workflows\/1\/triggers\/manual\/paths\/invoke\?api-version=1&sig=key$/,
    bytesMax: 28_000,
    answer: { status: 202, body: '' },
  }),
};
