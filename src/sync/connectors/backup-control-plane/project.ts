/** What sources of the backup control plane mean: each is a monitor. */

import { type MonitorObservation, type Problem, toMonitorId } from '../../../model/observation.ts';
import { parseItems } from '../../connector.ts';
import { projectMonitorList, type StateWords, stateFromWord, uniqueMonitors } from '../wire.ts';
import { type Source, SourceSchema, StorageTargetSchema } from './schema.ts';

const STATE_WORDS: StateWords = { active: 'operational', paused: 'paused', error: 'major_outage' };

/** Outcomes of connection tests by source id; false: the stored credentials did not answer. */
export type Outcomes = ReadonlyMap<string, boolean>;

/** Sources of all tenants as monitors, sorted by id. Never throws. */
export function projectSources(
  lists: readonly { readonly tenant: string; readonly items: readonly unknown[] }[],
  { upstreamId, outcomes }: { upstreamId: string; outcomes: Outcomes },
): { monitors: MonitorObservation[]; problems: Problem[] } {
  const read = lists.map(({ tenant, items }) =>
    projectMonitorList<Source>({
      place: `${tenant}.sources`,
      items,
      schema: SourceSchema,
      project: (source, place) => {
        const { state, problems } = stateFromWord(STATE_WORDS, source.status, `${place}.status`);
        const isUnreachable = state === 'operational' && outcomes.get(source.id) === false;
        return {
          monitor: {
            ...unknownSource(upstreamId, source.id),
            name: source.name,
            state: isUnreachable ? 'major_outage' : state,
          },
          problems,
        };
      },
      placeholder: (externalId, name) => ({ ...unknownSource(upstreamId, externalId), name }),
    }),
  );
  const unique = uniqueMonitors(read.flatMap((list) => list.monitors));
  return { monitors: unique.monitors, problems: [...read.flatMap((list) => list.problems), ...unique.problems] };
}

/** Storage targets have no state to show; one that breaks a rule of its fields is told. */
export function projectStorageTargets(items: readonly unknown[], tenant: string): Problem[] {
  const { problems } = parseItems(StorageTargetSchema, items, `${tenant}.storage-targets`);
  return problems.map((problem) => ({ ...problem, kind: 'note' }));
}

function unknownSource(upstreamId: string, externalId: string): MonitorObservation {
  return {
    id: toMonitorId(upstreamId, externalId),
    name: externalId,
    description: null,
    kind: 'source',
    target: null,
    state: 'unknown',
    isPublic: null,
    createdAt: null,
  };
}
