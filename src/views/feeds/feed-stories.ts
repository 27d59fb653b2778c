/** Which stories, and which of their updates, the feeds of a page and of its components have room for. */

import type { EpochMs, PageIncident, PageMaintenance, PageModel, PageUpdate } from '../../model/index.ts';
import { incidentChangedAt, isOpen } from '../incident/events.ts';

/** As many stories as Statuspage's feeds carry; what is open is always among them. */
const PAGE_STORIES_MAX = 50;
/** Beside those, so that what is planned takes no place of what happened. The soonest. */
const PAGE_PLANS_MAX = 10;
/** The newest update of each story, and the newest of all others. */
const PAGE_ITEMS_MAX = 100;
/** A page has many components, and each of their stories is in the page's history too. */
const COMPONENT_SHARE = 0.5;

interface DatedEvent {
  readonly event: PageIncident | PageMaintenance;
  readonly updates: readonly PageUpdate<string>[];
  readonly changedAt: EpochMs;
  readonly isOpen: boolean;
}

export function feedStories(model: PageModel) {
  const ofPage = datedEvents(model);
  const grouped = new Map<string, { past: DatedEvent[]; plans: DatedEvent[] }>();
  for (const kind of ['past', 'plans'] as const)
    for (const dated of ofPage[kind])
      for (const id of dated.event.componentIds) {
        const group = grouped.get(id) ?? { past: [], plans: [] };
        group[kind].push(dated);
        grouped.set(id, group);
      }
  return {
    ofPage: chosen(ofPage, 1),
    ofComponent: (id: string) => chosen(grouped.get(id) ?? { past: [], plans: [] }, COMPONENT_SHARE),
  };
}

type Dated = ReturnType<typeof datedEvents>;

function datedEvents({ incidents, maintenances, asOf }: PageModel) {
  const happened = maintenances.filter(({ status }) => status !== 'scheduled');
  const past = [
    ...incidents.map((event): DatedEvent => {
      const { updates } = event;
      return { event, updates, changedAt: incidentChangedAt(event, asOf), isOpen: isOpen(event) };
    }),
    ...happened.map(plannedEvent),
  ].sort((a, b) => b.changedAt - a.changedAt || (a.event.id < b.event.id ? -1 : 1));
  const plans = maintenances
    .filter(({ status }) => status === 'scheduled')
    .map(plannedEvent)
    .toReversed();
  return { past, plans };
}

function plannedEvent(event: PageMaintenance): DatedEvent {
  return { event, updates: event.updates, changedAt: event.changedAt, isOpen: false };
}

export type Story = ReturnType<typeof chosen>[number];

function chosen({ past, plans }: Dated, share: number) {
  const storiesMax = PAGE_STORIES_MAX * share;
  const events = [
    ...past.filter((dated, index) => index < storiesMax || dated.isOpen),
    ...plans.slice(0, PAGE_PLANS_MAX * share),
  ];
  const older = events
    .flatMap(({ updates }) => updates.slice(0, -1))
    .sort((a, b) => b.at - a.at)
    .slice(0, Math.max(0, PAGE_ITEMS_MAX * share - events.length));
  const listed = new Set(older);
  return events.map(({ event, changedAt, updates }) => ({
    event,
    changedAt,
    // Those that there is room for, oldest first; the newest is always one.
    updates: updates.filter((update, index) => index === updates.length - 1 || listed.has(update)),
  }));
}
