/**
 * Who may see what, kept current: whenever the definitions of pages change, gates, addresses and links on disk follow
 * before anything else does. What this says last is what publishing has to obey.
 */

import type { Access, AccessPage } from '../access/access.ts';
import type { Config } from '../config/load.ts';
import type { SourceFreshness } from '../model/page.ts';
import type { EpochMs } from '../model/time.ts';
import { isOpenIn, type ResolvedPage, type ResolvedSite } from '../publish/definitions/definitions.ts';
import type { SiteMemory } from '../publish/definitions/site-memory.ts';
import type { SiteState, SiteStateInputs } from '../publish/definitions/site-state.ts';
import type { NextRelease } from '../publish/publish-control.ts';
import { closePages } from '../publish/releases/close.ts';
import { DISK } from '../publish/releases/disk.ts';
import { type ReleaseFolders, SITE_SLUG } from '../publish/releases/folders.ts';
import { type LastPublished, lastPublicPages } from '../publish/releases/last-published.ts';
import type { SiteAddresses } from '../server/address.ts';

export interface SiteKeeperDeps {
  readonly folders: ReleaseFolders;
  readonly access: Pick<Access, 'setPages' | 'showPublic'>;
  /** In force by now. */
  readonly config: () => Config;
  readonly inputs: () => Promise<SiteStateInputs>;
  readonly siteUrl: () => string;
  readonly memory: () => SiteMemory;
  /** False: a command that only looks, so links on disk stay as they are. */
  readonly isKeepingLinks: boolean;
  /** Told of pages that were public until now, once nobody can reach them here any more. */
  readonly onClosed: (slugs: readonly string[], state: SiteState) => void;
}

export interface SiteKeeper {
  /** What the store knows of the site. When it says something new of who may see what, that is in force when this resolves. */
  readonly refresh: (at: EpochMs) => Promise<SiteState>;
  /** Shows the public pages that are on disk, until the store can be read. */
  readonly showLastPublished: () => void;
  /** Whether a release may be served, by what is known at this moment. */
  readonly mayServe: (release: NextRelease, at: EpochMs) => Promise<boolean>;
  /** The same, by what was known at the last look. */
  readonly mightServe: (release: NextRelease) => boolean;
  /** The same object as long as nothing of it changed. */
  readonly addresses: () => SiteAddresses;
  /** As the store was when it was last read; null: it has not been. */
  readonly lastState: () => SiteState | null;
  /** As defined at the last look; null: there is no such page, or nobody looked yet. */
  readonly page: (slug: string) => ResolvedPage | null;
  /** How fresh each upstream was at the last look; none before the first. */
  readonly sources: () => readonly SourceFreshness[];
}

export function createSiteKeeper(deps: SiteKeeperDeps): SiteKeeper {
  const { folders, access } = deps;
  let known: ResolvedSite | null = null;
  let customDomains: ReadonlyMap<string, string> = new Map();
  let home: string | null = null;
  let last: SiteState | null = null;
  /** The addresses with what they were made from; asked for at every request. */
  let addressed: {
    readonly siteUrl: string;
    readonly config: Config;
    readonly customDomains: typeof customDomains;
    readonly home: string | null;
    readonly addresses: SiteAddresses;
  } | null = null;

  async function adopt(state: SiteState): Promise<void> {
    const { resolved } = state;
    known = resolved;
    const left = leftAsPublished(resolved);
    customDomains = domainsOf([...resolved.pages.map(({ definition }) => definition), ...left]);
    home = resolved.home;
    // From here on no request gets in; hashing passwords may take a while, and links go meanwhile.
    const settled = access.setPages([...resolved.pages.map(toAccessPage), ...left.map(publicPage)], resolved.undecided);
    settled.catch(() => undefined);
    const closed = deps.isKeepingLinks ? await closePages({ folders, disk: DISK }, isOpenIn(resolved)) : [];
    if (closed.length > 0) deps.onClosed(closed, state);
    await settled;
  }

  /** Public pages on disk that an upstream may turn out to define: they stay as they were published last. */
  function leftAsPublished(resolved: ResolvedSite): readonly LastPublished[] {
    if (resolved.isDecided) return [];
    const settled = new Set([...resolved.pages.map(({ definition }) => definition.slug), ...resolved.withheld]);
    return lastPublicPages(folders, deps.config().pages).filter(({ slug }) => !settled.has(slug));
  }

  async function refresh(at: EpochMs): Promise<SiteState> {
    const state = await deps.memory().refresh(await deps.inputs(), at);
    last = state;
    if (state.resolved !== known) {
      try {
        await adopt(state);
      } catch (error) {
        // Gates that could not be settled stay closed; the next look tries again.
        known = null;
        throw error;
      }
    }
    return state;
  }

  return {
    refresh,
    showLastPublished: () => {
      const pages = lastPublicPages(folders, deps.config().pages);
      access.showPublic(pages.map(({ slug }) => slug));
      customDomains = domainsOf(pages);
    },
    mayServe: async (release, at) => isServable(release, (await refresh(at)).resolved),
    mightServe: (release) => last !== null && isServable(release, last.resolved),
    addresses: () => {
      const [siteUrl, config] = [deps.siteUrl(), deps.config()];
      const isSame =
        addressed?.siteUrl === siteUrl &&
        addressed.config === config &&
        addressed.customDomains === customDomains &&
        addressed.home === home;
      if (addressed === null || !isSame) {
        const { hostname, pathname } = new URL(siteUrl);
        const addresses: SiteAddresses = {
          siteHost: hostname.toLowerCase(),
          basePath: pathname.endsWith('/') ? pathname : `${pathname}/`,
          home: home ?? config.site.home ?? null,
          customDomains,
          publicFiles: new Set(config.publicFiles.map(({ path }) => path)),
        };
        addressed = { siteUrl, config, customDomains, home, addresses };
      }
      return addressed.addresses;
    },
    lastState: () => last,
    page: (slug) => known?.pages.find(({ definition }) => definition.slug === slug) ?? null,
    sources: () => last?.sources ?? [],
  };
}

function isServable({ slug, access, listed }: NextRelease, resolved: ResolvedSite): boolean {
  const isWanted = resolved.pages.some(({ definition }) => definition.slug === slug && definition.access === access);
  return (isWanted || slug === SITE_SLUG) && listed.every(isOpenIn(resolved));
}

function domainsOf(
  pages: readonly { readonly slug: string; readonly customDomain: string | null }[],
): ReadonlyMap<string, string> {
  return new Map(pages.flatMap(({ slug, customDomain }) => (customDomain === null ? [] : [[customDomain, slug]])));
}

function toAccessPage({ definition, settings, password }: ResolvedPage): AccessPage {
  const { slug, title, access, emailDomains } = definition;
  if (access === 'closed') throw new Error(`the closed page ${slug} must not be published`);
  return { slug, title, locale: settings.locale, url: settings.url, access, password, emailDomains };
}

function publicPage({ slug }: LastPublished): AccessPage {
  return { slug, title: slug, locale: 'en', url: '/', access: 'public', password: null, emailDomains: [] };
}
