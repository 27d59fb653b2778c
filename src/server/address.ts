/** Resolves an address to a page and one of its files. */

import { isOfHome, LOG_KEYS, SECURITY_TXT, splitLocale, WITNESS_PATH } from '../model/slugs.ts';

export interface SiteAddresses {
  /** Host name (no port) of site.url. */
  readonly siteHost: string;
  /** Path of site.url with a trailing slash, `/` for most. */
  readonly basePath: string;
  /** Slug of the page at the root; null: the index of pages is there. */
  readonly home: string | null;
  /** Languages of the home page that have their own folders; absent: none. */
  readonly homeLocales?: ReadonlySet<string>;
  /** Paths of the operator's own files at the root. */
  readonly publicFiles: ReadonlySet<string>;
  /** Slug by custom domain. */
  readonly customDomains: ReadonlyMap<string, string>;
}

export type Address =
  | { readonly kind: 'refused'; readonly status: 400 | 421 }
  /** The server's own addresses below `/-/`. `isSite`: false on the domain of a single page. */
  | { readonly kind: 'own'; readonly path: string; readonly isSite: boolean }
  /** A file of the site itself: the index of pages, robots.txt … */
  | { readonly kind: 'site'; readonly path: string }
  /** A file of a page; `base` is the path prefix of the page as the visitor sees it. */
  | {
      readonly kind: 'page';
      readonly slug: string;
      readonly path: string;
      readonly base: string;
      /** A form of the page: sign-in and sign-out, or subscribing. Null: a file. */
      readonly form: 'gate' | 'subscribe' | null;
      /** Null: not the address of a badge. */
      readonly badge: BadgeAddress | null;
      /** The same address on the home page, in case no page has this slug. Absent: none. */
      readonly orHome?: Address & { readonly kind: 'page' };
    }
  | { readonly kind: 'redirect'; readonly location: string };

export interface BadgeAddress {
  /** Language tree of the badge; null: the page's default language. */
  readonly locale: string | null;
  readonly scope: 'page' | 'components' | 'groups';
  /** Of the component or group; null for the page. */
  readonly id: string | null;
  readonly fileName: string;
}

const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Maximum number of cached addresses; when it is reached, the cache is cleared. */
const KEPT_MAX = 4_096;
const LENGTH_MAX = 512;

/** Creates a caching resolver, because most visitors request the same few addresses. */
export function createAddressBook(): typeof resolveAddress {
  let keptFor: SiteAddresses | null = null;
  let count = 0;
  const byHost = new Map<string, Map<string, Address>>();
  return (host = '', target, site) => {
    if (site !== keptFor || count >= KEPT_MAX) {
      byHost.clear();
      count = 0;
      keptFor = site;
    }
    const kept = byHost.get(host)?.get(target);
    if (kept !== undefined) return kept;
    const address = resolveAddress(host, target, site);
    if (address.kind === 'refused' || host.length + target.length > LENGTH_MAX) return address;
    byHost.getOrInsertComputed(host, () => new Map()).set(target, address);
    count += 1;
    return address;
  };
}

/**
 * Resolves a Host header and a request target. The target is decoded once. Anything that isn't plain path text afterwards (`%`,
 * `\`, dot segments, control characters) resolves to nothing. Repeated slashes count as one, because clients append `/api/…` to
 * a base that ends in a slash.
 */
export function resolveAddress(host: string | undefined, target: string, site: SiteAddresses): Address {
  const name = hostName(host);
  if (name === null) return { kind: 'refused', status: 400 };
  const isSiteHost = name === site.siteHost || LOOPBACK.has(name);
  const customSlug = isSiteHost ? undefined : site.customDomains.get(name);
  if (customSlug === undefined && !isSiteHost) return { kind: 'refused', status: 421 };
  const path = plainPath(target);
  if (path === null) return { kind: 'refused', status: 400 };
  // Identity providers know it below the path of the site, which not every proxy strips.
  const own = isSiteHost && path.startsWith(`${site.basePath}-/oidc/`) ? path.slice(site.basePath.length - 1) : path;
  if (own.startsWith('/-/')) return { kind: 'own', path: own.slice('/-/'.length), isSite: customSlug === undefined };
  for (const file of [SECURITY_TXT, LOG_KEYS, WITNESS_PATH])
    if (path === `/${file}`) return { kind: 'site', path: file };
  if (customSlug !== undefined) return pageAddress(customSlug, path.slice(1), '/');
  return siteAddress(path, site);
}

function siteAddress(path: string, site: SiteAddresses): Address {
  // With or without the base path, because some proxies strip it.
  const local = path.startsWith(site.basePath) ? path.slice(site.basePath.length) : path.slice(1);
  if (site.publicFiles.has(local)) return { kind: 'site', path: local };
  const slash = local.indexOf('/');
  const slug = slash === -1 ? local : local.slice(0, slash);
  if (site.home !== null && (isOfHome(local) || (slash !== -1 && site.homeLocales?.has(slug) === true)))
    return pageAddress(site.home, local, site.basePath);
  if (slash === -1) {
    if (local === '' || local.includes('.')) return { kind: 'site', path: local === '' ? 'index.html' : local };
    return { kind: 'redirect', location: `${path}/` === site.basePath ? site.basePath : `${site.basePath}${local}/` };
  }
  const address = pageAddress(slug, local.slice(slash + 1), `${site.basePath}${slug}/`);
  if (site.home === null || site.home === slug) return address;
  return { ...address, orHome: pageAddress(site.home, local, site.basePath) };
}

function pageAddress(slug: string, path: string, base: string): Address & { readonly kind: 'page' } {
  const file = path === '' || path.endsWith('/') ? `${path}index.html` : path;
  return { kind: 'page', slug, path: file, base, form: formAt(file), badge: badgeAddressOf(file) };
}

function formAt(path: string): 'gate' | 'subscribe' | null {
  const slash = path.indexOf('/');
  const first = slash === -1 ? path : path.slice(0, slash);
  if (first === 'subscribe' || splitLocale(path).rest.startsWith('subscribe/')) return 'subscribe';
  return first === 'login' || path === 'logout' || path === 'logout/index.html' ? 'gate' : null;
}

const BADGE = /^(?:(components|groups)\/([A-Za-z0-9_-]{1,128})\/)?badges\/([a-z0-9-]{1,80}\.(?:svg|json|png))$/;

/** The badge at a path below a page; null if there is none. */
export function badgeAddressOf(path: string): BadgeAddress | null {
  if (!path.includes('badges/')) return null;
  const { locale, rest } = splitLocale(path);
  const match = BADGE.exec(rest);
  if (match === null) return null;
  const [, scope, id, fileName = ''] = match;
  return { locale, scope: scope === 'components' || scope === 'groups' ? scope : 'page', id: id ?? null, fileName };
}

/** The host in lower case without its port; null: not a host. A trailing dot is ignored. */
function hostName(host: string | undefined): string | null {
  const match = /^(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::\d{1,5})?$/i.exec(host ?? '');
  return match?.[1] === undefined ? null : match[1].toLowerCase().replace(/\.$/, '');
}

/** A segment that begins with a dot, including `.` and `..`. Only `.well-known` is allowed. */
const DOT_SEGMENT = /(?:^|\/)\.(?!well-known(?:\/|$))/;

function plainPath(target: string): string | null {
  if (!target.startsWith('/')) return null;
  const query = target.indexOf('?');
  const raw = query === -1 ? target : target.slice(0, query);
  let path: string;
  try {
    path = raw.includes('%') ? decodeURIComponent(raw) : raw;
  } catch {
    return null;
  }
  if (path.length > 2_048 || !/^[\w\-./~@:+,=!]*$/.test(path) || DOT_SEGMENT.test(path)) return null;
  const collapsed = path.replace(/\/{2,}/g, '/');
  // A proxy that protects `/-/` may not recognise other spellings of it.
  return collapsed !== path && collapsed.startsWith('/-/') ? null : collapsed;
}
