/** `api/state.json`: the present state of a page in a few hundred bytes, and until when a copy of it may be believed. */

import { type PageModel, type State, toIso } from '../../model/index.ts';
import { isOpen } from '../incident/event-times.ts';
import { absoluteUrl } from '../text/absolute-url.ts';
import { incidentPath, maintenancePath } from '../text/addresses.ts';
import { v2ComponentId, v2PageId, v2Sections } from '../v2/components.ts';
import { v2IncidentId } from '../v2/incidents.ts';
import { v2MaintenanceId } from '../v2/maintenances.ts';
import { catalogueTag, wordsOf } from '../words/index.ts';
import { bannerSentence, stateWord } from '../words/state-words.ts';

export interface StateDocument {
  readonly page: { readonly id: string; readonly name: string; readonly url: string };
  readonly state: State;
  /** The sentence at the top of the page, in its language. */
  readonly sentence: string;
  readonly locale: string;
  readonly as_of: string;
  /** A copy read after this instant is no longer kept up to date: its state is unknown. */
  readonly stale_after: string;
  readonly stale: boolean;
  /** In the order of the page. */
  readonly components: readonly StateComponent[];
  /** Newest first. */
  readonly open_incidents: readonly StateEvent[];
  /** Running or announced, soonest first. */
  readonly maintenances: readonly StateEvent[];
}

export interface StateComponent {
  /** As in the addresses of the page. */
  readonly id: string;
  /** As in `api/v2/components.json`. */
  readonly v2_id: string;
  readonly name: string;
  readonly group: string | null;
  readonly state: State;
  /** The state in the language of the page. */
  readonly state_text: string;
  readonly stale: boolean;
}

export interface StateEvent {
  /** As in `api/v2/`. */
  readonly id: string;
  readonly title: string;
  readonly url: string;
  readonly status: string;
  readonly started_at: string;
  /** Null: nobody knows yet. */
  readonly ends_at: string | null;
}

export function stateDocument(model: PageModel): StateDocument {
  const { definition, settings, state, asOf } = model;
  const words = wordsOf(settings.locale);
  return {
    page: { id: v2PageId(model), name: definition.title, url: settings.url },
    state,
    sentence: bannerSentence(state, words),
    locale: catalogueTag(settings.locale),
    as_of: toIso(asOf),
    stale_after: toIso(model.staleAfter),
    stale: model.isStale,
    components: v2Sections(model).flatMap(({ group, members }) =>
      members.map((component) => ({
        id: component.definition.id,
        v2_id: v2ComponentId(model, component.definition.id),
        name: component.name,
        group: group?.name ?? null,
        state: component.state,
        state_text: stateWord(component.state, words),
        stale: component.isStale,
      })),
    ),
    open_incidents: model.incidents
      .filter((incident) => isOpen(incident, asOf))
      .map((incident) => ({
        id: v2IncidentId(model, incident),
        title: incident.title,
        url: absoluteUrl(model, incidentPath(incident.slug)),
        status: incident.status,
        started_at: toIso(incident.startedAt),
        ends_at: incident.endedAt === null ? null : toIso(incident.endedAt),
      })),
    maintenances: model.maintenances
      .filter(({ status }) => status !== 'completed')
      .map((maintenance) => ({
        id: v2MaintenanceId(model, maintenance),
        title: maintenance.title,
        url: absoluteUrl(model, maintenancePath(maintenance.slug)),
        status: maintenance.status,
        started_at: toIso(maintenance.startsAt),
        ends_at: toIso(maintenance.endsAt),
      }))
      .reverse(),
  };
}
