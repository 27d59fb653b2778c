/** Monitors of resources as checks that Pharos makes itself (`checks: true`). */

import { type MonitorId, type MonitorObservation, type Problem, toMonitorId } from '../../../model/observation.ts';
import { faultsOf, issueWords } from '../../../schema/issue-words.ts';
import { type Check, CheckSchema, isCheckField } from '../check.ts';
import { type Document, factsOf, type Origin, type Resource } from './document.ts';

const TYPES: Readonly<Record<string, Check['type']>> = { http_monitor: 'http', tcp_monitor: 'tcp', dns_monitor: 'dns' };

interface Found {
  readonly checks: readonly Check[];
  /** Monitors that should be checked and can't be. */
  readonly unmade: ReadonlySet<MonitorId>;
  readonly problems: readonly Problem[];
}

/** The checks that resources describe. `active` is false unless it is set, as the document has it. */
export function checksIn(document: Document, origin: Origin): Found {
  const { resources, identities } = factsOf(document, origin);
  const checks: Check[] = [];
  const unmade = new Set<MonitorId>();
  const problems: Problem[] = [];
  for (const resource of resources) {
    const type = TYPES[resource.type];
    if (type === undefined || resource.mode !== 'managed') continue;
    const id = identities.idOf(resource);
    const made = toCheck(resource, type);
    if ('check' in made) checks.push({ ...made.check, id });
    else {
      unmade.add(toMonitorId(origin.upstreamId, id));
      problems.push({ kind: 'note', place: resource.address, message: `it isn’t checked: ${made.reason}` });
    }
  }
  return { checks, unmade, problems };
}

function toCheck(
  { name, values, hidden }: Resource,
  type: Check['type'],
): { readonly check: Check } | { readonly reason: string } {
  const unknown = [...hidden].filter((field) => isCheckField(type, field));
  if (unknown.length > 0)
    return { reason: `only Terraform knows ${unknown.join(', ')}. Use a state file, which has these values` };
  const fields = Object.entries(values).filter(([field]) => isCheckField(type, field));
  const given = { name, active: false, ...Object.fromEntries(fields), type, id: 'resource' };
  const parsed = CheckSchema.safeParse(given, { error: issueWords() });
  if (parsed.success) return { check: parsed.data };
  const [{ path, message }] = faultsOf(parsed.error);
  return { reason: path === '' ? message : `${path}: ${message}` };
}

/** Monitors in the states that checks give; those that can't be checked are unknown, and the others as they were. */
export function withStates(
  monitors: readonly MonitorObservation[],
  made: readonly MonitorObservation[],
  { unmade }: Pick<Found, 'unmade'>,
): readonly MonitorObservation[] {
  const states = new Map(made.map(({ id, state }) => [id, state]));
  return monitors.map((monitor) => ({
    ...monitor,
    state: states.get(monitor.id) ?? (unmade.has(monitor.id) && monitor.state !== 'paused' ? 'unknown' : monitor.state),
  }));
}
