/**
 * What the statuses of Gatus mean: each endpoint is in the state of its newest result, while that is new. What Gatus sent and
 * got back is not named here, so it is never kept.
 */

import { z } from 'zod';
import type { Learned, MonitorDetail, MonitorId, MonitorObservation, Problem } from '../../../model/observation.ts';
import type { State } from '../../../model/state.ts';
import type { EpochMs } from '../../../model/time.ts';
import { parseItems, projectMonitorLists, unknownMonitor } from '../items.ts';
import { inOrder, lastChangeAt, type Measurement, presentState, projectPast } from '../measurements.ts';
import { IdSchema, InstantSchema, NameSchema, NumberSchema, TextSchema, unknownWord } from '../wire.ts';

/** The field that identifies an endpoint, made from group and name. */
export const ID_FIELD = 'key';

export const StatusesSchema = z.array(z.unknown());

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
  { upstreamId, now }: { readonly upstreamId: string; readonly now: EpochMs },
): Required<Pick<Learned, 'monitors' | 'changedAt' | 'details' | 'problems' | 'itemsTotal'>> {
  const changedAt: Record<MonitorId, EpochMs> = {};
  const details = new Map<string, MonitorDetail>();
  let itemsTotal = items.length;
  const names = Map.groupBy(parseItems(EndpointSchema, items, '').items, ({ name }) => name);
  const project = (
    endpoint: Endpoint,
    place: string,
  ): { monitor: MonitorObservation; problems: readonly Problem[] } => {
    const { items: results, problems } = parseItems(ResultSchema, endpoint.results, `${place}.results`);
    itemsTotal += endpoint.results.length;
    const words: Problem[] = [];
    const measurements = inOrder(
      results.map(({ success, timestamp, duration }): Measurement => {
        const state = SUCCESS_STATES.get(success);
        if (state === undefined) words.push(unknownWord(`${place}.results.success`, success));
        const responseTimeMs = state === 'operational' && duration != null ? duration / NANOSECONDS_PER_MS : null;
        return { at: timestamp, state: state ?? 'unknown', responseTimeMs };
      }),
    );
    const { name, group } = endpoint;
    const hasNamesake = new Set(names.get(name)?.map(toId)).size > 1;
    const monitor: MonitorObservation = {
      ...unknownMonitor(upstreamId, toId(endpoint), 'endpoint'),
      name: hasNamesake && group !== null ? `${group} - ${name}` : name,
      // The newest result may be an unreadable one.
      state: problems.length > 0 ? 'unknown' : presentState(measurements, now),
    };
    details.set(monitor.id, projectPast(monitor.id, measurements, now));
    const at = lastChangeAt(measurements);
    if (at !== null && monitor.state !== 'unknown') changedAt[monitor.id] = at;
    return { monitor, problems: [...problems, ...words] };
  };
  const { monitors, problems } = projectMonitorLists<Endpoint>([
    {
      place: 'endpoints',
      items,
      schema: EndpointSchema,
      idField: ID_FIELD,
      project,
      placeholder: (externalId) => unknownMonitor(upstreamId, externalId, 'endpoint'),
    },
  ]);
  return { monitors, changedAt, details: monitors.flatMap(({ id }) => details.get(id) ?? []), problems, itemsTotal };
}
