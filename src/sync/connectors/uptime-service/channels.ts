/** Notification channels: which there are, and what triggers them. Where they lead is a secret, and stays there. */

import { type NotificationChannel, type Problem, toMonitorId } from '../../../model/observation.ts';
import { HOUR_MS } from '../../../model/time.ts';
import { type Answer, attempt, type Pull, type PullContext } from '../../connector.ts';
import { compareIds, note, parseItems } from '../items.ts';
import { whyPartial } from '../paging.ts';
import { call, type Options, readList } from './calls.ts';
import { ChannelAnswerSchema, ChannelSchema, ChannelsAnswerSchema, wordOf } from './schema.ts';

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

/** The list names no monitors, so each channel is asked for by itself. */
export function* listChannels(options: Options, upstreamId: string): Pull<FoundChannels> {
  const listed = yield* readList(options, ['Notification', 'ListNotifications'], {
    name: 'list channels',
    priority: 'detail',
    schema: ChannelsAnswerSchema,
    itemsOf: (page) => page.notifications,
  });
  // An older service that does not offer the list has none.
  if (listed.kind === 'failed' && listed.error.context['status'] === 404) return { channels: [], problems: [] };
  const reason = whyPartial(listed);
  if (reason !== null) return { channels: null, problems: [note('list channels', reason)] };
  const summaries = parseItems(
    ChannelSchema,
    listed.pages.flatMap((page) => page.notifications),
    'notifications',
  );
  const answers = yield* attempt(
    summaries.items.map(({ id }) =>
      call(options, ['Notification', 'GetNotification'], {
        name: 'channel',
        priority: 'detail',
        body: { id },
        schema: ChannelAnswerSchema,
      }),
    ),
  );
  const channels = summaries.items.map((summary, index): NotificationChannel => {
    const word = wordOf(summary.provider, 'NOTIFICATION_PROVIDER_');
    return {
      id: `${upstreamId}/${summary.id}`,
      name: summary.name ?? `Channel ${summary.id}`,
      kind: typeof word === 'string' ? word : 'unknown',
      monitors: monitorsIn(answers[index], upstreamId),
    };
  });
  return {
    channels: channels.toSorted((a, b) => compareIds(a.id, b.id)),
    problems: summaries.problems.map((problem) => ({ ...problem, kind: 'note' })),
  };
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
