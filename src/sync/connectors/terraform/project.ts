/**
 * What resources mean: monitors and channels here, status pages in `project-pages.ts`; and what is left out. Where a channel
 * leads is a secret that only the sender is given.
 */

import type { z } from 'zod';
import {
  type MonitorObservation,
  type NotificationChannel,
  type PageDefinition,
  type Problem,
  toMonitorId,
} from '../../../model/observation.ts';
import type { State } from '../../../model/state.ts';
import { issueWords, leafIssues } from '../../../schema/issue-words.ts';
import type { ChannelResource } from '../../connector.ts';
import { uniqueById, uniqueMonitors } from '../items.ts';
import { lookUp, MONITOR_WORDS } from '../page-words.ts';
import { FlagSchema, stateFromWord } from '../wire.ts';
import {
  type Document,
  factsOf,
  type Origin,
  type ProjectFacts,
  type Resource,
  textOf,
  withoutNulls,
} from './document.ts';
import { projectPages } from './project-pages.ts';
import { blockOf, CONDITIONAL_RULES, GATE_FIELDS, LOOKUP_RULES, RESOURCE_RULES } from './schema.ts';

interface Projected {
  readonly monitors: readonly MonitorObservation[];
  readonly pages: readonly PageDefinition[];
  readonly channels: readonly NotificationChannel[];
  readonly problems: readonly Problem[];
  readonly itemsTotal: number;
}

/** Everything in a document, sorted by id; what is left out is told by its address. Never throws; no sensitive value comes out. */
export function projectDocument(document: Document, origin: Origin): Projected {
  const facts = factsOf(document, origin);
  const ours = facts.resources;
  const monitors = uniqueMonitors(origin.monitorUpstream === null ? projectMonitors(facts) : []);
  const pages = projectPages(facts);
  const channels = uniqueById(projectChannels(facts));
  return {
    monitors: monitors.monitors,
    pages: pages.pages,
    channels: channels.items,
    problems: [
      ...document.notes.map((note): Problem => ({ kind: 'note', ...note })),
      ...foreignResources(document, ours.length, origin),
      ...ours.flatMap((resource) => checkResource(resource).map((problem) => ofPage(problem, resource, facts))),
      ...ours.flatMap(notShown),
      ...writtenTwice(ours),
      ...monitors.problems,
      ...pages.problems,
    ],
    itemsTotal: ours.length,
  };
}

function foreignResources({ resources }: Document, oursTotal: number, { brand }: Origin): Problem[] {
  if (oursTotal > 0 || resources.length === 0) return [];
  return [
    { kind: 'note', place: 'resources', message: `none of ${resources.length} is of type ${brand}*; check preset` },
  ];
}

/** A doubt about who may see a page is told with the page. */
function ofPage(problem: Problem, resource: Resource, { identities, origin }: ProjectFacts): Problem {
  if (problem.kind !== 'gate') return problem;
  return { ...problem, page: `${origin.upstreamId}/${identities.idOf(resource)}` };
}

/** Resources that are known, and of which nothing can be seen on a page. */
const NOT_SHOWN: Readonly<Record<string, string>> = {
  private_location: 'left out: check locations are not shown',
  private_locations: 'left out: check locations are not shown',
  monitors: 'left out: a list for lookups',
};

function notShown({ address, type }: Resource): Problem[] {
  const message = lookUp(NOT_SHOWN, type);
  return message === undefined ? [] : [{ kind: 'note', place: address, message }];
}

/** Terraform refuses two resources of one address, and so nothing says which of them is meant. */
function writtenTwice(resources: readonly Resource[]): Problem[] {
  return [...Map.groupBy(resources, ({ address }) => address)]
    .filter(([, same]) => same.length > 1)
    .map(([address, same]) => ({
      kind: 'note',
      place: address,
      message: `defined ${same.length} times; one is shown`,
    }));
}

/** What a resource breaks of the rules of its fields, each with its address. Values are never quoted. */
export function checkResource(resource: Resource): Problem[] {
  const rules: Readonly<Record<string, z.ZodType>> = resource.mode === 'data' ? LOOKUP_RULES : RESOURCE_RULES;
  const schema = lookUp(rules, resource.type);
  if (schema === undefined) return [{ kind: 'note', place: resource.address, message: 'left out: unknown type' }];
  const issues = schema.safeParse(resource.values, { error: issueWords() }).error?.issues.flatMap(leafIssues) ?? [];
  const broken = issues
    .filter(({ path }) => !resource.hidden.has(String(path[0])))
    .map((issue): Problem => {
      const field = String(issue.path[0]);
      const isMissing = !(field in resource.values);
      return {
        kind: isWordIssue(issue, resource.values) ? 'word' : isGate(resource, field) ? 'gate' : 'dropped',
        place: [resource.address, ...issue.path].map(String).join('.'),
        message: isMissing && issue.code !== 'custom' ? 'required, but missing' : issue.message,
      };
    });
  return [...broken, ...checkConditions(resource)];
}

function isGate({ type }: Resource, field: string): boolean {
  return type === 'status_page' && GATE_FIELDS.has(field);
}

/** Whether a text stands where another word was expected; anything but a text is a wrong type. */
function isWordIssue(issue: z.core.$ZodIssue, values: unknown): boolean {
  const isWord = issue.code === 'invalid_value' || (issue.code === 'custom' && issue.params?.['isWord'] === true);
  const value = issue.path.reduce<unknown>(
    (inner, key) =>
      typeof inner === 'object' && inner !== null ? (inner as Record<PropertyKey, unknown>)[key] : undefined,
    values,
  );
  return isWord && typeof value === 'string';
}

function checkConditions({ mode, type, address, values, hidden }: Resource): Problem[] {
  if (mode === 'data') return [];
  return CONDITIONAL_RULES.filter((rule) => {
    const value = values[rule.field];
    const isGiven = hidden.has(rule.field) || (Array.isArray(value) ? value.length > 0 : Boolean(value));
    return rule.type === type && values[rule.when] === rule.word && !isGiven;
  }).map(({ kind, field, when, word }) => ({
    kind,
    place: `${address}.${field}`,
    message: `required if ${when} is ${word}`,
  }));
}

const MONITOR_TYPE = /^((http|tcp|dns|icmp)_)?monitor$/;

function projectMonitors({ resources, identities, origin }: ProjectFacts): MonitorObservation[] {
  const monitors = resources.filter(({ type }) => MONITOR_TYPE.test(type));
  const managed = monitors.filter(({ mode }) => mode === 'managed');
  const known = new Set(managed.map(identities.idOf));
  const looked = monitors.filter((resource) => resource.mode === 'data' && !known.has(identities.idOf(resource)));
  return [...managed, ...looked].map((resource) => projectMonitor(resource, identities.idOf(resource), origin));
}

function projectMonitor(resource: Resource, id: string, { upstreamId }: Origin): MonitorObservation {
  const { values, type, address, mode, hidden } = resource;
  const active = FlagSchema.optional().safeParse(values['active']);
  const word = stateFromWord(MONITOR_WORDS, values['status'] ?? 'unspecified', address);
  // `active` is false unless it is set; hidden is not unset, and what is only looked up is set elsewhere.
  const isUnset = mode === 'managed' && !hidden.has('active');
  const isPaused = active.success && (active.data === false || (active.data === undefined && isUnset));
  const state: State = isPaused ? 'paused' : active.success ? word.state : 'unknown';
  return {
    id: toMonitorId(upstreamId, id),
    name: textOf(values['name']) ?? resource.name,
    description: textOf(values['description']),
    kind:
      mode === 'data'
        ? (textOf(values['type']) ?? 'monitor')
        : type === 'monitor'
          ? 'http'
          : type.replace('_monitor', ''),
    target: textOf(values['url']) ?? textOf(values['uri']),
    state,
    isPublic: FlagSchema.safeParse(values['public']).data === true,
    createdAt: null,
  };
}

/** Channels by name, kind and what triggers them; where they lead to is a secret and stays out. */
function projectChannels(facts: ProjectFacts): NotificationChannel[] {
  return resourcesIn(facts).map((resource) => projectChannel(resource, facts));
}

/** The same with their settings. What only Terraform knows, such as a variable without a value, cannot be seen. */
export function channelResources(document: Document, origin: Origin): readonly ChannelResource[] {
  const facts = factsOf(document, origin);
  const channels = resourcesIn(facts)
    .filter(({ mode }) => mode === 'managed')
    .map((resource): ChannelResource => {
      const channel = projectChannel(resource, facts);
      const block = blockOf(resource.values[channel.kind]);
      const isKnown = typeof block === 'object' && block !== null && !Array.isArray(block);
      return { ...channel, settings: isKnown ? withoutNulls(block as Readonly<Record<string, unknown>>) : null };
    });
  return uniqueById(channels).items;
}

function resourcesIn({ resources }: ProjectFacts): readonly Resource[] {
  return resources.filter(({ type }) => type === 'notification');
}

function projectChannel(resource: Resource, { identities, origin }: ProjectFacts): NotificationChannel {
  const { upstreamId, monitorUpstream } = origin;
  const { values, hidden, name } = resource;
  const listed = values['monitor_ids'];
  const ids = Array.isArray(listed) ? listed.flatMap((id) => identities.referenced(id) ?? []) : [];
  const monitors = ids.toSorted().map((id) => toMonitorId(monitorUpstream ?? upstreamId, id));
  return {
    id: `${upstreamId}/${identities.idOf(resource)}`,
    name: textOf(values['name']) ?? name,
    kind: textOf(values['provider_type']) ?? 'unknown',
    monitors: hidden.has('monitor_ids') ? null : monitors,
  };
}
