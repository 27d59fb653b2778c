/** What resources mean: monitors, and status pages with their groups and components. */

import type { z } from 'zod';
import { statedAccess } from '../../../model/access.ts';
import {
  type AccessType,
  type ComponentDefinition,
  type MonitorObservation,
  type PageDefinition,
  type Problem,
  toMonitorId,
} from '../../../model/observation.ts';
import type { State } from '../../../model/state.ts';
import {
  ACCESS_WORDS,
  lookUp,
  MONITOR_WORDS,
  placeComponents,
  placeGroups,
  THEME_WORDS,
  toSlug,
} from '../page-words.ts';
import { FlagSchema, NumberSchema, stateFromWord, toHost, toLink, uniqueById, uniqueMonitors } from '../wire.ts';
import type { Document, Resource } from './document.ts';
import { CONDITIONAL_RULES, GATE_FIELDS, LOOKUP_RULES, RESOURCE_RULES } from './schema.ts';

export interface Origin {
  readonly upstreamId: string;
  /** `svc_` or `openstatus_`. */
  readonly brand: string;
  /** Upstream whose monitors the components show; null: the monitors of this file are monitors themselves. */
  readonly monitorUpstream: string | null;
}

export interface Projected {
  readonly monitors: readonly MonitorObservation[];
  readonly pages: readonly PageDefinition[];
  readonly problems: readonly Problem[];
  readonly itemsTotal: number;
}

/** Everything in a document, sorted by id. Never throws; no sensitive value comes out. */
export function projectDocument(document: Document, origin: Origin): Projected {
  const ours = document.resources
    .filter(({ type }) => type.startsWith(origin.brand))
    .map((resource) => ({ ...resource, type: resource.type.slice(origin.brand.length) }))
    .toSorted((a, b) => (a.address < b.address ? -1 : a.address > b.address ? 1 : 0));
  const checked = ours.flatMap(checkResource);
  const monitors = uniqueMonitors(origin.monitorUpstream === null ? projectMonitors(ours, origin) : []);
  const pages = projectPages(ours, origin);
  const foreign: Problem[] =
    ours.length === 0 && document.resources.length > 0
      ? [
          {
            kind: 'note',
            place: 'resources',
            message: `none of ${document.resources.length} is of type ${origin.brand}*; check preset`,
          },
        ]
      : [];
  return {
    monitors: monitors.monitors,
    pages: pages.pages,
    problems: [
      ...document.notes.map((note): Problem => ({ kind: 'note', ...note })),
      ...foreign,
      ...checked,
      ...monitors.problems,
      ...pages.problems,
    ],
    itemsTotal: ours.length,
  };
}

/** What a resource breaks of the rules of its fields, each with its address. Values are never quoted. */
export function checkResource(resource: Resource): Problem[] {
  const rules: Readonly<Record<string, z.ZodType>> = resource.mode === 'data' ? LOOKUP_RULES : RESOURCE_RULES;
  const schema = lookUp(rules, resource.type);
  if (schema === undefined)
    return [{ kind: 'note', place: resource.address, message: 'a type that Pharos does not know; left out' }];
  const issues = schema.safeParse(resource.values).error?.issues ?? [];
  const broken = issues
    .filter(({ path }) => !resource.hidden.has(String(path[0])))
    .map((issue): Problem => {
      const field = String(issue.path[0]);
      const isMissing = !(field in resource.values);
      return {
        kind: isWordIssue(issue, resource.values) ? 'word' : GATE_FIELDS.has(field) ? 'gate' : 'dropped',
        place: [resource.address, ...issue.path].map(String).join('.'),
        message: isMissing && issue.code !== 'custom' ? 'required, and it is missing' : issue.message,
      };
    });
  return [...broken, ...checkConditions(resource)];
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
    message: `required when ${when} is ${word}`,
  }));
}

/** The id of a resource there; before it is applied, its name stands for it. */
function resourceId({ values, type, name }: Resource): string {
  const id = textOf(values['id']);
  return id ?? (type.endsWith('_monitor') ? `${type}.${name}` : name);
}

/** Text, also where it was written as a number; null: there is none. */
function textOf(value: unknown): string | null {
  if (typeof value === 'string' && value !== '') return value;
  return typeof value === 'number' ? String(value) : null;
}

function numberOf(value: unknown): number {
  const parsed = NumberSchema.safeParse(value);
  return parsed.success && Number.isFinite(parsed.data) ? parsed.data : 0;
}

/** The id that a reference means: an id there, or the address of a resource that has none yet. */
function referenced(value: unknown, resources: readonly Resource[], brand: string): string | null {
  const text = textOf(value);
  if (text === null) return null;
  const target = resources.find(({ address, mode, type, name }) => {
    const written = `${mode === 'data' ? 'data.' : ''}${brand}${type}.${name}`;
    return text === address || text === written;
  });
  return target === undefined ? text : resourceId(target);
}

function projectMonitors(resources: readonly Resource[], origin: Origin): MonitorObservation[] {
  const managed = resources.filter(({ mode, type }) => mode === 'managed' && /^(http|tcp|dns)_monitor$/.test(type));
  const known = new Set(managed.map(resourceId));
  const looked = resources.filter(
    (resource) => resource.mode === 'data' && resource.type === 'monitor' && !known.has(resourceId(resource)),
  );
  return [...managed, ...looked].map((resource) => projectMonitor(resource, origin));
}

function projectMonitor(resource: Resource, { upstreamId }: Origin): MonitorObservation {
  const { values, type, address } = resource;
  const active = FlagSchema.optional().safeParse(values['active']);
  const word = stateFromWord(MONITOR_WORDS, values['status'] ?? 'unspecified', address);
  // `active` is false unless it is set, and hidden is not unset.
  const isPaused = active.success && active.data !== true && !resource.hidden.has('active');
  const state: State = isPaused ? 'paused' : active.success ? word.state : 'unknown';
  return {
    id: toMonitorId(upstreamId, resourceId(resource)),
    name: textOf(values['name']) ?? resource.name,
    description: textOf(values['description']),
    kind: resource.mode === 'data' ? (textOf(values['type']) ?? 'monitor') : type.replace('_monitor', ''),
    target: textOf(values['url']) ?? textOf(values['uri']),
    state,
    isPublic: FlagSchema.safeParse(values['public']).data === true,
    createdAt: null,
  };
}

function projectPages(
  resources: readonly Resource[],
  origin: Origin,
): { pages: PageDefinition[]; problems: Problem[] } {
  const problems: Problem[] = [];
  const ofType = (type: string): Resource[] =>
    resources.filter((resource) => resource.mode === 'managed' && resource.type === type);
  const parts = [...ofType('status_page_component'), ...ofType('status_page_component_group')];
  // A page that is only looked up belongs to somebody else unless something here is put on it.
  const looked = resources.filter(
    (resource) =>
      resource.mode === 'data' &&
      resource.type === 'status_page' &&
      parts.some((part) => referenced(part.values['page_id'], resources, origin.brand) === resourceId(resource)),
  );
  const pages = [...ofType('status_page'), ...looked].flatMap((resource) => {
    const slug = toSlug(textOf(resource.values['slug']) ?? '');
    const isKnown = resource.values['slug'] !== undefined;
    if (slug === null) {
      const message = isKnown ? 'cannot stand in an address' : 'is not known here';
      problems.push({ kind: 'dropped', place: `${resource.address}.slug`, message });
      return [];
    }
    return [projectPage(resource, { slug, resources, origin })];
  });
  const unique = uniqueById(pages, (page) => ({ ...page, access: 'closed' as const }));
  return { pages: unique.items, problems: [...problems, ...unique.problems] };
}

function projectPage(
  page: Resource,
  { slug, resources, origin }: { slug: string; resources: readonly Resource[]; origin: Origin },
): PageDefinition {
  const { values } = page;
  const id = resourceId(page);
  const onPage = (type: string): Resource[] =>
    resources.filter(
      (resource) =>
        resource.mode === 'managed' &&
        resource.type === type &&
        referenced(resource.values['page_id'], resources, origin.brand) === id,
    );
  const groups = uniqueById(
    onPage('status_page_component_group').map((group) => ({
      id: resourceId(group),
      name: textOf(group.values['name']) ?? group.name,
    })),
  ).items;
  const components = uniqueById(
    onPage('status_page_component').map((component) => projectComponent(component, resources, origin)),
  ).items;
  const placed = placeComponents(components, groups);
  const domains = values['auth_email_domains'];
  return {
    id: `${origin.upstreamId}/${id}`,
    slug,
    title: textOf(values['title']) ?? slug,
    description: textOf(values['description']),
    homepageUrl: toLink(values['homepage_url']),
    contactUrl: toLink(values['contact_url']),
    icon: toLink(values['icon']),
    customDomain: toHost(values['custom_domain']),
    access: resourceAccess(page),
    emailDomains: Array.isArray(domains)
      ? domains
          .filter((domain) => typeof domain === 'string')
          .map((domain) => domain.toLowerCase())
          .toSorted()
      : [],
    // Read-only there and not known before it is applied; who writes a page down means to publish it.
    published: values['published'] === undefined || FlagSchema.safeParse(values['published']).data === true,
    theme: lookUp(THEME_WORDS, values['theme']) ?? 'system',
    groups: placeGroups(groups, placed),
    components: placed,
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

function projectComponent(component: Resource, resources: readonly Resource[], origin: Origin): ComponentDefinition {
  const { values } = component;
  const id = resourceId(component);
  const isStatic = values['type'] === 'static';
  // A name that no monitor has: looked up, it is unknown, never well.
  const monitor = referenced(values['monitor_id'], resources, origin.brand) ?? `component-${id}`;
  return {
    id,
    type: isStatic ? 'static' : 'monitor',
    monitor: isStatic ? null : toMonitorId(origin.monitorUpstream ?? origin.upstreamId, monitor),
    name: textOf(values['name']),
    description: textOf(values['description']),
    groupId: referenced(values['group_id'], resources, origin.brand),
    order: numberOf(values['order']),
    groupOrder: numberOf(values['group_order']),
  };
}
