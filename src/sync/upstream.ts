/** A configured upstream, bound to its connector. */

import { hash, scryptSync } from 'node:crypto';
import { type EpochMs, HOUR_MS } from '../model/time.ts';
import { type Answer, type Connector, type Limits, NO_LIMITS, type PullContext, type Question } from './connector.ts';

export type Upstream = ReturnType<typeof bindUpstream>;

export interface UpstreamSettings {
  readonly id: string;
  /** What the connector's own `optionsSchema` made of the configuration. */
  readonly options: unknown;
  /** Null: the documented ones. */
  readonly limits: Limits | null;
  /** Absent or null: the system's certificates are trusted. */
  readonly ca?: string | null;
  readonly intervalMs: number;
}

/** Binds a connector to options that its own schema has parsed. */
export function bindUpstream(
  connector: Pick<
    Connector<never>,
    'kind' | 'limits' | 'definesPages' | 'vendorPage' | 'pull' | 'probe' | 'channels' | 'checks'
  >,
  settings: UpstreamSettings,
) {
  const { id, options, intervalMs } = settings;
  // The registry holds connectors of many option types; the configuration parsed these by this connector's schema.
  const parsed = options as never;
  const { kind, limits = NO_LIMITS, definesPages = false, vendorPage, pull, probe, channels, checks } = connector;
  const ca = settings.ca ?? null;
  let fingerprint: string | null = null;
  return {
    id,
    kind,
    limits: settings.limits ?? limits,
    /** Certificates (PEM) trusted instead of the system's; null: the system's. */
    ca,
    /** Whether it may define status pages. */
    definesPages,
    /** Public address of someone else's status page that it reads; null: it reads our own systems. */
    vendorPage: vendorPage?.(parsed) ?? null,
    /** Interval between passes. Data is stale after two intervals without an answer. */
    intervalMs,
    pull: (context: PullContext) => pull(parsed, context),
    /** Undefined: its lists say all. */
    probe: probe && ((context: PullContext) => probe(parsed, context)),
    /** Undefined: it has no notification channels. */
    channels: channels && ((context: PullContext) => channels(parsed, context)),
    /** The checks that this installation makes for it; undefined: none. */
    checks: checks && ((context: PullContext) => checks(parsed, context)),
    /** Answers of an unfinished backfill. */
    backfill: createBackfillMemory(),
    /** Changes when the options change; reveals no secrets. */
    fingerprint: (): string => {
      // Slow on purpose: the fingerprint is stored, and must not help to guess a weak password.
      fingerprint ??= scryptSync((JSON.stringify(options) ?? '') + (ca ?? ''), `pharos upstream ${id}`, 12).toString(
        'hex',
      );
      return fingerprint;
    },
  };
}

/** Older pages no longer fit newer ones. */
const KEPT_MS = HOUR_MS;
/** A few tens of megabytes at most; more than a connector asks for. */
const ANSWERS_MAX = 250;

/**
 * Keeps answers of a backfill while some of it waits for quota or fails, so that a long list continues where the last pass stopped, not
 * at its first page. Of one upstream; lasts until the process ends.
 */
export function createBackfillMemory() {
  const answers = new Map<string, Answer<unknown> & { readonly at: EpochMs }>();
  return {
    /** The earlier answer to this question; null: there is none, or it is too old. */
    recall: (question: Question<unknown>, now: EpochMs): Answer<unknown> | null => {
      const answer = answers.get(questionKey(question));
      return answer !== undefined && Math.abs(now - answer.at) < KEPT_MS ? answer : null;
    },
    keep: (question: Question<unknown>, answer: Answer<unknown> & { readonly at: EpochMs }): void => {
      const [oldest] = answers.keys();
      if (answers.size >= ANSWERS_MAX && oldest !== undefined) answers.delete(oldest);
      answers.set(questionKey(question), answer);
    },
    clear: () => answers.clear(),
  };
}

/** The same for the same question in every pass. */
export function questionKey({ name, method, url, body }: Question<unknown>): string {
  return hash('sha256', JSON.stringify([name, method, url, body ?? null]), 'base64url').slice(0, 22);
}
