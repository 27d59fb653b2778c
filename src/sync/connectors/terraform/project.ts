/**
 * What resources mean: monitors, channels and status pages; and what is left out. Where a channel
 * leads is a secret that only the sender is given.
 */

import type { z } from 'zod';
import { statedAccess } from '../../../model/access.ts';
import {
  type AccessType,
  type ComponentDefinition,
  type MonitorId,
  type MonitorObservation,
  type NotificationChannel,
  type PageDefinition,
  type Problem,
  toMonitorId,
} from '../../../model/observation.ts';
import { issueWords, leafIssues, listFaults, valueAt } from '../../../schema/issue-words.ts';
import type { ChannelResource } from '../../connector.ts';
import { CHECK_FIELDS, type Check, CheckSchema } from '../check.ts';
import { note, uniqueById, uniqueMonitors, unknownMonitor } from '../items.ts';
import {
  ACCESS_WORDS,
  MONITOR_WORDS,
  placeComponents,
  placeGroups,
  THEME_WORDS,
  toLocale,
  toPresentation,
  toSlug,
} from '../page-words.ts';
import { FlagSchema, lookUp, NumberSchema, stateFromWord, toHost, toLink } from '../wire.ts';
import {
  type Document,
  type Origin,
  type ProjectFacts,
  type Resource,
  readFacts,
  toText,
  withoutNulls,
} from './hcl.ts';
import { CONDITIONAL_RULES, GATE_FIELDS, LOOKUP_RULES, RESOURCE_RULES, singleBlock } from './schema.ts';

/** Everything in a document, sorted by id; what is left out is told by its address. Never throws; no sensitive value comes out. */
export function projectDocument(document: Document, origin: Origin) {
  const facts = readFacts(document, origin);
  const { resources: ours, identities } = facts;
  const problems = [...document.notes];
  const foreign = document.resources.length;
  if (ours.length === 0 && foreign > 0)
    problems.push(note('resources', `none of ${foreign} is of type ${origin.brand}*; check preset`));
  for (const resource of ours) {
    const page = `${origin.upstreamId}/${identities.idOf(resource)}`;
    // A doubt about who may see a page is told with the page.
    problems.push(...checkResource(resource).map((one) => (one.kind === 'gate' ? { ...one, page } : one)));
    const reason = lookUp(NOT_SHOWN, resource.type);
    if (reason !== undefined) problems.push(note(resource.address, reason));
  }
  // Terraform refuses two resources of one address, and so nothing says which of them is meant.
  for (const [address, { length }] of Map.groupBy(ours, (resource) => resource.address))
    if (length > 1) problems.push(note(address, `defined ${length} times; one is shown`));
  return {
    monitors: uniqueMonitors(origin.monitorUpstream === null ? projectMonitors(facts) : [], problems),
    pages: projectPages(facts, problems),
    // By name, kind and what triggers them; where they lead to is a secret and stays out.
    channels: uniqueById(ours.filter(isChannel).map((resource) => projectChannel(resource, facts))),
    problems,
    itemsTotal: ours.length,
  };
}

/** Resources that are known, and of which nothing can be seen on a page. */
const NOT_SHOWN: Readonly<Record<string, string>> = {
  private_location: 'left out: check locations are not shown',
  private_locations: 'left out: check locations are not shown',
  monitors: 'left out: a list for lookups',
};

/** What a resource breaks of the rules of its fields, each with its address. Values are never quoted. */
export function checkResource(resource: Resource): Problem[] {
  const rules: Readonly<Record<string, z.ZodType>> = resource.mode === 'data' ? LOOKUP_RULES : RESOURCE_RULES;
  const schema = lookUp(rules, resource.type);
  if (schema === undefined) return [note(resource.address, 'left out: unknown type')];
  const isGate = (field: string): boolean => resource.type === 'status_page' && GATE_FIELDS.has(field);
  const issues = schema.safeParse(resource.values, { error: issueWords() }).error?.issues.flatMap(leafIssues) ?? [];
  const broken = issues
    .filter(({ path }) => !resource.hidden.has(String(path[0])))
    .map((issue): Problem => {
      const field = String(issue.path[0]);
      const isMissing = !(field in resource.values);
      return {
        kind: isWordIssue(issue, resource.values) ? 'word' : isGate(field) ? 'gate' : 'dropped',
        place: [resource.address, ...issue.path].map(String).join('.'),
        message: isMissing && issue.code !== 'custom' ? 'required, but missing' : issue.message,
      };
    });
  return [...broken, ...checkConditions(resource)];
}

/** Whether a text stands where another word was expected; anything but a text is a wrong type. */
function isWordIssue(issue: z.core.$ZodIssue, values: unknown): boolean {
  const isWord = issue.code === 'invalid_value' || (issue.code === 'custom' && issue.params?.['isWord'] === true);
  return isWord && typeof valueAt(values, issue.path) === 'string';
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
  const state = stateFromWord(MONITOR_WORDS, values['status'] ?? 'unspecified', address);
  // `active` is false unless it is set; hidden is not unset, and what is only looked up is set elsewhere.
  const isUnset = mode === 'managed' && !hidden.has('active');
  const isPaused = active.success && (active.data === false || (active.data === undefined && isUnset));
  const kind = type === 'monitor' ? 'http' : type.replace('_monitor', '');
  return {
    ...unknownMonitor(upstreamId, id, mode === 'data' ? (toText(values['type']) ?? 'monitor') : kind),
    name: toText(values['name']) ?? resource.name,
    description: toText(values['description']),
    target: toText(values['url']) ?? toText(values['uri']),
    state: isPaused ? 'paused' : active.success ? state : 'unknown',
    isPublic: FlagSchema.safeParse(values['public']).data === true,
  };
}

/** Channels with their settings. What only Terraform knows, such as a variable without a value, cannot be seen. */
export function channelResources(document: Document, origin: Origin): readonly ChannelResource[] {
  const facts = readFacts(document, origin);
  const channels = facts.resources.filter((resource) => isChannel(resource) && resource.mode === 'managed');
  return uniqueById(
    channels.map((resource): ChannelResource => {
      const channel = projectChannel(resource, facts);
      const block = singleBlock(resource.values[channel.kind]);
      const isKnown = typeof block === 'object' && block !== null && !Array.isArray(block);
      return { ...channel, settings: isKnown ? withoutNulls(block as Readonly<Record<string, unknown>>) : null };
    }),
  );
}

function isChannel({ type }: Resource): boolean {
  return type === 'notification';
}

function projectChannel(resource: Resource, { identities, origin }: ProjectFacts): NotificationChannel {
  const { upstreamId, monitorUpstream } = origin;
  const { values, hidden, name } = resource;
  const listed = values['monitor_ids'];
  const ids = Array.isArray(listed) ? listed.flatMap((id) => identities.referenced(id) ?? []) : [];
  const monitors = ids.toSorted().map((id) => toMonitorId(monitorUpstream ?? upstreamId, id));
  return {
    id: `${upstreamId}/${identities.idOf(resource)}`,
    name: toText(values['name']) ?? name,
    kind: toText(values['provider_type']) ?? 'unknown',
    monitors: hidden.has('monitor_ids') ? null : monitors,
  };
}

// Status pages with their groups and components, and what stands in none of them.

/** Pages that are managed here, and those looked up that something here is put on. */
function projectPages(facts: ProjectFacts, problems: Problem[]): PageDefinition[] {
  const { resources, identities } = facts;
  const parts = resources.filter(isPart);
  problems.push(...parts.flatMap((part) => checkReferences(part, facts)));
  const pages = resources
    .filter(({ type }) => type === 'status_page')
    .flatMap((page): PageDefinition[] => {
      for (const [field, message] of Object.entries(UNUSED))
        if (page.hidden.has(field) || page.values[field] !== undefined)
          problems.push(note(`${page.address}.${field}`, message));
      const isUsed = parts.some(({ values }) => identities.referenced(values['page_id']) === identities.idOf(page));
      // A page that is only looked up belongs to somebody else unless something here is put on it.
      if (page.mode === 'data' && !isUsed) {
        problems.push(note(page.address, 'left out: a data source that nothing refers to'));
        return [];
      }
      const slug = slugOf(page);
      if (slug !== null) return [projectPage(page, slug, facts)];
      const place = `${page.address}.slug`;
      const id = `${facts.origin.upstreamId}/${identities.idOf(page)}`;
      if (page.values['slug'] !== undefined)
        problems.push({ kind: 'gate', page: id, place, message: 'can’t be part of a URL' });
      else if (page.mode === 'data' || page.hidden.has('slug'))
        problems.push(note(place, 'left out: the whole page, because this is not known here'));
      // It may be any that is not shown.
      else problems.push({ kind: 'gate', page: null, place, message: 'missing' });
      return [];
    });
  return uniqueById(pages, problems, (page) => ({ ...page, access: 'closed' }));
}

/** What a page says and nothing here does. */
const UNUSED: Readonly<Record<string, string>> = {
  custom_theme: 'left out: use css_variables and accent_color in pharos.yaml',
  locales: 'left out: a page has one language, default_locale',
};

/** The slug of a page; null: it is not known here, or can’t be part of a URL. */
function slugOf({ values }: Resource): string | null {
  return toSlug(toText(values['slug']) ?? '');
}

function isPart({ mode, type }: Resource): boolean {
  return mode === 'managed' && (type === 'status_page_component' || type === 'status_page_component_group');
}

/** What a component or a group refers to and cannot be found: each is told, with what comes of it. */
function checkReferences(
  { address, values, hidden, type }: Resource,
  { resources, identities }: ProjectFacts,
): Problem[] {
  const isComponent = type === 'status_page_component';
  const shown = resources.filter((one) => one.type === 'status_page' && slugOf(one) !== null);
  const pages = new Set(shown.map(identities.idOf));
  const groups = new Set(resources.filter((one) => one.type === 'status_page_component_group').map(identities.idOf));
  const isMissing = (field: string, known: ReadonlySet<string> | null): boolean => {
    if (hidden.has(field)) return true;
    if (values[field] === undefined) return false;
    const id = identities.referenced(values[field]);
    return id === null || (known !== null && !known.has(id));
  };
  const problems: Problem[] = [];
  const tell = (field: string, message: string) => problems.push(note(`${address}.${field}`, message));
  if (isMissing('page_id', pages))
    tell('page_id', `left out: the whole ${isComponent ? 'component' : 'group'}, because its page is not known here`);
  if (isComponent && isMissing('group_id', groups)) tell('group_id', 'its group is not known here; shown without one');
  if (isComponent && isMissing('monitor_id', null))
    tell('monitor_id', 'its monitor is not known until it is applied; shown as unknown');
  return problems;
}

function projectPage(page: Resource, slug: string, { resources, identities, origin }: ProjectFacts): PageDefinition {
  const { values } = page;
  const id = identities.idOf(page);
  const parts = resources.filter((part) => isPart(part) && identities.referenced(part.values['page_id']) === id);
  const onPage = (wanted: string): Resource[] => parts.filter(({ type }) => type === wanted);
  const groups = uniqueById(
    onPage('status_page_component_group').map((group) => ({
      id: identities.idOf(group),
      name: toText(group.values['name']) ?? group.name,
      defaultOpen: FlagSchema.safeParse(group.values['default_open']).data,
    })),
  );
  const components = uniqueById(
    onPage('status_page_component').map((component) => projectComponent(component, { resources, identities, origin })),
  );
  const placed = placeComponents(components, groups);
  const domains = values['auth_email_domains'];
  return {
    id: `${origin.upstreamId}/${id}`,
    slug,
    title: toText(values['title']) ?? slug,
    description: toText(values['description']),
    homepageUrl: toLink(values['homepage_url']),
    contactUrl: toLink(values['contact_url']),
    icon: toLink(values['icon']),
    customDomain: toHost(values['custom_domain']),
    access: resourceAccess(page),
    emailDomains: (Array.isArray(domains) ? domains : [])
      .flatMap((domain) => (typeof domain === 'string' ? domain.toLowerCase() : []))
      .toSorted(),
    // Read-only there and not known before it is applied; who writes a page down means to publish it. openstatus says false of
    // every page that its interface made, and shows it all the same.
    published: origin.brand === 'openstatus_' || FlagSchema.default(true).safeParse(values['published']).data === true,
    theme: lookUp(THEME_WORDS, values['theme']) ?? 'system',
    groups: placeGroups(groups, placed),
    components: placed,
    presentation: toPresentation({
      allowIndex: page.hidden.has('allow_index') ? false : FlagSchema.safeParse(values['allow_index']).data,
      locale: toLocale(toText(values['default_locale'])),
      showsAllPlaced: origin.brand === 'openstatus_' ? true : undefined,
    }),
  };
}

/**
 * Who may see a page: the most private of what is written. One that says nothing is public; a word or an expression that
 * we do not know closes it.
 */
function resourceAccess({ values, hidden }: Resource): AccessType {
  const word = values['access_type'];
  const isHidden = hidden.has('access_type');
  const domains = values['auth_email_domains'];
  const stated = statedAccess({
    type: word === undefined && !isHidden ? null : (lookUp(ACCESS_WORDS, word) ?? 'closed'),
    hasPassword: hidden.has('password') || (values['password'] !== undefined && values['password'] !== ''),
    hasEmailDomains:
      hidden.has('auth_email_domains') || (Array.isArray(domains) ? domains.length > 0 : domains !== undefined),
  });
  return stated ?? 'public';
}

function projectComponent(component: Resource, { identities, origin }: ProjectFacts): ComponentDefinition {
  const { values } = component;
  const id = identities.idOf(component);
  const isStatic = values['type'] === 'static';
  // A name that no monitor has: looked up, it is unknown, never well.
  const monitor = identities.referenced(values['monitor_id']) ?? `component-${id}`;
  return {
    id,
    type: isStatic ? 'static' : 'monitor',
    monitor: isStatic ? null : toMonitorId(origin.monitorUpstream ?? origin.upstreamId, monitor),
    name: toText(values['name']),
    description: toText(values['description']),
    groupId: identities.referenced(values['group_id']),
    order: toNumber(values['order']),
    groupOrder: toNumber(values['group_order']),
  };
}

function toNumber(value: unknown): number {
  const parsed = NumberSchema.safeParse(value);
  return parsed.success && Number.isFinite(parsed.data) ? parsed.data : 0;
}

// Monitors of resources as checks that Pharos makes itself (`checks: true`).

const TYPES: Readonly<Record<string, Check['type']>> = { http_monitor: 'http', tcp_monitor: 'tcp', dns_monitor: 'dns' };

/** The checks that resources describe. `active` is false unless it is set, as the document has it. */
export function findChecks(document: Document, origin: Origin) {
  const { resources, identities } = readFacts(document, origin);
  const checks: Check[] = [];
  /** Monitors that should be checked and can't be. */
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
      problems.push(note(resource.address, `it isn’t checked: ${made.reason}`));
    }
  }
  return { checks, unmade, problems };
}

function toCheck(
  { name, values, hidden }: Resource,
  type: Check['type'],
): { readonly check: Check } | { readonly reason: string } {
  const isCheckField = (field: string): boolean => Object.hasOwn(CHECK_FIELDS[type], field);
  const unknown = [...hidden].filter(isCheckField);
  if (unknown.length > 0)
    return { reason: `only Terraform knows ${unknown.join(', ')}. Use a state file, which has these values` };
  const fields = Object.entries(values).filter(([field]) => isCheckField(field));
  const given = { name, active: false, ...Object.fromEntries(fields), type, id: 'resource' };
  const parsed = CheckSchema.safeParse(given, { error: issueWords() });
  if (parsed.success) return { check: parsed.data };
  const [{ path, message }] = listFaults(parsed.error);
  return { reason: path === '' ? message : `${path}: ${message}` };
}

/** Monitors in the states that checks give; those that can't be checked are unknown, and the others as they were. */
export function withStates(
  monitors: readonly MonitorObservation[],
  made: readonly MonitorObservation[],
  unmade: ReadonlySet<MonitorId>,
): readonly MonitorObservation[] {
  const states = new Map(made.map(({ id, state }) => [id, state]));
  return monitors.map((monitor) => ({
    ...monitor,
    state: states.get(monitor.id) ?? (unmade.has(monitor.id) && monitor.state !== 'paused' ? 'unknown' : monitor.state),
  }));
}
