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
  readonly changedAt: EpochMs;
}

export function feedStories(model: PageModel) {
  const ofPage = datedEvents(model);
  const grouped = new Map<string, Dated>();
  for (const kind of ['past', 'plans'] as const)
    for (const dated of ofPage[kind])
      for (const id of dated.event.componentIds)
        grouped.getOrInsertComputed(id, () => ({ past: [], plans: [] }))[kind].push(dated);
  return {
    ofPage: chosen(ofPage, 1),
    ofComponent: (id: string) => chosen(grouped.get(id) ?? { past: [], plans: [] }, COMPONENT_SHARE),
  };
}

type Dated = ReturnType<typeof datedEvents>;

function datedEvents({ incidents, maintenances, asOf }: PageModel) {
  const planned = maintenances.map((event): DatedEvent => ({ event, changedAt: event.changedAt }));
  const isPlan = ({ event }: DatedEvent) => event.status === 'scheduled';
  const past = [
    ...incidents.map((event): DatedEvent => ({ event, changedAt: incidentChangedAt(event, asOf) })),
    ...planned.filter((dated) => !isPlan(dated)),
  ].sort((a, b) => b.changedAt - a.changedAt || (a.event.id < b.event.id ? -1 : 1));
  return { past, plans: planned.filter(isPlan).toReversed() };
}

export type Story = ReturnType<typeof chosen>[number];

function chosen({ past, plans }: Dated, share: number) {
  const storiesMax = PAGE_STORIES_MAX * share;
  const events = [
    ...past.filter(({ event }, index) => index < storiesMax || ('startedAt' in event && isOpen(event))),
    ...plans.slice(0, PAGE_PLANS_MAX * share),
  ];
  const older = events
    .flatMap(({ event }): readonly PageUpdate<string>[] => event.updates.slice(0, -1))
    .sort((a, b) => b.at - a.at)
    .slice(0, Math.max(0, PAGE_ITEMS_MAX * share - events.length));
  const listed = new Set(older);
  return events.map((dated) => {
    const all: readonly PageUpdate<string>[] = dated.event.updates;
    // Those that there is room for, oldest first; the newest is always one.
    return { ...dated, updates: all.filter((update) => update === all.at(-1) || listed.has(update)) };
  });
}
