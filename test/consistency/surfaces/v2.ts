/** The Statuspage v2 documents. */

import { addressIn, type Check, comparePlan, comparePlans, compareStories, iso, jsonOf, same } from '../check.ts';
import type { Line } from '../lines.ts';
import { combined } from '../lines.ts';
import { V2_PAGE, V2_STATES, WORST_FIRST } from './words.ts';

interface Component {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly group: boolean;
  readonly created_at: string;
  readonly updated_at: string;
  readonly components?: readonly string[];
}

interface Event {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly impact: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly started_at: string;
  readonly resolved_at: string | null;
  readonly scheduled_until?: string;
  readonly shortlink: string;
  readonly components: readonly { readonly name: string }[];
  readonly incident_updates: readonly {
    readonly id: string;
    readonly status: string;
    readonly created_at: string;
    readonly affected_components:
      | readonly { readonly name: string; readonly old_status: string; readonly new_status: string }[]
      | null;
  }[];
}

interface Documents {
  readonly status: { readonly indicator: string; readonly description: string };
  readonly components: readonly Component[];
  readonly incidents: readonly Event[];
  readonly scheduled_maintenances: readonly Event[];
}

export function checkV2(check: Check): void {
  const { expected } = check;
  const read = (name: string): Documents => jsonOf<Documents>(check, `api/v2/${name}.json`);
  const open = expected.stories.filter(({ endedAt }) => endedAt === null);
  for (const name of ['status', 'summary']) checkStatus(check, name, read(name).status);
  for (const name of ['components', 'summary']) checkComponents(check, name, read(name).components);
  for (const name of ['incidents/unresolved', 'summary'])
    compareStories(
      check,
      read(name).incidents.map((one) => readEvent(check, one)),
      open,
      { where: `v2 ${name}` },
    );
  const { incidents } = read('incidents');
  compareStories(
    check,
    incidents.map((one) => readEvent(check, one)),
    expected.stories.slice(0, 50),
    { where: 'v2 incidents' },
  );
  for (const one of incidents) checkUpdates(check, one);
  const isActive = (status: string): boolean => status === 'in_progress' || status === 'verifying';
  const plans = (name: string) => read(name).scheduled_maintenances.map((one) => readPlan(check, one));
  const where = (name: string) => ({ where: `v2 ${name}` });
  comparePlans(
    check,
    plans('scheduled-maintenances/upcoming'),
    expected.plans.filter(({ status }) => status === 'scheduled'),
    where('upcoming'),
  );
  comparePlans(
    check,
    plans('scheduled-maintenances/active'),
    expected.plans.filter(({ status }) => isActive(status)),
    where('active'),
  );
  comparePlans(
    check,
    plans('summary'),
    expected.plans.filter(({ status }) => status !== 'completed'),
    where('summary'),
  );
  const all = read('scheduled-maintenances').scheduled_maintenances;
  if (expected.plans.length <= 50) comparePlans(check, plans('scheduled-maintenances'), expected.plans, where('all'));
  for (const one of all) checkPlan(check, one);
}

function checkStatus(check: Check, name: string, { indicator, description }: Documents['status']): void {
  const { state, isStale, lines, stories } = check.expected;
  const worst = WORST_FIRST.find((one) => lines.some((line) => line.state === one)) ?? 'paused';
  const isQuiet = state === 'operational' && (worst === 'operational' || worst === 'paused');
  const isOpen = stories.some(({ endedAt, impact }) => endedAt === null && impact !== 'none');
  const [sign, words] =
    isQuiet && isOpen
      ? ['minor', 'Operational, With an Open Incident']
      : V2_PAGE[state === 'operational' ? (isQuiet ? state : worst) : state];
  same(check, `v2 ${name}: indicator`, indicator, isStale && sign === 'none' ? 'minor' : sign);
  same(check, `v2 ${name}: description`, description, isStale ? `${words} (data may be out of date)` : words);
}

function checkComponents(check: Check, name: string, read: readonly Component[]): void {
  const { lines, world, definedAt, asOf } = check.expected;
  const own = read.filter(({ group }) => !group);
  same(
    check,
    `v2 ${name}: components`,
    own.map((one) => `${one.name} ${one.status}`),
    lines.map((line) => `${line.component.name} ${V2_STATES[line.state]}`),
  );
  for (const [index, line] of lines.entries()) {
    const one = own[index];
    if (one === undefined) continue;
    same(
      check,
      `v2 ${name}: ${one.name}: created_at`,
      one.created_at,
      iso(Math.min(definedAt, line.knownFrom ?? Infinity)),
    );
    if (Date.parse(one.updated_at) > asOf) check.differences.push(`v2 ${name}: ${one.name} was updated in the future`);
    if (line.since !== null && Date.parse(one.updated_at) < line.since)
      check.differences.push(`v2 ${name}: ${one.name} was updated before it came into its state`);
  }
  for (const group of read.filter((one) => one.group)) {
    const id = world.groups.find((known) => known.name === group.name)?.id;
    const members = lines.filter((line: Line) => line.component.groupId === id);
    same(check, `v2 ${name}: ${group.name}`, group.status, V2_STATES[combined(members.map(({ state }) => state))]);
    const names = read.filter((one) => group.components?.includes(one.id)).map((one) => one.name);
    same(
      check,
      `v2 ${name}: ${group.name}: members`,
      names,
      members.map(({ component }) => component.name),
    );
  }
}

function idsOf(check: Check, components: Event['components']): string[] {
  return components.map(
    ({ name }) => check.expected.lines.find(({ component }) => component.name === name)?.component.id ?? name,
  );
}

function readEvent(check: Check, one: Event) {
  return {
    address: addressIn(check, one.shortlink),
    id: one.id,
    title: one.name,
    from: Date.parse(one.started_at),
    to: one.resolved_at === null ? null : Date.parse(one.resolved_at),
    status: one.status,
    impact: one.impact,
    componentIds: idsOf(check, one.components),
    updates: one.incident_updates.map(({ created_at, status }) => ({ at: Date.parse(created_at), status })),
  };
}

function readPlan(check: Check, one: Event) {
  const { impact: _, to: __, ...rest } = readEvent(check, one);
  return { ...rest, to: Date.parse(one.scheduled_until ?? '') };
}

/** What each update left components in is what their lines say of that instant. */
function checkUpdates(check: Check, one: Event): void {
  checkDates(check, one);
  for (const { created_at, affected_components } of one.incident_updates)
    for (const { name, new_status } of affected_components ?? []) {
      const line = check.expected.lines.find(
        ({ component }) => component.name === name || name.endsWith(` - ${component.name}`),
      );
      const at = Date.parse(created_at);
      const state = line?.pieces.find(({ from, to }) => from <= at && at < to)?.state ?? 'unknown';
      same(check, `v2 ${one.name}: ${name} after ${created_at}`, new_status, V2_STATES[state]);
    }
}

function checkPlan(check: Check, one: Event): void {
  checkDates(check, one);
  const plan = check.expected.plans.find(({ title }) => title === one.name);
  if (plan === undefined) return;
  comparePlan(check, readPlan(check, one), plan, { where: 'v2' });
  same(check, `v2 ${one.name}: created_at`, one.created_at, iso(plan.announcedAt));
}

/** Nothing was said in the future, and nothing goes backwards. */
function checkDates(check: Check, { name, created_at, updated_at, incident_updates }: Event): void {
  const instants = incident_updates.map((update) => Date.parse(update.created_at));
  if (
    [created_at, updated_at].some((at) => Date.parse(at) > check.expected.asOf) ||
    instants.some((at) => at > check.expected.asOf)
  )
    check.differences.push(`v2 ${name}: something was said in the future`);
  if (instants.some((at, index) => at < (instants[index + 1] ?? at)))
    check.differences.push(`v2 ${name}: updates go backwards`);
  const ids = incident_updates.map(({ id }) => id);
  if (new Set(ids).size !== ids.length) check.differences.push(`v2 ${name}: updates share an id`);
}
