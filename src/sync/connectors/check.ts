/**
 * What a check is: the names and limits of the uptime service's monitors, so that its configuration can be taken over as it is.
 * `src/checks` makes them; this is only their description.
 */

import { z } from 'zod';
import { toSlug } from '../../model/slugs.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../model/time.ts';
import { HttpUrlSchema } from '../../schema/scalars.ts';
import { Secret } from '../../schema/secret.ts';
import { FlagSchema, HeaderNameSchema, NumberSchema, SecretSchema } from './wire.ts';

export const PERIODS = ['30s', '1m', '5m', '10m', '30m', '1h'] as const;
const PERIOD_MS: Readonly<Record<(typeof PERIODS)[number], number>> = {
  '30s': 30 * SECOND_MS,
  '1m': MINUTE_MS,
  '5m': 5 * MINUTE_MS,
  '10m': 10 * MINUTE_MS,
  '30m': 30 * MINUTE_MS,
  '1h': HOUR_MS,
};
const METHODS = ['GET', 'POST', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
const ORDER = ['eq', 'neq', 'gt', 'gte', 'lt', 'lte'] as const;
export const COMPARATORS = [
  'contains',
  'not_contains',
  'eq',
  'neq',
  'empty',
  'not_empty',
  'gt',
  'gte',
  'lt',
  'lte',
] as const;
export const RECORDS = ['A', 'AAAA', 'CNAME', 'MX', 'TXT'] as const;
export type Comparator = (typeof COMPARATORS)[number];

const TIMEOUT_DEFAULT_MS = 45_000;
const CERTIFICATE_DAYS = 14;
/** Headers that are set by the connection. */
const OWN_HEADERS = ['connection', 'content-length', 'expect', 'keep-alive', 'te', 'transfer-encoding', 'upgrade'];

/** It may be a secret, so it is never printed. */
const HiddenSchema = SecretSchema.transform((value) => new Secret(value));

const ms = NumberSchema.pipe(z.number().min(0).max(120_000));
/** Names of places, as in `checks.place` of a node. */
export const PlaceSchema = z
  .string()
  .regex(/^[A-Za-z0-9][\w-]{0,63}$/, 'expected the name of a place: at most 64 letters, digits, - and _');

const COMMON = {
  id: z
    .string()
    .regex(/^[A-Za-z0-9][\w.-]{0,199}$/, 'expected at most 200 letters, digits, dots, - and _')
    .optional()
    .describe('Part of the monitor’s name, <upstream id>/<id>. Default: made from the name.'),
  name: z.string().min(1).max(256).describe('Name of the monitor.'),
  periodicity: z.enum(PERIODS).describe('How often it is checked.'),
  timeout: ms
    .transform((timeout) => (timeout === 0 ? TIMEOUT_DEFAULT_MS : timeout))
    .default(TIMEOUT_DEFAULT_MS)
    .describe('Milliseconds that one try may take; 0 is the default.'),
  degraded_at: NumberSchema.pipe(z.number().min(0))
    .optional()
    .describe('Slower answers, in milliseconds, are degraded. Default: computed from the check’s own past.'),
  retry: NumberSchema.pipe(z.int().min(0).max(10)).default(3).describe('Further tries before a failure counts.'),
  active: FlagSchema.default(true).describe('false: it isn’t checked, and its component is paused.'),
  public: FlagSchema.optional().describe('false: never shown on a public page.'),
  description: z.string().max(1_024).optional().describe('Description of the monitor.'),
  regions: z.array(PlaceSchema).optional().describe('Places that it is checked from. Default: all.'),
  ip_version: z
    .union([z.literal(4), z.literal(6)], 'expected 4 or 6')
    .optional()
    .describe('Only this version of IP. Default: whichever connects first.'),
};

const assertions = <Item extends z.ZodType>(item: Item, words: string) =>
  z.array(item).max(10).default([]).describe(words);

/** `empty` and `not_empty` have no target. */
const textAssertion = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.object({ ...shape, target: z.string().default(''), comparator: z.enum(COMPARATORS) });

const HttpSchema = z.strictObject({
  type: z.literal('http'),
  ...COMMON,
  url: HttpUrlSchema.max(2_048, 'expected at most 2048 characters')
    .refine(
      (text) => (URL.parse(text)?.username ?? '') === '',
      'expected an address without user name; put it into auth',
    )
    .describe('Address to request.'),
  method: z.enum(METHODS).default('GET').describe('Method of the request.'),
  headers: z
    .array(
      z.object({
        key: HeaderNameSchema.refine(
          (name) => !OWN_HEADERS.includes(name.toLowerCase()),
          'this header is set by the connection itself; leave it out',
        ),
        value: HiddenSchema,
      }),
    )
    .max(20)
    .default([])
    .describe('Headers of the request. Values can be secrets: "${NAME}".'),
  body: z.string().optional().describe('Body of the request, for POST, PUT and PATCH.'),
  auth: z
    .union(
      [z.strictObject({ user: z.string().min(1), password: HiddenSchema }), z.strictObject({ token: HiddenSchema })],
      'expected { user, password } for basic or { token } for bearer authentication',
    )
    .optional()
    .describe('{ user, password } for basic authentication, { token } for bearer.'),
  follow_redirects: FlagSchema.default(true).describe('false: a redirect is the answer.'),
  certificate_days: NumberSchema.pipe(z.int().min(0).max(365))
    .default(CERTIFICATE_DAYS)
    .describe('Degraded when the certificate expires in fewer days than this; 0: never.'),
  status_code_assertions: assertions(
    z.object({ target: NumberSchema.pipe(z.number().min(100).max(599)), comparator: z.enum(ORDER) }),
    'What the status has to be. Default: 2xx.',
  ),
  body_assertions: assertions(textAssertion({}), 'What the first megabyte of the body has to hold.'),
  header_assertions: assertions(textAssertion({ key: HeaderNameSchema }), 'What headers of the response have to be.'),
});

const HOST_PORT = /^(?:\[[0-9a-f:.%\w]+\]|[^\s:/[\]]+):(\d{1,5})$/i;
/** Host and port; IPv6 addresses are in brackets. */
export const HostPortSchema = z
  .string()
  .max(2_048)
  .refine((text) => {
    const port = Number(HOST_PORT.exec(text)?.[1] ?? 0);
    return port >= 1 && port <= 65_535;
  }, 'expected host:port, such as db.example.com:5432 or [2001:db8::1]:5432');

const TcpSchema = z.strictObject({ type: z.literal('tcp'), ...COMMON, uri: HostPortSchema.describe('host:port.') });

const DnsSchema = z.strictObject({
  type: z.literal('dns'),
  ...COMMON,
  uri: z
    .string()
    .min(1)
    .max(2_048)
    .regex(/^[^\s:/]+$/, 'expected a domain name, such as example.com')
    .describe('Domain name to look up.'),
  record_assertions: assertions(
    z.object({
      record: z.enum(RECORDS),
      target: z.string(),
      comparator: z.enum(['eq', 'neq', 'contains', 'not_contains']),
    }),
    'What its records have to be. Default: it has an address.',
  ),
});

export const CheckSchema = z
  .discriminatedUnion('type', [HttpSchema, TcpSchema, DnsSchema], { error: 'expected one of http, tcp, dns' })
  .transform((check, context) => {
    const id = check.id ?? toSlug(check.name);
    const message = 'missing; the name has no letters to make an id from';
    if (id === '') context.addIssue({ code: 'custom', path: ['id'], message });
    return { ...check, id };
  });

/** The fields of checks by their type. */
export const CHECK_FIELDS = { http: HttpSchema.shape, tcp: TcpSchema.shape, dns: DnsSchema.shape };

/** A configured check. */
export type Check = z.output<typeof CheckSchema>;
export type HttpCheck = Extract<Check, { type: 'http' }>;
export type DnsCheck = Extract<Check, { type: 'dns' }>;

/** The target of a check, as text. */
export function checkTarget(check: Check): string {
  return check.type === 'http' ? check.url : check.uri;
}

export function checkPeriodMs({ periodicity }: Pick<Check, 'periodicity'>): number {
  return PERIOD_MS[periodicity];
}

/** How long a result is valid: two periods, plus the longest try. */
export function checkHeldMs(check: Check): number {
  return 2 * checkPeriodMs(check) + check.timeout + 5 * SECOND_MS;
}
