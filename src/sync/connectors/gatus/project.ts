/**
 * What the statuses of Gatus mean: each endpoint is in the state of its newest result, while that is new. What Gatus sent and
 * got back is not named here, so it is never kept.
 */

import { z } from 'zod';
import { type MonitorObservation, type Problem, toMonitorId } from '../../../model/observation.ts';
import type { State } from '../../../model/state.ts';
import type { PullContext } from '../../connector.ts';
import { parseItems, projectMonitorLists } from '../items.ts';
import { createHistory, type Measurement } from '../measurements.ts';
import { IdSchema, InstantSchema, NameSchema, NumberSchema, stateFromCode, TextSchema } from '../wire.ts';

/** The field that identifies an endpoint, made from group and name. */
export const ID_FIELD = 'key';

const EndpointSchema = z.object({
  key: IdSchema,
  name: NameSchema,
  group: TextSchema,
  results: z.array(z.unknown()),
});
type Endpoint = z.output<typeof EndpointSchema>;

const ResultSchema = z.object({
  success: z.unknown().optional(),
  timestamp: InstantSchema,
  /** In nanoseconds. */
  duration: NumberSchema.nullish().catch(null),
});

export const SUCCESS_STATES: ReadonlyMap<unknown, State> = new Map<unknown, State>([
  [true, 'operational'],
  [false, 'major_outage'],
]);
const NANOSECONDS_PER_MS = 1e6;

/**
 * What an endpoint is called here: its key. Those of remote instances come under the key that they have there and with a prefix
 * before their name, so that two may share a key; the name tells them apart.
 */
function toId({ key, name }: Endpoint): string {
  const plain = (text: string): string => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '');
  return plain(key).endsWith(plain(name)) ? key : `${key}/${name}`;
}

/** Turns endpoints into monitors, sorted by id. Endpoints with the same name get their group as a prefix. Never throws. */
export function projectStatuses(items: readonly unknown[], { upstreamId, now }: PullContext) {
  const problems: Problem[] = [];
  const history = createHistory(now);
  let itemsTotal = items.length;
  const names = Map.groupBy(parseItems(EndpointSchema, items, ''), ({ name }) => name);
  const project = (endpoint: Endpoint, place: string): Partial<MonitorObservation> => {
    const results = parseItems(ResultSchema, endpoint.results, `${place}.results`, problems);
    itemsTotal += endpoint.results.length;
    const measurements = results.map(({ success, timestamp, duration }): Measurement => {
      const state = stateFromCode(SUCCESS_STATES, success, `${place}.results.success`, problems);
      const responseTimeMs = state === 'operational' && duration != null ? duration / NANOSECONDS_PER_MS : null;
      return { at: timestamp, state, responseTimeMs };
    });
    const { name, group } = endpoint;
    const id = toMonitorId(upstreamId, toId(endpoint));
    const hasNamesake = new Set(names.get(name)?.map(toId)).size > 1;
    const state = history.add(id, measurements, results.length === endpoint.results.length);
    return { id, name: hasNamesake && group !== null ? `${group} - ${name}` : name, state };
  };
  const list = { place: 'endpoints', items, kind: 'endpoint', schema: EndpointSchema, idField: ID_FIELD, project };
  const monitors = projectMonitorLists({ upstreamId, problems }, [list]);
  return { monitors, changedAt: history.changedAt, details: history.detailsOf(monitors), problems, itemsTotal };
}
