/** What `pharos check` asks the uptime service: who it takes us for, and what there is to show. */

import type { Problem } from '../../../model/observation.ts';
import { ask, type Probe, type Pull, type PullContext } from '../../connector.ts';
import { toWarnings } from '../items.ts';
import { whyPartial } from '../paging.ts';
import { type Options, restQuestion, restUrlOf } from './calls.ts';
import { channelWords, type FoundChannels, listChannels } from './channels.ts';
import { monitorCount, readMonitors } from './monitors.ts';
import { readPages } from './pages.ts';
import { projectMonitors } from './project.ts';
import { WhoamiSchema } from './schema.ts';

export function* probe(options: Options, { upstreamId }: PullContext): Pull<Probe> {
  const isPreset = options.preset === 'openstatus';
  const answers = yield* readMonitors(options);
  const { monitors, problems } = projectMonitors(answers.pages, upstreamId);
  const reason = whyPartial(answers);
  const who = yield* readWhoami(options);
  const pages = (options.statusPages ?? isPreset) ? yield* readPages(options, upstreamId) : null;
  const found = isPreset ? yield* listChannels(options, upstreamId) : null;
  const parts = [
    who.summary,
    ...(pages === null ? [] : [pages.pages.length === 1 ? '1 status page' : `${pages.pages.length} status pages`]),
    ...(found === null ? [] : [channelsSummary(found)]),
  ];
  const told: Problem[] = [...problems, ...(pages?.problems ?? []), ...(found?.problems ?? [])];
  return {
    summary: parts.join('; '),
    warnings: [...who.warnings, ...(reason === null ? [] : [reason]), ...toWarnings(told)],
    monitorsTotal: answers.pages[0]?.total ?? answers.pages.reduce((sum, page) => sum + monitorCount(page), 0),
    ...(pages === null ? {} : { learned: { monitors, pages: pages.pages } }),
  };
}

function* readWhoami(options: Options): Pull<Pick<Probe, 'summary' | 'warnings'>> {
  const restUrl = restUrlOf(options);
  if (restUrl === null)
    return { summary: 'key accepted', warnings: ['restUrl is not set, so name, plan and scopes are unknown'] };
  const { payload } = yield* ask(
    restQuestion(options, restUrl, { name: 'whoami', priority: 'list', path: '/whoami', schema: WhoamiSchema }),
  );
  const scopes = payload.actor?.scopes ?? null;
  const shown = scopes === null ? 'no scopes shown' : `${scopes.join(' and ')} scope`;
  return {
    summary: `workspace "${payload.name ?? payload.slug ?? '?'}", plan ${payload.plan ?? '?'}, key ${payload.actor?.keyId ?? '?'} with ${shown}`,
    // Keys from before scopes existed may write.
    warnings: scopes === null || scopes.includes('write') ? ['this key can write; a read-only key is enough'] : [],
  };
}

function channelsSummary({ channels }: FoundChannels): string {
  if (channels === null) return 'notification channels unknown';
  const count = channels.length === 1 ? '1 notification channel' : `${channels.length} notification channels`;
  return channels.length === 0 ? 'no notification channels' : `${count} (${channelWords(channels)})`;
}
