/** `api/state.json`: the present state of a page in a few hundred bytes, and until when a copy of it may be believed. */

import { type PageModel, type State, toIso } from '../../model/index.ts';
import { isOpen } from '../incident/event-times.ts';
import { listSections } from '../model/sections.ts';
import { catalogueTag, findWords } from '../words/index.ts';
import { bannerSentence, stateWord } from '../words/state-words.ts';
import {
  type ComponentHead,
  componentHead,
  type EventHead,
  endText,
  incidentHead,
  maintenanceHead,
  type PageHead,
  pageHead,
} from './heads.ts';

export interface StateDocument {
  readonly page: PageHead;
  readonly state: State;
  /** When it entered that state; null: nothing was known before. */
  readonly since: string | null;
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
  /** Current or planned, soonest first. */
  readonly maintenances: readonly StateEvent[];
}

interface StateComponent extends ComponentHead {
  readonly state: State;
  readonly since: string | null;
  /** The state in the language of the page. */
  readonly state_text: string;
  readonly stale: boolean;
}

interface StateEvent extends EventHead {
  readonly started_at: string;
  /** Null: nobody knows yet. */
  readonly ends_at: string | null;
}

export function stateDocument(model: PageModel): StateDocument {
  const { settings, state, asOf } = model;
  const words = findWords(settings.locale);
  return {
    page: pageHead(model),
    state,
    since: model.since === null ? null : toIso(model.since),
    sentence: bannerSentence(state, words),
    locale: catalogueTag(settings.locale),
    as_of: toIso(asOf),
    stale_after: toIso(model.staleAfter),
    stale: model.isStale,
    components: listSections(model).flatMap(({ group, members }) =>
      members.map((component) => ({
        ...componentHead(model, component, group?.name),
        state: component.state,
        since: component.since === null ? null : toIso(component.since),
        state_text: stateWord(component.state, words),
        stale: component.isStale,
      })),
    ),
    open_incidents: model.incidents
      .filter((incident) => isOpen(incident))
      .map((incident) => ({
        ...incidentHead(model, incident),
        started_at: toIso(incident.startedAt),
        ends_at: endText(incident.endedAt),
      })),
    maintenances: model.maintenances
      .filter(({ status }) => status !== 'completed')
      .map((maintenance) => ({
        ...maintenanceHead(model, maintenance),
        started_at: toIso(maintenance.startsAt),
        ends_at: toIso(maintenance.endsAt),
      }))
      .reverse(),
  };
}
