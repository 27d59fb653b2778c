/** What operators may choose of a badge, in the configuration or behind a `?`, each checked at the door. */

import { z } from 'zod';
import { LocaleSchema } from '../schema/scalars.ts';
import { parsePathData } from './lettering/path-data.ts';
import { BADGE_SCHEMES, BADGE_STYLES } from './names.ts';
import { parseColour } from './palette.ts';

const LABEL_LENGTH_MAX = 64;

const TextSchema = z.string().min(1).max(LABEL_LENGTH_MAX);
const ColourSchema = z
  .string()
  .max(32)
  .refine((text) => parseColour(text) !== null, 'expected a colour as #rrggbb, or a name such as orange');

/** Three steps between four colours, from the best on. */
const StepsSchema = z.strictObject({
  good: z.number().describe('Limit of green: at most, or for uptime and days at least.'),
  fair: z.number().describe('The same for amber.'),
  poor: z.number().describe('The same for orange; anything worse is red.'),
});

const LogoSchema = z
  .strictObject({
    path: z.string().transform((text, context) => {
      const path = parsePathData(text);
      if (path !== null) return path;
      context.addIssue({
        code: 'custom',
        message: 'expected SVG path data (the d attribute of a path), at most 8,192 characters',
      });
      return z.NEVER;
    }),
    size: z.number().positive().max(10_000).default(24).describe('Size of the square that contains the path.'),
  })
  .describe('Single-colour logo as path data; it has the colour of the text next to it.');

const WordsSchema = z
  .strictObject({
    operational: TextSchema,
    degraded: TextSchema,
    partial_outage: TextSchema,
    major_outage: TextSchema,
    maintenance: TextSchema,
    paused: TextSchema,
    unknown: TextSchema,
    stale: TextSchema.describe('Shown instead of the current value if the data is too old.'),
    open: TextSchema.describe('Open incidents; {n} is their number.'),
    noneOpen: TextSchema,
    ongoing: TextSchema.describe('Days since the last incident, during an incident.'),
    noneRecorded: TextSchema.describe('Days since the last incident, if there was none.'),
    days: TextSchema.describe('Several days; {n} is their number.'),
    oneDay: TextSchema,
    nonePlanned: TextSchema.describe('No maintenance is planned.'),
    inProgress: TextSchema.describe('Maintenance is in progress.'),
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
  style: z.enum(BADGE_STYLES).optional().describe('Default: flat, or the style of the kind.'),
  scheme: z.enum(BADGE_SCHEMES).optional().describe('Colour scheme of .svg and .png files.'),
  labelColor: ColourSchema.optional().describe('Background of the left side.'),
  decimals: z.int().min(0).max(4).optional().describe('Decimal places of uptime. Default: 2.'),
  locale: LocaleSchema.optional().describe('Language of words, numbers and dates. Default: that of the page.'),
};

/** How every badge of a page is drawn. */
export const BadgeOptionsSchema = z.strictObject({
  ...fields,
  logo: LogoSchema.optional(),
  words: WordsSchema.optional().describe('Replaces the default words.'),
  colors: ColoursSchema.optional().describe('Replaces the default colours, per state.'),
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
