/**
 * Collects the pages that are defined, before anything else is checked. Each comes from one place, or from two that are linked
 * with `from`.
 */

import type { PageConfig } from '../../config/schema.ts';
import { type MonitorId, type PageDefinition, upstreamOf } from '../../model/observation.ts';
import { isSlug } from '../../model/slugs.ts';
import type { DefinitionInputs, DefinitionProblem } from './inputs.ts';
import { overlay, pageOfEverything, withMade } from './overlay.ts';

/** A page and what defines it. */
export interface Draft {
  readonly definition: PageDefinition;
  /** Null: the page isn't in the configuration. */
  readonly config: PageConfig | null;
}

export interface CollectedDrafts {
  readonly drafts: readonly Draft[];
  readonly problems: readonly DefinitionProblem[];
  /** Slugs that are claimed but must not be shown. */
  readonly withheld: readonly string[];
  /** Slugs that two definitions claim, or whose page is not known yet. */
  readonly contested: readonly string[];
  /** Configured pages that an upstream may also define. */
  readonly undecided: readonly PageConfig[];
}

/** Returns configured pages with what they build on, and upstreams' pages that no configured page builds on. */
export function collectDrafts(inputs: DefinitionInputs): CollectedDrafts {
  const problems: DefinitionProblem[] = [];
  const withheld: string[] = [];
  const contested: string[] = [];
  const undecided: PageConfig[] = [];
  const drafts: Draft[] = [];
  const upstreamPages = safePages(inputs.upstreamDefinitions, problems);
  const bySlug = Map.groupBy(upstreamPages, ({ slug }) => slug);
  const configs = new Map(inputs.pages.map((config) => [config.slug, config]));
  const bases = new Map(
    inputs.pages.map((config) => [config, config.from === undefined ? null : findBase(config, upstreamPages)]),
  );
  // Whose slug is free.
  const taken = new Set(bases.values());
  const withhold = (slug: string, message: string): void => {
    problems.push({ slug, message });
    withheld.push(slug);
  };
  for (const config of inputs.pages) {
    const { slug } = config;
    if (config.from !== undefined) {
      const base = bases.get(config) ?? null;
      if (base === null) {
        withhold(slug, missingBase(config, upstreamPages, inputs.undecidedUpstreams));
        if (inputs.undecidedUpstreams.has(readFrom(config).upstream)) contested.push(slug);
      } else drafts.push({ definition: overlay(config, base, inputs), config });
      continue;
    }
    const claim = bySlug.get(slug)?.find((page) => !taken.has(page));
    if (claim !== undefined) {
      withhold(slug, conflictText(slug, claim));
      contested.push(slug);
    } else if (inputs.undecidedUpstreams.size > 0) undecided.push(config);
    else drafts.push({ definition: overlay(config, null, inputs), config });
  }
  for (const [slug, pages] of bySlug) {
    const free = pages.filter((page) => !taken.has(page));
    const [only] = free;
    const names = free.map(({ id }) => id).join(', ');
    const config = configs.get(slug);
    if (only === undefined || (config !== undefined && config.from === undefined)) continue;
    if (config !== undefined)
      problems.push({ slug, message: `${names} is not published: the configuration gives this slug to another page.` });
    else if (free.length === 1) drafts.push({ definition: only, config: null });
    else {
      contested.push(slug);
      withhold(slug, `${names} have the same slug. None of them is published until all but one are renamed.`);
    }
  }
  const isEmpty = drafts.length + withheld.length + undecided.length + inputs.undecidedUpstreams.size === 0;
  if (isEmpty && problems.length === 0) drafts.push({ definition: pageOfEverything(inputs), config: null });
  const made = Map.groupBy(inputs.made ?? [], ({ slug, origin }) => `${slug} ${origin}`);
  const whole = drafts.map(({ definition, config }) => ({
    definition: withMade(definition, made.get(`${definition.slug} ${definition.id}`) ?? []),
    config,
  }));
  return { drafts: whole, problems, withheld, contested, undecided };
}

/** Pages of upstreams with a valid slug. */
function safePages(definitions: readonly PageDefinition[], problems: DefinitionProblem[]): PageDefinition[] {
  return definitions.flatMap((definition) => {
    const slug = definition.slug.toLowerCase();
    if (isSlug(slug)) return [{ ...definition, slug }];
    problems.push({
      slug,
      message: `The slug of ${definition.id} is reserved or can’t be part of a URL. Rename the page.`,
    });
    return [];
  });
}

/** Finds the upstream's page that `from` names. */
function readFrom({ slug, from = '' }: PageConfig): { readonly upstream: string; readonly slug: string } {
  const [upstream = '', other = slug] = from.split('/');
  return { upstream, slug: other };
}

function findBase(config: PageConfig, pages: readonly PageDefinition[]): PageDefinition | null {
  const { upstream, slug } = readFrom(config);
  return pages.find((page) => page.slug === slug && upstreamOfPage(page) === upstream) ?? null;
}

function missingBase(
  config: PageConfig,
  pages: readonly PageDefinition[],
  undecidedUpstreams: ReadonlySet<string>,
): string {
  const { upstream, slug } = readFrom(config);
  if (undecidedUpstreams.has(upstream))
    return `Waiting for ${upstream} to list its pages. Until then, this page is withheld.`;
  const others = pages.filter((page) => upstreamOfPage(page) === upstream).map((page) => page.slug);
  const known = others.length === 0 ? 'It has none.' : `It has ${others.toSorted().join(', ')}.`;
  return `${upstream} has no page "${slug}" (from: ${config.from}). This page is withheld until it does. ${known}`;
}

function conflictText(slug: string, claim: PageDefinition): string {
  const upstream = upstreamOfPage(claim);
  return `${claim.id} has this slug too, so neither page is published. To build on that page, add from: ${upstream}; to keep both, change the slug ${slug} of this one.`;
}

function upstreamOfPage({ id }: PageDefinition): string {
  return upstreamOf(id as MonitorId);
}
