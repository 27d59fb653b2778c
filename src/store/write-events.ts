/** Writes the incidents and maintenances of one pass, inside its transaction. */

import type { Incident, Maintenance } from '../model/observation.ts';
import { type EpochMs, type Interval, toEpochMs } from '../model/time.ts';
import type { Writer } from './database.ts';
import { parseIncident, parseMaintenance } from './rows.ts';
import type { PassCommit } from './store.ts';
import {
  INCIDENTS,
  MAINTENANCES,
  type Resolved,
  resolveStories,
  type StoredStory,
  withdrawStories,
} from './stories.ts';

/** Writes changed incidents; returns the ids of those changed or withdrawn. */
export async function writeIncidents(tx: Writer, { upstreamId, observedAt, learned }: PassCommit) {
  const stories = await resolveStories(tx, 'incident', upstreamId, learned.incidents);
  const changed = stories.flatMap((story) => {
    const incident = withKnownPages(story);
    const document = JSON.stringify(incident);
    return isChanged(story.before, document) ? [{ incident, document, externalId: story.item.id }] : [];
  });
  await INCIDENTS.save(
    tx,
    changed.map(({ incident, ...stored }) => ({
      ...toRow(incident, stored),
      ...{ startedAt: incident.startedAt, endedAt: incident.endedAt },
    })),
    { key: ['id'], kept: ['upstream', 'external_id', 'first_seen_at'] },
    { upstream: upstreamId, changed_at: observedAt, first_seen_at: observedAt },
  );
  await tx.runMany(
    'UPDATE incident SET read_at = ? WHERE upstream = ? AND external_id = ? AND withdrawn_at IS NULL',
    learned.readAgain.map((id) => [observedAt, upstreamId, id]),
  );
  const isUnsure = learned.stale.includes('incidents');
  const withdrawn = await withdrawStories(
    tx,
    'incident',
    isUnsure ? { complete: [], gone: [] } : learned,
    { upstreamId, observedAt },
    replacedIn(stories),
  );
  return [...changed.map(({ incident }) => incident.id), ...withdrawn];
}

/** The incident under the id of its row. If the upstream did not list its pages this time, it keeps the known ones. */
function withKnownPages({ item, id, before }: Resolved<Incident>): Incident {
  if (item.pages?.length !== 0 || before === null) return item.id === id ? item : { ...item, id };
  return { ...item, id, pages: parseIncident(before.document).pages };
}

/** Writes changed maintenances; returns the ids of those changed or withdrawn. */
export async function writeMaintenances(tx: Writer, { upstreamId, observedAt, learned }: PassCommit) {
  const stories = await resolveStories(tx, 'maintenance', upstreamId, learned.maintenances);
  const written = stories.flatMap((story) => {
    const maintenance = withPastWindows({ ...story.item, id: story.id }, story.before, observedAt);
    const document = JSON.stringify(maintenance);
    if (!isChanged(story.before, document)) return [];
    return [{ maintenance, document, externalId: story.item.id, isNews: isNews(story, maintenance, observedAt) }];
  });
  await MAINTENANCES.save(
    tx,
    written.map(({ maintenance, ...stored }) => ({
      ...toRow(maintenance, stored),
      startsAt: toEpochMs(Math.min(...listWindows(maintenance).map(({ from }) => from))),
      endsAt: toEpochMs(Math.max(...listWindows(maintenance).map(({ to }) => to))),
    })),
    { key: ['id'], kept: ['upstream', 'external_id', 'changed_at', 'first_seen_at'] },
    { upstream: upstreamId, changed_at: observedAt, first_seen_at: observedAt },
  );
  const news = written.filter(({ isNews }) => isNews).map(({ maintenance }) => maintenance.id);
  await tx.runMany(
    'UPDATE maintenance SET changed_at = ?, sequence = sequence + 1 WHERE id = ? AND first_seen_at <> ?',
    news.map((id) => [observedAt, id, observedAt]),
  );
  const withdrawn = await withdrawStories(tx, 'maintenance', learned, { upstreamId, observedAt }, replacedIn(stories));
  return [...written.map(({ maintenance }) => maintenance.id), ...withdrawn];
}

/** What is listed now is neither missing nor withdrawn. */
function toRow(
  { id, bornAt = null }: { readonly id: string; readonly bornAt?: EpochMs | null },
  { document, externalId }: Pick<StoredStory, 'document' | 'externalId'>,
) {
  return { id, externalId, bornAt, document, missingAt: null, withdrawnAt: null };
}

function isChanged(before: StoredStory | null, document: string): boolean {
  return before?.document !== document || before.withdrawnAt !== null;
}

function replacedIn(stories: readonly Resolved<unknown>[]): readonly StoredStory[] {
  return stories.flatMap(({ replaces }) => replaces ?? []);
}

function listWindows({ repeats, startsAt, endsAt }: Maintenance): readonly Interval[] {
  return repeats === undefined || repeats.windows.length === 0 ? [{ from: startsAt, to: endsAt }] : repeats.windows;
}

/**
 * Keeps past windows of a repeating maintenance as stored, because a changed rule does not change what took place. A
 * maintenance seen for the first time has the past windows of its rule.
 */
function withPastWindows(told: Maintenance, before: StoredStory | null, now: EpochMs): Maintenance {
  if (told.repeats === undefined || before === null) return told;
  const known = parseMaintenance(before.document);
  const past = listWindows(known).filter(({ to }) => to <= now);
  const windows = [...past, ...told.repeats.windows.filter(({ to }) => to > now)];
  return { ...told, repeats: { ...told.repeats, windows } };
}

/** Whether calendars must be told. A further window that merely came within reach is not news. */
function isNews({ before }: Resolved<Maintenance>, told: Maintenance, now: EpochMs): boolean {
  if (before === null || before.withdrawnAt !== null || told.repeats === undefined) return true;
  const known = parseMaintenance(before.document);
  const until = toEpochMs(Math.min(lastStart(known), lastStart(told)));
  return lastingText(known, now, until) !== lastingText(told, now, until);
}

function lastStart(maintenance: Maintenance): EpochMs {
  return listWindows(maintenance).at(-1)?.from ?? maintenance.startsAt;
}

/** Its content for comparison, with the windows that are not over and begin by `until`. */
function lastingText({ startsAt: _, endsAt: __, repeats, ...said }: Maintenance, now: EpochMs, until: EpochMs): string {
  const windows = repeats?.windows.filter(({ from, to }) => to > now && from <= until);
  return JSON.stringify([said, { ...repeats, windows }]);
}
