/** What sources of the backup control plane mean: each is a monitor. */

import type { MonitorObservation, Problem } from '../../../model/observation.ts';
import { parseItems, projectMonitorLists, unknownMonitor } from '../items.ts';
import { type StateWords, stateFromWord } from '../wire.ts';
import { ID_FIELD, type Source, SourceSchema, StorageTargetSchema } from './schema.ts';

export const STATE_WORDS: StateWords = { active: 'operational', paused: 'paused', error: 'major_outage' };

/** Outcomes of connection tests by source id; false: the stored credentials did not answer. */
type Outcomes = ReadonlyMap<string, boolean>;

/** Sources of all tenants as monitors, sorted by id. Never throws. */
export function projectSources(
  lists: readonly { readonly tenant: string; readonly items: readonly unknown[] }[],
  { upstreamId, outcomes }: { upstreamId: string; outcomes: Outcomes },
): { monitors: MonitorObservation[]; problems: Problem[] } {
  const unknownSource = (id: string): MonitorObservation => unknownMonitor(upstreamId, id, 'source');
  return projectMonitorLists<Source>(
    lists.map(({ tenant, items }) => ({
      place: `${tenant}.sources`,
      items,
      schema: SourceSchema,
      idField: ID_FIELD,
      project: ({ id, name, status }, place) => {
        const { state, problems } = stateFromWord(STATE_WORDS, status, `${place}.status`);
        const isUnreachable = state === 'operational' && outcomes.get(id) === false;
        return { monitor: { ...unknownSource(id), name, state: isUnreachable ? 'major_outage' : state }, problems };
      },
      placeholder: unknownSource,
    })),
  );
}

/** Storage targets have no state to show; one that breaks a rule of its fields is told. */
export function projectStorageTargets(items: readonly unknown[], tenant: string): Problem[] {
  const { problems } = parseItems(StorageTargetSchema, items, `${tenant}.storage-targets`);
  return problems.map((problem) => ({ ...problem, kind: 'note' }));
}
