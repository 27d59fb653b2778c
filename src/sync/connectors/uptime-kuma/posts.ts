/** What is written on a page of Uptime Kuma: pinned incidents and maintenance. Which monitors they are about it does not say. */

import type { Incident, IncidentImpact, Maintenance, MonitorId, Problem } from '../../../model/observation.ts';
import type { EpochMs } from '../../../model/time.ts';
import { note, parseItems, uniqueById } from '../items.ts';
import { parseInstant, unknownWord } from '../wire.ts';
import { IncidentSchema, MaintenanceSchema, type Page } from './schema.ts';

/** Colours that an incident is written in; it says nothing else of how bad it is. */
export const IMPACTS: Readonly<Record<string, IncidentImpact>> = {
  info: 'none',
  primary: 'none',
  light: 'none',
  dark: 'none',
  warning: 'minor',
  danger: 'major',
};

interface PostsOptions {
  readonly upstreamId: string;
  /** All monitors of the page. */
  readonly monitors: readonly MonitorId[];
  readonly now: EpochMs;
  /** What is known of those that were open, by id there. */
  readonly open: ReadonlyMap<string, Incident>;
}

/** Incidents that are pinned; one that was and is not any more is over as of now. Never throws. */
export function projectIncidents(
  { incidents, incident }: Page,
  { upstreamId, monitors, now, open }: PostsOptions,
): { incidents: Incident[]; problems: Problem[]; itemsTotal: number; isSure: boolean } {
  const items = [...(incidents ?? []), ...(incident == null ? [] : [incident])];
  const { items: read, problems } = parseItems(IncidentSchema, items, 'incidents');
  const words: Problem[] = [];
  const pinned = uniqueById(
    read.map(({ id, title, content, style, createdDate }): Incident => {
      const impact = typeof style === 'string' && Object.hasOwn(IMPACTS, style) ? IMPACTS[style] : undefined;
      if (impact === undefined) words.push(unknownWord(`incidents.${id}.style`, style));
      return {
        id: `${upstreamId}/incident/${id}`,
        title,
        status: 'investigating',
        impact: impact ?? 'minor',
        startedAt: createdDate,
        endedAt: null,
        monitors,
        components: [],
        pages: null,
        affectedState: null,
        isOutage: false,
        updates: [{ id: 'pinned', at: createdDate, status: 'investigating', body: content ?? '' }],
        // Ids of rows that were deleted are given again.
        bornAt: createdDate,
      };
    }),
  );
  const isSure = problems.length === 0 && (incidents != null || incident !== undefined);
  const listed = new Set(pinned.items.map(({ id }) => id));
  const ended = [...open].flatMap(([externalId, known]): Incident[] => {
    const id = `${upstreamId}/${externalId}`;
    if (!isSure || listed.has(id)) return [];
    const updates = [...known.updates, { id: 'unpinned', at: now, status: 'resolved', body: '' }];
    return [{ ...known, id, status: 'resolved', endedAt: now, updates }];
  });
  return {
    incidents: uniqueById([...pinned.items, ...ended]).items,
    problems: [...problems, ...words, ...pinned.problems],
    itemsTotal: items.length,
    isSure,
  };
}

/** Windows that run or come next; which monitors are in one, their beats say. Never throws. */
export function projectMaintenances(
  { maintenanceList }: Page,
  { upstreamId, monitors }: Pick<PostsOptions, 'upstreamId' | 'monitors'>,
): { maintenances: Maintenance[]; problems: Problem[]; itemsTotal: number } {
  const { items, problems } = parseItems(MaintenanceSchema, maintenanceList, 'maintenanceList');
  const told: Problem[] = [];
  const windows = items.flatMap(({ id, title, description, timezone, timeslotList }) =>
    (timeslotList ?? []).flatMap(({ startDate, endDate }): Maintenance[] => {
      const [startsAt, endsAt] = [startDate, endDate].map((text) => parseInstant(text, timezone ?? 'UTC'));
      if (startsAt == null || endsAt == null || endsAt <= startsAt) {
        told.push(note(`maintenanceList.${id}`, 'one of its windows is unreadable'));
        return [];
      }
      return [
        {
          id: `${upstreamId}/maintenance/${id}/${startsAt}`,
          title,
          startsAt,
          endsAt,
          monitors,
          components: [],
          pages: null,
          updates: [],
          ...(description === null ? {} : { body: description }),
          covers: false,
        },
      ];
    }),
  );
  const unique = uniqueById(windows);
  return {
    maintenances: unique.items,
    problems: [...problems, ...told, ...unique.problems],
    itemsTotal: maintenanceList.length,
  };
}
