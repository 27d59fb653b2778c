/**
 * uptime-service: monitors, status pages, reports and maintenances behind one key.
 *
 * By default it speaks as the document has it (`x-svc-key`, `POST {rpcUrl}/MonitorService/listMonitors`, `{restUrl}/whoami`);
 * `preset: openstatus` speaks the recorded wire (Connect, unary JSON; commit 22df52e, 2026-08-21). Each pass asks
 * ListMonitors (100 a page) and, where pages are read, ListStatusPages, GetStatusPageOverview for each page,
 * ListStatusReports, GetStatusReport for reports that ended lately and for a few old ones in turn, `/v1/incident`, and
 * GetMonitorSummary stalest first; once an hour ListNotifications with GetNotification; once,
 * GetPageComponentDailySummary (45 days). No limits are documented. Answers hold page passwords and notification
 * secrets: the schemas do not name them, so they are never kept.
 */

import { type Learned, type MonitorObservation, NOTHING_LEARNED } from '../../../model/observation.ts';
import { attemptOne, type Connector, NO_LIMITS, type Pull, type PullContext, whyMissing } from '../../connector.ts';
import { idIn, losesOpen, note } from '../items.ts';
import { ACCESS_WORDS, MONITOR_WORDS, THEME_WORDS } from '../page-words.ts';
import { whyPartial } from '../paging.ts';
import { type Options, OptionsSchema, restQuestion, restUrlOf } from './calls.ts';
import { channelSettings, readChannels } from './channels.ts';
import { INTRODUCTION } from './init.ts';
import { readMonitors, readSummaries } from './monitors.ts';
import { type Found, idsThere, NOTHING_FOUND, openThere, readPagesAndReports } from './pages.ts';
import { probe } from './probe.ts';
import { projectMonitors } from './project.ts';
import { COMPONENT_TYPES } from './project-page.ts';
import { projectOutages } from './project-posts.ts';
import { IMPACT_WORDS, REPORT_WORDS } from './project-reports.ts';
import { ID_FIELD, OutagesAnswerSchema } from './schema.ts';

function* pull(options: Options, context: PullContext): Pull<Learned> {
  const isPreset = options.preset === 'openstatus';
  const answers = yield* readMonitors(options);
  const { monitors, problems, itemsTotal } = projectMonitors(answers.pages, context.upstreamId);
  const reason = whyPartial(answers);
  const found = (options.statusPages ?? isPreset) ? yield* readPagesAndReports(options, context) : NOTHING_FOUND;
  const outages = (options.outages ?? isPreset) ? yield* readOutages(options, context, monitors) : NOTHING_FOUND;
  const details = yield* readSummaries(options, context, { monitors, days: found.days });
  const channels = isPreset ? yield* readChannels(options, context) : { channels: null, problems: [] };
  const isStale = found.isStale || outages.isStale;
  return {
    ...NOTHING_LEARNED,
    monitors,
    incidents: [...found.incidents, ...outages.incidents],
    maintenances: found.maintenances,
    pages: found.pages,
    details,
    ...(channels.channels === null ? {} : { channels: channels.channels }),
    problems: [
      ...problems,
      ...(reason === null ? [] : [note('list monitors', reason)]),
      ...found.problems,
      ...outages.problems,
      ...channels.problems,
    ],
    itemsTotal: itemsTotal + found.itemsTotal + outages.itemsTotal,
    stale: [
      ...(answers.kind === 'shifting' ? (['monitors'] as const) : []),
      ...(isStale ? (['incidents'] as const) : []),
      ...(found.isStale ? (['maintenances', 'pages'] as const) : []),
    ],
    complete: [...found.complete, ...outages.complete],
    gone: found.gone,
    readAgain: found.readAgain,
    isBackfilled: context.memory.isBackfilled || found.isBackfilled,
  };
}

function* readOutages(options: Options, context: PullContext, monitors: readonly MonitorObservation[]): Pull<Found> {
  const restUrl = restUrlOf(options);
  if (restUrl === null) return NOTHING_FOUND;
  const answer = yield* attemptOne(
    restQuestion(options, restUrl, {
      name: 'list outages',
      priority: 'incident',
      path: '/incident',
      schema: OutagesAnswerSchema,
    }),
  );
  if (answer.kind === 'ok') {
    const { incidents, problems } = projectOutages(answer.payload, { upstreamId: context.upstreamId, monitors });
    const isStale = losesOpen(answer.payload, {
      idField: ID_FIELD,
      taken: idsThere(incidents, 'incident-'),
      open: openThere(context, 'incident-'),
    });
    const prefix = `${context.upstreamId}/incident-`;
    const ids = answer.payload.map((item) => idIn(item, ID_FIELD));
    return {
      ...NOTHING_FOUND,
      incidents,
      problems,
      itemsTotal: answer.payload.length,
      isStale,
      // The document says nothing of how far back the list goes; the real service leaves none out.
      complete:
        options.preset === 'openstatus' && !ids.includes(null)
          ? [{ part: 'incidents', prefix, since: null, ids: ids.map((id) => `${prefix}${id}`) }]
          : [],
    };
  }
  // A service that does not offer it has none.
  const isAbsent = answer.kind === 'failed' && answer.error.code === 'UPSTREAM_REFUSED';
  return { ...NOTHING_FOUND, problems: [note('list outages', whyMissing(answer))], isStale: !isAbsent };
}

export const uptimeService: Connector<Options> = {
  ...INTRODUCTION,
  definesPages: true,
  kind: 'uptime-service',
  optionsSchema: OptionsSchema,
  limits: NO_LIMITS,
  idField: ID_FIELD,
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
