/** How questions are put to the server monitor, and the states of all monitors: the list, held against what `/status` counts. */

import { z } from 'zod';
import type { MonitorObservation, Problem } from '../../../model/observation.ts';
import { ask, type Priority, type Pull, type Question } from '../../connector.ts';
import { itemKey, note } from '../items.ts';
import {
  BaseUrlSchema,
  CountSchema,
  endpointAddress,
  FlagSchema,
  parseInstant,
  SecretSchema,
  unknownWord,
} from '../wire.ts';
import {
  ID_FIELD,
  type MonitorsAnswer,
  MonitorsAnswerSchema,
  type StatusAnswer,
  StatusAnswerSchema,
} from './schema.ts';

export const OptionsSchema = z.strictObject({
  baseUrl: BaseUrlSchema.describe('Address of the API, without /status.'),
  apiKey: SecretSchema.describe('API key, as ${NAME} or ${file:…}.'),
  auth: z
    .enum(['x-api-key', 'bearer'])
    .default('x-api-key')
    .describe('How the key is sent: in the header X-API-Key, or as Authorization: Bearer.'),
  type: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .describe('Only monitors of this type, as named by the upstream. Default: all.'),
  compareStatus: z
    .boolean()
    .default(true)
    .describe('Compare the counts in /status with the list. While they differ, monitors that are up show as unknown.'),
  timezone: z
    .string()
    .refine((zone) => parseInstant('2026-01-01T00:00:00', zone) !== null, 'an IANA time zone')
    .optional()
    .describe('Time zone (IANA) of times without an offset. Default: the offset of the response’s timestamp.'),
  maintenance: z.boolean().default(false).describe('Also read /maintenance, which is undocumented and may be missing.'),
});
export type Options = z.output<typeof OptionsSchema>;

/** One read of the API, the key in its header. */
export function question<T>(
  options: Options,
  {
    name,
    priority,
    path,
    query,
    schema,
  }: { name: string; priority: Priority; path: string; query?: Record<string, string | number>; schema: z.ZodType<T> },
): Question<T> {
  return {
    name,
    priority,
    method: 'GET',
    url: endpointAddress(options.baseUrl, path, query),
    headers:
      options.auth === 'bearer' ? { authorization: `Bearer ${options.apiKey}` } : { 'x-api-key': options.apiKey },
    schema,
  };
}

const WORDS = ['up', 'down', 'pending', 'paused'] as const;
type Word = (typeof WORDS)[number];
type Counts = Readonly<Record<Word, number>>;

interface ReadStates {
  readonly status: StatusAnswer;
  readonly items: readonly unknown[];
  readonly problems: readonly Problem[];
  readonly isDifferent: boolean;
  /** The summary knows of trouble, or of monitors, that the list lacks: nothing of the list is taken to be well. */
  readonly isContradicted: boolean;
}

/** Reads both, and both again when they differ, since a state may change in between. */
export function* readStates(options: Options): Pull<ReadStates> {
  const first = yield* readOnce(options);
  return first.isDifferent ? yield* readOnce(options) : first;
}

function* readOnce(options: Options): Pull<ReadStates> {
  const status = yield* ask(
    question(options, { name: 'status', priority: 'list', path: '/status', schema: StatusAnswerSchema }),
  );
  const listed = yield* ask(
    question(options, {
      name: 'list monitors',
      priority: 'list',
      path: '/monitors',
      ...(options.type === undefined ? {} : { query: { type: options.type } }),
      schema: MonitorsAnswerSchema,
    }),
  );
  // The summary counts all monitors, and these are some of them.
  const isPartial = options.type !== undefined || !options.compareStatus;
  const compared = isPartial ? NOTHING_TOLD : compare(status.payload, listed.payload);
  return { status: status.payload, items: listed.payload.data.monitors, ...compared };
}

/** What is well as unknown, where that cannot be relied on. */
export function withoutWellness(monitors: readonly MonitorObservation[]): MonitorObservation[] {
  return monitors.map((monitor) => (monitor.state === 'operational' ? { ...monitor, state: 'unknown' } : monitor));
}

type Comparison = Pick<ReadStates, 'problems' | 'isDifferent' | 'isContradicted'>;

const NOTHING_TOLD: Comparison = { problems: [], isDifferent: false, isContradicted: false };

function compare({ data: { status } }: StatusAnswer, { data: { monitors, count } }: MonitorsAnswer): Comparison {
  const problems: Problem[] = [];
  const differences: { readonly problem: Problem; readonly hides: boolean }[] = [];
  const differs = (place: string, message: string, hides: boolean): void => {
    differences.push({ problem: note(place, message), hides });
  };
  const countIn = (place: string, value: unknown): number | null => {
    const told = CountSchema.nullish().safeParse(value);
    if (!told.success) problems.push(note(place, 'not a number, so the counts were not compared'));
    return told.data ?? null;
  };
  const items = [...new Map(monitors.map((item) => [itemKey(item, ID_FIELD), item])).values()];
  for (const [place, value] of [
    ['monitors.count', count],
    ['status.total', status.total],
  ] as const) {
    const told = countIn(place, value);
    if (told !== null && told !== items.length && told !== monitors.length)
      differs(place, `counts ${told}, the list has ${items.length}`, true);
  }
  const readings = countsOf(items);
  for (const word of WORDS) {
    const told = countIn(`status.${word}`, status[word]);
    if (told === null || readings.some((counts) => counts[word] === told)) continue;
    const most = Math.max(...readings.map((counts) => counts[word]));
    const isTrouble = word === 'down' || word === 'pending';
    differs(`status.${word}`, `counts ${told}, the list has ${most}`, isTrouble && told > most);
  }
  const overall = status.overall_status ?? 'unsaid';
  if (overall === 'degraded' && readings.every(({ down, pending }) => down + pending === 0))
    differs('status.overall_status', 'says degraded, but no monitor in the list is down or pending', true);
  else if (overall === 'operational' && readings.every(({ down }) => down > 0))
    differs('status.overall_status', 'says operational, but monitors in the list are down', false);
  else if (!['operational', 'degraded', 'unsaid'].includes(String(overall)))
    problems.push(unknownWord('status.overall_status', overall));
  return {
    problems: [...problems, ...differences.map(({ problem }) => problem)],
    isDifferent: differences.length > 0,
    isContradicted: differences.some(({ hides }) => hides),
  };
}

/** How many items have each word. Whether one that is not active counts as paused or by its word is not documented. */
function countsOf(items: readonly unknown[]): readonly Counts[] {
  const wordOf = (item: unknown, pausesInactive: boolean): unknown => {
    const { status, is_active: active } = (item ?? {}) as { status?: unknown; is_active?: unknown };
    const isInactive = FlagSchema.safeParse(active).data === false;
    return pausesInactive && isInactive ? 'paused' : status;
  };
  return [true, false].map((pausesInactive) => {
    const words = items.map((item) => wordOf(item, pausesInactive));
    return Object.fromEntries(WORDS.map((word) => [word, words.filter((one) => one === word).length])) as Counts;
  });
}
