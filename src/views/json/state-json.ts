/**
 * `api/state.json`: the present state of a page in a few hundred bytes, and until when a copy of it may be believed. Our other
 * JSON documents share its names of pages, components and events, and its form as text.
 */

import {
  type ComponentModel,
  FORMULA_VERSION,
  type PageIncident,
  type PageMaintenance,
  type PageModel,
  type SourceFreshness,
  toEpochMs,
  toIso,
  toIsoOrNull,
} from '../../model/index.ts';
import { isOpen } from '../model/page-state.ts';
import { listSections } from '../model/sections.ts';
import { absoluteUrl, incidentPath, maintenancePath } from '../text/addresses.ts';
import { v2ComponentId, v2PageId } from '../v2/components.ts';
import { v2IncidentId, v2MaintenanceId } from '../v2/incidents.ts';
import { bannerSentence, catalogueTag, findWords, stateWord } from '../words/index.ts';

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

export function pageHead(model: PageModel) {
  return { id: v2PageId(model), name: model.definition.title, url: model.settings.url };
}

/** @param group  the name of the group it stands in */
export function componentHead(
  model: PageModel,
  { definition, plainName: name }: ComponentModel,
  group: string | null | undefined,
) {
  return { id: definition.id, v2_id: v2ComponentId(model, definition.id), name, group: group ?? null };
}

export function incidentHead(model: PageModel, { title, slug, status, id }: PageIncident) {
  // As in `api/v2/`.
  return {
    id: v2IncidentId(model, { id }),
    title,
    url: absoluteUrl(model, incidentPath(slug)),
    status: status as string,
  };
}

export function maintenanceHead(
  model: PageModel,
  { title, slug, status, id }: PageMaintenance,
): ReturnType<typeof incidentHead> {
  return { id: v2MaintenanceId(model, { id }), title, url: absoluteUrl(model, maintenancePath(slug)), status };
}

/** A lone surrogate in JSON. */
const LONE_SURROGATE = /\\ud[89a-f]/;

/** A view as JSON that every parser accepts: lone surrogates replaced, on one line, with a line feed at the end. */
export function jsonText(view: unknown): string {
  const text = JSON.stringify(view);
  // Checking every string takes several times as long, so it is only done if one may be broken.
  return `${LONE_SURROGATE.test(text) ? JSON.stringify(view, wellFormed) : text}\n`;
}

function wellFormed(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed() : value;
}
