/**
 * What the statuses of Gatus mean: each endpoint is in the state of its newest result, while that is new. What Gatus sent and
 * got back is not named here, so it is never kept.
 */

import { z } from 'zod';
import {
  type Learned,
  type MonitorDetail,
  type MonitorId,
  type MonitorObservation,
  type Problem,
  toMonitorId,
} from '../../../model/observation.ts';
import type { State } from '../../../model/state.ts';
import type { EpochMs } from '../../../model/time.ts';
import type { PullContext } from '../../connector.ts';
import { parseItems, projectMonitorLists } from '../items.ts';
import { inOrder, lastChangeAt, type Measurement, presentState, projectPast } from '../measurements.ts';
import { IdSchema, InstantSchema, NameSchema, NumberSchema, TextSchema, unknownWord } from '../wire.ts';

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
export function projectStatuses(
  items: readonly unknown[],
  { upstreamId, now }: Pick<PullContext, 'upstreamId' | 'now'>,
): Required<Pick<Learned, 'monitors' | 'changedAt' | 'details' | 'problems' | 'itemsTotal'>> {
  const problems: Problem[] = [];
  const changedAt: Record<MonitorId, EpochMs> = {};
  const details = new Map<string, MonitorDetail>();
  let itemsTotal = items.length;
  const names = Map.groupBy(parseItems(EndpointSchema, items, ''), ({ name }) => name);
  const project = (endpoint: Endpoint, place: string): Partial<MonitorObservation> => {
    const results = parseItems(ResultSchema, endpoint.results, `${place}.results`, problems);
    itemsTotal += endpoint.results.length;
    const measurements = inOrder(
      results.map(({ success, timestamp, duration }): Measurement => {
        const state = SUCCESS_STATES.get(success);
        if (state === undefined) problems.push(unknownWord(`${place}.results.success`, success));
        const responseTimeMs = state === 'operational' && duration != null ? duration / NANOSECONDS_PER_MS : null;
        return { at: timestamp, state: state ?? 'unknown', responseTimeMs };
      }),
    );
    const { name, group } = endpoint;
    const id = toMonitorId(upstreamId, toId(endpoint));
    const hasNamesake = new Set(names.get(name)?.map(toId)).size > 1;
    // The newest result may be an unreadable one.
    const state = results.length < endpoint.results.length ? 'unknown' : presentState(measurements, now);
    details.set(id, projectPast(id, measurements, now));
    const at = lastChangeAt(measurements);
    if (at !== null && state !== 'unknown') changedAt[id] = at;
    return { id, name: hasNamesake && group !== null ? `${group} - ${name}` : name, state };
  };
  const list = { place: 'endpoints', items, kind: 'endpoint', schema: EndpointSchema, idField: ID_FIELD, project };
  const monitors = projectMonitorLists(upstreamId, [list], problems);
  return { monitors, changedAt, details: monitors.flatMap(({ id }) => details.get(id) ?? []), problems, itemsTotal };
}
