/** One incident on its own page: what happened, to what, for how long. */

import type { PageIncident, State } from '../../model/index.ts';
import { monthOf } from '../days/months.ts';
import type { PageAge, PageFrame, Settled } from '../frame/page-frame.ts';
import {
  contextOf,
  type LinkView,
  type ShellView,
  shellOf,
  type ViewContext,
  type ViewOptions,
} from '../frame/shell.ts';
import { componentPath, HISTORY_PATH, historyPath, incidentPath } from '../text/addresses.ts';
import { stateWord } from '../words/state-words.ts';
import { isOpen as isStillOpen } from './event-times.ts';
import { type EventView, incidentEventOf } from './events.ts';

export interface IncidentView {
  readonly shell: ShellView;
  readonly event: EventView;
  readonly isOpen: boolean;
  readonly affected: readonly AffectedView[];
  /** The month of the history it is listed in. */
  readonly month: LinkView;
  readonly historyHref: string;
}

export interface AffectedView extends LinkView {
  /** The state it was said to be in; null: it was not said. */
  readonly state: State | null;
  readonly stateWord: string | null;
}

/** @param model  settled once the incident is over: then its page depends on nothing that still changes */
export function incidentView(
  model: PageFrame & (PageAge | Settled),
  incident: PageIncident,
  options: ViewOptions = {},
): IncidentView {
  const context = contextOf(model, { base: '../../', ...options });
  const event = incidentEventOf(context, incident, { hasYear: true });
  const isOpen = isStillOpen(incident, model.asOf);
  const month = monthOf(incident.startedAt, model.settings.timezone);
  return {
    shell: shellOf(context, {
      title: incident.title,
      description: [event.statusWord, event.affects].filter(Boolean).join('. '),
      path: incidentPath(incident.slug),
      section: 'history',
      present: isOpen && model.staleAfter !== null ? { ...model, state: stateOfImpact(incident) } : null,
    }),
    event,
    isOpen,
    affected: affectedOf(context, incident),
    month: { href: context.base + historyPath(month), text: context.format.month(month) },
    historyHref: context.base + HISTORY_PATH,
  };
}

/** The state that an incident's impact stands for, where no component is named. */
const STATE_OF_IMPACT: Readonly<Record<PageIncident['impact'], State>> = {
  none: 'operational',
  minor: 'degraded',
  major: 'partial_outage',
  critical: 'major_outage',
};

function stateOfImpact({ impact, affectedState }: PageIncident): State {
  return affectedState ?? STATE_OF_IMPACT[impact];
}

function affectedOf({ model, words, base }: ViewContext<PageFrame>, incident: PageIncident): AffectedView[] {
  const said = new Map(incident.components.map((one) => [one.id, one.state]));
  return model.components
    .filter((one) => incident.componentIds.includes(one.definition.id))
    .map((one) => {
      const state = said.get(`${model.definition.id}/${one.definition.id}`) ?? incident.affectedState;
      return {
        href: base + componentPath(one.definition.id),
        text: one.name,
        state,
        stateWord: state === null ? null : stateWord(state, words),
      };
    });
}
