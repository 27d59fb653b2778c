/** Which status pages there are: those of the configuration, those that upstreams define, and how the two are merged. */

import type { LogoFile, OwnLook } from '../../config/own-files.ts';
import type { PageConfig } from '../../config/schema.ts';
import { type ComponentDefinition, type MonitorId, type PageDefinition, upstreamOf } from '../../model/observation.ts';
import type { PageSettings } from '../../model/page.ts';
import { HOST_NAME, safeLink } from '../../model/scalars.ts';
import { isSlug, type PageIdentity } from '../../model/slugs.ts';
import { MINUTE_MS } from '../../model/time.ts';
import type { Secret } from '../../schema/secret.ts';
import type { PageClaims } from '../../store/pages.ts';
import { isOpenAsConfigured, type Standing } from '../releases/clean.ts';
import type { PageAtSlug } from '../releases/manifest.ts';
import type { DefinitionInputs, DefinitionProblem, SiteSettings } from './inputs.ts';
import {
  choosePresentation,
  isForeign,
  overlay,
  type PageIcon,
  pageOfEverything,
  shownComponents,
  withMade,
} from './overlay.ts';

/** A page as it is defined, whatever was kept for it. */
interface DefinedPage {
  readonly definition: PageDefinition;
  readonly settings: PageSettings;
  /** Whether the page has subscribers or channels to notify. */
  readonly isTold: boolean;
  /** For access `password`; the only copy outside the configuration. */
  readonly password: Secret | null;
  /** Null: the page isn't in the configuration. */
  readonly config: PageConfig | null;
  /** Icon served with the page; null: none, a link to its own origin, or not fetched. */
  readonly icon: PageIcon | null;
  /** Logo served with the page; absent: none. */
  readonly logo?: readonly LogoFile[];
  /** Address of an external icon to fetch; null: none. */
  readonly iconAddress: string | null;
}

/** A page with its identity, under which everything is kept that belongs to it. */
export interface ResolvedPage extends DefinedPage {
  readonly identity: PageIdentity;
}

export interface ResolvedSite<Page extends DefinedPage = ResolvedPage> {
  /** Sorted by slug; unpublished and closed pages are left out. */
  readonly pages: readonly Page[];
  readonly problems: readonly DefinitionProblem[];
  /** Slugs that are defined but not published: nobody may see them. */
  readonly withheld: readonly string[];
  /** Slugs of configured pages that wait until an upstream has listed its pages. Nobody sees them in the meantime. */
  readonly undecided: readonly string[];
  /** The `undecided` pages that the configuration makes private or unpublished. Their public files must be removed. */
  readonly closed: readonly string[];
  /**
   * False: an upstream that can define pages has not listed them yet. A published page that is neither in `pages` nor in
   * `withheld` may be one of them, so it is neither removed nor rendered again.
   */
  readonly isDecided: boolean;
  /** Slug of the home page; null: the root is the index of pages. */
  readonly home: string | null;
}

/** What definitions come to, before anything is known of their pages. */
export interface DefinedSite extends ResolvedSite<DefinedPage> {
  /** The slugs that they claim, published or not. */
  readonly claims: PageClaims;
}

/** Longer than a restart or a single failed check. */
const DEFAULT_ENTRIES_AFTER_MS = 3 * MINUTE_MS;

/**
 * Returns the pages to publish: those of the configuration, and those of upstreams that no configured page builds on.
 *
 * A configured page takes over an upstream's page only with `from`. It is withheld while that page doesn't exist, and is never
 * less private than that page. If a slug is claimed twice, neither page is published, because one could bypass the other's
 * access rules. Without any definition, there is one public page with every monitor.
 */
export function resolvePages(inputs: DefinitionInputs): DefinedSite {
  const collected = collectDrafts(inputs);
  const problems = [...collected.problems];
  const drafts = settleDomains(collected.drafts, inputs.site, problems);
  const undecided = collected.undecided.map(({ slug }) => slug);
  const defined = [...collected.withheld, ...drafts.map(({ definition }) => definition.slug)];
  const taken = new Set([...defined, ...undecided]);
  const [sole = null, ...more] = [...defined, ...undecided];
  const home = inputs.site.home ?? (more.length === 0 ? sole : null);
  const pages = drafts
    .map((draft) => finish(draft, inputs, problems))
    .map((page) => (page.definition.slug === home ? withoutTaken(page, taken, problems) : page))
    .filter((page) => isPublishable(page, problems))
    .toSorted((a, b) => (a.definition.slug < b.definition.slug ? -1 : 1));
  const shown = new Set(pages.map(({ definition }) => definition.slug));
  return {
    pages,
    claims: {
      pages: drafts.map(({ definition: { slug, id, access, published } }) => ({
        slug,
        origin: id,
        access: published ? access : 'closed',
      })),
      held: new Set([...undecided, ...collected.contested]),
      isComplete: inputs.undecidedUpstreams.size === 0,
    },
    problems,
    withheld: [...new Set(defined)].filter((slug) => !shown.has(slug)),
    undecided,
    closed: collected.undecided.filter((config) => !isOpenAsConfigured(config)).map(({ slug }) => slug),
    isDecided: inputs.undecidedUpstreams.size === 0,
    home,
  };
}

/** The home page is at the root too, where a language of it and another page would have one address. */
function withoutTaken(page: DefinedPage, slugs: ReadonlySet<string>, problems: DefinitionProblem[]): DefinedPage {
  const { settings, definition } = page;
  const { languages, ...others } = settings;
  const all = languages?.all.filter((locale, index) => index === 0 || !slugs.has(locale)) ?? [];
  const left = languages?.all.filter((locale) => !all.includes(locale)) ?? [];
  for (const locale of left)
    problems.push({
      slug: definition.slug,
      message: `Its language ${locale} is left out, because there is a page ${locale} and both would be at /${locale}/. Rename that page, or set site.home to another one.`,
    });
  if (left.length === 0) return page;
  return { ...page, settings: { ...others, ...(all.length === 1 ? {} : { languages: { all, path: '' } }) } };
}

/**
 * Tells which pages on disk are public. An unknown page stays as it is until every upstream that can define pages has listed
 * them.
 */
export function standingIn({ pages, withheld, closed: taken, isDecided }: ResolvedSite): Standing {
  const bySlug = new Map(pages.map((page) => [page.definition.slug, page]));
  const closed = new Set([...withheld, ...taken]);
  const isReplaced = ({ slug, page }: PageAtSlug): boolean => {
    const key = bySlug.get(slug)?.identity.key;
    return page !== null && key !== undefined && key !== page;
  };
  return {
    isReplaced,
    isOpen: (one) => {
      const current = bySlug.get(one.slug);
      if (current === undefined) return !isDecided && !closed.has(one.slug);
      return current.definition.access === 'public' && !isReplaced(one);
    },
  };
}

/** Shorter passwords can be guessed at the rate that the gate allows for all clients together. */
const PASSWORD_LENGTH_ADVISED = 8;
const WEAK_PASSWORD = `Its password has fewer than ${PASSWORD_LENGTH_ADVISED} characters and is easy to guess. Choose a longer one.`;

const ADDRESSES_NOT_ENOUGH =
  'The upstream keeps this page private, so visitors from allow_ips must sign in too (access: any has no effect).';

const UNPUBLISHED = 'Its upstream does not publish this page, so nobody can see it.';

/** Whether the page is public. If that differs from what was configured, the reason becomes a problem. */
function isPublishable({ definition, password, config }: DefinedPage, problems: DefinitionProblem[]): boolean {
  const { slug, access, emailDomains, published } = definition;
  const refuse = (message: string): boolean => {
    problems.push({ slug, message });
    return false;
  };
  if (!published) return config?.published !== false && refuse(UNPUBLISHED);
  if (access === 'closed')
    return refuse('Unsupported access type. The page stays private; use public, ip, password, email-domain or oidc.');
  if (access === 'password' && password === null)
    return refuse(
      `Only the upstream knows its password. The page stays private; add it to the configuration: { slug: ${slug}, from: …, password: "\${NAME}" }.`,
    );
  const hasDomains = config?.auth_email_domains !== undefined || access === 'email-domain';
  if (hasDomains && emailDomains.length === 0)
    return refuse('No email domain has access. The page stays private; set auth_email_domains.');
  if (config?.access === 'any' && definition.addresses?.isEnough === false)
    problems.push({ slug, message: ADDRESSES_NOT_ENOUGH });
  if (access === 'password' && [...(password?.reveal() ?? '')].length < PASSWORD_LENGTH_ADVISED)
    problems.push({ slug, message: WEAK_PASSWORD });
  return true;
}

function finish(
  { definition, config }: Draft,
  { site, monitors, looks = new Map(), vendorPages = new Map(), witnesses = '' }: DefinitionInputs,
  problems: DefinitionProblem[],
): DefinedPage {
  const { slug, customDomain } = definition;
  const url = customDomain === null ? `${site.url}/${slug}/` : `https://${customDomain}/`;
  const shown = shownComponents(definition, monitors);
  const subscriptions = config?.subscriptions ?? site.subscriptions ?? false;
  const presentation = choosePresentation(definition, config, site);
  const wantedIcon = safeLink(definition.icon);
  const isElsewhere = wantedIcon !== null && isForeign(wantedIcon, url);
  const look = (config === null ? undefined : looks.get(slug)) ?? site.look ?? {};
  const after = config?.incidents?.after ?? DEFAULT_ENTRIES_AFTER_MS;
  if (definition.published)
    problems.push(...[...shown.told, ...presentation.told].map((message) => ({ slug, message })));
  return {
    definition: {
      ...definition,
      homepageUrl: safeLink(definition.homepageUrl),
      contactUrl: safeLink(definition.contactUrl),
      icon: isElsewhere ? null : wantedIcon,
      components: withVendors(uniqueIds(shown.components), definition.groups, vendorPages),
    },
    settings: {
      url,
      timezone: config?.timezone ?? site.timezone,
      showTargets: config?.show_targets ?? false,
      blipFloorMs: (config?.blip_floor_seconds ?? 60) * 1_000,
      uptimeDecimals: config?.uptime_decimals ?? 2,
      ...lookSettings(look),
      cssVariables: config?.css_variables ?? {},
      historyDays: site.historyDays,
      // How long a monitor must be down to become an incident; null: never automatically.
      entriesAfterMs: after === 'off' ? null : after,
      subscriptions,
      ...(witnesses === '' ? {} : { witnesses }),
      ...presentation.settings,
    },
    isTold: subscriptions || site.hasChannels === true,
    password: config?.password ?? null,
    config,
    icon: null,
    ...(look.logo === undefined ? {} : { logo: Object.values(look.logo) }),
    iconAddress: isElsewhere ? wantedIcon : null,
  };
}

/**
 * Marks components of vendors, and components that don't count for the page's state. By default, ours count and vendors' don't;
 * `counts` of a group overrides this.
 */
function withVendors(
  components: readonly ComponentDefinition[],
  groups: PageDefinition['groups'],
  vendorPages: ReadonlyMap<string, string>,
): readonly ComponentDefinition[] {
  const counts = new Map(groups.map((group) => [group.id, group.counts]));
  return components.map((component) => {
    const { monitor, groupId } = component;
    const vendorPage = monitor === null ? undefined : vendorPages.get(upstreamOf(monitor));
    const isCounted = counts.get(groupId ?? '') ?? vendorPage === undefined;
    // The same object as in the upstream's definition, which is kept too.
    if (vendorPage === undefined && isCounted) return component;
    return {
      ...component,
      ...(vendorPage === undefined ? {} : { vendorPage }),
      ...(isCounted ? {} : { counts: false }),
    };
  });
}

/** Component ids are part of URLs, so those from upstreams are made safe and unique. */
function uniqueIds(components: readonly ComponentDefinition[]): readonly ComponentDefinition[] {
  const taken = new Set<string>();
  return components.flatMap((component) => {
    if (!/^[A-Za-z0-9_-]{1,128}$/.test(component.id) || taken.has(component.id)) return [];
    taken.add(component.id);
    return [component];
  });
}

const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '::1']);

/**
 * A host belongs to one page at most, and never the site's own host or a loopback address. If two pages claim it, the
 * configured one gets it; otherwise none.
 */
function settleDomains(drafts: readonly Draft[], site: SiteSettings, problems: DefinitionProblem[]): readonly Draft[] {
  const siteHost = new URL(site.url).hostname.toLowerCase();
  const readHost = ({ definition: { customDomain } }: Draft): string | null => customDomain?.toLowerCase() ?? null;
  const isConfigured = ({ config }: Draft): boolean => typeof config?.custom_domain === 'string';
  const findRefusal = (draft: Draft, host: string): string | null => {
    if (!HOST_NAME.test(host)) return 'is not a host name';
    if (host === siteHost || LOOPBACK_HOSTS.has(host)) return 'is the address of the site itself';
    const rivals = drafts.filter((other) => other !== draft && readHost(other) === host);
    if (rivals.length === 0 || (isConfigured(draft) && !rivals.some(isConfigured))) return null;
    return `is claimed by ${rivals.map(({ definition }) => definition.slug).join(', ')} too`;
  };
  return drafts.map((draft) => {
    const host = readHost(draft);
    if (host === null) return draft;
    const refusal = findRefusal(draft, host);
    if (refusal !== null) {
      const { slug } = draft.definition;
      problems.push({ slug, message: `Its custom domain ${host} ${refusal}. The page is served at /${slug}/ only.` });
    }
    return { ...draft, definition: { ...draft.definition, customDomain: refusal === null ? host : null } };
  });
}

/** @param prefix  before the names of its pictures; default: none */
export function lookSettings({ accentColor, logo, ...others }: OwnLook, prefix = '') {
  const look = { ...others, ...(logo === undefined ? {} : { logo: placed(logo, prefix) }) };
  return { accentColor: accentColor ?? null, ...(Object.keys(look).length === 0 ? {} : { look }) };
}

function placed({ light, dark }: Required<OwnLook>['logo'], prefix: string) {
  const place = ({ path, width, height }: LogoFile) => ({ path: prefix + path, width, height });
  return { light: place(light), ...(dark === undefined ? {} : { dark: place(dark) }) };
}

// Collects the pages that are defined, before anything else is checked. Each comes from one place, or from two that
// are linked with `from`.

/** A page and what defines it. */
interface Draft {
  readonly definition: PageDefinition;
  /** Null: the page isn't in the configuration. */
  readonly config: PageConfig | null;
}

/** Returns configured pages with what they build on, and upstreams' pages that no configured page builds on. */
export function collectDrafts(inputs: DefinitionInputs) {
  const problems: DefinitionProblem[] = [];
  // Slugs that are claimed but must not be shown.
  const withheld: string[] = [];
  // Slugs that two definitions claim, or whose page is not known yet.
  const contested: string[] = [];
  // Configured pages that an upstream may also define.
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
      } else drafts.push({ definition: overlay(config, base, inputs.monitors), config });
      continue;
    }
    const claim = bySlug.get(slug)?.find((page) => !taken.has(page));
    if (claim !== undefined) {
      withhold(slug, conflictText(slug, claim));
      contested.push(slug);
    } else if (inputs.undecidedUpstreams.size > 0) undecided.push(config);
    else drafts.push({ definition: overlay(config, null, inputs.monitors), config });
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
export function readFrom({ slug, from = '' }: PageConfig) {
  const [upstream = '', other = slug] = from.split('/');
  return { upstream, slug: other };
}

function findBase(config: PageConfig, pages: readonly PageDefinition[]): PageDefinition | null {
  const { upstream, slug } = readFrom(config);
  return pages.find((page) => page.slug === slug && upstreamOfPage(page) === upstream) ?? null;
}

function missingBase(config: PageConfig, pages: readonly PageDefinition[], undecidedUpstreams: ReadonlySet<string>) {
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
