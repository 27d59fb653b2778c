/** Answers of the HTTP API of Prometheus (v1) and of Alertmanager (v2), and the conditions that values are held to. */

import { z } from 'zod';
import { InstantSchema, NumberSchema, TextSchema } from '../wire.ts';

/** Names a series in its list: its labels. */
export const ID_FIELD = 'metric';

/** What a query gave, whose type decides how `result` is read; or with status 400 or 422, what is wrong with it. */
export const QueryAnswerSchema = z.discriminatedUnion('status', [
  z.object({ status: z.literal('success'), data: z.object({ resultType: z.unknown(), result: z.unknown() }) }),
  z.object({ status: z.literal('error'), error: z.string() }),
]);
export type QueryAnswer = z.output<typeof QueryAnswerSchema>;

const SAMPLE_VALUE = /^([+-]?(\d+(\.\d+)?([eE][+-]?\d+)?|Inf)|NaN)$/;

/**
 * A sample: seconds since 1970, and the value as text. They are told apart by their types, so that no order is relied on;
 * `value` is NaN where there is none.
 */
const SampleSchema = z
  .array(z.unknown())
  .length(2)
  .transform(([first, second], context): { readonly atSeconds: number; readonly value: number } => {
    const [instant, text] = typeof second === 'number' ? [second, first] : [first, second];
    const atSeconds = NumberSchema.safeParse(instant).data;
    if (atSeconds !== undefined && typeof text === 'string' && SAMPLE_VALUE.test(text))
      return { atSeconds, value: Number(text.replace('Inf', 'Infinity')) };
    context.addIssue({ code: 'custom', message: 'expected an instant and a value' });
    return z.NEVER;
  });

/** One element of a vector. */
export const SeriesSchema = z.object({ value: SampleSchema });
/** One row of a matrix. */
export const RangeSeriesSchema = z.object({ values: z.array(SampleSchema) });

/** When an Alertmanager started: it keeps alerts in memory only. */
export const AlertmanagerSchema = z.object({ uptime: InstantSchema });

export const AlertsSchema = z.array(z.unknown());
export const AlertSchema = z.object({
  fingerprint: z.string().min(1).max(200),
  startsAt: InstantSchema,
  labels: z.record(z.string(), z.string()),
  annotations: z
    .object({ summary: TextSchema, description: TextSchema, message: TextSchema })
    .catch({ summary: null, description: null, message: null }),
  status: z.object({ state: z.unknown() }).catch({ state: null }),
});
export type Alert = z.output<typeof AlertSchema>;

/** A comparison of a value with a number. */
export type Condition = (value: number) => boolean;

const COMPARISONS: Readonly<Record<string, (value: number, than: number) => boolean>> = {
  '>': (value, than) => value > than,
  '>=': (value, than) => value >= than,
  '<': (value, than) => value < than,
  '<=': (value, than) => value <= than,
  '==': (value, than) => value === than,
  '!=': (value, than) => value !== than,
};
const CONDITION = /^\s*(>=?|<=?|==|!=)\s*(-?\d{1,15}(?:\.\d{1,15})?)\s*$/;

/** `>0`, `<= 0.5` … as the configuration writes it. */
export const ConditionSchema = z.string().regex(CONDITION, 'expected a comparison with a number such as >0 or <= 0.5');

/** What a text that `ConditionSchema` let pass says. */
export function parseCondition(text: string): Condition {
  const [, comparison = '', than = ''] = CONDITION.exec(text) ?? [];
  const compare = COMPARISONS[comparison];
  if (compare === undefined) throw new Error(`${text} is not a condition`);
  return (value) => compare(value, Number(than));
}

const SELECTOR = /^\s*([A-Za-z_][\w:]*)\s*(?:\{([^{}]*)\})?\s*$/;
const MATCHER = /\s*([A-Za-z_]\w*)\s*=\s*"([^"\\]*)"\s*/y;

/** Labels that an alert must have, its name among them, by a selector such as `Down{job="api"}`; null: it is none. */
export function parseSelector(text: string): Readonly<Record<string, string>> | null {
  const [whole, name = '', inside = ''] = SELECTOR.exec(text) ?? [];
  if (whole === undefined) return null;
  const labels: Record<string, string> = { alertname: name };
  MATCHER.lastIndex = 0;
  while (MATCHER.lastIndex < inside.trimEnd().length) {
    const [, label, value = ''] = MATCHER.exec(inside) ?? [];
    if (label === undefined) return null;
    labels[label] = value;
    if (inside[MATCHER.lastIndex] === ',') MATCHER.lastIndex += 1;
    else if (MATCHER.lastIndex < inside.length) return null;
  }
  return labels;
}

const SELECTOR_EXPECTED = 'expected the name of an alert, optionally with labels: Down{job="api"}';
export const SelectorSchema = z.string().refine((text) => parseSelector(text) !== null, SELECTOR_EXPECTED);
