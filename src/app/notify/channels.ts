/** Notification channels: those of the configuration, and those that it takes from upstreams. */

import type { Config } from '../../config/load.ts';
import {
  type Channel,
  type ChannelSource,
  type ChannelTies,
  channelSettings,
  isChannel,
  openAddresses,
} from '../../config/notifications.ts';
import { messageOf } from '../../errors.ts';
import { type EpochMs, MINUTE_MS } from '../../model/time.ts';
import { check, type Fault, faultText } from '../../schema/issue-words.ts';
import type { ChannelResource } from '../../sync/connector.ts';
import type { Upstream } from '../../sync/upstream.ts';
import { NOTHING_REMEMBERED, type SingleRunnerDeps, singleRunner } from '../probe.ts';

/** A configured channel that can't be used. */
interface ChannelOff {
  readonly id: string;
  /** Null: the upstream's channels aren't known. */
  readonly kind: string | null;
  /** What is missing, and the remedy. */
  readonly reason: string;
}

type KnownChannels = ReturnType<typeof takeOver>;

interface ChannelsDeps extends SingleRunnerDeps {
  /** The current configuration. */
  readonly config: () => Config;
  readonly upstreams: () => readonly Upstream[];
}

/** How often upstreams are asked for their channels, which rarely change. */
const ASK_AGAIN_MS = 10 * MINUTE_MS;

export function createChannels(deps: ChannelsDeps) {
  let config: Config | null = null;
  let askAgainAt = 0;
  let known: Promise<KnownChannels> = Promise.resolve({ channels: [], off: [] });
  const resources = new Map<string, readonly ChannelResource[]>();
  const find = async (at: EpochMs): Promise<KnownChannels> => {
    const current = deps.config();
    const found = await Promise.all(
      current.notifications.map(async (entry): Promise<KnownChannels> => {
        if (isChannel(entry)) return { channels: [entry], off: [] };
        try {
          resources.set(entry.from, await askUpstream(deps, entry.from, at));
        } catch (error) {
          if (!resources.has(entry.from))
            return { channels: [], off: [{ id: entry.id, kind: null, reason: messageOf(error) }] };
        }
        return takeOver(entry, resources.get(entry.from) ?? [], current);
      }),
    );
    return { channels: found.flatMap(({ channels }) => channels), off: found.flatMap(({ off }) => off) };
  };
  const refresh = (): Promise<KnownChannels> => {
    const at = deps.now();
    const current = deps.config();
    if (config === current && at < askAgainAt) return known;
    if (config !== current) resources.clear();
    config = current;
    askAgainAt = at + ASK_AGAIN_MS;
    known = find(at).then((found) => {
      if (found.off.some(({ kind }) => kind === null)) askAgainAt = at + MINUTE_MS;
      return found;
    });
    return known;
  };
  return {
    /**
     * Returns the channels. Requests those of upstreams again after a while; if that fails, the known ones stay. Never throws
     * because of an upstream.
     */
    known: refresh,
    /**
     * Returns the channels that are known now: those of the current configuration, and those of upstreams as last read. Starts
     * a new request if one is due.
     */
    latest: (): readonly Channel[] => {
      void refresh();
      const current = deps.config();
      return current.notifications.flatMap((entry) =>
        isChannel(entry) ? [entry] : takeOver(entry, resources.get(entry.from) ?? [], current).channels,
      );
    },
  };
}

async function askUpstream(deps: ChannelsDeps, id: string, at: EpochMs): Promise<readonly ChannelResource[]> {
  const upstream = deps.upstreams().find((candidate) => candidate.id === id);
  if (upstream?.channels === undefined)
    throw new Error(
      `the upstream ${id} has no readable notification channels; use a terraform or uptime-service upstream`,
    );
  return singleRunner(deps, upstream).run(upstream.channels({ upstreamId: id, now: at, memory: NOTHING_REMEMBERED }));
}

function takeOver(source: ChannelSource, resources: readonly ChannelResource[], config: Config) {
  const taken = resources.map((resource): Channel | ChannelOff => {
    const id = `${source.id}${resource.id.slice(resource.id.indexOf('/'))}`;
    const off = (reason: string): ChannelOff => ({ id, kind: resource.kind, reason });
    const schema = channelSettings(resource.kind);
    if (schema === null) return off(`Pharos has no channels of kind ${resource.kind}`);
    if (resource.settings === null)
      return off(
        'the upstream doesn’t provide its settings; use a state or variables that contain them, or configure the channel here',
      );
    if (resource.monitors === null) return off('the upstream doesn’t say which monitors trigger it');
    const monitors = resource.monitors.filter((monitor) => source.monitors?.includes(monitor) ?? true);
    if (monitors.length === 0) return off('no monitor triggers it');
    if (resource.kind === 'email' && config.access.smtp === undefined)
      return off('it needs a mail server: set access.smtp and access.from');
    const parsed = check(schema, mergeSettings(source, resource.settings, Object.keys(schema.shape)));
    if (!parsed.success) return off(parsed.faults.map(settingFault).join('; '));
    const open = openAddresses(parsed.data, source.allow_private_hosts);
    if (open.length > 0) return off(open.map(([name, message]) => `${name}: ${message}`).join('; '));
    const { pages, components, locale, allow_private_hosts } = source;
    const ties: ChannelTies = { id, monitors, pages, components, locale, allow_private_hosts };
    return { ...ties, kind: resource.kind, settings: parsed.data } as Channel;
  });
  return {
    channels: taken.filter((channel) => 'settings' in channel),
    off: taken.filter((channel) => 'reason' in channel),
  };
}

/** Settings of a channel: from its upstream, or from the keys next to `from`. */
function mergeSettings(
  source: ChannelSource,
  told: NonNullable<ChannelResource['settings']>,
  names: readonly string[],
): Readonly<Record<string, unknown>> {
  const beside: Readonly<Record<string, unknown>> = {
    bot_token: source.bot_token?.reveal(),
    gateway: source.gateway,
    gateway_headers: Object.fromEntries(
      Object.entries(source.gateway_headers).map(([name, value]) => [name, value.reveal()]),
    ),
    secrets: source.secrets?.map((secret) => secret.reveal()),
  };
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = told[name] === '' ? undefined : (told[name] ?? beside[name]);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

const MISSING: Readonly<Record<string, string>> = {
  bot_token: 'the upstream doesn’t provide its bot token; set bot_token next to from',
  gateway: 'it needs a gateway; set gateway next to from',
  secrets: 'there is no secret to sign its requests; set secrets next to from',
};

function settingFault(fault: Fault): string {
  return MISSING[fault.path.split('.')[0] ?? ''] ?? faultText(fault);
}
