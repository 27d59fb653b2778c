/** Which status pages there are: those of the configuration, those that upstreams define, and how the two are merged. */

import type { PageConfig } from '../../config/schema.ts';
import type { Secret } from '../../config/secret.ts';
import type { ComponentDefinition, PageDefinition } from '../../model/observation.ts';
import type { PageSettings } from '../../model/page.ts';
import { HOST_NAME, RESERVED_SLUGS, SLUG, safeLink } from '../../model/scalars.ts';
import { MINUTE_MS } from '../../model/time.ts';
import type { DefinitionInputs, DefinitionProblem } from './inputs.ts';
import { overlay, pageOfEverything } from './overlay.ts';
import { iconOf, isForeign, type PageIcon, presentationOf, shownComponents } from './presentation.ts';

export interface ResolvedPage {
  readonly definition: PageDefinition;
  readonly settings: PageSettings;
  /** With access `password`; the only copy outside the configuration. */
  readonly password: Secret | null;
  /** Null: it stands in no configuration. */
  readonly config: PageConfig | null;
  /** Served with the page; null: it has none, or links one of its own origin. */
  readonly icon: PageIcon | null;
  /** Address of a picture that it wants and that is not its own; null: none. */
  readonly iconAddress: string | null;
}

export interface ResolvedSite {
  /** Sorted by slug; unpublished and closed pages are left out. */
  readonly pages: readonly ResolvedPage[];
  readonly problems: readonly DefinitionProblem[];
  /** Slugs that are defined and not among `pages`: nobody is to see them. */
  readonly withheld: readonly string[];
}

/** Longer than what a restart or one failed check takes. */
const DEFAULT_ENTRIES_AFTER_MS = 3 * MINUTE_MS;

/**
 * The pages to publish.
 *
 * Precedence, field by field: the configuration, then the upstream that defines the page, then defaults. A page that
 * two upstreams define under one slug is published by neither, since one could take over the other's gate. A page
 * behind a password that only an upstream knows stays closed until the configuration gives it one.
 */
export function resolvePages(inputs: DefinitionInputs): ResolvedSite {
  const problems: DefinitionProblem[] = [];
  const bySlug = new Map<string, PageDefinition>();
  const clashes = new Set<string>();
  for (const definition of inputs.upstreamDefinitions) {
    const slug = definition.slug.toLowerCase();
    if (!SLUG.test(slug) || RESERVED_SLUGS.has(slug)) {
      problems.push({
        slug,
        message: `the slug of ${definition.id} cannot be part of an address; the page is not published`,
      });
    } else if (bySlug.has(slug)) clashes.add(slug);
    else bySlug.set(slug, { ...definition, slug });
  }
  for (const slug of clashes) {
    bySlug.delete(slug);
    problems.push({
      slug,
      message: 'two upstreams define this slug; neither is published until one of them is renamed',
    });
  }
  const configured = new Set(inputs.pages.map((page) => page.slug));
  const drafts: Draft[] = inputs.pages
    .filter((config) => !clashes.has(config.slug))
    .map((config) => ({ definition: overlay(config, bySlug.get(config.slug), inputs.monitors), config }));
  for (const [slug, definition] of bySlug) if (!configured.has(slug)) drafts.push({ definition, config: null });
  if (drafts.length === 0 && problems.length === 0) drafts.push({ definition: pageOfEverything(inputs), config: null });

  const pages = drafts
    .map(({ definition, config }) => finish({ definition, config, inputs, problems }))
    .filter(({ definition, password }) => {
      if (definition.access === 'password' && password === null) {
        problems.push({
          slug: definition.slug,
          message: 'its password is known to the upstream only; set it in the configuration to open the page',
        });
        return false;
      }
      if (definition.access === 'email-domain' && definition.emailDomains.length === 0) {
        problems.push({
          slug: definition.slug,
          message: 'it names no e-mail domain, so nobody could enter; it stays closed',
        });
        return false;
      }
      if (definition.access === 'closed')
        problems.push({ slug: definition.slug, message: 'its access type is not one we can keep; it stays closed' });
      return definition.published && definition.access !== 'closed';
    })
    .toSorted((a, b) => (a.definition.slug < b.definition.slug ? -1 : 1));
  const shown = new Set(pages.map(({ definition }) => definition.slug));
  const defined = [...clashes, ...drafts.map(({ definition }) => definition.slug)];
  return { pages, problems, withheld: defined.filter((slug) => !shown.has(slug)) };
}

interface Draft {
  readonly definition: PageDefinition;
  readonly config: PageConfig | null;
}

interface Finishing extends Draft {
  readonly inputs: DefinitionInputs;
  readonly problems: DefinitionProblem[];
}

function finish({ definition, config, inputs, problems }: Finishing): ResolvedPage {
  const { site, monitors, icons = new Map() } = inputs;
  const customDomain =
    definition.customDomain !== null && HOST_NAME.test(definition.customDomain)
      ? definition.customDomain.toLowerCase()
      : null;
  const url = customDomain === null ? `${site.url}/${definition.slug}/` : `https://${customDomain}/`;
  const shown = shownComponents(definition, monitors);
  const presentation = presentationOf(definition, config, site.locale);
  const wantedIcon = safeLink(definition.icon);
  const icon = iconOf(wantedIcon, url, icons);
  if (definition.published)
    problems.push(
      ...[...shown.told, ...presentation.told, ...icon.told].map((message) => ({ slug: definition.slug, message })),
    );
  return {
    definition: {
      ...definition,
      customDomain,
      homepageUrl: safeLink(definition.homepageUrl),
      contactUrl: safeLink(definition.contactUrl),
      icon: icon.address,
      components: uniqueIds(shown.components),
    },
    settings: {
      url,
      timezone: config?.timezone ?? site.timezone,
      showTargets: config?.show_targets ?? false,
      blipFloorMs: (config?.blip_floor_seconds ?? 60) * 1_000,
      uptimeDecimals: config?.uptime_decimals ?? 2,
      accentColor: config?.accent_color ?? null,
      cssVariables: config?.css_variables ?? {},
      historyDays: site.historyDays,
      entriesAfterMs: entriesAfterMs(config),
      ...presentation.settings,
    },
    password: config?.password ?? null,
    config,
    icon: icon.icon,
    iconAddress: wantedIcon !== null && isForeign(wantedIcon, url) ? wantedIcon : null,
  };
}

/** How long a monitor is down before that is an incident; null: it never is by itself. */
function entriesAfterMs(config: PageConfig | null): number | null {
  const after = config?.incidents?.after ?? DEFAULT_ENTRIES_AFTER_MS;
  return after === 'off' ? null : after;
}

/** Component ids are parts of addresses: what an upstream sends is made safe and unique. */
function uniqueIds(components: readonly ComponentDefinition[]): readonly ComponentDefinition[] {
  const taken = new Set<string>();
  return components.flatMap((component) => {
    if (!/^[A-Za-z0-9_-]{1,128}$/.test(component.id) || taken.has(component.id)) return [];
    taken.add(component.id);
    return [component];
  });
}
