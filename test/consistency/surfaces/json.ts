/** The present as our own document has it. */

import { addressIn, type Check, comparePlans, compareStories, iso, jsonOf, same } from '../check.ts';
import { SENTENCES, STATE_WORDS } from './words.ts';

interface Head {
  readonly id: string;
  readonly name: string;
  readonly state: string;
  readonly since: string | null;
  readonly state_text: string;
  readonly stale: boolean;
}

export interface JsonEvent {
  readonly id: string;
  readonly title: string;
  readonly url: string;
  readonly status: string;
  readonly impact?: string | null;
  readonly started_at: string;
  readonly ends_at?: string | null;
  readonly ended_at?: string | null;
  readonly components?: readonly string[];
}

interface StateJson {
  readonly state: string;
  readonly since: string | null;
  readonly sentence: string;
  readonly as_of: string;
  readonly stale_after: string;
  readonly stale: boolean;
  readonly components: readonly Head[];
  readonly open_incidents: readonly JsonEvent[];
  readonly maintenances: readonly JsonEvent[];
}

export function checkStateJson(check: Check): void {
  const { expected } = check;
  const json = jsonOf<StateJson>(check, 'api/state.json');
  same(check, 'state.json: state', json.state, expected.state);
  same(check, 'state.json: since', json.since, iso(expected.since));
  same(check, 'state.json: sentence', json.sentence, SENTENCES[expected.state]);
  same(check, 'state.json: stale', json.stale, expected.isStale);
  same(check, 'state.json: stale_after', json.stale_after, iso(expected.asOf + 900_000 + 2 * expected.intervalMs));
  const read = json.components.map(({ id, name, state, since, state_text, stale }) => ({
    id,
    name,
    state,
    since,
    state_text,
    stale,
  }));
  const wanted = expected.lines.map(({ component: { id, name }, state, since, isStale }) => ({
    id,
    name,
    state,
    since: iso(since),
    state_text: STATE_WORDS[state],
    stale: isStale,
  }));
  for (const [index, one] of wanted.entries()) same(check, `state.json: ${one.name}`, read[index], one);
  same(check, 'state.json: components', read.length, wanted.length);
  const open = expected.stories.filter(({ endedAt }) => endedAt === null);
  compareStories(
    check,
    json.open_incidents.map((one) => readEvent(check, one)),
    open,
    { where: 'state.json' },
  );
  const plans = json.maintenances.map((one) => ({ ...readEvent(check, one), to: Date.parse(one.ends_at ?? '') }));
  comparePlans(
    check,
    plans,
    expected.plans.filter(({ status }) => status !== 'completed'),
    { where: 'state.json' },
  );
}

export function readEvent(
  check: Check,
  { id, title, url, status, impact, started_at, ended_at, components }: JsonEvent,
) {
  return {
    address: addressIn(check, url),
    id,
    title,
    from: Date.parse(started_at),
    status,
    ...(impact === undefined ? {} : { impact }),
    ...(ended_at === undefined ? {} : { to: ended_at === null ? null : Date.parse(ended_at) }),
    ...(components === undefined ? {} : { componentIds: components }),
  };
}
