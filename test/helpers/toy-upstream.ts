/** A small upstream with a connector, a network that follows a script, and a clock that only moves when it is told to. */

import { z } from 'zod';
import { StatusError } from '../../src/errors.ts';
import { NOTHING_LEARNED, type Problem, toMonitorId } from '../../src/model/observation.ts';
import { STATES } from '../../src/model/state.ts';
import { type EpochMs, MINUTE_MS, toEpochMs } from '../../src/model/time.ts';
import {
  ask,
  attempt,
  type Connector,
  NO_LIMITS,
  type Priority,
  type Pull,
  type PullContext,
  type Question,
} from '../../src/sync/connector.ts';
import { parseItems } from '../../src/sync/connectors/items.ts';
import type { Http } from '../../src/sync/http/http.ts';
import type { HttpQuestion } from '../../src/sync/http/http-faults.ts';
import { errorForStatus } from '../../src/sync/http/http-faults.ts';
import { bindUpstream, type Upstream, type UpstreamSettings } from '../../src/sync/upstream.ts';

const MonitorSchema = z.object({ id: z.int(), state: z.enum(STATES) });
const ListSchema = z.object({ monitors: z.array(z.unknown()) });
const IncidentsSchema = z.object({ incidents: z.array(z.object({ id: z.int(), startedAt: z.number() })) });
const DetailSchema = z.object({ ms: z.number() });

export interface ToyOptions {
  readonly baseUrl: string;
  readonly key: string;
  /** Ask `/past/1` to this many pages, as back-fill. */
  readonly pastPages?: number;
}

/** A question to the toy. */
export function toyQuestion<T>(
  options: ToyOptions,
  path: string,
  [name, priority, schema]: [string, Priority, z.ZodType<T>],
): Question<T> {
  return { name, priority, method: 'GET', url: options.baseUrl + path, headers: { 'x-api-key': options.key }, schema };
}

function* pull(options: ToyOptions, context: PullContext): Pull<typeof NOTHING_LEARNED> {
  const listed = yield* ask(toyQuestion(options, '/monitors', ['list monitors', 'list', ListSchema]));
  const problems: Problem[] = [];
  const items = parseItems(MonitorSchema, listed.payload.monitors, 'monitors', problems);
  const [found] = yield* attempt([toyQuestion(options, '/incidents', ['list incidents', 'incident', IncidentsSchema])]);
  const past = yield* attempt(
    context.memory.isBackfilled
      ? []
      : Array.from({ length: options.pastPages ?? 0 }, (_, page) =>
          toyQuestion(options, `/past/${page + 1}`, ['past', 'backfill', z.object({})]),
        ),
  );
  const age = (id: number): number => context.memory.detailFetchedAt.get(String(id)) ?? 0;
  const due = items.map(({ id }) => id).toSorted((a, b) => age(a) - age(b));
  const details = yield* attempt(
    due.map((id) => toyQuestion(options, `/monitors/${id}`, ['detail', 'detail', DetailSchema])),
  );
  return {
    ...NOTHING_LEARNED,
    monitors: items.map(({ id, state }) => ({
      id: toMonitorId(context.upstreamId, id),
      name: `monitor ${id}`,
      description: null,
      kind: 'toy',
      target: null,
      state,
      isPublic: null,
      createdAt: null,
    })),
    incidents:
      found?.kind === 'ok'
        ? found.payload.incidents.map(({ id, startedAt }) => ({
            id: `${context.upstreamId}/${id}`,
            title: `incident ${id}`,
            status: 'investigating',
            impact: 'major',
            startedAt: toEpochMs(startedAt),
            endedAt: null,
            monitors: [],
            components: [],
            pages: null,
            affectedState: null,
            isOutage: false,
            updates: [],
          }))
        : [],
    details: details.flatMap((answer, index) =>
      answer.kind === 'ok'
        ? [
            {
              id: toMonitorId(context.upstreamId, due[index] ?? 0),
              fetchedAt: answer.at,
              uptime: null,
              responseTimes: [{ at: answer.at, ms: answer.payload.ms }],
              reportedSpans: [],
              reportedDays: [],
            },
          ]
        : [],
    ),
    problems,
    itemsTotal: listed.payload.monitors.length,
    stale: found?.kind === 'ok' ? [] : ['incidents'],
    isBackfilled: context.memory.isBackfilled || past.every((answer) => answer.kind === 'ok'),
  };
}

export const toyConnector: Pick<Connector<ToyOptions>, 'kind' | 'optionsSchema' | 'limits' | 'pull'> = {
  kind: 'toy',
  optionsSchema: z.object({
    baseUrl: z.string(),
    key: z.string(),
    pastPages: z.int().optional(),
  }) as z.ZodType<ToyOptions>,
  limits: NO_LIMITS,
  pull,
};

export function toyUpstream(id: string, settings: Partial<UpstreamSettings & ToyOptions> = {}): Upstream {
  const { baseUrl = `https://${id}.test`, key = 'KEY', pastPages, ...rest } = settings;
  const options = { baseUrl, key, ...(pastPages === undefined ? {} : { pastPages }) };
  const upstream = bindUpstream(toyConnector, { id, options, limits: null, intervalMs: MINUTE_MS, ...rest });
  const known = JSON.stringify([id, options, upstream.ca]);
  return { ...upstream, fingerprint: () => fingerprints.getOrInsertComputed(known, upstream.fingerprint) };
}

/** They are slow by intention, and most tests are about the same upstream. */
const fingerprints = new Map<string, string>();

/** A clock that moves by sleeping and by being told. */
export class ToyClock {
  #at = Date.UTC(2026, 10, 21, 9, 0, 0);
  readonly slept: number[] = [];
  readonly now = (): EpochMs => toEpochMs(this.#at);
  readonly sleep = async (ms: number): Promise<void> => {
    this.slept.push(ms);
    this.#at += ms;
  };
  advance(ms: number): void {
    this.#at += ms;
  }
}

/** What the network says to a question: a payload, a status that is no answer, or an error. */
export type Say = (path: string, question: HttpQuestion) => unknown;

/** An answer that also says how many more requests are taken. */
export class ToyRemaining {
  readonly payload: unknown;
  readonly remaining: number;
  constructor(payload: unknown, remaining: number) {
    this.payload = payload;
    this.remaining = remaining;
  }
}

export class ToyStatus {
  readonly status: number;
  readonly waitMs: number | null;
  constructor(status: number, waitMs: number | null = null) {
    this.status = status;
    this.waitMs = waitMs;
  }
}

export interface SentRequest {
  readonly at: EpochMs;
  readonly host: string;
  readonly path: string;
}

/** A network that asks for its permit like the real one, takes no time, and remembers what was sent. */
export function toyHttp(
  clock: ToyClock,
  say: Say,
  clockSkewMs: number | null = null,
): Http & { readonly sent: SentRequest[] } {
  const sent: SentRequest[] = [];
  return {
    sent,
    request: async (asked, { permit }) => {
      await permit?.();
      const { host, pathname } = new URL(asked.url);
      const at = clock.now();
      sent.push({ at, host, path: pathname });
      const said = await say(pathname, asked);
      if (said instanceof StatusError) throw said;
      if (said instanceof ToyStatus) {
        const retryAt = said.waitMs === null ? null : toEpochMs(at + said.waitMs);
        throw errorForStatus(`GET ${pathname}`, { status: said.status, retryAt });
      }
      if (said instanceof ToyRemaining)
        return { status: 200, payload: said.payload, at, clockSkewMs, remaining: said.remaining };
      return { status: 200, payload: said, at, clockSkewMs, remaining: null };
    },
    close: async () => undefined,
  };
}

/** A list of monitors, all in one state but those named. */
export function toyMonitors(count: number, states: Readonly<Record<number, string>> = {}) {
  return { monitors: Array.from({ length: count }, (_, id) => ({ id, state: states[id] ?? 'operational' })) };
}

/** Answers a sound upstream gives; `monitors` stands for its list. */
export function sound(monitors: unknown, more: Readonly<Record<string, unknown>> = {}): Say {
  return (path) => {
    if (path in more) return more[path];
    if (path === '/monitors') return monitors;
    return path === '/incidents' ? { incidents: [] } : { ms: 5 };
  };
}

/** No answer came. */
export function noAnswer(): StatusError {
  return new StatusError({ code: 'UPSTREAM_UNREACHABLE', message: 'no answer', context: { fault: 'connect' } });
}
