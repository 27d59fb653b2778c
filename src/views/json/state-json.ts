/** `api/state.json`: the present state of a page in a few hundred bytes, and until when a copy of it may be believed. */

import {
  FORMULA_VERSION,
  type PageModel,
  type SourceFreshness,
  toEpochMs,
  toIso,
  toIsoOrNull,
} from '../../model/index.ts';
import { isOpen } from '../incident/events.ts';
import { listSections } from '../model/sections.ts';
import { catalogueTag, findWords } from '../words/index.ts';
import { bannerSentence, stateWord } from '../words/state-words.ts';
import { componentHead, incidentHead, maintenanceHead, pageHead } from './heads.ts';

// `api/now.json`: when a page was checked last, which no file drawn at its last change can know.

/** What it says that stays the same as long as the release does, kept with the release. */
export interface NowFacts extends Pick<PageModel, 'state' | 'staleAfter'> {
  /** Ids of the upstreams that the page draws on. */
  readonly upstreams: readonly string[];
}

export function nowFacts({ state, staleAfter, sources }: PageModel): NowFacts {
  return { state, staleAfter, upstreams: sources.map(({ upstreamId }) => upstreamId) };
}

/** @param sources  of every upstream, as they are at this moment */
export function nowDocument(
  { state, staleAfter, upstreams }: NowFacts,
  { release, sources }: { readonly release: number; readonly sources: readonly SourceFreshness[] },
) {
  const answers = upstreams.flatMap((id) => sources.find(({ upstreamId }) => upstreamId === id)?.monitorsAt ?? []);
  const isKnown = answers.length > 0 && answers.length === upstreams.length;
  return {
    // The oldest answer.
    checkedAt: isKnown ? toIso(toEpochMs(Math.min(...answers))) : null,
    staleAfter: toIso(staleAfter),
    state,
    release,
  };
}

/** `docs/schema/state.schema.json` says what each field is. */
export function stateDocument(model: PageModel) {
  const { settings, state, asOf } = model;
  const words = findWords(settings.locale);
  return {
    page: pageHead(model),
    state,
    since: toIsoOrNull(model.since),
    sentence: bannerSentence(state, words),
    locale: catalogueTag(settings.locale),
    as_of: toIso(asOf),
    stale_after: toIso(model.staleAfter),
    stale: model.isStale,
    components: listSections(model).flatMap(({ group, members }) =>
      members.map((component) => ({
        ...componentHead(model, component, group?.name),
        state: component.state,
        since: toIsoOrNull(component.since),
        state_text: stateWord(component.state, words),
        stale: component.isStale,
      })),
    ),
    open_incidents: model.incidents
      .filter((incident) => isOpen(incident))
      .map((incident) => ({
        ...incidentHead(model, incident),
        started_at: toIso(incident.startedAt),
        ends_at: toIsoOrNull(incident.endedAt),
      })),
    maintenances: model.maintenances
      .filter(({ status }) => status !== 'completed')
      .map((maintenance) => ({
        ...maintenanceHead(model, maintenance),
        started_at: toIso(maintenance.startsAt),
        ends_at: toIsoOrNull(maintenance.endsAt),
      }))
      .reverse(),
  };
}

// `build.json`: what a release was made by and from, for whoever looks after it. Nothing in it is not on the page too.

/** @param version of Pharos */
export function buildDocument(model: PageModel, version: string) {
  return {
    versions: { pharos: version, uptime_formula: FORMULA_VERSION },
    as_of: toIso(model.asOf),
    stale_after: toIso(model.staleAfter),
    snapshots: model.sources.map((source) => ({
      monitors_at: toIsoOrNull(source.monitorsAt),
      incidents_at: toIsoOrNull(source.incidentsAt),
      interval_seconds: source.intervalMs / 1_000,
      stale: source.isMonitorsStale || source.isIncidentsStale,
    })),
    counts: {
      groups: model.groups.length,
      components: model.components.length,
      incidents: model.incidents.length,
      maintenances: model.maintenances.length,
      announcements: model.announcements.length,
    },
  };
}
