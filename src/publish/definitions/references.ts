/**
 * Finds references in the configuration and in posts to items that don't exist, which would otherwise silently show nowhere.
 */

import type { PageConfig } from '../../config/schema.ts';
import {
  type Incident,
  isOverStatus,
  type Learned,
  type Maintenance,
  type MonitorId,
  upstreamOf,
} from '../../model/observation.ts';
import type { EpochMs } from '../../model/time.ts';
import { didYouMean } from '../../schema/nearest.ts';
import { CATALOGUES, hasWords } from '../../views/words/index.ts';
import { collectDrafts, readFrom } from './definitions.ts';
import type { DefinitionInputs } from './inputs.ts';
import { namesOfPage } from './site-memory.ts';

export type UnknownReference = ReturnType<typeof fault>;

interface Tie {
  /** `notifications[0]`. */
  readonly place: string;
  readonly pages?: readonly string[] | undefined;
  /** The page that it is about, such as an intake's, and component ids of that page. */
  readonly page?: { readonly slug: string; readonly components: Readonly<Record<string, string>> };
  /** As `<page slug>/<component id>`. */
  readonly components?: readonly string[] | undefined;
  readonly monitors?: readonly string[] | undefined;
}

export interface ReferenceInputs {
  readonly definitions: DefinitionInputs;
  /** Ids of all upstreams. */
  readonly upstreams: readonly string[];
  /** The monitors of each upstream whose list is known. */
  readonly monitors: ReadonlyMap<string, ReadonlySet<MonitorId>>;
  /** Other references to pages, components and monitors, by place. */
  readonly ties: readonly Tie[];
  readonly posts: readonly Pick<Learned, 'incidents' | 'maintenances' | 'announcements'>[];
  readonly now: EpochMs;
}

/** Pure. References to upstreams that never answered aren't reported. */
export function unknownReferences(inputs: ReferenceInputs): readonly UnknownReference[] {
  const known = knownNames(inputs);
  return [
    ...siteReferences(inputs, known),
    ...inputs.definitions.pages.flatMap((page, index) => pageReferences(page, `pages[${index}]`, known)),
    ...inputs.ties.flatMap((tie) => tieReferences(tie, known)),
    ...inputs.posts.flatMap((posts) => postReferences(posts, known, inputs.now)),
  ];
}

type KnownNames = ReturnType<typeof knownNames>;

function knownNames({ definitions, upstreams, monitors }: ReferenceInputs) {
  const { drafts, withheld, undecided } = collectDrafts(definitions);
  const { upstreamDefinitions, undecidedUpstreams, pages } = definitions;
  return {
    upstreams,
    monitors,
    drafts,
    // All defined pages, published or not.
    slugs: new Set([
      ...pages.map(({ slug }) => slug),
      ...drafts.map(({ definition }) => definition.slug),
      ...withheld,
      ...undecided.map(({ slug }) => slug),
    ]),
    // If not, an upstream may define further pages.
    hasAllPages: undecidedUpstreams.size === 0,
    pagesOf: (upstream: string) =>
      undecidedUpstreams.has(upstream)
        ? null
        : upstreamDefinitions
            .filter(({ id }) => upstreamOf(id as MonitorId) === upstream)
            .map(({ slug }) => slug.toLowerCase()),
  };
}

function siteReferences({ definitions: { site } }: ReferenceInputs, known: KnownNames): UnknownReference[] {
  const found = localeFaults('site.locale', site.locale);
  if (site.home === null || !known.hasAllPages || known.slugs.has(site.home)) return found;
  return [...found, fault('site.home', `There is no page ${site.home}.${suggestion(site.home, known.slugs)}`)];
}

function localeFaults(place: string, locale: string): UnknownReference[] {
  if (hasWords(locale)) return [];
  const tags = Object.keys(CATALOGUES);
  const words = `No translation for ${locale}, so pages are in English. Available: ${tags.join(', ')}.`;
  return [fault(place, words + didYouMean(locale, tags))];
}

function pageReferences(page: PageConfig, place: string, known: KnownNames): UnknownReference[] {
  const { upstream, slug } = readFrom(page);
  const bases = page.from === undefined ? null : known.pagesOf(upstream);
  const draft = known.drafts.find(({ config }) => config === page);
  const groups = draft?.definition.groups.map(({ id }) => id) ?? null;
  const found = page.locale === undefined ? [] : localeFaults(`${place}.locale`, page.locale);
  if (bases?.includes(slug) === false)
    found.push(fault(`${place}.from`, `${upstream} has no page ${slug}.${suggestion(slug, bases)}`));
  for (const [index, { monitor, group_id: group }] of (page.components ?? []).entries()) {
    const at = `${place}.components[${index}]`;
    if (monitor !== undefined) found.push(...monitorFaults(`${at}.monitor`, monitor, known));
    if (group !== undefined && groups?.includes(group) === false)
      found.push(fault(`${at}.group_id`, `There is no group ${group} on this page.${suggestion(group, groups)}`));
  }
  return found;
}

function monitorFaults(place: string, id: string, { upstreams, monitors }: KnownNames, isPast = false) {
  const upstream = upstreamOf(id as MonitorId);
  if (!upstreams.includes(upstream))
    return [fault(place, `There is no upstream ${upstream} (${id}).${suggestion(upstream, upstreams)}`, isPast)];
  const those = monitors.get(upstream);
  if (those === undefined || those.has(id as MonitorId)) return [];
  return [fault(place, `${upstream} has no monitor ${id}.${suggestion(id, those)}`, isPast)];
}

function tieReferences(tie: Tie, known: KnownNames): UnknownReference[] {
  const { place, pages = [], page, components = [], monitors = [] } = tie;
  const found = [
    ...pages.flatMap((slug, index) => pageFaults(`${place}.pages[${index}]`, slug, known)),
    ...components.flatMap((id, index) => componentFaults(`${place}.components[${index}]`, `config/${id}`, known)),
    ...monitors.flatMap((id, index) => monitorFaults(`${place}.monitors[${index}]`, id, known)),
  ];
  if (page === undefined) return found;
  const missing = pageFaults(`${place}.page`, page.slug, known);
  if (missing.length > 0) return [...found, ...missing];
  const named = Object.entries(page.components).flatMap(([name, id]) =>
    componentFaults(`${place}.components.${name}`, `config/${page.slug}/${id}`, known),
  );
  return [...found, ...named];
}

function postReferences(
  { incidents, maintenances, announcements }: ReferenceInputs['posts'][number],
  known: KnownNames,
  now: EpochMs,
): UnknownReference[] {
  return [
    ...incidents.flatMap((post) => subjectFaults(post, known, isOverStatus(post.status))),
    ...maintenances.flatMap((post) => subjectFaults(post, known, post.repeats === undefined && post.endsAt <= now)),
    ...announcements.flatMap(({ id, pages, to }) =>
      (pages ?? []).flatMap((page) => pageFaults(`${id}: pages`, page, known, to !== null && to <= now)),
    ),
  ];
}

function subjectFaults(
  { id, monitors, components, pages }: Incident | Maintenance,
  known: KnownNames,
  isPast: boolean,
): UnknownReference[] {
  const named = components.map((component) => (typeof component === 'string' ? component : component.id));
  const ofComponents = new Set(named.map((component) => component.split('/').slice(0, 2).join('/')));
  return [
    ...monitors.flatMap((monitor) => monitorFaults(`${id}: monitors`, monitor, known, isPast)),
    ...named.flatMap((component) => componentFaults(`${id}: components`, component, known, isPast)),
    // Pages that only follow from components are told of there.
    ...(pages ?? [])
      .filter((page) => !ofComponents.has(page))
      .flatMap((page) => pageFaults(`${id}: pages`, page, known, isPast)),
  ];
}

/** @param id  of a page definition, or a slug */
function pageFaults(place: string, id: string, { drafts, slugs, hasAllPages }: KnownNames, isPast = false) {
  const name = asWritten(id);
  if (!hasAllPages || slugs.has(name) || drafts.some(({ definition }) => definition.id === id)) return [];
  return [fault(place, `There is no page ${name}.${suggestion(name, slugs)}`, isPast)];
}

/** @param id  `<id of a page definition>/<component id>` */
function componentFaults(place: string, id: string, known: KnownNames, isPast = false): UnknownReference[] {
  const [upstream = '', page = '', ...rest] = id.split('/');
  const draft = known.drafts.find(({ definition }) => namesOfPage(definition).includes(`${upstream}/${page}`));
  const component = rest.join('/');
  if (draft?.definition.components.some((one) => one.id === component) === true) return [];
  if (draft === undefined && (!known.hasAllPages || known.slugs.has(page))) return [];
  const name = asWritten(id);
  const names = known.drafts.flatMap(({ definition }) =>
    definition.components.map((one) => `${definition.slug}/${one.id}`),
  );
  return [fault(place, `There is no component ${name}.${suggestion(name, names)}`, isPast)];
}

/** Configured pages are referred to by slug. */
function asWritten(id: string): string {
  return id.replace(/^config\//, '');
}

const NAMES_LISTED = 5;

/** The name that was probably meant, or the known names if none is similar. */
function suggestion(name: string, known: Iterable<string>): string {
  const names = [...known];
  const meant = didYouMean(name, names);
  if (meant !== '' || names.length === 0) return meant;
  const more = names.length - NAMES_LISTED;
  return ` Use one of ${names.slice(0, NAMES_LISTED).join(', ')}${more > 0 ? ` or ${more} others` : ''}.`;
}

/**
 * @param place  `pages[0].components[1].monitor`, or a post and its field
 * @param isPast  the post is about something that is over; the item may have existed then
 */
function fault(place: string, message: string, isPast = false) {
  return { place, message, isPast };
}
