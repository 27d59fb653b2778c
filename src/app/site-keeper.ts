/**
 * Keeps access rules current. When definitions of pages change, gates, addresses and links on disk are updated before anything
 * else. Publishing obeys the latest state known here.
 */

import type { AccessPage } from '../access/access.ts';
import type { Access } from '../access/create-access.ts';
import { publicPage } from '../access/gate/gates.ts';
import type { PageKey } from '../model/slugs.ts';
import type { EpochMs } from '../model/time.ts';
import { type ResolvedPage, type ResolvedSite, standingIn } from '../publish/definitions/definitions.ts';
import type { SiteState } from '../publish/definitions/site-state.ts';
import type { NextRelease } from '../publish/publish-control.ts';
import { closePages, isOpenAsConfigured, type LastPublished, lastPublicPages } from '../publish/releases/clean.ts';
import { DISK } from '../publish/releases/disk.ts';
import { publishedSlugs, SITE_SLUG } from '../publish/releases/folders.ts';
import { createReleasePages } from '../publish/releases/manifest.ts';
import type { SiteAddresses } from '../server/address.ts';
import type { StoreParts } from './build-store.ts';

export type SiteKeeper = ReturnType<typeof createSiteKeeper>;

/**
 * @param isKeepingLinks  false: a command that only reads, so links on disk don't change
 * @param onClosed  called with pages that were public until now, after their links were removed
 */
export function createSiteKeeper(
  {
    folders,
    live,
    readSite,
  }: Pick<StoreParts, 'folders' | 'readSite'> & { readonly live: Pick<StoreParts['live'], 'config' | 'siteUrl'> },
  access: Pick<Access, 'setPages' | 'showPublic' | 'closePublic'>,
  isKeepingLinks: boolean,
  onClosed: (slugs: readonly string[], state: SiteState) => void,
) {
  const pageOf = createReleasePages(folders);
  let known: ResolvedSite | null = null;
  let customDomains: ReadonlyMap<string, string> = new Map();
  let home: string | null = null;
  let last: SiteState | null = null;
  /** The addresses and what they were made from, because every request needs them. */
  let addressed: { readonly of: readonly unknown[]; readonly addresses: SiteAddresses } | null = null;

  async function adopt(state: SiteState): Promise<void> {
    const { resolved } = state;
    known = resolved;
    const left = leftAsPublished(resolved);
    // A page that has the domain by now comes before one that had it when it was published.
    customDomains = mapDomains([...left, ...resolved.pages.map(({ definition }) => definition)]);
    home = resolved.home;
    // Closed pages accept no request from here on. Hashing passwords may take a while, and links are removed in the meantime.
    const settled = access.setPages(
      [...resolved.pages.map(toAccessPage), ...left.map(({ slug }) => publicPage(slug))],
      resolved.undecided,
    );
    settled.catch(() => undefined);
    const closed = isKeepingLinks ? await closePages({ folders, disk: DISK }, standingIn(resolved), pageOf) : [];
    if (closed.length > 0) onClosed(closed, state);
    await settled;
  }

  /** Public pages on disk that an upstream may still define. They stay as last published. */
  function leftAsPublished(resolved: ResolvedSite): readonly LastPublished[] {
    if (resolved.isDecided) return [];
    const settled = new Set([...resolved.pages.map(({ definition }) => definition.slug), ...resolved.withheld]);
    return lastPublicPages(folders, live.config().pages).filter(({ slug }) => !settled.has(slug));
  }

  /** Reads the state of the site from the store. When this resolves, changed access rules are in force. */
  async function refresh(at: EpochMs): Promise<SiteState> {
    const state = await readSite(at).catch((error: unknown) => {
      // What another configuration makes private doesn't wait for the store.
      if (access.closePublic(live.config().pages.filter((page) => !isOpenAsConfigured(page)))) known = null;
      throw error;
    });
    last = state;
    if (state.resolved !== known) {
      try {
        await adopt(state);
      } catch (error) {
        // Gates that failed to update stay closed; the next refresh tries again.
        known = null;
        throw error;
      }
    }
    return state;
  }

  return {
    refresh,
    /** Serves the public pages on disk until the store can be read. */
    showLastPublished: () => {
      const pages = lastPublicPages(folders, live.config().pages);
      access.showPublic(pages.map(({ slug }) => slug));
      const [sole = null, ...more] = publishedSlugs(folders).filter((slug) => slug !== SITE_SLUG);
      home = live.config().site.home ?? (more.length === 0 ? sole : null);
      customDomains = mapDomains(pages);
    },
    /** Whether a release may be served, after reading the store. */
    mayServe: async (release: NextRelease, at: EpochMs) => isServable(release, (await refresh(at)).resolved),
    /** The same, by what was last read. */
    mightServe: (release: NextRelease) => last !== null && isServable(release, last.resolved),
    /** The same object as long as nothing of it changed. */
    addresses: (): SiteAddresses => {
      const [siteUrl, config] = [live.siteUrl(), live.config()];
      const of = [siteUrl, config, customDomains, home, known];
      if (addressed === null || addressed.of.some((one, index) => one !== of[index])) {
        const { hostname, pathname } = new URL(siteUrl);
        const addresses: SiteAddresses = {
          siteHost: hostname.toLowerCase(),
          basePath: pathname.endsWith('/') ? pathname : `${pathname}/`,
          home: home ?? config.site.home ?? null,
          homeLocales: new Set(listLocales(known, home)),
          customDomains,
          publicFiles: new Set(config.publicFiles.map(({ path }) => path)),
        };
        addressed = { of, addresses };
      }
      return addressed.addresses;
    },
    /** The state when the store was last read; null: not read yet. */
    lastState: () => last,
    /** The page as last read; null: there is no such page, or nothing was read yet. */
    page: (slug: string) => known?.pages.find(({ definition }) => definition.slug === slug) ?? null,
    /** The page that something is kept for; null as above. */
    pageKept: (key: PageKey) => known?.pages.find(({ identity }) => identity.key === key) ?? null,
    /** How fresh each upstream was when last read; empty before the first time. */
    sources: () => last?.sources ?? [],
  };
}

function isServable({ slug, page, access, listed }: NextRelease, resolved: ResolvedSite): boolean {
  const isWanted = resolved.pages.some(
    ({ definition, identity }) => definition.slug === slug && definition.access === access && identity.key === page,
  );
  return (isWanted || slug === SITE_SLUG) && listed.every(standingIn(resolved).isOpen);
}

function listLocales(site: ResolvedSite | null, home: string | null): readonly string[] {
  const page = site?.pages.find(({ definition }) => definition.slug === home);
  return page?.settings.languages?.all.slice(1) ?? [];
}

function mapDomains(pages: readonly { readonly slug: string; readonly customDomain: string | null }[]) {
  return new Map(pages.flatMap(({ slug, customDomain }) => (customDomain === null ? [] : [[customDomain, slug]])));
}

function toAccessPage({ identity, definition, settings, password }: ResolvedPage): AccessPage {
  const { slug, title, access, emailDomains, oidc, addresses } = definition;
  if (access === 'closed') throw new Error(`the closed page ${slug} must not be published`);
  const { locale, url } = settings;
  return { key: identity.key, slug, title, locale, url, access, password, emailDomains, oidc, addresses };
}
