/** Notification channels: which there are, and what triggers them. Where they lead is a secret, and stays there. */

import type { z } from 'zod';
import { StatusError } from '../../../errors.ts';
import { type NotificationChannel, type Problem, toMonitorId } from '../../../model/observation.ts';
import { HOUR_MS } from '../../../model/time.ts';
import { type Answer, attempt, type ChannelResource, type Pull, type PullContext } from '../../connector.ts';
import { compareIds, note, parseItems } from '../items.ts';
import { whyPartial } from '../paging.ts';
import { call, type Options, readList } from './calls.ts';
import {
  ChannelAnswerSchema,
  ChannelSchema,
  ChannelSettingsAnswerSchema,
  ChannelsAnswerSchema,
  wordOf,
} from './schema.ts';

/** Channels change when somebody sets them up. */
const CHANNELS_AGE_MIN_MS = HOUR_MS;

export interface FoundChannels {
  /** Sorted by id; null: not asked for, or not answered. */
  readonly channels: readonly NotificationChannel[] | null;
  readonly problems: readonly Problem[];
}

/** Asks for all channels, no more than once an hour. */
export function* readChannels(options: Options, context: PullContext): Pull<FoundChannels> {
  const { channelsAt = null } = context.memory;
  if (channelsAt !== null && context.now - channelsAt < CHANNELS_AGE_MIN_MS) return { channels: null, problems: [] };
  return yield* listChannels(options, context.upstreamId);
}

interface Asked<T> {
  readonly asked: readonly { readonly channel: NotificationChannel; readonly answer: Answer<T> | undefined }[];
  readonly problems: readonly Problem[];
}

/** Null: not answered. */
export function* listChannels(options: Options, upstreamId: string): Pull<FoundChannels> {
  const { asked, problems } = yield* askChannels(options, upstreamId, ChannelAnswerSchema);
  if (asked === null) return { channels: null, problems };
  const channels = asked.map(({ channel }) => channel);
  return { channels: channels.toSorted((a, b) => compareIds(a.id, b.id)), problems };
}

/**
 * Channels with where they lead, which a key that only reads is told as well.
 *
 * @throws UPSTREAM_SHAPE where the list cannot be read as a whole
 */
export function* channelSettings(options: Options, { upstreamId }: PullContext): Pull<readonly ChannelResource[]> {
  const { asked, problems } = yield* askChannels(options, upstreamId, ChannelSettingsAnswerSchema);
  if (asked === null)
    throw new StatusError({ code: 'UPSTREAM_SHAPE', message: problems.map(({ message }) => message).join('; ') });
  return asked.map(({ channel, answer }): ChannelResource => {
    const data = answer?.kind === 'ok' ? answer.payload.notification.data : null;
    const own = Object.entries(data ?? {}).find(([kind]) => snakeCase(kind) === channel.kind)?.[1];
    return { ...channel, settings: own === undefined ? null : settingsIn(own) };
  });
}

/** In the names of the resource, and its words for regions. */
function settingsIn(own: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(own).map(([name, value]) => [
      snakeCase(name),
      name === 'region' ? wordOf(value, 'OPSGENIE_REGION_') : value,
    ]),
  );
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The list names no monitors, so each channel is asked for by itself. */
function* askChannels<T extends z.output<typeof ChannelAnswerSchema>>(
  options: Options,
  upstreamId: string,
  schema: z.ZodType<T>,
): Pull<Asked<T> | { readonly asked: null; readonly problems: readonly Problem[] }> {
  const listed = yield* readList(options, ['Notification', 'ListNotifications'], {
    name: 'list channels',
    priority: 'detail',
    schema: ChannelsAnswerSchema,
    itemsOf: (page) => page.notifications,
  });
  // An older service that does not offer the list has none.
  if (listed.kind === 'failed' && listed.error.context['status'] === 404) return { asked: [], problems: [] };
  const reason = whyPartial(listed);
  if (reason !== null) return { asked: null, problems: [note('list channels', reason)] };
  const summaries = parseItems(
    ChannelSchema,
    listed.pages.flatMap((page) => page.notifications),
    'notifications',
  );
  const answers = yield* attempt(
    summaries.items.map(({ id }) =>
      call(options, ['Notification', 'GetNotification'], { name: 'channel', priority: 'detail', body: { id }, schema }),
    ),
  );
  const asked = summaries.items.map((summary, index) => {
    const word = wordOf(summary.provider, 'NOTIFICATION_PROVIDER_');
    const answer = answers[index];
    const channel: NotificationChannel = {
      id: `${upstreamId}/${summary.id}`,
      name: summary.name ?? `Channel ${summary.id}`,
      kind: typeof word === 'string' ? word : 'unknown',
      monitors: monitorsIn(answer, upstreamId),
    };
    return { channel, answer };
  });
  return { asked, problems: summaries.problems.map((problem) => ({ ...problem, kind: 'note' })) };
}

function monitorsIn(
  answer: Answer<{ notification: { monitorIds?: readonly string[] | null | undefined } }> | undefined,
  upstreamId: string,
): NotificationChannel['monitors'] {
  if (answer?.kind !== 'ok') return null;
  const ids = answer.payload.notification.monitorIds ?? [];
  return ids.toSorted(compareIds).map((id) => toMonitorId(upstreamId, id));
}

/** `2 slack, 1 webhook`; empty: there are none. */
export function channelWords(channels: readonly NotificationChannel[]): string {
  const kinds = Map.groupBy(channels, ({ kind }) => kind);
  return [...kinds]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([kind, some]) => `${some.length} ${kind}`)
    .join(', ');
}
