/** What operators may choose of a badge, in the configuration or behind a `?`, each checked at the door. */

import { z } from 'zod';
import { LocaleSchema } from '../schema/scalars.ts';
import { parsePathData } from './lettering/path-data.ts';
import { parseColour } from './named-colours.ts';
import { BADGE_SCHEMES, BADGE_STYLES } from './names.ts';

const LABEL_LENGTH_MAX = 64;

const TextSchema = z.string().min(1).max(LABEL_LENGTH_MAX);
const ColourSchema = z
  .string()
  .max(32)
  .refine((text) => parseColour(text) !== null, 'expected a colour as #rrggbb, or a name such as orange');

/** Three steps between four colours, from the best on. */
const StepsSchema = z.strictObject({
  good: z.number().describe('Up to here (or from here, for uptime and days): green.'),
  fair: z.number().describe('The same for amber.'),
  poor: z.number().describe('The same for orange; beyond it: red.'),
});

const LogoSchema = z
  .strictObject({
    path: z.string().transform((text, context) => {
      const path = parsePathData(text);
      if (path !== null) return path;
      context.addIssue({
        code: 'custom',
        message: 'expected SVG path data (the d of a path), at most 8,192 characters',
      });
      return z.NEVER;
    }),
    size: z.number().positive().max(10_000).default(24).describe('Side of the square that the path is drawn in.'),
  })
  .describe('A drawing of one colour, given as path data; it takes the colour of the text beside it.');

const WordsSchema = z
  .strictObject({
    operational: TextSchema,
    degraded: TextSchema,
    partial_outage: TextSchema,
    major_outage: TextSchema,
    maintenance: TextSchema,
    paused: TextSchema,
    unknown: TextSchema,
    stale: TextSchema.describe('Instead of any claim about the present when the data is too old.'),
    open: TextSchema.describe('Of incidents; {n} is their number.'),
    noneOpen: TextSchema,
    ongoing: TextSchema.describe('Days since the last incident, while there is one.'),
    noneRecorded: TextSchema.describe('Days since the last incident, when there was none.'),
    days: TextSchema.describe('{n} is the number of days, other than one.'),
    oneDay: TextSchema,
    nonePlanned: TextSchema.describe('No maintenance is announced.'),
    inProgress: TextSchema.describe('Maintenance is on.'),
  })
  .partial();

/** Unknown and stale have no colour to choose: they are always grey. */
const ColoursSchema = z
  .strictObject({
    operational: ColourSchema,
    degraded: ColourSchema,
    partial_outage: ColourSchema,
    major_outage: ColourSchema,
    maintenance: ColourSchema,
    paused: ColourSchema,
    info: ColourSchema,
  })
  .partial();

const fields = {
  label: TextSchema.optional().describe('Left side; {name} is the name of the page, group or component.'),
  style: z.enum(BADGE_STYLES).optional().describe('Default: flat, or what suits the kind.'),
  scheme: z.enum(BADGE_SCHEMES).optional().describe('Of .svg files; the -light and -dark ones are what they say.'),
  labelColor: ColourSchema.optional().describe('Of the left side.'),
  decimals: z.int().min(0).max(4).optional().describe('Digits after the point of uptime. Default: 2.'),
  locale: LocaleSchema.optional().describe('Language of words, numbers and dates. Default: that of the page.'),
};

/** How every badge of a page is drawn. */
export const BadgeOptionsSchema = z.strictObject({
  ...fields,
  logo: LogoSchema.optional(),
  words: WordsSchema.optional().describe('Instead of those of its language.'),
  colors: ColoursSchema.optional().describe('Instead of the usual ones, per state.'),
  thresholds: z
    .strictObject({
      uptime: StepsSchema.describe('Ratios. Default: 0.999, 0.99, 0.95.'),
      responseTimeMs: StepsSchema.describe('Default: 300, 800, 2000.'),
      incidents30d: StepsSchema.describe('Default: 0, 2, 5.'),
      daysSinceIncident: StepsSchema.describe('Default: 7, 2, 1.'),
    })
    .partial()
    .optional(),
});
export type BadgeOptions = z.output<typeof BadgeOptionsSchema>;

/**
 * What visitors may ask for behind the `?`: never the message, its words or its colour, so that nobody can make our
 * address say what is not so.
 */
const QuerySchema = z.object({
  label: fields.label.catch(undefined),
  style: fields.style.catch(undefined),
  scheme: fields.scheme.catch(undefined),
  labelColor: fields.labelColor.catch(undefined),
  decimals: z
    .string()
    .regex(/^[0-4]$/)
    .transform(Number)
    .optional()
    .catch(undefined),
  locale: fields.locale.catch(undefined),
});

/**
 * The options asked for in an address. What is unknown, too long or unreadable is left out rather than refused: a
 * badge is a picture in somebody's page, and a picture with our defaults serves better than none.
 */
export function parseBadgeQuery(query: URLSearchParams): BadgeOptions {
  const parsed = QuerySchema.parse(Object.fromEntries(query));
  return Object.fromEntries(Object.entries(parsed).filter(([, value]) => value !== undefined));
}

/** Options laid over others: what is said above counts; words, colours and thresholds one by one. */
export function mergeBadgeOptions(below: BadgeOptions, above: BadgeOptions): BadgeOptions {
  return {
    ...below,
    ...above,
    words: { ...below.words, ...above.words },
    colors: { ...below.colors, ...above.colors },
    thresholds: { ...below.thresholds, ...above.thresholds },
  };
}
