/** One incident or one maintenance on its own page: what happened, to what, for how long. */

import {
  combinedState,
  type EpochMs,
  type IncidentStatus,
  type PageIncident,
  type PageMaintenance,
  type State,
} from '../../model/index.ts';
import { monthOf } from '../days/months.ts';
import {
  buildShell,
  createContext,
  linkTo,
  type PageAge,
  type PageFrame,
  type Settled,
  type ViewContext,
} from '../frame/shell.ts';
import { isOpen as isStillOpen } from '../model/page-state.ts';
import { componentPath, historyPath, incidentPath, maintenancePath } from '../text/addresses.ts';
import { ruleText } from '../text/format.ts';
import { stateWord, statusWord } from '../words/index.ts';
import { afterText, type EventView, incidentEvent, maintenanceEvent } from './events.ts';

const USUAL: readonly IncidentStatus[] = ['investigating', 'identified', 'monitoring', 'resolved'];

/** How far an incident has come. Each status once, by when it was reached first. Of one that goes on, those that usually follow; none where there is no line. */
function listPhases(
  { words, format }: ViewContext<PageFrame>,
  { updates, startedAt, status }: PageIncident,
  isOpen: boolean,
) {
  const reached = new Map<string, EpochMs>();
  for (const update of updates) if (update.status !== null) reached.getOrInsert(update.status, update.at);
  const coming = isOpen ? USUAL.slice(USUAL.indexOf(status) + 1).filter((one) => !reached.has(one)) : [];
  const phases = [
    ...[...reached].map(([one, at]) => ({
      word: statusWord(one, words),
      // When it was reached; null: it is still to come.
      at: format.plain.timeInYear(at),
      // How long after the beginning, as `+12 min`; empty at the beginning and where it is still to come.
      after: afterText(format, at - startedAt),
      isCurrent: one === status,
    })),
    ...coming.map((one) => ({ word: statusWord(one, words), at: null, after: '', isCurrent: false })),
  ];
  return phases.length > 1 ? phases : [];
}

export type IncidentView = ReturnType<typeof incidentView>;

/** @param model  settled once the incident is over: then its page depends on nothing that still changes */
export function incidentView(model: PageFrame & (PageAge | Settled), incident: PageIncident) {
  const context = createContext(model, '../../');
  const event = incidentEvent(context, incident, { hasYear: true });
  const isOpen = isStillOpen(incident);
  return {
    ...storyView(context, event, {
      path: incidentPath(incident.slug),
      from: incident.startedAt,
      state: isOpen ? stateOf(incident) : null,
    }),
    phases: listPhases(context, incident, isOpen),
    affected: listAffected(context, incident),
  };
}

/** What both kinds of pages have. `state`: what it means for the present; null: it is over. */
function storyView(
  context: ViewContext<PageFrame & (PageAge | Settled)>,
  event: EventView,
  { path, from, state }: { readonly path: string; readonly from: EpochMs; readonly state: State | null },
) {
  const { model, format, base } = context;
  const month = monthOf(from, model.settings.timezone);
  return {
    shell: buildShell(context, {
      title: event.title,
      description: [event.statusWord, event.affects].filter(Boolean).join('. '),
      path,
      section: 'history',
      present: state === null || model.staleAfter === null ? null : { ...model, state, since: null },
    }),
    event,
    // The month of the history it is listed in.
    month: { href: base + historyPath(month), text: format.month(month) },
  };
}

/** The state that an incident's impact stands for, where no component is named. */
const STATE_OF_IMPACT: Readonly<Record<PageIncident['impact'], State>> = {
  none: 'operational',
  minor: 'degraded',
  major: 'partial_outage',
  critical: 'major_outage',
};

function stateOf({ impact, components }: PageIncident): State {
  return components.length === 0 ? STATE_OF_IMPACT[impact] : combinedState(components.map(({ state }) => state));
}

function listAffected({ model, words, base }: ViewContext<PageFrame>, incident: PageIncident) {
  const states = new Map(incident.components.map(({ id, state }) => [id, state]));
  return model.components.flatMap((one) => {
    const { id } = one.definition;
    const state = states.get(id);
    if (state === undefined) return [];
    return [{ ...linkTo(one, base + componentPath(id)), state, stateWord: stateWord(state, words) }];
  });
}

/** One maintenance: when, what of, what is said of it. @param model  settled once the maintenance is over; before that its page follows the clock */
export function maintenanceView(model: PageFrame & (PageAge | Settled), maintenance: PageMaintenance) {
  const context = createContext(model, '../../');
  const { base } = context;
  const event = maintenanceEvent(context, maintenance, { hasYear: true });
  const story = storyView(context, event, {
    path: maintenancePath(maintenance.slug),
    from: maintenance.startsAt,
    state: maintenance.status === 'completed' ? null : 'maintenance',
  });
  return {
    ...story,
    // Null: it lies ahead, perhaps in a month without a page.
    month: maintenance.startsAt > model.asOf ? null : story.month,
    // How it comes back, in words; null: it does not.
    repeats: maintenance.repeats === null ? null : ruleText(maintenance.repeats, context.locale),
    affected: model.components
      .filter((one) => maintenance.componentIds.includes(one.definition.id))
      .map((one) => linkTo(one, base + componentPath(one.definition.id))),
    calendarHref: `${base}maintenance.ics`,
  };
}
