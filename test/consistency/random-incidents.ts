/** What people write of trouble, and the outages that upstreams record. */

import type { Incident, IncidentImpact, IncidentStatus, MonitorId, Update } from '../../src/model/observation.ts';
import type { State } from '../../src/model/state.ts';
import { toEpochMs } from '../../src/model/time.ts';
import { integerBelow, pickOne } from '../unit/model/random-history.ts';
import { chance, DAY, type Frame, HOUR, MINUTE, type Random, type Told, type Trouble, tickIn } from './random-frame.ts';
import { internalName, TICK_MS, type WorldUpstream } from './world.ts';

const IMPACTS: readonly IncidentImpact[] = ['none', 'minor', 'major', 'critical'];
const SAID: readonly (State | null)[] = [
  'degraded',
  'partial_outage',
  'major_outage',
  'major_outage',
  'operational',
  null,
];

export function randomIncidents(frame: Frame, upstream: WorldUpstream): Told<Incident>[] {
  const { random, to } = frame;
  const told: Told<Incident>[] = [];
  const count = integerBelow(random, 4) + (frame.isCrowded ? 60 : 0);
  for (let n = 0; n < count; n += 1) {
    const id = `${upstream.id}/i${n}`;
    const first = randomIncident(frame, upstream, { id, from: frame.from - HOUR });
    told.push(first);
    // A number that was given to another story once this one was deleted.
    const again = first.deletedAt;
    if (again !== null && again < to && chance(random, 0.6))
      told.push(randomIncident(frame, upstream, { id, from: again }));
  }
  return told;
}

function randomIncident(
  frame: Frame,
  upstream: WorldUpstream,
  { id, from }: { readonly id: string; readonly from: number },
): Told<Incident> {
  const { random, to, isLong } = frame;
  const back = from > frame.from ? 0 : chance(random, 0.1) ? 40 * DAY : 0;
  const startedAt = tickIn(random, from - back, to);
  const lastsMs = TICK_MS + tickIn(random, 0, isLong ? 4 * DAY : 90 * MINUTE);
  const resolvedAt = chance(random, 0.75) ? startedAt + lastsMs : null;
  const about = aboutOf(frame, upstream);
  const updates = randomUpdates(random, { startedAt, lastsMs, resolvedAt, components: about.named });
  const title = `Trouble ${id} ${startedAt / TICK_MS}`;
  const editedAt = chance(random, 0.2) ? tickIn(random, startedAt, to) : Infinity;
  const deletedAt = chance(random, 0.25) ? tickIn(random, startedAt, to + HOUR) : null;
  const impact = pickOne(random, IMPACTS);
  const affectedState = chance(random, 0.6) ? (pickOne(random, SAID) ?? null) : null;
  const saysEnd = chance(random, 0.7);
  const tellsFuture = chance(random, 0.15);
  const losesPages = chance(random, 0.5);
  const affectsUptime = chance(random, 0.25) ? false : undefined;
  const isLate = chance(random, 0.2);
  return {
    from: isLate ? startedAt + tickIn(random, 0, lastsMs) : startedAt,
    deletedAt,
    hiddenAt: chance(random, 0.1) ? tickIn(random, startedAt, to) : null,
    at: (instant) => {
      const known = tellsFuture ? updates : updates.filter(({ at }) => at <= instant);
      const isOver = resolvedAt !== null && resolvedAt <= instant;
      const said =
        updates.filter(({ at, status }) => at <= instant && status !== null).at(-1)?.status ?? 'investigating';
      return {
        id,
        title: instant >= editedAt ? `${title} (edited)` : title,
        status: isOver ? 'resolved' : said === 'resolved' ? 'monitoring' : (said as IncidentStatus),
        impact,
        startedAt: toEpochMs(startedAt),
        endedAt: resolvedAt !== null && saysEnd && (isOver || tellsFuture) ? toEpochMs(resolvedAt) : null,
        monitors: about.monitors,
        components: about.components,
        pages: about.pages !== null && isOver && losesPages ? [] : about.pages,
        affectedState,
        isOutage: false,
        updates: known,
        ...(affectsUptime === undefined ? {} : { affectsUptime }),
        bornAt: toEpochMs(startedAt - 1),
      };
    },
  };
}

function aboutOf({ random, components, definitionId, slug }: Frame, { monitors }: WorldUpstream) {
  const named = components.filter(() => chance(random, 0.3)).map(({ id }) => `${definitionId}/${id}`);
  const byMonitor = chance(random, 0.4) && monitors.length > 0 ? [pickOne(random, monitors) as MonitorId] : [];
  return {
    named,
    monitors: byMonitor,
    components: named.map((one) => ({ id: one, state: pickOne(random, SAID) })),
    pages: chance(random, 0.5) ? null : [chance(random, 0.5) ? definitionId : slug],
  };
}

function randomUpdates(
  random: Random,
  init: {
    readonly startedAt: number;
    readonly lastsMs: number;
    readonly resolvedAt: number | null;
    readonly components: readonly string[];
  },
): Update[] {
  const { startedAt, lastsMs, resolvedAt, components } = init;
  const speaksOfParts = chance(random, 0.3);
  const instants = Array.from({ length: integerBelow(random, 5) }, () => startedAt + tickIn(random, 0, lastsMs)).sort(
    (a, b) => a - b,
  );
  const updates = instants.map((at, index): Update => {
    const status = pickOne(random, ['investigating', 'identified', 'monitoring', null]);
    const impacts = components.filter(() => chance(random, 0.6)).map((id) => ({ id, state: pickOne(random, SAID) }));
    return {
      id: `u${index}`,
      at: toEpochMs(at),
      status,
      body: chance(random, 0.2) ? '' : `Words **${index}** of it <b>raw</b>`,
      ...(speaksOfParts && chance(random, 0.7) ? { impacts } : {}),
    };
  });
  if (resolvedAt !== null && chance(random, 0.7))
    updates.push({ id: 'end', at: toEpochMs(resolvedAt), status: 'resolved', body: 'It is over.' });
  return updates;
}

/** The record of failed checks: of what really happened, and of some before anybody asked. */
export function outageStories(
  { random, from, to }: Frame,
  { id, monitors }: WorldUpstream,
  troubles: readonly Trouble[],
): Told<Incident>[] {
  const old = monitors
    .filter(() => chance(random, 0.25))
    .map((monitor): Trouble => {
      const begins = tickIn(random, from - 20 * DAY, from - DAY);
      return { monitor, state: 'major_outage', from: begins, to: begins + TICK_MS + tickIn(random, 0, 2 * HOUR) };
    });
  return [...troubles.filter(({ state }) => state === 'major_outage'), ...old].map((one, index) => ({
    from: Math.max(one.from, from),
    deletedAt: chance(random, 0.08) ? tickIn(random, one.from, to) : null,
    hiddenAt: null,
    at: (instant): Incident => ({
      id: `${id}/o${index}`,
      title: `${internalName(one.monitor)} is down`,
      status: one.to <= instant ? 'resolved' : 'investigating',
      impact: 'critical',
      startedAt: toEpochMs(one.from),
      endedAt: one.to <= instant ? toEpochMs(one.to) : null,
      monitors: [one.monitor as MonitorId],
      components: [],
      pages: null,
      affectedState: 'major_outage',
      isOutage: true,
      updates: [
        { id: 'x', at: toEpochMs(one.from), status: 'investigating', body: `${internalName(one.monitor)} refused` },
      ],
    }),
  }));
}
