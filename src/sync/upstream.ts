/** A configured upstream, bound to its connector. */

import { scryptSync } from 'node:crypto';
import type { Learned } from '../model/observation.ts';
import type { ChannelResource, Connector, Limits, Probe, Pull, PullContext } from './connector.ts';
import type { Check } from './connectors/check.ts';
import { type BackfillMemory, createBackfillMemory } from './pass/backfill.ts';

export interface Upstream {
  readonly id: string;
  readonly kind: string;
  readonly limits: Limits;
  /** Certificates (PEM) trusted instead of the system's; null: the system's. */
  readonly ca: string | null;
  /** Whether it may define status pages. */
  readonly definesPages: boolean;
  /** Public address of someone else's status page that it reads; null: it reads our own systems. */
  readonly vendorPage: string | null;
  /** Interval between passes. Data is stale after two intervals without an answer. */
  readonly intervalMs: number;
  readonly pull: (context: PullContext) => Pull<Learned>;
  /** Absent: its lists say all. */
  readonly probe?: (context: PullContext) => Pull<Probe>;
  /** Absent: it has no notification channels. */
  readonly channels?: (context: PullContext) => Pull<readonly ChannelResource[]>;
  /** The checks that this installation makes for it; absent: none. */
  readonly checks?: (context: PullContext) => Pull<readonly Check[]>;
  /** Answers of an unfinished backfill. */
  readonly backfill: BackfillMemory;
  /** Changes when the options change; reveals no secrets. */
  readonly fingerprint: () => string;
}

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
): Upstream {
  const { id, options, intervalMs } = settings;
  // The registry holds connectors of many option types; the configuration parsed these by this connector's schema.
  const parsed = options as never;
  const { probe, channels, checks } = connector;
  let fingerprint: string | null = null;
  return {
    id,
    kind: connector.kind,
    limits: settings.limits ?? connector.limits,
    ca: settings.ca ?? null,
    definesPages: connector.definesPages ?? false,
    vendorPage: connector.vendorPage?.(parsed) ?? null,
    intervalMs,
    pull: (context) => connector.pull(parsed, context),
    ...(probe === undefined ? {} : { probe: (context: PullContext) => probe(parsed, context) }),
    ...(channels === undefined ? {} : { channels: (context: PullContext) => channels(parsed, context) }),
    ...(checks === undefined ? {} : { checks: (context: PullContext) => checks(parsed, context) }),
    backfill: createBackfillMemory(),
    fingerprint: () => {
      // Slow on purpose: the fingerprint is stored, and must not help to guess a weak password.
      fingerprint ??= scryptSync(
        (JSON.stringify(options) ?? '') + (settings.ca ?? ''),
        `pharos upstream ${id}`,
        12,
      ).toString('hex');
      return fingerprint;
    },
  };
}
