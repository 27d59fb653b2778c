/**
 * uptime-service: monitors, status pages, reports and maintenances behind one key.
 *
 * By default it speaks as the document has it (`x-svc-key`, `POST {rpcUrl}/MonitorService/listMonitors`, `{restUrl}/whoami`);
 * `preset: openstatus` speaks the recorded wire (Connect, unary JSON; commit 22df52e, 2026-08-21). Each pass asks
 * ListMonitors (100 a page) and, where pages are read, ListStatusPages, GetStatusPageOverview for each page,
 * ListStatusReports, GetStatusReport for reports that ended lately and for a few old ones in turn, `/v1/incident`, and
 * GetMonitorSummary stalest first; once an hour ListNotifications with GetNotification; once for each page, and again
 * when it gets a monitor that had none, GetPageComponentDailySummary (45 days). No limits are documented. Answers hold page passwords and notification
 * secrets: the schemas do not name them, so they are never kept.
 */

import type { z } from 'zod';
import { isStatusError, StatusError } from '../../../errors.ts';
import {
  type Learned,
  type MonitorObservation,
  type NotificationChannel,
  type Problem,
  toMonitorId,
} from '../../../model/observation.ts';
import { HOUR_MS } from '../../../model/time.ts';
import { counted } from '../../../schema/counted.ts';
import {
  ask,
  attemptEach,
  attemptOne,
  type ChannelResource,
  type Connector,
  explainMissing,
  NO_LIMITS,
  type Probe,
  type Pull,
  type PullContext,
} from '../../connector.ts';
import { asNotes, compareIds, completeList, idIn, note, parseItems, toWarnings } from '../items.ts';
import { ACCESS_WORDS, MONITOR_WORDS, THEME_WORDS } from '../page-words.ts';
import { explainPartial, notePartial } from '../paging.ts';
import {
  call,
  type Options,
  OptionsSchema,
  readList,
  readMonitors,
  readRestUrl,
  readSummaries,
  restQuery,
} from './calls.ts';
import { type Found, losesStories, NOTHING_FOUND, readPages, readPagesAndReports } from './pages.ts';
import { COMPONENT_TYPES, projectMonitors } from './project.ts';
import { IMPACT_WORDS, projectOutages, REPORT_WORDS } from './project-reports.ts';
import {
  ChannelAnswerSchema,
  ChannelSchema,
  ChannelSettingsAnswerSchema,
  ChannelsAnswerSchema,
  OutagesAnswerSchema,
  stripPrefix,
  WhoamiSchema,
} from './schema.ts';

function* probe(options: Options, { upstreamId }: PullContext): Pull<Probe> {
  const isPreset = options.preset === 'openstatus';
  const answers = yield* readMonitors(options);
  const problems: Problem[] = [];
  const { monitors, itemsTotal } = projectMonitors(answers.pages, upstreamId, problems);
  const reason = explainPartial(answers);
  const who = yield* readWhoami(options);
  const seen: Problem[] = [];
  const pages = (options.statusPages ?? isPreset) ? yield* readPages(options, upstreamId, seen) : null;
  const parts = [who.summary];
  if (pages !== null) parts.push(counted(pages.pages.length, 'status pages'));
  if (isPreset) parts.push(channelsSummary(yield* listChannels(options, upstreamId, seen)));
  return {
    summary: parts.join('; '),
    warnings: [...who.warnings, ...(reason === null ? [] : [reason]), ...toWarnings([...problems, ...seen])],
    monitorsTotal: answers.pages[0]?.total ?? itemsTotal,
    ...(pages === null ? {} : { learned: { monitors, pages: pages.pages } }),
  };
}

function* readWhoami(options: Options): Pull<Pick<Probe, 'summary' | 'warnings'>> {
  const restUrl = readRestUrl(options);
  if (restUrl === null)
    return { summary: 'key accepted', warnings: ['restUrl is not set, so name, plan and scopes are unknown'] };
  const { payload } = yield* ask(restQuery(options, `${restUrl}/whoami`, { name: 'whoami', schema: WhoamiSchema }));
  const scopes = payload.actor?.scopes ?? null;
  const shown = scopes === null ? 'no scopes shown' : `${scopes.join(' and ')} scope`;
  return {
    summary: `workspace "${payload.name ?? payload.slug ?? '?'}", plan ${payload.plan ?? '?'}, key ${payload.actor?.keyId ?? '?'} with ${shown}`,
    // Keys from before scopes existed may write.
    warnings: scopes === null || scopes.includes('write') ? ['this key can write; a read-only key is enough'] : [],
  };
}

function channelsSummary(channels: readonly NotificationChannel[] | null): string {
  if (channels === null) return 'notification channels unknown';
  if (channels.length === 0) return 'no notification channels';
  const kinds = [...Map.groupBy(channels, ({ kind }) => kind)]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([kind, some]) => `${some.length} ${kind}`);
  return `${counted(channels.length, 'notification channels')} (${kinds.join(', ')})`;
}

function* pull(options: Options, context: PullContext): Pull<Learned> {
  const isPreset = options.preset === 'openstatus';
  const answers = yield* readMonitorsOrPages(options, context);
  const problems: Problem[] = [];
  const { monitors, itemsTotal } = projectMonitors(answers.pages, context.upstreamId, problems);
  notePartial(answers, 'list monitors', problems);
  const {
    days,
    backfilled,
    isStale: isPagesStale,
    ...found
  } = (options.statusPages ?? isPreset) ? yield* readPagesAndReports(options, context, monitors) : NOTHING_FOUND;
  const outages = (options.outages ?? isPreset) ? yield* readOutages(options, context, monitors) : NOTHING_FOUND;
  const details = yield* readSummaries(options, context, { monitors, days });
  problems.push(...found.problems, ...outages.problems);
  const { channelsAt } = context.memory;
  const isChannelsDue = isPreset && (channelsAt == null || context.now - channelsAt >= CHANNELS_AGE_MIN_MS);
  const channels = isChannelsDue ? yield* listChannels(options, context.upstreamId, problems) : null;
  const isStale = isPagesStale || outages.isStale;
  return {
    ...found,
    monitors,
    incidents: [...found.incidents, ...outages.incidents],
    details,
    ...(channels === null ? {} : { channels }),
    problems,
    itemsTotal: itemsTotal + found.itemsTotal + outages.itemsTotal,
    stale: [
      ...(answers.kind === 'shifting' ? (['monitors'] as const) : []),
      ...(isStale ? (['incidents'] as const) : []),
      ...(isPagesStale ? (['maintenances', 'pages'] as const) : []),
    ],
    complete: [...found.complete, ...outages.complete],
    isBackfilled: context.memory.isBackfilled || found.isBackfilled,
    backfilled,
  };
}

/** The monitors; if they are unreadable, the pages are looked at before that is thrown, since they may have been made private. */
function* readMonitorsOrPages(options: Options, { upstreamId }: PullContext): ReturnType<typeof readMonitors> {
  try {
    return yield* readMonitors(options);
  } catch (error) {
    const hasPages = options.statusPages ?? options.preset === 'openstatus';
    if (hasPages && isStatusError(error) && error.code === 'UPSTREAM_SHAPE') yield* readPages(options, upstreamId, []);
    throw error;
  }
}

function* readOutages(options: Options, context: PullContext, monitors: readonly MonitorObservation[]): Pull<Found> {
  const restUrl = readRestUrl(options);
  if (restUrl === null) return NOTHING_FOUND;
  const asked = { name: 'list outages', priority: 'incident', schema: OutagesAnswerSchema } as const;
  const answer = yield* attemptOne(restQuery(options, `${restUrl}/incident`, asked));
  if (answer.kind === 'ok') {
    const problems: Problem[] = [];
    const incidents = projectOutages(answer.payload, { upstreamId: context.upstreamId, monitors }, problems);
    const ids = answer.payload.map((item) => idIn(item));
    // The document says nothing of how far back the list goes; the real service leaves none out.
    const since = options.preset === 'openstatus' ? null : undefined;
    return {
      ...NOTHING_FOUND,
      incidents,
      problems,
      itemsTotal: answer.payload.length,
      isStale: losesStories(answer.payload, incidents, context, 'incident-'),
      complete: completeList('incidents', `${context.upstreamId}/incident-`, ids, since),
    };
  }
  // A service that does not offer it has none.
  const isAbsent = answer.kind === 'failed' && answer.error.code === 'UPSTREAM_REFUSED';
  return { ...NOTHING_FOUND, problems: [note('list outages', explainMissing(answer))], isStale: !isAbsent };
}

export const uptimeService: Connector<Options> = {
  kind: 'uptime-service',
  title: 'monitors and status pages of openstatus (preset: openstatus), or of another uptime service',
  example: {
    id: 'svc',
    kind: 'uptime-service',
    preset: 'openstatus',
    rpcUrl: 'https://uptime.example.com/rpc',
    restUrl: 'https://uptime.example.com/v1',
    apiKey: '${SVC_KEY}',
  },
  questions: [
    { key: 'preset', words: 'Which API does it have? (openstatus, document)', suggestion: 'openstatus' },
    { key: 'rpcUrl', words: 'Address of its RPC API, such as https://api.openstatus.dev/rpc' },
    {
      key: 'restUrl',
      words: 'Address of its REST API (empty: with openstatus, /v1 at the same host; otherwise none)',
      suggestion: '',
    },
    { key: 'apiKey', words: 'Environment variable with a read-only key' },
  ],
  definesPages: true,
  optionsSchema: OptionsSchema,
  limits: NO_LIMITS,
  idField: 'id',
  words: {
    status: [...Object.keys(MONITOR_WORDS), ...Object.keys(REPORT_WORDS)],
    accessType: Object.keys(ACCESS_WORDS),
    theme: Object.keys(THEME_WORDS),
    type: COMPONENT_TYPES,
    impact: Object.keys(IMPACT_WORDS),
  },
  pull,
  probe,
  channels: channelSettings,
};

// Notification channels: which there are, and what triggers them. Where they lead is a secret, and stays there.

/** Channels change when somebody sets them up. */
const CHANNELS_AGE_MIN_MS = HOUR_MS;

type Channels = readonly NotificationChannel[] | null;

/** Sorted by id; null: not answered. */
function* listChannels(options: Options, upstreamId: string, problems: Problem[]): Pull<Channels> {
  const asked = yield* askChannels(options, { upstreamId, problems, schema: ChannelAnswerSchema });
  return asked?.map(({ channel }) => channel).toSorted((a, b) => compareIds(a.id, b.id)) ?? null;
}

/**
 * Channels with where they lead, which a key that only reads is told as well.
 *
 * @throws UPSTREAM_SHAPE where the list cannot be read as a whole
 */
function* channelSettings(options: Options, { upstreamId }: PullContext): Pull<readonly ChannelResource[]> {
  const problems: Problem[] = [];
  const asked = yield* askChannels(options, { upstreamId, problems, schema: ChannelSettingsAnswerSchema });
  if (asked === null)
    throw new StatusError({ code: 'UPSTREAM_SHAPE', message: problems.map(({ message }) => message).join('; ') });
  return asked.map(({ channel, notification }): ChannelResource => {
    const own = Object.entries(notification?.data ?? {}).find(([kind]) => snakeCase(kind) === channel.kind)?.[1];
    // In the names of the resource, and its words for regions.
    const settings = Object.entries(own ?? {}).map(([name, value]) => [
      snakeCase(name),
      name === 'region' ? stripPrefix(value, 'OPSGENIE_REGION_') : value,
    ]);
    return { ...channel, settings: own === undefined ? null : Object.fromEntries(settings) };
  });
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The list names no monitors, so each channel is asked for by itself. Null: the list is not answered. */
function* askChannels<T extends z.output<typeof ChannelAnswerSchema>>(
  options: Options,
  { upstreamId, problems, schema }: { upstreamId: string; problems: Problem[]; schema: z.ZodType<T> },
): Pull<readonly { readonly channel: NotificationChannel; readonly notification?: T['notification'] }[] | null> {
  const listed = yield* readList(options, ['Notification', 'ListNotifications'], {
    name: 'list channels',
    priority: 'detail',
    schema: ChannelsAnswerSchema,
    itemsOf: (page) => page.notifications,
  });
  // An older service that does not offer the list has none.
  if (listed.kind === 'failed' && listed.error.context['status'] === 404) return [];
  if (notePartial(listed, 'list channels', problems)) return null;
  const unread: Problem[] = [];
  const items = listed.pages.flatMap((page) => page.notifications);
  const summaries = parseItems(ChannelSchema, items, 'notifications', unread);
  problems.push(...asNotes(unread));
  const answers = yield* attemptEach(summaries, ({ id }) =>
    call(options, ['Notification', 'GetNotification'], { name: 'channel', priority: 'detail', body: { id }, schema }),
  );
  return answers.map(({ item: { id, name, provider }, answer }) => {
    const word = stripPrefix(provider, 'NOTIFICATION_PROVIDER_');
    const told = answer.kind === 'ok' ? { notification: answer.payload.notification } : {};
    const ids = answer.kind === 'ok' ? (answer.payload.notification.monitorIds ?? []) : null;
    const channel: NotificationChannel = {
      id: `${upstreamId}/${id}`,
      name: name ?? `Channel ${id}`,
      kind: typeof word === 'string' ? word : 'unknown',
      monitors: ids?.toSorted(compareIds).map((monitor) => toMonitorId(upstreamId, monitor)) ?? null,
    };
    return { channel, ...told };
  });
}
