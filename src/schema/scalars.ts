/** The values of `model/scalars.ts` at a door: zod schemas with a sentence that says what is expected. */

import { z } from 'zod';
import {
  HEX_COLOUR,
  HOST_NAME,
  isLocale,
  isTimezone,
  LINK_LENGTH_MAX,
  LOCALE_LENGTH_MAX,
  SLUG,
  safeLink,
} from '../model/scalars.ts';
import { isSlug } from '../model/slugs.ts';

export const IdSchema = z.string().regex(/^[A-Za-z0-9][\w-]{0,63}$/, 'expected at most 64 letters, digits, - and _');
export const HeaderNameSchema = z.string().regex(/^[A-Za-z0-9-]{1,64}$/, 'expected a header name');
export const SlugSchema = z
  .string()
  .regex(SLUG, 'expected at most 256 lower-case letters, digits and -')
  .refine((slug) => !SLUG.test(slug) || isSlug(slug), 'this name is reserved. Choose another slug');
export const HttpUrlSchema = z
  .url({ protocol: /^https?$/, error: 'expected an http(s) address' })
  .refine((text) => !/^https?:\/\/[^/?#]*,/i.test(text), 'expected one address, without a comma in its host name');
export const LinkSchema = z
  .string()
  .regex(/^(https?:\/\/|mailto:)/, 'expected an address that starts with https://, http:// or mailto:')
  .max(LINK_LENGTH_MAX)
  .refine((text) => safeLink(text) !== null, 'expected a complete address without a user name');
export const HostSchema = z.string().regex(HOST_NAME, 'expected a host name');
/** An address or a range of addresses, as in `allow_ips`. */
export const RangeSchema = z.union(
  [z.cidrv4(), z.cidrv6(), z.ipv4(), z.ipv6()],
  'expected an IP address or a range such as 192.0.2.0/24 or 2001:db8::/32',
);
export const TimezoneSchema = z.string().refine(isTimezone, 'expected an IANA time zone such as Europe/Berlin');
export const LocaleSchema = z
  .string()
  .max(LOCALE_LENGTH_MAX)
  .refine(isLocale, 'expected a language tag such as en or pt-BR');
export const TitleSchema = z.string().min(1).max(256);
export const OptionalTextSchema = z.string().min(1).optional();
export const OptionalFlagSchema = z.boolean().optional();
/** A switch that is off by default. */
export const OffSchema = z.boolean().default(false);
export const SlugsSchema = z.array(SlugSchema).min(1);
export const HexColourSchema = z.string().regex(HEX_COLOUR, 'expected a colour as #rrggbb');

/** What a JSON Schema asks for where some keys are there and match; `otherwise` where one is not. Editors explain it by the key. */
export function when(keys: Readonly<Record<string, object>>, asked: object, otherwise?: object) {
  const condition = { required: Object.keys(keys), properties: keys };
  // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
  return { if: condition, then: asked, ...(otherwise === undefined ? {} : { else: otherwise }) };
}
